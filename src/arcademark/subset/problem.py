"""Problem of a search for the best few tasks: transformed scores, the summary to be predicted, and the folds.

Conventions
-----------
* Scores are normalised, on Atari in percent of the average human, one per algorithm and task; NaN where missing.
* Both scores and target are transformed, and every error is measured in transformed units (Atari-5, §4.1, Eq. 3).
* Algorithms are sorted by name, so that folds do not depend on the order of a table's rows.
* A subset's *complete cases* are the algorithms that have a score on each of its tasks. Folds consist of these.

Source: Aitchison, Sweetser and Hutter 2023, "Atari-5: Distilling the Arcade Learning Environment down to Five Games".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics import aggregate
from arcademark.metrics.normalise import PERCENT

Progress: TypeAlias = Callable[[int, int], None]
"""Function called with the number of subsets, or choices, done so far, and their total number."""


Floats: TypeAlias = NDArray[np.float64]
Summary: TypeAlias = Callable[[Floats], float]
"""Function of an algorithm's normalised scores, without missing ones, that returns one number."""
Transform: TypeAlias = Callable[[Floats], Floats]

SAME = 1e-12
"""Relative difference up to which targets count as equal."""
FOLDS = 10
FOLD_SEED = 1982
"""Seed of the shuffle in the paper's published code."""


def log10_score(percent: ArrayLike) -> Floats:
    """Transform scores as the paper does: φ(x) = log₁₀(1 + max(0, x)) (Atari-5, Eq. 3); NaN stays NaN."""
    return np.asarray(np.log10(1.0 + np.maximum(0.0, np.asarray(percent, dtype=np.float64))))


def log10_score_inverse(value: ArrayLike) -> Floats:
    """Undo `log10_score`: φ⁻¹(x) = 10ˣ − 1 (Atari-5, Eq. 4)."""
    return np.asarray(10.0 ** np.asarray(value, dtype=np.float64) - 1.0)


def unchanged(values: ArrayLike) -> Floats:
    """Return the values as they are."""
    return np.asarray(values, dtype=np.float64)


SUMMARIES: Mapping[str, Summary] = {
    "median": lambda scores: float(aggregate.median(scores)),
    "mean": lambda scores: float(aggregate.mean(scores)),
    "iqm": lambda scores: float(aggregate.iqm(scores[:, np.newaxis])),
    "at human level": lambda scores: float(np.count_nonzero(scores >= PERCENT)),
}
"""Targets by name, over the tasks that an algorithm has; "at human level" counts tasks at 100 percent or more."""

