"""Layouts of papers' figures: rows or curves, with their ticks and numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from arcademark import wording
from arcademark.pages.columns import AnyColumn, Column, item
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
from arcademark.pages.figures.style import QUARTERS, decades, ticks
from arcademark.reproduce.figures import Panel, PanelSeries, PaperFigure

LINES = {"HNS": "average human", "HWRNS": "world record", "SABER": "world record", "Baseline": "best baseline"}
"""Labels of reference lines, by a word in the panel's title."""

DIGITS = 3
"""Significant digits of a number without a unit."""

WIDE_AXIS = 1.8
"""Width of an axis of two measures relative to others."""

ROOM = 0.04
"""Part of an axis that is left free at its ends."""

LEAP = 10
"""Ratio of training frames to the previous row from which a new group begins."""

SIGNS = {"dot": "● ", "ring": "○ ", "bar": ""}


def model(figure: PaperFigure) -> RowsFigure | Curves:
    """Lay a figure out: as curves if it has steps, else as rows.

    If every panel has the same series, at least two, each label becomes a heading and each series a row below it. Else
    labels are rows, grouped by training frames, the best first; mean and median share an axis.
    """
    first = figure.panels[0]
    if first.kind == "steps":
        names = tuple((series.name, index) for index, series in enumerate(first.series))
        return Curves(tuple(map(_curves, figure.panels)), len(figure.panels), names)
    named = {tuple(one.name for one in panel.series) for panel in figure.panels}
    series = next(iter(named))
    if len(named) == 1 and len(series) > 1:
        return RowsFigure(tuple((label, series) for label in first.labels), tuple(map(_grouped, figure.panels)))
    single = [
        replace(panel, title=panel.title if len(panel.series) == 1 else f"{panel.title}, {one.name}", series=(one,))
        for panel in figure.panels
        for one in panel.series
    ]
    groups = _by_training(first)
    order = [label for _, members in groups for label in members]
    return RowsFigure(groups, tuple(_panel(panel, order) for panel in _paired(single)))


def _paired(panels: Sequence[Panel]) -> Iterator[Panel]:
    """Combine the mean and the median of one measure in one panel."""
    titled = {panel.title: panel for panel in panels}
    for panel in panels:
        word, _, rest = panel.title.partition(" ")
        mean, median = titled.get(f"Mean {rest}"), titled.get(f"Median {rest}")
        if word not in ("Mean", "Median") or mean is None or median is None:
            yield panel
        elif word == "Mean":
            pair = (replace(mean.series[0], name="mean"), replace(median.series[0], name="median"))
            yield replace(panel, title=rest, series=pair)


def _by_training(panel: Panel) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Group labels by the numbers of frames in their details; with other details, or none, keep their order."""
    counts = [_frames(detail) for detail in panel.details]
    if not all(counts) or not counts:
        detailed = groupby(zip(panel.details or [""] * len(panel.labels), panel.labels, strict=True), key=itemgetter(0))
        return tuple((detail, tuple(label for _, label in pairs)) for detail, pairs in detailed)
    rows = sorted(zip(counts, panel.series[0].values, panel.labels, strict=True), key=lambda r: (r[0], -(r[1] or 0.0)))
    groups: list[list[tuple[float, str]]] = []
    last = 0.0
    for count, _, label in rows:
        if count >= LEAP * last:
            groups.append([])
        groups[-1].append((count, label))
        last = count
    ends = ([wording.frames(count) for count, _ in (group[0], group[-1])] for group in groups)
    headings = (f"{' to '.join(dict.fromkeys(pair))} frames" for pair in ends)
    return tuple((heading, tuple(label for _, label in group)) for heading, group in zip(headings, groups, strict=True))


def _frames(detail: str) -> float:
    """Parse "200M" or "10B frames"; return 0 for other texts."""
    number = re.match(r"([\d.]+)([kMB])\b", detail)
    return float(number[1]) * {"k": 1e3, "M": 1e6, "B": 1e9}[number[2]] if number else 0.0


def name(figure: PaperFigure) -> str:
    """Return the name of a figure and its file, "fan-2021-figure-1"."""
    return f"{figure.paper}-figure-{figure.number}"


def in_words(figure: PaperFigure) -> str:
    """Describe every number of a figure, as alternative text."""
    parts = []
    for rows, columns, names, _, caption in tables(figure):
        for column in columns[names:]:
            title = " ".join(filter(None, (caption, column.heading)))
            values = (" ".join(filter(None, (*row[:names], column.text(*row)))) for row in rows)
            parts.append(f"{title}: {', '.join(values)}")
    return f"{figure.title}. {'; '.join(parts)}."


def tables(figure: PaperFigure) -> Iterator[tuple[Sequence[Any], Sequence[AnyColumn], int, bool, str]]:
    """Yield tables of a figure's numbers: rows, columns, the number of name columns, True if grouped, and a caption."""
    laid_out = model(figure)
    if isinstance(laid_out, Curves):
        for panel in figure.panels:
            rows = [
                (f"≥ {text}", *(number(height(series, x), panel) for series in panel.series))
                for x, text in thresholds(panel)
            ]
            heads = [
                Column(head, item(place))
                for place, head in enumerate((panel.x_unit, *(one.name for one in panel.series)))
            ]
            yield rows, heads, 1, False, panel.title
        return
    numbers = [(panel, column) for panel in laid_out.panels for column in panel.numbers]
    headed = any(heading for heading, _ in laid_out.groups)
    names = [(heading, name) if headed else (name,) for heading, members in laid_out.groups for name in members]
    rows = [(*name, *(column.texts[row][2] for _, column in numbers)) for row, name in enumerate(names)]
    titles = [""] * len(names[0])
    titles += [f"{panel.title} {(column.title or panel.unit).lstrip('●○ ')}".strip() for panel, column in numbers]
    columns = [Column(title, item(place), str) for place, title in enumerate(titles)]
    yield rows, columns, len(names[0]), headed, ""


