"""Learning curves as figures: a panel a game; thin lines for seeds, a thick one with a band for their mean."""

from __future__ import annotations

from collections.abc import Sequence

from arcademark.reports import wording
from arcademark.reports.figures.model import Curve, CurvePanel, Curves, Guide
from arcademark.reports.figures.style import MOST_SERIES, ticks
from arcademark.reports.runs.learning import LearningCurve
from arcademark.reports.tables.report import ScoreReport

KINDS = (".png", ".pdf", ".svg")
COLUMNS = 2
BODY = 120.0
ROOM = 0.06  # part of the axis up that is left free above and below


def panels(report: ScoreReport) -> tuple[tuple[Curves, str], ...]:
    """Lay out each game's curves apart, without a legend: a page has one, and columns as there is room."""
    return tuple(
        (Curves((_panel(report, shown),), COLUMNS, body=BODY), _in_words(report, shown)) for shown in _by_game(report)
    )


def file(report: ScoreReport, kind: str) -> bytes:
    """Draw them as a file that stands alone."""
    from arcademark.reports.figures import files

    games = _by_game(report)
    places = _places(report)
    learners = dict.fromkeys(curve.algorithm for shown in games for curve in shown)
    legend = tuple((name, places[name]) for name in learners)
    shown = Curves(tuple(_panel(report, shown) for shown in games), min(COLUMNS, len(games)), legend, BODY)
    return files.file(shown, kind, "learning")


def _in_words(report: ScoreReport, shown: Sequence[LearningCurve]) -> str:
    said = (
        f"{curve.algorithm}: from {wording.score(curve.first)} to "
        f"{wording.score(curve.last)} in {wording.plural(curve.episodes, 'episode')}"
        for curve in shown
    )
    return f"Scores of training episodes of {report.game(shown[0].game).name}. {'; '.join(said)}."


def _places(report: ScoreReport) -> dict[str, int]:
    """Return which colour and dashes each algorithm has that is shown."""
    return {algorithm.name: index for index, algorithm in enumerate(report.algorithms[:MOST_SERIES])}


def _by_game(report: ScoreReport) -> list[list[LearningCurve]]:
    places = _places(report)
    found: dict[str, list[LearningCurve]] = {}
    for curve in report.learning:
        if curve.algorithm in places:
            found.setdefault(curve.game, []).append(curve)
    return list(found.values())


def _panel(report: ScoreReport, shown: Sequence[LearningCurve]) -> CurvePanel:
    game = report.game(shown[0].game)
    values = [score for curve in shown for seed in curve.seeds for score in seed.scores]
    random = game.references.get("random")
    values += [] if random is None else [random]
    room = ROOM * ((max(values) - min(values)) or 1.0)
    low, high = min(values) - room, max(values) + room
    end = float(max(seed.end_frames[-1] for curve in shown for seed in curve.seeds))
    levels = ticks(low, high)
    return CurvePanel(
        title=game.name,
        across=f"training {report.unit}s",
        limits=(0.0, end),
        heights=(low, high),
        ticks=tuple((value, _frames(value)) for value in ticks(0.0, end)),
        levels=tuple(zip(levels, _labels(levels), strict=True)),
        curves=tuple(line for curve in shown for line in _curves(curve, _places(report)[curve.algorithm])),
        level=None if random is None else Guide(random, "random", "muted"),
    )


def _curves(curve: LearningCurve, series: int) -> list[Curve]:
    """Return the seeds' curves with their mean and its band, which the panel's edges may cut; one seed's alone."""
    alone = len(curve.seeds) == 1
    found = [Curve(tuple(map(float, seed.end_frames)), seed.scores, series, thin=not alone) for seed in curve.seeds]
    if not alone:
        together = curve.mean()
        band = None
        if together.low is not None and together.high is not None:
            band = tuple(together.low.tolist()), tuple(together.high.tolist())
        found.append(Curve(tuple(together.frames.tolist()), tuple(together.mean.tolist()), series, band=band))
    return found


def _labels(levels: Sequence[float]) -> list[str]:
    """Write levels with as many decimals as tell them apart."""
    labels: list[str] = []
    for digits in range(10):
        labels = [wording.score(value, digits) for value in levels]
        if [float(f"{value:.{digits}f}") for value in levels] == [round(value, 9) for value in levels]:
            break
    return labels


def _frames(value: float) -> str:
    """Write a number of frames in few characters: 0, 500k, 2.5M."""
    for size, unit in ((1_000_000_000, "B"), (1_000_000, "M"), (1000, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
