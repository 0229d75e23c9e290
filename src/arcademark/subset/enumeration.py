"""All subsets of a size: each cross-validated, or left out by a bound.

Work is shared out in the same way whatever the number of threads, and no thread uses what another has found, so counts
and results are the same on any machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arcademark.subset import kernels, pairs
from arcademark.subset.groups import Classes, Groups, classes, groups
from arcademark.subset.problem import Floats
from arcademark.subset.question import Question

Progress: TypeAlias = Callable[[int, int], None]
"""Called with how many subsets have been dealt with, and how many there are."""

BOUND_MARGIN = 1.0 - 1e-7
"""What bounds are multiplied by, against rounding."""

AUDIT_EVERY = 1_000
"""Of so many rows of pairs, one pruned pair is cross-validated nonetheless, to check the bound."""

_CHUNK = 100_000
"""Subsets that a thread is given at a time."""

_PARTS = 16
"""Parts that groups are shared out to."""

_Best: TypeAlias = list[tuple[float, tuple[int, ...]]]


@dataclass(frozen=True)
class Counts:
    """What was done about how many subsets; the fields are those of `arcademark.subset.search.Certificate`."""

    evaluated: int
    pruned: int
    inadmissible: int
    audited: int = 0
    violations: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.evaluated + other.evaluated,
            self.pruned + other.pruned,
            self.inadmissible + other.inadmissible,
            self.audited + other.audited,
            self.violations + other.violations,
        )


_Found: TypeAlias = tuple[Floats, NDArray[np.int64], Counts]


def enumerate_subsets(
    question: Question, bounds: bool, threads: int, progress: Progress | None
) -> tuple[list[tuple[int, ...]], Counts]:
    """Find the best subsets.

    Parameters
    ----------
    question : Question
        What is searched.
    bounds : bool
        Whether what a bound proves to be worse may be left out.
    threads : int
        How many.
    progress : callable or None
        Told how far the search is.

    Returns
    -------
    (list of tuple of int, Counts)
        Tasks of the best subsets, best first, and what was done about all.
    """
    if bounds and question.choose >= 2:
        tasks = [*question.fixed.tolist(), *question.free.tolist()]
        found = classes(np.isnan(question.scores[:-1].T), tasks)
        if found is not None:
            grouped = groups(found, question.fixed.tolist(), question.free.tolist(), question.choose, question.floor)
            if grouped is not None:
                return _search_groups(question, found, grouped, threads, progress)
    return _search_each(question, bounds, threads, progress)


def _search_groups(
    question: Question, found: Classes, grouped: Groups, threads: int, progress: Progress | None
) -> tuple[list[tuple[int, ...]], Counts]:
    columns = np.ascontiguousarray(np.nan_to_num(question.scores, nan=0.0).T)
    free = question.free[np.argsort(found.lack[question.free] == 0, kind="stable")]
    limit = good_error(question)

    def work(part: NDArray[np.int64]) -> _Found:
        errors, subsets = question.empty_list()
        counts = pairs.search_groups(
            columns, found.of_row, found.lack, question.fold_table, question.fixed, free, part, question.choose,
            question.sign, limit, BOUND_MARGIN, AUDIT_EVERY, errors, subsets,
        )  # fmt: skip
        evaluated, pruned, audited, violations = (int(count) for count in counts[:4])
        return errors, subsets, Counts(evaluated, pruned, 0, audited, violations)

    order = np.argsort(-grouped.subsets, kind="stable")
    parts = [grouped.lacking[order[part::_PARTS]] for part in range(min(_PARTS, len(order)))]
    return _merge(question, work, parts, threads, progress, Counts(0, 0, grouped.inadmissible))


def _search_each(
    question: Question, bounds: bool, threads: int, progress: Progress | None
) -> tuple[list[tuple[int, ...]], Counts]:
    total = question.subsets

    def work(first: int) -> _Found:
        errors, subsets = question.empty_list()
        start = np.array(_combination(first, len(question.free), question.choose), dtype=np.int64)
        evaluated, inadmissible = kernels.search_each(
            question.scores, question.fold_table, question.floor, question.fixed, question.free, start,
            min(_CHUNK, total - first), question.sign, np.inf, bounds, errors, subsets,
        )  # fmt: skip
        return errors, subsets, Counts(evaluated, 0, inadmissible)

    return _merge(question, work, range(0, total, _CHUNK), threads, progress, Counts(0, 0, 0))


def _merge(  # type: ignore[no-untyped-def]
    question: Question, work, items: Sequence, threads: int, progress: Progress | None, counts: Counts  # type: ignore[type-arg]
) -> tuple[list[tuple[int, ...]], Counts]:  # fmt: skip
    best = question.empty_list()
    for errors, subsets, some in _in_threads(work, items, threads):
        counts += some
        for error, subset in zip(errors, subsets, strict=True):
            kernels.keep(*best, error, subset)
        if progress is not None:
            progress(counts.evaluated + counts.pruned + counts.inadmissible, question.subsets)
    return [tuple(subset.tolist()) for error, subset in zip(*best, strict=True) if np.isfinite(error)], counts


def _in_threads(work, items: Sequence, threads: int) -> Iterator:  # type: ignore[no-untyped-def,type-arg]
    if threads == 1 or len(items) <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            for future in as_completed([pool.submit(work, item) for item in items]):
                yield future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def good_error(question: Question) -> float:
    """Find an error that as many subsets reach as are to be listed; infinity where no such error is found.

    Tasks are added one after another, each time the best, and then exchanged as long as that helps.
    """
    listed: dict[tuple[int, ...], float] = {}
    chosen: list[int] = []
    step, idle, current = 0, 0, math.inf
    while idle < question.choose:
        kept = [task for place, task in enumerate(chosen) if place != step % question.choose]
        tried = _extensions(question, kept)
        if not tried:
            break
        if len(kept) + 1 == question.choose:
            listed.update((tuple(sorted((*kept, task))), error) for error, task in tried)
        error, task = tried[0]
        if len(chosen) < question.choose:
            chosen.append(task)
        else:
            idle = 0 if error < current * (1.0 - kernels.TIE) else idle + 1
            chosen[step % question.choose] = task
        current = error
        step += 1
    errors = sorted(listed.values())
    return errors[question.top - 1] if len(errors) >= question.top else math.inf


def _extensions(question: Question, kept: Sequence[int]) -> list[tuple[float, int]]:
    """Return the errors of adding each further task to the fixed and kept ones, lowest first, where there are any."""
    fixed = np.array([*question.fixed.tolist(), *kept], dtype=np.int64)
    free = np.setdiff1d(question.free, fixed)
    top = min(len(free), question.top + 1)
    errors, subsets = np.full(top, np.inf), np.zeros((top, len(fixed) + 1), np.int64)
    kernels.search_each(
        question.scores, question.fold_table, question.floor, fixed, free, np.zeros(1, np.int64), len(free),
        question.sign, np.inf, True, errors, subsets,
    )  # fmt: skip
    return [
        (float(error), int(np.setdiff1d(subset, fixed)[0]))
        for error, subset in zip(errors, subsets, strict=True)
        if np.isfinite(error)
    ]


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
