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

from arcademark.subset.least_squares import DEPENDENT, inner

ALIKE = 1e-9
"""Share of a task's square beyond another's below which the two count as dependent."""

ROUNDING = 1e-12
"""Relative margin of a count of pairs, which is computed in another order than what each explains."""


@inner
def eliminate(gram, k, y, squares, out):  # type: ignore[no-untyped-def]
    """Eliminate a task: fill in the Gram matrix of what the later columns have beyond it.

    Parameters
    ----------
    gram, out : float64 arrays, shape (≥ y + 1, ≥ y + 1)
        Upper triangles from row ``k`` on; ``out`` from row k + 1 on. May be the same.
    k, y : int
        The task's place, and the target's, which is last.
    squares : float64 array, shape (≥ y,)
        The columns' own squares before any elimination.
    """
    inverse = 1.0 / gram[k, k] if gram[k, k] > DEPENDENT * squares[k] else 0.0
    pivot = gram[k]
    for i in range(k + 1, y + 1):
        share = pivot[i] * inverse
        source, target = gram[i], out[i]
        for j in range(i, y + 1):
            target[j] = source[j] - share * pivot[j]


@inner
def explained_by_pair(row, i, j, scale, beta, everything):  # type: ignore[no-untyped-def]
    """Return how much of the target's corner a pair explains without negative coefficients.

    Parameters
    ----------
    row : float64 array, shape (≥ j + 1,)
        Of the first of the pair, in the Gram matrix of what is left after the chosen tasks.
    i, j : int
        The pair, i < j.
    scale, beta : float64 arrays
        1 / √gram[j, j], 0 for tasks that depend on the chosen ones; gram[j, y] × scale[j].
    everything : float
        The corner: what a pair may explain whose tasks depend on each other.
    """
    rho = row[j] * scale[i] * scale[j]
    first, second = beta[i], beta[j]
    left, right, rest = first - rho * second, second - rho * first, 1.0 - rho * rho
    if left >= 0.0 and right >= 0.0:
        return (first * left + second * right) / rest if rest > ALIKE else everything
    return max(first, second, 0.0) ** 2


@inner
def count_pairs(row, i, y, scale, beta, cut):  # type: ignore[no-untyped-def]
    """Count the pairs (i, j), i < j < y, that may explain as much as ``cut``; otherwise as `explained_by_pair`."""
    own, first, found = scale[i], beta[i], 0
    alone = max(first, 0.0) ** 2 >= cut
    for j in range(i + 1, y):  # without branches, so that it is vectorised
        rho = row[j] * own * scale[j]
        second = beta[j]
        left, right, rest = first - rho * second, second - rho * first, 1.0 - rho * rho
        both = (first * left + second * right >= cut * rest * (1.0 - ROUNDING)) | (rest <= ALIKE)
        found += (both & (left >= 0.0) & (right >= 0.0)) | alone | (max(second, 0.0) ** 2 >= cut)
    return found


@inner
def completions(lack, end, need, slots):  # type: ignore[no-untyped-def]
    """Count the sets of tasks that lack all that is needed, by inclusion and exclusion.

    Parameters
    ----------
    lack : int64 array, shape (≥ end,)
        What each task lacks.
    end : int
        Only tasks before it are taken.
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
        for a in range(end):
            without += lack[a] & part == 0
        ways = 1
        for a in range(slots):
            ways = ways * (without - a) // (a + 1) if without > a else 0
        total += sign * ways
        if part == 0:
            return total
        part = (part - 1) & need
