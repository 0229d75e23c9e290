from __future__ import annotations

import copy
import pickle
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
from arcademark.metrics import aggregate, compare, distribution
from arcademark.metrics.uncertainty import bootstrap
from arcademark.metrics.uncertainty.bootstrap import (
    AGGREGATES,
    aggregate_intervals,
    improvement_interval,
    profile_band,
)
from arcademark.metrics.uncertainty.intervals import METHODS, Interval, Method

Floats = NDArray[np.float64]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def made_up(tasks: int = 12, runs: int = 5, seed: int = 0, gain: float = 1.0) -> Floats:
    source = rng(seed)
    return np.asarray(gain * 100 * source.lognormal(0, 1, (tasks, 1)) * source.lognormal(0, 0.4, (tasks, runs)))


def names(scores: Floats) -> list[str]:
    return [f"game {i}" for i in range(len(scores))]


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def ragged() -> Floats:
    """Three to six runs on three tasks, one on the fourth, none on the fifth."""
    scores = made_up(5, 6)
    for row, runs in zip(scores, (3, 4, 6, 1, 0), strict=True):
        row[runs:] = np.nan
    return scores


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
def test_percentile_intervals_are_those_of_the_published_definitions(name: str) -> None:
    scores = made_up()
    found = aggregate_intervals(scores, names(scores), rng(), method="percentile", resamples=20_000)[name]
    low, high = peer_quantiles(DEFINITIONS[name], scores)
    assert found.value == pytest.approx(DEFINITIONS[name](scores))
    assert ends(found) == pytest.approx((low, high), abs=0.05 * (high - low))


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
    found = aggregate_intervals(runs[np.newaxis], ["a"], rng(), method="percentile", resamples=40_000)["mean"]
    theirs = stats.bootstrap((runs,), np.mean, n_resamples=40_000, method="percentile", rng=rng(1))
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ends(found) == pytest.approx(tuple(theirs.confidence_interval), abs=0.02 * width)
    assert found.standard_error == pytest.approx(theirs.standard_error, rel=0.03)


@pytest.mark.parametrize("method", METHODS)
def test_values_are_those_of_the_summary(method: Method) -> None:
    scores = ragged()
    found = aggregate_intervals(scores, names(scores), rng(), method=method, missing="omit", target=150.0)
    by_task = [np.nanmean(runs) for runs in scores if not np.isnan(runs).all()]
    expected = {
        "mean": aggregate.mean(by_task),
        "median": aggregate.median(by_task),
        "iqm": aggregate.iqm(scores, missing="omit"),
        "optimality_gap": aggregate.optimality_gap(scores, 150.0, missing="omit"),
    }
    for name in AGGREGATES:
        assert found[name].value == expected[name]
        low, high = ends(found[name])
        assert low < found[name].value < high
        assert found[name].method == method


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_the_same_bits_whatever_the_number_of_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = made_up(seed=1), made_up(seed=2)
    marks = np.array([50.0, 100.0])

    def everything(count: int | None) -> list[Any]:
        band = profile_band(x, names(x), marks, rng(4), threads=count)
        assert band.low is not None
        return [
            aggregate_intervals(x, names(x), rng(1), threads=count),
            improvement_interval(x, y, names(x), rng(3), threads=count),
            band.low.tolist(),
        ]

    expected = everything(1)
    monkeypatch.setattr(bootstrap, "_WORK_OF_A_THREAD", 10)
    assert everything(threads) == expected


def test_another_generator_another_interval_and_the_same_one_moves_on() -> None:
    scores, source = made_up(), rng(1)
    first, second = (aggregate_intervals(scores, names(scores), source) for _ in range(2))
    assert first == aggregate_intervals(scores, names(scores), rng(1))
    assert first != second
    assert first["iqm"].value == second["iqm"].value


def test_the_order_of_tasks_and_runs_does_not_matter_to_values_and_hardly_to_limits() -> None:
    scores = made_up()
    shuffled = rng(7).permuted(rng(8).permutation(scores), axis=1)
    found, other = (aggregate_intervals(table, names(table), rng(1), resamples=20_000) for table in (scores, shuffled))
    for name in AGGREGATES:
        low, high = ends(found[name])
        assert other[name].value == pytest.approx(found[name].value)
        assert ends(other[name]) == pytest.approx((low, high), abs=0.05 * (high - low))


