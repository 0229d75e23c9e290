"""The curve of error against size as a figure."""

from __future__ import annotations

from arcademark.report.drawing import files
from arcademark.report.drawing.forms import Line, Lines
from arcademark.report.subsets.sizes import EverySize, Series
from arcademark.report.subsets.validating import LOG

KINDS = (".svg", ".png")
NAMES = {"leave out": "best", "charge": "best if all count"}


def figure_model(shown: EverySize) -> Lines:
    """Put together what is drawn: a line an objective, one for its nested errors, and how many algorithms it has."""
    log = shown.transform == LOG
    factor = 100.0 if log else 1.0
    lines, feet = [], []
    for series in shown.series:
        lines += _lines(series, factor)
        label = "n" if series.incomplete == "leave out" else "n, all count"
        feet.append((label, tuple(str(item.best.n) for item in series.sizes)))
    noun = shown.noun
    return Lines(
        title=f"{'Relative error' if log else 'Mean error'} of the {shown.target}, predicted from few {noun}s",
        across=f"{noun}s of the subset; bars: standard error over folds",
        lines=tuple(lines),
        ticks=tuple((float(item.size), str(item.size)) for item in shown.series[0].sizes),
        unit=" %" if log else "",
        feet=tuple(feet),
    )


def _lines(series: Series, factor: float) -> list[Line]:
    x = tuple(float(item.size) for item in series.sizes)
    errors = tuple(factor * item.error for item in series.sizes)
    spread = tuple(factor * item.spread for item in series.sizes)
    name = NAMES[series.incomplete]
    found = [Line(name, x, errors, spread)]
    held = [(item.size, item.nested.mean) for item in series.sizes if item.nested is not None]
    if held:
        sizes, means = zip(*held, strict=True)
        found.append(Line(f"{name}, on other papers", tuple(map(float, sizes)), tuple(factor * mean for mean in means)))
    return found


def draw(shown: EverySize, kind: str) -> str | bytes:
    """Draw the figure as a file of a kind that stands alone, ".svg" or ".png"."""
    model = figure_model(shown)
    return files.png(model) if kind == ".png" else files.on_paper(files.svg(model, "subset-sizes"))
