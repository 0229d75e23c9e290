"""``arcademark subset study``: estimates beside true values."""

from __future__ import annotations

from typing import Any

import click

from arcademark.cli import commands, tables
from arcademark.cli.output import Output, with_output
from arcademark.cli.predict.scores import scores_of, where_from


@commands.command(
    "study",
    "catalogue suite references algorithms models target relative_to reading everything forms",
    short_help="Estimates beside true values, of the catalogue or any table.",
)
@where_from
@click.option("--models", metavar="NAMES", help="Published models or model files.  [default: atari-1,3,5 and 10]")
@click.option(
    "--target", metavar="NAME", help="What the models predict, where they do not say, or say a function FILE.py:NAME."
)
@click.option("--relative-to", metavar="NAME", help="Also relative to this algorithm.")
@click.option("--minimum-tasks", type=click.IntRange(min=1), help="Games a true value needs.  [default: 40, or half]")
@with_output
@tables.read_as
def command(models: str | None, output: Output, **given: Any) -> int:
    """Set what a subset would have told beside the truth: estimates, errors, orders turned round.

    Without TABLE, of every published algorithm: the table that an estimate of a new one is compared with.
    """
    from arcademark.reports.present import study
    from arcademark.reports.subsets import studying
    from arcademark.reports.tables.loading import EVERYTHING

    if not given["places"] and given["catalogue"] is None:
        given["catalogue"] = EVERYTHING
    scores = scores_of(given, players=False)
    result = studying.studied(scores, tables.names("models", models) or studying.MODELS, **given)
    output.show(result, lambda: study.document(result))
    return 0
