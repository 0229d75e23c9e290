"""The papers that can be reproduced: a line each. What computes them is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from arcademark.reproduce.comparison import Reproduction
from arcademark.reproduce.figures import PaperFigure


@dataclass(frozen=True)
class ReproduciblePaper:
    """A paper, by its key in the catalogue, of which tables and figures with these numbers can be asked for.

    `parts` gives a table by its number, or with None everything, `figure` a figure and `about_figure` its statements;
    `ours` sets our own runs of its agents beside its scores.
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
