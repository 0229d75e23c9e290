"""All subsets of a size: each cross-validated, or left out by a bound.

Work is shared out in the same way whatever the number of threads, and no thread uses what another has found, so counts
and results are the same on any machine.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.subset.problem import Floats
from arcademark.subset.progress import Progress
from arcademark.subset.search import branches, kernels
from arcademark.subset.search.groups import classes, groups
from arcademark.subset.search.prepared import Certificate, PreparedSearch

BOUND_MARGIN = 1.0 - 1e-7
"""What bounds are multiplied by, against rounding."""

MAX_SUBSETS = 2**62
"""More can't be counted."""

_CHUNK = 100_000
"""Subsets that a thread is given at a time."""

_KEPT = 6
"""Subsets that are extended in search of a good error to begin with."""

_FEWEST = 3
"""Tasks to choose from which on bounds save time."""

_List: TypeAlias = tuple[Floats, NDArray[np.int64], float]
_Part: TypeAlias = tuple[_List, int, int]
"""The best, and how many subsets are cross-validated, and have too few complete cases."""


def enumerate_subsets(prepared: PreparedSearch, progress: Progress | None) -> tuple[list[tuple[int, ...]], Certificate]:
    """Return the tasks of the best subsets, best first, and what was done about all.

    Raises
    ------
    ArcadeMarkError
        Where there are more subsets than can be counted.
    """
    total = prepared.subsets
    if total >= MAX_SUBSETS:
        raise ArcadeMarkError(
            f"subset search: {total:.1e} subsets of {prepared.size} are too many; choose fewer tasks, or choose from "
            "fewer (--tasks exclude=…)"
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
    """Search with bounds; None where there are too many groups."""
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
    """Have threads do work on items, of so many subsets each, and put together what they return."""
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
    """Find the errors of good subsets, as many as are to be listed if there are, ascending.

    The best few subsets are each extended by every task, again and again, until they are large enough; then a task of
    the best one is exchanged as long as that helps.
    """
    known: dict[tuple[int, ...], float] = {}
    best: tuple[int, ...] = ()
    kept = [best]

    def extend(subsets: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
        for subset in subsets:
            for other, error in _extensions(prepared, subset).items():  # by rounding it may be another than before
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
    """Add each further task to the chosen ones; return the best and their errors."""
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
    """Return the combination of k of 0 … n − 1 that has so many before it in lexicographic order."""
    chosen, item = [], 0
    for left in range(k, 0, -1):
        while rank >= math.comb(n - item - 1, left - 1):
            rank -= math.comb(n - item - 1, left - 1)
            item += 1
        chosen.append(item)
        item += 1
    return chosen
