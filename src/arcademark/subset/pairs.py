"""Search with bounds, compiled: the last two tasks of a subset are chosen together, all pairs at once.

Conventions
-----------
* Algorithms that lack the same tasks are one *class*; what a task or subset *lacks* is a set of classes, the bits of a
  whole number. Subsets that lack the same have the same complete cases, folds and Gram matrices: they are searched
  together, one *group* after another.
* Within a group, tasks that lack something come first, so that soon it is settled that a subset lacks all that the
  group lacks.
* Pairs are bounded by what they explain of the fold-weighted error; in large searches, what leads to pairs by the
  fold-weighted error of non-negative least squares over the chosen tasks and all that may still be chosen
  (`arcademark.subset.bounds`).
* Of Gram matrices only upper triangles are kept; the target is their last column.
"""

from __future__ import annotations

import numpy as np

from arcademark.subset.bounds import completions, eliminate, explained_by_pairs, order_by_use
from arcademark.subset.kernels import TIE, keep, terms
from arcademark.subset.least_squares import (
    DEPENDENT,
    NEGATIVE,
    entry,
    held_out_squares,
    inner,
    least_squares,
    lowest,
    make_room,
    nonnegative_least_squares,
    solve_nonnegative,
)

EVALUATED, PRUNED, AUDITED, VIOLATIONS, ROWS, NODES, BOUNDED = range(7)
"""Places in the array of counts."""

SLACK = 1e-9
"""Share of the target's square by which non-negative least squares may miss the least."""


@inner
def judge(grams, whole, weights, subset, d, constrained, reach, room):  # type: ignore[no-untyped-def]
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
    d, constrained
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
    if constrained is None and smallest < NEGATIVE:
        return np.inf
    if constrained is not None and smallest < 0.0:
        solve_nonnegative(all_rows, d, factor, solution, active, (small, trial))
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
        if constrained is not None and lowest(solution, d) < 0.0:
            solve_nonnegative(train, d, factor, solution, active, (small, trial))
        total += held_out_squares(held[f], d, solution) * weights[f] - fitted[f]
        if total > reach:
            return np.inf
    return total


@inner
def make_judge_room(folds, d):  # type: ignore[no-untyped-def]
    """Return arrays for `judge` to work in."""
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
def group_grams(data, lacking, places):  # type: ignore[no-untyped-def]
    """Make the Gram matrices of a group.

    Parameters
    ----------
    data : tuple (columns, row_class, lack, fold_table, charge)
        float64 array, shape (rows, tasks + 1): scores, 0 where missing, the target last; int64 array, shape (rows,):
        each algorithm's class, −1 for those that lack nothing; int64 array, shape (tasks,): what each task lacks; int64
        array, shape (rows + 1, rows): in row n, the fold of each of n complete cases; float: what an incomplete case
        counts as a squared error, −1 to leave it out.
    lacking : int64
        What the group lacks.
    places : int64 array, shape (q,)
        Tasks, in the order of the matrices.

    Returns
    -------
    (float64 array, shape (folds, q + 1, q + 1); two of shape (q + 1, q + 1); float64 array, shape (folds,); float)
        Of each fold's held-out rows, of all rows, fold-weighted; what a fold's squares weigh in the error; what is
        added to the error for the incomplete cases.
    """
    columns, row_class, _, fold_table, charge = data
    q, rows = len(places), len(row_class)
    folds = fold_table.max() + 1
    n = 0
    for row in range(rows):
        if row_class[row] < 0 or not (lacking >> row_class[row]) & 1:
            n += 1
    grams, whole, weighted = np.zeros((folds, q + 1, q + 1)), np.zeros((q + 1, q + 1)), np.zeros((q + 1, q + 1))
    share, offset = terms(n, rows, charge)
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
        weights[f] = share / (folds * weights[f])
        for a in range(q + 1):
            for b in range(a, q + 1):
                whole[a, b] += grams[f, a, b]
                weighted[a, b] += weights[f] * grams[f, a, b]
    return grams, whole, weighted, weights, offset


