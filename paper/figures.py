"""Draw the figures of the paper: predicted and true medians, intervals by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from arcademark.analysis.subsets.covering import LEVELS
from arcademark.files import MADE_BY
from arcademark.pages.figures import files
from arcademark.pages.figures.canvas import axes_at, beside, blank, ticked
from arcademark.pages.figures.model import Guide, Kind, Mark, Numbers, RowPanel, RowsFigure
from arcademark.pages.figures.style import NAME_SIZE, PALETTE, TICK_SIZE

SHOWN = {
    "Published": {f"atari-{size}": f"Atari-{size}" for size in (1, 3, 5, 10)},
    "Ours": {"atari-14": "Atari-14"},
    "Chosen in 2026": {f"{size} chosen in 2026": f"{size} games" for size in ("five", "ten")},
    "Chosen anew without what is left out": {f"best {size}": f"{size} games" for size in (5, 10)},
}
LARGER = 1.2
"""Than in reports, as the paper shrinks figures to its lines."""
MARKS: tuple[Kind, ...] = ("dot", "ring", "dot")
WAYS = ("without each paper", "without each kind", "without the newest")


def draw(results: Mapping[str, Any], folder: Path) -> None:
    """Write the figures."""
    every = results["left_out"]
    drawn = {"levels": files.draw(levels(every)), "predicted": predicted(results)}
    for name, figure in drawn.items():
        for found in figure.findobj(Text):
            found.set_fontsize(LARGER * float(found.get_fontsize()))
        FigureCanvasAgg(figure)
        room = figure.bbox_inches.padded(files.MARGIN / 72)
        said = {"Software": MADE_BY}
        figure.savefig(folder / f"{name}.png", dpi=files.DOTS_PER_INCH, metadata=said, bbox_inches=room)


def levels(every: Mapping[str, Any]) -> RowsFigure:
    """Show how many true medians 90 % intervals cover at each level, and how wide they are."""
    names = [name for group in SHOWN.values() for name in group]
    panels = []
    for place, level in enumerate(LEVELS):
        marks = [
            Mark(kind, row, (shade - 1) / 4, 100 * of[way]["levels"][place]["held"], shade=f"series-{shade + 1}")
            for shade, (way, kind) in enumerate(zip(every["ways"], MARKS, strict=True))
            for row, of in enumerate(every["rows"][name] for name in names)
        ]
        width = tuple(
            (row, 0, f"{of[every['ways'][0]]['levels'][place]['width']:.1f}")
            for row, of in enumerate(every["rows"][name] for name in names)
        )
        panels.append(
            RowPanel(
                title=f"{level.capitalize()}",
                limits=(58, 102),
                ticks=((60, "60"), (70, "70"), (80, "80"), (90, "90"), (100, "100")),
                marks=tuple(marks),
                numbers=(Numbers("width ×", width),),
                guides=(Guide(90.0, "90", "muted"),),
                unit="% of true medians covered",
            )
        )
    groups = tuple((title, tuple(group.values())) for title, group in SHOWN.items())
    return RowsFigure(groups, tuple(panels), legend=tuple((name, place) for place, name in enumerate(WAYS)))


def predicted(results: Mapping[str, Any]) -> Figure:
    """Show estimated medians and their intervals beside the true ones: of the catalogue and of unseen sources."""
    unseen = results["unseen"]["atari-5"]
    figure = blank(286)
    for place, (title, some) in enumerate(
        (
            ("Catalogue: learnt without the algorithm's paper", results["predicted"]),
            ("Unseen sources", unseen),
        )
    ):
        axes = axes_at(figure, 54 + 364 * place, 40, 296, 220)
        _scatter(axes, some)
        beside(axes, title, (0, 1), (-44, 10), NAME_SIZE, "ink", fontweight="bold")
    return figure


def _scatter(axes: Axes, some: Sequence[Mapping[str, Any]]) -> None:
    least, most = 2.0, 6000.0
    axes.set(xscale="log", yscale="log", xlim=(least, most), ylim=(least, most))
    marks = tuple((float(value), f"{value:,} %") for value in (3, 10, 30, 100, 300, 1000, 3000))
    ticked(axes, tuple((value, text if value <= 1000 else "") for value, text in marks), marks, axis="both")
    axes.minorticks_off()
    axes.plot([least, most], [least, most], color=PALETTE["muted"], linewidth=0.8, zorder=1)
    for row in some:
        shade = PALETTE["series-1" if row["low"] <= row["true"] <= row["high"] else "record"]
        ends = np.maximum(least, [row["low"], row["high"]])
        axes.plot([row["true"]] * 2, ends, color=shade, linewidth=1.1, zorder=2, alpha=0.7)
        axes.scatter([row["true"]], [row["value"]], s=16, color=shade, linewidths=0, zorder=3)
    axes.set_xlabel("true median of human-normalised scores", fontsize=TICK_SIZE, color=PALETTE["muted"])