@given(
    arrays(np.float64, (4, 3), elements=st.integers(-1000, 1000).map(float)),
    st.sampled_from([0.25, 2.0, 64.0]),
    st.integers(-512, 512),
    st.sampled_from(METHODS),
)
@settings(max_examples=40, deadline=None)
def test_a_change_of_unit_changes_limits_alike(scores: Floats, scale: float, shift: int, method: Method) -> None:
    first = aggregate_intervals(scores, names(scores), rng(1), method=method, resamples=200, target=10.0)
    changed, target = scores * scale + shift, 10.0 * scale + shift
    second = aggregate_intervals(changed, names(scores), rng(1), method=method, resamples=200, target=target)
    for name in AGGREGATES:
        by = 0 if name == "optimality_gap" else shift
        expected = [end * scale + by for end in ends(first[name])]
        assert ends(second[name]) == pytest.approx(expected, abs=1e-6 * scale * 1000)


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
    assert (band.low >= 0).all()
    assert (band.low <= band.value).all()
    assert (band.value <= band.high).all()
    assert (band.high <= 1).all()
    gap = aggregate_intervals(scores, names(scores), rng(1), resamples=200, target=2.0)["optimality_gap"]
    assert 0 <= ends(gap)[0] <= gap.value


@pytest.mark.parametrize("method", METHODS)
def test_a_higher_level_is_wider(method: Method) -> None:
    scores = made_up()
    widths = []
    for level in (0.5, 0.9, 0.99):
        found = aggregate_intervals(scores, names(scores), rng(1), method=method, level=level)
        widths.append([np.subtract(*reversed(ends(found[name]))) for name in AGGREGATES])
    assert (np.diff(widths, axis=0) > 0).all()


def test_few_runs_widen_the_interval_by_a_known_factor() -> None:
    """Tasks alike in spread and runs: √(n / (n − 1)) and Student's quantile at tasks · (n − 1) degrees of freedom."""
    scores = np.array([0.0, 10.0, 20.0])[:, np.newaxis] + np.array([-1.0, 0.0, 1.0])
    plain, wide = (
        aggregate_intervals(scores, names(scores), rng(1), method=method)["mean"]
        for method in ("percentile", "expanded")
    )
    factor = np.sqrt(3 / 2) * stats.t.ppf(0.975, 6) / stats.norm.ppf(0.975)
    distances = np.array(ends(plain)) - plain.value
    assert np.array(ends(wide)) - wide.value == pytest.approx(distances * factor)
    assert wide.standard_error == pytest.approx(plain.standard_error * np.sqrt(3 / 2))


def test_missing_scores_are_refused_by_name() -> None:
    scores = ragged()
    with pytest.raises(ArcadeMarkError, match="runs are missing on game 0, game 1, game 3, game 4; play them"):
        aggregate_intervals(scores, names(scores), rng())
    with pytest.raises(ArcadeMarkError, match="missing on game 0"):
        improvement_interval(made_up(5), scores, names(scores), rng())
    with pytest.raises(ArcadeMarkError, match="missing on game 0"):
        profile_band(scores, names(scores), [1.0], rng())


def test_what_was_left_out_is_named() -> None:
    scores = ragged()
    notes = aggregate_intervals(scores, names(scores), rng(), missing="omit")["mean"].notes
    assert notes[:3] == (
        "no score on game 4: left out",
        "one run on game 3: the variation from run to run there is not included",
        "1 to 6 runs a task: each task weighs the same, in the IQM each run does",
    )
    assert "3 runs a task: of simulated" in notes[3]
    assert [note.kind for note in notes] == ["absent", "single", "ragged", "coverage"]
    assert copy.deepcopy(notes[3]).kind == pickle.loads(pickle.dumps(notes[3])).kind == "coverage"


