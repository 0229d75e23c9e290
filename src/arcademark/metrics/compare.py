"""One algorithm against another: Welch's t-test on each task, and how probable it is that one run beats another.

Conventions
-----------
* Scores are of shape (tasks, runs), of one algorithm, raw or normalised, NaN where missing; the two algorithms need not
  have equally many. What is called runs may as well be episodes, if each is drawn independently.
* A task that no test can be made on is never counted as a tie: it is *untested*, and named with the reason.
* Shapes that do not fit raise an `ArcadeMarkError`.

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
from arcademark.metrics.aggregate import Missing

ALPHA = 0.01

Verdict: TypeAlias = Literal["better", "worse", "undecided", "untested"]


@dataclass(frozen=True, eq=False)
class Moments:
    """What a t-test needs to know of an algorithm's runs, shape (tasks,) each.

    Mean over runs, NaN where there is none; the runs' standard deviation (not the mean's), with n − 1 in the
    denominator, NaN where not known; and the number of runs.
    """

    mean: NDArray[np.float64]
    standard_deviation: NDArray[np.float64]
    runs: NDArray[np.int64]


@dataclass(frozen=True)
class TaskTest:
    """Welch's t-test of two algorithms on one task.

    `difference` is the first algorithm's mean minus the second's, in the task's unit, None where one has no score; `t`,
    `degrees_of_freedom` (Welch–Satterthwaite) and the two-tailed `p` are None where untested, and `why` then says why.
    The first algorithm is better or worse where p is below alpha.
    """

    task: str
    difference: float | None
    t: float | None
    degrees_of_freedom: float | None
    p: float | None
    verdict: Verdict
    why: str = ""


@dataclass(frozen=True)
class PairedTests:
    """Two algorithms tested on every task, each test at level alpha: 0.01 is the 99 % of 2013.

    It is not corrected for the number of tasks; `holm` does that.
    """

    alpha: float
    tests: tuple[TaskTest, ...]

    def named(self, verdict: Verdict) -> tuple[str, ...]:
        """Name the tasks of one verdict."""
        return tuple(test.task for test in self.tests if test.verdict == verdict)

    @property
    def better(self) -> int:
        """On how many tasks the first is better."""
        return len(self.named("better"))

    @property
    def worse(self) -> int:
        """On how many tasks the first is worse."""
        return len(self.named("worse"))

    @property
    def undecided(self) -> int:
        """On how many tasks the test finds no difference."""
        return len(self.named("undecided"))

    @property
    def untested(self) -> int:
        """On how many tasks no test could be made."""
        return len(self.named("untested"))


def moments(scores: ArrayLike) -> Moments:
    """Return mean, standard deviation and number of runs of each task from scores (tasks, runs).

    One run has no standard deviation; equal runs have exactly 0.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2:
        raise ArcadeMarkError(f"expected scores of shape (tasks, runs), not {values.shape}")
    there = ~np.isnan(values)
    runs = np.count_nonzero(there, axis=1)
    mean = np.where(runs > 0, np.sum(values, axis=1, where=there) / np.maximum(runs, 1), np.nan)
    squares = np.sum((values - mean[:, np.newaxis]) ** 2, axis=1, where=there)
    constant = np.max(values, axis=1, where=there, initial=-np.inf) == np.min(
        values, axis=1, where=there, initial=np.inf
    )
    deviation = np.where(constant, 0.0, np.sqrt(squares / np.maximum(runs - 1, 1)))
    return Moments(mean, np.where(runs > 1, deviation, np.nan), runs.astype(np.int64))


def paired_tests(a: ArrayLike, b: ArrayLike, tasks: Sequence[str], *, alpha: float = ALPHA) -> PairedTests:
    """Test on every task whether two algorithms' mean scores differ (Bellemare et al. 2013, §4.3).

    Two-tailed Welch's t-test, which does not take the two variances to be equal (Welch 1947); a task is decided where p
    is below `alpha`. Tasks with fewer than two runs of an algorithm, or where neither's runs vary, are untested. `a`
    and `b` are scores of shape (tasks, runs). ArcadeMarkError: shapes do not fit, or ``alpha`` is not between 0 and 1.
    """
    return paired_tests_of_moments(moments(a), moments(b), tasks, alpha=alpha)


