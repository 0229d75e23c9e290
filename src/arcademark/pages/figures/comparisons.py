"""Layouts of comparisons: summaries, differences, probabilities of improvement, ranks, profiles, a heat map.

`arcademark.pages.special` names each figure and adds its alternative text.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise

from arcademark import wording
from arcademark.analysis.runs.learning import SampleEfficiency
from arcademark.analysis.scoring.comparison import Comparison, GameDifference, Pair
from arcademark.analysis.scoring.report import ScoreReport
from arcademark.analysis.tables.document import Summary
from arcademark.analysis.uncertainty import Statistic
from arcademark.metrics.aggregate import AGGREGATES, in_display_order
from arcademark.pages.figures.model import (
    CurveFigure,
    CurvePanel,
    Curves,
    Guide,
    HeatMap,
    Mark,
    Numbers,
    RowPanel,
    RowsFigure,
)
from arcademark.pages.figures.style import HEAT, MAX_COLUMNS, MAX_ROWS, MAX_SERIES, QUARTERS, SERIES, Axis, ticks

UPPER = {"hns": "human average", "capped_hns": "human average", "hwrns": "world record", "saber": "world record"}
"""Meaning of 100 %, by metric."""
VERDICTS = {"better": "series-1", "worse": "series-2"}
HEAT_EDGES = (0.0, 25.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
"""Percentages at which the colour of a cell changes; the middle one is 100 %."""
SHARE_EDGES = (0.1, 0.25, 0.5)
LOG_PROFILE = 1000.0
"""Largest threshold of a profile, in percent, above which its axis is logarithmic."""


def upper(metric: str) -> str:
    """Return the name of 100 % of a metric."""
    return UPPER.get(metric, "100 %")


def shade(place: int, count: int) -> str:
    """Return the colour of one of ``count`` series; that of the first if there are more series than colours."""
    return SERIES[place if count <= MAX_SERIES else 0]


def summaries(rows: Sequence[tuple[str, Summary]]) -> RowsFigure:
    """Lay out each algorithm's median, interquartile mean, mean and optimality gap, one panel each, with intervals."""
    shown = rows[:MAX_ROWS]
    names = (name for name in in_display_order() if name in shown[0][1].statistics)
    panels = tuple(_summary(name, [item for _, item in shown]) for name in names)
    return RowsFigure((("", tuple(name for name, _ in shown)),), panels)


def _summary(name: str, items: Sequence[Summary]) -> RowPanel:
    aggregate, first = AGGREGATES[name], items[0]
    values = [item.statistics[name] for item in items]
    compared = aggregate.target is None and first.metric in UPPER
    ends = [end for value in values for end in _ends(value)] + [100.0] * compared
    axis = Axis.spanning(ends or [0.0])
    title = aggregate.title[0].upper() + aggregate.title[1:]
    return RowPanel(
        title=title if aggregate.sign > 0 else f"{title} (lower is better)",
        limits=axis.limits,
        ticks=axis.ticks(" %", 4),
        marks=tuple(
            mark for row, value in enumerate(values) for mark in _interval(value, row, axis, shade(row, len(items)))
        ),
        numbers=(Numbers("", tuple((row, 0.0, wording.percent(value.value)) for row, value in enumerate(values))),),
        guides=(Guide(axis.place(100.0), upper(first.metric), "muted"),) if compared else (),
        unit=f"{first.title}{axis.name}" if aggregate.target is None else f"{first.title} short of 100 %",
    )


def _ends(value: Statistic) -> list[float]:
    return [end for end in (value.low, value.value, value.high) if end is not None]


def _interval(value: Statistic, row: int, axis: Axis, colour: str) -> Iterator[Mark]:
    if value.value is None:
        return
    if value.low is not None and value.high is not None:
        yield Mark("whisker", row, 0, axis.place(value.high), axis.place(value.low), colour)
    yield Mark("dot", row, 0, axis.place(value.value), shade=colour)


