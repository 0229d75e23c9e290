"""The best subset of every size: how much a further task is worth.

Each size is searched for itself; subsets of different sizes need not share a task. With missing scores the curve
flatters large subsets, which leave out algorithms that are hard to predict: ``incomplete="charge"`` chooses as if these
were predicted by no more than the mean, and `r2_of_all` measures any subset so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from arcademark.subset.problem import Problem
from arcademark.subset.progress import Progress
from arcademark.subset.search import Candidate, SearchResult, search


def every_size(
    problem: Problem, sizes: Sequence[int], *, progress: Callable[[int], Progress | None] | None = None, **options: Any
) -> Mapping[int, SearchResult]:
    """Search one size after another for its best subset.

    ``progress`` returns, given a size, what is told how far its search is; options and errors are those of `search`.
    """
    alone = {**options, "top": 1}
    return {size: search(problem, size, progress=progress and progress(size), **alone) for size in sizes}


def r2_of_all(problem: Problem, candidate: Candidate) -> float:
    """Return R² over all of the problem's algorithms, where those that are left out count as predicted by the mean.

    That is n / N (1 − ``cv_mse`` / variance), with the variance of the target over all N algorithms; the charging
    objective ranks by it. NaN where the target does not vary.
    """
    variance, share = float(np.var(problem.y)), candidate.n / len(problem.y)
    return share * (1.0 - candidate.cv_mse / variance) if variance > 0 else float("nan")
