"""Completion by hand, on data whose distribution is known, and on algorithms that are odd."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.errors import ArcadeMarkError
from arcademark.subset.completion import Completer, Forecast, Normal, fit_normal

TASKS = tuple("abcdef")


def plain(values):
    return np.asarray(values, dtype=np.float64)


SUMMARIES = {
    "median": lambda values: np.nanmedian(values, axis=1),
    "high": lambda values: np.sum(values >= 5, axis=1).astype(float),
}


def made(seed: int, algorithms: int = 60, missing: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    level = rng.normal(5, 1, size=(algorithms, 1))
    scores = level + rng.normal(scale=[0.1, 0.3, 0.5, 0.5, 0.7, 1.0], size=(algorithms, 6))
    scores[rng.random(scores.shape) < missing] = np.nan
    scores[np.isnan(scores).all(axis=1), 0] = 5.0
    return scores


def completer(scores: np.ndarray, a_source: int = 3) -> Completer:
    return Completer(scores, TASKS, tuple(f"paper {row // a_source}" for row in range(len(scores))), plain)


def test_conditioning_by_hand():
    normal = Normal(np.array([1.0, 2.0]), np.array([[4.0, 2.0], [2.0, 3.0]]))
    found = normal.given(np.array([0]), np.array([3.0]))
    assert found.mean.tolist() == [3.0, 3.0]
    assert found.covariance.tolist() == [[0.0, 0.0], [0.0, 2.0]]
    assert normal.mean.tolist() == [1.0, 2.0]
    assert normal.oddness(np.array([0]), np.array([3.0])) == pytest.approx(np.sqrt((4 + 1) / (4 + 1)))
    assert normal.oddness(np.array([0]), np.array([11.0])) == pytest.approx(np.sqrt((4 + 25) / 5))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000))
def test_conditioning_on_two_is_conditioning_twice(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    normal = Normal(rng.normal(size=4), root @ root.T + np.eye(4))
    both = normal.given(np.array([1, 3]), np.array([0.5, -1.0]))
    third = normal.given(np.array([1]), np.array([0.5]))
    gain = third.covariance[3] / third.covariance[3, 3]
    assert both.mean == pytest.approx(third.mean + gain * (-1.0 - third.mean[3]))
    assert both.covariance == pytest.approx(third.covariance - np.outer(gain, third.covariance[3]), abs=1e-9)


def test_draws_have_the_distributions_mean_and_covariance():
    normal = Normal(np.array([1.0, -1.0]), np.array([[2.0, 0.8], [0.8, 1.0]]))
    drawn = normal.draws(40_000, np.random.default_rng(0))
    assert drawn.mean(axis=0) == pytest.approx(normal.mean, abs=0.03)
    assert np.cov(drawn.T) == pytest.approx(normal.covariance, abs=0.05)


def test_without_gaps_the_fit_is_mean_and_shrunk_covariance():
    scores = made(1, missing=0.0)
    found = fit_normal(scores, shrinkage=0.25, iterations=3)
    covariance = np.cov(scores.T, bias=True)
    spread = np.diag(covariance)
    target = np.diag(spread + 0.01 * spread.mean())
    assert found.mean == pytest.approx(scores.mean(axis=0))
    assert found.covariance == pytest.approx((covariance + 0.25 * target) / 1.25)


def test_gaps_are_bridged():
    scores, whole = made(2, algorithms=3000, missing=0.3), made(2, algorithms=3000, missing=0.0)
    found, full = fit_normal(scores, shrinkage=1e-3, iterations=40), fit_normal(whole, shrinkage=1e-3)
    assert found.mean == pytest.approx(full.mean, abs=0.05)
    assert found.covariance == pytest.approx(full.covariance, abs=0.1)


def forecast(seed: int, known: dict[str, float], level: float = 0.9) -> Forecast:
    return completer(made(seed)).forecast(known, SUMMARIES, np.random.default_rng(0), level=level)


def test_known_tasks_stay_and_all_others_are_told():
    found = forecast(3, {"a": 6.0, "b": 6.1, "unknown": 3.0})
    assert found.known == ("a", "b")
    assert list(found.tasks) == ["c", "d", "e", "f"]
    assert all(item.low < item.value < item.high for item in found.tasks.values())
    assert found.tasks["c"].value == pytest.approx(6.0, abs=0.4)
    widths = [item.high - item.low for item in found.tasks.values()]
    assert widths[3] > widths[0]
    assert found.summaries["median"].low < 6.0 < found.summaries["median"].high
    assert set(found.gains) == set(found.tasks)
    assert list(found.gains.values()) == sorted(found.gains.values(), reverse=True)
    assert found == forecast(3, {"b": 6.1, "a": 6.0})


def test_a_wider_level_and_odder_scores_widen_intervals():
    usual, wide = forecast(3, {"a": 6.0, "b": 6.0}), forecast(3, {"a": 6.0, "b": 6.0}, level=0.97)
    odd = forecast(3, {"a": 6.0, "b": 12.0})
    for task, item in usual.tasks.items():
        assert wide.tasks[task].high - wide.tasks[task].low > item.high - item.low
        assert odd.tasks[task].high - odd.tasks[task].low > 2 * (item.high - item.low)


def test_the_task_that_tells_most_of_the_rest_is_to_be_played_next():
    rng = np.random.default_rng(8)
    level = rng.normal(5, 1, size=(80, 1))
    noise = np.array([3.0, 3.0, 0.01, 0.6, 0.6, 0.6])
    found = completer(level + rng.normal(size=(80, 6)) * noise).forecast({"a": 5.0}, SUMMARIES, rng)
    assert next(iter(found.gains)) == "c"


def test_intervals_hold_their_share_of_new_algorithms():
    train = completer(made(10, algorithms=120))
    inside, middles = [], []
    for row in made(11, algorithms=150, missing=0.0):
        found = train.forecast({"b": row[1], "d": row[3]}, SUMMARIES, np.random.default_rng(1), level=0.8, draws=400)
        middles.append(found.summaries["median"].low <= np.median(row) <= found.summaries["median"].high)
        inside += [found.tasks[task].low <= row[TASKS.index(task)] <= found.tasks[task].high for task in found.tasks]
    assert 0.7 < np.mean(inside) < 0.9
    assert 0.68 < np.mean(middles) < 0.92


def test_where_all_is_known_nothing_is_estimated():
    found = forecast(4, dict(zip(TASKS, [1.0, 2.0, 3.0, 5.0, 6.0, 7.0], strict=True)))
    assert (found.tasks, found.gains) == ({}, {})
    assert (found.summaries["median"].low, found.summaries["median"].high) == (4.0, 4.0)
    assert found.summaries["high"].value == 3.0


@pytest.mark.parametrize(
    ("known", "level", "told"),
    [({}, 0.9, "nothing is known"), ({"z": 1.0}, 0.9, "nothing is known"), ({"a": 1.0}, 1.0, "between 0 and 1")],
)
def test_bad_questions(known, level, told):
    with pytest.raises(ArcadeMarkError, match=told):
        forecast(5, known, level)


def test_bad_data():
    with pytest.raises(ArcadeMarkError, match="needs two algorithms"):
        fit_normal(np.array([[1.0, np.nan], [2.0, np.nan]]))
    with pytest.raises(ArcadeMarkError, match="shrinkage 0"):
        fit_normal(made(1), shrinkage=0.0)
    with pytest.raises(ArcadeMarkError, match="shape"):
        Completer(made(1), TASKS[:2], ("x",), plain)
    with pytest.raises(ArcadeMarkError, match="too few to say"):
        completer(made(1, algorithms=9, missing=0.0), 1).forecast({"a": 1.0}, SUMMARIES, np.random.default_rng(0))
