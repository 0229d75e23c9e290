"""``arcademark verify``: replay a run and confirm its scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arcademark.cli import commands, options
from arcademark.cli.counting import replaying
from arcademark.cli.output import Output, with_output

if TYPE_CHECKING:
    from arcademark.runs.replay.episodes import EpisodeFilter


@commands.command("verify")
@options.run_directory
@options.only()
@options.trusted_suite
@options.workers
@with_output
def command(run_directory: Path, suite: str | None, workers: int | None, output: Output, choice: EpisodeFilter) -> int:
    """Replay the recorded actions of every episode of RUN and confirm its score, or name the first difference.

    Exits with 0 if every episode is confirmed, with 1 if not.
    """
    from arcademark.operations.verification import summarise
    from arcademark.runs.replay.verify import verify

    wanted: EpisodeFilter = {**choice, "suite": suite}
    with replaying() as follow:
        verification = verify(run_directory, workers=workers, on_finding=follow, **wanted)
    output.show(summarise(verification))
    return 0 if verification.ok else 1
