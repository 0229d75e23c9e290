import itertools

import numpy as np
import pytest
from scipy import stats

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.uncertainty.intervals import check, interval, score, score_intervals

SEEDS = [[1.0, 2, 6, 7], [10.0, 30], [20.0]]


def rng(seed=0):
    return np.random.default_rng(seed)


def resampled(seeds, source, **options):
    return interval({"this task": seeds}, lambda scores: scores[..., 0], source, **options)


def test_score_averages_within_seeds_first():
    assert score(SEEDS) == (4 + 20 + 20) / 3
    assert score([[0.0], [10, 10, 10]]) == 5


@pytest.mark.parametrize("seeds", [[[0.0, 2], [4.0, 6], [10.0, 12]], [[1.0, 5, 11]]])
def test_seeds_or_the_episodes_of_an_only_one_are_drawn_and_widened_by_how_few_there_are(seeds):
    """Means 1, 5, 11: the quantile of every resample's distance, √(n / (n − 1)) and Student's quantile."""
    plain = np.array([np.mean(drawn) for drawn in itertools.product([1, 5, 11], repeat=3)])
    found = resampled(seeds, rng(), resamples=40_000)
    widening = np.sqrt(3 / 2) * stats.t.ppf(0.975, 2) / stats.norm.ppf(0.975)
    reach = widening * np.quantile(np.abs(plain - found.value), 0.95, method="inverted_cdf")
    assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach))


def test_any_statistic_of_several_tasks_which_are_resampled_independently():
    seen = []

    def remembered(scores):
        seen.append(scores)
        return np.asarray(scores @ np.array([1.0, 10.0]))

    found = interval({"pong": [[0.0, 1.0] * 10], "qbert": [[2.0, 4.0] * 10]}, remembered, rng(), resamples=5000)
    assert found.value == 0.5 + 30
    draws = max(seen, key=np.size)
    assert draws.shape == (5000, 2)
    assert abs(np.corrcoef(draws.T)[0, 1]) < 0.05


def test_too_few_episodes_have_a_score_but_no_interval():
    found = interval({"pong": [[3.0]], "qbert": [[1.0, 2.0, 3.0]]}, lambda scores: scores.sum(axis=-1), rng())
    assert (found.value, found.low, found.high) == (5.0, None, None)


@pytest.mark.parametrize("seeds", [[], [[]], [[1.0], []], [[[1.0]]]])
def test_nothing_to_average_is_refused(seeds):
    with pytest.raises(ArcadeMarkError, match="no episodes to average"):
        score(seeds)


def test_a_score_that_is_no_number_and_a_level_that_is_no_share_are_refused():
    with pytest.raises(ArcadeMarkError, match="missing or infinite"):
        resampled([[1.0, np.nan]], rng())
    with pytest.raises(ArcadeMarkError, match="level 95"):
        check("symmetric", 95)


@pytest.mark.parametrize(("values", "level"), [([4.0, 20, 3], 0.95), ([1.0, 2, 6, 7], 0.8)])
def test_one_tasks_interval_is_students_t_over_seeds_or_episodes(values, level):
    (found,) = score_intervals([np.array(values)], level=level).tolist()
    error = stats.sem(values)
    expected = stats.t.interval(level, len(values) - 1, loc=np.mean(values), scale=error)
    assert found == pytest.approx([np.mean(values), *expected, error])


@pytest.mark.parametrize("values", [[3.0], [1.0, 3.0], [2.0] * 3])
def test_of_too_few_values_or_where_nothing_varies_there_are_no_limits(values):
    assert np.isnan(score_intervals([np.array(values)])[0, 1:]).all()


def test_the_mean_of_very_many_episodes_is_resampled_without_drawing_each():
    episodes = rng().exponential(size=1_000_000)
    found = resampled([episodes], rng())
    assert (found.low, found.high) == pytest.approx(score_intervals([episodes])[0, 1:3], abs=1e-4)
