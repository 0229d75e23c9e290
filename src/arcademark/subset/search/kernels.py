"""Exhaustive search, compiled: cross-validate every subset.

It is the reference implementation of `arcademark.subset.search.branches`, and is used for small searches and searches
without bounds. Errors are sums of products, accurate to about 10⁻¹²; reported errors are computed again from the rows.
"""

from __future__ import annotations

import numpy as np

from arcademark.subset.search.least_squares import (
    entry,
    has_negative,
    held_out_squares,
    inner,
    least_squares,
    lowest,
    make_room,
    number_of_folds,
    solve_nonnegative,
)

TIE = 1e-9
"""Relative difference up to which two errors count as equal; among equals the subset that comes first is better."""


@inner
def fold_grams(scores, places, rows, n, fold_of, first, grams, whole):  # type: ignore[no-untyped-def]
    """Fill in the upper triangles of Gram matrices of each fold's held-out rows, and of all, as for `judge`.

    They are of the tasks ``places``, shape (q,), and the target, the last of ``scores``, over the complete cases
    ``rows[:n]``, whose folds are ``fold_of``. Entries of tasks before the place ``first`` are already filled.
    """
    q = len(places)
    for a in range(q + 1):
        left = scores[places[a] if a < q else len(scores) - 1]
        for b in range(max(a, first), q + 1 if a >= first else q):
            right = scores[places[b] if b < q else len(scores) - 1]
            for f in range(len(grams)):
                grams[f, a, b] = 0.0
            for i in range(n):
                grams[fold_of[i], a, b] += left[rows[i]] * right[rows[i]]
            whole[a, b] = 0.0
            for f in range(len(grams)):
                whole[a, b] += grams[f, a, b]


@inner
def judge(grams, whole, weights, subset, d, constrained, reach, nothing, room):  # type: ignore[no-untyped-def]
    """Return the mean over folds of the mean squared error on held-out rows, of a subset of d tasks.

    The result is infinite if it is above ``reach``, or if the model of all rows has a negative coefficient and is not
    ``constrained``; if it is, no fit has negative coefficients. Errors up to ``nothing`` count as 0.

    Parameters
    ----------
    grams, whole : float arrays, shape (folds, q + 1, q + 1) and (q + 1, q + 1)
        Upper triangles of Gram matrices of each fold's held-out rows, and of all rows.
    weights : float array, shape (folds,)
        Weight of a fold's squares in the error.
    subset : int array, shape (d,)
        The tasks' places among the q, ascending.
    room
        Made by `make_judge_room`.
    """
    (train, factor, solution, active, small, trial), all_rows, held, fitted = room
    y = whole.shape[0] - 1
    _gather(whole, subset, d, y, all_rows)
    least_squares(all_rows, d, factor, solution)
    if not constrained and has_negative(all_rows, d, solution):
        return np.inf
    if constrained and lowest(solution, d) < 0.0:
        solve_nonnegative(all_rows, d, factor, solution, active, (small, trial))
    folds = len(weights)
    total = 0.0
    for f in range(folds):  # lower bound of each fold's error
        _gather(grams[f], subset, d, y, held[f])
        fitted[f] = held_out_squares(held[f], d, solution) * weights[f]
        total += fitted[f]
    if total > reach and total > nothing:
        return np.inf
    for f in range(folds):
        for a in range(d + 1):
            for b in range(d + 1):
                train[a, b] = all_rows[a, b] - held[f, a, b]
        least_squares(train, d, factor, solution)
        if constrained and lowest(solution, d) < 0.0:
            solve_nonnegative(train, d, factor, solution, active, (small, trial))
        total += held_out_squares(held[f], d, solution) * weights[f] - fitted[f]
        if total > reach and total > nothing:
            return np.inf
    return total if total > nothing else 0.0


@inner
def make_judge_room(folds, d):  # type: ignore[no-untyped-def]
    """Return the working arrays of `judge`."""
    return make_room(d), np.empty((d + 1, d + 1)), np.empty((folds, d + 1, d + 1)), np.empty(folds)


@inner
def _gather(gram, subset, d, y, out):  # type: ignore[no-untyped-def]
    for a in range(d):
        for b in range(a, d):
            out[a, b] = gram[subset[a], subset[b]]
            out[b, a] = out[a, b]
        out[a, d] = gram[subset[a], y]
        out[d, a] = out[a, d]
    out[d, d] = gram[y, y]


@inner
def worst_listed(errors, nothing):  # type: ignore[no-untyped-def]
    """Return the highest error that still ties with the last of a list."""
    return errors[len(errors) - 1] * (1.0 + TIE) + nothing


