"""Summaries of capped scores and their intervals, and where there is no interval to be found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arcademark.analysis.measures import Measure
from arcademark.analysis.scoring.analysis import analyse
from arcademark.analysis.uncertainty import Bootstrap
from arcademark.metrics.normalise import Metric

RUNS = {
    "a": np.array([50.0, 250.0]),
    "b": np.array([20.0, 60.0, 40.0]),
    "c": np.array([-30.0, 10.0]),
}


ENDS = dict.fromkeys("abcde", 0.0), dict.fromkeys("abcde", 100.0)
LINE = Measure(Metric("line", "line", ""), *ENDS)
CAPPED = Measure(Metric("capped", "capped", "", bounds=(0.0, 100.0)), *ENDS)


def bootstrap():
    return Bootstrap.choose(0, 2000, None)


def test_a_difference_has_the_percentile_interval_of_runs_drawn_apart():
    rng = np.random.default_rng(4)
    x, y = (rng.gamma(2.0, scale, size=(5, runs)) for scale, runs in ((30.0, 4), (20.0, 3)))
    medians = []
    for t in (x, y):
        drawn = np.take_along_axis(t[np.newaxis], rng.integers(t.shape[1], size=(20_000, *t.shape)), axis=2)
        medians.append(np.median(drawn.mean(axis=2), axis=1))
    peer = medians[0] - medians[1]
    low, high = np.quantile(peer, [0.025, 0.975])
    runs = [dict(zip("abcde", table, strict=True)) for table in (x, y)]
    found = Bootstrap.choose(0, 20_000, "percentile").differences(("x", "y"), LINE, *runs)["median"].difference
    assert found.value == pytest.approx(np.median(x.mean(axis=1)) - np.median(y.mean(axis=1)))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.05 * (high - low))


def test_mean_and_median_cap_the_means_and_the_others_cap_the_runs():
    mean, median, iqm, gap = CAPPED.aggregates(RUNS)
    assert mean == pytest.approx((100 + 40 + 0) / 3)  # 150, 40 and −10, held within 0 and 100
    assert median == 40
    assert iqm == pytest.approx((10 + 20 + 40 + 50 + 60) / 5)  # of 0, 10, 20, 40, 50, 60, 100
    assert gap == pytest.approx(((50 + 0) / 2 + 60 + (100 + 90) / 2) / 3)


def test_the_interval_of_a_median_within_the_bounds_is_that_of_the_uncapped_one():
    rng = np.random.default_rng(3)
    runs = {task: rng.normal(mean, 4.0, size=4) for task, mean in zip("abcde", (30, 40, 50, 60, 300), strict=True)}
    free, held = (found["median"] for found in bootstrap().summaries("mine", [LINE, CAPPED], runs))
    assert (held.value, held.low, held.high) == pytest.approx((free.value, free.low, free.high))


def test_tables_of_very_many_runs_are_drawn_less_often_unless_a_number_is_asked_for():
    assert [Bootstrap.choose(0, None, None, runs).resamples for runs in (1, 15_000, 150_000, 10**9)] == [
        10_000,
        10_000,
        1_000,
        500,
    ]
    assert Bootstrap.choose(0, 7_000, None, 10**9).resamples == 7_000


def test_inter_algorithm_scores_and_all_their_summaries_lie_between_the_worst_and_the_best():
    """Single runs lie beyond the means that the range is of, and have no place (Bellemare et al. 2013, §4.1.3)."""
    scores = {
        "best": {"pong": [21.0, 1.0, 20.0], "qbert": [9000.0, 1000.0, 14000.0]},
        "middle": {"pong": [-21.0, 10.0, 5.0], "qbert": [100.0, 4000.0, 1000.0]},
        "worst": {"pong": [-21.0, -1.0, -20.0], "qbert": [0.0, 1000.0, 500.0]},
    }
    report = analyse(scores, metrics=["inter_algorithm"])
    found = {item.name: item.summaries[0] for item in report.algorithms}
    for name, value in (("best", 100.0), ("worst", 0.0)):
        summary = found[name]
        assert (summary.mean.value, summary.median.value, summary.iqm.value) == (value, value, value)
        assert summary.optimality_gap.value == 100 - value
    assert 0 < found["middle"].iqm.value < 100
    for summary in found.values():
        for item in (summary.mean, summary.median, summary.iqm, summary.optimality_gap):
            assert 0 <= item.low <= item.value <= item.high <= 100


@given(arrays(np.float64, (2, 3, 4), elements=st.integers(0, 5).map(float)), st.integers(0, 2**32))
@settings(max_examples=40)
def test_improvement_and_profile_stay_within_what_is_possible(scores, seed):
    made = Bootstrap.choose(seed, 200, None)
    first, second = (dict(zip("abc", table, strict=True)) for table in scores)
    won, lost = (made.improvement(("x", "y"), *sides) for sides in ((first, second), (second, first)))
    assert won.value + lost.value == pytest.approx(1)
    if won.low is not None and won.high is not None:
        assert 0 <= won.low <= won.value <= won.high <= 1
    band = made.profile("x", LINE, first, np.arange(5.0))
    low, value, high = (np.array(side) for side in (band.low, band.shares, band.high))
    assert ((low >= 0) & (low <= value) & (value <= high) & (high <= 1)).all()
