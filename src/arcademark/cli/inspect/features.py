"""``arcademark info features show`` and ``actions``: the features that sets compute from games."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from arcademark.cli import commands, messages, options
from arcademark.cli.output import Output, with_output
from arcademark.errors import ArcadeMarkError
from arcademark.files import write_document

if TYPE_CHECKING:
    from arcademark.runs.replay.episodes import EpisodeFilter


@commands.command("features show", short_help="Show the features that feature sets of linear learners compute.")
@click.argument("sets", metavar="SET…", nargs=-1, required=True)
@click.option(
    "--games", metavar="NAMES", help="A suite, a subset or games.  [default: the five training games of the 2013 paper]"
)
@click.option("--suite", metavar="FILE", help="For Atari games of your own: the file that describes them.")
@options.settings_of("set", "settings", "NAME=VALUE", "A parameter of the set.")
@click.option(
    "--after",
    type=options.WHOLE,
    metavar="FRAMES",
    help="The frame to show.  [default: 600; for a recorded episode the middle one]",
)
@click.option("--run", "run", type=options.PATH, metavar="RUN", help="Show an episode of this run, not random play.")
@options.only("episode", "agent", "seed", "trial")
@with_output
def show(
    sets: tuple[str, ...],
    games: str | None,
    suite: str | None,
    settings: Mapping[str, str],
    after: int | None,
    run: Path | None,
    choice: EpisodeFilter,
    output: Output,
) -> int:
    """Show the features that feature sets compute from one frame of games: number, active ones, meaning.

    The time is for one step of the feature set, without learning.
    """
    from arcademark.classic.features.registry import feature_set
    from arcademark.operations import seen
    from arcademark.runs.replay.feature_steps import random_play, recorded_play

    sets = tuple(dict.fromkeys(sets))
    observed = {name: feature_set(name).observed for name in sets}
    parameters = seen.read_settings(sets, settings)
    chosen = _games(games, suite, run)
    if run is None and set(choice) - {"seed"}:
        raise ArcadeMarkError(
            "--only selects an episode of a run, or the seed of random play; name a run with --run, or the seed alone"
        )
    every = []
    for game, name in itertools.product(chosen, sets):
        if run is None:
            play = random_play(game, observed[name], choice.get("seed") or 0, suite)
        else:
            wanted = cast("EpisodeFilter", {**choice, "game": game, "suite": suite})
            play = recorded_play(run, observed[name], **wanted)
        every.append(seen.see(name, play, after, parameters))
    items, rows = zip(*every, strict=True)
    output.show(seen.FeaturesSeen(items), rows=rows)
    return 0


def _games(games: str | None, suite: str | None, run: Path | None) -> tuple[str, ...]:
    """Return the named games, else those of the run, else all of the suite, else the training games."""
    from arcademark.records.reading import read_run
    from arcademark.suite.subsets import resolve_tasks, training_games
    from arcademark.suite.task_suites import load_suite

    if games is None and run is not None:
        return tuple(dict.fromkeys(trial.game for trial in read_run(run).trials))
    if suite is not None:
        own = load_suite(suite)
        if not own.of_games:
            raise ArcadeMarkError(f"suite {own.name!r} has no Atari games; name a file that describes some")
        return own.resolve("all" if games is None else games)
    return training_games() if games is None else resolve_tasks(games)


@commands.command(
    "features actions", short_help="Write a recorded episode's actions, for background sampling to follow."
)
@options.run_directory
@options.only()
@click.option(
    "--protocol", metavar="NAME", help="Protocol that gives the actions and their timing.  [default: the run's]"
)
@click.option("--out", type=options.PATH, required=True, metavar="FILE", help="Output file, which must not exist.")
def actions(run_directory: Path, choice: EpisodeFilter, protocol: str | None, out: Path) -> int:
    """Write the actions of an episode of RUN as a trajectory: a text file with one action number per line.

    Feature sets that subtract a background estimate it from sample screens: they follow the trajectory for a random
    number of steps, then act at random (Bellemare et al. 2013, §3.1.1). Use the file with --set trajectory=FILE.
    Without --only episode=N the trial's first episode is written.
    """
    from arcademark import wording
    from arcademark.runs.replay.feature_steps import recorded_trajectory
    from arcademark.suite import protocols

    rules = None if protocol is None else protocols.protocol(protocol)
    result = recorded_trajectory(run_directory, rules, **choice)
    write_document(out, result.text(), overwrite=False)
    trial, row = result.recorded
    messages.tell(
        f"actions: {out}: {wording.plural(len(result.actions), 'action')} of {trial.game}, {row.phase} episode "
        f"{row.episode}, for protocol {result.protocol.label}"
    )
    return 0
