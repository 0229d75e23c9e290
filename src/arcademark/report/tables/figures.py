"""Performance profiles, in the style of `arcademark.report.figures`."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from arcademark.report.figures import MOST_ALGORITHMS, PALETTE, SERIES, WIDTH, colour
from arcademark.report.tables.comparison import Comparison, Profile

HEIGHT = 300.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 26.0, 12.0, 40.0
DASHES = ("solid", (0, (6, 2)), (0, (2, 1.6)), (0, (7, 2, 1.5, 2)), (0, (1, 1)))
"""A line style for each algorithm, so that colours are not needed to tell them apart."""


def profiles(found: Comparison) -> list[tuple[Figure, str]]:
    """Draw the share of runs above each threshold, of the first algorithms; with what it shows in words."""
    figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72))
    figure.patch.set_visible(False)
    axes = figure.add_axes(
        (LEFT / WIDTH, BOTTOM / HEIGHT, (WIDTH - LEFT - RIGHT) / WIDTH, (HEIGHT - TOP - BOTTOM) / HEIGHT)
    )
    shown = found.profiles[:MOST_ALGORITHMS]
    _frame(axes, shown[0].thresholds[-1] if shown else 100.0, found.metric_title)
    for index, profile in enumerate(shown):
        _profile(axes, index, profile)
    return [(figure, in_words(found))]


def legend(found: Comparison) -> tuple[tuple[str, str], ...]:
    """Return the name of each algorithm that the figure shows, with the name of its palette colour."""
    return tuple((item.algorithm, name) for item, name in zip(found.profiles[:MOST_ALGORITHMS], SERIES, strict=False))


def in_words(found: Comparison) -> str:
    """Say what the figure shows: each algorithm's share of runs above 50, 100 and 200 percent."""
    told = []
    for item in found.profiles[:MOST_ALGORITHMS]:
        shares = (
            f"{100 * share:.0f} % above {at:.0f} %"
            for at, share in zip(item.thresholds, item.shares, strict=True)
            if any(abs(at - mark) < 1e-9 for mark in (0.0, 50.0, 100.0, 200.0))
        )
        told.append(f"{item.algorithm}: {', '.join(shares)}")
    return f"Share of runs above each {found.metric_title}. {'; '.join(told)}."


def _frame(axes: Axes, reach: float, title: str) -> None:
    axes.patch.set_visible(False)
    axes.set_xlim(0, reach)
    axes.set_ylim(0, 1)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], labels=["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f} %")
    axes.tick_params(length=0, colors=PALETTE["muted"], labelsize=8)
    axes.tick_params(axis="x", pad=8)
    axes.grid(color=PALETTE["rule"], linewidth=0.5)
    axes.set_axisbelow(True)
    axes.axvline(100, color=PALETTE["muted"], linewidth=0.9, zorder=1)
    axes.set_xlabel(f"{title} above which runs lie", color=PALETTE["ink"], fontsize=9)


def _profile(axes: Axes, index: int, profile: Profile) -> None:
    if profile.low is not None and profile.high is not None:
        axes.fill_between(
            profile.thresholds, profile.low, profile.high, color=colour(index), alpha=0.16, linewidth=0, zorder=2
        )
    axes.plot(
        profile.thresholds, profile.shares, color=colour(index), linewidth=1.6, linestyle=DASHES[index], zorder=3,
        drawstyle="steps-post",
    )  # fmt: skip
