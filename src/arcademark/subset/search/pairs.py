"""Evaluation of the subsets of a group, compiled: the last two tasks are chosen together, over all pairs at once.

Conventions
-----------
* Algorithms that lack the same tasks are one *class*; a task or subset *lacks* a set of classes, the bits of an
  integer. Subsets that lack the same set have the same complete cases, folds and Gram matrices; they are one *group*,
  which is searched together.
* Pairs are bounded by the part of the fold-weighted error that they explain; the branches that lead to pairs are
  bounded, too (`arcademark.subset.search.branches`).
* A fold-weighted Gram matrix W is the sum of the folds' matrices, each times 1 / (folds × its cases). Chosen tasks are
  eliminated from it one by one (Gaussian elimination: Schur complements); the target's corner is then the least
  fold-weighted squared error of the chosen tasks, a lower bound of the cross-validated one. ::

      chosen tasks    remaining tasks      y
                      ┌──────────────┬─────┐
        eliminated    │ W[i, j]      │ b_i │     ρ = W[i, j] / √(W[i, i] W[j, j]),   β_i = b_i / √W[i, i]
                      ├──────────────┼─────┤     the pair i, j explains (β_i² + β_j² − 2 ρ β_i β_j) / (1 − ρ²)
                      │              │ W_yy│     of W_yy; if that needs a negative coefficient, the better alone
                      └──────────────┴─────┘

* Of Gram matrices only upper triangles are kept; the target is their last column.
"""

from __future__ import annotations

import numpy as np

from arcademark.subset.search.kernels import (
    TIE,
    ascending,
    fold_grams,
    fold_weights,
    judge,
    keep,
    make_judge_room,
    worst_listed,
)
from arcademark.subset.search.least_squares import DEPENDENT, inner, number_of_folds

SLACK = 1e-9
"""Possible error of a bound, as a share of the target's square, because it is a difference of such squares."""

ALIKE = 1e-6
"""Share of a task's square not explained by another task below which the two count as dependent."""

ROUNDING = 1e-12
"""Relative margin of the count of pairs, which computes explained parts in another order."""


@inner
def eliminate(gram, k, y, squares, out):  # type: ignore[no-untyped-def]
    """Eliminate task k: fill in the Gram matrix of the later columns' residuals.

    ``gram`` is read from row k on; ``out``, which may be the same array, is filled from row k + 1 to the target's place
    y; ``squares`` are the columns' squares before any elimination.
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
    """Return the part of the target's corner that the pair i < j explains without negative coefficients.

    ``row`` is row i of the Gram matrix of residuals after the chosen tasks; ``scale`` is 1 / √gram[j, j], 0 for tasks
    that depend on the chosen ones; ``beta`` is gram[j, y] × scale[j]. If the two tasks depend on each other, the upper
    bound ``everything``, the corner, is returned.
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
    """Count the pairs (i, j), i < j < y, that may explain at least ``cut``; parameters as for `explained_by_pair`."""
    own, first, pairs = scale[i], beta[i], np.int64(0)
    alone = (first * first if first > 0.0 else 0.0) >= cut
    for j in range(i + 1, y):  # without branches, so that it is vectorised
        rho = row[j] * own * scale[j]
        second = beta[j]
        left, right, rest = first - rho * second, second - rho * first, 1.0 - rho * rho
        both = (first * left + second * right >= cut * rest * (1.0 - ROUNDING)) | (rest <= ALIKE)
        pairs += (both & (left >= 0.0) & (right >= 0.0)) | alone | ((second * second if second > 0.0 else 0.0) >= cut)
    return pairs


@inner
def group_grams(data, lacking, places):  # type: ignore[no-untyped-def]
    """Return the Gram matrices of the tasks ``places``, shape (q,), for the group that lacks ``lacking``.

    Parameters
    ----------
    data : tuple (scores, row_class, lack, fold_table, charge)
        Scores, fold table and charge as in `arcademark.subset.search.prepared.PreparedSearch`; each algorithm's class,
        −1 for complete ones; the set that each task lacks.

    Returns
    -------
    (grams, whole, weighted, weights, offset)
        Gram matrices of each fold's held-out rows, shape (folds, q + 1, q + 1), of all rows, and fold-weighted; weights
        of the folds' squares in the error, shape (folds,); the summand of the error for incomplete cases.
    """
    scores, row_class, _, fold_table, charge = data
    q, folds = len(places), number_of_folds(fold_table)
    rows, n = np.empty(len(row_class), np.int64), np.int64(0)
    for row in range(len(row_class)):
        if row_class[row] < 0 or not (lacking >> row_class[row]) & 1:
            rows[n] = row
            n += 1
    grams, whole, weighted = np.empty((folds, q + 1, q + 1)), np.empty((q + 1, q + 1)), np.zeros((q + 1, q + 1))
    weights = np.empty(folds)
    offset = fold_weights(fold_table[n], n, len(row_class), charge, weights)
    fold_grams(scores, places, rows, n, fold_table[n], np.int64(0), grams, whole)
    for f in range(folds):
        for a in range(q + 1):
            for b in range(a, q + 1):
                weighted[a, b] += weights[f] * grams[f, a, b]
    return grams, whole, weighted, weights, offset