def number(value: float | None, panel: Panel) -> str:
    """Show a value of a panel, with its unit if that is short."""
    if value is None:
        return wording.MISSING
    if panel.unit == BILLIONS:
        return wording.frames(1e9 * value)
    if panel.unit == "%" or panel.unit.startswith("fraction"):
        return wording.percent(value if panel.unit == "%" else 100 * value)
    if panel.decimals is not None:
        return f"{value:,.{panel.decimals}f}".replace("-", "−")
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{DIGITS}g}".replace("-", "−")


BILLIONS = "billion frames"
"""The unit of values that are shown as `frames`."""


def height(series: PanelSeries, x: float) -> float:
    """Return the height of a curve of steps at a place."""
    return next((float(value or 0) for value, end in zip(series.values, series.ends, strict=True) if x <= end), 0.0)


def thresholds(panel: Panel) -> tuple[tuple[float, str], ...]:
    """Return round values on the x axis of a panel of curves, with their labels."""
    return tuple((value, _tick(value)) for value in ticks(*_limits(panel)))


def _tick(value: float, unit: str = "") -> str:
    if unit == BILLIONS:
        return wording.frames(1e9 * value)
    text = f"{value:,.10g}".replace("-", "−")
    return f"{text} %" if unit == "%" else text


def _panel(panel: Panel, rows: Sequence[str]) -> RowPanel:
    """Lay out a panel with its values in the order of the rows; a line joins two marks of a row."""
    single = len(panel.series) == 1
    kinds: tuple[Kind, Kind] = ("bar" if single and panel.scale != "log" else "dot", "ring")
    columns = []
    for series, kind in zip(panel.series, kinds, strict=False):
        by_label = dict(zip(panel.labels, series.values, strict=True))
        columns.append((kind, "" if single else f"{SIGNS[kind]}{series.name}", [by_label.get(row) for row in rows]))
    return _axis(panel, columns)


def _grouped(panel: Panel) -> RowPanel:
    values = [series.values[place] for place in range(len(panel.labels)) for series in panel.series]
    return _axis(panel, [("dot" if panel.scale == "log" else "bar", "", values)])


def _axis(panel: Panel, columns: Sequence[tuple[Kind, str, Sequence[float | None]]]) -> RowPanel:
    """Lay out columns on one axis; a logarithmic axis omits values that are not above 0."""
    log = panel.scale == "log"
    values = [value for _, _, column in columns for value in column if value is not None]
    values += panel.marks[:1]
    if log:
        at: tuple[float, ...] = tuple(10.0**power for power in decades(min(values), max(values)))
    else:
        at = ticks(min(0.0, *values), max(0.0, *values))
    marks: list[Mark] = []
    for row in range(len(columns[0][2])):
        shown = [(kind, value) for kind, _, column in columns if (value := column[row]) is not None]
        placed = [(kind, _place(value, log=log)) for kind, value in shown if value > 0 or not log]
        ends = [end for _, end in placed]
        marks += [Mark("whisker", row, 0, max(ends), min(ends))] if len(ends) > 1 else []
        marks += [Mark(kind, row, 0, end, lines=0.55) for kind, end in placed]
    places = [*(mark.end for mark in marks), *(_place(value, log=log) for value in at)]
    places += [_place(value, log=log) for value in panel.marks[:1]]
    low, high = min(places), max(places)
    room = ROOM * (high - low)
    return RowPanel(
        title=panel.title,
        limits=(low - (room if low < 0 or log or columns[0][0] != "bar" else 0), high + room),
        ticks=tuple((_place(value, log=log), _tick(value, panel.unit)) for value in at),
        marks=tuple(marks),
        numbers=tuple(
            Numbers(title, tuple((row, 0.0, number(value, panel)) for row, value in enumerate(column)))
            for _, title, column in columns
        ),
        guides=tuple(Guide(_place(value, log=log), _compared(panel)) for value in panel.marks[:1]),
        unit="" if panel.unit in ("%", BILLIONS) else panel.unit,
        share=1.0 if len(columns) == 1 else WIDE_AXIS,
    )


def _place(value: float, *, log: bool) -> float:
    return math.log10(value) if log else value


def _compared(panel: Panel) -> str:
    return next((text for word, text in LINES.items() if word in panel.title.split()), "")


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
        heights=(0.0, 1.0),
        ticks=thresholds(panel),
        levels=QUARTERS,
        curves=tuple(_curve(series, index, low, high) for index, series in enumerate(panel.series)),
        grid=True,
        guide=Guide(panel.marks[0], _compared(panel)) if panel.marks else None,
    )


def _curve(series: PanelSeries, index: int, low: float, high: float) -> CurveFigure:
    """Convert steps to points; each point has the height of the step to its left."""
    heights = [float(value or 0) for value in series.values]
    points = [(end, value) for end, value in zip(series.ends, heights, strict=True) if low <= end <= high]
    x = [low, *(end for end, _ in points), high]
    y = [height(series, low), *(value for _, value in points), height(series, high)]
    return CurveFigure(tuple(x), tuple(y), index, steps="pre")
