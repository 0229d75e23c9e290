"""Least squares from Gram matrices, compiled: what a search does for each subset.

Conventions
-----------
* All that least squares needs stands in the Gram matrix Zᵀ Z of columns Z = [x₁ … x_d, y] over some rows: the
  last row and column are the target's. A training set's Gram matrix is that of all rows less the held-out ones'.
* A task that depends on those before it (its pivot is no larger than `DEPENDENT` of its own square) gets coefficient 0.
  Fitted values are the same whatever one does about it; the coefficients returned to users come from
  ``numpy.linalg.lstsq``.
* Errors here are sums of products and good to about 10⁻¹²; what is reported is computed again from the rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

DEPENDENT = 1e-11
"""Share of its own square below which a pivot counts as zero."""

TIE = 1e-9
"""Relative difference up to which two errors count as equal; of equals the subset that comes first is better."""

NEGATIVE = -1e-10
"""Coefficients below it count as negative."""

ANY_SIGN, DROP, CONSTRAIN = 0, 1, 2
"""What to do about negative coefficients: keep the model, drop it, or fit without."""


@njit(cache=True, nogil=True, error_model="numpy")
def least_squares(gram, d, factor, solution):  # type: ignore[no-untyped-def]
    """Solve the normal equations by Cholesky's method.

    Parameters
    ----------
    gram : float64 array, shape (≥ d + 1, ≥ d + 1)
        Of the columns [x₁ … x_d, y]; the target's row is row d.
    d : int
        Tasks.
    factor : float64 array, shape (≥ d, ≥ d)
        Room to work in.
    solution : float64 array, shape (≥ d,)
        Filled with the coefficients.
    """
    for j in range(d):
        pivot = gram[j, j]
        for k in range(j):
            pivot -= factor[j, k] * factor[j, k]
        if pivot <= DEPENDENT * gram[j, j]:
            for i in range(j, d):
                factor[i, j] = 0.0
            solution[j] = 0.0
            continue
        root = 1.0 / np.sqrt(pivot)
        for i in range(j + 1, d):
            value = gram[i, j]
            for k in range(j):
                value -= factor[i, k] * factor[j, k]
            factor[i, j] = value * root
        factor[j, j] = root  # the reciprocal of the diagonal
        value = gram[d, j]
        for k in range(j):
            value -= factor[j, k] * solution[k]
        solution[j] = value * root
    for j in range(d - 1, -1, -1):
        value = solution[j]
        for i in range(j + 1, d):
            value -= factor[i, j] * solution[i]
        solution[j] = value * factor[j, j]


@njit(cache=True, nogil=True, error_model="numpy")
def nonnegative_least_squares(gram, y, allowed, enough, factor, solution, active, room):  # type: ignore[no-untyped-def]
    """Solve least squares under the condition that no coefficient is negative (Lawson and Hanson 1974, ch. 23).

    Parameters
    ----------
    gram : float64 array, shape (≥ y + 1, ≥ y + 1)
        Of the columns [x₁ … x_d, y]; only the upper triangle is read.
    y : int
        The target's place.
    allowed : bool array, shape (≥ y,)
        Tasks that may have a coefficient other than 0.
    enough : float
        Stop as soon as the residual sum of squares is known not to be above it; −1 to go on to the least.
    factor : float64 array, shape (≥ y + 1, ≥ y + 1)
        Room to work in.
    solution : float64 array, shape (≥ y,)
        Filled with the coefficients.
    active : bool array, shape (≥ y,)
        On entry allowed tasks to begin with, on return those with a coefficient above 0.
    room : tuple of float64 arrays, shapes (≥ y + 1, ≥ y + 1) and (≥ y + 1,)
        To work in.

    Returns
    -------
    float
        The residual sum of squares; 0, which is never too much, should the method not come to an end.
    """
    small, trial = room
    places = np.empty(y, np.int64)
    for j in range(y):
        solution[j] = 0.0
    scale = gram[y, y]
    warm = True
    for _ in range(10 * y + 10):
        while True:  # least squares on the active tasks; back off to the first that would turn negative
            count = 0
            for j in range(y):
                if active[j]:
                    places[count] = j
                    count += 1
            for a in range(count):
                for b in range(a + 1):
                    small[a, b] = gram[places[b], places[a]]
                small[count, a] = gram[places[a], y]
            least_squares(small, count, factor, trial)
            step, leaving, left = 1.0, -1, 0
            for a in range(count):
                j = places[a]
                if trial[a] <= 0.0:
                    if warm:  # a first guess: leave out what is negative until nothing is
                        active[j] = False
                        left += 1
                    else:
                        share = solution[j] / (solution[j] - trial[a]) if solution[j] > trial[a] else 0.0
                        if leaving < 0 or share < step:
                            step, leaving = share, j
            if left > 0:
                continue
            warm = False
            for a in range(count):
                j = places[a]
                solution[j] = max(0.0, solution[j] + step * (trial[a] - solution[j]))
            if leaving < 0:
                break
            active[leaving] = False
            solution[leaving] = 0.0
        rest = scale
        for a in range(count):
            rest -= solution[places[a]] * gram[places[a], y]
        steepest, entering = 0.0, -1
        if rest > enough:
            for j in range(y):
                if allowed[j] and not active[j] and gram[j, j] > 0.0:
                    slope = gram[j, y]
                    for a in range(count):
                        b = places[a]
                        slope -= (gram[j, b] if j < b else gram[b, j]) * solution[b]
                    slope /= np.sqrt(gram[j, j])
                    if slope > steepest:
                        steepest, entering = slope, j
        if entering < 0 or steepest <= 1e-10 * np.sqrt(scale):
            return max(rest, 0.0)
        active[entering] = True
    return 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def solve_nonnegative(gram, d, factor, solution, active, room):  # type: ignore[no-untyped-def]
    """Replace the solution of `least_squares` by that of `nonnegative_least_squares`, where all tasks are allowed."""
    allowed = np.ones(d, np.bool_)
    for j in range(d):
        active[j] = solution[j] > 0.0
    nonnegative_least_squares(gram, d, allowed, -1.0, factor, solution, active, room)


@njit(cache=True, nogil=True, error_model="numpy")
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
    grams[:, :d, :d] = 0.0
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


@njit(cache=True, nogil=True, error_model="numpy")
def lowest(values, d):  # type: ignore[no-untyped-def]
    """Return the smallest of the first d values."""
    found = np.inf
    for j in range(d):
        found = min(found, values[j])
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def held_out_squares(held, d, solution):  # type: ignore[no-untyped-def]
    """Return the squared error of a model on the rows that a Gram matrix is of."""
    total = held[d, d]
    for a in range(d):
        inner = -2.0 * held[d, a]
        for b in range(d):
            inner += held[a, b] * solution[b]
        total += solution[a] * inner
    return max(total, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def cross_validate(grams, whole, d, sizes, sign, limit, room):  # type: ignore[no-untyped-def]
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
    sign : int
        `ANY_SIGN`, `DROP` or `CONSTRAIN`.
    limit : float
        Errors above it need not be computed to the end.
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
        if sign == CONSTRAIN and lowest(solution, d) < 0.0:
            solve_nonnegative(train, d, factor, solution, active, (small, trial))
        total += held_out_squares(grams[f], d, solution) / (folds * sizes[f])
        if total > limit:
            return np.inf
    if sign == DROP:
        least_squares(whole, d, factor, solution)
        if lowest(solution, d) < NEGATIVE:
            return np.inf
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def make_room(d):  # type: ignore[no-untyped-def]
    """Return arrays for `cross_validate` to work in, for up to d tasks."""
    return (
        np.empty((d + 1, d + 1)),
        np.empty((d + 1, d + 1)),
        np.empty(d + 1),
        np.empty(d + 1, np.bool_),
        np.empty((d + 1, d + 1)),
        np.empty(d + 1),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def keep(errors, subsets, error, subset):  # type: ignore[no-untyped-def]
    """Insert a subset into a list of the best, if it is good enough.

    Parameters
    ----------
    errors, subsets : float64 array, shape (top,), and int64 array, shape (top, d)
        The best so far, best first; places not yet taken have an infinite error. Changed.
    error : float
        Of the subset.
    subset : int64 array, shape (d,)
        Tasks in any order; ascending in the list.
    """
    last = len(errors) - 1
    if not error <= errors[last] * (1.0 + TIE) or error == np.inf:
        return
    ordered = ascending(subset)
    place = last + 1
    while place > 0 and _is_better(error, ordered, errors[place - 1], subsets, place - 1):
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


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def _is_better(error, subset, other_error, others, place):  # type: ignore[no-untyped-def]
    if error < other_error * (1.0 - TIE):
        return True
    if error > other_error * (1.0 + TIE):
        return False
    for a in range(len(subset)):
        if subset[a] != others[place, a]:
            return subset[a] < others[place, a]
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def search_each(scores, fold_table, floor, fixed, free, start, steps, sign, limit, early, errors, subsets):  # type: ignore[no-untyped-def]
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
    sign : int
        As for `cross_validate`.
    limit : float
        An error that is known to be reached.
    early : bool
        Whether to leave a subset after the fold by which it is known to be worse than the list.
    errors, subsets : float64 array, shape (top,), and int64 array, shape (top, d)
        The best found, ascending; filled.

    Returns
    -------
    (int, int)
        Subsets evaluated, and left out for too few complete cases.
    """
    choose, d = len(start), len(fixed) + len(start)
    rows_in_all, folds = scores.shape[1], fold_table.max() + 1
    chosen, subset = start.copy(), np.empty(d, np.int64)
    columns, rows = np.empty((d + 1, rows_in_all)), np.empty(rows_in_all, np.int64)
    grams, whole, sizes = np.empty((folds, d + 1, d + 1)), np.empty((d + 1, d + 1)), np.empty(folds, np.int64)
    room = make_room(d)
    columns[d] = scores[-1]
    evaluated, inadmissible = 0, 0
    for _ in range(steps):
        for a in range(d):
            subset[a] = fixed[a] if a < len(fixed) else free[chosen[a - len(fixed)]]
            columns[a] = scores[subset[a]]
        n = 0
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
            sizes[:] = 0
            for i in range(n):
                sizes[fold_of[i]] += 1
            fold_grams(columns, rows, n, fold_of, grams)
            for a in range(d + 1):
                for b in range(d + 1):
                    whole[a, b] = 0.0
                    for f in range(folds):
                        whole[a, b] += grams[f, a, b]
            reach = min(limit, errors[-1]) * (1.0 + TIE) if early else np.inf
            keep(errors, subsets, cross_validate(grams, whole, d, sizes, sign, reach, room), subset)
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
