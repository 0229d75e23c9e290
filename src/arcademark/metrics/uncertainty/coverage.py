"""Coverage of the intervals of `arcademark.metrics.uncertainty.bootstrap`, measured by simulation.

``data/coverage.csv`` is written by ``bench/interval_coverage.py``, which says how populations are made. It stands in
docs/research/intervals.md too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from arcademark.suite.tables import read_rows

LEVEL = 0.95
TASKS = (5, 26, 57)
RUNS = (2, 3, 5, 10, 20)
ENOUGH = 0.93
"""An interval whose like was seen to hold the truth in a smaller share of cases, at worst, says so."""


@cache
def shares() -> Mapping[tuple[str, str, int, int], tuple[float, float]]:
    """Return by method, statistic, tasks and runs which shares of `LEVEL` intervals held the true value.

    The lowest and the highest over the populations.
    """
    rows = read_rows("coverage.csv", files("arcademark.metrics") / "data")
    return {
        (row["method"], row["statistic"], int(row["tasks"]), int(row["runs"])): (
            float(row["lowest"]),
            float(row["highest"]),
        )
        for row in rows
    }


def measured(statistic: str, method: str, tasks: int, runs: int) -> tuple[float, float] | None:
    """Return the lowest and the highest share of intervals that held the true value, None if not measured.

    `statistic` is "mean", "median", "iqm", "optimality_gap" or "probability_of_improvement"; of two algorithms
    "difference of mean", …; of scores capped after averaging over runs "capped mean", …, and "difference of capped
    mean", …. The `nearest` numbers of tasks and runs stand for these.
    """
    return shares().get((method, statistic, *nearest(tasks, runs))) if runs >= RUNS[0] else None


def nearest(tasks: int, runs: int) -> tuple[int, int]:
    """Return the numbers of tasks and of runs that were measured and stand for these: the nearest and the next lower.

    The nearest by ratio; runs are 2 or more.
    """
    size = min(TASKS, key=lambda count: abs(math.log(count / tasks)))
    return size, max(count for count in RUNS if count <= runs)


def span(shares: tuple[float, float]) -> str:
    """Show shares in percent, without its sign: "93 to 96", or "94" where both are rounded to that."""
    low, high = (f"{share:.0%}".removesuffix("%") for share in shares)
    return low if low == high else f"{low} to {high}"
