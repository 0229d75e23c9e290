"""Search over all subsets of a size: each is cross-validated, or skipped by a bound.

Work is divided in the same way for any number of threads, and no thread uses another's results, so counts and results
are the same on any machine.

With bounds, subsets that lack the same algorithms are searched together, because they share complete cases and folds.
Algorithms that lack the same tasks are one *class*; a task, subset or group *lacks* a set of classes, the bits of an
integer (`arcademark.subset.search.pairs`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.subset.problem import Floats, Progress
from arcademark.subset.search import branches, kernels
from arcademark.subset.search.prepared import Certificate, PreparedSearch

MAX_CLASSES = 62
MAX_GROUPS = 20_000

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Classes:
    """Algorithms by the tasks that they lack.

    ``of_row`` is each algorithm's class, −1 for complete ones, whose number is ``complete``; ``lack`` is the set of
    classes that each task lacks, ``sizes`` the number of algorithms of each class.
    """

    of_row: Integers
    lack: Integers
    sizes: Integers
    complete: int

    def cases(self, lacking: Integers) -> Integers:
        """Return the number of complete cases without these sets of classes, in the shape of ``lacking``."""
        bits = (lacking[..., np.newaxis] >> np.arange(len(self.sizes))) & 1
        return np.asarray(self.complete + self.sizes.sum() - bits @ self.sizes, dtype=np.int64)


def classes(missing: NDArray[np.bool_], tasks: Sequence[int]) -> Classes | None:
    """Group algorithms by the tasks that they lack; None if there are more than `MAX_CLASSES` classes.

    ``missing``, shape (algorithms, all tasks), is True for missing scores.
    """
    relevant = missing[:, list(tasks)]
    patterns, inverse = np.unique(relevant, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    lacks_some = patterns.any(axis=1)
    if np.count_nonzero(lacks_some) > MAX_CLASSES:
        return None
    number = np.where(lacks_some, np.cumsum(lacks_some) - 1, -1)
    of_row = number[inverse]
    lack = np.zeros(missing.shape[1], dtype=np.int64)
    for place, task in enumerate(tasks):
        lack[task] = sum(1 << int(number[p]) for p in np.flatnonzero(patterns[:, place]))
    sizes = np.bincount(of_row[of_row >= 0], minlength=np.count_nonzero(lacks_some))
    return Classes(of_row, lack, sizes.astype(np.int64), int(np.count_nonzero(of_row < 0)))


def groups(
    missing: Classes, fixed: Sequence[int], free: Sequence[int], choose: int, floor: int
) -> tuple[Integers, Integers, int] | None:
    """List the groups of subsets that lack the same classes; None if there are more than `MAX_GROUPS`.

    ``choose`` of the ``free`` tasks are chosen in addition to the ``fixed`` ones; subsets need ``floor`` complete
    cases. Return the set that each group lacks, its number of subsets, and the number of all subsets with too few
    complete cases.
    """
    base = 0
    for task in fixed:
        base |= int(missing.lack[task])
    extra: dict[int, int] = {}
    for task in free:
        lacks = int(missing.lack[task]) & ~base
        extra[lacks] = extra.get(lacks, 0) + 1
    whole = extra.pop(0, 0)
    counts: dict[tuple[int, int], int] = {(base, 0): 1}  # by the lacking set and the number of chosen tasks
    for lacks, tasks in extra.items():
        for (lacking, chosen), ways in list(counts.items()):
            union = lacking | lacks
            for more in range(1, min(tasks, choose - chosen) + 1):
                key = (union, chosen + more)
                counts[key] = counts.get(key, 0) + ways * math.comb(tasks, more)
        if len(counts) > MAX_GROUPS:
            return None
    totals: dict[int, int] = {}
    for (lacking, chosen), ways in counts.items():
        totals[lacking] = totals.get(lacking, 0) + ways * math.comb(whole, choose - chosen)
    totals = {lacking: subsets for lacking, subsets in totals.items() if subsets}
    kinds = np.array(list(totals), dtype=np.int64)
    subsets = np.array(list(totals.values()), dtype=np.int64)
    enough = missing.cases(kinds) >= floor
    return kinds[enough], subsets[enough], int(subsets[~enough].sum())


BOUND_MARGIN = 1.0 - 1e-7
"""Factor of bounds, against rounding."""

MAX_SUBSETS = 2**62
"""Number of subsets from which their count overflows."""

_CHUNK = 100_000
"""Number of subsets that a thread searches at a time."""

_KEPT = 6
"""Number of subsets that are extended in search of a good initial error."""

_FEWEST = 3
"""Number of tasks to choose from which bounds save time."""

_List: TypeAlias = tuple[Floats, NDArray[np.int64], float]
_Part: TypeAlias = tuple[_List, int, int]
"""The best subsets, and the numbers of cross-validated subsets, and of subsets with too few complete cases."""


def enumerate_subsets(prepared: PreparedSearch, progress: Progress | None) -> tuple[list[tuple[int, ...]], Certificate]:
    """Return the tasks of the best subsets, best first, and the certificate.

    Raises
    ------
    ArcadeMarkError
        If there are more subsets than can be counted.
    """
    total = prepared.subsets
    if total >= MAX_SUBSETS:
        raise ArcadeMarkError(
            f"subset search: {total:.1e} subsets of {prepared.size} are too many; choose a smaller size, or exclude "
            "tasks (--tasks exclude=…)"
        )
    known: list[float] = []
    searched = None
    if prepared.choose >= _FEWEST and prepared.options.bounds:
        known = good_errors(prepared)
        searched = _search_groups(prepared, known[-1] if len(known) == prepared.options.top else math.inf, progress)
    best, evaluated, inadmissible = searched or _search_each(prepared, progress)
    violated = any(best[0][: len(known)] > np.array(known) * (1.0 + kernels.TIE) + prepared.nothing)
    listed = [tuple(subset.tolist()) for error, subset in zip(*best[:2], strict=True) if np.isfinite(error)]
    pruned = total - evaluated - inadmissible
    gap = math.inf if violated else 0.0
    return listed, Certificate(total, evaluated, pruned, inadmissible, len(known), int(violated), gap)


def _search_groups(prepared: PreparedSearch, limit: float, progress: Progress | None) -> _Part | None:
    """Search with bounds; None if there are too many groups."""
    fixed, free = prepared.fixed.tolist(), prepared.free.tolist()
    missing = classes(np.isnan(prepared.scores[:-1].T), [*fixed, *free])
    grouped = None if missing is None else groups(missing, fixed, free, prepared.choose, prepared.floor)
    if missing is None or grouped is None:
        return None
    lacking, subsets, inadmissible = grouped
    data = prepared.scores, missing.of_row, missing.lack, prepared.fold_table, prepared.charge
    rule = limit, BOUND_MARGIN

    def work(group: int) -> _Part:
        best, part = prepared.empty_list(), lacking[group : group + 1]
        evaluated = branches.search_groups(
            data, prepared.fixed, prepared.free, part, prepared.choose, rule, prepared.constrained, best
        )
        return best, evaluated, 0

    sizes = {group: int(subsets[group]) for group in np.argsort(-subsets, kind="stable").tolist()}  # the largest first
    return _merge(prepared, work, sizes, progress, inadmissible)


def _search_each(prepared: PreparedSearch, progress: Progress | None) -> _Part:
    total = prepared.subsets

    def work(first: int) -> _Part:
        best = prepared.empty_list()
        start = np.array(_combination(first, len(prepared.free), prepared.choose), dtype=np.int64)
        counts = kernels.search_each(
            prepared.scores, prepared.fold_table, prepared.floor, prepared.fixed, prepared.free, start,
            min(_CHUNK, total - first), prepared.constrained, prepared.charge, best,
        )  # fmt: skip
        return best, *counts

    sizes = {first: min(_CHUNK, total - first) for first in range(0, total, _CHUNK)}
    return _merge(prepared, work, sizes, progress, 0)


def _merge(
    prepared: PreparedSearch,
    work: Callable[[int], _Part],
    sizes: Mapping[int, int],
    progress: Progress | None,
    inadmissible: int,
) -> _Part:
    """Search items in threads and merge the results; ``sizes`` is the number of subsets of each item."""
    best, evaluated, done = prepared.empty_list(), 0, inadmissible
    with ThreadPoolExecutor(prepared.options.threads or os.cpu_count() or 1) as pool:
        try:
            futures = {pool.submit(work, item): size for item, size in sizes.items()}
            for future in as_completed(futures):
                (errors, subsets, _), more, too_few = future.result()
                for error, subset in zip(errors, subsets, strict=True):
                    kernels.keep(*best, error, subset)
                evaluated, inadmissible, done = evaluated + more, inadmissible + too_few, done + futures[future]
                if progress is not None:
                    progress(done, prepared.subsets)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return best, evaluated, inadmissible


def good_errors(prepared: PreparedSearch) -> list[float]:
    """Return the errors of good subsets, ascending, at most as many as are to be listed.

    The best few subsets are repeatedly extended by every task until they are large enough; then tasks of the best one
    are exchanged as long as its error falls.
    """
    known: dict[tuple[int, ...], float] = {}
    best: tuple[int, ...] = ()
    kept = [best]

    def extend(subsets: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
        for subset in subsets:
            for other, error in _extensions(prepared, subset).items():  # an error may differ by rounding from before
                known.setdefault(other, error)
        return sorted(known, key=lambda subset: (known[subset], subset))[:_KEPT]

    for _ in range(prepared.choose):
        known.clear()
        kept = extend(kept)
    while kept and best != kept[0]:
        best = kept[0]
        kept = extend(best[:place] + best[place + 1 :] for place in range(len(best)))
    return sorted(known.values())[: prepared.options.top]


def _extensions(prepared: PreparedSearch, chosen: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """Add each further task to the chosen ones; return the best extensions with their errors."""
    fixed = np.array([*prepared.fixed.tolist(), *chosen], dtype=np.int64)
    free = np.setdiff1d(prepared.free, fixed)
    top = min(len(free), prepared.options.top + _KEPT)
    errors, subsets = np.full(top, np.inf), np.zeros((top, len(fixed) + 1), np.int64)
    best = errors, subsets, prepared.nothing
    kernels.search_each(
        prepared.scores, prepared.fold_table, prepared.floor, fixed, free, np.zeros(1, np.int64), len(free),
        prepared.constrained, prepared.charge, best,
    )  # fmt: skip
    always = set(prepared.fixed.tolist())
    return {
        tuple(task for task in subset if task not in always): float(error)
        for error, subset in zip(errors, subsets.tolist(), strict=True)
        if np.isfinite(error)
    }


def _combination(rank: int, n: int, k: int) -> list[int]:
    """Return the combination of k of 0 … n − 1 with this rank, from 0, in lexicographic order."""
    chosen, item = [], 0
    for left in range(k, 0, -1):
        while rank >= math.comb(n - item - 1, left - 1):
            rank -= math.comb(n - item - 1, left - 1)
            item += 1
        chosen.append(item)
        item += 1
    return chosen