def differences(comparison: Comparison, pair: Pair) -> RowsFigure:
    """Lay out the differences of a pair on each game, the largest first; games without a decision are pale."""
    games = by_difference(pair)
    axis = Axis.spanning([0.0, *(game.normalised or 0.0 for game in games)])
    numbers = [Numbers("", tuple((row, 0.0, signed(game.normalised)) for row, game in enumerate(games)))]
    if pair.tested:
        verdicts = [game.verdict if game.verdict in VERDICTS else "–" for game in games]
        numbers.append(Numbers("test", tuple((row, 0.0, verdict) for row, verdict in enumerate(verdicts)), weak=True))

    def colour(game: GameDifference) -> str:
        if pair.tested:
            return VERDICTS.get(game.verdict, "rule")
        return VERDICTS["better" if (game.normalised or 0.0) > 0 else "worse"]

    panel = RowPanel(
        title="",
        limits=axis.limits,
        ticks=axis.ticks("", 9),
        marks=tuple(
            Mark("bar", row, 0, axis.place(game.normalised or 0.0), shade=colour(game))
            for row, game in enumerate(games)
        ),
        numbers=tuple(numbers),
        guides=(Guide(axis.place(0.0), "equal", "muted"),),
        unit=f"{pair.first} minus {pair.second}: difference in {comparison.metric_title}, percentage points{axis.name}",
    )
    return RowsFigure((("", tuple(comparison.game(game.game).name for game in games)),), (panel,))


def by_difference(pair: Pair) -> list[GameDifference]:
    """Return the games with a known difference by the metric, the largest first."""
    known = (game for game in pair.games if game.normalised is not None)
    return sorted(known, key=lambda game: -(game.normalised or 0.0))


def signed(value: float | None) -> str:
    """Show a difference with its sign."""
    return wording.MISSING if value is None else f"{'+' if value > 0 else ''}{wording.number(value)}"


def improvement(comparison: Comparison) -> RowsFigure:
    """Lay out each pair's probability that a run of the first beats one of the second, with intervals."""
    pairs = comparison.pairs[:MAX_ROWS]
    axis = Axis(0.0, 1.0, log=False)
    spans = ((row, _ends(pair.improvement)) for row, pair in enumerate(pairs))
    intervals = tuple((row, 0.0, f"{ends[0]:.2f} … {ends[2]:.2f}") for row, ends in spans if len(ends) > 2)
    panel = RowPanel(
        title="",
        limits=axis.limits,
        ticks=tuple((share, f"{share:g}") for share in (0.0, 0.25, 0.5, 0.75, 1.0)),
        marks=tuple(
            mark for row, pair in enumerate(pairs) for mark in _interval(pair.improvement, row, axis, "series-1")
        ),
        numbers=(
            Numbers("", tuple((row, 0.0, wording.fixed(pair.improvement.value)) for row, pair in enumerate(pairs))),
            *([Numbers("", intervals, weak=True)] if intervals else []),
        ),
        guides=(Guide(0.5, "equally good", "muted"),),
        unit="P(a run of the first beats a run of the second)",
    )
    return RowsFigure((("", tuple(f"{pair.first} > {pair.second}" for pair in pairs)),), (panel,))


