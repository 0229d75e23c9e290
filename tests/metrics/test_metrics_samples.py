import itertools
import math

import numpy as np
import pytest
from scipy import stats

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics import compare
from arcademark.metrics.uncertainty import samples
from arcademark.metrics.uncertainty.intervals import Strata, limits, score_intervals


def made_up(tasks, runs, seed=0):
    source = np.random.default_rng(seed)
    return np.asarray(source.lognormal(0, 1, (tasks, 1)) * source.lognormal(0, 0.4, (tasks, runs)))


def test_degrees_of_freedom_of_a_difference_are_welchs():
    x, y = np.array([1.0, 2, 4, 9]), np.array([3.0, 3, 8, 1, 20, 2])
    found = Strata(np.array([x.var(ddof=1) / 4, y.var(ddof=1) / 6]), np.array([4, 6]))
    assert found.degrees_of_freedom() == pytest.approx(stats.ttest_ind(x, y, equal_var=False).df)
    assert found.shrinkage() ** 2 == pytest.approx((x.var() / 4 + y.var() / 6) / found.variances.sum())


def test_limits_by_hand():
    draws = np.array([-3.0, -1, 0, 0, 1, 1, 1, 2, 2, 7])
    pair = Strata(np.array([2.0, 2.0]), np.array([3, 3]))
    low, high, error = limits(1.0, draws, pair, method="percentile", level=0.8)
    assert (low, high) == pytest.approx(tuple(np.quantile(draws, [0.1, 0.9])))
    assert error == pytest.approx(draws.std(ddof=1))
    factor = np.sqrt(3 / 2) * stats.t.ppf(0.9, 4) / stats.norm.ppf(0.9)
    wide = limits(1.0, draws, pair, method="expanded", level=0.8)
    assert wide[:2] == pytest.approx((1 + factor * (low - 1), 1 + factor * (high - 1)))
    assert wide[2] == pytest.approx(np.sqrt(3 / 2) * error)
    reach = factor * np.quantile(np.abs(draws - 1), 0.8)
    assert limits(1.0, draws, pair, method="symmetric", level=0.8)[:2] == pytest.approx((1 - reach, 1 + reach))


def test_no_other_method_and_no_other_level():
    one = Strata(np.array([1.0]), np.array([3]))
    with pytest.raises(UnknownNameError, match="bca"):
        limits(0.0, np.zeros(3), one, method="bca", level=0.9)
    with pytest.raises(ArcadeMarkError, match="level 1"):
        limits(0.0, np.zeros(3), one, method="symmetric", level=1.0)


@pytest.mark.parametrize(("runs_x", "runs_y"), [(2, 3), (5, 5), (4, 1)])
def test_variances_of_the_probability_of_improvement_by_pairs(runs_x, runs_y):
    x, y = np.round(2 * made_up(3, runs_x, 1)), np.round(2 * made_up(3, runs_y, 2))
    value, found = samples.improvement(*(samples.sample_of(table) for table in (x, y)))
    assert value == compare.probability_of_improvement(x, y)
    expected = []
    for one, other in ((x, y), (y, x)):
        for mine, theirs in zip(one, other, strict=True):
            wins = [np.mean([(a > b) + 0.5 * (a == b) for b in theirs]) for a in mine]
            expected.append(np.var(wins, ddof=1) / len(wins) / 9 if len(wins) > 1 else 0.0)
    assert found.variances == pytest.approx(expected)
    assert found.runs.tolist() == [runs_x] * 3 + [runs_y] * 3


def test_variances_of_a_profile_by_the_binomial():
    scores = np.array([[1.0, 2, 3, 4], [3.0, 3, 3, 3]])
    found = samples.profile_strata(samples.sample_of(scores), np.array([2.5, 3.0]))
    assert found.variances == pytest.approx(np.array([[0.25, 0.0], [0.25 * 0.75, 0.0]]) / 3 / 4)


def squared_error(values):
    return np.var(values, ddof=1) / values.size


def test_by_hand():
    """Two different of three: shares 2/3 and 1/3, so 5/9 of the variance, which is (0 - 6)² / 2."""
    values = samples.independent(np.array([0.0, 0.0, 6.0]), np.array([7, 7, 9]))
    assert values.size == 2
    assert values.mean() == pytest.approx(2)
    assert squared_error(values) == pytest.approx(18 * 5 / 9)
    of_ten = samples.independent(np.array([0.0, 0.0, 6.0]), np.array([7, 7, 9]), 10)
    assert squared_error(of_ten) == pytest.approx(18 * (5 / 9 - 1 / 10))
    scores = np.array([0.0, 0.0, 6.0, 1.0])
    values = samples.independent(scores, np.array([7, 7, 9, 8]))
    plain, ours = score_intervals([scores, values])
    assert ours[0] == pytest.approx(plain[0])
    assert ours[2] - ours[1] > plain[2] - plain[1]


@pytest.mark.parametrize("episodes", [2, 3, 4])
def test_the_standard_error_is_right_on_average_over_all_draws(episodes):
    """Of four equally likely episodes: given which draws are the same, its square is the mean squared error."""
    of_all = np.array([0.0, 1.0, 5.0, 2.0])
    errors, found = {}, {}
    for drawn in itertools.product(range(4), repeat=episodes):
        kinds = np.array(drawn)
        if len(set(drawn)) < 2:
            continue
        pattern = tuple(drawn.index(one) for one in drawn)
        values = samples.independent(of_all[kinds], kinds, 4)
        errors.setdefault(pattern, []).append((values.mean() - of_all.mean()) ** 2)
        found.setdefault(pattern, []).append(squared_error(values))
    assert len(errors) > 1 or episodes == 2
    for pattern in errors:
        assert np.mean(found[pattern]) == pytest.approx(np.mean(errors[pattern]))


@pytest.mark.parametrize("times", [1, 3])
def test_of_all_that_there_can_be_alike_nothing_varies(times):
    scores = np.tile([0.1, 0.2, 0.7], times)
    values = samples.independent(scores, np.tile([0, 1, 2], times), 3)
    assert (values == values[0]).all()
    assert score_intervals([values])[0] == pytest.approx([1 / 3, math.nan, math.nan, math.nan], nan_ok=True)


def test_one_episode_again_and_again_is_one():
    assert samples.independent(np.full(5, 4.0), np.zeros(5, np.int64)).tolist() == [4.0]
