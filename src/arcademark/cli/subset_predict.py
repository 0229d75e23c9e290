"""``arcademark subset predict``: the median of all games, and every game, from a few."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arcademark.cli import options, tables


@click.command("predict", short_help="The median of all games, and every game, from a few.")
@click.argument("places", nargs=-1, required=True, metavar="TABLE…")
@click.option(
    "--model",
    metavar="NAME",
    help="A published model, a model file, or any: whatever games there are.  [default: what fits]",
)
@click.option("--algorithms", metavar="NAMES", help="Only these, separated by commas.")
@click.option("--protocol", metavar="NAME", help="How the scores were made, where the table does not say.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.9, show_default=True)
@click.option(
    "--frames",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What playing costs: a CSV file with the columns game and frames.  [default: the same for all]",
)
@click.option("--all", "everything", is_flag=True, help="Also show every game where there are several algorithms.")
@options.as_json
@tables.read_as
def command(
    places: tuple[str, ...],
    model: str | None,
    algorithms: str | None,
    protocol: str | None,
    level: float,
    frames: Path | None,
    everything: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Predict the median of all games, and every game, from whatever games TABLE has.

    TABLE is as in 'arcademark score'. A model file is what 'arcademark subset search --out' writes.
    """
    from arcademark.report import as_json as documents
    from arcademark.report.subsets import predicting

    shown = predicting.predicted(
        places,
        model,
        algorithms=tables.names(algorithms),
        protocol=protocol,
        level=level,
        frames=None if frames is None else predicting.read_frames(frames),
        reading=tables.read_options(None, "", **given),
    )
    if as_json:
        options.print_json(documents.document(shown, predicting.SCHEMA))
        return 0
    from rich.console import Console

    from arcademark.report.subsets import terminal

    terminal.render_prediction(shown, Console(highlight=False), everything=everything)
    return 0