def ranks(comparison: Comparison) -> HeatMap:
    """Lay out the shares of ranks of each algorithm, the best mean rank first."""
    rows = sorted(comparison.ranks, key=lambda row: row.mean)

    def cell(share: float) -> tuple[str, str]:
        return f"{100 * share:.0f} %", HEAT[len(HEAT) // 2 + bisect(SHARE_EDGES, share)] if share >= 0.005 else ""

    return HeatMap(
        corner="",
        rows=tuple(row.algorithm for row in rows),
        columns=(*(f"rank {place}" for place in range(1, len(rows) + 1)), "mean"),
        cells=tuple((*map(cell, row.shares), (f"{row.mean:.2f}", "")) for row in rows),
    )


def heat(report: ScoreReport) -> HeatMap:
    """Lay out the first metric's score of each algorithm on each game."""
    shown = report.algorithms[:MAX_COLUMNS]
    metric = shown[0].summaries[0]
    scores = [
        {score.game: value for score in item.scores if (value := score.normalised[metric.metric].value) is not None}
        for item in shown
    ]

    def cell(value: float | None) -> tuple[str, str]:
        if value is None:
            return "", ""
        return wording.score(value, 0), HEAT[bisect(HEAT_EDGES, value)]

    games = [game for game in report.games if any(game.id in row for row in scores)]
    texts = [f"below {HEAT_EDGES[0]:.0f} %"]
    texts += [f"{low:,.0f}–{high:,.0f} %" for low, high in pairwise(HEAT_EDGES)]
    texts = [*texts, f"{HEAT_EDGES[-1]:,.0f} % or more"]
    return HeatMap(
        corner=f"{metric.title}, %",
        rows=tuple(game.name for game in games),
        columns=tuple(item.name for item in shown),
        cells=tuple(tuple(cell(row.get(game.id)) for row in scores) for game in games),
        legend=tuple(zip(texts, HEAT, strict=True)),
    )


def sample_efficiency(curves: Sequence[SampleEfficiency]) -> Curves:
    """Lay out the interquartile mean of learners over training frames, with intervals."""
    shown = curves[:MAX_SERIES]
    values = [
        value for curve in shown for row in (curve.iqm, curve.low, curve.high) for value in row if value is not None
    ]
    if 4 * max(values) >= 100.0:
        values.append(100.0)
    axis, end = Axis.spanning([0.0, *values]), max(curve.frames[-1] for curve in shown)
    panel = CurvePanel(
        title="",
        across=f"training {shown[0].unit}s",
        up=f"IQM {shown[0].title}{axis.name}",
        limits=(0.0, end),
        heights=axis.limits,
        ticks=tuple((value, wording.frames(value)) for value in ticks(0.0, end, 7)),
        levels=axis.ticks(" %"),
        curves=tuple(_efficiency(curve, place, axis) for place, curve in enumerate(shown)),
        level=Guide(axis.place(100.0), upper(shown[0].metric), "muted") if 100.0 in values else None,
    )
    return Curves((panel,), legend=tuple((curve.algorithm, place) for place, curve in enumerate(shown)), body=150.0)


def _efficiency(curve: SampleEfficiency, series: int, axis: Axis) -> CurveFigure:
    middle = [axis.place(value) for value in curve.iqm]
    ends = [
        [at if value is None else axis.place(value) for at, value in zip(middle, row, strict=True)]
        for row in (curve.low, curve.high)
    ]
    known = any(value is not None for value in curve.low)
    return CurveFigure(curve.frames, tuple(middle), series, band=(tuple(ends[0]), tuple(ends[1])) if known else None)


def profiles(comparison: Comparison) -> Curves:
    """Lay out performance profiles, on a logarithmic axis if thresholds reach far."""
    shown = comparison.profiles[:MAX_SERIES]
    least, reach = shown[0].thresholds[1], shown[0].thresholds[-1]
    axis = Axis(least if reach > LOG_PROFILE else 0.0, reach, reach > LOG_PROFILE)
    panel = CurvePanel(
        title="",
        across=f"{comparison.metric_title}{axis.name}",
        up="share of runs above",
        limits=(axis.place(axis.low), axis.place(axis.high)),
        heights=(0.0, 1.0),
        ticks=axis.ticks(" %", 9),
        levels=QUARTERS,
        curves=tuple(
            CurveFigure(
                tuple(map(axis.place, item.thresholds)),
                tuple(item.shares),
                index,
                steps="post",
                band=None if item.low is None or item.high is None else (tuple(item.low), tuple(item.high)),
            )
            for index, item in enumerate(shown)
        ),
        grid=True,
        guide=Guide(axis.place(100.0), upper(comparison.metric), "muted"),
    )
    return Curves((panel,), body=186.0)
