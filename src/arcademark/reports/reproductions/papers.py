"""The papers that can be reproduced: a line each, and where their parts come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from arcademark.reproduce.comparison import Reproduction
from arcademark.reproduce.figures import PaperFigure


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced.

    Parameters
    ----------
    source : str
        Its key in the catalogue.
    parts : callable
        Gives the table of that number, or with None everything: tables, or groups of statements.
    tables : range
        Numbers of the tables that can be asked for; empty for a paper of which statements are checked.
    figure : callable
        Gives the figure of that number.
    figures : range
        Numbers of the figures.
    about_figure : callable, optional
        Gives the statements about the figure of that number.
    """

    source: str
    parts: Callable[[int | None], tuple[Reproduction, ...]]
    tables: range
    figure: Callable[[int], PaperFigure]
    figures: range
    about_figure: Callable[[int], tuple[Reproduction, ...]] = lambda _: ()


def _review_parts(number: int | None) -> tuple[Reproduction, ...]:
    from arcademark.reproduce import review

    return review.tables(number)


def _review_figure(number: int) -> PaperFigure:
    from arcademark.reproduce import figures_review

    return figures_review.figure(number)


def _ale_parts(_number: int | None) -> tuple[Reproduction, ...]:
    from arcademark.reproduce import ale2013

    return ale2013.statements()


def _ale_figure(number: int) -> PaperFigure:
    from arcademark.reproduce import figures_ale2013

    return figures_ale2013.figure(number)


def _atari5_parts(number: int | None) -> tuple[Reproduction, ...]:
    from arcademark.reproduce import atari5

    return atari5.parts(number)


def _about_atari5_figure(number: int) -> tuple[Reproduction, ...]:
    from arcademark.reproduce import atari5

    return atari5.about_figure(number)


def _atari5_figure(number: int) -> PaperFigure:
    from arcademark.reproduce import figures_atari5

    return figures_atari5.figure(number)


PAPERS: Mapping[str, Paper] = {
    "review": Paper("fan-2021", _review_parts, range(3, 15), _review_figure, range(1, 5)),
    "atari-5": Paper("aitchison-2023", _atari5_parts, range(1, 13), _atari5_figure, range(2, 6), _about_atari5_figure),
    "ale-2013": Paper("bellemare-2013", _ale_parts, range(0), _ale_figure, range(2, 5)),
}
