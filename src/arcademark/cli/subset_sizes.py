"""``arcademark subset search --sizes``: the best subset of every size, and the curve of error against size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from arcademark.cli import messages
from arcademark.cli.writing import check_ending, write
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.report.subsets.sizes import EverySize

ONE_SUBSET = {
    "size": "--size",
    "plan": "--plan",
    "top": "--top",
    "seeds": "--fold-seeds",
    "bootstrap": "--bootstrap",
}
"""Options that --sizes has no place for."""


def check(sizes: str | None, figure: Path | None) -> None:
    """Refuse options that do not go together, before anything is read or searched.

    Raises
    ------
    ArcadeMarkError
        Where there are such, or a figure is asked for in a form that is not written.
    """
    if sizes is None:
        if figure is not None:
            raise ArcadeMarkError("--figure draws the curve of --sizes, as in --sizes 1-10; give it, too")
        return
    from arcademark.report.subsets import sizes as every
    from arcademark.report.subsets import sizes_figure

    every.read_sizes(sizes)
    for name, option in ONE_SUBSET.items():
        if told(name):
            raise ArcadeMarkError(f"{option} does not go with --sizes, which shows the best of each; leave one out")
    check_ending(figure, sizes_figure.KINDS, option="--figure")


def told(name: str) -> bool:
    """Tell whether a parameter was given on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def show(
    scores: Any,
    asked: Any,
    sizes: str,
    both: bool,
    name: str,
    bars: Any,
    out: Path | None,
    figure: Path | None,
    as_json: bool,
) -> int:
    """Search, write and print; ``both`` for both ways to choose, where scores are missing."""
    from arcademark.report.render import json
    from arcademark.report.subsets import sizes as every
    from arcademark.report.subsets import sizes_figure

    if out is not None and out.suffix:
        raise ArcadeMarkError(f"--out {out}: there is a model for every size; name a folder")
    with bars:
        shown = every.every_size(scores, asked, every.read_sizes(sizes), name, bars.begin, both=both)
    written = [] if out is None else _write(shown, out)
    if figure is not None:
        drawing = sizes_figure.draw(shown, figure.suffix.lower())
        write(figure, drawing, option="--figure", example="figure.svg")
    if as_json:
        messages.print_json(json.render(shown))
        return 0
    from arcademark.report.layout import Console
    from arcademark.report.subsets import sizes_terminal

    sizes_terminal.render(shown, Console())
    for path in written:
        messages.tell(f"model: {path}")
    if figure is not None:
        messages.tell(f"figure: {figure}")
    return 0


def _write(shown: EverySize, out: Path) -> list[Path]:
    from arcademark.report.subsets import sizes as every
    from arcademark.subset import files

    paths = []
    for model in every.models(shown):
        paths.append(out / f"{model.name}.json")
        write(paths[-1], files.dumps(model), option="--out", example="models")
    return paths