def test_left_out_tasks_and_padding_change_nothing() -> None:
    scores = made_up(4, 3)
    padded = np.full((5, 6), np.nan)
    padded[:4, :3] = scores
    alone = aggregate_intervals(scores, names(scores), rng(1))
    found = aggregate_intervals(padded, names(padded), rng(1), missing="omit")
    for name in AGGREGATES:
        assert (found[name].value, *ends(found[name])) == (alone[name].value, *ends(alone[name]))


def test_one_run_a_task_has_a_value_but_no_interval() -> None:
    scores = made_up(4, 1)
    why = "one run a task: how much scores vary from run to run is not known; play more"
    found = aggregate_intervals(scores, names(scores), rng())["iqm"]
    assert (found.low, found.high, found.standard_error, found.notes) == (None, None, None, (why,))
    assert found.value == aggregate.iqm(scores)
    band = profile_band(scores, names(scores), [50.0], rng())
    assert (band.low, band.high, band.notes) == (None, None, (why,))
    improvement = improvement_interval(scores, scores[::-1], names(scores), rng())
    assert (improvement.low, improvement.notes) == (None, (why,))
    assert improvement.value == compare.probability_of_improvement(scores, scores[::-1])


def test_runs_that_do_not_vary_give_no_width_and_say_so() -> None:
    scores = np.repeat([[0.1], [0.2], [0.3]], 3, axis=1)
    for interval in aggregate_intervals(scores, names(scores), rng(), target=1.0).values():
        assert ends(interval) == pytest.approx((interval.value, interval.value))
        assert "no variation that could move it was seen" in interval.notes[0]


def test_few_runs_are_warned_of_and_many_are_not() -> None:
    few, many = (aggregate_intervals(made_up(8, runs), names(made_up(8)), rng()) for runs in (3, 20))
    assert few["iqm"].notes == ("3 runs a task: of simulated 95 % intervals from 3, 85 to 92 % held the true value",)
    assert many["iqm"].notes == ()
    assert many["optimality_gap"].notes[0].startswith("20 runs a task: of simulated 95 % intervals from 20, 72 to 91 %")
    unknown = "only 3 runs a task: how often such an interval holds the true value was not measured"
    scores = made_up(8, 3)
    assert profile_band(scores, names(scores), [50.0], rng()).notes == (unknown,)


@pytest.mark.slow
def test_wider_methods_hold_the_truth_more_often() -> None:
    """Three normal runs on ten tasks: 95 % intervals, of which the percentile's are too narrow."""
    source, held = rng(11), dict.fromkeys(METHODS, 0)
    for _ in range(300):
        scores = np.arange(10.0)[:, np.newaxis] + source.standard_normal((10, 3))
        for method in METHODS:
            low, high = ends(aggregate_intervals(scores, names(scores), source, method=method, resamples=300)["mean"])
            held[method] += low <= 4.5 <= high
    assert held["percentile"] / 300 < 0.91
    assert 0.92 < held["expanded"] / 300 < 0.98
    assert 0.92 < held["symmetric"] / 300 < 0.98


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"level": 95.0}, "level 95: expected a share"),
        ({"resamples": 1}, "resamples 1: expected 2 or more"),
        ({"threads": 0}, "threads 0: expected 1 or more"),
    ],
)
def test_arguments_out_of_bounds_are_refused(options: dict[str, Any], told: str) -> None:
    scores = made_up()
    with pytest.raises(ArcadeMarkError, match=told):
        aggregate_intervals(scores, names(scores), rng(), **options)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="percentil"):
        aggregate_intervals(made_up(), names(made_up()), rng(), method="percentil")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        (np.ones(3), r"expected scores of shape \(2, runs\), not \(3,\)"),
        (np.ones((3, 2)), r"expected scores of shape \(2, runs\), not \(3, 2\)"),
        (np.full((2, 3), np.nan), "no scores to resample"),
        (np.array([[1.0, 2.0], [1.0, np.inf]]), "a score on b is infinite"),
        (np.ones((2, 0)), "no scores to resample"),
    ],
)
def test_what_is_no_table_of_scores_is_refused(scores: Floats, told: str) -> None:
    with pytest.raises(ArcadeMarkError, match=told):
        aggregate_intervals(scores, ["a", "b"], rng(), missing="omit")
