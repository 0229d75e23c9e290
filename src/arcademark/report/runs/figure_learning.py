"""Draws learning curves: a panel a game, thin lines for seeds, a thick one for their mean.

An algorithm has the colour that it has in the report's other figures, and dashes of its own. Random play's score is
the line to be left behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from arcademark.report import figures, wording
from arcademark.report.drawing.curves import DASHES
from arcademark.report.drawing.files import on_paper
from arcademark.report.drawing.style import bare, beside
from arcademark.report.figures import MOST_ALGORITHMS, PALETTE, WIDTH, colour
from arcademark.report.runs.learning import LearningCurve
from arcademark.report.tables.document import ScoreReport

KINDS = (".png", ".pdf", ".svg")
COLUMNS = 2
LEFT, GAP, RIGHT = 52.0, 62.0, 12.0
TITLE, BODY, FOOT, LEGEND_LINE = 24.0, 120.0, 34.0, 15.0
ROW = TITLE + BODY + FOOT
TICK_SIZE, TEXT_SIZE, TITLE_SIZE = 8.0, 8.0, 10.0
ROOM = 0.06
"""Part of the axis up that is left free above and below."""


def panels(report: ScoreReport) -> list[tuple[Figure, str]]:
    """Draw each game's curves apart, without a legend: a page has one, and columns as there is room."""
    places = _places(report)
    body = _width(COLUMNS)
    width = LEFT + body + RIGHT
    drawn = []
    for shown in _by_game(report, places).values():
        figure = _blank(width, ROW)
        _panel(figure.add_axes((LEFT / width, FOOT / ROW, body / width, BODY / ROW)), report, shown, places)
        drawn.append((figure, _in_words(report, shown)))
    return drawn


def file(report: ScoreReport, kind: str) -> bytes:
    """Draw them as a file that stands alone.

    Parameters
    ----------
    report : ScoreReport
        With at least one curve.
    kind : {".png", ".pdf", ".svg"}
    """
    figure = _figure(report)
    return on_paper(figures.as_svg(figure, "learning")).encode() if kind == ".svg" else figures.as_file(figure, kind)


def _in_words(report: ScoreReport, shown: Sequence[LearningCurve]) -> str:
    said = (
        f"{curve.algorithm}: from {wording.score(curve.first)} to "
        f"{wording.score(curve.last)} in {wording.plural(curve.episodes, 'episode')}"
        for curve in shown
    )
    return f"Scores of training episodes of {report.game(shown[0].game).name}. {'; '.join(said)}."


def _places(report: ScoreReport) -> dict[str, int]:
    """Return which colour and dashes each algorithm has that is shown."""
    return {algorithm.name: index for index, algorithm in enumerate(report.algorithms[:MOST_ALGORITHMS])}


def _by_game(report: ScoreReport, places: Mapping[str, int]) -> dict[str, list[LearningCurve]]:
    found: dict[str, list[LearningCurve]] = {}
    for curve in report.learning:
        if curve.algorithm in places:
            found.setdefault(curve.game, []).append(curve)
    return found


def _width(columns: int) -> float:
    """Return the width of a panel's axes where so many stand in a row of a whole figure."""
    return (WIDTH - LEFT - GAP * (columns - 1) - RIGHT) / columns


def _blank(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width / 72, height / 72))
    figure.patch.set_visible(False)
    return figure


