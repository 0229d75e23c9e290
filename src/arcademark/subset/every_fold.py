"""Search without bounds, compiled: every fold of every subset is cross-validated, all pairs of last tasks at once.

Conventions
-----------
* For each fold there are two Gram matrices: T of its training rows and H of its held-out rows. Choosing a task k takes
  from every later column its share a_j = T[k, j] / T[k, k] of column k, in both::

      T'[i, j] = T[i, j] − a_i T[k, j]
      H'[i, j] = H[i, j] − a_i H[k, j] − a_j H[k, i] + a_i a_j H[k, k]

  With the target as last column, H'[y, y] is the squared error on the held-out rows of the model fitted to the others.
* Groups, places and upper triangles are those of `arcademark.subset.pairs`.
"""

from __future__ import annotations

import numpy as np

from arcademark.subset.bounds import SLACK
from arcademark.subset.kernels import keep, worst_listed
from arcademark.subset.least_squares import DEPENDENT, entry, inner
from arcademark.subset.pairs import group_grams, judge, make_judge_room

ROUNDING = 1e-6
"""Relative margin within which errors are computed again from fewer differences."""


@inner
def eliminate_in_folds(train, held, k, squares, share, train_out, held_out):  # type: ignore[no-untyped-def]
    """Choose a task in every fold.

    Parameters
    ----------
    train, held, train_out, held_out : float64 arrays, shape (folds, q + 1, q + 1)
        Upper triangles; the latter two are filled from row k + 1 on, and may be the former two.
    k : int
        The task's place.
    squares : float64 array, shape (folds, q + 1)
        Each column's own square over the training rows.
    share : float64 array, shape (q + 1,)
        Room to work in.
    """
    folds, q = len(train), train.shape[1] - 1
    for f in range(folds):
        t, h, t_out, h_out = train[f], held[f], train_out[f], held_out[f]
        inverse = 1.0 / t[k, k] if t[k, k] > DEPENDENT * squares[f, k] else 0.0
        for j in range(k + 1, q + 1):
            share[j] = t[k, j] * inverse
        own = h[k, k]
        for i in range(k + 1, q + 1):
            mine = share[i]
            cross = h[k, i] - mine * own
            for j in range(i, q + 1):
                t_out[i, j] = t[i, j] - mine * t[k, j]
                h_out[i, j] = h[i, j] - mine * h[k, j] - share[j] * cross


@inner
def errors_of_pairs(train, held, i, weights, squares, diagonals, out):  # type: ignore[no-untyped-def]
    """Fill in the cross-validated errors of the pairs (i, j), j > i.

    Parameters
    ----------
    train, held : float64 arrays, shape (folds, q + 1, q + 1)
        What is left after the chosen tasks.
    i : int
        The first of the pair.
    weights : float64 array, shape (folds,)
        1 / (folds × held-out rows).
    squares : float64 array, shape (folds, q + 1)
        Each column's own square over the training rows.
    diagonals : float64 array, shape (4, folds, q + 1)
        Of ``train`` and ``held``, and their last columns.
    out : float64 array, shape (≥ q,)
        Filled from i + 1 to q − 1.
    """
    folds, q = len(train), train.shape[1] - 1
    for j in range(i + 1, q):
        out[j] = 0.0
    for f in range(folds):
        t, h, square, weight = train[f, i], held[f, i], squares[f], weights[f]
        t_jj, h_jj, t_jy, h_jy = diagonals[0, f], diagonals[1, f], diagonals[2, f], diagonals[3, f]
        inverse = 1.0 / t[i] if t[i] > DEPENDENT * square[i] else 0.0
        mine = t[q] * inverse
        own, cross = h[i], h[q] - mine * h[i]
        rest = held[f, q, q] - mine * (h[q] + cross)
        for j in range(i + 1, q):
            share = t[j] * inverse
            left = t_jj[j] - t[j] * share
            coefficient = (t_jy[j] - share * t[q]) / left if left > DEPENDENT * square[j] else 0.0
            both = h_jj[j] - share * (2.0 * h[j] - share * own)
            target = h_jy[j] - mine * h[j] - share * cross
            out[j] += weight * (rest - coefficient * (2.0 * target - coefficient * both))


