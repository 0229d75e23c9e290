"""Where a subset stands among all of its size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from arcademark.errors import ArcadeMarkError
from arcademark.subset.enumeration import enumerate_subsets
from arcademark.subset.kernels import TIE
from arcademark.subset.prepared import SearchOptions, prepare
from arcademark.subset.problem import Problem
from arcademark.subset.progress import Progress
from arcademark.subset.search import Candidate, Certificate, evaluate

MOST_AHEAD = 10_000


@dataclass(frozen=True)
class Standing:
    """A subset's rank, 1 for the best; of subsets that tie, those whose tasks come first are ahead.

    ``loss`` is by what share of the best one's ``cv_mse`` its own is above; ``ahead`` are the best of those ahead, in
    order.
    """

    candidate: Candidate
    rank: int
    loss: float
    ahead: tuple[Candidate, ...]
    certificate: Certificate


def standing(
    problem: Problem, tasks: Sequence[str], *, list_ahead: int = 10, progress: Progress | None = None, **options: Any
) -> Standing:
    """Count the subsets of its size that are better than a given one without negative coefficients, with proof.

    ``list_ahead`` of those ahead are listed; problem, progress, options and errors are those of
    `arcademark.subset.search.search`. It is refused if the subset is not among those searched, or more than
    `MOST_AHEAD` are ahead of it.
    """
    asked = SearchOptions(**options)

    def judged(names: Sequence[str]) -> Candidate:
        return evaluate(problem, names, folds=asked.folds, fold_seed=asked.fold_seed)

    mine = judged(tasks)
    subset = problem.positions(mine.tasks)
    prepared = prepare(problem, len(tasks), replace(asked, top=MOST_AHEAD))
    found, counts = enumerate_subsets(prepared, progress, mine.cv_mse * (1.0 + TIE))
    if subset not in found:
        raise ArcadeMarkError(
            f"{', '.join(mine.tasks)}: more than {MOST_AHEAD:,} subsets are ahead of it, or it is not among those "
            "searched: it needs all tasks to be included, none to be excluded, and no negative coefficient"
        )
    rank = 1 + found.index(subset)
    first, *ahead = (judged([problem.tasks[j] for j in other]) for other in found[: max(1, min(list_ahead, rank - 1))])
    loss = mine.cv_mse / first.cv_mse - 1.0 if first.cv_mse else (math.inf if mine.cv_mse else 0.0)
    listed = (first, *ahead)[: min(list_ahead, rank - 1)]
    return Standing(mine, rank, loss, listed, Certificate.of(prepared.subsets, counts))