TRANSFORMS: Mapping[str, Transform] = {"log10": log10_score, "none": unchanged}
"""Weakly increasing functions of scores by name."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Predictors and target of a search.

    Parameters
    ----------
    X : float array, shape (algorithms, tasks)
        Transformed scores; NaN where missing.
    y : float array, shape (algorithms,)
        The transformed summary, which is to be predicted.
    algorithms : tuple of str
        Names along axis 0.
    tasks : tuple of str
        Names along axis 1.
    left_out : mapping of str to str
        Algorithms and tasks that are not part of the problem, each with the reason.
    """

    X: Floats
    y: Floats
    algorithms: tuple[str, ...]
    tasks: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def positions(self, tasks: Sequence[str]) -> tuple[int, ...]:
        """Return the positions of named tasks; raise for an unknown or left-out one."""
        places = {name: place for place, name in enumerate(self.tasks)}
        for name in tasks:
            if name in self.left_out:
                raise ArcadeMarkError(f"task {name!r} is not part of the problem: {self.left_out[name]}")
            if name not in places:
                raise UnknownNameError("task", name, self.tasks)
        return tuple(places[name] for name in tasks)

    def complete(self, positions: Sequence[int]) -> NDArray[np.bool_]:
        """Return True for algorithms with a score on each of the tasks at these positions, shape (algorithms,)."""
        return complete_rows(self.X[:, list(positions)])

    def sample(self, positions: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the complete cases: scores, shape (n, len(positions)), and target, shape (n,)."""
        rows = self.complete(positions)
        return self.X[rows][:, list(positions)], self.y[rows]

    def with_algorithms(self, rows: Sequence[int]) -> Problem:
        """Return the problem of some algorithms only, in the order of `algorithms`."""
        chosen = sorted(rows)
        names = tuple(self.algorithms[row] for row in chosen)
        return Problem(self.X[chosen], self.y[chosen], names, self.tasks, self.left_out)


def complete_rows(inputs: Floats, targets: Floats | None = None) -> NDArray[np.bool_]:
    """Return True for rows of ``inputs``, shape (algorithms, tasks), with a value on every task, and a target."""
    complete = ~np.isnan(inputs).any(axis=1)
    return np.asarray(complete if targets is None else complete & ~np.isnan(targets))


def fold_of_cases(n: int, folds: int = FOLDS, seed: int | None = FOLD_SEED) -> NDArray[np.int64]:
    """Return the fold, from 0, of each of n cases, shape (n,).

    The cases are shuffled with NumPy's legacy generator, unless the seed is None, and cut into parts whose sizes differ
    by at most one, larger ones first: as scikit-learn's ``KFold(folds, shuffle=True, random_state=seed)``.
    """
    order = np.arange(n)
    if seed is not None:
        np.random.RandomState(seed).shuffle(order)
    fold_of = np.empty(n, dtype=np.int64)
    for fold, cases in enumerate(np.array_split(order, folds)):
        fold_of[cases] = fold
    return fold_of


def make_problem(
    scores: ArrayLike,
    algorithms: Sequence[str],
    tasks: Sequence[str],
    *,
    target: str | Summary | ArrayLike = "median",
    transform: str = "log10",
    minimum_tasks: int = 40,
    minimum_algorithms: int = 40,
) -> Problem:
    """Make a problem from normalised scores, with the algorithms sorted by name and the tasks in the given order.

    Algorithms with too few tasks are left out first, then tasks that too few of the remaining algorithms have (Atari-5,
    §4.1), or on which all have the same score. A summary is over all tasks that an algorithm has, also those left out.

    Parameters
    ----------
    scores : float array, shape (algorithms, tasks)
        Normalised scores, in percent for the paper's transform; NaN where missing.
    algorithms, tasks : sequence of str
        Names along the axes.
    target : str, callable or float array of shape (algorithms,), optional
        Quantity to predict: one of `SUMMARIES`, a function of an algorithm's scores, or the values themselves.
    transform : str, optional
        Transform of scores and target: one of `TRANSFORMS`.
    minimum_tasks, minimum_algorithms : int, optional
        Number of tasks that an algorithm, and of algorithms that a task must have to be used.

    Raises
    ------
    UnknownNameError
        If the name of a summary or of a transform is unknown.
    ArcadeMarkError
        If names repeat, shapes disagree, a score is infinite, a target missing, or nothing is left.
    """
    values = np.asarray(scores, dtype=np.float64)
    check_unique("subset problem", "algorithm", algorithms)
    check_unique("subset problem", "task", tasks)
    if values.shape != (len(algorithms), len(tasks)):
        raise ArcadeMarkError(
            f"subset problem: scores have shape {values.shape}, expected (algorithms, tasks) = "
            f"({len(algorithms)}, {len(tasks)})"
        )
    if np.isinf(values).any():
        raise ArcadeMarkError("subset problem: a score is infinite; leave it out, or correct it")
    present = np.isfinite(values)
    order = sorted(range(len(algorithms)), key=lambda row: algorithms[row])
    counts = present.sum(axis=1)
    rows = [row for row in order if counts[row] >= max(1, minimum_tasks)]
    left_out = {
        algorithms[row]: f"it has {counts[row]} tasks, fewer than {minimum_tasks}" for row in order if row not in rows
    }
    columns, reasons = _choose_tasks(values[rows], tasks, minimum_algorithms)
    if not rows or not columns:
        raise ArcadeMarkError(
            f"subset problem: {len(rows)} of {len(algorithms)} algorithms have {minimum_tasks} tasks, and "
            f"{len(columns)} of {len(tasks)} tasks have {minimum_algorithms} of these with different scores; choose "
            "fewer (--set minimum_tasks=N,minimum_algorithms=N), or add scores"
        )
    if transform not in TRANSFORMS:
        raise UnknownNameError("transform", transform, TRANSFORMS)
    change = TRANSFORMS[transform]
    wanted = change(summaries(values, target)[rows])
    if not np.isfinite(wanted).all():
        raise ArcadeMarkError("subset problem: an algorithm has no finite target; leave it out, or add one")
    if len(rows) > 1 and np.ptp(wanted) <= SAME * max(1.0, float(np.abs(wanted).max())):
        raise ArcadeMarkError(
            f"subset problem: the transformed target is the same for all {len(rows)} algorithms, {wanted[0]:.3g}, so "
            "there is nothing to predict; choose another (--target, --set transform)"
        )
    return Problem(
        change(values[np.ix_(rows, columns)]),
        wanted,
        tuple(algorithms[row] for row in rows),
        tuple(tasks[column] for column in columns),
        left_out | reasons,
    )


def _choose_tasks(values: Floats, tasks: Sequence[str], minimum_algorithms: int) -> tuple[list[int], dict[str, str]]:
    columns: list[int] = []
    reasons: dict[str, str] = {}
    for column, name in enumerate(tasks):
        result = values[np.isfinite(values[:, column]), column]
        if len(result) < max(1, minimum_algorithms):
            reasons[name] = f"{len(result)} algorithms have it, fewer than {max(1, minimum_algorithms)}"
        elif len(result) > 1 and np.ptp(result) == 0:
            reasons[name] = "all algorithms have the same score on it"
        else:
            columns.append(column)
    return columns, reasons


def summaries(values: Floats, target: str | Summary | ArrayLike) -> Floats:
    """Return the target of each algorithm, as for `make_problem`; a summary is NaN for an algorithm without scores."""
    if isinstance(target, str) or callable(target):
        if isinstance(target, str) and target not in SUMMARIES:
            raise UnknownNameError("summary", target, SUMMARIES)
        summary = SUMMARIES[target] if isinstance(target, str) else target
        rows = [row[np.isfinite(row)] for row in values]
        return np.array([summary(row) if row.size else np.nan for row in rows])
    given = np.asarray(target, dtype=np.float64)
    if given.shape != values.shape[:1]:
        raise ArcadeMarkError(f"subset problem: the target has shape {given.shape}, expected {values.shape[:1]}")
    return given


def check_unique(what: str, kind: str, names: Sequence[str]) -> None:
    """Raise if a name is repeated; ``kind`` is "algorithm" or "task", ``what`` begins the message."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ArcadeMarkError(f"{what}: {kind} {repeated[0]!r} is named twice; expected unique names")
