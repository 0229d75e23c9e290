"""How often the intervals of `arcademark.metrics.bootstrap` hold the true value: measured by simulation.

`MEASURED` is written by ``python bench/interval_coverage.py --write``, which says how populations are made, and stands
in docs/intervals.md too.
"""

from __future__ import annotations

import math

LEVEL = 0.95
TASKS = (5, 26, 57)
RUNS = (2, 3, 5, 10, 20)
FEW_RUNS = 10
"""With fewer runs a task than these an interval says how often such ones were seen to hold the truth."""

# measured: begin
MEASURED: dict[tuple[str, str, int], tuple[tuple[float, float], ...]] = {}
# measured: end
"""Method, statistic and number of tasks: for each of `RUNS` the lowest and the highest share of `LEVEL` intervals that
held the true value, over the populations."""


def measured(statistic: str, method: str, tasks: int, runs: int) -> tuple[float, float] | None:
    """Look up how often intervals held the true value.

    Parameters
    ----------
    statistic : str
        "mean", "median", "iqm", "optimality_gap" or "probability_of_improvement".
    method : str
        As in `arcademark.metrics.intervals.METHODS`.
    tasks, runs : int
        How many tasks, and runs of each. The nearest number of tasks that was measured (by ratio), and the largest
        number of runs that was measured and is not more, stand for them.

    Returns
    -------
    (float, float) or None
        Lowest and highest share over the populations; None where nothing was measured.
    """
    nearest = min(TASKS, key=lambda count: abs(math.log(count / tasks)))
    known = [i for i, count in enumerate(RUNS) if count <= runs]
    found = MEASURED.get((method, statistic, nearest))
    return found[known[-1]] if found and known else None


def warning(statistic: str, method: str, level: float, tasks: int, runs: int) -> str | None:
    """Say what was measured of intervals from so few runs, or nothing where they are not few.

    Parameters are those of `measured`, and the interval's level: at another than `LEVEL` nothing was measured.
    """
    if runs >= FEW_RUNS:
        return None
    few = f"only {runs} runs a task"
    found = measured(statistic, method, tasks, runs) if level == LEVEL else None
    if found is None:
        return f"{few}: how often such an interval holds the true value was not measured"
    low, high = (f"{share:.0%}".removesuffix("%") for share in found)
    share = f"{low} %" if low == high else f"{low} to {high} %"
    return f"{few}: of simulated {level * 100:g} % intervals from so few, {share} held the true value"
