"""The subset that the near-best agree on most: a choice that owes less to luck than the best one.

Conventions
-----------
* Among millions of subsets the best is the luckiest of many that are about as good; leave a paper out, and another one
  wins. What the near-best have in common is less luck: the `NEAR_BEST` best subsets are listed, exactly, for each of
  `SHUFFLES` shuffles of the folds; a task counts as often as it is listed, and of the listed subsets the one whose
  tasks count most is chosen. (Tasks by the share of the good models that have them: Barbieri and Berger 2004, "Optimal
  predictive model selection".)
* Unless asked otherwise, subsets are listed by the error over *all* algorithms, incomplete cases charged
  (`arcademark.subset.search`), so that none gets to the front by leaving out algorithms.
* The model is fitted to the complete cases by least squares with a constant and without negative coefficients: a better
  score never predicts less.
* Both numbers were fixed on the Atari-5 training table with five games; other sizes, targets and numbers are compared
  in ``docs/subsets.md``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.subset.enumeration import Counts, enumerate_subsets
from arcademark.subset.prepared import Incomplete, Nonnegative, PreparedSearch, prepare
from arcademark.subset.problem import FOLD_SEED, FOLDS, Problem
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
    include: Sequence[str] = (),
    exclude: Collection[str] = (),
    within: Collection[str] | None = None,
    top: int = 10,
    nonnegative: Nonnegative = "drop",
    folds: int = FOLDS,
    fold_seed: int | None = FOLD_SEED,
    incomplete: Incomplete = "charge",
    near_best: int = NEAR_BEST,
    shuffles: int = SHUFFLES,
    bounds: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SearchResult:
    """Find the subset of a size that the near-best agree on most.

    Parameters
    ----------
    problem, size, include, exclude, within, nonnegative, folds, bounds, threads, progress
        As for `arcademark.subset.search.search`.
    top : int, optional
        How many subsets to tell of.
    fold_seed : int or None, optional
        Of the first shuffle; the others' are `APART` from it. None does not shuffle: there is one list.
    incomplete : {"charge", "leave out"}, optional
        As for `arcademark.subset.search.search`, by default the other way.
    near_best : int, optional
        Subsets listed for each shuffle; fewer where there are few subsets: see `NEAR_BEST`.
    shuffles : int, optional

    Returns
    -------
    SearchResult
        The chosen subset and, as runners-up, those that the near-best agree on next, with their constants; the errors
        are of models with a constant, cross-validated with ``fold_seed``. The certificate is of all lists together: if
        it holds, no subset that is not listed is better than one that is.

    Raises
    ------
    UnknownNameError, ArcadeMarkError
        As `arcademark.subset.search.search`.
    """
    if near_best < 1 or shuffles < 1:
        raise ArcadeMarkError(f"consensus of {near_best} subsets in {shuffles} shuffles; expected 1 or more of each")
    seeds = [None] if fold_seed is None else [fold_seed + APART * place for place in range(shuffles)]
    lists: list[list[Subset]] = []
    counts, subsets = Counts(0, 0, 0), 0
    for place, seed in enumerate(seeds):
        prepared = _prepared(
            problem, size, near_best, include=include, exclude=exclude, within=within, nonnegative=nonnegative,
            folds=folds, fold_seed=seed, incomplete=incomplete,
        )  # fmt: skip
        told = None if progress is None else _part(progress, place, len(seeds))
        listed, some = enumerate_subsets(prepared, bounds, threads or os.cpu_count() or 1, told)
        lists.append(listed)
        counts, subsets = counts + some, subsets + prepared.subsets
    certificate = Certificate.of(subsets, counts)
    agreed = most_agreed(lists, len(problem.tasks))[:top]
    if not agreed:
        check_bounds(certificate)
        raise ArcadeMarkError(
            f"subset search: none of the subsets of {size} can be used: they have too few algorithms with scores on "
            "all their tasks, or negative coefficients; ask for another size, for fewer folds, or for fits without any "
            '(nonnegative="nnls", --nnls)'
        )
    candidates = [
        evaluate(
            problem, [problem.tasks[j] for j in subset], nonnegative="nnls", folds=folds, fold_seed=fold_seed,
            constant=True,
        )
        for subset in agreed
    ]  # fmt: skip
    return SearchResult(candidates[0], tuple(candidates[1:]), certificate)


def most_agreed(lists: Sequence[Sequence[Subset]], tasks: int) -> list[Subset]:
    """Order listed subsets by how often their tasks are listed.

    Parameters
    ----------
    lists : sequence of sequence of tuple of int
        Each best first.
    tasks : int
        How many there are.

    Returns
    -------
    list of tuple of int
        Each once. Of equals the one that is listed first is first.
    """
    count = np.zeros(tasks, dtype=np.int64)
    for listed in lists:
        for subset in listed:
            count[list(subset)] += 1
    different = dict.fromkeys(subset for listed in lists for subset in listed)
    return sorted(different, key=lambda subset: -int(count[list(subset)].sum()))


def _prepared(problem: Problem, size: int, near_best: int, **options: object) -> PreparedSearch:
    """Ask for as many of the best as are to be listed, which depends on how many there are."""
    few = prepare(problem, size, top=1, **options)  # type: ignore[arg-type]
    listed = min(near_best, max(1, few.subsets // NEAR_BEST_SHARE))
    return prepare(problem, size, top=listed, **options)  # type: ignore[arg-type]


def _part(progress: Progress, place: int, parts: int) -> Progress:
    """Return what is told of one of several parts, and tells of the whole."""
    return lambda done, total: progress(place * total + done, parts * total)
