"""Options of searches, and searches prepared from checked options."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.subset.problem import FOLD_SEED, FOLDS, Floats, Problem, check_unique, fold_of_cases

Nonnegative: TypeAlias = Literal["drop", "nnls"]
Incomplete: TypeAlias = Literal["leave out", "charge"]

NOTHING = 1e-12
"""Share of the target's mean square up to which errors, or their differences, count as 0, because they are rounding."""


@dataclass(frozen=True)
class Certificate:
    """Proof of optimality: numbers of subsets that were evaluated, pruned or inadmissible.

    Parameters
    ----------
    subsets : int
        Number of subsets under the constraints.
    evaluated : int
        Subsets that were cross-validated, at least until they were known to be worse than the listed ones.
    pruned : int
        Subsets that were skipped because a bound proves them to be worse than the listed ones.
    inadmissible : int
        Subsets with too few complete cases.
    audited : int
        Good subsets that were found without bounds; the listed ones must not be worse.
    violations : int
        1 if they are worse, so that a bound is wrong; else 0.
    gap : float
        Share of its error by which the best could at most be beaten: 0 without violations, else infinite.
    """

    subsets: int
    evaluated: int
    pruned: int
    inadmissible: int
    audited: int = 0
    violations: int = 0
    gap: float = 0.0

    @property
    def holds(self) -> bool:
        """True if the result is proven."""
        return self.gap == 0.0


@dataclass(frozen=True)
class SearchOptions:
    """Options of every search.

    Parameters
    ----------
    include : sequence of str
        Tasks that every subset must have.
    exclude : collection of str
        Tasks that no subset may have.
    within : collection of str or None
        The only tasks to choose from; all of the problem's if None.
    top : int
        Number of subsets to list.
    nonnegative : {"drop", "nnls"}
        Drop models with a negative coefficient, as the paper does, or fit every model without negative ones.
    folds : int
        Folds of the cross-validation.
    fold_seed : int or None
        Seed with which cases are shuffled before they are cut into folds; None does not shuffle.
    incomplete : {"leave out", "charge"}
        With missing scores, large subsets win partly by leaving out algorithms. "charge" ranks by the mean over all
        algorithms, where a left-out one counts with the variance of the target, the squared error of predicting the
        mean. ``Candidate.cv_mse`` is always of the complete cases.
    bounds : bool
        True to skip subsets that a bound proves to be worse; the result is the same.
    threads : int or None
        Number of threads; that of processors if None.
    """

    include: Sequence[str] = ()
    exclude: Collection[str] = ()
    within: Collection[str] | None = None
    top: int = 10
    nonnegative: Nonnegative = "drop"
    folds: int = FOLDS
    fold_seed: int | None = FOLD_SEED
    incomplete: Incomplete = "leave out"
    bounds: bool = True
    threads: int | None = None


@dataclass(frozen=True, eq=False)
class PreparedSearch:
    """A search, checked.

    Parameters
    ----------
    scores : float array, shape (tasks + 1, algorithms)
        Scores of the tasks and, last, the target; NaN where missing.
    fold_table : int array, shape (algorithms + 1, algorithms)
        In row n, the fold of each of n complete cases; rows below ``floor``, the fewest complete cases, are not filled.
    fixed, free : int arrays
        Tasks that every subset has; tasks to choose from, ascending.
    charge : float
        An incomplete case's squared error; −1 to leave incomplete cases out.
    """

    scores: Floats
    fold_table: NDArray[np.int64]
    floor: int
    fixed: NDArray[np.int64]
    free: NDArray[np.int64]
    size: int
    charge: float
    options: SearchOptions

    @property
    def constrained(self) -> bool:
        """True if every fit is without negative coefficients; otherwise models with one are dropped."""
        return self.options.nonnegative == "nnls"

    @property
    def choose(self) -> int:
        """The number of tasks to choose in addition to the fixed ones."""
        return self.size - len(self.fixed)

    @property
    def subsets(self) -> int:
        """The number of subsets."""
        return math.comb(len(self.free), self.choose)

    @property
    def nothing(self) -> float:
        """The error that counts as 0."""
        return rounding(self.scores[-1])

    def empty_list(self) -> tuple[Floats, NDArray[np.int64], float]:
        """Return an empty list of the best: errors, subsets, and the error that counts as 0."""
        return np.full(self.options.top, np.inf), np.zeros((self.options.top, self.size), np.int64), self.nothing


def rounding(targets: Floats) -> float:
    """Return the error that counts as 0, for the targets of all algorithms."""
    return NOTHING * float(np.mean(targets**2))


def prepare(problem: Problem, size: int, options: SearchOptions) -> PreparedSearch:
    """Check and prepare a search; errors are those of `arcademark.subset.search.search.search`."""
    rows, folds = len(problem.algorithms), options.folds
    if rows < 2:
        raise ArcadeMarkError("subset search: only one algorithm is used, but folds need at least two; add scores")
    for name, known in (("nonnegative", Nonnegative), ("incomplete", Incomplete)):
        if (value := getattr(options, name)) not in get_args(known):
            raise ArcadeMarkError(f"subset search: {name} is {value!r}, expected one of {', '.join(get_args(known))}")
    if not 2 <= folds <= rows:
        count = f"{folds} fold{'' if folds == 1 else 's'}"
        raise ArcadeMarkError(f"subset search: {count} of {rows} algorithms; expected from 2 to {rows} (--set folds=N)")
    if options.top < 1:
        raise ArcadeMarkError(f"subset search: {options.top} subsets to list, expected 1 or more")
    fixed, free = _choices(problem, options)
    if size < max(1, len(fixed)) or size > len(fixed) + len(free):
        raise ArcadeMarkError(
            f"subset search: size {size}, expected from {max(1, len(fixed))} to {len(fixed) + len(free)}: {len(fixed)} "
            f"tasks are to be included and {len(free)} more can be chosen"
        )
    floor = fewest_cases(size, folds)
    if floor > rows:
        raise ArcadeMarkError(
            f"subset search: {rows} algorithms, expected at least {floor} for subsets of {size} and {folds} folds"
        )
    table = np.zeros((rows + 1, rows), dtype=np.int64)
    for n in range(floor, rows + 1):
        table[n, :n] = fold_of_cases(n, folds, options.fold_seed)
    return PreparedSearch(
        scores=np.ascontiguousarray(np.vstack([problem.X.T, problem.y])),
        fold_table=table,
        floor=floor,
        fixed=np.array(fixed, dtype=np.int64),
        free=np.array(free, dtype=np.int64),
        size=size,
        charge=float(np.var(problem.y)) if options.incomplete == "charge" else -1.0,
        options=options,
    )


def _choices(problem: Problem, options: SearchOptions) -> tuple[tuple[int, ...], list[int]]:
    check_unique("subset search, include", "task", options.include)
    fixed = problem.positions(options.include)
    barred = set(problem.positions([name for name in options.exclude if name not in problem.left_out]))
    within = options.within
    allowed = range(len(problem.tasks)) if within is None else problem.positions(tuple(within))
    both = barred.intersection(fixed)
    if both:
        raise ArcadeMarkError(f"subset search: {problem.tasks[min(both)]!r} is to be included and excluded")
    return fixed, sorted(set(allowed) - barred - set(fixed))


def fewest_cases(size: int, folds: int) -> int:
    """Return the least number of cases with which each fold has one, and each training set at least ``size``."""
    n = max(folds, size)
    while n - -(-n // folds) < size:
        n += 1
    return n
