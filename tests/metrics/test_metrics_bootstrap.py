from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics import compare, distribution
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.metrics.uncertainty import bootstrap
from arcademark.metrics.uncertainty.bootstrap import improvement_interval, profile_band, resampled_aggregates
from arcademark.metrics.uncertainty.intervals import Interval
from arcademark.metrics.uncertainty.samples import sample_of

Floats = NDArray[np.float64]
KEY = np.uint64(7)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def made_up(tasks: int = 12, runs: int = 5, seed: int = 0) -> Floats:
    source = rng(seed)
    return np.asarray(100 * source.lognormal(0, 1, (tasks, 1)) * source.lognormal(0, 0.4, (tasks, runs)))


def names(scores: Floats) -> list[str]:
    return [f"game {i}" for i in range(len(scores))]


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


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


def probability(x: Floats, y: Floats) -> Any:
    u = [stats.mannwhitneyu(a, b, method="asymptotic").statistic for a, b in zip(x, y, strict=True)]
    return np.mean(u) / (x.shape[1] * y.shape[1])


@pytest.mark.parametrize("name", AGGREGATES)
def test_percentile_limits_are_those_of_the_published_definitions(name: str) -> None:
    scores = made_up()
    low, high = peer_quantiles(DEFINITIONS[name], scores)
    assert quantiles(scores)[name] == pytest.approx((low, high), abs=0.05 * (high - low))


@pytest.mark.slow
def test_improvement_is_that_of_the_published_definition() -> None:
    x, y = made_up(6, 5, 1), made_up(6, 4, 2)
    found = improvement_interval(x, y, names(x), rng(), method="percentile", resamples=20_000)
    low, high = peer_quantiles(probability, x, y, resamples=1000)
    assert found.value == pytest.approx(probability(x, y))
    assert ends(found) == pytest.approx((low, high), abs=0.06 * (high - low))


def test_profile_is_that_of_the_published_definition() -> None:
    scores, marks = made_up(), np.array([300.0, 0.0, 50.0, 100.0])
    found = profile_band(scores, names(scores), marks, rng(), method="percentile", resamples=20_000)
    low, high = peer_quantiles(lambda drawn: [np.mean(drawn > mark) for mark in marks], scores)
    assert found.low == pytest.approx(low, abs=0.02)
    assert found.high == pytest.approx(high, abs=0.02)
    assert found.value.tolist() == distribution.performance_profile(scores, marks).tolist()


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
            bootstrap.resampled_improvement(x, y, KEY, 500, count).tolist(),
            bootstrap.resampled_profile(x, np.array([50.0, 100.0]), KEY, 500, count).tolist(),
        ]

    expected = everything(1)
    monkeypatch.setattr(bootstrap, "_WORK_OF_A_THREAD", 10)
    assert everything(threads) == expected


@given(arrays(np.float64, (3, 4), elements=st.integers(0, 5).map(float)), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_limits_surround_the_value_and_stay_possible(scores: Floats, seed: int) -> None:
    other = rng(seed).integers(0, 5, (3, 3)).astype(float)
    won = improvement_interval(scores, other, names(scores), rng(1), resamples=200)
    lost = improvement_interval(other, scores, names(scores), rng(1), resamples=200)
    low, high = ends(won)
    assert 0 <= low <= won.value <= high <= 1
    assert won.value + lost.value == pytest.approx(1)
    band = profile_band(scores, names(scores), np.arange(5.0), rng(1), resamples=200)
    assert band.low is not None
    assert band.high is not None
    assert ((band.low >= 0) & (band.low <= band.value) & (band.value <= band.high) & (band.high <= 1)).all()


def test_tasks_without_runs_are_left_out_and_what_runs_lack_is_said() -> None:
    scores = made_up(5, 6)
    for row, runs in zip(scores, (3, 4, 6, 1, 0), strict=True):
        row[runs:] = np.nan
    found = improvement_interval(scores, made_up(5, 6, 3), names(scores), rng())
    assert [note.kind for note in found.notes] == ["absent", "single", "ragged"]
    assert "game 4" in found.notes[0]
    assert found.value == compare.probability_of_improvement(scores, made_up(5, 6, 3))
    whole = profile_band(scores[:4], names(scores)[:4], [50.0, 80.0], rng(1))
    assert profile_band(scores, names(scores), [50.0, 80.0], rng(1)).low == pytest.approx(whole.low)


def test_one_run_a_task_has_a_value_but_no_interval() -> None:
    scores = made_up(4, 1)
    assert profile_band(scores, names(scores), [50.0], rng()).low is None
    improvement = improvement_interval(scores, scores[::-1], names(scores), rng())
    assert (improvement.low, [note.kind for note in improvement.notes]) == (None, ["one_run"])
    assert improvement.value == compare.probability_of_improvement(scores, scores[::-1])


def test_runs_that_do_not_vary_give_no_width_and_say_so() -> None:
    scores = np.repeat([[0.1], [0.2], [0.3]], 3, axis=1)
    found = improvement_interval(scores, scores + 1, names(scores), rng())
    assert (ends(found), found.notes) == ((0.0, 0.0), (bootstrap.STILL,))


def test_arguments_out_of_bounds_are_refused() -> None:
    scores = made_up()
    with pytest.raises(ArcadeMarkError, match="resamples 1"):
        improvement_interval(scores, scores, names(scores), rng(), resamples=1)
    with pytest.raises(UnknownNameError, match="percentil"):
        improvement_interval(scores, scores, names(scores), rng(), method="percentil")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        (np.ones(3), r"\(2, runs\), not \(3,\)"),
        (np.ones((3, 2)), r"\(2, runs\), not \(3, 2\)"),
        (np.full((2, 3), np.nan), "no scores to resample"),
        (np.array([[1.0, 2.0], [np.inf, 1.0]]), "game 1 is infinite"),
    ],
)
def test_what_is_no_table_of_scores_is_refused(scores: Floats, told: str) -> None:
    with pytest.raises(ArcadeMarkError, match=told):
        profile_band(scores, ["game 0", "game 1"], [1.0], rng())
