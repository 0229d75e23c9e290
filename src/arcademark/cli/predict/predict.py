"""``arcademark subset predict``: the median of all games, and every game, from a few."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from arcademark.cli import commands, options, tables
from arcademark.cli.output import Output, with_output

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
    places: tuple[str, ...], algorithms: str | None, output: Output, reading: Mapping[str, Any], **given: Any
) -> int:
    """Predict the median of all games, and every game, from whatever games TABLE has.

    TABLE is as in 'arcademark score'. A model file is what 'arcademark subset search --out' writes. For another
    benchmark name a table of other algorithms with --training, and its reference scores with --references.
    """
    from arcademark import api

    chosen, read = tables.names("algorithms", algorithms), tables.read_options(None, (), reading)
    output.show(api.predict(places, algorithms=chosen, reading=read, **given))
    return 0
