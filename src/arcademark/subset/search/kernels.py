"""Search from the rows, compiled: cross-validate subset after subset, leaving out none.

The plain reference implementation of `arcademark.subset.search.branches`, and what serves small searches and
searches without bounds. Errors are sums of products and good to about 10⁻¹²; what is reported is computed again from
the rows.
"""

from __future__ import annotations

import numpy as np

from arcademark.subset.least_squares import (
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
"""Relative difference up to which two errors count as equal; of equals the subset that comes first is better."""


@inner
def fold_grams(columns, rows, n, fold_of, first, grams, whole):  # type: ignore[no-untyped-def]
    """Fill in the Gram matrices of each fold's held-out rows, shape (folds, d + 1, d + 1), and of all rows.

    ``columns``, shape (d + 1, all rows), are tasks and target; ``rows[:n]`` are the complete cases and ``fold_of``
    their folds. Only products with columns from ``first`` on, which have changed, are computed again.
    """
    d = columns.shape[0] - 1
    for a in range(first, d + 1):
        for b in range(0 if a < d else first, a + 1):
            for f in range(len(grams)):
                grams[f, a, b] = 0.0
            for i in range(n):
                grams[fold_of[i], a, b] += columns[a, rows[i]] * columns[b, rows[i]]
            whole[a, b] = 0.0
            for f in range(len(grams)):
                grams[f, b, a] = grams[f, a, b]
                whole[a, b] += grams[f, a, b]
            whole[b, a] = whole[a, b]


@inner
def cross_validate(grams, whole, d, sizes, constrained, limit, nothing, room):  # type: ignore[no-untyped-def]
    """Return the mean over folds of the mean squared error on held-out rows.

    Infinity where it is above ``limit``, or where the model of all rows has a negative coefficient and is not
    ``constrained``; if it is, every fit is made without. Errors up to ``nothing`` count as 0. ``grams`` and
    ``whole`` are as for `fold_grams`, ``sizes`` the folds' held-out rows, ``room`` is made by `make_room`.
    """
    train, factor, solution, active, small, trial = room
    total, folds = 0.0, len(sizes)
    if not constrained:
        least_squares(whole, d, factor, solution)
        if has_negative(whole, d, solution):
            return np.inf
    for f in range(folds):
        for a in range(d + 1):
            for b in range(d + 1):
                train[a, b] = whole[a, b] - grams[f, a, b]
        least_squares(train, d, factor, solution)
        if constrained and lowest(solution, d) < 0.0:
            solve_nonnegative(train, d, factor, solution, active, (small, trial))
        total += held_out_squares(grams[f], d, solution) / (folds * sizes[f])
        if total > limit and total > nothing:
            return np.inf
    return total if total > nothing else 0.0


@inner
def worst_listed(errors, nothing):  # type: ignore[no-untyped-def]
    """Return the highest error that still ties with the last of a list."""
    return errors[len(errors) - 1] * (1.0 + TIE) + nothing


@entry
def keep(errors, subsets, nothing, error, subset):  # type: ignore[no-untyped-def]
    """Insert a subset, tasks in any order, into a list of the best, if it is good enough.

    ``errors``, shape (top,), and ``subsets``, shape (top, d), are best first, tasks ascending; places not yet taken
    have an infinite error. Errors that differ by ``nothing`` or a share of `TIE` are equal.
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
def terms(n, rows, charge):  # type: ignore[no-untyped-def]
    """Return what n complete cases' error is multiplied by, and what is added for the incomplete ones of all rows.

    ``charge`` is an incomplete case's squared error; −1 leaves incomplete cases out.
    """
    if charge < 0.0:
        return 1.0, 0.0
    return n / rows, (1.0 - n / rows) * charge


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
    """Cross-validate subset after subset, each until it is known to be worse than the list.

    ``start`` are places in ``free`` to begin with, ascending; in lexicographic order the following ``steps`` subsets
    are visited. ``best``, which is filled, is (errors, subsets, nothing) as for `keep`, the rest as in
    `arcademark.subset.search.prepared.PreparedSearch`. Return how many are evaluated, and left out for too few complete
    cases.
    """
    choose, d = len(start), len(fixed) + len(start)
    errors, subsets, nothing = best
    rows_in_all, folds = scores.shape[1], number_of_folds(fold_table)
    chosen, subset = start.copy(), np.empty(d, np.int64)
    columns, rows = np.empty((d + 1, rows_in_all)), np.zeros(rows_in_all, np.int64)
    there = np.ones((d + 1, rows_in_all), np.bool_)  # which rows are complete, by the tasks before each place
    grams, whole, sizes = np.empty((folds, d + 1, d + 1)), np.empty((d + 1, d + 1)), np.empty(folds, np.int64)
    room = make_room(d)
    for row in range(rows_in_all):
        columns[d, row] = scores[len(scores) - 1, row]
    evaluated, inadmissible = 0, 0
    first, cases = (
        np.int64(0),
        np.int64(-1),
    )  # the first task that has changed; complete cases that the Gram matrix is of
    for _ in range(steps):
        for a in range(first, d):
            subset[a] = fixed[a] if a < len(fixed) else free[chosen[a - len(fixed)]]
            for row in range(rows_in_all):
                columns[a, row] = scores[subset[a], row]
                there[a + 1, row] = there[a, row] and not np.isnan(columns[a, row])
        n, same = np.int64(0), True
        for row in range(rows_in_all):
            if there[d, row]:
                same = same and rows[n] == row
                rows[n] = row
                n += 1
        if n < floor:
            inadmissible += 1
            cases = np.int64(-1)
        else:
            if not same or n != cases:
                first, cases = np.int64(0), n
                for f in range(folds):
                    sizes[f] = 0
                for i in range(n):
                    sizes[fold_table[n, i]] += 1
            fold_grams(columns, rows, n, fold_table[n], first, grams, whole)
            share, offset = terms(n, rows_in_all, charge)
            reach = (worst_listed(errors, nothing) - offset) / share
            error = cross_validate(grams, whole, d, sizes, constrained, reach, nothing / share, room)
            keep(errors, subsets, nothing, share * error + offset, subset)
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
