"""Branch and bound, compiled: choose task after task, and skip branches that cannot be good enough.

Conventions
-----------
* A branch is a few chosen tasks, in any order, and those that may still be chosen. Its bound is that of non-negative
  least squares over both, because coefficients must not be negative. ::

      chosen A, B; left C, D, E, …   ── bounded: below the limit
        │
        ├── with C: chosen A, B, C; left D, E, …
        │
        └── without C: chosen A, B; left D, E, …   ── bounded again, because C had a coefficient
              │
              ├── with E: …

* The next task is the one with the largest contribution to the bound's solution: without it the bound rises most. As
  long as a branch lacks less than its group, only tasks that lack some of the rest are chosen.
* Of the last three tasks, the first is chosen in the order of these contributions, and the others as pairs
  (`arcademark.subset.search.pairs`, which explains groups, places and upper triangles).
"""

from __future__ import annotations

import numpy as np

from arcademark.subset.search.least_squares import entry, inner, make_room, nonnegative_least_squares
from arcademark.subset.search.pairs import (
    SLACK,
    eliminate,
    group_grams,
    group_places,
    judge_pairs,
    make_pair_room,
    reach_of,
)

WORTHWHILE = 20
"""Number of tasks left from which a bound takes less time than all pairs that it may save."""


@inner
def hopeless(metric, allowed, active, solution, rule, best, offset, room):  # type: ignore[no-untyped-def]
    """Return True if a bound proves that all subsets of a branch are worse than the listed ones.

    ``metric`` is the fold-weighted Gram matrix, an upper triangle. ``allowed`` marks tasks chosen or left. ``active``
    marks the initial tasks with a coefficient and is set to the final ones, ``solution`` to the coefficients.
    ``offset`` is added to the group's errors; ``rule`` and ``best`` are as for `search_groups`.
    """
    _, factor, result, _, small, trial = room
    q = len(allowed)
    reach = (reach_of(rule, best) - offset) / rule[1] + SLACK * metric[q, q]
    least = nonnegative_least_squares(metric, q, allowed, reach, factor, result, active, (small, trial))
    for j in range(q):
        solution[j] = result[j]
    return least > reach


@inner
def most_used(metric, solution, lacks_of, allowed, taken, need):  # type: ignore[no-untyped-def]
    """Return the task to branch on."""
    result, most = -1, -1.0
    for j in range(len(allowed)):
        if allowed[j] and not taken[j] and (need == 0 or lacks_of[j] & need != 0):
            use = solution[j] * solution[j] * metric[j, j]
            if use > most:
                result, most = j, use
    return result


@inner
def by_use(metric, solution, lacks_of, allowed, taken, need, first, names):  # type: ignore[no-untyped-def]
    """Write the tasks left to ``names`` from place ``first`` on, the most used first; return the place after them."""
    uses, end = np.empty(len(names)), first
    for j in range(len(allowed)):
        if allowed[j] and not taken[j]:
            use = solution[j] * solution[j] * metric[j, j]
            if lacks_of[j] & need != 0:
                use += metric[len(allowed), len(allowed)]  # before all tasks that do not lack what is needed
            place = end
            while place > first and uses[place - 1] < use:
                uses[place], names[place] = uses[place - 1], names[place - 1]
                place -= 1
            uses[place], names[place] = use, j
            end += 1
    return end


@inner
def eliminate_chosen(metric, names, before, end, squares, gram):  # type: ignore[no-untyped-def]
    """Gather the Gram matrix of some tasks and the target, and eliminate those of the first ``before`` places."""
    y = metric.shape[0] - 1
    for a in range(end):
        i = names[a]
        for b in range(a, end):
            j = names[b]
            gram[a, b] = metric[i, j] if i < j else metric[j, i]
        gram[a, end] = metric[i, y]
        squares[a] = gram[a, a]
    gram[end, end] = metric[y, y]
    for a in range(before):
        eliminate(gram, a, end, squares, gram)


