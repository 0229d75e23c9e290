"""Coverage of the intervals of `arcademark.metrics.uncertainty.bootstrap`, measured by simulation.

``bench/interval_coverage.py``, which describes the populations, writes ``data/coverage.csv``. Its numbers are also in
docs/research/intervals.md.
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
"""Lowest simulated coverage, in the worst population, at which an interval has no warning."""


@cache
def shares() -> Mapping[tuple[str, str, int, int], tuple[float, float]]:
    """Return the coverage of `LEVEL` intervals by method, statistic, tasks and runs.

    The two values are the lowest and the highest over the populations.
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
    """Return the lowest and the highest coverage of intervals over the populations, None if not measured.

    `statistic` is "mean", "median", "iqm", "optimality_gap" or "probability_of_improvement"; for two algorithms
    "difference of mean", …; for scores capped after averaging over runs "capped mean", …, and "difference of capped
    mean", …. The `nearest` measured numbers of tasks and runs are used.
    """
    return shares().get((method, statistic, *nearest(tasks, runs))) if runs >= RUNS[0] else None


def nearest(tasks: int, runs: int) -> tuple[int, int]:
    """Return the measured numbers of tasks, the nearest by ratio, and of runs, the largest that is not above ``runs``.

    There must be at least 2 runs.
    """
    size = min(TASKS, key=lambda count: abs(math.log(count / tasks)))
    return size, max(count for count in RUNS if count <= runs)


def span(shares: tuple[float, float]) -> str:
    """Write shares in percent, without percent signs: "93 to 96", or "94" if both are rounded to that."""
    low, high = (f"{share:.0%}".removesuffix("%") for share in shares)
    return low if low == high else f"{low} to {high}"
