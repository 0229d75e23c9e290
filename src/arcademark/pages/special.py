"""Blocks that templates of documents cannot say: figures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from arcademark.pages.figures import style
from arcademark.pages.figures.model import CurveFigure, CurvePanel, Curves, Guide, Pictures
from arcademark.pages.figures.style import MAX_SERIES, ticks
from arcademark.pages.render.blocks import Figure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arcademark.analysis.scoring.comparison import Comparison
    from arcademark.analysis.scoring.report import ScoreReport
    from arcademark.analysis.subsets.searching import EverySize
    from arcademark.pages.figures.model import PictureRow
    from arcademark.reproduce.figures import PaperFigure


def standing(report: ScoreReport, caption: str) -> Figure:
    """Draw where each algorithm stands on each game."""
    from arcademark.pages.figures import scores as figures

    return Figure("standing", partial(figures.standing, report), caption, _legend(report) if report.several else ())


def distribution(report: ScoreReport, caption: str) -> Figure:
    """Draw how the episodes of each game are distributed."""
    from arcademark.pages.figures import scores as figures

    legend = _legend(report) if report.benchmark.own and report.several else ()
    return Figure("distribution", partial(figures.distribution, report), caption, legend)


def learning(report: ScoreReport, caption: str) -> Figure | None:
    """Draw how the training of the learners among the algorithms went."""
    from arcademark.pages.figures import scores as figures

    learners = {curve.algorithm for curve in report.learning}
    legend = tuple(pair for pair in _legend(report) if pair[0] in learners)
    panels = partial(figures.learning, report)
    return Figure("learning", panels, caption, legend if report.several else ()) if legend else None


def profiles(comparison: Comparison, caption: str) -> Figure:
    """Draw performance profiles."""
    legend = style.legend([item.algorithm for item in comparison.profiles])
    return Figure("profiles", lambda: ((_profiles(comparison), _in_words(comparison)),), caption, legend)


def curve(sizes: EverySize) -> Figure:
    """Draw the curve of error against size."""
    from arcademark.pages.figures import sizes as sizes_figure

    return Figure("subset-sizes", partial(sizes_figure.figure, sizes))


def of_paper(figure: PaperFigure) -> Figure:
    """Draw a paper's figure, made from the catalogue."""
    from arcademark.pages.figures import papers as figures

    return Figure(figures.name(figure), lambda: ((figures.model(figure), figures.in_words(figure)),))


def pictures(name: str, row: PictureRow) -> Figure:
    """Draw a row of pictures."""
    words = f"{row.title}: {'; '.join(picture.title for picture in row.pictures)}."
    return Figure(name, lambda: ((Pictures((row,)), words),))


def numbers(figure: PaperFigure) -> Iterable[tuple[object, ...]]:
    """Return the tables of its numbers, as `arcademark.pages.figures.papers.tables` does."""
    from arcademark.pages.figures import papers as figures

    return figures.tables(figure)


def _legend(report: ScoreReport) -> tuple[tuple[str, str], ...]:
    return style.legend([item.name for item in report.algorithms])


def _profiles(comparison: Comparison) -> Curves:
    """Lay the figure out."""
    first = comparison.profiles[:MAX_SERIES]
    reach = first[0].thresholds[-1]
    panel = CurvePanel(
        title="",
        across=f"{comparison.metric_title} above which runs lie",
        limits=(0.0, reach),
        heights=(0.0, 1.0),
        ticks=tuple((value, f"{value:,.0f} %") for value in ticks(0.0, reach, 9)),
        levels=tuple((share, f"{100 * share:.0f} %") for share in (0.0, 0.25, 0.5, 0.75, 1.0)),
        curves=tuple(
            CurveFigure(
                tuple(item.thresholds),
                tuple(item.shares),
                index,
                steps="post",
                band=None if item.low is None or item.high is None else (tuple(item.low), tuple(item.high)),
            )
            for index, item in enumerate(first)
        ),
        grid=True,
        guide=Guide(100.0, "", "muted"),
    )
    return Curves((panel,), body=248.0)


def _in_words(comparison: Comparison) -> str:
    """Say what the figure shows: each algorithm's share of runs above some thresholds."""
    marks = [mark for mark in (0.0, 50.0, 100.0, 200.0) if mark <= comparison.profiles[0].thresholds[-1]]
    shares_of = []
    for item in comparison.profiles[:MAX_SERIES]:
        shares = np.interp(marks, item.thresholds, item.shares)
        above = (f"{100 * share:.0f} % above {mark:.0f} %" for share, mark in zip(shares, marks, strict=True))
        shares_of.append(f"{item.algorithm}: {', '.join(above)}")
    return f"Share of runs above each {comparison.metric_title}. {'; '.join(shares_of)}."
