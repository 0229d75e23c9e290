"""``arcademark subset``: find the most informative few tasks, predict from them, and measure the error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from arcademark.cli import options, tables
from arcademark.cli.commands import CommandGroup
from arcademark.cli.output import Output, with_output, with_whole_output
from arcademark.cli.predict import search
from arcademark.cli.predict.search import scores_of, where_from
from arcademark.errors import ArcadeMarkError


@click.group("subset", cls=CommandGroup)
def command() -> None:
    """Find the most informative few tasks, predict from them, and measure how well that works."""


command.add_command(search.command)

learnt_from = options.combine(
    click.option(
        "--training",
        multiple=True,
        metavar="TABLE",
        help="Learn from these scores of other algorithms instead of Atari's published ones. May be repeated.",
    ),
    tables.references,
    options.fields(
        "set",
        "With --training: papers, a CSV file algorithm,paper, by default one paper per algorithm; transform of scores, "
        "log10 by default, or none where all lie between the references",
        {"papers": options.PATH, "transform": click.Choice(["log10", "none"])},
        parameter="learning",
    ),
)


@command.command(
    "study",
    usual="suite references algorithms models target reading everything form saved",
    short_help="Compare estimates with true values, for the catalogue or any table.",
)
@where_from
@click.option("--models", metavar="NAMES", help="Published models or model files.  [default: atari-1,3,5 and 10]")
@click.option(
    "--target",
    metavar="NAME",
    help="Summary that the models predict, if their files do not state it, or a function FILE.py:NAME.",
)
@click.option("--relative-to", metavar="NAME", help="Also show values relative to this algorithm.")
@click.option(
    "--minimum-tasks", type=click.IntRange(min=1), help="Games required for a true value.  [default: 55, or half]"
)
@with_output
@tables.read_as
def study(models: str | None, output: Output, **given: Any) -> int:
    """Compare a subset's estimates with the true values: errors, and pairs in the wrong order.

    Without TABLE, it uses every published algorithm.
    """
    from arcademark.analysis.subsets import studying
    from arcademark.analysis.tables.loading import EVERYTHING

    given["places"] = given["places"] or (f"catalogue:{EVERYTHING}",)
    scores = scores_of(given, players=False)
    output.show(studying.studied(scores, tables.names("models", models) or studying.MODELS, **given))
    return 0


@command.command(
    "predict",
    usual="games model algorithms level training references learning reading form saved",
    short_help="Predict the median of all games, and every game, from a few.",
)
@click.argument("places", nargs=-1, required=True, metavar="TABLE…")
@click.option(
    "--estimator",
    "model",
    default="any",
    metavar="NAME",
    help="any, which needs no particular games; a published model, such as atari-5; or a model file.",
)
@click.option(
    "--games",
    default="",
    show_default=False,
    metavar="NAMES",
    help="Use only these: a suite, a subset or games.  [default: all]",
)
@tables.algorithms
@tables.protocol
@tables.level
@click.option(
    "--frames",
    type=options.PATH,
    metavar="FILE",
    help="Cost of playing each game: a CSV file with the columns game and frames.  [default: the same for all]",
)
@learnt_from
@with_output
@tables.read_as
def predict(
    places: tuple[str, ...],
    algorithms: str | None,
    output: Output,
    reading: Mapping[str, Any],
    learning: Mapping[str, Any],
    **given: Any,
) -> int:
    """Predict the median of all games, and every game, from the games of TABLE.

    TABLE is as in 'arcademark report'. 'arcademark subset search --out' writes model files. For another benchmark give
    other algorithms' scores with --training, and reference scores with --references.
    """
    from arcademark import api

    chosen, read = tables.names("algorithms", algorithms), tables.read_options(None, (), reading)
    output.show(api.predict(places, algorithms=chosen, reading=read, **given, **learning))
    return 0


@command.command(
    "coverage",
    usual="sizes target random level suite training references learning form saved",
    short_help="Measure the coverage of predictions on held-out algorithms.",
)
@click.argument("games", nargs=-1, metavar="[GAMES…]")
@click.option("--sizes", metavar="SIZES", help="Also choose the best games of each size, 1-10 or 3,5,10.")
@click.option(
    "--target",
    type=click.Choice(["median", "mean"]),
    default="median",
    help="Summary to predict, and to choose subsets for.",
)
@click.option("--random", type=options.COUNT, help="With --sizes: compare with this many random subsets of each size.")
@tables.level
@tables.suite
@learnt_from
@with_whole_output
def coverage(
    games: tuple[str, ...],
    sizes: str | None,
    target: str,
    random: int | None,
    level: float,
    suite: str | None,
    output: Output,
    learning: Mapping[str, Any],
    **learnt: Any,
) -> int:
    """Measure predictions from any games on held-out algorithms: by paper, by kind, and the newest.

    GAMES is a subset or games with commas, atari-5 or pong,qbert; several are measured one by one.  [default: atari-3,
    atari-5 and atari-10, unless there are sizes, a suite or a table to learn from]
    """
    from arcademark.analysis.subsets import covering, predictors
    from arcademark.analysis.subsets.searching import read_sizes

    if learnt["training"] and suite:
        raise ArcadeMarkError("--suite and --training each name the training data; leave one out")
    own = predictors.own(**learnt, **learning)
    if not games and not sizes:
        if own or suite:
            raise ArcadeMarkError("name games to predict from, or how many to choose, as in --sizes 3,5")
        games = ("atari-3", "atari-5", "atari-10")
    if random and not sizes:
        raise ArcadeMarkError("--random compares with the subsets of --sizes; give it, too")
    counts = read_sizes(sizes) if sizes else ()
    output.show(
        covering.covered(
            games,
            level,
            sizes=counts,
            suite=suite or predictors.ATARI,
            training=own,
            target=target,
            at_random=random or 0,
        )
    )
    return 0
