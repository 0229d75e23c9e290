"""``arcademark subset predict``: the median of all games, and every game, from a few."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import commands, options, tables
from arcademark.cli.output import Output, with_output
from arcademark.errors import ArcadeMarkError
from arcademark.suite.tasks import canonical_game

if TYPE_CHECKING:
    from arcademark.reports.subsets.predictors import Predictor

learnt_from = options.combine(
    click.option(
        "--training",
        multiple=True,
        metavar="TABLE",
        help="Learn from these scores of other algorithms instead of Atari's published ones. May be repeated.",
    ),
    tables.references,
    click.option(
        "--papers",
        type=options.PATH,
        metavar="FILE",
        help="With --training: which paper each algorithm is of, a CSV file algorithm,paper.  [default: one each]",
    ),
)


def training_of(training: tuple[str, ...], references: Path | None, papers: Path | None) -> Predictor | None:
    """Learn from the user's own scores, if any are named; refuse what goes with these alone."""
    from arcademark.reports.subsets import predictors

    if not training and (references or papers):
        option = "references" if references else "papers"
        raise ArcadeMarkError(f"--{option} goes with --training TABLE, the scores to learn from; give it, too")
    return predictors.own(training, references, papers) if training else None


@commands.command(
    "predict",
    "model algorithms level training references reading everything forms",
    short_help="The median of all games, and every game, from a few.",
)
@click.argument("places", nargs=-1, required=True, metavar="TABLE…")
@click.option(
    "--model",
    default="any",
    metavar="NAME",
    help="From whatever games there are, or by a published model, atari-5, or a model file.",
)
@tables.algorithms
@tables.protocol
@tables.level
@click.option(
    "--frames",
    type=options.PATH,
    metavar="FILE",
    help="What playing costs: a CSV file with the columns game and frames.  [default: the same for all]",
)
@learnt_from
@with_output
@tables.read_as
def command(
    places: tuple[str, ...],
    model: str,
    algorithms: str | None,
    protocol: str | None,
    level: float,
    frames: Path | None,
    training: tuple[str, ...],
    references: Path | None,
    papers: Path | None,
    output: Output,
    reading: Mapping[str, Any],
) -> int:
    """Predict the median of all games, and every game, from whatever games TABLE has.

    TABLE is as in 'arcademark score'. A model file is what 'arcademark subset search --out' writes. For another
    benchmark name a table of other algorithms with --training, and its reference scores with --references.
    """
    from arcademark.reports.subsets import predicting, predictors

    if frames is not None and model.lower() != "any":
        raise ArcadeMarkError("--frames orders what to play next, which a model does not say; leave out --model")
    own = training_of(training, references, papers)
    costs = None if frames is None else predictors.read_frames(frames, own.canonical if own else canonical_game)
    prediction = predicting.predicted(
        places,
        model,
        algorithms=tables.names("algorithms", algorithms),
        protocol=protocol,
        level=level,
        frames=costs,
        training=own,
        reading=tables.read_options(None, (), reading),
    )
    output.show(prediction)
    return 0
