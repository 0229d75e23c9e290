"""Models of a paper's figures: what stands in rows, what in curves, with which ticks and numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from arcademark.report import wording
from arcademark.report.drawing import forms
from arcademark.report.drawing.forms import Column, Curve, CurvePanel, Curves, FigureModel, Rows
from arcademark.reproduce.figures import Panel, PaperFigure, Series

MOST_TICKS = 5

LINES = {"HNS": "average human", "HWRNS": "world record", "SABER": "world record", "Baseline": "best baseline"}
"""What a panel with that word in its title compares with."""

DIGITS = 3
"""Significant digits of a number without a unit."""

WIDE_AXIS = 1.8
"""How wide an axis of two measures is beside others."""

LEAP = 10
"""Training that is so many times longer begins a group of its own."""


def figure_model(figure: PaperFigure) -> FigureModel:
    """Lay a figure out: curves where it has steps, else rows.

    Where every panel has the same several series, each label becomes a heading and each series a row under it. Else
    labels are rows, the ones with like training together, the best first; a mean and a median share an axis.
    """
    if figure.panels[0].kind == "steps":
        return Curves(tuple(_curves(panel) for panel in figure.panels))
    names = {tuple(one.name for one in panel.series) for panel in figure.panels}
    series = next(iter(names))
    if len(names) == 1 and len(series) > 1:
        groups = tuple((label, series) for label in figure.panels[0].labels)
        return Rows(groups, tuple(_grouped(panel) for panel in figure.panels))
    panels = tuple(_paired(tuple(_single(figure.panels))))
    groups = _by_training(figure.panels[0])
    order = [label for _, members in groups for label in members]
    return Rows(groups, tuple(_panel(panel, order) for panel in panels))


def _single(panels: Iterable[Panel]) -> Iterator[Panel]:
    """Split panels of several series into panels of one."""
    for panel in panels:
        for series in panel.series:
            title = panel.title if len(panel.series) == 1 else f"{panel.title}, {series.name}"
            yield replace(panel, title=title, series=(series,))


def _paired(panels: Sequence[Panel]) -> Iterator[Panel]:
    """Put the mean and the median of one measure into one panel."""
    titles = [panel.title for panel in panels]
    for panel in panels:
        word, _, rest = panel.title.partition(" ")
        if word == "Median" and f"Mean {rest}" in titles:
            continue
        if word == "Mean" and f"Median {rest}" in titles:
            median = panels[titles.index(f"Median {rest}")]
            pair = (replace(panel.series[0], name="mean"), replace(median.series[0], name="median"))
            yield replace(panel, title=rest, series=pair)
        else:
            yield panel


def _by_training(panel: Panel) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Group labels by the numbers of frames in their details; with other details, or none, they stay as they are."""
    counts = [_frames(detail) for detail in panel.details]
    if not all(counts) or not counts:
        return tuple(
            (detail, tuple(label for _, label in pairs))
            for detail, pairs in groupby(
                zip(panel.details or [""] * len(panel.labels), panel.labels, strict=True), key=itemgetter(0)
            )
        )
    rows = sorted(zip(counts, panel.series[0].values, panel.labels, strict=True), key=lambda r: (r[0], -(r[1] or 0.0)))
    groups: list[list[tuple[float, str]]] = []
    for count, _, label in rows:
        if groups and count < LEAP * groups[-1][-1][0]:
            groups[-1].append((count, label))
        else:
            groups.append([(count, label)])
    return tuple((_heading(group), tuple(label for _, label in group)) for group in groups)


def _heading(group: Sequence[tuple[float, str]]) -> str:
    least, most = frames(group[0][0]), frames(group[-1][0])
    return f"{least} frames" if least == most else f"{least} to {most} frames"


def _frames(detail: str) -> float:
    """Read "200M" or "10B frames"; 0 where it is neither."""
    found = re.match(r"([\d.]+)([MB])\b", detail)
    return float(found[1]) * {"M": 1e6, "B": 1e9}[found[2]] if found else 0.0


def svg(figure: PaperFigure) -> str:
    """Draw a figure as one ``<svg>`` element."""
    from arcademark.report.drawing import files

    return files.svg(figure_model(figure), name(figure))


def svg_file(figure: PaperFigure) -> str:
    """Draw a figure as an SVG that stands alone, on the light theme's paper."""
    from arcademark.report.drawing import files

    return files.on_paper(svg(figure))


