"""The papers that can be reproduced; the code that computes them is imported on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from arcademark.reproduce.comparison import Reproduction
from arcademark.reproduce.figures import PaperFigure


@dataclass(frozen=True)
class ReproduciblePaper:
    """A paper by its key in the catalogue, with the numbers of its tables and figures.

    `parts` returns a table by its number, or all parts for None, `figure` a figure and `about_figure` its statements;
    `ours` compares its scores with those of our own runs of its agents.
    """

    source: str
    parts: Callable[[int | None], tuple[Reproduction, ...]]
    tables: range
    figure: Callable[[int], PaperFigure]
    figures: range
    about_figure: Callable[[int], tuple[Reproduction, ...]] = lambda _: ()
    ours: Callable[[], tuple[Reproduction, ...]] = lambda: ()


def _later(place: str) -> Callable[..., Any]:
    """Return a function of `arcademark.reproduce` ("review.tables.tables") that is imported when it is called."""
    module, _, name = place.rpartition(".")
    return lambda *numbers: getattr(import_module(f"arcademark.reproduce.{module}"), name)(*numbers)


PAPERS: Mapping[str, ReproduciblePaper] = {
    "review": ReproduciblePaper(
        "fan-2021", _later("review.tables.tables"), range(3, 15), _later("review.figures.figure"), range(1, 5)
    ),
    "atari-5": ReproduciblePaper(
        "aitchison-2023",
        _later("atari5.statements.parts"),
        range(1, 13),
        _later("atari5.figures.figure"),
        range(2, 6),
        _later("atari5.statements.about_figure"),
    ),
    "ale-2013": ReproduciblePaper(
        "bellemare-2013",
        lambda _: _later("ale2013.statements.statements")(),
        range(0),
        _later("ale2013.figures.figure"),
        range(2, 5),
        ours=_later("ale2013.ours.columns"),
    ),
}
