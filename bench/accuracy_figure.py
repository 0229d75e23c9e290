"""Draw the README's figure: medians estimated from five games against true ones, for algorithms never learnt from.

python bench/accuracy_figure.py docs/images/accuracy.png
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

import unseen
from arcademark.pages.figures.style import PALETTE
from arcademark.suite.subsets import subset

LOWEST, HIGHEST = 2.0, 1500.0
"""Limits of the axes, in percent."""


def main() -> None:
    """Estimate, draw and write the figure."""
    every = [one for one in unseen.read() if not one.reason]
    found = unseen.by_ours(subset("atari-5").tasks, every)
    plt.rcParams.update({"font.family": "sans-serif", "font.size": 11, "axes.edgecolor": PALETTE["muted"]})
    figure, axes = plt.subplots(figsize=(5.2, 5.0), layout="constrained", facecolor="white")
    axes.plot([LOWEST, HIGHEST], [LOWEST, HIGHEST], color=PALETTE["rule"], zorder=1)
    for one in found:
        colour = PALETTE["series-1"] if one.covered else PALETTE["record"]
        axes.plot([one.truth] * 2, [max(one.low, LOWEST), min(one.high, HIGHEST)], color=colour, alpha=0.45, zorder=2)
        if one.value is not None:
            axes.plot(one.truth, one.value, "o", color=colour, markersize=5, markeredgecolor="white", zorder=3)
    axes.set(xscale="log", yscale="log", xlim=(LOWEST, HIGHEST), ylim=(LOWEST, HIGHEST), aspect="equal")
    axes.set_xlabel("true median over the 57 games (human-normalised)")
    axes.set_ylabel("estimated from five games, 90 % interval")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f} %"))
        axis.set_minor_formatter(NullFormatter())
    covered = sum(one.covered for one in found)
    sources = len({one.source for one in found})
    axes.set_title(
        f"{len(found)} held-out algorithms of {sources} sources:\n"
        f"{covered} intervals cover the true median; {len(found) - covered} do not (red)",
        fontsize=11,
        loc="left",
    )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(Path(sys.argv[1]), dpi=160)


if __name__ == "__main__":
    main()
