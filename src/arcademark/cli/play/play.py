"""``arcademark play``: a person plays a game under a protocol."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcademark.cli import commands, messages, options

if TYPE_CHECKING:
    from arcademark.runs.person.human import Sitting


@commands.command("play")
@click.argument("game", metavar="GAME")
@options.suite
@options.protocol
@options.overrides
@click.option("--episodes", type=options.COUNT, help="Scored episodes to record now.  [default: practice]")
@click.option("--seed", type=options.WHOLE, default=0, help="Seed of the scored episodes.")
@click.option("--name", metavar="TEXT", help="Your name in reports, followed by [human].  [default: human]")
@click.option("--stepped", is_flag=True, help="Wait for a key at every step: an action's, or Enter for none.")
@click.option(
    "--out", type=options.PATH, help="The run's directory.  [default: runs/human, with the name and another protocol's]"
)
@click.option("--scale", type=click.IntRange(1, 8), default=3, help="Magnification of the picture.")
def command(
    game: str,
    suite: str | None,
    protocol: str | None,
    overrides: Mapping[str, str],
    episodes: int | None,
    name: str | None,
    stepped: bool,
    out: Path | None,
    scale: int,
    seed: int,
) -> int:
    """Play GAME yourself in a window: 60 frames per second, with the protocol's sticky actions and frame skip.

    Arrows or WASD and the space bar, or a gamepad; P pauses and hides the game, Esc ends. There is no sound. Without
    --episodes nothing is recorded.

    With --episodes each finished episode is recorded with its actions, like an agent's: 'arcademark verify' replays it,
    'arcademark report' shows it. Repeat the command for further episodes. One ended with Esc is discarded. Needs the
    extra 'window'.
    """
    from arcademark.records.manifest import slug
    from arcademark.runs.person import human
    from arcademark.runs.person.window import Window
    from arcademark.runs.request import default_directory
    from arcademark.suite.protocols import rules_of

    rules = rules_of(protocol, suite, overrides)
    label = "-".join(["human", *(["stepped"] if stepped else []), *([slug(name)] if name else [])])
    directory = out or default_directory(label, rules)
    recorded = None if episodes is None else directory
    plan = human.planned(recorded, game, rules, seed=seed, episodes=episodes or 1, name=name, stepped=stepped)
    with Window(f"ArcadeMark: {plan.games[0]}", remedy="play where there is a display") as window:
        if episodes is None:
            sitting = human.practise(plan.trials[0], window, scale=scale)
        else:
            sitting = human.record(plan, directory, window, scale=scale)
    for line in _lines(sitting):
        messages.tell(f"play: {line}")
    if episodes is not None and sitting.episodes:
        messages.tell(f"play: recorded in {directory}; 'arcademark report {directory}' shows it")
    return 0


def _lines(sitting: Sitting) -> list[str]:
    """Return lines about the episodes played, and the deviations of frame times."""
    from arcademark.runs.replay.watch import clock

    lines = [
        f"episode {row.episode}: score {row.score:,.15g} in {row.frames:,} frames, {clock(row.frames)}"
        for row in sitting.episodes
    ]
    if sitting.left:
        lines.append("stopped before the end of the episode, which is not recorded")
    if sitting.errors:
        median, most = (1000 * sitting.error(share) for share in (0.5, 0.99))
        lines.append(f"frame times were off 1/60 s by {median:.2f} ms (median), {most:.2f} ms (99th percentile)")
    return lines
