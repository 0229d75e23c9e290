"""The best few tasks: exact search over all subsets of a size (Atari-5, Algorithm 1).

Conventions
-----------
* A subset is evaluated by the mean over folds of the mean squared error on held-out cases, of least squares without
  intercept fitted to the others. Folds consist of the subset's complete cases (`arcademark.subset.problem`).
* A subset with a negative coefficient in the fit to all its complete cases is dropped; with ``nonnegative="nnls"`` no
  fit has negative coefficients.
* Errors that differ by at most a billionth count as equal, and among equals the subset whose tasks come first in the
  problem is better. Errors up to 10⁻¹² of the target's mean square are rounding and count as 0. Results depend neither
  on the number of threads nor on chance.
* A subset with too few complete cases for its folds is inadmissible: each training set needs as many cases as tasks.

Pruning rests on a bound: let c minimise the squares L over all cases, d over all but the held-out ones, and let h be
the squares over the held-out ones. As d is best without them, L(c) − h(c) ≥ L(d) − h(d), and as c is best on all,
L(c) ≤ L(d); together h(c) ≤ h(d). So a held-out fold's error is never below the same fold's error under the fit to all
cases, and the weighted sum over folds is never below the least weighted sum that any coefficients reach. The same is
true if no coefficient may be negative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.subset.fitting import fold_means, held_out, ordinary, without_negative
from arcademark.subset.problem import FOLD_SEED, FOLDS, Problem, Progress, check_unique, fold_of_cases
from arcademark.subset.search.prepared import Certificate, SearchOptions, fewest_cases, prepare, rounding

NEGATIVE = 1e-9
"""A negative coefficient counts as 0 if the norm of its term is at most this share of the target's norm (rounding)."""


@dataclass(frozen=True)
class Candidate:
    """A subset of tasks with its prediction errors.

    Parameters
    ----------
    tasks : tuple of str
        In the problem's order.
    coefficients : tuple of float
        Least-squares coefficients over all complete cases, one per task.
    cv_mse, cv_mae : float
        Means over folds of the mean squared and mean absolute error on held-out cases, in transformed units.
    r2 : float
        1 − ``cv_mse`` / variance of the target over the complete cases.
    log_error : float
        ln 10 × ``cv_mae``: the mean log error of the score, if the target is log₁₀-transformed (Atari-5, App. G).
    n : int
        Number of complete cases.
    standard_error : float
        Standard error of ``cv_mae`` over folds; biased slightly downwards, because training sets overlap.
    """

    tasks: tuple[str, ...]
    coefficients: tuple[float, ...]
    cv_mse: float
    cv_mae: float
    r2: float
    log_error: float
    n: int
    standard_error: float = 0.0


@dataclass(frozen=True)
class SearchResult:
    """The subset of lowest ``cv_mse``, the next best in order, and the certificate."""

    best: Candidate
    runners_up: tuple[Candidate, ...]
    certificate: Certificate


def search(problem: Problem, size: int, *, progress: Progress | None = None, **options: Any) -> SearchResult:
    """Return the subsets of a size with the lowest cross-validated squared error, with a proof.

    ``progress`` is called, in the calling thread, with the numbers of subsets done and in total; ``options`` are fields
    of `arcademark.subset.search.prepared.SearchOptions`.

    Raises
    ------
    UnknownNameError
        If a task is not in the problem.
    ArcadeMarkError
        If a size, a number of folds or a constraint leaves no subset to choose from, or no model is left.
    """
    prepared = prepare(problem, size, SearchOptions(**options))
    from arcademark.subset.search.enumeration import enumerate_subsets  # compiled, so slow to import

    result, certificate = enumerate_subsets(prepared, progress)
    if not result:
        raise ArcadeMarkError(
            f"subset search: none of {certificate.subsets:,} subsets of {size} can be used: "
            f"{certificate.inadmissible:,} have too few algorithms with scores on all their tasks, the others have "
            "negative coefficients; choose another size, fewer folds, or fits without "
            'these (nonnegative="nnls", --set nnls=yes)'
        )
    checked = prepared.options
    folding: Any = {"nonnegative": checked.nonnegative, "folds": checked.folds, "fold_seed": checked.fold_seed}
    best, *others = (evaluate(problem, [problem.tasks[j] for j in subset], **folding) for subset in result)
    return SearchResult(best, tuple(others), certificate)


def evaluate(
    problem: Problem,
    tasks: Sequence[str],
    *,
    nonnegative: Literal["any", "drop", "nnls"] = "any",
    folds: int = FOLDS,
    fold_seed: int | None = FOLD_SEED,
) -> Candidate:
    """Fit and cross-validate one subset, with its tasks in any order.

    Unlike in a search, negative coefficients are kept unless ``nonnegative`` is "nnls". Raises for unknown or repeated
    tasks, and for too few complete cases.
    """
    positions = sorted(problem.positions(tasks))
    check_unique("subset", "task", tasks)
    x, y = problem.sample(positions)
    if not positions or len(y) < fewest_cases(len(positions), folds):
        raise ArcadeMarkError(
            f"{len(y)} algorithms have scores on all of {', '.join(tasks) or 'no task'}, expected at least "
            f"{fewest_cases(len(positions), folds)} for {len(positions)} tasks and {folds} folds"
        )
    solver = without_negative if nonnegative == "nnls" else ordinary
    fold_of = fold_of_cases(len(y), folds, fold_seed)
    errors = y - held_out(x, y, fold_of, solver)
    squares, sizes = fold_means(errors**2, fold_of), fold_means(np.abs(errors), fold_of)
    variance = float(np.var(y))
    weights = solver(x, y)
    lengths = np.sqrt(np.sum(x**2, axis=0))
    weights = np.where((weights < 0) & (-weights * lengths <= NEGATIVE * np.sqrt(y @ y)), 0.0, weights)
    error = float(squares.mean())
    error = error if error > rounding(problem.y) else 0.0
    return Candidate(
        tasks=tuple(problem.tasks[j] for j in positions),
        coefficients=tuple(weights.tolist()),
        cv_mse=error,
        cv_mae=float(sizes.mean()),
        r2=1.0 - error / variance if variance > 0 else math.nan,
        log_error=math.log(10.0) * float(sizes.mean()),
        n=len(y),
        standard_error=float(sizes.std(ddof=1)) / math.sqrt(folds),
    )


def r2_of_all(problem: Problem, candidate: Candidate) -> float:
    """Return R² over all of the problem's algorithms, where those that are left out count as predicted by the mean.

    With missing scores, errors over complete cases favour large subsets, which leave out algorithms that are hard to
    predict; ``incomplete="charge"`` ranks by this R²: n / N (1 − ``cv_mse`` / variance), with the variance of the
    target over all N algorithms. It is NaN if the target does not vary.
    """
    variance, share = float(np.var(problem.y)), candidate.n / len(problem.y)
    return share * (1.0 - candidate.cv_mse / variance) if variance > 0 else float("nan")
