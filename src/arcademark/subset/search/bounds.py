"""Bounds on the error of subsets, compiled: from Gram matrices, with the number of subsets pruned.

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

from arcademark.subset.search.least_squares import DEPENDENT, inner

SLACK = 1e-9
"""Share of the target's square that a bound may be off by, as it is a difference of such squares."""

ALIKE = 1e-6
"""Share of a task's square beyond another's below which the two count as dependent."""

ROUNDING = 1e-12
"""Relative margin of a count of pairs, which is computed in another order than what each explains."""


@inner
def eliminate(gram, k, y, squares, out):  # type: ignore[no-untyped-def]
    """Eliminate task k: fill in the Gram matrix of what the later columns have beyond it.

    ``gram`` is read from row k on, ``out``, which may be the same, filled from row k + 1 on, up to the target's place
    y; ``squares`` are the columns' own before any elimination.
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
    """Return how much of the target's corner the pair i < j explains without negative coefficients.

    ``row`` is the first one's in the Gram matrix of what is left after the chosen tasks; ``scale`` is 1 / √gram[j, j],
    0 for tasks that depend on the chosen ones; ``beta`` is gram[j, y] × scale[j]. A pair whose tasks depend on each
    other may explain ``everything``, the corner.
    """
    rho = row[j] * scale[i] * scale[j]
    first, second = beta[i], beta[j]
    left, right, rest = first - rho * second, second - rho * first, 1.0 - rho * rho
    if left >= 0.0 and right >= 0.0:
        return (first * left + second * right) / rest if rest > ALIKE else everything
    most = first if first > second else second
    return most * most if most > 0.0 else 0.0


@inner
def count_pairs(row, i, y, scale, beta, cut):  # type: ignore[no-untyped-def]
    """Count the pairs (i, j), i < j < y, that may explain as much as ``cut``; otherwise as `explained_by_pair`."""
    own, first, pairs = scale[i], beta[i], np.int64(0)
    alone = (first * first if first > 0.0 else 0.0) >= cut
    for j in range(i + 1, y):  # without branches, so that it is vectorised
        rho = row[j] * own * scale[j]
        second = beta[j]
        left, right, rest = first - rho * second, second - rho * first, 1.0 - rho * rho
        both = (first * left + second * right >= cut * rest * (1.0 - ROUNDING)) | (rest <= ALIKE)
        pairs += (both & (left >= 0.0) & (right >= 0.0)) | alone | ((second * second if second > 0.0 else 0.0) >= cut)
    return pairs
