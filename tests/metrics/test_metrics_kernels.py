from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from arcademark.metrics.uncertainty import bootstrap, kernels
from arcademark.metrics.uncertainty.samples import sample_of

MASK = 2**64 - 1
LOW = 2**32 - 1
KEY = np.uint64(0x0123456789ABCDEF)


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & MASK
    return word ^ (word >> 31)


class Stream:
    """A replicate's draws, in plain Python."""

    def __init__(self, key: int, replicate: int) -> None:
        self.state = mix(key ^ mix((replicate + 1) * 0x9E3779B97F4A7C15 & MASK))

    def word(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return mix(self.state) >> 32

    def draws(self, n: int, count: int) -> list[int]:
        """``count`` numbers below n: words of k digits to the base n, as many as 24 bits hold, none that would bias."""
        k = 1
        while n > 1 and n ** (k + 1) < 2**24:
            k += 1
        found: list[int] = []
        while len(found) < count:
            if n == 1:
                self.word()
                found += [0] * 24
                continue
            word = self.word()
            while word * n**k % 2**32 < 2**32 % n**k:
                word = self.word()
            for _ in range(k):
                found.append(word * n >> 32)
                word = word * n & LOW
        return found[:count]


def resampled(scores: list[list[float]], replicate: int) -> list[list[float]]:
    """A replicate of tasks that lie in ascending order of their means."""
    stream = Stream(int(KEY), replicate)
    return [[row[pick] for pick in stream.draws(len(row), len(row))] for row in scores]


def aggregates(scores: list[list[float]], target: float) -> list[float]:
    """Mean, median, interquartile mean and optimality gap by SciPy and NumPy."""
    means = [np.mean(row) for row in scores]
    gap = np.mean([np.mean(np.maximum(target - np.array(row), 0)) for row in scores])
    iqm = stats.trim_mean(list(itertools.chain(*scores)), 0.25)
    return [float(np.mean(means)), float(np.median(means)), float(iqm), float(gap)]


def ragged(seed: int, sizes: list[int], *, whole: bool = False) -> list[list[float]]:
    """Made-up scores, tasks in ascending order of their means; whole numbers have ties."""
    rng = np.random.default_rng(seed)
    rows = [rng.lognormal(0, 1) * rng.lognormal(0, 0.5, size) for size in sizes]
    rows = [np.round(3 * row) if whole else row for row in rows]
    return [row.tolist() for row in sorted(rows, key=np.mean)]


def padded(rows: list[list[float]]) -> NDArray[np.float64]:
    table = np.full((len(rows), max(map(len, rows))), np.nan)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return table


SIZES = [[5] * 7, [3, 4, 5, 6, 6, 3], [1, 1, 2], [1], [4], [30, 2, 17], [300, 10]]


def test_the_generator_is_splitmix64() -> None:
    # The first outputs from seed 0 of the reference implementation (Vigna's splitmix64.c).
    state, found = 0, []
    for _ in range(3):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        found.append(int(kernels.mix(np.uint64(state))))
    assert found == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_words_that_would_bias_are_drawn_again() -> None:
    span, stream, state = 3 * 2**30, Stream(int(KEY), 0), kernels.stream(KEY, 0)
    rejected = 0
    for _ in range(200):
        word = stream.word()
        while word * span % 2**32 < 2**32 % span:
            rejected += 1
            word = stream.word()
        found, state = kernels.draw_word(np.uint64(span), np.uint64(state))
        assert (int(found), int(state)) == (word, stream.state)
    assert 20 < rejected < 130  # 2³² mod span is a quarter of 2³²


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("whole", [False, True])
def test_aggregates_of_replicates_are_those_of_a_reference_implementation(sizes: list[int], whole: bool) -> None:
    scores = ragged(1, sizes, whole=whole)
    found = bootstrap.resampled_aggregates(sample_of(padded(scores)), KEY, 1.0, 40, 1)
    for replicate in range(40):
        expected = aggregates(resampled(scores, replicate), 1.0)
        assert found[:, replicate] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("bounds", [(0.5, 1.5), (-math.inf, 1.0)])
def test_what_is_held_within_bounds_is_that_of_a_reference_implementation(
    sizes: list[int], bounds: tuple[float, float]
) -> None:
    scores = ragged(1, sizes)
    free = bootstrap.resampled_aggregates(sample_of(padded(scores)), KEY, 1.0, 40, 1)
    found = bootstrap.resampled_aggregates(sample_of(padded(scores)), KEY, 1.0, 40, 1, bounds)
    assert np.array_equal(found[:4], free)
    for replicate in range(40):
        drawn = resampled(scores, replicate)
        means = np.clip([np.mean(row) for row in drawn], *bounds)
        of_runs = aggregates([np.clip(row, *bounds).tolist() for row in drawn], 1.0)
        expected = [float(np.mean(means)), float(np.median(means)), *of_runs[2:]]
        assert found[4:, replicate] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("sizes", SIZES)
def test_profiles_of_replicates_are_those_of_a_reference_implementation(sizes: list[int]) -> None:
    scores = ragged(2, sizes, whole=True)
    thresholds = np.array([-1.0, 0.0, 1.0, 1.0, 2.5, 3.0, 1e6])
    found = bootstrap.resampled_profile(sample_of(padded(scores)), thresholds, KEY, 20, 1)
    for replicate in range(20):
        drawn = resampled(scores, replicate)
        expected = [np.mean([np.mean(np.array(row) > mark) for row in drawn]) for mark in thresholds]
        assert found[:, replicate] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("more", [0, 2])
def test_improvement_of_replicates_is_that_of_a_reference_implementation(sizes: list[int], more: int) -> None:
    x = ragged(3, sizes, whole=True)
    y = ragged(4, [size + more for size in sizes], whole=True)
    one, other = (sample_of(padded(rows), sort=False) for rows in (x, y))
    found = bootstrap.resampled_improvement(one, other, KEY, 20, 1)
    for replicate in range(20):
        stream, expected = Stream(int(KEY), replicate), []
        for mine, theirs in zip(x, y, strict=True):
            drawn_y = [sorted(theirs)[pick] for pick in stream.draws(len(theirs), len(theirs))]
            drawn_x = [mine[pick] for pick in stream.draws(len(mine), len(mine))]
            pairs = [(a > b) + 0.5 * (a == b) for a, b in itertools.product(drawn_x, drawn_y)]
            expected.append(float(np.mean(pairs)))
        assert found[replicate] == pytest.approx(np.mean(expected), abs=1e-12)


def test_improvement_is_the_u_statistic_of_scipy() -> None:
    # With one run drawn for certain, replicates are the statistic itself.
    x, y = np.array([[3.0], [2.0], [1.0]]), np.array([[1.0], [2.0], [4.0]])
    samples = [sample_of(table, sort=False) for table in (x, y)]
    u = [stats.mannwhitneyu(a, b).statistic for a, b in zip(x, y, strict=True)]
    assert bootstrap.resampled_improvement(*samples, KEY, 3, 1).tolist() == [np.mean(u)] * 3


@pytest.mark.parametrize("n", [2, 3, 5, 6, 7, 57])
def test_every_run_is_drawn_as_often_as_any_other(n: int) -> None:
    """Draws of a task whose runs are powers of two tell which were drawn: here by the share above each."""
    thresholds = np.arange(n) - 0.5
    sample = sample_of(np.arange(n, dtype=float)[np.newaxis])
    found = bootstrap.resampled_profile(sample, thresholds, KEY, 20_000, 1)
    shares = found - np.vstack([found[1:], np.zeros(found.shape[1])])
    counts = np.rint(shares * n).sum(axis=1)
    assert counts.sum() == 20_000 * n
    assert stats.chisquare(counts).pvalue > 1e-4
    variances = np.rint(shares * n).var(axis=1)
    assert variances == pytest.approx(np.full(n, 1 - 1 / n), rel=0.08)  # binomial: n · 1/n · (1 − 1/n)


def test_draws_of_one_replicate_do_not_hang_together() -> None:
    sample = sample_of(np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]))
    means = bootstrap.resampled_profile(sample, np.array([0.5]), KEY, 40_000, 1)[0] * 6
    expected = stats.binom.pmf(range(7), 6, 0.5) * means.size
    assert stats.chisquare(np.bincount(np.rint(means).astype(int), minlength=7), expected).pvalue > 1e-4


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 9), (2, 7), (3, 4), (4, 9), (8, 9)])
def test_trimmed_mean_reads_counts_as_repetitions(low: int, high: int) -> None:
    counts, values = np.array([2, 0, 3, 0, 1, 3], np.int32), np.array([1.0, 2, 4, 8, 16, 32])
    places = np.repeat(values, counts)
    assert kernels.trimmed_mean(counts, values, low, high) == pytest.approx(places[low:high].mean())


def test_no_draw_is_made_twice_by_different_replicates() -> None:
    starts = {int(kernels.stream(KEY, replicate)) for replicate in range(10_000)}
    assert len(starts) == 10_000
