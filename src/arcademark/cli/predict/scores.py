"""Which scores a subset is searched for in, or put to the test on: the options of ``arcademark subset``'s commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import options, tables
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.reports.subsets.dataset import Normalised

DEFAULT_CATALOGUE = "atari-5-training"

where_from = options.combine(
    click.argument("places", nargs=-1, metavar="[TABLE]…"),
    click.option("--catalogue", metavar="NAMES", help="Published scores: these collections."),
    tables.suite,
    tables.references,
    tables.algorithms,
)


def scores_of(given: dict[str, Any], *, players: bool = True) -> Normalised:
    """Read the scores; what `where_from` and the reader's options give is taken out of ``given``."""
    from arcademark.reports.subsets import dataset
    from arcademark.reports.tables.dataset import ScoreOptions

    references, published = given.pop("references"), tables.names("catalogue", given.pop("catalogue"))
    places = (*given.pop("places"), *([f"catalogue:{','.join(published)}"] if published else []))
    if not places:
        raise ArcadeMarkError(f"no scores named; name a table, or --catalogue {DEFAULT_CATALOGUE}")
    chosen = ScoreOptions(
        suite=given.pop("suite"),
        references=references,
        algorithms=tables.names("algorithms", given.pop("algorithms")),
        reading=tables.read_options(references, (), given.pop("reading")),
    )
    return dataset.normalised(places, chosen, players=players)
