r"""Layouts of every game's scores, and of every game's episodes, as rows; and of learning curves, one panel per game.

The random-to-human scale is sign(s)·log₁₀(1 + \|s\|) of the human-normalised score s in percent, the scale on which the
subset models are fitted (Aitchison et al. 2023, Appendix E): random play is at 0, the human average at 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from arcademark import wording
from arcademark.analysis.runs.learning import LearningCurve
from arcademark.analysis.scoring.report import ScoreReport
from arcademark.analysis.tables.document import Score, ScoredGame
from arcademark.analysis.uncertainty import Statistic
from arcademark.pages.figures.model import (
    CurveFigure,
    CurvePanel,
    Curves,
    Guide,
    Kind,
    Mark,
    Numbers,
    RowPanel,
    RowsFigure,
)
from arcademark.pages.figures.style import MAX_SERIES, SERIES, signed_log, ticks

COLUMNS = 2
BODY = 90.0
ROOM = 0.06
"""Part of the y axis that is left free above and below."""
MAX_DOTS = 3000
"""Number of episodes in a figure above which it shows only boxes."""
TICKS = (-10_000, -1000, -100, -10, 0, 10, 100, 1000, 10_000, 100_000)

GOLDEN = (np.sqrt(5.0) - 1) / 2

Played = tuple[ScoredGame, list[tuple[int, Score]]]
"""A game with its scores, each with its algorithm's index in the report."""


def standing(report: ScoreReport) -> tuple[tuple[RowsFigure, str], ...]:
    """Lay out each game's scores between random play, the human average and the world record, with alternative text.

    A score is a bar with its interval, in front of the world record.
    """
    everything = _played(report)
    played = [
        (game, scores)
        for game, scores in everything
        if None not in (game.references.get(kind) for kind in ("random", "human"))
    ]
    marks: list[Mark] = []
    numbers: list[tuple[int, float, str]] = []
    for row, (game, scores) in enumerate(played):
        if game.record_hns is not None:
            record, middle = float(signed_log(game.record_hns)), (len(scores) - 1) / 2
            marks.append(Mark("bar", row, middle, record, shade="track", lines=len(scores)))
            marks.append(Mark("stroke", row, middle, record, shade="record", lines=len(scores) + 0.36))
        for line, (index, score) in enumerate(scores):
            hns = _hns(score)
            if hns.value is None:
                continue
            marks.append(Mark("bar", row, line, float(signed_log(hns.value)), shade=SERIES[index]))
            numbers.append((row, line, wording.percent(hns.value)))
            if hns.low is not None and hns.high is not None:
                low, high = map(float, signed_log([hns.low, hns.high]))
                marks.append(Mark("whisker", row, line, high, low, shade="ink"))
    ends = [2.0, *(end for mark in marks for end in (mark.start, mark.end))]
    limits = min(-0.25, min(ends) - 0.1), max(ends) + 0.12
    scaled = ((float(signed_log(tick)), f"{tick:,} %".replace("-", "−")) for tick in TICKS)
    panel = RowPanel(
        title="",
        limits=limits,
        ticks=tuple(tick for tick in scaled if limits[0] <= tick[0] <= limits[1]),
        marks=tuple(marks),
        numbers=(Numbers("", tuple(numbers)),),
        guides=(Guide(0.0, "random", "muted"), Guide(float(signed_log(100)), "human average", "muted")),
        unit="human-normalised score, symmetric logarithmic scale",
    )
    in_words = (
        f"{game.name}, {report.algorithms[index].name}: {wording.percent(_hns(score).value)}"
        for game, scores in everything
        for index, score in scores
    )
    return ((_rows(played, panel), f"Human-normalised scores. {'; '.join(in_words)}."),)


def distribution(report: ScoreReport) -> tuple[tuple[RowsFigure, str], ...]:
    """Lay out every game's episodes, each game from its lowest to its highest episode.

    Each episode is a point, in front of a box between the quartiles with the median.
    """
    played = [(game, [pair for pair in scores if _episodes(pair[1])]) for game, scores in _played(report)]
    played = [(game, scores) for game, scores in played if scores]
    dots = sum(len(_episodes(score)) for _, scores in played for _, score in scores) <= MAX_DOTS
    marks: list[Mark] = []
    lowest, highest = list[tuple[int, float, str]](), list[tuple[int, float, str]]()
    for row, (_, scores) in enumerate(played):
        every = [value for _, score in scores for value in _episodes(score)]
        ends, middle = (min(every), max(every)), (len(scores) - 1) / 2
        lowest.append((row, middle, wording.reference(ends[0])))
        highest.append((row, middle, wording.reference(ends[1])))
        marks.append(Mark("rule", row, len(scores) - 0.32, 1.0, shade="rule"))
        for line, (index, score) in enumerate(scores):
            marks += _episode_marks(score, row, line, ends, SERIES[index], dots=dots)
    before, after = (Numbers("", tuple(texts), weak=True) for texts in (lowest, highest))
    unit = f"score in points, from each {report.benchmark.noun}'s lowest to its highest episode"
    panel = RowPanel("", (-0.02, 1.02), (), tuple(marks), (after,), before, unit=unit)
    return ((_rows(played, panel), "Every episode's score; the table has means and intervals."),)


