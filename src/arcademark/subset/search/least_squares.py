"""Least squares from Gram matrices, compiled.

Conventions
-----------
* All that least squares needs stands in the Gram matrix Zᵀ Z of columns Z = [x₁ … x_d, y] over some rows: the
  last row and column are the target's.
* A task that depends on those before it (its pivot is no larger than `DEPENDENT` of its own square) gets coefficient 0.
  Fitted values are the same whatever one does about it; the coefficients returned to users come from
  ``numpy.linalg.lstsq``.
* `entry` compiles what Python calls, `inner` what only compiled code calls, which takes less time to compile.
* What is written for the compiler: counters that are passed on begin as ``np.int64(0)``, as a plain 0 has a type of its
  own and all that is called would be compiled twice; no slice is assigned and nothing reduced by a method, as that
  compiles numpy's own checks.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from arcademark.compiled import njit

DEPENDENT = 1e-11
"""Share of its own square below which a pivot counts as zero."""

NEGATIVE = 1e-10
"""A coefficient counts as negative where what it takes away, as a length, is more than that share of the target's."""

entry = partial(njit, cache=True, nogil=True, error_model="numpy")()
inner = partial(njit, cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)()


@inner
def least_squares(gram, d, factor, solution):  # type: ignore[no-untyped-def]
    """Fill in the coefficients of the first d columns of a Gram matrix, the target's row being d, by Cholesky's method.

    ``factor``, shape (≥ d, ≥ d), is room to work in.
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


@inner
def nonnegative_least_squares(gram, y, allowed, enough, factor, solution, active, room):  # type: ignore[no-untyped-def]
    """Solve least squares under the condition that no coefficient is negative (Lawson and Hanson 1974, ch. 23).

    Of ``gram``, whose target is at place y, the upper triangle is read. ``allowed`` marks tasks that may have a
    coefficient other than 0; ``active`` is on entry those to begin with, on return those with a coefficient above 0;
    ``solution`` is filled. Stop as soon as the residual sum of squares is known not to be above ``enough``; −1 to go on
    to the least. ``factor`` and ``room`` are to work in. Return the residual sum of squares; 0, which is never too
    much, should the method not come to an end.
    """
    small, trial = room
    places = np.empty(y, np.int64)
    for j in range(y):
        solution[j] = 0.0
    scale = gram[y, y]
    warm = True
    for _ in range(10 * y + 10):
        while True:  # least squares on the active tasks; back off to the first that would turn negative
            count = np.int64(0)
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
                moved = solution[j] + step * (trial[a] - solution[j])
                solution[j] = moved if moved > 0.0 else 0.0
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
            return rest if rest > 0.0 else 0.0
        active[entering] = True
    return 0.0


@inner
def solve_nonnegative(gram, d, factor, solution, active, room):  # type: ignore[no-untyped-def]
    """Replace the solution of `least_squares` by that of `nonnegative_least_squares`, where all tasks are allowed."""
    allowed = np.ones(d, np.bool_)
    for j in range(d):
        active[j] = solution[j] > 0.0
    nonnegative_least_squares(gram, d, allowed, -1.0, factor, solution, active, room)


@inner
def lowest(values, d):  # type: ignore[no-untyped-def]
    """Return the smallest of the first d values."""
    result = np.inf
    for j in range(d):
        if values[j] < result:
            result = values[j]
    return result


@inner
def has_negative(gram, d, solution):  # type: ignore[no-untyped-def]
    """Return whether a coefficient is negative by more than rounding, whatever the units of the tasks."""
    for j in range(d):
        least = NEGATIVE * NEGATIVE * gram[d, d]
        if solution[j] < 0.0 and solution[j] * solution[j] * gram[j, j] > least:
            return True
    return False


@inner
def number_of_folds(fold_table):  # type: ignore[no-untyped-def]
    """Return how many folds there are; all are in the last row."""
    last = fold_table[len(fold_table) - 1]
    result = np.int64(0)
    for i in range(len(last)):
        if last[i] >= result:
            result = last[i] + 1
    return result


@inner
def held_out_squares(held, d, solution):  # type: ignore[no-untyped-def]
    """Return the squared error of a model on the rows that a Gram matrix is of."""
    total = held[d, d]
    for a in range(d):
        inner = -2.0 * held[d, a]
        for b in range(d):
            inner += held[a, b] * solution[b]
        total += solution[a] * inner
    return total if total > 0.0 else 0.0


@inner
def make_room(d):  # type: ignore[no-untyped-def]
    """Return arrays for `solve_nonnegative` and others to work in, for up to d tasks."""
    return (
        np.empty((d + 1, d + 1)),
        np.empty((d + 1, d + 1)),
        np.empty(d + 1),
        np.empty(d + 1, np.bool_),
        np.empty((d + 1, d + 1)),
        np.empty(d + 1),
    )
