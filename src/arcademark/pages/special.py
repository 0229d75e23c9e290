"""Figures of documents, by the names that templates use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from arcademark import wording
from arcademark.analysis.runs.learning import SampleEfficiency
from arcademark.analysis.scoring.comparison import Comparison, Pair
from arcademark.analysis.scoring.report import ScoreReport
from arcademark.analysis.subsets.searching import EverySize
from arcademark.analysis.tables.document import Summary
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.pages.figures import comparisons, papers, scores, sizes, style
from arcademark.pages.figures.model import PictureRow
from arcademark.pages.figures.style import MAX_ROWS, MAX_SERIES
from arcademark.pages.render.blocks import Figure
from arcademark.reproduce.figures import PaperFigure


def standing(report: ScoreReport, caption: str) -> Figure:
    """Draw each algorithm's scores on each game, on the random-to-human scale."""
    return Figure("standing", partial(scores.standing, report), caption, _legend(report) if report.several else ())


def distribution(report: ScoreReport, caption: str) -> Figure:
    """Draw the distribution of each game's episodes."""
    legend = _legend(report) if report.benchmark.own and report.several else ()
    return Figure("distribution", partial(scores.distribution, report), caption, legend)


def learning(report: ScoreReport, caption: str) -> Figure | None:
    """Draw the learning curves of the learners; None if there is none."""
    learners = {curve.algorithm for curve in report.learning}
    legend = tuple(pair for pair in _legend(report) if pair[0] in learners)
    panels = partial(scores.learning, report)
    return Figure("learning", panels, caption, legend if report.several else ()) if legend else None


def profiles(comparison: Comparison, caption: str) -> Figure:
    """Draw performance profiles."""
    legend = style.legend([item.algorithm for item in comparison.profiles])
    return Figure("profiles", lambda: ((comparisons.profiles(comparison), _in_words(comparison)),), caption, legend)


def summaries(rows: Sequence[tuple[str, Summary]], caption: str) -> Figure | None:
    """Draw each algorithm's summaries; None if none has any."""
    known = [(name, item) for name, item in rows if item is not None and item.games]
    if not known:
        return None
    words = "; ".join(
        f"{name}: "
        + ", ".join(f"{AGGREGATES[key].title} {wording.percent(one.value)}" for key, one in item.statistics.items())
        for name, item in known[:MAX_ROWS]
    )
    alternative = f"{known[0][1].title} summaries. {words}."
    return Figure("summaries", lambda: ((comparisons.summaries(known), alternative),), caption)


def differences(comparison: Comparison, pair: Pair, caption: str) -> Figure | None:
    """Draw a pair's difference on each game; None if no game has the metric's references."""
    games = comparisons.by_difference(pair)
    words = "; ".join(f"{comparison.game(game.game).name} {comparisons.signed(game.normalised)}" for game in games)
    alternative = f"{pair.first} minus {pair.second}, difference in {comparison.metric_title}. {words}."
    drawn = partial(comparisons.differences, comparison, pair)
    return Figure("differences", lambda: ((drawn(), alternative),), caption) if games else None


def improvement(comparison: Comparison, caption: str) -> Figure:
    """Draw each pair's probability of improvement."""
    words = "; ".join(
        f"{pair.first} over {pair.second} {wording.fixed(pair.improvement.value)}"
        for pair in comparison.pairs[:MAX_ROWS]
    )
    alternative = f"Probability of improvement. {words}."
    return Figure("improvement", lambda: ((comparisons.improvement(comparison), alternative),), caption)


def ranks(comparison: Comparison, caption: str) -> Figure | None:
    """Draw the distribution of ranks; None if there are none."""
    words = "; ".join(f"{row.algorithm} {row.mean:.2f}" for row in comparison.ranks)
    made = partial(comparisons.ranks, comparison)
    return Figure("ranks", lambda: ((made(), f"Mean ranks. {words}."),), caption) if comparison.ranks else None


def heat(report: ScoreReport, caption: str) -> Figure | None:
    """Draw the scores of several algorithms on every game as a heat map; None for a single algorithm."""
    if not report.several or not report.algorithms[0].summaries:
        return None
    return Figure("heat", lambda: ((comparisons.heat(report), "Normalised scores; the table has them."),), caption)


def sample_efficiency(curves: Sequence[SampleEfficiency], caption: str) -> Figure | None:
    """Draw the sample efficiency of learners; None if there is none."""
    words = "; ".join(
        f"{curve.algorithm}: from {wording.percent(curve.iqm[0])} to {wording.percent(curve.iqm[-1])}"
        for curve in curves
    )
    alternative = f"Interquartile mean over training. {words}."
    made = partial(comparisons.sample_efficiency, curves)
    return Figure("sample-efficiency", lambda: ((made(), alternative),), caption) if curves else None


def curve(every: EverySize) -> Figure:
    """Draw the curve of error against size."""
    return Figure("subset-sizes", partial(sizes.figure, every))


def of_paper(figure: PaperFigure) -> Figure:
    """Draw a paper's figure, made from the catalogue."""
    return Figure(papers.name(figure), lambda: ((papers.model(figure), papers.in_words(figure)),))


def pictures(name: str, row: PictureRow) -> Figure:
    """Draw a row of pictures."""
    words = f"{row.title}: {'; '.join(picture.title for picture in row.pictures)}."
    return Figure(name, lambda: ((row, words),))


def _legend(report: ScoreReport) -> tuple[tuple[str, str], ...]:
    return style.legend([item.name for item in report.algorithms])


def _in_words(comparison: Comparison) -> str:
    """Describe the figure: each algorithm's share of runs above some thresholds."""
    marks = [mark for mark in (0.0, 50.0, 100.0, 200.0) if mark <= comparison.profiles[0].thresholds[-1]]
    shares_of = []
    for item in comparison.profiles[:MAX_SERIES]:
        shares = np.interp(marks, item.thresholds, item.shares)
        above = (f"{100 * share:.0f} % above {mark:.0f} %" for share, mark in zip(shares, marks, strict=True))
        shares_of.append(f"{item.algorithm}: {', '.join(above)}")
    return f"Share of runs above each {comparison.metric_title}. {'; '.join(shares_of)}."
