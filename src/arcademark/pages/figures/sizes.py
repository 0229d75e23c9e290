"""Layout of the curve of error against subset size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from arcademark.analysis.subsets.searching import EverySize, Series
from arcademark.pages.figures.model import CurveFigure, CurvePanel, Curves
from arcademark.pages.figures.style import ticks

NAMES = {"leave out": "best", "charge": "best if all count"}
MAX_LEVELS = 6
BODY = 153.0
ROOM = 1.04
"""Extension of the y axis beyond the highest point or whisker."""
SHIFT = 0.012
"""Horizontal shift between curves, as a part of the x axis, so that whiskers do not overlap."""


def model(analysis: EverySize) -> Curves:
    """Lay the figure out: a curve per objective, one for its nested errors, and the numbers of algorithms."""
    factor, unit = (100.0, " %") if analysis.log else (1.0, "")
    sizes = [float(item.size) for item in analysis.series[0].sizes]
    margin = 0.05 * (sizes[-1] - sizes[0]) or 0.5
    curves = [pair for series in analysis.series for pair in _curves(series, factor)]
    top = ROOM * max(float(np.add(curve.y, curve.spread or 0.0).max()) for _, curve in curves)
    shift = SHIFT * (sizes[-1] - sizes[0] + 2 * margin)
    error = "Relative error" if analysis.log else "Mean error"
    panel = CurvePanel(
        title=f"{error} of the {analysis.target}, predicted from few {analysis.noun}s",
        across=f"{analysis.noun}s of the subset; bars: standard error over folds",
        limits=(sizes[0] - margin, sizes[-1] + margin),
        heights=(0.0, top),
        ticks=tuple((size, f"{size:.0f}") for size in sizes),
        levels=tuple((value, f"{value:g}{unit}") for value in ticks(0.0, top, MAX_LEVELS)),
        curves=tuple(
            replace(curve, x=tuple(at + (place - (len(curves) - 1) / 2) * shift for at in curve.x), series=place)
            for place, (_, curve) in enumerate(curves)
        ),
        feet=tuple(
            ("n" if series.incomplete == "leave out" else "n, all count", tuple(str(x.best.n) for x in series.sizes))
            for series in analysis.series
        ),
    )
    return Curves((panel,), legend=tuple((name, index) for index, (name, _) in enumerate(curves)), body=BODY)


def _curves(series: Series, factor: float) -> Iterator[tuple[str, CurveFigure]]:
    """Yield the curve of the errors with its name and, if they were measured, that of nested errors."""
    name = NAMES[series.incomplete]
    sizes = tuple(float(item.size) for item in series.sizes)
    errors, spread = (tuple(factor * getattr(item, of) for item in series.sizes) for of in ("error", "spread"))
    yield name, CurveFigure(sizes, errors, marked=True, spread=spread)
    nested = {float(item.size): factor * item.nested.mean for item in series.sizes if item.nested is not None}
    if nested:
        yield f"{name}, on other papers", CurveFigure(tuple(nested), tuple(nested.values()), marked=True)


def figure(analysis: EverySize) -> tuple[tuple[Curves, str], ...]:
    """Lay the figure out, with its alternative text."""
    drawn = model(analysis)
    named = zip(drawn.legend, drawn.panels[0].curves, strict=True)
    words = "; ".join(f"{name}: {curve.y[0]:.3g} to {curve.y[-1]:.3g}" for (name, _), curve in named)
    return ((drawn, f"{drawn.panels[0].title}. From the smallest to the largest subset {words}."),)