@entry
def search_every_fold(data, fixed, free, groups, choose, best):  # type: ignore[no-untyped-def]
    """Cross-validate all subsets of some groups.

    Parameters
    ----------
    data, fixed, free, groups, choose, best
        As for `arcademark.subset.pairs.search_groups`.

    Returns
    -------
    int
        Subsets evaluated.
    """
    lack = data[2]
    errors, subsets, nothing = best
    held_tasks, d = len(fixed), len(fixed) + choose
    base, evaluated = 0, 0
    for task in fixed:
        base |= lack[task]
    for lacking in groups:
        places = np.empty(held_tasks + len(free), np.int64)
        q = held_tasks
        for a in range(held_tasks):
            places[a] = fixed[a]
        for task in free:
            if lack[task] & ~lacking == 0:
                places[q] = task
                q += 1
        places = places[:q]
        later = np.zeros(q + 1, np.int64)
        for a in range(q - 1, -1, -1):
            later[a] = later[a + 1] | lack[places[a]]
        grams, whole, weighted, weights, offset = group_grams(data, lacking, places)
        folds = len(weights)
        train, held = np.empty((choose - 1, folds, q + 1, q + 1)), np.empty((choose - 1, folds, q + 1, q + 1))
        squares, share = np.empty((folds, q + 1)), np.empty(q + 1)
        for f in range(folds):
            for a in range(q + 1):
                for b in range(a, q + 1):
                    held[0, f, a, b] = grams[f, a, b]
                    train[0, f, a, b] = whole[a, b] - grams[f, a, b]
                squares[f, a] = train[0, f, a, a]
        for a in range(held_tasks):
            eliminate_in_folds(train[0], held[0], a, squares, share, train[0], held[0])
        room, diagonals, found = make_judge_room(folds, d), np.empty((4, folds, q + 1)), np.empty(q)
        chosen, subset, names = np.arange(d), np.arange(d), np.empty(d, np.int64)
        lacks = np.empty(choose + 1, np.int64)
        lacks[0] = base
        level, nxt = 0, held_tasks
        while level >= 0:
            if level == choose - 2:
                for f in range(folds):
                    for j in range(nxt, q):
                        diagonals[0, f, j], diagonals[1, f, j] = train[level, f, j, j], held[level, f, j, j]
                        diagonals[2, f, j], diagonals[3, f, j] = train[level, f, j, q], held[level, f, j, q]
                for a in range(held_tasks + level):
                    subset[a] = chosen[a]
                for i in range(nxt, q - 1):
                    seen = lacks[level] | lack[places[i]]
                    if (seen | later[i + 1]) != lacking:
                        continue
                    errors_of_pairs(train[level], held[level], i, weights, squares, diagonals, found)
                    for j in range(i + 1, q):
                        if seen != lacking and (seen | lack[places[j]]) != lacking:
                            continue
                        evaluated += 1
                        reach = worst_listed(errors, nothing) - offset
                        if found[j] > reach * (1.0 + ROUNDING) + SLACK * weighted[q, q]:
                            continue
                        subset[d - 2], subset[d - 1] = i, j
                        error = judge(grams, whole, weights, subset, d, None, reach, nothing, room)
                        if error <= reach:
                            for a in range(d):
                                names[a] = places[subset[a]]
                            keep(errors, subsets, nothing, error + offset, names)
            elif q - nxt >= choose - level and (lacks[level] | later[nxt]) == lacking:
                chosen[held_tasks + level] = nxt
                lacks[level + 1] = lacks[level] | lack[places[nxt]]
                eliminate_in_folds(train[level], held[level], nxt, squares, share, train[level + 1], held[level + 1])
                level, nxt = level + 1, nxt + 1
                continue
            level -= 1
            if level >= 0:
                nxt = chosen[held_tasks + level] + 1
    return evaluated
