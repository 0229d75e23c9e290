import numpy as np
import pytest
from scipy import stats

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.metrics.uncertainty.bootstrap import resampled_aggregates, resampled_improvement, resampled_profile
from arcademark.metrics.uncertainty.samples import sample_of


def rng(seed=0):
    return np.random.default_rng(seed)


def made_up(tasks=12, runs=5, seed=0):
    source = rng(seed)
    return np.asarray(100 * source.lognormal(0, 1, (tasks, 1)) * source.lognormal(0, 0.4, (tasks, runs)))


def quantiles(scores, resamples=20_000):
    draws = resampled_aggregates(sample_of(scores), rng(7), resamples)
    return dict(zip(AGGREGATES, np.quantile(draws, [0.025, 0.975], axis=1).T, strict=True))


def peer_quantiles(function, *tables, resamples=4000):
    """Percentile limits as rliable defines them: runs drawn for each task apart, the statistic, its quantiles."""
    source = rng(99)
    draws = []
    for _ in range(resamples):
        drawn = [np.take_along_axis(t, source.integers(t.shape[1], size=t.shape), axis=1) for t in tables]
        draws.append(function(*drawn))
    return np.asarray(np.quantile(draws, [0.025, 0.975], axis=0))


DEFINITIONS = {
    "mean": lambda scores: np.mean(np.mean(scores, axis=1)),
    "median": lambda scores: np.median(np.mean(scores, axis=1)),
    "iqm": lambda scores: stats.trim_mean(scores, 0.25, axis=None),
    "optimality_gap": lambda scores: 100 - np.mean(np.minimum(scores, 100)),
}


def peer_probabilities(x, y, resamples):
    """Mann and Whitney's U of each task's drawn runs, over the pairs, averaged over tasks; shape (resamples,)."""
    source = rng(99)
    drawn = [
        np.take_along_axis(t[np.newaxis], source.integers(t.shape[1], size=(resamples, *t.shape)), axis=2)
        for t in (x, y)
    ]
    u = stats.mannwhitneyu(*drawn, axis=2, method="asymptotic").statistic
    return u.mean(axis=1) / (x.shape[1] * y.shape[1])


@pytest.mark.parametrize("name", AGGREGATES)
def test_percentile_limits_are_those_of_the_published_definitions(name):
    scores = made_up()
    low, high = peer_quantiles(DEFINITIONS[name], scores)
    assert quantiles(scores)[name] == pytest.approx((low, high), abs=0.05 * (high - low))


def test_improvement_is_that_of_the_published_definition():
    x, y = made_up(6, 5, 1), made_up(6, 4, 2)
    draws = resampled_improvement(*(sample_of(scores) for scores in (x, y)), rng(7), 20_000)
    low, high = np.quantile(peer_probabilities(x, y, 20_000), [0.025, 0.975])
    assert np.quantile(draws, [0.025, 0.975]) == pytest.approx((low, high), abs=0.06 * (high - low))


def test_profile_is_that_of_the_published_definition():
    scores, marks = made_up(), np.array([0.0, 50.0, 100.0, 300.0])
    draws = resampled_profile(sample_of(scores), marks, rng(7), 20_000)
    expected = peer_quantiles(lambda drawn: [np.mean(drawn > mark) for mark in marks], scores)
    assert np.quantile(draws, [0.025, 0.975], axis=1) == pytest.approx(expected, abs=0.02)


def test_ragged_runs_weigh_as_in_the_aggregates_and_may_be_held_within_bounds():
    scores = made_up(4, 3)
    scores[0, 1:] = scores[2, 2] = np.nan
    rows = [row[~np.isnan(row)] for row in scores]
    source, expected = rng(3), []
    for _ in range(1500):
        drawn = [source.choice(row, row.size) for row in rows]
        for low, high in ((-np.inf, np.inf), (50.0, 120.0)):
            means = np.clip([row.mean() for row in drawn], low, high)
            runs = [np.clip(row, low, high) for row in drawn]
            gap = np.mean([np.maximum(100 - row, 0).mean() for row in runs])
            expected.append([means.mean(), np.median(means), stats.trim_mean(np.concatenate(runs), 0.25), gap])
    theirs = np.array(expected).reshape(-1, 8)
    mine = resampled_aggregates(sample_of(scores), rng(7), 20_000, (50.0, 120.0))
    assert mine.mean(axis=1) == pytest.approx(theirs.mean(axis=0), rel=0.02)
    assert np.quantile(mine, 0.9, axis=1) == pytest.approx(np.quantile(theirs, 0.9, axis=0), rel=0.05)


def test_of_single_runs_draws_are_the_statistics_themselves():
    x, y = np.array([[3.0], [2.0], [1.0]]), np.array([[1.0], [2.0], [4.0]])
    u = [stats.mannwhitneyu(a, b).statistic for a, b in zip(x, y, strict=True)]
    assert resampled_improvement(sample_of(x), sample_of(y), rng(), 3).tolist() == [np.mean(u)] * 3
    marks = np.array([0.0, 1.0, 1.0, 2.5, 9.0])
    for drawn in resampled_profile(sample_of(x), marks, rng(), 3).T:
        assert drawn.tolist() == pytest.approx([np.mean(x > mark) for mark in marks])


def test_fewer_than_two_resamples_are_refused():
    with pytest.raises(ArcadeMarkError, match="resamples 1"):
        resampled_aggregates(sample_of(made_up()), rng(7), 1)
