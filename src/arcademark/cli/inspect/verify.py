"""``arcademark verify`` tells whether the scores are real."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arcademark.cli import commands, messages, options
from arcademark.cli.counting import replaying

if TYPE_CHECKING:
    from arcademark.runs.replay.episodes import Choice
    from arcademark.runs.replay.verify import Verification

MOST_PROBLEMS = 20


@commands.command("verify")
@options.run_directory
@options.only()
@options.trusted_suite
@options.workers
@options.as_json
def command(run_directory: Path, suite: str | None, workers: int | None, as_json: bool, choice: Choice) -> int:
    """Replay the recorded actions of every episode of RUN and confirm its score, or name the first difference.

    Exits with 0 if every episode is confirmed, with 1 if not.
    """
    from arcademark.runs.replay.verify import verify

    wanted: Choice = {**choice, "suite": suite}
    with replaying() as follow:
        result = verify(run_directory, workers=workers, on_finding=follow, **wanted)
    if as_json:
        from arcademark.reports.runs import verification

        messages.print_json(verification.of(result))
    else:
        _print(result)
    return 0 if result.ok else 1


def _print(result: Verification) -> None:
    console = messages.open_console(stderr=False)
    for warning in result.warnings:
        console.print(f"warning: {warning}", style="yellow")
    for note in result.notes:
        console.print(f"note: {note}")
    for finding in result.problems[:MOST_PROBLEMS]:
        console.print(f"{finding.outcome}: {finding}", style="red")
    if len(result.problems) > MOST_PROBLEMS:
        console.print(f"… and {len(result.problems) - MOST_PROBLEMS} more; --to json lists all", style="red")
    total = len(result.findings)
    if not result.findings:
        console.print(f"{result.directory}: no episode is recorded, so there is nothing to verify", style="yellow")
    elif result.ok:
        beside = f", see the {'note' if len(result.notes) == 1 else 'notes'} above" if result.notes else ""
        kept = f"all {total:,} recorded episodes replay to their" if total > 1 else "its one episode replays to its"
        console.print(f"{result.directory}: {kept} score{beside}", style="yellow" if result.notes else "green")
    else:
        console.print(
            f"{result.directory}: {result.confirmed:,} of {total:,} episode{'s' * (total > 1)} confirmed,"
            f" {result.differing:,} differ{'s' * (result.differing == 1)},"
            f" {result.unverifiable:,} could not be replayed",
            style="bold red",
        )
