r"""Every game's scores, and every game's episodes, as SVG in the style of `arcademark.report.figures`.

The random-to-human scale is sign(s)·log₁₀(1 + \|s\|) of the human-normalised score s in percent, the scale on which the
subset models are fitted (Aitchison et al. 2023, Appendix E): random play is at 0, the human average at 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from arcademark.report import wording
from arcademark.report.figures import MOST_ALGORITHMS, PALETTE, SERIES, WIDTH, colour
from arcademark.report.tables.document import Algorithm, Game, Score, ScoreReport, Statistic

NAMES = 132.0
VALUES = 74.0
BAR = 11.0
GAP = 15.0
HEAD = 40.0
FOOT = 30.0
MOST_DOTS = 3000
"""Episodes in a figure above which it shows boxes only."""

TICKS = (-10_000, -1000, -100, -10, 0, 10, 100, 1000, 10_000, 100_000)


def scale(hns: ArrayLike) -> NDArray[np.float64]:
    """Place human-normalised scores in percent on the random-to-human scale: 0 → 0, 100 → about 2."""
    values = np.asarray(hns, dtype=np.float64)
    return np.asarray(np.sign(values) * np.log10(1 + np.abs(values)))


def standing(report: ScoreReport) -> list[tuple[Figure, str]]:
    """Draw each game's scores between random play, the human average and the world record; and say what it shows."""
    games = [game for game in report.games if None not in (game.references.get("random"), game.references.get("human"))]
    rows = [(game, _played(report, game)) for game in games]
    figure, axes, tops = _canvas([len(scores) for _, scores in rows])
    reach = [100.0, *(game.record_hns for game in games if game.record_hns is not None)]
    reach += [value for _, scores in rows for _, score in scores for value in _extent(score)]
    left, right = min(-0.25, float(scale(min(reach))) - 0.1), float(scale(max(reach))) + 0.12
    axes.set_xlim(left, right)
    _scale_lines(axes, tops[-1] if tops else 0.0)
    for (game, scores), top in zip(rows, tops, strict=False):
        _standing_row(axes, game, scores, top)
    told = (
        f"{game.name}, {report.algorithms[index].name}: {wording.percent(_hns(score).value)}"
        for game, scores in rows
        for index, score in scores
    )
    return [(figure, f"Human-normalised scores. {'; '.join(told)}.")]


def distribution(report: ScoreReport) -> list[tuple[Figure, str]]:
    """Draw every game's episodes, each game from its lowest to its highest episode; and say what it shows."""
    rows = [(game, [pair for pair in _played(report, game) if _episodes(pair[1])]) for game in report.games]
    rows = [(game, scores) for game, scores in rows if scores]
    dots = sum(len(_episodes(score)) for _, scores in rows for _, score in scores) <= MOST_DOTS
    figure, axes, tops = _canvas([len(scores) for _, scores in rows], head=8.0, foot=8.0)
    axes.set_xlim(-0.16, 1.02)
    for (game, scores), top in zip(rows, tops, strict=False):
        _distribution_row(axes, game, scores, top, dots=dots)
    return [(figure, "Every episode's score; the table has means and intervals.")]


def _hns(score: Score) -> Statistic:
    return score.normalised.get("hns", Statistic(None))


def _episodes(score: Score) -> tuple[float, ...]:
    return score.played.episodes if score.played else ()


def _extent(score: Score) -> list[float]:
    found = _hns(score)
    return [value for value in (found.value, found.low, found.high) if value is not None]


def _played(report: ScoreReport, game: Game) -> list[tuple[int, Score]]:
    """Return the game's scores, each with its algorithm's place in the report."""
    return [
        (index, score)
        for index, algorithm in enumerate(report.algorithms[:MOST_ALGORITHMS])
        for score in algorithm.scores
        if score.game == game.id and score.score.value is not None
    ]


def _canvas(counts: Sequence[int], head: float = HEAD, foot: float = FOOT) -> tuple[Figure, Axes, list[float]]:
    """Open a figure with a row for each count of bars; return where each row's bars begin, in points from the top."""
    heights = [GAP + BAR * count for count in counts]
    tops = [float(sum(heights[:index])) for index in range(len(heights) + 1)]
    body = max(tops[-1], 1.0)
    height = head + body + foot
    figure = Figure(figsize=(WIDTH / 72, height / 72))
    figure.patch.set_visible(False)
    axes = figure.add_axes((NAMES / WIDTH, foot / height, (WIDTH - NAMES - VALUES) / WIDTH, body / height))
    axes.set_ylim(body, 0)
    axes.patch.set_visible(False)
    axes.set_yticks([])
    axes.set_xticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure, axes, tops


