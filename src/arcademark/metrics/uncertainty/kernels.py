"""Resampling of scores, compiled: what aggregates, profiles and probabilities of improvement might also have been.

Conventions
-----------
* Runs lie task after task: task i has ``runs[first[i]:first[i + 1]]``. A replicate draws as many of them as there are,
  with replacement and independently of every other task (the stratified bootstrap of Agarwal et al. 2021, §4.1).
* Every replicate has a stream of its own, made of ``key`` and the replicate's number, so that any thread may compute
  it. Streams are SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
* One word of 32 bits gives several draws, each as likely as any other (Lemire 2019, "Fast random integer generation in
  an interval"; Brackett-Rozinsky and Lemire 2024, "Batched ranged random integer generation"). ::

      word w, drawn again while (w · n^k mod 2³²) < (2³² mod n^k)
      draw 1 = ⌊w · n / 2³²⌋,   w ← w · n mod 2³²,   draw 2 = ⌊w · n / 2³²⌋,   …   draw k

* Nothing is sorted anew for a replicate: runs are sorted once, a replicate counts how often each is drawn, and its
  trimmed mean is read off the counts.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_ONE = np.uint64(1)
_LOW = np.uint64(0xFFFFFFFF)

WORD_BITS = 24
"""Bits of a word that are spent on draws at most, so that few words are rejected."""


@njit(cache=True, nogil=True, inline="always")
def mix(word):  # type: ignore[no-untyped-def]
    """Scatter the bits of a word, one to one (uint64 to uint64): the output function of SplitMix64."""
    word = (word ^ (word >> _30)) * _MIX_1
    word = (word ^ (word >> _27)) * _MIX_2
    return word ^ (word >> _31)


@njit(cache=True, nogil=True, inline="always")
def stream(key, replicate):  # type: ignore[no-untyped-def]
    """Return the state with which a replicate's stream starts (uint64)."""
    return mix(key ^ mix((np.uint64(replicate) + _ONE) * _GOLDEN))


@njit(cache=True, nogil=True, inline="always")
def draw_word(span, state):  # type: ignore[no-untyped-def]
    """Draw a word below 2³², from which k whole numbers below n follow without bias, and the stream's next state.

    `span`, a uint64, is n^k, from 1 to 2³² − 1.
    """
    state += _GOLDEN
    word = mix(state) >> _32
    if (word * span) & _LOW < span:
        least = (_LOW - span + _ONE) % span
        while (word * span) & _LOW < least:
            state += _GOLDEN
            word = mix(state) >> _32
    return word, state


@njit(cache=True, nogil=True)
def batches(first):  # type: ignore[no-untyped-def]
    """Return for each task of n runs how many draws k a word gives (int64), and n^k (uint64), shape (tasks,) each."""
    tasks = first.size - 1
    per_word, spans = np.ones(tasks, np.int64), np.ones(tasks, np.uint64)
    for i in range(tasks):
        runs = np.uint64(first[i + 1] - first[i])
        spans[i] = runs
        if runs == _ONE:
            per_word[i] = WORD_BITS
        while runs > _ONE and spans[i] * runs < np.uint64(1 << WORD_BITS):
            spans[i] *= runs
            per_word[i] += 1
    return per_word, spans


@njit(cache=True, nogil=True)
def resample_aggregates(runs, first, place, pooled, contested, below, gamma, least, most, key, begin, end, out):  # type: ignore[no-untyped-def]
    """Draw replicates of mean, median, interquartile mean and optimality gap, and of what they are within bounds.

    Parameters
    ----------
    runs : float64 array, shape (n,)
        Normalised scores, task after task; fastest where tasks ascend.
    first : int64 array, shape (tasks + 1,)
        Where each task begins; the last is n.
    place : int64 array, shape (n,)
        Where each run stands in ``pooled``.
    pooled : float64 array, shape (n,)
        All runs, ascending.
    contested : bool array, shape (tasks,)
        Tasks that can be in the middle, or on either side of it; `below` of the others are always below it.
    gamma : float
        Threshold of the optimality gap.
    least, most : float
        Within which scores are held: tasks' means in mean and median, runs in the others.
    key : uint64
        Which family of streams.
    begin, end : int
        Replicates [begin, end).
    out : float64 array, shape (4 or 8, replicates)
        Filled with the four, and where there is room with the same of scores that are held.
    """
    tasks, total = first.size - 1, runs.size
    per_word, spans = batches(first)
    counts, middle = np.empty(runs.size, np.int32), np.empty(tasks)
    cut, held = total // 4, out.shape[0] > 4
    pooled_held = np.minimum(np.maximum(pooled, least), most)
    low_middle, high_middle = (tasks - 1) // 2 - below, tasks // 2 - below
    for replicate in range(begin, end):
        state = stream(key, replicate)
        counts[:] = 0
        mean, reached, inserted = 0.0, 0.0, 0
        mean_held, reached_held = 0.0, 0.0
        for i in range(tasks):
            n, start = first[i + 1] - first[i], first[i]
            summed, capped, capped_held, left = 0.0, 0.0, 0.0, n
            while left > 0:
                word, state = draw_word(spans[i], state)
                for _ in range(min(left, per_word[i])):
                    word *= np.uint64(n)
                    run = start + np.int64(word >> _32)
                    word &= _LOW
                    value = runs[run]
                    counts[place[run]] += 1
                    summed += value
                    capped += min(value, gamma)
                    capped_held += min(within(value, least, most), gamma)
                left -= per_word[i]
            score = summed / n
            mean += score
            reached += capped / n
            mean_held += within(score, least, most)
            reached_held += capped_held / n
            if contested[i] and (inserted <= high_middle or score < middle[high_middle]):
                insert(score, middle, min(inserted, high_middle))
                inserted += 1
        out[0, replicate] = mean / tasks
        out[1, replicate] = 0.5 * (middle[low_middle] + middle[high_middle])
        out[2, replicate] = trimmed_mean(counts, pooled, cut, total - cut)
        out[3, replicate] = gamma - reached / tasks
        if held:
            low, high = within(middle[low_middle], least, most), within(middle[high_middle], least, most)
            out[4, replicate] = mean_held / tasks
            out[5, replicate] = 0.5 * (low + high)
            out[6, replicate] = trimmed_mean(counts, pooled_held, cut, total - cut)
            out[7, replicate] = gamma - reached_held / tasks


