r"""Every game's scores, and every game's episodes, as figures of rows.

The random-to-human scale is sign(s)·log₁₀(1 + \|s\|) of the human-normalised score s in percent, the scale on which the
subset models are fitted (Aitchison et al. 2023, Appendix E): random play is at 0, the human average at 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.reports import wording
from arcademark.reports.figures.model import Guide, Kind, Mark, Numbers, RowPanel, Rows
from arcademark.reports.figures.style import MOST_SERIES, SERIES
from arcademark.reports.tables.document import Game, Score, Statistic

if TYPE_CHECKING:
    from arcademark.reports.tables.report import ScoreReport

MOST_DOTS = 3000  # episodes in a figure above which it shows boxes only
TICKS = (-10_000, -1000, -100, -10, 0, 10, 100, 1000, 10_000, 100_000)

GOLDEN = (np.sqrt(5.0) - 1) / 2

Played = tuple[Game, list[tuple[int, Score]]]  # a game with its scores, each with its algorithm's place in the report


def scale(hns: ArrayLike) -> NDArray[np.float64]:
    """Place human-normalised scores in percent on the random-to-human scale: 0 → 0, 100 → about 2."""
    values = np.asarray(hns, dtype=np.float64)
    return np.asarray(np.sign(values) * np.log10(1 + np.abs(values)))


def standing(report: ScoreReport) -> tuple[tuple[Rows, str], ...]:
    """Lay out each game's scores between random play, the human average and the world record, and say them.

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
            record, middle = float(scale(game.record_hns)), (len(scores) - 1) / 2
            marks.append(Mark("bar", row, middle, record, shade="track", lines=len(scores)))
            marks.append(Mark("stroke", row, middle, record, shade="record", lines=len(scores) + 0.36))
        for line, (index, score) in enumerate(scores):
            hns = _hns(score)
            if hns.value is None:
                continue
            marks.append(Mark("bar", row, line, float(scale(hns.value)), shade=SERIES[index]))
            numbers.append((row, line, wording.percent(hns.value)))
            if hns.low is not None and hns.high is not None:
                low, high = map(float, scale([hns.low, hns.high]))
                marks.append(Mark("whisker", row, line, high, low, shade="ink"))
    ends = [2.0, *(end for mark in marks for end in (mark.start, mark.end))]
    limits = min(-0.25, min(ends) - 0.1), max(ends) + 0.12
    ticks = ((float(scale(tick)), f"{tick:,} %".replace("-", "−")) for tick in TICKS)
    panel = RowPanel(
        title="",
        limits=limits,
        ticks=tuple(tick for tick in ticks if limits[0] <= tick[0] <= limits[1]),
        marks=tuple(marks),
        numbers=(Numbers("", tuple(numbers)),),
        guides=(Guide(0.0, "random", "muted"), Guide(float(scale(100)), "human average", "muted")),
    )
    in_words = (
        f"{game.name}, {report.algorithms[index].name}: {wording.percent(_hns(score).value)}"
        for game, scores in everything
        for index, score in scores
    )
    return ((_rows(played, panel), f"Human-normalised scores. {'; '.join(in_words)}."),)


def distribution(report: ScoreReport) -> tuple[tuple[Rows, str], ...]:
    """Lay out every game's episodes, each game from its lowest to its highest episode.

    Each is a point, in front of a box from quarter to quarter with the median.
    """
    played = [(game, [pair for pair in scores if _episodes(pair[1])]) for game, scores in _played(report)]
    played = [(game, scores) for game, scores in played if scores]
    dots = sum(len(_episodes(score)) for _, scores in played for _, score in scores) <= MOST_DOTS
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
    panel = RowPanel("", (-0.02, 1.02), (), tuple(marks), (after,), before)
    return ((_rows(played, panel), "Every episode's score; the table has means and intervals."),)


def _played(report: ScoreReport) -> list[Played]:
    played: dict[str, list[tuple[int, Score]]] = {game.id: [] for game in report.games}
    for index, algorithm in enumerate(report.algorithms[:MOST_SERIES]):
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
    """Yield a box, and each episode; hollow where the frame cap ended it. Equal scores are spread evenly."""
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


def _rows(played: Sequence[Played], panel: RowPanel) -> Rows:
    names = tuple(game.name for game, _ in played)
    return Rows((("", names),), (panel,), tuple(len(scores) for _, scores in played))