@entry
def keep(errors, subsets, nothing, error, subset):  # type: ignore[no-untyped-def]
    """Insert a subset, tasks in any order, into a list of the best, if it is good enough.

    ``errors``, shape (top,), and ``subsets``, shape (top, d), are best first, tasks ascending; free places have an
    infinite error. Errors that differ by at most ``nothing``, or the share `TIE`, are equal.
    """
    last = len(errors) - 1
    if not error <= worst_listed(errors, nothing) or error == np.inf:
        return
    ordered = ascending(subset)
    place = last + 1
    while place > 0 and _is_better(error, ordered, errors[place - 1], subsets, place - 1, nothing):
        place -= 1
    if place > last:
        return
    for later in range(last, place, -1):
        errors[later] = errors[later - 1]
        for a in range(len(ordered)):
            subsets[later, a] = subsets[later - 1, a]
    errors[place] = error
    for a in range(len(ordered)):
        subsets[place, a] = ordered[a]


@inner
def fold_weights(fold_of, n, rows, charge, weights):  # type: ignore[no-untyped-def]
    """Fill in the weights of the folds' squares in the error of n complete cases; return the incomplete cases' part.

    ``rows`` is the number of all cases; ``charge`` is an incomplete case's squared error, −1 to leave these out.
    """
    share = 1.0 if charge < 0.0 else n / rows
    for f in range(len(weights)):
        weights[f] = 0.0
    for i in range(n):
        weights[fold_of[i]] += 1.0
    for f in range(len(weights)):
        weights[f] = share / (len(weights) * weights[f])
    return 0.0 if charge < 0.0 else (1.0 - share) * charge


@inner
def ascending(subset):  # type: ignore[no-untyped-def]
    """Return a sorted copy of a few numbers."""
    ordered = np.empty(len(subset), np.int64)
    for a in range(len(subset)):
        value, b = subset[a], a
        while b > 0 and ordered[b - 1] > value:
            ordered[b] = ordered[b - 1]
            b -= 1
        ordered[b] = value
    return ordered


@inner
def _is_better(error, subset, other_error, others, place, nothing):  # type: ignore[no-untyped-def]
    if error < other_error * (1.0 - TIE) - nothing:
        return True
    if error > other_error * (1.0 + TIE) + nothing:
        return False
    for a in range(len(subset)):
        if subset[a] != others[place, a]:
            return subset[a] < others[place, a]
    return False


@entry
def search_each(scores, fold_table, floor, fixed, free, start, steps, constrained, charge, best):  # type: ignore[no-untyped-def]
    """Cross-validate consecutive subsets, each until it is known to be worse than the list.

    ``start`` are the places in ``free`` of the first subset, ascending; ``steps`` subsets are visited in lexicographic
    order. ``best``, which is filled, is (errors, subsets, nothing) as for `keep`; the rest is as in
    `arcademark.subset.search.prepared.PreparedSearch`. Return the numbers of subsets evaluated and with too few cases.
    """
    choose, d = len(start), len(fixed) + len(start)
    errors, subsets, nothing = best
    rows_in_all, folds = scores.shape[1], number_of_folds(fold_table)
    chosen, subset, rows = start.copy(), np.empty(d, np.int64), np.zeros(rows_in_all, np.int64)
    grams, whole, weights = np.empty((folds, d + 1, d + 1)), np.empty((d + 1, d + 1)), np.empty(folds)
    room, places = make_judge_room(folds, d), np.arange(d)
    evaluated, inadmissible, first, cases = 0, 0, np.int64(0), np.int64(0)
    for _ in range(steps):
        for a in range(d):
            subset[a] = fixed[a] if a < len(fixed) else free[chosen[a - len(fixed)]]
        n, same = np.int64(0), True
        for row in range(rows_in_all):
            lost = 0
            for a in range(d):
                lost += np.isnan(scores[subset[a], row])
            if lost == 0:
                same = same and rows[n] == row
                rows[n] = row
                n += 1
        first = first if same and n == cases else np.int64(0)
        cases = n if n >= floor else np.int64(0)
        if n < floor:
            inadmissible += 1
        else:
            offset = fold_weights(fold_table[n], n, rows_in_all, charge, weights)
            fold_grams(scores, subset, rows, n, fold_table[n], first, grams, whole)
            reach = worst_listed(errors, nothing) - offset
            error = judge(grams, whole, weights, places, d, constrained, reach, nothing, room)
            keep(errors, subsets, nothing, error + offset, subset)
            evaluated += 1
        place = choose - 1
        while place >= 0 and chosen[place] == len(free) - choose + place:
            place -= 1
        if place < 0:
            break
        chosen[place] += 1
        first = np.int64(len(fixed) + place)
        for a in range(place + 1, choose):
            chosen[a] = chosen[a - 1] + 1
    return evaluated, inadmissible
