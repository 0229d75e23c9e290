"""``arcademark info games watch-ram``: find the memory of a ROM's score, lives and end."""

from __future__ import annotations

from pathlib import Path

import click

from arcademark.cli import commands, options
from arcademark.cli.output import Output, with_output
from arcademark.errors import ArcadeMarkError


@commands.command("games watch-ram", short_help="Watch the memory of a ROM, to describe a game of your own.")
@click.argument("rom", type=options.PATH, metavar="ROM")
@click.option("--frames", type=options.COUNT, default=18_000, help="Frames to play, up to 1,000,000.")
@click.option("--seed", type=options.WHOLE, default=0, help="Seed of random play.")
@click.option(
    "--actions", metavar="ACTIONS", help="Repeat these actions instead of random ones: RESET:4,FIRE:10,RIGHT:60."
)
@click.option(
    "--kind", metavar="KIND", help="Bank switching of the ROM, if its size does not determine it: E0, F8SC, …"
)
@click.option("--paddles", is_flag=True, help="Play with paddles, not with a joystick.")
@with_output
def watch_ram(
    rom: Path, frames: int, seed: int, actions: str | None, kind: str | None, paddles: bool, output: Output
) -> int:
    """Play ROM on our emulator and show which bytes of its memory change, when, and what each may be.

    A byte that counts up may be the score, one that goes down by 1 the lives, one that changes once per game the end.
    Random play holds RESET now and then, to begin a new game. A description of the game to begin with follows
    (docs/own-games.md).
    """
    from arcademark.emulator import watching
    from arcademark.emulator.build import NoCore

    try:
        given = watching.read_actions(actions) if actions is not None else ()
        watched = watching.watch(rom, frames, given, kind=kind, paddles=paddles, seed=seed)
    except NoCore as error:
        raise ArcadeMarkError(f"our emulator is not available: {error}; see docs/emulator.md") from None
    output.show(watched)
    return 0