def _played(report: ScoreReport) -> list[Played]:
    played: dict[str, list[tuple[int, Score]]] = {game.id: [] for game in report.games}
    for index, algorithm in enumerate(report.algorithms[:MAX_SERIES]):
        for score in algorithm.scores:
            if score.score.value is not None:
                played[score.game].append((index, score))
    return [(game, played[game.id]) for game in report.games]


def _hns(score: Score) -> Statistic:
    return score.normalised.get("hns", Statistic(None))


def _episodes(score: Score) -> tuple[float, ...]:
    return score.played.episodes if score.played else ()


def _episode_marks(
    score: Score, row: int, line: int, ends: tuple[float, float], shade: str, *, dots: bool
) -> Iterator[Mark]:
    """Yield a box, and a point for each episode, hollow if the frame cap ended it. Equal scores are spread evenly."""
    values = (np.array(_episodes(score)) - ends[0]) / ((ends[1] - ends[0]) or 1.0)
    low, first, median, third, high = map(float, np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95)))
    yield Mark("bar", row, line, third, first, "track")
    yield Mark("stroke", row, line, median, shade=shade, lines=0.84)
    if not dots:
        yield Mark("whisker", row, line, high, low, shade)
        return
    for place, episode in enumerate(np.argsort(values, kind="stable")):
        kind: Kind = "hollow" if score.played and score.played.truncated[episode] else "point"
        rise = 0.6 * ((place * GOLDEN) % 1 - 0.5)
        yield Mark(kind, row, line + rise, float(values[episode]), shade=shade)


def _rows(played: Sequence[Played], panel: RowPanel) -> RowsFigure:
    names = tuple(game.name for game, _ in played)
    return RowsFigure((("", names),), (panel,), tuple(len(scores) for _, scores in played))


def learning(report: ScoreReport) -> tuple[tuple[Curves, str], ...]:
    """Lay out each game's curves separately, without a legend: a page has one, and as many columns as fit."""
    return tuple(
        (Curves((_panel(report, curves),), COLUMNS, body=BODY), _in_words(report, curves))
        for curves in _by_game(report)
    )


def _in_words(report: ScoreReport, curves: Sequence[LearningCurve]) -> str:
    each = (
        f"{curve.algorithm}: from {wording.score(curve.first)} to "
        f"{wording.score(curve.last)} in {wording.plural(curve.episodes, 'episode')}"
        for curve in curves
    )
    return f"Scores of training episodes of {report.game(curves[0].game).name}. {'; '.join(each)}."


def _places(report: ScoreReport) -> dict[str, int]:
    """Return the index of colour and dashes of each drawn algorithm."""
    return {algorithm.name: index for index, algorithm in enumerate(report.algorithms[:MAX_SERIES])}


def _by_game(report: ScoreReport) -> list[list[LearningCurve]]:
    places = _places(report)
    drawn = (curve for curve in report.learning if curve.algorithm in places)
    return [list(curves) for _, curves in groupby(drawn, key=lambda curve: curve.game)]


def _panel(report: ScoreReport, curves: Sequence[LearningCurve]) -> CurvePanel:
    game, places = report.game(curves[0].game), _places(report)
    values = [score for curve in curves for seed in curve.seeds for score in seed.scores]
    random = game.references.get("random")
    values += [] if random is None else [random]
    room = ROOM * ((max(values) - min(values)) or 1.0)
    low, high = min(values) - room, max(values) + room
    end = float(max(seed.end_frames[-1] for curve in curves for seed in curve.seeds))
    return CurvePanel(
        title=game.name,
        across=f"training {report.unit}s",
        up="score",
        limits=(0.0, end),
        heights=(low, high),
        ticks=tuple((value, wording.frames(value)) for value in ticks(0.0, end)),
        levels=_levels(ticks(low, high)),
        curves=tuple(line for curve in curves for line in _curves(curve, places[curve.algorithm])),
        level=None if random is None else Guide(random, "random", "muted"),
    )


def _levels(values: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Return levels with their labels, all with as many decimals as needed to distinguish them."""
    places = max(len(f"{value:.9f}".rstrip("0").partition(".")[2]) for value in values)
    return tuple((value, f"{value:,.{places}f}".replace("-", "−")) for value in values)


def _curves(curve: LearningCurve, series: int) -> list[CurveFigure]:
    """Return the seeds' curves with their mean and its band, which the panel's edges may clip; or a single seed's."""
    alone = len(curve.seeds) == 1
    lines = [
        CurveFigure(tuple(map(float, seed.end_frames)), seed.scores, series, thin=not alone) for seed in curve.seeds
    ]
    if not alone:
        mean = curve.mean()
        band = None
        if mean.low is not None and mean.high is not None:
            band = tuple(mean.low.tolist()), tuple(mean.high.tolist())
        lines.append(CurveFigure(tuple(mean.frames.tolist()), tuple(mean.mean.tolist()), series, band=band))
    return lines
