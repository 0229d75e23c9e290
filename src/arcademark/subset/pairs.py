"""Search with bounds, compiled: the last two tasks of a subset are chosen together, all pairs at once.

Conventions
-----------
* Algorithms that lack the same tasks are one *class*; what a task or subset *lacks* is a set of classes, the bits of a
  whole number. Subsets that lack the same have the same complete cases, folds and Gram matrices: they are searched
  together, one *group* after another.
* Within a group, tasks that lack something come first, so that soon it is settled that a subset lacks all that the
  group lacks: it is *closed*.
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
from numba import njit

from arcademark.subset.kernels import (
    CONSTRAIN,
    DEPENDENT,
    DROP,
    NEGATIVE,
    TIE,
    held_out_squares,
    keep,
    least_squares,
    lowest,
    make_room,
    nonnegative_least_squares,
)

EVALUATED, PRUNED, AUDITED, VIOLATIONS, ROWS = range(5)
"""Places in the array of counts."""


@njit(cache=True, nogil=True, error_model="numpy")
def judge(grams, whole, weights, subset, d, sign, reach, room):  # type: ignore[no-untyped-def]
    """Cross-validate a subset of a group; give up as soon as it is known to be worse than ``reach``.

    Parameters
    ----------
    grams : float64 array, shape (folds, tasks + 1, tasks + 1)
        Of each fold's held-out rows, upper triangles; the target is last.
    whole : float64 array, shape (tasks + 1, tasks + 1)
        Of all rows, upper triangle.
    weights : float64 array, shape (folds,)
        1 / (folds × held-out rows).
    subset : int64 array, shape (≥ d,)
        Places in the matrices, ascending.
    d, sign
        As for `arcademark.subset.kernels.cross_validate`.
    reach : float
        Errors above it need not be computed to the end.
    room : tuple
        Of float arrays: made by `make_judge_room`.

    Returns
    -------
    float
        The error; infinity where it is above ``reach``, or the model is dropped.
    """
    (train, factor, solution, active, small, trial), all_rows, held, fitted = room
    y = whole.shape[0] - 1
    _gather(whole, subset, d, y, all_rows)
    least_squares(all_rows, d, factor, solution)
    smallest = lowest(solution, d)
    if sign == DROP and smallest < NEGATIVE:
        return np.inf
    if sign == CONSTRAIN and smallest < 0.0:
        for j in range(d):
            active[j] = solution[j] > 0.0
        nonnegative_least_squares(all_rows, d, factor, solution, active, (small, trial))
    folds = len(weights)
    total = 0.0
    for f in range(folds):  # what each fold costs at least
        _gather(grams[f], subset, d, y, held[f])
        fitted[f] = held_out_squares(held[f], d, solution) * weights[f]
        total += fitted[f]
    if total > reach:
        return np.inf
    for f in range(folds):
        for a in range(d + 1):
            for b in range(d + 1):
                train[a, b] = all_rows[a, b] - held[f, a, b]
        least_squares(train, d, factor, solution)
        if sign == CONSTRAIN and lowest(solution, d) < 0.0:
            for j in range(d):
                active[j] = solution[j] > 0.0
            nonnegative_least_squares(train, d, factor, solution, active, (small, trial))
        total += held_out_squares(held[f], d, solution) * weights[f] - fitted[f]
        if total > reach:
            return np.inf
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def make_judge_room(folds, d):  # type: ignore[no-untyped-def]
    """Return arrays for `judge` to work in."""
    return make_room(d), np.empty((d + 1, d + 1)), np.empty((folds, d + 1, d + 1)), np.empty(folds)


@njit(cache=True, nogil=True, error_model="numpy")
def _gather(gram, subset, d, y, out):  # type: ignore[no-untyped-def]
    for a in range(d):
        for b in range(a, d):
            out[a, b] = gram[subset[a], subset[b]]
            out[b, a] = out[a, b]
        out[a, d] = gram[subset[a], y]
        out[d, a] = out[a, d]
    out[d, d] = gram[y, y]


@njit(cache=True, nogil=True, error_model="numpy")
def group_grams(columns, row_class, lacking, places, fold_table):  # type: ignore[no-untyped-def]
    """Make the Gram matrices of a group.

    Parameters
    ----------
    columns : float64 array, shape (rows, tasks + 1)
        Scores, 0 where missing; the target is last.
    row_class : int64 array, shape (rows,)
        Each algorithm's class; −1 for those that lack nothing.
    lacking : int64
        What the group lacks.
    places : int64 array, shape (q,)
        Tasks, in the order of the matrices.
    fold_table : int64 array, shape (rows + 1, rows)
        In row n, the fold of each of n complete cases.

    Returns
    -------
    (float64 array, shape (folds, q + 1, q + 1); two of shape (q + 1, q + 1); float64 array, shape (folds,))
        Of each fold's held-out rows, of all rows, fold-weighted; the weights.
    """
    q, rows = len(places), len(row_class)
    folds = fold_table.max() + 1
    n = 0
    for row in range(rows):
        if row_class[row] < 0 or not (lacking >> row_class[row]) & 1:
            n += 1
    grams, whole, weighted = np.zeros((folds, q + 1, q + 1)), np.zeros((q + 1, q + 1)), np.zeros((q + 1, q + 1))
    weights, values = np.zeros(folds), np.empty(q + 1)
    rank = 0
    for row in range(rows):
        if row_class[row] < 0 or not (lacking >> row_class[row]) & 1:
            for a in range(q):
                values[a] = columns[row, places[a]]
            values[q] = columns[row, -1]
            gram = grams[fold_table[n, rank]]
            for a in range(q + 1):
                value = values[a]
                for b in range(a, q + 1):
                    gram[a, b] += value * values[b]
            weights[fold_table[n, rank]] += 1.0
            rank += 1
    for f in range(folds):
        weights[f] = 1.0 / (folds * weights[f])
        for a in range(q + 1):
            for b in range(a, q + 1):
                whole[a, b] += grams[f, a, b]
                weighted[a, b] += weights[f] * grams[f, a, b]
    return grams, whole, weighted, weights


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def search_groups(
    columns, row_class, lack, fold_table, fixed, free, groups, choose, sign, limit, margin, audit_every, errors, subsets
):  # type: ignore[no-untyped-def]  # noqa: E501
    """Search the subsets of some groups, leaving out what the bound proves to be worse.

    Parameters
    ----------
    columns, row_class, fold_table
        As for `group_grams`.
    lack : int64 array, shape (tasks,)
        What each task lacks.
    fixed, free : int64 arrays
        Tasks that every subset has; those to choose from, what lacks something first.
    groups : int64 array
        What each group lacks.
    choose : int
        Tasks to choose from ``free``, at least 2.
    sign : int
        `DROP` or `CONSTRAIN`.
    limit : float
        An error that is known to be reached by as many subsets as are to be listed.
    margin : float
        What bounds are multiplied by before they count; a little below 1, against rounding.
    audit_every : int
        Of so many rows of pairs, one pruned pair is cross-validated nonetheless.
    errors, subsets : float64 array, shape (top,), and int64 array, shape (top, fixed + choose)
        The best found, best first; filled.

    Returns
    -------
    int64 array, shape (5,)
        Subsets evaluated, pruned, audited, and violations of the bound; rows of pairs.
    """
    counts = np.zeros(5, np.int64)
    base = 0
    for task in fixed:
        base |= lack[task]
    for lacking in groups:
        search_group(columns, row_class, lack, fold_table, fixed, free, base, lacking, choose, sign, limit, margin, audit_every, errors, subsets, counts)  # fmt: skip # noqa: E501
    return counts


@njit(cache=True, nogil=True, error_model="numpy")
def search_group(
    columns,
    row_class,
    lack,
    fold_table,
    fixed,
    free,
    base,
    lacking,
    choose,
    sign,
    limit,
    margin,
    audit_every,
    errors,
    subsets,
    counts,
):  # type: ignore[no-untyped-def]  # noqa: E501
    """Search one group; parameters are those of `search_groups`, and ``counts`` is added to."""
    held, d = len(fixed), len(fixed) + choose
    places = np.empty(held + len(free), np.int64)
    places[:held] = fixed
    q = held
    for task in free:
        if lack[task] & ~lacking == 0:
            places[q] = task
            q += 1
    places = places[:q]
    later = np.empty(q + 1, np.int64)  # what the tasks from here on lack together
    later[q] = 0
    for a in range(q - 1, held - 1, -1):
        later[a] = later[a + 1] | lack[places[a]]
    if q < d or (base | later[held]) != lacking:
        return
    grams, whole, weighted, weights = group_grams(columns, row_class, lacking, places, fold_table)
    squares = np.empty(q + 1)
    for a in range(q + 1):
        squares[a] = weighted[a, a]
    levels = np.empty((choose, q + 1, q + 1))
    levels[0] = weighted
    for a in range(held):
        eliminate(levels[0], a, squares, levels[0])
    room = make_judge_room(len(weights), d)
    scale, beta, explained = np.empty(q), np.empty(q), np.empty(q)
    chosen, subset, names = np.arange(d), np.arange(d), np.empty(d, np.int64)
    lacks = np.empty(choose + 1, np.int64)
    lacks[0] = base
    level, nxt = 0, held
    while True:
        gram = levels[level]
        if level == choose - 2:
            for j in range(nxt, q):
                fine = gram[j, j] > DEPENDENT * squares[j]
                scale[j] = 1.0 / np.sqrt(gram[j, j]) if fine else 0.0
                beta[j] = gram[j, q] * scale[j]
            for a in range(held + level):
                subset[a] = chosen[a]
            for i in range(nxt, q - 1):
                seen = lacks[level] | lack[places[i]]
                if (seen | later[i + 1]) != lacking:
                    continue
                explained_by_pairs(gram, i, scale, beta, explained)
                counts[ROWS] += 1
                audit = counts[ROWS] % audit_every == 0
                reach = min(limit, errors[-1]) * (1.0 + TIE)
                cut = gram[q, q] - reach / margin
                for j in range(i + 1, q):
                    if seen != lacking and (seen | lack[places[j]]) != lacking:
                        continue
                    pruned = explained[j] < cut
                    counts[PRUNED if pruned else EVALUATED] += 1
                    if pruned and not audit:
                        continue
                    subset[d - 2], subset[d - 1] = i, j
                    error = judge(grams, whole, weights, subset, d, sign, np.inf if pruned else reach, room)
                    if pruned:
                        audit = False
                        counts[AUDITED] += 1
                        counts[VIOLATIONS] += error < (gram[q, q] - explained[j]) * margin
                    elif error <= reach:
                        for a in range(d):
                            names[a] = places[subset[a]]
                        keep(errors, subsets, error, names)
                        reach = min(limit, errors[-1]) * (1.0 + TIE)
                        cut = gram[q, q] - reach / margin
        else:
            k = nxt  # choose it, if enough remain and the subset can still be closed
            if q - k >= choose - level and (lacks[level] | later[k]) == lacking:
                chosen[held + level] = k
                lacks[level + 1] = lacks[level] | lack[places[k]]
                eliminate(gram, k, squares, levels[level + 1])
                level += 1
                nxt = k + 1
                continue
        level -= 1
        if level < 0:
            return
        nxt = chosen[held + level] + 1
