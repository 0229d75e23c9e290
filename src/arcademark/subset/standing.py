"""Where a subset stands among all of its size."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from arcademark.errors import ArcadeMarkError
from arcademark.subset.enumeration import enumerate_subsets
from arcademark.subset.kernels import TIE
from arcademark.subset.prepared import prepare
from arcademark.subset.problem import FOLD_SEED, FOLDS, Problem
from arcademark.subset.progress import Progress
from arcademark.subset.search import Candidate, Certificate, evaluate

MOST_AHEAD = 10_000


@dataclass(frozen=True)
class Standing:
    """Where a subset stands.

    Parameters
    ----------
    candidate : Candidate
        The subset.
    rank : int
        1 for the best, by ``cv_mse``; of subsets that tie, those whose tasks come first are ahead.
    loss : float
        By what share of the best one's ``cv_mse`` its own is above.
    ahead : tuple of Candidate
        The best of those ahead, in order.
    certificate : Certificate
        Of the search that counted them.
    """

    candidate: Candidate
    rank: int
    loss: float
    ahead: tuple[Candidate, ...]
    certificate: Certificate


def standing(
    problem: Problem,
    tasks: Sequence[str],
    *,
    include: Sequence[str] = (),
    exclude: Collection[str] = (),
    within: Collection[str] | None = None,
    folds: int = FOLDS,
    fold_seed: int | None = FOLD_SEED,
    list_ahead: int = 10,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Standing:
    """Count the subsets of its size that are better than a given one, with proof.

    Parameters
    ----------
    problem : Problem
        What to predict from what.
    tasks : sequence of str
        The subset; without negative coefficients.
    include, exclude, within, folds, fold_seed, threads, progress
        As for `arcademark.subset.search.search`.
    list_ahead : int, optional
        How many of those ahead to list.

    Raises
    ------
    UnknownNameError
        Where a task is not in the problem.
    ArcadeMarkError
        Where the subset is not among those searched, or more than `MOST_AHEAD` are ahead of it.
    """
    mine = evaluate(problem, tasks, folds=folds, fold_seed=fold_seed)
    subset = problem.positions(mine.tasks)
    prepared = prepare(
        problem, len(tasks), include=include, exclude=exclude, within=within, folds=folds, fold_seed=fold_seed,
        top=MOST_AHEAD,
    )  # fmt: skip
    limit = mine.cv_mse * (1.0 + TIE)
    found, counts = enumerate_subsets(prepared, True, threads or os.cpu_count() or 1, progress, limit)
    if subset not in found:
        raise ArcadeMarkError(
            f"{', '.join(mine.tasks)}: more than {MOST_AHEAD:,} subsets are ahead of it, or it is not among those "
            "searched: it needs all tasks to be included, none to be excluded, and no negative coefficient"
        )
    rank = 1 + found.index(subset)
    names = [[problem.tasks[j] for j in other] for other in found[: min(list_ahead, rank - 1)]]
    ahead = tuple(evaluate(problem, other, folds=folds, fold_seed=fold_seed) for other in names)
    first = evaluate(problem, [problem.tasks[j] for j in found[0]], folds=folds, fold_seed=fold_seed)
    certificate = Certificate.of(prepared.subsets, counts)
    loss = mine.cv_mse / first.cv_mse - 1.0 if first.cv_mse else (math.inf if mine.cv_mse else 0.0)
    return Standing(mine, rank, loss, ahead, certificate)
