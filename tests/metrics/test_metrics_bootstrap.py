from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.metrics.uncertainty import bootstrap
from arcademark.metrics.uncertainty.bootstrap import resampled_aggregates, resampled_improvement, resampled_profile
from arcademark.metrics.uncertainty.samples import sample_of

Floats = NDArray[np.float64]
KEY = np.uint64(7)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def made_up(tasks: int = 12, runs: int = 5, seed: int = 0) -> Floats:
    source = rng(seed)
    return np.asarray(100 * source.lognormal(0, 1, (tasks, 1)) * source.lognormal(0, 0.4, (tasks, runs)))


def quantiles(scores: Floats, resamples: int = 20_000, target: float = 100.0) -> dict[str, Floats]:
    draws = resampled_aggregates(sample_of(scores), KEY, target, resamples)
    return dict(zip(AGGREGATES, np.quantile(draws, [0.025, 0.975], axis=1).T, strict=True))


def peer_quantiles(function: Callable[..., Any], *tables: Floats, resamples: int = 4000) -> Floats:
    """Percentile limits as rliable defines them: runs drawn for each task apart, the statistic, its quantiles."""
    source = rng(99)
    draws = []
    for _ in range(resamples):
        drawn = [np.take_along_axis(t, source.integers(t.shape[1], size=t.shape), axis=1) for t in tables]
        draws.append(function(*drawn))
    return np.asarray(np.quantile(draws, [0.025, 0.975], axis=0))


DEFINITIONS: dict[str, Callable[[Floats], Any]] = {
    "mean": lambda scores: np.mean(np.mean(scores, axis=1)),
    "median": lambda scores: np.median(np.mean(scores, axis=1)),
    "iqm": lambda scores: stats.trim_mean(scores, 0.25, axis=None),
    "optimality_gap": lambda scores: 100 - np.mean(np.minimum(scores, 100)),
}


def peer_probabilities(x: Floats, y: Floats, resamples: int) -> Any:
    """Mann and Whitney's U of each task's drawn runs, over the pairs, averaged over tasks; shape (resamples,)."""
    source = rng(99)
    drawn = [
        np.take_along_axis(t[np.newaxis], source.integers(t.shape[1], size=(resamples, *t.shape)), axis=2)
        for t in (x, y)
    ]
    u = stats.mannwhitneyu(*drawn, axis=2, method="asymptotic").statistic
    return u.mean(axis=1) / (x.shape[1] * y.shape[1])


@pytest.mark.parametrize("name", AGGREGATES)
def test_percentile_limits_are_those_of_the_published_definitions(name: str) -> None:
    scores = made_up()
    low, high = peer_quantiles(DEFINITIONS[name], scores)
    assert quantiles(scores)[name] == pytest.approx((low, high), abs=0.05 * (high - low))


def test_improvement_is_that_of_the_published_definition() -> None:
    x, y = made_up(6, 5, 1), made_up(6, 4, 2)
    draws = resampled_improvement(*(sample_of(scores, sort=False) for scores in (x, y)), KEY, 20_000)
    low, high = np.quantile(peer_probabilities(x, y, 20_000), [0.025, 0.975])
    assert np.quantile(draws, [0.025, 0.975]) == pytest.approx((low, high), abs=0.06 * (high - low))


def test_profile_is_that_of_the_published_definition() -> None:
    scores, marks = made_up(), np.array([0.0, 50.0, 100.0, 300.0])
    draws = resampled_profile(sample_of(scores), marks, KEY, 20_000)
    expected = peer_quantiles(lambda drawn: [np.mean(drawn > mark) for mark in marks], scores)
    assert np.quantile(draws, [0.025, 0.975], axis=1) == pytest.approx(expected, abs=0.02)


def test_a_single_task_is_scipys_bootstrap() -> None:
    runs = rng(5).lognormal(0, 1, 12)
    theirs = stats.bootstrap((runs,), np.mean, n_resamples=40_000, method="percentile", rng=rng(1)).confidence_interval
    assert quantiles(runs[np.newaxis], 40_000)["mean"] == pytest.approx(tuple(theirs), abs=0.02 * np.ptp(theirs))


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_the_same_bits_whatever_the_number_of_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = (sample_of(made_up(seed=seed), sort=False) for seed in (1, 2))

    def everything(count: int) -> list[Any]:
        return [
            resampled_aggregates(x, KEY, 1.0, 500, count).tolist(),
            resampled_improvement(x, y, KEY, 500, count).tolist(),
            resampled_profile(x, np.array([50.0, 100.0]), KEY, 500, count).tolist(),
        ]

    expected = everything(1)
    monkeypatch.setattr(bootstrap, "_WORK_OF_A_THREAD", 10)
    assert everything(threads) == expected


def test_fewer_than_two_resamples_are_refused() -> None:
    with pytest.raises(ArcadeMarkError, match="resamples 1"):
        resampled_aggregates(sample_of(made_up()), KEY, 1.0, 1)
