"""All subsets of a size: each cross-validated, or left out by a bound.

Work is shared out in the same way whatever the number of threads, and no thread uses what another has found, so counts
and results are the same on any machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import astuple, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.subset.problem import Floats
from arcademark.subset.progress import Progress
from arcademark.subset.search import branches, kernels
from arcademark.subset.search.groups import Classes, Groups, classes, groups
from arcademark.subset.search.prepared import PreparedSearch

BOUND_MARGIN = 1.0 - 1e-7
"""What bounds are multiplied by, against rounding."""

AUDIT_EVERY = 1_000
"""Of so many rows of pairs, one pruned pair is cross-validated nonetheless, to check the bound."""

AUDIT_BRANCH_EVERY = 100
"""Of so many pruned branches, a subset of one is cross-validated nonetheless."""

MOST_SUBSETS = 2**62
"""More can't be counted."""

_CHUNK = 100_000
"""Subsets that a thread is given at a time."""

_KEPT = 6
"""Subsets that are extended in search of a good error to begin with."""


@dataclass(frozen=True)
class Counts:
    """What was done about how many subsets; the fields are those of `arcademark.subset.search.search.Certificate`."""

    evaluated: int
    pruned: int
    inadmissible: int
    audited: int = 0
    violations: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))


_FEWEST = 3
"""Tasks to choose from which on bounds save time."""

_List: TypeAlias = tuple[Floats, NDArray[np.int64], float]
_Found: TypeAlias = tuple[_List, Counts]


def enumerate_subsets(prepared: PreparedSearch, progress: Progress | None) -> tuple[list[tuple[int, ...]], Counts]:
    """Return the tasks of the best subsets, best first, and what was done about all.

    Raises
    ------
    ArcadeMarkError
        Where there are more subsets than can be counted.
    """
    if prepared.subsets >= MOST_SUBSETS:
        raise ArcadeMarkError(
            f"subset search: {prepared.subsets:.1e} subsets of {prepared.size} are too many; ask for fewer tasks, or "
            "choose from fewer (--exclude)"
        )
    best, counts = _enumerate(prepared, progress)
    return [
        tuple(subset.tolist()) for error, subset in zip(best[0], best[1], strict=True) if np.isfinite(error)
    ], counts


def _enumerate(prepared: PreparedSearch, progress: Progress | None) -> tuple[_List, Counts]:
    if prepared.choose < _FEWEST or not prepared.bounds:
        return _search_each(prepared, progress)
    fixed, free = prepared.fixed.tolist(), prepared.free.tolist()
    missing = classes(np.isnan(prepared.scores[:-1].T), [*fixed, *free])
    grouped = None if missing is None else groups(missing, fixed, free, prepared.choose, prepared.floor)
    if missing is None or grouped is None:
        return _search_each(prepared, progress)
    reached = good_error(prepared)
    best, counts = _search_groups(prepared, missing, grouped, reached, progress)
    missed = best[0][-1] > reached * (1.0 + kernels.TIE) + prepared.nothing
    return best, counts + Counts(0, 0, 0, violations=int(missed))


def _search_groups(
    prepared: PreparedSearch, missing: Classes, grouped: Groups, limit: float, progress: Progress | None
) -> tuple[_List, Counts]:
    columns = np.ascontiguousarray(np.nan_to_num(prepared.scores, nan=0.0).T)
    data = columns, missing.of_row, missing.lack, prepared.fold_table, prepared.charge
    rule = limit, BOUND_MARGIN, AUDIT_EVERY, AUDIT_BRANCH_EVERY

    def work(part: NDArray[np.int64]) -> _Found:
        best = prepared.empty_list()
        counts = branches.search_groups(
            data, prepared.fixed, prepared.free, part, prepared.choose, rule, prepared.constrained, best
        )
        evaluated, pruned, audited, violations = (int(count) for count in counts[:4])
        return best, Counts(evaluated, pruned, 0, audited, violations)

    order = np.argsort(-grouped.subsets, kind="stable")
    parts = [grouped.lacking[order[part : part + 1]] for part in range(len(order))]
    return _merge(prepared, work, parts, progress, Counts(0, 0, grouped.inadmissible))