def _figure(report: ScoreReport) -> Figure:
    places = _places(report)
    games = _by_game(report, places)
    learners = list(dict.fromkeys(curve.algorithm for shown in games.values() for curve in shown))
    columns = min(COLUMNS, max(len(games), 1))
    rows = -(-len(games) // columns)
    head = LEGEND_LINE * len(learners) + 4
    height = head + max(rows, 1) * ROW
    width = _width(columns)
    figure = _blank(WIDTH, height)
    for place, shown in enumerate(games.values()):
        down, across = divmod(place, columns)
        bottom = height - head - (down + 1) * ROW + FOOT
        box = ((LEFT + across * (width + GAP)) / WIDTH, bottom / height, width / WIDTH, BODY / height)
        _panel(figure.add_axes(box), report, shown, places)
    _legend(figure, learners, places, height)
    return figure


def _panel(axes: Axes, report: ScoreReport, shown: Sequence[LearningCurve], places: dict[str, int]) -> None:
    game = report.game(shown[0].game)
    bare(axes)
    _behind(axes, shown, game.references.get("random"))
    beside(axes, game.name, (0, 1), (0, 9), TITLE_SIZE, "ink", fontweight="bold")
    for curve in shown:
        index = places[curve.algorithm]
        alone = len(curve.seeds) == 1
        thick: dict[str, Any] = {"color": colour(index), "linewidth": 1.6, "dashes": DASHES[index], "zorder": 4}
        for seed in curve.seeds:
            how = thick if alone else {"color": colour(index), "linewidth": 0.6, "alpha": 0.45, "zorder": 3}
            _line(axes, seed.end_frames, seed.scores, how)
        if not alone:
            _line(axes, *curve.mean(), thick)


def _line(axes: Axes, across: Sequence[float] | Any, up: Sequence[float] | Any, how: dict[str, Any]) -> None:
    """Draw a line; a dot where it is a point."""
    if len(across) == 1 or (len(across) and across[0] == across[-1]):
        axes.plot(across[:1], up[:1], marker="o", markersize=3, color=how["color"], zorder=how["zorder"])
    else:
        axes.plot(across, up, **how)


def _behind(axes: Axes, shown: Sequence[LearningCurve], random: float | None) -> None:
    """Draw both axes with their lines, and random play's score."""
    values = [score for curve in shown for seed in curve.seeds for score in seed.scores]
    values += [] if random is None else [random]
    low, high = min(values), max(values)
    room = ROOM * ((high - low) or 1.0)
    end = max(seed.end_frames[-1] for curve in shown for seed in curve.seeds)
    axes.set_xlim(0, end)
    axes.set_ylim(low - room, high + room)
    grid: dict[str, Any] = {"color": PALETTE["rule"], "linewidth": 0.5, "zorder": 0, "clip_on": False}
    ticks = _ticks(low - room, high + room)
    for value, label in zip(ticks, _labels(ticks), strict=True):
        axes.plot([0, end], [value] * 2, **grid)
        place = (0, (value - low + room) / (high - low + 2 * room))
        beside(axes, label, place, (-5, 0), TICK_SIZE, "muted", ha="right", va="center")
    for value in _ticks(0, end):
        beside(axes, _frames(value), (value / end, 0), (0, -5), TICK_SIZE, "muted", ha="center", va="top")
    beside(axes, "training frames", (0.5, 0), (0, -26), TEXT_SIZE, "muted", ha="center")
    if random is not None:
        axes.plot([0, end], [random] * 2, color=PALETTE["muted"], linewidth=0.9, dashes=(2, 2), zorder=1)
        place = (1, (random - low + room) / (high - low + 2 * room))
        beside(axes, "random", place, (0, 2), TICK_SIZE, "muted", ha="right", va="bottom")


def _ticks(low: float, high: float) -> list[float]:
    """Choose round numbers from the one to the other."""
    found = MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(value) for value in found if low <= value <= high]


def _labels(ticks: Sequence[float]) -> list[str]:
    """Write ticks with as many decimals as tell them apart."""
    labels: list[str] = []
    for digits in range(10):
        labels = [wording.score(value, digits) for value in ticks]
        if [float(f"{value:.{digits}f}") for value in ticks] == [round(value, 9) for value in ticks]:
            break
    return labels


def _frames(value: float) -> str:
    """Write a number of frames in few characters: 0, 500k, 2.5M."""
    for size, unit in ((1_000_000_000, "B"), (1_000_000, "M"), (1000, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def _legend(figure: Figure, names: Sequence[str], places: dict[str, int], height: float) -> None:
    """Write the names at the top, a line each, beside samples of their lines."""
    tall = LEGEND_LINE * len(names)
    frame = figure.add_axes((0, 1 - tall / height, 1, tall / height))
    bare(frame)
    frame.set_xlim(0, WIDTH)
    frame.set_ylim(0, tall)
    for line, name in enumerate(names):
        y = tall - LEGEND_LINE * (line + 0.5)
        index = places[name]
        frame.plot([LEFT, LEFT + 22], [y, y], color=colour(index), linewidth=1.8, dashes=DASHES[index])
        frame.text(LEFT + 28, y, name, fontsize=9, color=PALETTE["ink"], va="center")
