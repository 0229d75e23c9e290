"""What subsets can reach at best, compiled: bounds from Gram matrices, and how many subsets a bound leaves out.

Conventions
-----------
* A fold-weighted Gram matrix W sums each fold's by 1 / (folds × its cases). Chosen tasks are eliminated from it one
  after another (Gaussian elimination: Schur complements); the target's corner is then the least fold-weighted squared
  error that the chosen tasks reach, a bound of the cross-validated one. ::

      chosen tasks    remaining tasks      y
                      ┌──────────────┬─────┐
        eliminated    │ W[i, j]      │ b_i │     ρ = W[i, j] / √(W[i, i] W[j, j]),   β_i = b_i / √W[i, i]
                      ├──────────────┼─────┤     the pair i, j explains (β_i² + β_j² − 2 ρ β_i β_j) / (1 − ρ²)
                      │              │ W_yy│     of W_yy; if that needs a negative coefficient, the better alone
                      └──────────────┴─────┘

* Only upper triangles are kept.
"""

from __future__ import annotations

import numpy as np

from arcademark.subset.least_squares import DEPENDENT, inner, nonnegative_least_squares


@inner
def eliminate(gram, k, squares, out):  # type: ignore[no-untyped-def]
    """Eliminate a task: fill in the Gram matrix of what the later columns have beyond it.

    Parameters
    ----------
    gram, out : float64 arrays, shape (q + 1, q + 1)
        Upper triangles from row ``k`` on; ``out`` from row k + 1 on. May be the same.
    k : int
        The task's place.
    squares : float64 array, shape (q + 1,)
        The columns' own squares before any elimination.
    """
    q = gram.shape[0]
    inverse = 1.0 / gram[k, k] if gram[k, k] > DEPENDENT * squares[k] else 0.0
    pivot = gram[k]
    for i in range(k + 1, q):
        share = pivot[i] * inverse
        source, target = gram[i], out[i]
        for j in range(i, q):
            target[j] = source[j] - share * pivot[j]


@inner
def explained_by_pairs(gram, i, scale, beta, out):  # type: ignore[no-untyped-def]
    """Fill in how much of the target's corner each pair (i, j), j > i, explains without negative coefficients.

    Parameters
    ----------
    gram : float64 array, shape (q + 1, q + 1)
        What is left after the chosen tasks.
    i : int
        The first of the pair.
    scale, beta : float64 arrays, shape (q,)
        1 / √gram[j, j], 0 for tasks that depend on the chosen ones; gram[j, q] × scale[j].
    out : float64 array, shape (≥ q,)
        Filled from i + 1 to q − 1.
    """
    q = gram.shape[0] - 1
    own, first, everything = scale[i], beta[i], gram[q, q]
    alone = max(first, 0.0) ** 2
    row = gram[i]
    for j in range(i + 1, q):
        rho = row[j] * own * scale[j]
        second = beta[j]
        rest = 1.0 - rho * rho
        left, right = first - rho * second, second - rho * first
        both = (first * left + second * right) / max(rest, 1e-9)
        both = both if rest > 1e-9 else everything
        better = max(second, 0.0) ** 2
        better = better if better > alone else alone
        out[j] = both if (left >= 0.0) & (right >= 0.0) else better


@inner
def completions(lack, start, need, slots):  # type: ignore[no-untyped-def]
    """Count the sets of tasks that lack all that is needed, by inclusion and exclusion.

    Parameters
    ----------
    lack : int64 array, shape (q,)
        What each task lacks.
    start : int
        Tasks are taken from here on.
    need : int64
        What they must lack together.
    slots : int
        Tasks of a set.
    """
    total, part = 0, need
    while True:  # over all parts of what is needed
        without, sign, bits = 0, 1, part
        while bits:
            sign, bits = -sign, bits & (bits - 1)
        for a in range(start, len(lack)):
            without += lack[a] & part == 0
        ways = 1
        for a in range(slots):
            ways = ways * (without - a) // (a + 1) if without > a else 0
        total += sign * ways
        if part == 0:
            return total
        part = (part - 1) & need


@inner
def order_by_use(gram, held, places, lack, room):  # type: ignore[no-untyped-def]
    """Put first what lacks something, and among likes first what non-negative least squares would miss most.

    Parameters
    ----------
    gram : float64 array, shape (q + 1, q + 1)
        Fold-weighted.
    held : int
        Tasks in front that stay where they are.
    places : int64 array, shape (q,)
        Tasks in the order of the matrix; put in order.
    lack : int64 array
        What each task lacks, all tasks.
    room : tuple
        Made by `arcademark.subset.kernels.make_room` for q tasks.
    """
    q = len(places)
    _, factor, solution, active, small, trial = room
    allowed = np.ones(q, np.bool_)
    order, filled = np.empty(q, np.int64), 0
    for lacking in (True, False):
        active[:] = False
        left = 0
        for a in range(held, q):
            left += (lack[places[a]] != 0) == lacking
        for _ in range(left):
            nonnegative_least_squares(gram, q, allowed, -1.0, factor, solution, active, (small, trial))
            best, gain = -1, -1.0
            for a in range(held, q):
                if allowed[a] and (lack[places[a]] != 0) == lacking and solution[a] * solution[a] * gram[a, a] > gain:
                    best, gain = a, solution[a] * solution[a] * gram[a, a]
            allowed[best] = False
            active[best] = False
            order[filled] = places[best]
            filled += 1
    for a in range(filled):
        places[held + a] = order[a]
