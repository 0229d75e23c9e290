"""Traces of features: kernels on groups of features with a common history.

The update of a feature's weights is determined by the steps at which the feature was active and by the actions at these
steps. Features with the same recent history therefore have the same traces, and a step needs to process only features
that turn on or off: these move from one group to another, and their weights receive the gain of the old group.

Conventions
-----------
* Step t of an episode (from 0) is: action a_t is taken; features turn on and off; weights change by u_t times traces.
  "Now" is t, between the second and the third. The state that an episode begins with turns on before step 0.
* A trace of a feature and an action is determined by the step τ at which the action was last taken while the feature
  was active: at step t it is d^(t-τ), d = γλ, while t - τ is at most the horizon K, and zero afterwards.
* *Sums of updates.* ``sums[s]`` = Σ u_i d^(i-b), i from b to s, where b is the greatest multiple of K + 1 up to s. Any
  Σ u_s d^(s-τ) over a part of a trace's life is therefore a difference of two sums, or a sum of two such differences;
  since d^K is at least the threshold, no precision is lost.
* *Groups.* A feature that turned on belongs to a group of features that did so at the same step with the same older
  traces. While it is on, each action restarts its trace, so all active features have the same trace for the action.
  ``gains[t, a]`` = Σ u_s (last restarted trace of a), s < t: the gain of such a trace between two steps is again a
  difference. A feature that turned off belongs to a group of features with the same current traces. Group 0 contains
  the features that are off without traces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.linear.rows import LANES, add_rows, expect_row
from arcademark.compiled import njit

AHEAD = 16
"""Number of features, or groups, whose rows are prefetched ahead of their use."""

BLOCK = 256
"""Number of features whose weights are summed before the sum is added to the values; a multiple of `AHEAD`."""

NEVER = -1
OFF = -1


class Groups(NamedTuple):
    """Groups of features with a common history; G places for groups.

    Parameters
    ----------
    of : int32 array, shape (F,)
        The group of each feature.
    table : int32 array, shape (G, COLUMNS)
        A row per group. The first `TRACES` entries are the τ of its traces at its creation, latest first; from column
        `LANES` on:

        * `FIRST`: for features that are on, the step from which on actions restart their traces; otherwise `OFF`;
        * `SINCE`: the step before which updates are in the weights;
        * `SIZE`: the number of features (not counted for group 0);
        * `LEFT`: the number of the last event in which features left; for that event
        * `NEXT`: the group that they move to,
        * `MOVED`: the number that moved so far;
        * `TRACES`: the number of traces at its creation;
        * `OTHER`: another group of its event and its entry in `by_hash`, or `NEVER`.
    gain : float array, shape (G, LANES)
        The gain since `SINCE` of the weights of features that leave in event `LEFT`.
    leaving, free : int32 array, shape (G,)
        Lists of groups that features leave in this event, and of unused places.
    by_hash : int32 array, shape (1 << `HASH_BITS`, 2)
        The last group created with each hash of traces, and the event in which it was; the entry is empty in others.
    gained : float64 array, shape (LANES,)
    taken : int32 array, shape (LANES,)
        Buffers for the gain and the τ of traces of a group.
    old : int32 array, shape (2, AHEAD)
    total : float64 array, shape (LANES,)
        Buffers for the groups that features leave, and for the sum of weights.
    """

    of: NDArray[np.int32]
    table: NDArray[np.int32]
    gain: NDArray[Any]
    leaving: NDArray[np.int32]
    free: NDArray[np.int32]
    by_hash: NDArray[np.int32]
    gained: NDArray[np.float64]
    taken: NDArray[np.int32]
    old: NDArray[np.int32]
    total: NDArray[np.float64]


class Episode(NamedTuple):
    """State of an episode; T places for steps.

    Parameters
    ----------
    counters : int64 array, shape (5,)
        Number of finished steps (`STEP`), actions (`TAKEN`), active features (`ACTIVE`), events (`EVENT`: calls in
        which features move), and free places for groups (`FREE`).
    last : int32 array, shape (LANES,)
        Last step of each action, or `NEVER`.
    recent : int32 array, shape (LANES,)
        All actions, the latest first; actions that were never taken are last.
    actions : int32 array, shape (T,)
        The action of each step.
    blocks : int32 array, shape (T,)
        The b of `sums`.
    sums : float64 array, shape (T,)
    gains : float64 array, shape (T, LANES)
    next_taken : int32 array, shape (T, LANES)
        First step from t on with each action; only for t up to `last`.
    on_since : int64 array, shape (LANES, K + 1)
        Number of active features with a trace from step τ, at index τ - b.
    trace_sums : float64 array, shape (LANES,)
        Sum of the active features' traces.
    powers : float64 array, shape (2 K + 1,)
        d^(i - K).
    values : float64 array, shape (LANES,)
    """

    counters: NDArray[np.int64]
    last: NDArray[np.int32]
    recent: NDArray[np.int32]
    actions: NDArray[np.int32]
    blocks: NDArray[np.int32]
    sums: NDArray[np.float64]
    gains: NDArray[np.float64]
    next_taken: NDArray[np.int32]
    on_since: NDArray[np.int64]
    trace_sums: NDArray[np.float64]
    powers: NDArray[np.float64]
    values: NDArray[np.float64]


kernel = njit(cache=True, _nrt=False)  # type: ignore[call-overload]
"""Compiles functions without allocations; they omit reference counts of arrays, which would take half the time."""

STEP, TAKEN, ACTIVE, EVENT, FREE = range(5)
FIRST, SINCE, SIZE, LEFT, NEXT, MOVED, TRACES, OTHER = range(LANES, LANES + 8)
COLUMNS = 32
HASH_BITS = 12


@njit(cache=True, inline="always")
def span(episode, tau, start, end):  # type: ignore[no-untyped-def]
    """Return Σ u_s d^(s-τ), s from `start` (τ or later) to the lesser of `end` and τ + K; 0 if the range is empty."""
    sums, powers, blocks = episode.sums, episode.powers, episode.blocks
    horizon = len(powers) >> 1
    end = min(end, tau + horizon)
    if end < start:
        return 0.0
    first_block, last_block = blocks[start], blocks[end]
    before = sums[start - 1] if start > first_block else 0.0
    if first_block == last_block:
        return (sums[end] - before) * powers[first_block - tau + horizon]
    rest = (sums[last_block - 1] - before) * powers[first_block - tau + horizon]
    return rest + sums[end] * powers[last_block - tau + horizon]


@njit(cache=True, inline="always")
def settle_group(groups, episode, group):  # type: ignore[no-untyped-def]
    """Compute the gain of a group's weights before now, and the τ of its current traces, latest first.

    They are written to ``gain[group]`` and `taken`. Returns the number of traces.
    """
    gained, taken = groups.gained, groups.taken
    now = episode.counters[STEP]
    oldest = now - (len(episode.powers) >> 1)
    table, last = groups.table, episode.last
    since, first = table[group, SINCE], table[group, FIRST]
    for lane in range(LANES):
        gained[lane] = 0.0
    traces = 0
    if first != OFF:
        for lane in episode.recent:
            if last[lane] < first:
                break
            gained[lane] = episode.gains[now, lane] - episode.gains[episode.next_taken[first, lane], lane]
            if last[lane] >= oldest:
                taken[traces] = last[lane]
                traces += 1
    for i in range(table[group, TRACES]):
        tau = table[group, i]
        lane = episode.actions[tau]
        restarted = first != OFF and last[lane] >= first
        end = episode.next_taken[first, lane] if restarted else now
        gained[lane] += span(episode, tau, since, end - 1)
        if not restarted and tau >= oldest:
            taken[traces] = tau
            traces += 1
    for lane in range(LANES):
        groups.gain[group, lane] = gained[lane]
    return traces


@njit(cache=True, inline="always")
def find_group(groups, episode, first, traces):  # type: ignore[no-untyped-def]
    """Return the group of this event with the first `traces` traces of `taken`, created if necessary."""
    event = episode.counters[EVENT]
    table, by_hash, taken = groups.table, groups.by_hash, groups.taken
    code = np.uint64(0)
    for i in range(traces):
        code = (code ^ np.uint64(taken[i] + 1)) * np.uint64(0x9E3779B97F4A7C15)
    slot = code >> np.uint64(64 - HASH_BITS)
    latest = group = by_hash[slot, 0] if by_hash[slot, 1] == event else np.int32(NEVER)
    while group != NEVER:
        same = table[group, FIRST] == first and table[group, TRACES] == traces
        for i in range(traces):
            same &= table[group, i] == taken[i]
        if same:
            return group
        group = table[group, OTHER]
    episode.counters[FREE] -= 1
    group = groups.free[episode.counters[FREE]]
    by_hash[slot, 0], by_hash[slot, 1] = group, event
    for i in range(traces):
        table[group, i] = taken[i]
    table[group, TRACES] = traces
    table[group, FIRST] = first
    table[group, SINCE] = episode.counters[STEP]
    table[group, LEFT] = NEVER
    table[group, OTHER] = latest
    table[group, SIZE] = table[group, MOVED] = 0
    return group


@njit(cache=True, inline="always")
def leave(groups, episode, group):  # type: ignore[no-untyped-def]
    """Compute the gain and the next group of features that leave a group now."""
    traces = settle_group(groups, episode, group)
    first = episode.counters[TAKEN] if groups.table[group, FIRST] == OFF else OFF
    idle = first == OFF and traces == 0
    groups.table[group, NEXT] = 0 if idle else find_group(groups, episode, first, traces)
    groups.table[group, LEFT] = episode.counters[EVENT]


@kernel
def turn(weights, groups, episode, features, sign, leaving):  # type: ignore[no-untyped-def]
    """Move features that turned on (`sign` 1) or off (-1) to their next group, and bring their weights up to date.

    `leaving` is the number of groups in ``groups.leaving``; returns their number afterwards.
    """
    event = episode.counters[EVENT]
    groups_of, table, total = groups.of, groups.table, groups.total
    for start in range(0, len(features) + AHEAD, AHEAD):
        old, before = groups.old[start // AHEAD & 1], groups.old[start // AHEAD & 1 ^ 1]
        part = features[start : start + AHEAD]
        for i in range(len(part)):
            expect_row(weights, part[i])
            old[i] = groups_of[np.uint32(part[i])]  # unsigned, like groups, to avoid checks of signs
            expect_row(table, old[i])
        for i in range(len(part)):
            group = np.uint32(old[i])
            if table[group, LEFT] != event:
                leave(groups, episode, group)
                groups.leaving[leaving] = group
                leaving += 1
            table[group, MOVED] += 1
            groups_of[np.uint32(part[i])] = table[group, NEXT]
        add_rows(weights, features[max(start - AHEAD, 0) : start], groups.gain, before, total)
        if start % BLOCK == 0 or start >= len(features):
            for lane in range(LANES):
                episode.values[lane] += sign * total[lane]
                total[lane] = 0.0
    return leaving


@kernel
def account(groups, episode, start, stop, sign):  # type: ignore[no-untyped-def]
    """Count the traces of the features that left groups ``leaving[start:stop]``, and free the empty groups.

    `sign` is 1 if the features turned on, -1 if off.
    """
    now = episode.counters[STEP]
    horizon = len(episode.powers) >> 1
    table = groups.table
    for i in range(start, stop):
        expect_row(table, groups.leaving[min(i + AHEAD, stop - 1)])
        group = groups.leaving[i]
        moved, following = table[group, MOVED], table[group, NEXT]
        table[group, MOVED] = 0
        for trace in range(table[following, TRACES]):
            tau = table[following, trace]
            lane = episode.actions[tau]
            episode.on_since[lane, tau - episode.blocks[tau]] += sign * moved
            episode.trace_sums[lane] += sign * moved * episode.powers[now - tau + horizon]
        if following:
            table[following, SIZE] += moved
        if group:
            table[group, SIZE] -= moved
            if table[group, SIZE] == 0:
                groups.free[episode.counters[FREE]] = group
                episode.counters[FREE] += 1


@kernel
def see(weights, groups, episode, on, off):  # type: ignore[no-untyped-def]
    """Turn features on and off; `on` and `off` as in `features.base.Change`."""
    none, one = np.int64(0), np.int64(1)  # literals would compile both functions a second time
    left = turn(weights, groups, episode, off, -1.0, none)
    account(groups, episode, none, left, -one)
    both = turn(weights, groups, episode, on, 1.0, left)
    account(groups, episode, left, both, one)
    episode.counters[ACTIVE] += len(on) - len(off)
    episode.counters[EVENT] += 1


@kernel
def take(episode, action):  # type: ignore[no-untyped-def]
    """Take an action: traces decay, and those of `action` restart for all active features."""
    now, active = episode.counters[STEP], episode.counters[ACTIVE]
    horizon = len(episode.powers) >> 1
    slot = now - episode.blocks[now]
    decay, oldest = episode.powers[horizon + min(1, horizon)], episode.powers[2 * horizon]
    for lane in range(LANES):
        alive = episode.last[lane] != NEVER and now - episode.last[lane] <= horizon
        dead = episode.on_since[lane, slot]
        left = (episode.trace_sums[lane] - dead * oldest) * decay
        episode.trace_sums[lane] = left if alive else 0.0
        episode.on_since[lane, slot] = 0
    for step in range(episode.last[action] + 1, now + 1):
        episode.next_taken[step, action] = now
    place = 0
    while episode.recent[place] != action:
        place += 1
    for i in range(place, 0, -1):
        episode.recent[i] = episode.recent[i - 1]
    episode.recent[0] = episode.actions[now] = action
    episode.last[action] = now
    episode.on_since[action, :] = 0
    episode.on_since[action, slot] = active
    episode.trace_sums[action] = active
    episode.counters[TAKEN] += 1


@kernel
def update(episode, amount):  # type: ignore[no-untyped-def]
    """Change the values by `amount` times the traces, and all weights later; end the step."""
    now = episode.counters[STEP]
    horizon = len(episode.powers) >> 1
    offset = now - episode.blocks[now]
    before = episode.sums[now - 1] if offset else 0.0
    episode.sums[now] = before + amount * episode.powers[horizon + offset]
    for lane in range(LANES):
        age = now - episode.last[lane]
        alive = episode.last[lane] != NEVER and age <= horizon
        trace = episode.powers[horizon + age] if alive else 0.0
        episode.gains[now + 1, lane] = episode.gains[now, lane] + amount * trace
        episode.values[lane] += amount * episode.trace_sums[lane]
    episode.counters[STEP] += 1


@kernel
def settle(weights, groups, episode, dead_only):  # type: ignore[no-untyped-def]
    """Update weights and move features to group 0; with `dead_only`, only those that are off without traces."""
    event = episode.counters[EVENT]
    for feature in range(len(groups.of)):
        group = groups.of[feature]
        if group == 0:
            continue
        row = groups.table[group]
        if row[LEFT] != event:
            traces = settle_group(groups, episode, group)
            row[NEXT] = group if dead_only and (traces or row[FIRST] != OFF) else 0
            row[LEFT] = event
        if row[NEXT] == 0:
            groups.of[feature] = 0
            for lane in range(LANES):
                weights[feature, lane] += groups.gain[group, lane]
            row[SIZE] -= 1
            if row[SIZE] == 0:
                groups.free[episode.counters[FREE]] = group
                episode.counters[FREE] += 1
    episode.counters[EVENT] += 1