def _search_each(prepared: PreparedSearch, progress: Progress | None) -> tuple[_List, Counts]:
    total = prepared.subsets

    def work(first: int) -> _Found:
        best = prepared.empty_list()
        start = np.array(_combination(first, len(prepared.free), prepared.choose), dtype=np.int64)
        evaluated, inadmissible = kernels.search_each(
            prepared.scores, prepared.fold_table, prepared.floor, prepared.fixed, prepared.free, start,
            min(_CHUNK, total - first), prepared.constrained, prepared.charge, best,
        )  # fmt: skip
        return best, Counts(evaluated, 0, inadmissible)

    return _merge(prepared, work, range(0, total, _CHUNK), progress, Counts(0, 0, 0))


def _merge(
    prepared: PreparedSearch,
    work: Callable[[Any], _Found],
    items: Sequence[Any],
    progress: Progress | None,
    counts: Counts,
) -> tuple[_List, Counts]:
    best = prepared.empty_list()
    for (errors, subsets, _), some in _in_threads(work, items, prepared.threads):
        counts += some
        for error, subset in zip(errors, subsets, strict=True):
            kernels.keep(*best, error, subset)
        if progress is not None:
            progress(counts.evaluated + counts.pruned + counts.inadmissible, prepared.subsets)
    return best, counts


def _in_threads(work: Callable[[Any], _Found], items: Sequence[Any], threads: int) -> Iterator[_Found]:
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


def good_error(prepared: PreparedSearch) -> float:
    """Find an error that as many subsets reach as are to be listed; infinity where no such error is found.

    The best few subsets are each extended by every task, again and again, until they are large enough; then tasks of
    the best one are exchanged one at a time as long as that helps.
    """
    listed: dict[tuple[int, ...], float] = {}
    kept: dict[tuple[int, ...], float] = {(): 0.0}
    for size in range(1, prepared.choose + 1):
        extended: dict[tuple[int, ...], float] = {}
        for subset in kept:
            extended.update(_extensions(prepared, subset))
        best = sorted((error, subset) for subset, error in extended.items())
        kept = {subset: error for error, subset in best[:_KEPT]}
        if size == prepared.choose:
            listed.update(extended)
    for subset in list(kept)[:1]:
        _exchange(prepared, subset, listed)
    errors = sorted(listed.values())
    return errors[prepared.top - 1] if len(errors) >= prepared.top else math.inf


def _exchange(prepared: PreparedSearch, subset: tuple[int, ...], listed: dict[tuple[int, ...], float]) -> None:
    """Exchange one task after another for the best, until none is exchanged any more; enter what is tried in a list."""
    place = idle = 0
    while idle < len(subset):
        tried = _extensions(prepared, subset[:place] + subset[place + 1 :])
        for other, error in tried.items():  # it may be another by rounding than when it was first tried
            listed.setdefault(other, error)
        best = min(tried, key=lambda other: (listed[other], other), default=subset)
        better = listed.get(best, math.inf) < listed.get(subset, math.inf) * (1.0 - kernels.TIE)
        idle = 0 if better else idle + 1
        subset = best if better else subset
        place = (place + 1) % len(subset)


def _extensions(prepared: PreparedSearch, chosen: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """Add each further task to the chosen ones; return the best and their errors."""
    fixed = np.array([*prepared.fixed.tolist(), *chosen], dtype=np.int64)
    free = np.setdiff1d(prepared.free, fixed)
    top = min(len(free), prepared.top + _KEPT)
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
    """Return the combination of k of 0 … n − 1 that has so many before it in lexicographic order."""
    chosen, item = [], 0
    for left in range(k, 0, -1):
        while rank >= math.comb(n - item - 1, left - 1):
            rank -= math.comb(n - item - 1, left - 1)
            item += 1
        chosen.append(item)
        item += 1
    return chosen