@inner
def last_three(group, state, need, seen, before, rule, constrained, best, rooms):  # type: ignore[no-untyped-def]
    """Search a branch that needs three more tasks; the caller must allow excluded tasks again.

    ``state`` is (metric, allowed, taken, active, solution, chosen), as for `hopeless` and `search_groups`; ``need`` is
    the set that the group lacks beyond the ``before`` chosen tasks, ``seen`` the set that these lack; the rest is as
    for `arcademark.subset.search.pairs.judge_pairs`. Return the number of cross-validated subsets.
    """
    offset, lacks_of, evaluated = group[3], group[7], np.int64(0)
    metric, allowed, taken, active, solution, chosen = state
    pair_room, bound_room, names, gram, rest = rooms
    end = by_use(metric, solution, lacks_of, allowed, taken, need, before, names)
    for a in range(before):
        names[a] = chosen[a]
    eliminate_chosen(metric, names, before, end, pair_room[1], gram)
    for a in range(before, end - 2):
        can = 0
        if need != 0:
            for b in range(a, end):
                can |= lacks_of[names[b]]
        if need & ~can != 0:
            return evaluated
        if a > before:
            gone = names[a - 1]
            allowed[gone] = False
            stale, active[gone] = active[gone], False
            stale = stale and end - a >= WORTHWHILE
            if stale and hopeless(metric, allowed, active, solution, rule, best, offset, bound_room):
                return evaluated
        eliminate(gram, a, end, pair_room[1], rest)
        chosen[before] = names[a]
        pairs = a + 1, end, names, seen | lacks_of[names[a]]
        evaluated += judge_pairs(group, rest, pairs, chosen, rule, constrained, best, pair_room)
    return evaluated


@entry
def search_groups(data, fixed, free, groups, choose, rule, constrained, best):  # type: ignore[no-untyped-def]
    """Search the subsets of some groups, skipping branches and pairs that bounds prove to be worse.

    At least 3 tasks are chosen from ``free`` in addition to the ``fixed`` ones. ``data`` is as for
    `arcademark.subset.search.pairs.group_grams`, ``groups`` the set that each group lacks, ``constrained`` as for
    `arcademark.subset.search.kernels.judge`, and ``best``, which is filled, as for
    `arcademark.subset.search.kernels.keep`.

    Parameters
    ----------
    rule : tuple (limit, margin)
        An error that is known to be reached by as many subsets as are to be listed; a factor of bounds slightly below
        1, against rounding.

    Returns
    -------
    int
        Number of cross-validated subsets.
    """
    lack, evaluated = data[2], np.int64(0)
    held, d, last = len(fixed), len(fixed) + choose, choose - 3
    base = 0
    for task in fixed:
        base |= lack[task]
    for lacking in groups:
        places = group_places(fixed, free, lack, lacking)
        q = len(places)
        lacks_of = np.empty(q, np.int64)
        for a in range(q):
            lacks_of[a] = lack[places[a]]
        grams, whole, weighted, weights, offset = group_grams(data, lacking, places)
        group = grams, whole, weights, offset, SLACK * weighted[q, q], lacking, places, lacks_of
        allowed, taken, excluded_at = np.ones(q, np.bool_), np.zeros(q, np.bool_), np.zeros(q, np.int64) - 1
        active, solutions = np.zeros((last + 1, q), np.bool_), np.zeros((last + 1, q))
        chosen, lacks = np.arange(d), np.empty(last + 1, np.int64)
        for a in range(held):  # the fixed tasks come first
            taken[a] = True
        bound_room = make_room(q)
        names, gram, rest = np.empty(q, np.int64), np.empty((q + 1, q + 1)), np.empty((q + 1, q + 1))
        rooms = make_pair_room(len(weights), q, d), bound_room, names, gram, rest
        lacks[0] = base
        level, stale = np.int64(0), True
        while level >= 0:
            before, need = held + level, lacking & ~lacks[level]
            state = weighted, allowed, taken, active[level], solutions[level], chosen
            left, can = np.int64(0), np.int64(0)
            for j in range(q):
                if allowed[j] and not taken[j]:
                    left += 1
                    can |= lacks_of[j]
            if left >= choose - level and need & ~can == 0:
                done = stale and hopeless(weighted, allowed, state[3], state[4], rule, best, offset, bound_room)
                if level < last and not done:
                    task = most_used(weighted, solutions[level], lacks_of, allowed, taken, need)
                    chosen[before], taken[task] = task, True
                    lacks[level + 1] = lacks[level] | lacks_of[task]
                    for j in range(q):
                        active[level + 1, j] = active[level, j]
                        solutions[level + 1, j] = solutions[level, j]
                    level, stale = level + 1, False  # the bound is the same as before
                    continue
                if not done:
                    for j in range(q):
                        excluded_at[j] = level if allowed[j] and not taken[j] else excluded_at[j]
                    evaluated += last_three(group, state, need, lacks[level], before, rule, constrained, best, rooms)
            for j in range(q):
                if excluded_at[j] == level:
                    excluded_at[j], allowed[j] = -1, True
            level -= 1
            if level >= 0:  # continue without the task that was chosen last
                task = chosen[held + level]
                taken[task], allowed[task], excluded_at[task] = False, False, level
                stale, active[level, task] = active[level, task], False
    return evaluated
