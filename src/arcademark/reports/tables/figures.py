"""Performance profiles as a figure."""

from __future__ import annotations

from arcademark.reports.figures.model import Curve, CurvePanel, Curves, Guide
from arcademark.reports.figures.style import MOST_SERIES, ticks
from arcademark.reports.figures.style import legend as colours
from arcademark.reports.tables.comparison import Comparison

BODY = 248.0
SAID = (50.0, 100.0, 200.0)
"""Thresholds, in percent, whose shares are told in words."""


def profiles(found: Comparison) -> tuple[tuple[Curves, str], ...]:
    """Lay out the share of runs above each threshold, of the first algorithms, and say what it shows."""
    return ((model(found), in_words(found)),) if found.profiles else ()


def model(found: Comparison) -> Curves:
    """Lay the figure out."""
    shown = found.profiles[:MOST_SERIES]
    reach = shown[0].thresholds[-1]
    panel = CurvePanel(
        title="",
        across=f"{found.metric_title} above which runs lie",
        limits=(0.0, reach),
        heights=(0.0, 1.0),
        ticks=tuple((value, f"{value:,.0f} %") for value in ticks(0.0, reach, 9)),
        levels=tuple((share, f"{100 * share:.0f} %") for share in (0.0, 0.25, 0.5, 0.75, 1.0)),
        curves=tuple(
            Curve(
                tuple(item.thresholds),
                tuple(item.shares),
                index,
                steps="post",
                band=None if item.low is None or item.high is None else (tuple(item.low), tuple(item.high)),
            )
            for index, item in enumerate(shown)
        ),
        grid=True,
        guide=Guide(100.0, "", "muted"),
    )
    return Curves((panel,), body=BODY)


def legend(found: Comparison) -> tuple[tuple[str, str], ...]:
    """Return the name of each algorithm that the figure shows, with the name of its palette colour."""
    return colours([item.algorithm for item in found.profiles])


def in_words(found: Comparison) -> str:
    """Say what the figure shows: each algorithm's share of runs above some thresholds."""
    told = []
    for item in found.profiles[:MOST_SERIES]:
        shares = (
            f"{100 * share:.0f} % above {at:.0f} %"
            for at, share in zip(item.thresholds, item.shares, strict=True)
            if any(abs(at - mark) < 1e-9 for mark in (0.0, *SAID))
        )
        told.append(f"{item.algorithm}: {', '.join(shares)}")
    return f"Share of runs above each {found.metric_title}. {'; '.join(told)}."