@inner
def group_places(fixed, free, lack, lacking):  # type: ignore[no-untyped-def]
    """Return a group's tasks: the fixed ones, and all others that lack at most what the group lacks."""
    places = np.empty(len(fixed) + len(free), np.int64)
    q = len(fixed)
    for a in range(q):
        places[a] = fixed[a]
    for task in free:
        if lack[task] & ~lacking == 0:
            places[q] = task
            q += 1
    return places[:q]


@inner
def reach_of(rule, best):  # type: ignore[no-untyped-def]
    """Return the highest error that may still be listed; parameters are those of `branches.search_groups`."""
    limit, listed = rule[0] * (1.0 + TIE) + best[2], worst_listed(best[0], best[2])
    return limit if limit < listed else listed


@inner
def judge_pairs(group, gram, pairs, chosen, rule, constrained, best, room):  # type: ignore[no-untyped-def]
    """Choose the last two tasks: bound all pairs, and cross-validate those that may be good enough.

    The first d − 2 elements of ``chosen``, shape (d,), are chosen tasks of the group, ``gram`` is the upper triangle of
    the Gram matrix of residuals after these, ``room`` is from `make_pair_room`, and the rest is as for
    `arcademark.subset.search.branches.search_groups`. Return the number of cross-validated subsets.

    Parameters
    ----------
    group : tuple (grams, whole, weights, offset, slack, lacking, places, lacks)
        The first four from `group_grams`; the possible error of bounds; the set that the group lacks; its tasks, and
        the set that each lacks.
    pairs : tuple (first, last, names, seen)
        Pairs are chosen from places ``first`` to ``last`` − 1 of ``gram``, the target's place is ``last``; ``names``
        are the group's tasks at these places; ``seen`` is the set that the chosen tasks lack.
    """
    grams, whole, weights, offset, slack, lacking, places, lacks = group
    first, last, names, seen_before = pairs
    errors, subsets, nothing = best
    judge_room, squares, scale, beta, subset, tasks = room
    d, everything, evaluated = len(chosen), gram[last, last], np.int64(0)
    for j in range(first, last):
        scale[j] = 1.0 / np.sqrt(gram[j, j]) if gram[j, j] > DEPENDENT * squares[j] else 0.0
        beta[j] = gram[j, last] * scale[j]
    for i in range(first, last - 1):
        seen = seen_before | lacks[names[i]]
        reach = reach_of(rule, best) - offset
        cut = everything - reach / rule[1] - slack
        if seen == lacking and count_pairs(gram[i], i, last, scale, beta, cut) == 0:
            continue
        for j in range(i + 1, last):
            if (seen | lacks[names[j]]) != lacking:
                continue
            if explained_by_pair(gram[i], i, j, scale, beta, everything) < cut:
                continue
            evaluated += 1
            for a in range(d - 2):
                subset[a] = chosen[a]
            subset[d - 2], subset[d - 1] = names[i], names[j]
            ordered = ascending(subset)
            error = judge(grams, whole, weights, ordered, d, constrained, reach, nothing, judge_room)
            if error <= reach:
                for a in range(d):
                    tasks[a] = places[ordered[a]]
                keep(errors, subsets, nothing, error + offset, tasks)
                reach = reach_of(rule, best) - offset
                cut = everything - reach / rule[1] - slack
    return evaluated


@inner
def make_pair_room(folds, q, d):  # type: ignore[no-untyped-def]
    """Return the working arrays of `judge_pairs`; the second, shape (q + 1,), is for the columns' squares."""
    return (
        make_judge_room(folds, d),
        np.empty(q + 1),
        np.empty(q),
        np.empty(q),
        np.empty(d, np.int64),
        np.empty(d, np.int64),
    )