def png(figure: PaperFigure) -> bytes:
    """Draw a figure as a PNG."""
    from arcademark.report.drawing import files

    return files.png(figure_model(figure))


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
    if panel.unit == BILLIONS:
        return frames(1e9 * value)
    if panel.unit.startswith("fraction"):
        return wording.percent(100 * value)
    if panel.decimals is not None:
        return f"{value:,.{panel.decimals}f}".replace("-", "−")
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{DIGITS}g}".replace("-", "−")


BILLIONS = "billion frames"
"""The unit of values that are shown as `frames`."""


def frames(value: float) -> str:
    """Show a number of frames as the field does: "200M", "10B"."""
    return f"{value / 1e9:g}B" if value >= 1e9 else f"{value / 1e6:g}M"


def height(series: Series, x: float) -> float:
    """Return how high a curve of steps is at a place."""
    return next((float(value or 0) for value, end in zip(series.values, series.ends, strict=True) if x <= end), 0.0)


def thresholds(panel: Panel) -> tuple[tuple[float, str], ...]:
    """Return round values across a panel of curves, and how they read."""
    return tuple((value, _tick(value)) for value in ticks(*_limits(panel), log=False))


def ticks(low: float, high: float, *, log: bool) -> tuple[float, ...]:
    """Choose at most `MOST_TICKS` round values from `low` to `high`; where the axis is logarithmic, just around."""
    if log:
        first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
        stride = math.ceil((last - first + 1) / MOST_TICKS)
        return tuple(10.0**power for power in range(first, last + 1, stride))
    rough = (high - low or 1.0) / (MOST_TICKS - 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(place * step for place in range(first, last + 1))


def _tick(value: float, unit: str = "") -> str:
    if unit == BILLIONS:
        return frames(1e9 * value)
    text = f"{value:,.10g}".replace("-", "−")
    return f"{text} %" if unit == "%" else text


def _panel(panel: Panel, rows: Sequence[str]) -> forms.Panel:
    """Put a panel's values into the order of the rows."""
    log = panel.scale == "log"
    single = len(panel.series) == 1
    marks: tuple[forms.Mark, forms.Mark] = ("bar" if single and not log else "dot", "ring")
    columns = []
    for series, mark in zip(panel.series, marks, strict=False):
        by_label = dict(zip(panel.labels, series.values, strict=True))
        values = tuple(by_label.get(row) for row in rows)
        columns.append(Column("" if single else series.name, values, _numbers(values, panel), mark))
    return _axis(panel, columns)


def _grouped(panel: Panel) -> forms.Panel:
    values = tuple(series.values[place] for place in range(len(panel.labels)) for series in panel.series)
    mark: forms.Mark = "dot" if panel.scale == "log" else "bar"
    return _axis(panel, [Column("", values, _numbers(values, panel), mark)])


def _numbers(values: Iterable[float | None], panel: Panel) -> tuple[str, ...]:
    return tuple(number(value, panel) for value in values)


def _axis(panel: Panel, columns: Sequence[Column]) -> forms.Panel:
    log = panel.scale == "log"
    values = [value for column in columns for value in column.values if value is not None]
    values += panel.marks[:1]
    low, high = (min(values), max(values)) if log else (min(0.0, *values), max(0.0, *values))
    return forms.Panel(
        title=panel.title,
        columns=tuple(columns),
        ticks=tuple((value, _tick(value, panel.unit)) for value in ticks(low, high, log=log)),
        unit="" if panel.unit in ("%", BILLIONS) else panel.unit,
        log=log,
        line=_line(panel),
        share=1.0 if len(columns) == 1 else WIDE_AXIS,
    )


def _line(panel: Panel) -> tuple[float, str] | None:
    text = next((text for word, text in LINES.items() if word in panel.title.split()), "")
    return (panel.marks[0], text) if panel.marks else None


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
        ticks=thresholds(panel),
        line=_line(panel),
    )


def _curve(series: Series, low: float, high: float) -> Curve:
    """Write steps as points of which each is as high as what lies to its left."""
    heights = [float(value or 0) for value in series.values]
    points = [(end, value) for end, value in zip(series.ends, heights, strict=True) if low <= end <= high]
    x = [low, *(end for end, _ in points), high]
    y = [height(series, low), *(value for _, value in points), height(series, high)]
    return Curve(series.name, tuple(x), tuple(y))
