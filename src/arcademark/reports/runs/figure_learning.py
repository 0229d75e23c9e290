"""Learning curves as figures: a panel a game; thin lines for seeds, a thick one with a band for their mean."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from arcademark.reports import wording
from arcademark.reports.figures.model import Curve, CurvePanel, Curves, Guide
from arcademark.reports.figures.style import MOST_SERIES, ticks
from arcademark.reports.runs.learning import LearningCurve

if TYPE_CHECKING:
    from arcademark.reports.tables.report import ScoreReport

COLUMNS = 2
BODY = 120.0
ROOM = 0.06  # part of the axis up that is left free above and below


def panels(report: ScoreReport) -> tuple[tuple[Curves, str], ...]:
    """Lay out each game's curves apart, without a legend: a page has one, and columns as there is room."""
    return tuple(
        (Curves((_panel(report, curves),), COLUMNS, body=BODY), _in_words(report, curves))
        for curves in _by_game(report)
    )


def file(report: ScoreReport, kind: str) -> bytes:
    """Draw them as a file that stands alone."""
    from arcademark.reports.figures import files

    games, places = _by_game(report), _places(report)
    learners = dict.fromkeys(curve.algorithm for curves in games for curve in curves)
    legend = tuple((name, places[name]) for name in learners)
    figure = Curves(tuple(_panel(report, curves) for curves in games), min(COLUMNS, len(games)), legend, BODY)
    return files.file(figure, kind, "learning")


def _in_words(report: ScoreReport, curves: Sequence[LearningCurve]) -> str:
    each = (
        f"{curve.algorithm}: from {wording.score(curve.first)} to "
        f"{wording.score(curve.last)} in {wording.plural(curve.episodes, 'episode')}"
        for curve in curves
    )
    return f"Scores of training episodes of {report.game(curves[0].game).name}. {'; '.join(each)}."


def _places(report: ScoreReport) -> dict[str, int]:
    """Return which colour and dashes each algorithm has that is drawn."""
    return {algorithm.name: index for index, algorithm in enumerate(report.algorithms[:MOST_SERIES])}


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
        limits=(0.0, end),
        heights=(low, high),
        ticks=tuple((value, _frames(value)) for value in ticks(0.0, end)),
        levels=_levels(ticks(low, high)),
        curves=tuple(line for curve in curves for line in _curves(curve, places[curve.algorithm])),
        level=None if random is None else Guide(random, "random", "muted"),
    )


def _levels(values: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Return levels with their labels, all with as many decimals as tell them apart."""
    places = max(len(f"{value:.9f}".rstrip("0").partition(".")[2]) for value in values)
    return tuple((value, f"{value:,.{places}f}".replace("-", "−")) for value in values)


def _curves(curve: LearningCurve, series: int) -> list[Curve]:
    """Return the seeds' curves with their mean and its band, which the panel's edges may cut; one seed's alone."""
    alone = len(curve.seeds) == 1
    lines = [Curve(tuple(map(float, seed.end_frames)), seed.scores, series, thin=not alone) for seed in curve.seeds]
    if not alone:
        mean = curve.mean()
        band = None
        if mean.low is not None and mean.high is not None:
            band = tuple(mean.low.tolist()), tuple(mean.high.tolist())
        lines.append(Curve(tuple(mean.frames.tolist()), tuple(mean.mean.tolist()), series, band=band))
    return lines


def _frames(value: float) -> str:
    """Write a number of frames in few characters: 0, 500k, 2.5M."""
    for size, unit in ((1_000_000_000, "B"), (1_000_000, "M"), (1000, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