@entry
def search_groups(data, fixed, free, groups, choose, rule, constrained, large, best):  # type: ignore[no-untyped-def]
    """Search the subsets of some groups, leaving out what the bounds prove to be worse.

    Parameters
    ----------
    data : tuple
        As for `group_grams`.
    fixed, free : int64 arrays
        Tasks that every subset has; those to choose from.
    groups : int64 array
        What each group lacks.
    choose : int
        Tasks to choose from ``free``, at least 2.
    rule : tuple (limit, margin, audit_every)
        An error that is known to be reached by as many subsets as are to be listed; what bounds are multiplied by
        before they count, a little below 1, against rounding; of so many rows of pairs, one pruned pair is
        cross-validated nonetheless.
    constrained : True or None
        As for `arcademark.subset.kernels.cross_validate`.
    large : True or None
        Whether to bound what leads to pairs, too.
    best : tuple (errors, subsets)
        float64 array, shape (top,), and int64 array, shape (top, fixed + choose): the best found, best first; filled.

    Returns
    -------
    int64 array, shape (7,)
        Subsets evaluated, pruned, audited, and violations of the bound; rows of pairs, nodes, and nodes bounded.
    """
    lack = data[2]
    limit, margin, audit_every = rule
    errors, subsets = best
    counts = np.zeros(7, np.int64)
    held, d = len(fixed), len(fixed) + choose
    base = 0
    for task in fixed:
        base |= lack[task]
    for lacking in groups:
        places = np.empty(held + len(free), np.int64)
        q = held
        for a in range(held):
            places[a] = fixed[a]
        for task in free:
            if lack[task] & ~lacking == 0:
                places[q] = task
                q += 1
        places = places[:q]
        bound_room = make_room(q)
        _, factor, solution, _, small, trial = bound_room
        if large is not None:
            order_by_use(group_grams(data, lacking, places)[2], held, places, lack, bound_room)
        grams, whole, weighted, weights, offset = group_grams(data, lacking, places)
        lacks_of = np.empty(q, np.int64)
        later = np.empty(q + 1, np.int64)  # what the tasks from here on lack together
        later[q] = 0
        for a in range(q - 1, -1, -1):
            lacks_of[a] = lack[places[a]]
            later[a] = later[a + 1] | lacks_of[a]
        squares = np.empty(q + 1)
        for a in range(q + 1):
            squares[a] = weighted[a, a]
        levels = np.empty((choose - 1, q + 1, q + 1))
        for a in range(q + 1):
            for b in range(a, q + 1):
                levels[0, a, b] = weighted[a, b]
        for a in range(held):
            eliminate(levels[0], a, squares, levels[0])
        room = make_judge_room(len(weights), d)
        scale, beta, explained = np.empty(q), np.empty(q), np.empty(q)
        chosen, subset, names = np.arange(d), np.arange(d), np.empty(d, np.int64)
        lacks = np.empty(choose + 1, np.int64)
        lacks[0] = base
        allowed, active = np.ones(q, np.bool_), np.zeros((choose, q), np.bool_)
        level, nxt, stale = 0, held, True
        while level >= 0:
            gram = levels[level]
            if level == choose - 2:
                for j in range(nxt, q):
                    fine = gram[j, j] > DEPENDENT * squares[j]
                    scale[j] = 1.0 / np.sqrt(gram[j, j]) if fine else 0.0
                    beta[j] = gram[j, q] * scale[j]
                for a in range(held + level):
                    subset[a] = chosen[a]
                counts[NODES] += 1
                for i in range(nxt, q - 1):
                    seen = lacks[level] | lacks_of[i]
                    if (seen | later[i + 1]) != lacking:
                        continue
                    explained_by_pairs(gram, i, scale, beta, explained)
                    counts[ROWS] += 1
                    audit = counts[ROWS] % audit_every == 0
                    reach = min(limit, errors[-1]) * (1.0 + TIE) - offset
                    cut = gram[q, q] - reach / margin
                    for j in range(i + 1, q):
                        if seen != lacking and (seen | lacks_of[j]) != lacking:
                            continue
                        pruned = explained[j] < cut
                        counts[PRUNED if pruned else EVALUATED] += 1
                        if pruned and not audit:
                            continue
                        subset[d - 2], subset[d - 1] = i, j
                        error = judge(grams, whole, weights, subset, d, constrained, np.inf if pruned else reach, room)
                        if pruned:
                            audit = False
                            counts[AUDITED] += 1
                            counts[VIOLATIONS] += error < (gram[q, q] - explained[j]) * margin
                        elif error <= reach:
                            for a in range(d):
                                names[a] = places[subset[a]]
                            keep(errors, subsets, error + offset, names)
                            reach = min(limit, errors[-1]) * (1.0 + TIE) - offset
                            cut = gram[q, q] - reach / margin
            elif q - nxt >= choose - level and (lacks[level] | later[nxt]) == lacking:
                hopeless = False
                if large is not None and stale and level < choose - 3:  # a pair's own bound is cheaper
                    for a in range(held, q):
                        allowed[a] = a >= nxt
                    for a in range(held, held + level):
                        allowed[chosen[a]] = True
                    reach = (min(limit, errors[-1]) * (1.0 + TIE) - offset) / margin + SLACK * weighted[q, q]
                    counts[BOUNDED] += 1
                    least = nonnegative_least_squares(
                        weighted, q, allowed, reach, factor, solution, active[level], (small, trial)
                    )
                    hopeless = least > reach
                if hopeless:
                    counts[PRUNED] += completions(lacks_of, nxt, lacking & ~lacks[level], choose - level)
                else:  # choose the next task
                    chosen[held + level] = nxt
                    lacks[level + 1] = lacks[level] | lacks_of[nxt]
                    eliminate(gram, nxt, squares, levels[level + 1])
                    for a in range(q):
                        active[level + 1, a] = active[level, a]
                    level, nxt, stale = level + 1, nxt + 1, False
                    continue
            level -= 1
            if level >= 0:
                nxt = chosen[held + level]
                stale = active[level, nxt]
                active[level, nxt] = False
                nxt += 1
    return counts