@njit(cache=True, nogil=True, inline="always")
def within(value, least, most):  # type: ignore[no-untyped-def]
    """Hold a value within bounds."""
    return min(max(value, least), most)


@njit(cache=True, nogil=True, inline="always")
def insert(value, ascending, size):  # type: ignore[no-untyped-def]
    """Insert a value into the first ``size`` of an ascending float64 array with room for one more."""
    j = size
    while j > 0 and ascending[j - 1] > value:
        ascending[j] = ascending[j - 1]
        j -= 1
    ascending[j] = value


@njit(cache=True, nogil=True)
def trimmed_mean(counts, values, low, high):  # type: ignore[no-untyped-def]
    """Average places [low, high) of ascending `values`, where each takes as many places as it counts.

    `counts` and `values` have shape (n,); 0 ≤ low < high ≤ the sum of counts.
    """
    i, reached = 0, np.int64(counts[0])
    while reached <= low:
        i += 1
        reached += counts[i]
    total = (min(reached, high) - low) * values[i]
    while reached < high and reached + counts[i + 1] <= high:
        i += 1
        total += counts[i] * values[i]
        reached += counts[i]
    if reached < high:
        total += (high - reached) * values[i + 1]
    return total / (high - low)


@njit(cache=True, nogil=True)
def resample_profile(levels, first, key, begin, end, out):  # type: ignore[no-untyped-def]
    """Draw replicates of a performance profile: the share of runs above each threshold, averaged over tasks.

    `levels`, int64 (n,), has for each run, task after task, how many of the ascending thresholds it is above; `out` is
    filled with the profile, (thresholds, replicates). The others are as in `resample_aggregates`.
    """
    tasks, thresholds = first.size - 1, out.shape[0]
    per_word, spans = batches(first)
    reached = np.empty(thresholds + 1)
    for replicate in range(begin, end):
        state = stream(key, replicate)
        reached[:] = 0.0
        for i in range(tasks):
            n = first[i + 1] - first[i]
            share, left = 1.0 / (n * tasks), n
            while left > 0:
                word, state = draw_word(spans[i], state)
                for _ in range(min(left, per_word[i])):
                    word *= np.uint64(n)
                    reached[levels[first[i] + np.int64(word >> _32)]] += share
                    word &= _LOW
                left -= per_word[i]
        above = 0.0
        for t in range(thresholds - 1, -1, -1):
            above += reached[t + 1]
            out[t, replicate] = above


@njit(cache=True, nogil=True)
def resample_improvement(less, up_to, first_x, first_y, key, begin, end, out):  # type: ignore[no-untyped-def]
    """Draw replicates of the probability that a run of X beats one of Y, ties half, averaged over tasks.

    `less` and `up_to`, int64 (n,), have for each run of X, task after task, how many runs of Y on the task are lower,
    and how many are not higher; `out` has shape (replicates,). The others are as in `resample_aggregates`. Runs of Y
    count by their rank within the task, so a replicate's lower runs are a running sum of counts: work grows with the
    number of runs, not of pairs (the U statistic of Mann and Whitney 1947).
    """
    tasks = first_x.size - 1
    x_per_word, x_spans = batches(first_x)
    y_per_word, y_spans = batches(first_y)
    lower = np.empty(np.max(first_y[1:] - first_y[:-1]) + 1, np.int64)
    shares = 0.5 / ((first_x[1:] - first_x[:-1]) * (first_y[1:] - first_y[:-1]) * tasks)
    for replicate in range(begin, end):
        state = stream(key, replicate)
        total = 0.0
        for i in range(tasks):
            n, m = first_x[i + 1] - first_x[i], first_y[i + 1] - first_y[i]
            for j in range(m + 1):
                lower[j] = 0
            left = m
            while left > 0:
                word, state = draw_word(y_spans[i], state)
                for _ in range(min(left, y_per_word[i])):
                    word *= np.uint64(m)
                    lower[np.int64(word >> _32) + 1] += 1
                    word &= _LOW
                left -= y_per_word[i]
            for j in range(m):
                lower[j + 1] += lower[j]
            wins, left = 0, n
            while left > 0:
                word, state = draw_word(x_spans[i], state)
                for _ in range(min(left, x_per_word[i])):
                    word *= np.uint64(n)
                    run = first_x[i] + np.int64(word >> _32)
                    word &= _LOW
                    wins += lower[less[run]] + lower[up_to[run]]
                left -= x_per_word[i]
            total += wins * shares[i]
        out[replicate] = total
