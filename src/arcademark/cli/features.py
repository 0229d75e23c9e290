"""``arcademark features``: what the feature sets are, and what one sees of a game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcademark.cli import messages, options
from arcademark.cli.output import Output
from arcademark.cli.output import options as with_output
from arcademark.cli.writing import check_ending, write
from arcademark.errors import ArcadeMarkError, UnknownNameError

if TYPE_CHECKING:
    from arcademark.features.base import Observed
    from arcademark.reports.features.seen import Images, Seen
    from arcademark.runs.moments import Play
    from arcademark.runs.replay import Choice


class Sets(click.Group):
    """A group whose unknown commands are names of feature sets, and ``show`` is what is done with them."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take what is no command's name for a feature set's."""
        if args and args[0] not in self.commands:
            args = ["show", *args]
        return super().resolve_command(ctx, args)


@click.group(
    "features",
    cls=Sets,
    invoke_without_command=True,
    subcommand_metavar="[SET… | COMMAND] [OPTIONS]",
    epilog="For example: arcademark features basic --games freeway --png",
)
@with_output
@click.pass_context
def command(ctx: click.Context, output: Output) -> int:
    """List the feature sets of linear learners; with the names of some, show what they see of games."""
    if ctx.invoked_subcommand is not None:
        if output != Output():
            raise ArcadeMarkError("--json belongs behind the feature set, as --html does: features basic --json")
        return 0
    from arcademark.features.registry import feature_sets
    from arcademark.reports.features import documents
    from arcademark.reports.present import features

    sets = tuple(feature_sets().values())
    output.show(documents.listing(sets), lambda: features.listing(sets))
    return 0


