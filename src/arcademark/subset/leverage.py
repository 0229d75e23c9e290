"""How much the chosen tasks alone add to errors on held-out cases, compiled: bounds tighter than the plain one.

Conventions
-----------
* Let S be a subset, e a fold's errors under the fit of S to all cases, r its errors when it is held out, and H the
  fold's block of the hat matrix of S. Then e = (I − H) r. Let K be the block of a part of S. H − K is positive
  semidefinite, so that e'(I − K)⁻¹e ≤ r'(I − H) r = e'r, and with it ::

      r'r ≥ 2 e'r − e'e ≥ e'(2 (I − K)⁻¹ − I) e

  The error of every subset that has the chosen tasks is therefore never below the least sum over folds of squares so
  measured that any coefficients reach. With no task chosen that is the plain bound (`arcademark.subset.search`); it
  becomes tighter with every task, as these can fit a fold's cases only where they are not held out.
* It holds where fits are plain least squares, not where each is made without negative coefficients.
* (I − K)⁻¹ grows with each task by Sherman and Morrison's formula, the Gram matrix of all columns by one square a fold.
"""

from __future__ import annotations

import numpy as np

from arcademark.subset.least_squares import inner, number_of_folds

DEPENDENT_TASK = 1e-9
"""Share of its own square below which a task that is left after the chosen ones counts as depending on them."""

LEAST = 1e-3
"""A fold is left as it was where held-out cases would have less weight than that in their own fit, against rounding."""


@inner
def rows_by_fold(data, lacking, places):  # type: ignore[no-untyped-def]
    """Return a group's complete cases fold after fold, shape (n, q + 1), the target last, and where each fold ends.

    Parameters are those of `arcademark.subset.pairs.group_grams`.
    """
    columns, row_class, _, fold_table, _ = data
    q, rows = len(places), len(row_class)
    complete = np.empty(rows, np.int64)
    n = np.int64(0)
    for row in range(rows):
        if row_class[row] < 0 or not (lacking >> row_class[row]) & 1:
            complete[n] = row
            n += 1
    folds = number_of_folds(fold_table)
    values, ends, filled = np.empty((n, q + 1)), np.empty(folds, np.int64), 0
    for f in range(folds):
        for rank in range(n):
            if fold_table[n, rank] == f:
                for a in range(q):
                    values[filled, a] = columns[complete[rank], places[a]]
                values[filled, q] = columns[complete[rank], -1]
                filled += 1
        ends[f] = filled
    return values, ends


@inner
def make_leverage_room(values, ends, most):  # type: ignore[no-untyped-def]
    """Return what `strengthen` keeps of up to ``most`` chosen tasks, and arrays to work in."""
    n, folds = len(values), len(ends)
    longest, begin = 0, 0
    for f in range(folds):
        size = ends[f] - begin
        longest, begin = size if size > longest else longest, ends[f]
    inverse = np.zeros((most + 1, n, longest))  # (I − K)⁻¹ of each fold, after each task
    begin = 0
    for f in range(folds):
        for row in range(begin, ends[f]):
            inverse[0, row, row - begin] = 1.0
        begin = ends[f]
    basis = np.empty((most + 1, n))
    return inverse, basis, np.empty((folds, values.shape[1])), np.empty(folds), np.empty(longest)


@inner
def strengthen(values, ends, weights, k, before, use, metrics, room):  # type: ignore[no-untyped-def]
    """Choose task k after ``before`` others: fill in the Gram matrix by which subsets with all these are bounded.

    ``values`` and ``ends`` are made by `rows_by_fold`, ``weights`` are 1 / (folds × held-out rows), ``use`` marks the
    tasks whose rows are needed. Of ``metrics``, upper triangles of shape (q + 1, q + 1), number ``before`` is read and
    the next one filled. ``room`` is made by `make_leverage_room` and kept between calls.
    """
    inverse, basis, sums, shares, image = room
    q = values.shape[1] - 1
    _next_of_basis(values, k, before, basis)
    old, new, own = inverse[before], inverse[before + 1], basis[before]
    begin = 0
    for f in range(len(ends)):
        size, left, total = ends[f] - begin, 1.0, sums[f]
        for j in range(q + 1):
            total[j] = 0.0
        for a in range(size):
            image[a] = 0.0
            for b in range(size):
                image[a] += old[begin + a, b] * own[begin + b]
            left -= image[a] * own[begin + a]
            row = values[begin + a]
            for j in range(q + 1):
                total[j] += image[a] * row[j]
        gain = 1.0 / left if left > LEAST else 0.0
        for a in range(size):
            for b in range(size):
                new[begin + a, b] = old[begin + a, b] + gain * image[a] * image[b]
        shares[f] = 2.0 * weights[f] * gain
        begin = ends[f]
    for i in range(q + 1):
        if i < q and not use[i]:
            continue
        source, target = metrics[before, i], metrics[before + 1, i]
        for j in range(i, q + 1):
            target[j] = source[j]
        for f in range(len(ends)):
            total = sums[f]
            part = shares[f] * total[i]
            for j in range(i, q + 1):
                target[j] += part * total[j]


@inner
def _next_of_basis(values, k, before, basis):  # type: ignore[no-untyped-def]
    """Fill in the part of a task that is orthogonal to those before, of length 1; 0 if it depends on them."""
    n, own = len(values), basis[before]
    square, rest = 0.0, 0.0
    for row in range(n):
        own[row] = values[row, k]
        square += own[row] * own[row]
    for _ in range(2):  # once is not enough for tasks that are nearly dependent
        for a in range(before):
            dot = 0.0
            for row in range(n):
                dot += basis[a, row] * own[row]
            for row in range(n):
                own[row] -= dot * basis[a, row]
    for row in range(n):
        rest += own[row] * own[row]
    scale = 1.0 / np.sqrt(rest) if rest > DEPENDENT_TASK * square else 0.0
    for row in range(n):
        own[row] *= scale
