"""Least squares from Gram matrices, compiled.

Conventions
-----------
* Least squares needs only the Gram matrix Zᵀ Z of the columns Z = [x₁ … x_d, y] over some rows; its last row and column
  are the target's.
* A task that depends on those before it (its pivot is at most the share `DEPENDENT` of its own square) has coefficient
  0. Fitted values do not depend on this choice; the coefficients returned to users come from ``numpy.linalg.lstsq``.
* `entry` compiles functions that Python calls, `inner` those that only compiled code calls, which compile faster.
* For short compilation, counters that are passed on begin as ``np.int64(0)``, because a literal 0 has another type, for
  which all called functions would be compiled again; slices are not assigned and methods not used for reductions,
  because these compile NumPy's own checks.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from arcademark.compiled import njit

DEPENDENT = 1e-11
"""Share of its own square below which a pivot counts as zero."""

NEGATIVE = 1e-10
"""A coefficient counts as negative if the norm of its term is more than this share of the target's norm."""

entry = partial(njit, cache=True, nogil=True, error_model="numpy")()
inner = partial(njit, cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)()


@inner
def least_squares(gram, d, factor, solution):  # type: ignore[no-untyped-def]
    """Fill in the coefficients of the first d columns of a Gram matrix by Cholesky's method; row d is the target's.

    ``factor``, shape (≥ d, ≥ d), is a working array.
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
    """Solve least squares without negative coefficients (Lawson and Hanson 1974, ch. 23).

    Only the upper triangle of ``gram`` is read; its target is at place y. ``allowed`` marks tasks that may have a
    coefficient other than 0; ``active`` marks the initial tasks, and is set to those with a coefficient above 0;
    ``solution`` is filled. Stop as soon as the residual sum of squares is at most ``enough``; −1 to minimise it.
    ``factor`` and ``room`` are working arrays. Return the residual sum of squares, or 0 without convergence.
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
                    if warm:  # an initial guess: leave out negative coefficients until there are none
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
    """Replace the solution of `least_squares` by that of `nonnegative_least_squares` with all tasks allowed."""
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
    """Return True if a coefficient is negative by more than rounding, in any units of the tasks."""
    for j in range(d):
        least = NEGATIVE * NEGATIVE * gram[d, d]
        if solution[j] < 0.0 and solution[j] * solution[j] * gram[j, j] > least:
            return True
    return False


@inner
def number_of_folds(fold_table):  # type: ignore[no-untyped-def]
    """Return the number of folds, all of which are in the last row."""
    last = fold_table[len(fold_table) - 1]
    result = np.int64(0)
    for i in range(len(last)):
        if last[i] >= result:
            result = last[i] + 1
    return result


@inner
def held_out_squares(held, d, solution):  # type: ignore[no-untyped-def]
    """Return the squared error of a model on the rows of a Gram matrix."""
    total = held[d, d]
    for a in range(d):
        inner = -2.0 * held[d, a]
        for b in range(d):
            inner += held[a, b] * solution[b]
        total += solution[a] * inner
    return total if total > 0.0 else 0.0


@inner
def make_room(d):  # type: ignore[no-untyped-def]
    """Return the working arrays of `solve_nonnegative` and others, for up to d tasks."""
    return (
        np.empty((d + 1, d + 1)),
        np.empty((d + 1, d + 1)),
        np.empty(d + 1),
        np.empty(d + 1, np.bool_),
        np.empty((d + 1, d + 1)),
        np.empty(d + 1),
    )
