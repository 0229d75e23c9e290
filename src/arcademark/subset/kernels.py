"""Search from the rows, compiled: cross-validate subset after subset, leaving out none.

The slower, plainer reference implementation of `arcademark.subset.pairs` and `arcademark.subset.every_fold`; nothing
is shared between subsets. Errors are sums of products and good to about 10⁻¹²; what is reported is computed again from
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
def fold_grams(columns, rows, n, fold_of, grams):  # type: ignore[no-untyped-def]
    """Fill in the Gram matrix of each fold's held-out rows.

    Parameters
    ----------
    columns : float64 array, shape (d + 1, all rows)
        Of the tasks and the target.
    rows : int64 array, shape (≥ n,)
        The complete cases.
    n : int
        How many.
    fold_of : int64 array, shape (≥ n,)
        Which fold each is held out in.
    grams : float64 array, shape (folds, ≥ d + 1, ≥ d + 1)
        Filled, both triangles.
    """
    d = columns.shape[0]
    for f in range(len(grams)):
        for a in range(d):
            for b in range(a + 1):
                grams[f, a, b] = 0.0
    for i in range(n):
        gram, row = grams[fold_of[i]], rows[i]
        for a in range(d):
            value = columns[a, row]
            for b in range(a + 1):
                gram[a, b] += value * columns[b, row]
    for f in range(len(grams)):
        for a in range(d):
            for b in range(a):
                grams[f, b, a] = grams[f, a, b]


@inner
def cross_validate(grams, whole, d, sizes, constrained, limit, nothing, room):  # type: ignore[no-untyped-def]
    """Mean over folds of the mean squared error on the held-out rows.

    Parameters
    ----------
    grams : float64 array, shape (folds, ≥ d + 1, ≥ d + 1)
        Of each fold's held-out rows.
    whole : float64 array, shape (≥ d + 1, ≥ d + 1)
        Of all rows.
    d : int
        Tasks.
    sizes : int64 array, shape (folds,)
        Held-out rows of each fold.
    constrained : True or None
        Whether every fit is made without negative coefficients; if None, models that have one are dropped.
    limit : float
        Errors above it need not be computed to the end.
    nothing : float
        Errors up to it count as 0.
    room : tuple
        Made by `make_room`.

    Returns
    -------
    float
        The error; infinity where it is above the limit, or the model of all rows is dropped for a negative coefficient.
    """
    train, factor, solution, active, small, trial = room
    total, folds = 0.0, len(sizes)
    for f in range(folds):
        for a in range(d + 1):
            for b in range(a + 1):
                train[a, b] = whole[a, b] - grams[f, a, b]
                train[b, a] = train[a, b]
        least_squares(train, d, factor, solution)
        if constrained is not None and lowest(solution, d) < 0.0:
            solve_nonnegative(train, d, factor, solution, active, (small, trial))
        total += held_out_squares(grams[f], d, solution) / (folds * sizes[f])
        if total > limit and total > nothing:
            return np.inf
    if constrained is None:
        least_squares(whole, d, factor, solution)
        if has_negative(whole, d, solution):
            return np.inf
    return total if total > nothing else 0.0


@inner
def worst_listed(errors, nothing):  # type: ignore[no-untyped-def]
    """Return the highest error that still ties with the last of a list."""
    return errors[len(errors) - 1] * (1.0 + TIE) + nothing


@entry
def keep(errors, subsets, nothing, error, subset):  # type: ignore[no-untyped-def]
    """Insert a subset into a list of the best, if it is good enough.

    Parameters
    ----------
    errors, subsets : float64 array, shape (top,), and int64 array, shape (top, d)
        The best so far, best first; places not yet taken have an infinite error. Changed.
    nothing : float
        Difference up to which two errors count as equal, beside `TIE`.
    error : float
        Of the subset.
    subset : int64 array, shape (d,)
        Tasks in any order; ascending in the list.
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
    """Return what complete cases' error is multiplied by, and what is added for the incomplete ones.

    Parameters
    ----------
    n, rows : int
        Complete cases; all.
    charge : float
        What an incomplete case counts as a squared error; −1 to leave incomplete cases out.
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
def search_each(scores, fold_table, floor, fixed, free, start, steps, constrained, charge, early, best):  # type: ignore[no-untyped-def]
    """Cross-validate subset after subset from the rows, leaving out none.

    Parameters
    ----------
    scores : float64 array, shape (tasks + 1, rows)
        Of the tasks and, last, the target; NaN where missing.
    fold_table : int64 array, shape (rows + 1, rows)
        In row n, the fold of each of n complete cases.
    floor : int64
        Fewest complete cases of a subset.
    fixed, free : int64 arrays
        Tasks that every subset has; tasks that the others are chosen from.
    start : int64 array
        Places in ``free`` to begin with, ascending; in lexicographic order the following ``steps`` are visited.
    steps : int
        How many subsets.
    constrained
        As for `cross_validate`.
    charge : float
        What an incomplete case counts as a squared error; −1 to leave incomplete cases out.
    early : bool
        Whether to leave a subset after the fold by which it is known to be worse than the list.
    best : tuple (errors, subsets, nothing)
        float64 array, shape (top,), and int64 array, shape (top, d): the best found, best first; filled. Error that
        counts as 0.

    Returns
    -------
    (int, int)
        Subsets evaluated, and left out for too few complete cases.
    """
    choose, d = len(start), len(fixed) + len(start)
    errors, subsets, nothing = best
    rows_in_all, folds = scores.shape[1], number_of_folds(fold_table)
    chosen, subset = start.copy(), np.empty(d, np.int64)
    columns, rows = np.empty((d + 1, rows_in_all)), np.empty(rows_in_all, np.int64)
    grams, whole, sizes = np.empty((folds, d + 1, d + 1)), np.empty((d + 1, d + 1)), np.empty(folds, np.int64)
    room = make_room(d)
    for row in range(rows_in_all):
        columns[d, row] = scores[len(scores) - 1, row]
    evaluated, inadmissible = 0, 0
    for _ in range(steps):
        for a in range(d):
            subset[a] = fixed[a] if a < len(fixed) else free[chosen[a - len(fixed)]]
            for row in range(rows_in_all):
                columns[a, row] = scores[subset[a], row]
        n = np.int64(0)
        for row in range(rows_in_all):
            complete = True
            for a in range(d):
                if np.isnan(columns[a, row]):
                    complete = False
                    break
            if complete:
                rows[n] = row
                n += 1
        if n < floor:
            inadmissible += 1
        else:
            fold_of = fold_table[n]
            for f in range(folds):
                sizes[f] = 0
            for i in range(n):
                sizes[fold_of[i]] += 1
            fold_grams(columns, rows, n, fold_of, grams)
            for a in range(d + 1):
                for b in range(d + 1):
                    whole[a, b] = 0.0
                    for f in range(folds):
                        whole[a, b] += grams[f, a, b]
            share, offset = terms(n, rows_in_all, charge)
            reach = (worst_listed(errors, nothing) - offset) / share if early else np.inf
            error = cross_validate(grams, whole, d, sizes, constrained, reach, nothing / share, room)
            keep(errors, subsets, nothing, share * error + offset, subset)
            evaluated += 1
        place = choose - 1
        while place >= 0 and chosen[place] == len(free) - choose + place:
            place -= 1
        if place < 0:
            break
        chosen[place] += 1
        for a in range(place + 1, choose):
            chosen[a] = chosen[a - 1] + 1
    return evaluated, inadmissible
