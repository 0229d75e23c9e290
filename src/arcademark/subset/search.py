"""The best few tasks: exact search over all subsets of a size (Atari-5, Algorithm 1).

Conventions
-----------
* A subset is judged by the mean over folds of the mean squared error on the held-out cases, of least squares without
  intercept fitted to the others. Folds are made of the subset's complete cases (`arcademark.subset.problem`).
* A subset whose coefficients, fitted to all its complete cases, are negative anywhere is dropped, or with
  ``nonnegative="nnls"`` every fit is made without negative coefficients.
* Errors that differ by no more than a billionth count as equal, and of equals the subset whose tasks come first in the
  problem is better. Results depend neither on the number of threads nor on luck.
* A subset with too few complete cases for its folds is inadmissible: each training set needs as many cases as tasks.

Why a subset may be pruned: let c minimise the squares L over all cases, d over all but the held-out ones, and let h be
the squares over the held-out ones. As d is best without them, L(c) − h(c) ≥ L(d) − h(d), and as c is best on all,
L(c) ≤ L(d); together h(c) ≤ h(d). So a held-out fold's error is never below the same fold's error under the fit to all
cases, and the sum over folds, each weighted as the mean over folds does, is never below the least sum so weighted that
any coefficients reach. That holds under the condition that no coefficient is negative, too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.subset import kernels
from arcademark.subset.problem import FOLD_SEED, FOLDS, Floats, Problem, fold_of_cases

Nonnegative: TypeAlias = Literal["drop", "nnls"]
Progress: TypeAlias = Callable[[int, int], None]
"""Called with how many subsets have been dealt with, and how many there are."""

_CHUNK = 100_000
"""Subsets that a thread is given at a time."""


@dataclass(frozen=True)
class Candidate:
    """A subset of tasks and how well it predicts.

    Parameters
    ----------
    tasks : tuple of str
        In the problem's order.
    coefficients : tuple of float
        Of least squares over all complete cases, one a task.
    cv_mse, cv_mae : float
        Means over folds of the mean squared and mean absolute error on held-out cases, in transformed units.
    r2 : float
        1 − ``cv_mse`` / variance of the target over the complete cases.
    relative_error : float
        ln 10 × ``cv_mae``: what the absolute error means for the score itself, as a fraction, where the target is
        log₁₀-transformed (Atari-5, Appendix G); without meaning for other transforms.
    n : int
        Complete cases.
    """

    tasks: tuple[str, ...]
    coefficients: tuple[float, ...]
    cv_mse: float
    cv_mae: float
    r2: float
    relative_error: float
    n: int


@dataclass(frozen=True)
class Certificate:
    """What was done about every subset.

    Parameters
    ----------
    subsets : int
        How many there are, under the constraints.
    evaluated : int
        Cross-validated, at least until they were known to be worse than the listed ones.
    pruned : int
        Left out because a bound proves them to be worse than the listed ones.
    inadmissible : int
        With too few complete cases.
    audited : int
        Pruned ones that were cross-validated nonetheless, to check the bound.
    violations : int
        Audited ones whose error is below what the bound said; 0 if the bound is right.
    gap : float
        By what share of its error the best could at most be beaten by a subset not evaluated: 0 if the search is
        complete and no audit failed, else infinite.
    """

    subsets: int
    evaluated: int
    pruned: int
    inadmissible: int
    audited: int
    violations: int
    gap: float

    @property
    def holds(self) -> bool:
        """Whether the result is proven."""
        return self.gap == 0.0


@dataclass(frozen=True)
class SearchResult:
    """The best subset, the next best, and the proof.

    Parameters
    ----------
    best : Candidate
        Lowest ``cv_mse``.
    runners_up : tuple of Candidate
        The next best, in order.
    certificate : Certificate
        What was done about every subset.
    """

    best: Candidate
    runners_up: tuple[Candidate, ...]
    certificate: Certificate


def search(
    problem: Problem,
    size: int,
    *,
    include: Sequence[str] = (),
    exclude: Collection[str] = (),
    within: Collection[str] | None = None,
    top: int = 10,
    nonnegative: Nonnegative = "drop",
    folds: int = FOLDS,
    fold_seed: int | None = FOLD_SEED,
    minimum_cases: int = 0,
    bounds: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SearchResult:
    """Find the subsets of a size with the lowest cross-validated squared error, and prove that they are.

    Parameters
    ----------
    problem : Problem
        What to predict from what.
    size : int
        Tasks of a subset.
    include : sequence of str, optional
        Tasks that every subset must have.
    exclude : collection of str, optional
        Tasks that none may have.
    within : collection of str, optional
        The only tasks to choose from; all of the problem's if None.
    top : int, optional
        How many subsets to list.
    nonnegative : {"drop", "nnls"}, optional
        Drop models with a negative coefficient, as the paper does, or fit every model without.
    folds : int, optional
        Folds of the cross-validation.
    fold_seed : int or None, optional
        What cases are shuffled with before they are cut into folds; None does not shuffle.
    minimum_cases : int, optional
        Fewest complete cases of a subset, beyond what the folds need.
    bounds : bool, optional
        Whether to leave out what a bound proves to be worse; the result is the same.
    threads : int, optional
        As many as there are processors if None.
    progress : callable, optional
        Told how far the search is, from the calling thread.

    Returns
    -------
    SearchResult

    Raises
    ------
    UnknownNameError
        Where a task is not in the problem.
    ArcadeMarkError
        Where a size, a number of folds or a constraint leaves nothing to choose from, or no model is left.
    """
    question = _question(problem, size, include, exclude, within, folds, fold_seed, minimum_cases, nonnegative, top)
    found, certificate = _search_each(question, bounds, threads or os.cpu_count() or 1, progress)
    if not found:
        raise ArcadeMarkError(
            f"subset search: none of {certificate.subsets:,} subsets of {size} can be used: {certificate.inadmissible:,} "
            "have too few algorithms with scores on all their tasks, the others have negative coefficients; ask for "
            'another size, for fewer folds, or for nonnegative="nnls"'
        )
    candidates = [
        evaluate(problem, [problem.tasks[j] for j in subset], nonnegative=nonnegative, folds=folds, fold_seed=fold_seed)
        for subset in found
    ]
    return SearchResult(candidates[0], tuple(candidates[1:]), certificate)


def evaluate(
    problem: Problem,
    tasks: Sequence[str],
    *,
    nonnegative: Literal["any", "drop", "nnls"] = "any",
    folds: int = FOLDS,
    fold_seed: int | None = FOLD_SEED,
) -> Candidate:
    """Fit and cross-validate one subset, from the rows.

    Parameters
    ----------
    problem, folds, fold_seed
        As for `search`.
    tasks : sequence of str
        The subset, in any order.
    nonnegative : {"any", "drop", "nnls"}, optional
        Unlike in a search, negative coefficients are kept unless all fits are to be made without ("nnls").

    Raises
    ------
    UnknownNameError
        Where a task is not in the problem.
    ArcadeMarkError
        Where tasks repeat, or their complete cases are too few.
    """
    positions = sorted(problem.positions(tasks))
    _check_unique("subset", tasks)
    x, y = problem.sample(positions)
    if not positions or len(y) < _fewest_cases(len(positions), folds):
        raise ArcadeMarkError(
            f"{len(y)} algorithms have scores on all of {', '.join(tasks) or 'no task'}, expected at least "
            f"{_fewest_cases(len(positions), folds)} for {len(positions)} tasks and {folds} folds"
        )
    fit = _fit_nonnegative if nonnegative == "nnls" else _fit
    fold_of = fold_of_cases(len(y), folds, fold_seed)
    squares, sizes = np.empty(folds), np.empty(folds)
    for fold in range(folds):
        held = fold_of == fold
        errors = y[held] - x[held] @ fit(x[~held], y[~held])
        squares[fold], sizes[fold] = np.mean(errors**2), np.mean(np.abs(errors))
    variance = float(np.var(y))
    return Candidate(
        tasks=tuple(problem.tasks[j] for j in positions),
        coefficients=tuple(fit(x, y).tolist()),
        cv_mse=float(squares.mean()),
        cv_mae=float(sizes.mean()),
        r2=1.0 - float(squares.mean()) / variance if variance > 0 else math.nan,
        relative_error=math.log(10.0) * float(sizes.mean()),
        n=len(y),
    )


@dataclass(frozen=True, eq=False)
class _Question:
    """A search, checked: the target is the last row of ``scores``, shape (tasks + 1, algorithms)."""

    scores: Floats
    fold_table: NDArray[np.int64]
    floor: int
    fixed: NDArray[np.int64]
    free: NDArray[np.int64]
    size: int
    sign: int
    top: int

    @property
    def choose(self) -> int:
        return self.size - len(self.fixed)

    @property
    def subsets(self) -> int:
        return math.comb(len(self.free), self.choose)


def _question(
    problem: Problem,
    size: int,
    include: Sequence[str],
    exclude: Collection[str],
    within: Collection[str] | None,
    folds: int,
    fold_seed: int | None,
    minimum_cases: int,
    nonnegative: Nonnegative,
    top: int,
) -> _Question:
    if nonnegative not in get_args(Nonnegative):
        raise ArcadeMarkError(f'subset search: nonnegative is {nonnegative!r}, expected "drop" or "nnls"')
    rows = len(problem.algorithms)
    if not 2 <= folds <= rows:
        raise ArcadeMarkError(f"subset search: {folds} folds of {rows} algorithms; expected from 2 to {rows} folds")
    if top < 1:
        raise ArcadeMarkError(f"subset search: {top} subsets to be listed, expected 1 or more")
    _check_unique("include", include)
    fixed = problem.positions(include)
    barred = set(problem.positions(tuple(exclude)))
    allowed = range(len(problem.tasks)) if within is None else problem.positions(tuple(within))
    both = barred.intersection(fixed)
    if both:
        raise ArcadeMarkError(f"subset search: {problem.tasks[min(both)]!r} is to be included and excluded")
    free = sorted(set(allowed) - barred - set(fixed))
    if not 1 <= size or not len(fixed) <= size <= len(fixed) + len(free):
        raise ArcadeMarkError(
            f"subset search: size {size}, expected from {max(1, len(fixed))} to {len(fixed) + len(free)}: {len(fixed)} "
            f"tasks are to be included and {len(free)} more can be chosen"
        )
    floor = max(minimum_cases, _fewest_cases(size, folds))
    if floor > rows:
        raise ArcadeMarkError(
            f"subset search: {rows} algorithms, expected at least {floor} for subsets of {size} and {folds} folds"
        )
    table = np.zeros((rows + 1, rows), dtype=np.int64)
    for n in range(floor, rows + 1):
        table[n, :n] = fold_of_cases(n, folds, fold_seed)
    return _Question(
        scores=np.ascontiguousarray(np.vstack([problem.X.T, problem.y])),
        fold_table=table,
        floor=floor,
        fixed=np.array(fixed, dtype=np.int64),
        free=np.array(free, dtype=np.int64),
        size=size,
        sign=kernels.DROP if nonnegative == "drop" else kernels.CONSTRAIN,
        top=top,
    )


def _search_each(
    question: _Question, bounds: bool, threads: int, progress: Progress | None
) -> tuple[list[tuple[int, ...]], Certificate]:
    """Cross-validate every subset."""
    total = question.subsets
    lists = (np.full(question.top, np.inf), np.zeros((question.top, question.size), np.int64))
    evaluated = inadmissible = 0

    def work(first: int) -> tuple[Floats, NDArray[np.int64], int, int]:
        errors, subsets = np.full(question.top, np.inf), np.zeros((question.top, question.size), np.int64)
        start = np.array(_combination(first, len(question.free), question.choose), dtype=np.int64)
        done = kernels.search_each(
            question.scores, question.fold_table, question.floor, question.fixed, question.free, start,
            min(_CHUNK, total - first), question.sign, np.inf, bounds, errors, subsets,
        )  # fmt: skip
        return errors, subsets, *done

    for errors, subsets, some, bad in _in_threads(work, range(0, total, _CHUNK), threads):
        evaluated, inadmissible = evaluated + some, inadmissible + bad
        for error, subset in zip(errors, subsets, strict=True):
            kernels.keep(*lists, error, subset)
        if progress is not None:
            progress(evaluated + inadmissible, total)
    complete = evaluated + inadmissible == total
    certificate = Certificate(total, evaluated, 0, inadmissible, 0, 0, 0.0 if complete else math.inf)
    return [tuple(s.tolist()) for e, s in zip(*lists, strict=True) if np.isfinite(e)], certificate


def _in_threads(work, items: Sequence[int], threads: int) -> Iterator:  # type: ignore[no-untyped-def,type-arg]
    if threads == 1 or len(items) == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            for future in as_completed([pool.submit(work, item) for item in items]):
                yield future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _combination(rank: int, n: int, k: int) -> list[int]:
    """Return the combination of k of 0 … n − 1 that has so many before it in lexicographic order."""
    chosen, item = [], 0
    for left in range(k, 0, -1):
        while rank >= math.comb(n - item - 1, left - 1):
            rank -= math.comb(n - item - 1, left - 1)
            item += 1
        chosen.append(item)
        item += 1
    return chosen


def _fewest_cases(size: int, folds: int) -> int:
    n = max(folds, size)
    while n - -(-n // folds) < size:
        n += 1
    return n


def _fit(x: Floats, y: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(x, y, rcond=None)[0])


def _fit_nonnegative(x: Floats, y: Floats) -> Floats:
    from scipy.optimize import nnls

    return np.asarray(nnls(x, y)[0])


def _check_unique(what: str, names: Sequence[str]) -> None:
    repeated = [name for place, name in enumerate(names) if name in names[:place]]
    if repeated:
        raise ArcadeMarkError(f"subset search, {what}: task {repeated[0]!r} is named twice; expected unique names")
