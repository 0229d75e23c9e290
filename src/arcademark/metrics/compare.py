"""Comparison of two algorithms: Welch's t-test on each task, and the probability of improvement.

Conventions
-----------
* An algorithm's scores have shape (tasks, runs), raw or normalised, NaN where missing; the two algorithms may have
  different numbers of runs. Runs may also be episodes, if these are independent.
* A task that cannot be tested is never counted as a tie: it is *untested*, with the reason.
* Shapes that do not match raise an `ArcadeMarkError`.

Bellemare et al. 2013, "The Arcade Learning Environment: An Evaluation Platform for General Agents". Agarwal et al.
2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.aggregate import Statistic, mean_over_runs
from arcademark.metrics.power import check_share
from arcademark.metrics.uncertainty.samples import variances

ALPHA = 0.01
MANY = 64
"""Maximum number of runs compared one by one; of more, a sorted array is searched."""

Verdict: TypeAlias = Literal["better", "worse", "undecided", "untested"]


@dataclass(frozen=True)
class TaskTest:
    """Welch's t-test of two algorithms on one task.

    `t`, `degrees_of_freedom` (Welch–Satterthwaite) and the two-tailed `p` are None if untested, and `why` is the
    reason. The first algorithm is better or worse if p is below alpha.
    """

    task: str
    t: float | None
    degrees_of_freedom: float | None
    p: float | None
    verdict: Verdict
    why: str = ""


def paired_tests(a: ArrayLike, b: ArrayLike, tasks: Sequence[str], *, alpha: float = ALPHA) -> list[TaskTest]:
    """Test on every task whether two algorithms' mean scores differ (Bellemare et al. 2013, §4.3).

    The test is the two-tailed Welch's t-test, which does not assume equal variances (Welch 1947); a task is decided if
    p is below `alpha`: 0.01 is the 99 % of 2013. P-values are not corrected for the number of tasks; `holm` does that.
    Tasks with fewer than two runs of an algorithm, or where neither's runs vary, are untested. `a` and `b` are scores
    of shape (tasks, runs). ArcadeMarkError: shapes do not match, or ``alpha`` is not between 0 and 1.
    """
    from scipy.special import stdtr

    check_share("alpha", alpha)
    tables = _admit(a, b, len(tasks))
    runs = np.array([np.count_nonzero(~np.isnan(values), axis=1) for values in tables])
    spreads = np.array([variances(np.sort(values, axis=1)) for values in tables]) / np.maximum(runs, 1)
    difference = np.subtract(*map(mean_over_runs, tables))
    testable = (runs.min(axis=0) > 1) & (spreads.sum(axis=0) > 0)
    total = np.where(testable, spreads.sum(axis=0), np.nan)
    t = difference / np.sqrt(total)
    freedom = 1 / ((spreads / total) ** 2 / np.maximum(runs - 1, 1)).sum(axis=0)
    p = 2 * stdtr(freedom, -np.abs(t))
    tests = []
    for place, task in enumerate(tasks):
        if testable[place]:
            verdict: Verdict = "undecided" if p[place] >= alpha else "better" if t[place] > 0 else "worse"
            tests.append(TaskTest(task, float(t[place]), float(freedom[place]), float(p[place]), verdict))
        else:
            why = _reason(runs[:, place].tolist(), difference[place] == 0)
            tests.append(TaskTest(task, None, None, None, "untested", why))
    return tests


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Return p-values corrected for multiple testing, in the same shape; NaN stays NaN and is not counted.

    If those below alpha are rejected, the probability of any false rejection is at most alpha, for any dependence of
    the tests: the step-down method of Holm 1979, "A simple sequentially rejective multiple test procedure".
    """
    values = np.asarray(p, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    corrected = np.full(values.shape, np.nan)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * np.arange(len(order), 0, -1)))
    return corrected


def probability_of_improvement(x: ArrayLike, y: ArrayLike) -> Statistic:
    """Return the probability that a run of X beats a run of Y on a random task (Agarwal et al. 2021, §4.3).

    It is the mean of `probabilities_of_improvement` over the tasks on which both have runs, of shape (...) for scores
    of shape (..., tasks, runs). Above 0.5, X tends to win; the size of differences does not matter, so any increasing
    transform leaves it unchanged. ArcadeMarkError: there is no such task.
    """
    by_task = probabilities_of_improvement(x, y)
    if np.isnan(by_task).all(axis=-1).any():
        raise ArcadeMarkError("no task has runs of both algorithms; there is nothing to compare")
    return np.asarray(np.nanmean(by_task, axis=-1))[()]


def probabilities_of_improvement(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Return for every task the probability that a run of X beats a run of Y; a tie is half a win.

    This is the Mann–Whitney U statistic divided by the number of pairs, of shape (..., tasks) for scores of shape (...,
    tasks, runs), without missing ones; NaN where one of the two has no run. More than `MANY` runs of Y are sorted:
    O((n + m) log m).
    """
    mine, theirs = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if mine.ndim < 2 or mine.shape[:-1] != theirs.shape[:-1]:
        raise ArcadeMarkError(
            f"expected scores of the same tasks, shape (..., tasks, runs), not {mine.shape} and {theirs.shape}"
        )
    known = ~np.isnan(theirs)
    pairs = np.count_nonzero(~np.isnan(mine), axis=-1) * np.count_nonzero(known, axis=-1)
    won = np.zeros(pairs.shape, dtype=np.int64)  # twice the wins, because a tie is half a win
    if theirs.shape[-1] <= MANY:
        for run in range(theirs.shape[-1]):
            rival = theirs[..., run, np.newaxis]
            won += np.count_nonzero(mine > rival, axis=-1) + np.count_nonzero(mine >= rival, axis=-1)
    else:
        for place in np.ndindex(pairs.shape):
            runs, ordered = mine[place], np.sort(theirs[place][known[place]])
            for side in ("left", "right"):
                won[place] += np.searchsorted(ordered, runs[~np.isnan(runs)], side=side).sum()
    return np.asarray(np.divide(won, 2 * pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0))


def _admit(a: ArrayLike, b: ArrayLike, tasks: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    mine, theirs = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if mine.ndim != 2 or theirs.ndim != 2 or not len(mine) == len(theirs) == tasks:
        raise ArcadeMarkError(f"expected two arrays of shape ({tasks}, runs), not {mine.shape} and {theirs.shape}")
    return mine, theirs


_FEW = ("no score", "one run")


def _reason(counts: Sequence[int], same: bool) -> str:
    """Return the reason why a task cannot be tested: too few runs, or none that vary."""
    few = [runs for runs in counts if runs < 2]
    if len(few) == 2 and few[0] == few[1]:
        return f"both have {_FEW[few[0]]}"
    for which, runs in zip(("first", "second"), counts, strict=True):
        if runs < 2:
            return f"the {which} has {_FEW[runs]}"
    return f"neither varies from run to run{', and both score the same' if same else ''}"
