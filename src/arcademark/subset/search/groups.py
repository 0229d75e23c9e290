"""Groups of subsets that lack the same algorithms and so share complete cases and folds.

Algorithms that lack the same tasks are one *class*; what a task, a subset or a group *lacks* is a set of classes, the
bits of a whole number (`arcademark.subset.search.pairs`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_CLASSES = 62
MAX_GROUPS = 20_000

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Classes:
    """Algorithms by what they lack.

    ``of_row`` is each algorithm's class, −1 for the ``complete`` ones, which lack nothing; ``lack`` is what each task
    lacks, ``sizes`` how many algorithms each class has.
    """

    of_row: Integers
    lack: Integers
    sizes: Integers
    complete: int

    def cases(self, lacking: Integers) -> Integers:
        """Return how many complete cases sets of classes leave, shape of ``lacking``."""
        bits = (lacking[..., np.newaxis] >> np.arange(len(self.sizes))) & 1
        return np.asarray(self.complete + self.sizes.sum() - bits @ self.sizes, dtype=np.int64)


def classes(missing: NDArray[np.bool_], tasks: Sequence[int]) -> Classes | None:
    """Sort algorithms by which of some tasks they lack; None if there are more than `MAX_CLASSES` classes.

    ``missing``, shape (algorithms, all tasks), is true where there is no score.
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
    """List what subsets can lack, and count the subsets of each kind; None if there are more than `MAX_GROUPS`.

    Of ``free`` tasks ``choose`` are chosen beside the ``fixed`` ones; subsets need ``floor`` complete cases. Return
    what each group lacks, how many subsets it has, and how many subsets have too few complete cases.
    """
    base = 0
    for task in fixed:
        base |= int(missing.lack[task])
    extra: dict[int, int] = {}
    for task in free:
        lacks = int(missing.lack[task]) & ~base
        extra[lacks] = extra.get(lacks, 0) + 1
    whole = extra.pop(0, 0)
    counts: dict[tuple[int, int], int] = {(base, 0): 1}  # by what is lacking and tasks chosen
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
