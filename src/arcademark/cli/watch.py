"""``arcademark watch``: an episode as a moving picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from arcademark.cli import messages, options

if TYPE_CHECKING:
    from arcademark.runs.replay import Choice


@click.command("watch")
@options.run_directory
@options.combine(options.one_episode, options.one_game, options.one_agent, options.one_seed, options.one_trial)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to write: .gif or .mp4.")
@click.option("--overwrite", is_flag=True, help="Replace any file; without this, only one that this command wrote.")
@click.option("--scale", type=click.IntRange(1, 8), default=2, show_default=True, help="Size, in times the console's.")
def command(run_directory: Path, out: Path | None, overwrite: bool, scale: int, **choice: Unpack[Choice]) -> int:
    """Replay an episode of RUN and write it as a moving picture with its running score.

    Without --episode it is the trial's first, episode 0. MP4 needs the extra 'video'.
    """
    from arcademark.runs.watch import watch

    path = watch(run_directory, out=out, scale=scale, overwrite=overwrite, **choice)
    messages.tell(f"watch: {path}")
    return 0