@command.command("show", short_help="Show what feature sets see; the word 'show' may be left out.")
@click.argument("sets", metavar="SET…", nargs=-1, required=True)
@click.option(
    "--games", metavar="NAMES", help="A suite, a subset or games.  [default: the five training games of the 2013 paper]"
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the set. May be repeated.")
@click.option(
    "--after",
    type=click.IntRange(min=0),
    metavar="FRAMES",
    help="The moment to show.  [default: 600; of a recorded episode half of it]",
)
@click.option(
    "--seed", type=click.IntRange(min=0), help="Of random play; with --run only this trial's.  [default: 0; any]"
)
@click.option(
    "--run", "run", type=click.Path(path_type=Path), metavar="RUN", help="Show an episode of this run, not random play."
)
@options.combine(options.one_episode, options.one_agent, options.one_trial)
@click.option(
    "--png", is_flag=False, flag_value="", metavar="[FILE]", help="Also draw what is seen. Replaces a figure."
)
@click.option("--svg", is_flag=False, flag_value="", metavar="[FILE]", help="Likewise, for pages.")
@click.option("--pdf", is_flag=False, flag_value="", metavar="[FILE]", help="Likewise, for print.")
@with_output
def show(
    sets: tuple[str, ...],
    games: str | None,
    settings: tuple[str, ...],
    after: int | None,
    seed: int | None,
    run: Path | None,
    episode: int | None,
    agent: str | None,
    trial: str | None,
    output: Output,
    **files: str | None,
) -> int:
    """Show what feature sets see of games at some moment: how many features, how many active, what they mean.

    The time is that of one step of the feature set, learning not included. Without FILE a figure is named after set
    and game.
    """
    from arcademark.features.registry import feature_sets
    from arcademark.reports.features import seen
    from arcademark.reports.present import features

    figures = {kind: name for kind, name in files.items() if name is not None}
    for kind, name in figures.items():
        check_ending(Path(name) if name else None, (f".{kind}",), option=f"--{kind}")
    sets = tuple(dict.fromkeys(sets))
    for name in sets:
        if name not in feature_sets():
            raise UnknownNameError("feature set", name, [*feature_sets(), *command.commands])
    parameters = seen.read_settings(sets, options.pairs("set", settings))
    choice: Choice = {"episode": episode, "agent": agent, "trial": trial}
    chosen = _games(games, run)
    if run is None and any(value is not None for value in (episode, agent, trial)):
        raise ArcadeMarkError("--episode, --agent and --trial choose in a run; name one with --run, or leave them out")
    found = []
    for game, name in ((game, name) for game in chosen for name in sets):
        with _working(f"{game}: {name}"):
            play = _play(run, game, feature_sets()[name].observed, seed, choice)
            found.append(seen.see(name, play, after, parameters))
    written = _write_figures(found, figures)
    shown = seen.FeaturesSeen(tuple(item for item, _ in found))
    output.show(shown, lambda: features.seen(found))
    output.tell(*(f"figure: {path}" for path in written))
    return 0


def _games(games: str | None, run: Path | None) -> tuple[str, ...]:
    """Return the games meant: those named, else the run's or those for training."""
    from arcademark.reports.runs import tuning
    from arcademark.runs.store import read_run
    from arcademark.suite.subsets import resolve_tasks

    if games is not None:
        return resolve_tasks(games)
    if run is not None:
        return tuple(dict.fromkeys(trial.game for trial in read_run(run).trials))
    return tuning.training_games()


def _play(run: Path | None, game: str, observed: Observed, seed: int | None, choice: Choice) -> Play:
    from arcademark.runs.moments import random_play, recorded_play

    if run is None:
        return random_play(game, observed, seed or 0)
    wanted: Choice = {**choice, "game": game, "seed": seed}
    return recorded_play(run, observed, **wanted)


def _write_figures(found: Sequence[tuple[Seen, Images]], figures: Mapping[str, str]) -> list[Path]:
    """Write figures, given the file of each kind or an empty name, and return where."""
    from arcademark.reports.figures import files
    from arcademark.reports.present import features

    name = "-".join(dict.fromkeys([item.set for item, _ in found] + [item.game for item, _ in found]))
    written = []
    for kind, asked in figures.items():
        path = Path(asked or f"{name}.{kind}")
        content = files.file(features.model(found), f".{kind}", "features")
        write(path, content, option=f"--{kind}", example=f"features.{kind}")
        written.append(path)
    return written


@command.command("actions", short_help="Write a recorded episode's actions, for background sampling to follow.")
@options.run_directory
@options.combine(options.one_episode, options.one_game, options.one_agent, options.one_seed, options.one_trial)
@click.option("--protocol", metavar="NAME", help="Whose actions and timing they are to have.  [default: the run's]")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Where to write; replaces no file."
)
@click.option("--overwrite", is_flag=True, help="Replace the file if it is there.")
def actions(
    run_directory: Path,
    episode: int | None,
    game: str | None,
    agent: str | None,
    seed: int | None,
    trial: str | None,
    protocol: str | None,
    out: Path,
    overwrite: bool,
) -> int:
    """Write the actions of an episode of RUN as a trajectory: a text file, an action's number a line.

    Feature sets that take away a background find it in sample screens: the trajectory is followed for a random number
    of steps, then actions are random (Bellemare et al. 2013, §3.1.1). Say --set trajectory=FILE to show or learn with
    it. Without --episode it is the trial's first.
    """
    from arcademark.reports import wording
    from arcademark.runs.moments import recorded_trajectory
    from arcademark.suite import protocols

    rules = None if protocol is None else protocols.protocol(protocol)
    found = recorded_trajectory(run_directory, rules, episode=episode, game=game, agent=agent, seed=seed, trial=trial)
    write(out, found.text(), option="--out", example="actions.txt", overwrite=overwrite)
    shown, row = found.recorded
    messages.tell(
        f"actions: {out}: {wording.plural(len(found.actions), 'action')} of {shown.game}, {row.phase} episode "
        f"{row.episode}, for protocol {found.protocol.label}"
    )
    return 0


def _working(what: str) -> AbstractContextManager[object]:
    """Say on a terminal what takes its time."""
    from arcademark.reports.layout import Text

    console = messages.open_console()
    return console.status(Text(what)) if console.is_terminal else nullcontext()