def _scale_lines(axes: Axes, body: float) -> None:
    low, high = axes.get_xlim()
    shown = [tick for tick in TICKS if low <= float(scale(tick)) <= high]
    for tick in shown:
        place = float(scale(tick))
        anchor = tick in (0, 100)
        axes.plot(
            [place, place],
            [-4 if anchor else 0, body],
            color=PALETTE["muted" if anchor else "rule"],
            linewidth=0.9 if anchor else 0.5,
            zorder=1,
            clip_on=False,
        )
        axes.text(place, body + 13, f"{tick:,} %".replace("-", "−"), color=PALETTE["muted"], fontsize=8, ha="center")
    for place, text in ((0.0, "random"), (float(scale(100)), "human average")):
        axes.text(place, -10, text, color=PALETTE["ink"], fontsize=9, ha="center")


def _standing_row(axes: Axes, game: Game, scores: list[tuple[int, Score]], top: float) -> None:
    height = BAR * len(scores)
    middle = top + (GAP + height) / 2
    _name(axes, game, middle)
    if game.record_hns is not None:
        record = float(scale(game.record_hns))
        axes.fill_between([0, record], middle - height / 2, middle + height / 2, color=PALETTE["track"], lw=0, zorder=0)
        axes.plot([record] * 2, [middle - height / 2 - 2, middle + height / 2 + 2], color=PALETTE["record"], lw=2)
    for place, (index, score) in enumerate(scores):
        found = _hns(score)
        if found.value is None:
            continue
        y = middle - height / 2 + BAR * (place + 0.5)
        axes.barh(y, float(scale(found.value)), height=BAR * 0.72, color=colour(index), linewidth=0, zorder=2)
        if found.low is not None and found.high is not None:
            ends = scale([found.low, found.high])
            axes.plot(ends, [y, y], color=PALETTE["ink"], linewidth=1.1, zorder=3, solid_capstyle="butt")
        _value(axes, wording.percent(found.value), y)


def _distribution_row(axes: Axes, game: Game, scores: list[tuple[int, Score]], top: float, *, dots: bool) -> None:
    height = BAR * len(scores)
    middle = top + (GAP + height) / 2
    _name(axes, game, middle)
    everything = [value for _, score in scores for value in _episodes(score)]
    low, high = min(everything), max(everything)
    spread = (high - low) or 1.0
    axes.text(-0.02, middle, wording.reference(low), color=PALETTE["muted"], fontsize=8, ha="right", va="center")
    _value(axes, wording.reference(high), middle, weak=True)
    axes.plot([0, 1], [middle + height / 2 + 2] * 2, color=PALETTE["rule"], linewidth=0.5, zorder=0)
    for place, (index, score) in enumerate(scores):
        y = middle - height / 2 + BAR * (place + 0.5)
        values = (np.array(_episodes(score)) - low) / spread
        quarters = np.quantile(values, (0.25, 0.5, 0.75))
        axes.barh(
            y, quarters[2] - quarters[0], left=quarters[0], height=BAR * 0.72, color=PALETTE["track"], lw=0, zorder=1
        )
        if not dots:
            axes.plot(np.quantile(values, (0.05, 0.95)), [y, y], color=colour(index), linewidth=0.8, zorder=2)
        else:
            _dots(axes, values, np.array(score.played.truncated if score.played else ()), y, colour(index))
        axes.plot([quarters[1]] * 2, [y - BAR * 0.42, y + BAR * 0.42], color=colour(index), linewidth=2, zorder=4)


def _dots(axes: Axes, x: NDArray[np.float64], truncated: NDArray[np.bool_], y: float, shade: str) -> None:
    """Mark each episode; hollow where the frame cap ended it. Equal scores are spread evenly, not at random."""
    golden = (np.sqrt(5.0) - 1) / 2
    heights = np.empty(len(x))
    heights[np.argsort(x, kind="stable")] = y + BAR * 0.6 * ((np.arange(len(x)) * golden) % 1 - 0.5)
    for chosen, face in ((~truncated, shade), (truncated, PALETTE["paper"])):
        if chosen.any():
            axes.scatter(x[chosen], heights[chosen], s=9, facecolors=face, edgecolors=shade, linewidths=0.6, zorder=3)


def _name(axes: Axes, game: Game, y: float) -> None:
    axes.annotate(
        game.name,
        (0, y),
        xycoords=("figure points", "data"),
        color=PALETTE["ink"],
        fontsize=10,
        va="center",
        annotation_clip=False,
    )


def _value(axes: Axes, text: str, y: float, *, weak: bool = False) -> None:
    axes.annotate(
        text,
        (WIDTH, y),
        xycoords=("figure points", "data"),
        color=PALETTE["muted" if weak else "ink"],
        fontsize=8 if weak else 9,
        ha="right",
        va="center",
        annotation_clip=False,
    )


def legend(algorithms: Sequence[Algorithm]) -> tuple[tuple[str, str], ...]:
    """Return the name of each algorithm that the figures show, with the name of its palette colour."""
    return tuple((item.name, name) for item, name in zip(algorithms[:MOST_ALGORITHMS], SERIES, strict=False))