def paired_tests_of_moments(a: Moments, b: Moments, tasks: Sequence[str], *, alpha: float = ALPHA) -> PairedTests:
    """Test as `paired_tests` does, from published means, standard deviations (0 or more) and numbers of runs."""
    from scipy.special import stdtr

    _check(a, b, tasks, alpha)
    spread_a, spread_b = (side.standard_deviation**2 / np.maximum(side.runs, 1) for side in (a, b))
    difference = a.mean - b.mean
    testable = (np.minimum(a.runs, b.runs) > 1) & (spread_a + spread_b > 0) & ~np.isnan(difference)
    total = np.where(testable, spread_a + spread_b, np.nan)
    share = spread_a / total
    t = difference / np.sqrt(total)
    freedom = 1 / (share**2 / np.maximum(a.runs - 1, 1) + (1 - share) ** 2 / np.maximum(b.runs - 1, 1))
    p = 2 * stdtr(freedom, -np.abs(t))
    why = ["" if testable[place] else _reason(a, b, place) for place in range(len(tasks))]
    rows = zip(tasks, difference.tolist(), t.tolist(), freedom.tolist(), p.tolist(), why, strict=True)
    return PairedTests(alpha, tuple(_test(task, alpha, *numbers) for task, *numbers in rows))


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Return p-values corrected for how many they are, as many: NaN where one is, which counts for none.

    Where those below alpha are rejected, the chance that any of these is rejected wrongly is at most alpha, whatever
    the tests have in common: the step-down method of Holm 1979, "A simple sequentially rejective multiple test
    procedure".
    """
    values = np.asarray(p, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    corrected = np.full(values.shape, np.nan)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * np.arange(len(order), 0, -1)))
    return corrected


def probability_of_improvement(x: ArrayLike, y: ArrayLike, *, missing: Missing = "refuse") -> float:
    """Return how probable it is that a run of X beats a run of Y on a random task (Agarwal et al. 2021, §4.3).

    The mean of `probabilities_of_improvement` over tasks. Above 0.5, X tends to win; by how much does not count, and
    any increasing change of unit leaves it as it is. Missing scores raise an `ArcadeMarkError`, or with "omit" the runs
    that are there count, on tasks on which both have any; it is raised too where there is no such task.
    """
    absent = sum(np.count_nonzero(np.isnan(np.asarray(side, dtype=np.float64))) for side in (x, y))
    if absent and missing != "omit":
        raise ArcadeMarkError(
            f'{absent} scores are missing; complete them, or ask for those that are there with missing="omit"'
        )
    by_task = probabilities_of_improvement(x, y)
    if np.isnan(by_task).all():
        raise ArcadeMarkError("no task has runs of both algorithms; there is nothing to compare")
    return float(np.nanmean(by_task))


def probabilities_of_improvement(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Return for every task how probable it is that a run of X beats a run of Y, a tie being half a win.

    This is the Mann–Whitney U statistic over the number of pairs, counted in a sorted array: O((n + m) log m) a task.
    From scores (tasks, runs), missing ones left out, to (tasks,); NaN where one of the two has no run.
    """
    mine, theirs = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if mine.ndim != 2 or theirs.ndim != 2 or len(mine) != len(theirs):
        raise ArcadeMarkError(f"expected two arrays of shape (tasks, runs), not {mine.shape} and {theirs.shape}")
    return np.array([_wins(a[~np.isnan(a)], b[~np.isnan(b)]) for a, b in zip(mine, theirs, strict=True)])


def _wins(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    if not x.size or not y.size:
        return float("nan")
    ordered = np.sort(y)
    below, not_above = (np.searchsorted(ordered, x, side=side).sum() for side in ("left", "right"))
    return float((below + not_above) / (2 * x.size * y.size))


def _check(a: Moments, b: Moments, tasks: Sequence[str], alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ArcadeMarkError(f"alpha {alpha:g}: expected a significance level between 0 and 1, such as 0.01")
    for side in (a, b):
        shapes = {np.shape(values) for values in (side.mean, side.standard_deviation, side.runs)}
        if shapes != {(len(tasks),)}:
            raise ArcadeMarkError(f"expected scores for each of {len(tasks)} tasks, not of shape {sorted(shapes)}")
        if (side.standard_deviation < 0).any():
            raise ArcadeMarkError("a standard deviation is negative; correct it")


def _reason(a: Moments, b: Moments, place: int) -> str:
    """Say why a task cannot be tested."""
    for which, side in (("first", a), ("second", b)):
        if side.runs[place] == 0 or np.isnan(side.mean[place]):
            return f"the {which} has no score"
        if side.runs[place] == 1:
            return f"the {which} has one run"
        if np.isnan(side.standard_deviation[place]):
            return f"the standard deviation of the {which} is not known"
    same = ", and both score the same" if a.mean[place] == b.mean[place] else ""
    return f"neither varies from run to run{same}"


def _test(task: str, alpha: float, difference: float, t: float, freedom: float, p: float, why: str) -> TaskTest:
    if why:
        known = None if np.isnan(difference) else difference
        return TaskTest(task, known, None, None, None, "untested", why)
    verdict: Verdict = "undecided" if p >= alpha else "better" if t > 0 else "worse"
    return TaskTest(task, difference, t, freedom, p, verdict)
