"""A paper's figures as plates: what stands in rows, what in curves, with which ticks and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby

from arcademark.report import plates, wording
from arcademark.report.plates import Column, Curve, CurvePanel, Curves, Plate, Rows
from arcademark.reproduce.figures import Panel, PaperFigure, Series

MOST_TICKS = 5

MARKS: tuple[plates.Mark, ...] = ("dot", "ring")


def plate(figure: PaperFigure) -> Plate:
    """Lay a figure out: curves where it has steps, else rows.

    Where every panel has the same several series, each label becomes a heading and each series a row under it; where
    they differ, labels are rows, and the series of a panel share its axis.
    """
    if figure.panels[0].kind == "steps":
        return Curves(tuple(_curves(panel) for panel in figure.panels))
    series = {tuple(one.name for one in panel.series) for panel in figure.panels}
    names = next(iter(series))
    if len(series) == 1 and len(names) > 1:
        groups = tuple((label, names) for label in figure.panels[0].labels)
        return Rows(groups, tuple(_grouped(panel) for panel in figure.panels))
    first = figure.panels[0]
    details = first.details or [""] * len(first.labels)
    pairs = groupby(zip(details, first.labels, strict=True), key=lambda pair: pair[0])
    groups = tuple((detail, tuple(label for _, label in members)) for detail, members in pairs)
    return Rows(groups, tuple(_panel(panel, first.labels) for panel in figure.panels))


def svg(figure: PaperFigure) -> str:
    """Draw a figure as one ``<svg>`` element."""
    return plates.svg(plate(figure), name(figure))


def svg_file(figure: PaperFigure) -> str:
    """Draw a figure as an SVG that stands alone, on the light theme's paper."""
    return plates.on_paper(svg(figure))


def png(figure: PaperFigure) -> bytes:
    """Draw a figure as a PNG."""
    return plates.png(plate(figure))


def name(figure: PaperFigure) -> str:
    """Name a figure's file and what is in it, "fan-2021-figure-1"."""
    return f"{figure.paper}-figure-{figure.number}"


def in_words(figure: PaperFigure) -> str:
    """Say every number of a figure, for those who do not see it."""
    return f"{figure.title}. " + "; ".join(_panel_in_words(panel) for panel in figure.panels) + "."


def _panel_in_words(panel: Panel) -> str:
    if panel.kind == "steps":
        places = [x for x, _ in thresholds(panel)]
        said = [
            f"{series.name} {wording.listing(f'{number(height(series, x), panel)} at {x:g}' for x in places)}"
            for series in panel.series
        ]
        return f"{panel.title}: {'; '.join(said)}"
    said = [
        f"{label}{f', {series.name},' if len(panel.series) > 1 else ''} {number(value, panel)}"
        for series in panel.series
        for label, value in zip(panel.labels, series.values, strict=True)
    ]
    return f"{panel.title}: {', '.join(said)}"


def number(value: float | None, panel: Panel) -> str:
    """Show a value of a panel with its unit, where that is short."""
    if value is None:
        return wording.MISSING
    if panel.unit == "%":
        return wording.percent(value)
    if "frames" in panel.unit and value >= 1e6:
        return frames(value)
    if panel.unit.startswith("fraction"):
        return wording.percent(100 * value)
    if value and abs(value) < 1e-3:
        return f"{value:.2E}"
    whole = all(one is None or float(one).is_integer() for series in panel.series for one in series.values)
    return f"{value:,.0f}" if whole else wording.score(value, None if abs(value) >= 1 else 3)


def frames(value: float) -> str:
    """Show a number of frames as the field does: "200M", "10B"."""
    return f"{value / 1e9:g}B" if value >= 1e9 else f"{value / 1e6:g}M"


def height(series: Series, x: float) -> float:
    """Return how high a curve of steps is at a place."""
    return next((float(value or 0) for value, end in zip(series.values, series.ends, strict=True) if x <= end), 0.0)


def thresholds(panel: Panel) -> tuple[tuple[float, str], ...]:
    """Return round values across a panel of curves."""
    return ticks(*_limits(panel), log=False)


def ticks(low: float, high: float, *, log: bool) -> tuple[tuple[float, str], ...]:
    """Choose at most `MOST_TICKS` round values from `low` to `high`, or just around where the axis is logarithmic."""
    if log:
        first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
        stride = math.ceil((last - first + 1) / MOST_TICKS)
        return tuple((10.0**power, _tick(10.0**power)) for power in range(first, last + 1, stride))
    rough = (high - low or 1.0) / (MOST_TICKS - 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple((place * step, _tick(place * step)) for place in range(first, last + 1))


def _tick(value: float) -> str:
    if value and abs(value) < 1e-3:
        return f"{value:.0E}"
    return frames(value) if value >= 1e6 else f"{value:,.10g}".replace("-", "−")


def _panel(panel: Panel, rows: Sequence[str]) -> plates.Panel:
    """Put a panel's values into the order of the rows."""
    log = panel.scale == "log"
    columns = []
    for place, series in enumerate(panel.series):
        by_label = dict(zip(panel.labels, series.values, strict=True))
        values = tuple(by_label.get(row) for row in rows)
        single = len(panel.series) == 1
        mark: plates.Mark = "bar" if single and not log else MARKS[place % len(MARKS)]
        columns.append(Column("" if single else series.name, values, _numbers(values, panel), mark))
    return _axis(panel, columns)


def _grouped(panel: Panel) -> plates.Panel:
    values = tuple(series.values[place] for place in range(len(panel.labels)) for series in panel.series)
    mark: plates.Mark = "dot" if panel.scale == "log" else "bar"
    return _axis(panel, [Column("", values, _numbers(values, panel), mark)])


def _numbers(values: Iterable[float | None], panel: Panel) -> tuple[str, ...]:
    return tuple(number(value, panel) for value in values)


def _axis(panel: Panel, columns: Sequence[Column]) -> plates.Panel:
    values = [value for column in columns for value in column.values if value is not None]
    values += panel.marks
    log = panel.scale == "log"
    low, high = (min(values), max(values)) if log else (min(0.0, *values), max(0.0, *values))
    return plates.Panel(
        title=panel.title,
        columns=tuple(columns),
        ticks=ticks(low, high, log=log),
        log=log,
        line=(panel.marks[0], "") if panel.marks else None,
        share=1.0 if len(columns) == 1 else 1.8,
    )


def _limits(panel: Panel) -> tuple[float, float]:
    if panel.x_limits is not None:
        return panel.x_limits
    ends = [end for series in panel.series for end in series.ends]
    return min(0.0, *ends), max(ends)


def _curves(panel: Panel) -> CurvePanel:
    low, high = _limits(panel)
    return CurvePanel(
        title=panel.title,
        across=panel.x_unit,
        limits=(low, high),
        curves=tuple(_curve(series, low, high) for series in panel.series),
        ticks=ticks(low, high, log=False),
        line=(panel.marks[0], "") if panel.marks else None,
    )


def _curve(series: Series, low: float, high: float) -> Curve:
    """Write steps as points of which each is as high as what lies to its left."""
    heights = [float(value or 0) for value in series.values]
    points = [(end, value) for end, value in zip(series.ends, heights, strict=True) if low <= end <= high]
    x = [low, *(end for end, _ in points), high]
    y = [height(series, low), *(value for _, value in points), height(series, high)]
    return Curve(series.name, tuple(x), tuple(y))
