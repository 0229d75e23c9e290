"""The subset that the near-best agree on most: a choice that owes less to luck than the best one.

Conventions
-----------
* Among millions of subsets the best is the luckiest of many that are about as good. The `NEAR_BEST` best subsets are
  listed, exactly, for each of `SHUFFLES` shuffles of the folds; a task counts as often as it is listed, and of the
  listed subsets the one whose tasks count most is chosen. (Tasks by the share of the good models that have them:
  Barbieri and Berger 2004, "Optimal predictive model selection".)
* Subsets are listed by the error over *all* algorithms, incomplete cases charged, so that none gets to the front by
  leaving out algorithms.
* The model is fitted to the complete cases by least squares with a constant and without negative coefficients: a better
  score never predicts less.
* Both numbers were fixed on the Atari-5 training table with five games; others are compared in ``docs/subsets.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.subset.enumeration import Counts, enumerate_subsets
from arcademark.subset.prepared import SearchOptions, prepare
from arcademark.subset.problem import Problem
from arcademark.subset.progress import Progress
from arcademark.subset.search import Certificate, SearchResult, check_bounds, evaluate

NEAR_BEST = 100
"""Subsets listed for each shuffle, but no more than one in `NEAR_BEST_SHARE` of all."""
NEAR_BEST_SHARE = 100
SHUFFLES = 5
APART = 1000
"""Between the seeds of one choice's shuffles, so that choices with neighbouring seeds share none."""

Subset = tuple[int, ...]


def consensus(
    problem: Problem,
    size: int,
    *,
    near_best: int = NEAR_BEST,
    shuffles: int = SHUFFLES,
    progress: Progress | None = None,
    **options: Any,
) -> SearchResult:
    """Find the subset of a size that the near-best agree on most.

    Parameters
    ----------
    near_best : int, optional
        Subsets listed for each shuffle; fewer where there are few subsets: see `NEAR_BEST`.
    shuffles : int, optional
        Their fold seeds are `APART` from each other; where ``fold_seed`` is None there is one list.
    problem, size, progress, **options
        As for `arcademark.subset.search.search`, but ``incomplete`` is "charge" by default.

    Returns
    -------
    SearchResult
        The chosen subset and, as runners-up, those that the near-best agree on next; the errors are of models with a
        constant, cross-validated with ``fold_seed``. The certificate is of all lists together: if it holds, no subset
        that is not listed is better than one that is.
    """
    if near_best < 1 or shuffles < 1:
        raise ArcadeMarkError(f"consensus of {near_best} subsets in {shuffles} shuffles; expected 1 or more of each")
    asked = SearchOptions(**{"incomplete": "charge", **options})
    first = asked.fold_seed
    seeds = [None] if first is None else [first + APART * place for place in range(shuffles)]
    lists: list[list[Subset]] = []
    counts, subsets = Counts(0, 0, 0), 0
    for place, seed in enumerate(seeds):
        prepared = prepare(problem, size, replace(asked, fold_seed=seed))
        prepared = replace(prepared, top=min(near_best, max(1, prepared.subsets // NEAR_BEST_SHARE)))
        listed, some = enumerate_subsets(prepared, None if progress is None else _part(progress, place, len(seeds)))
        lists.append(listed)
        counts, subsets = counts + some, subsets + prepared.subsets
    certificate = Certificate.of(subsets, counts)
    agreed = most_agreed(lists, len(problem.tasks))[: asked.top]
    if not agreed:
        check_bounds(certificate)
        raise ArcadeMarkError(
            f"subset search: none of the subsets of {size} can be used: they have too few algorithms with scores on "
            "all their tasks, or negative coefficients; ask for another size, for fewer folds, or for fits without any "
            '(nonnegative="nnls", --set nnls=yes)'
        )
    fitted: Any = {"nonnegative": "nnls", "folds": asked.folds, "fold_seed": first, "constant": True}
    best, *others = (evaluate(problem, [problem.tasks[j] for j in subset], **fitted) for subset in agreed)
    return SearchResult(best, tuple(others), certificate)


def most_agreed(lists: Sequence[Sequence[Subset]], tasks: int) -> list[Subset]:
    """Order listed subsets, each once, by how often their tasks are listed; of equals the one listed first is first."""
    count = np.zeros(tasks, dtype=np.int64)
    for listed in lists:
        for subset in listed:
            count[list(subset)] += 1
    different = dict.fromkeys(subset for listed in lists for subset in listed)
    return sorted(different, key=lambda subset: -int(count[list(subset)].sum()))


def _part(progress: Progress, place: int, parts: int) -> Progress:
    """Return what is told of one of several parts, and tells of the whole."""
    return lambda done, total: progress(place * total + done, parts * total)
