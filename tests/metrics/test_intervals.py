from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import stats

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.uncertainty.intervals import Interval, check, interval, score, score_intervals

SEEDS = [[1.0, 2, 6, 7], [10.0, 30]]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def resampled(seeds: Sequence[ArrayLike], source: np.random.Generator, **options: Any) -> Interval:
    return interval({"this task": seeds}, lambda scores: scores[..., 0], source, **options)


def every_resample(seeds: list[list[float]]) -> list[float]:
    """All equally weighted outcomes of drawing seeds and then episodes, by enumeration."""
    found = []
    for drawn in itertools.product(seeds, repeat=len(seeds)):
        choices = [list(itertools.product(scores, repeat=len(scores))) for scores in drawn]
        outcomes = [float(np.mean([np.mean(c) for c in picks])) for picks in itertools.product(*choices)]
        weight = 2**8 // len(outcomes)
        found.append(np.repeat(outcomes, weight))
    return np.concatenate(found).tolist()


def test_score_averages_within_seeds_first() -> None:
    assert score(SEEDS) == (4 + 20) / 2
    assert score([[0.0], [10, 10, 10]]) == 5


def test_same_generator_same_interval_and_another_one_another() -> None:
    assert resampled(SEEDS, rng(1)) == resampled(SEEDS, rng(1))
    assert resampled(SEEDS, rng(1)) != resampled(SEEDS, rng(2))


@pytest.mark.parametrize("seeds", [[[1.0, 2, 6, 7]], [[1.0, 2], [10.0, 30]], [[5.0], [7.0], [13.0]]])
def test_resampling_agrees_with_enumerating_every_resample(seeds: list[list[float]]) -> None:
    exact = np.array(every_resample(seeds))
    found = resampled(seeds, rng(), resamples=40_000)
    assert found.value == score(seeds)
    assert found.standard_error == pytest.approx(exact.std(), rel=0.02)
    assert found.low is not None
    assert found.high is not None
    assert np.mean(exact < found.low) < 0.03 < 0.06 > np.mean(exact > found.high)
    assert np.mean((exact >= found.low) & (exact <= found.high)) >= 0.94


def test_spread_between_seeds_widens_the_interval() -> None:
    apart, together = [[0.0, 2] * 10, [100.0, 102] * 10], [[0.0, 102] * 20]
    found = resampled(apart, rng())
    assert found.high is not None
    assert found.low is not None
    assert (round(found.low), round(found.high)) == (1, 101)
    pooled = resampled(together, rng())
    assert pooled.standard_error is not None
    assert found.standard_error is not None
    assert found.standard_error > 3 * pooled.standard_error


def test_a_higher_level_is_wider() -> None:
    narrow, wide = (resampled(SEEDS, rng(), level=level) for level in (0.5, 0.99))
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low <= narrow.value
    with pytest.raises(ArcadeMarkError, match="level 95: expected a share between 0 and 1"):
        resampled(SEEDS, rng(), level=95)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    source = rng(3)
    covered = 0
    for _ in range(300):
        found = resampled([source.exponential(size=30)], source, resamples=300)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 1.0 <= found.high
    assert 0.86 <= covered / 300 <= 0.98


def test_any_statistic_of_several_tasks_in_the_order_of_the_mapping() -> None:
    tasks = {"pong": [[1.0], [3.0], [2.0]], "qbert": [[100.0], [300.0], [200.0]]}
    found = interval(tasks, lambda scores: scores @ np.array([1.0, 10.0]), rng())
    assert found.value == 2 + 2000
    assert (found.low, found.high) == pytest.approx((1001.0, 3003.0), rel=0.34)
    assert found.low > 1000


def test_tasks_are_resampled_independently() -> None:
    seen: list[np.ndarray] = []

    def remembered(scores: np.ndarray) -> np.ndarray:
        seen.append(scores)
        return np.asarray(scores.sum(axis=-1))

    interval({name: [[0.0, 1.0] * 10] for name in "ab"}, remembered, rng(), resamples=5000)
    draws = max(seen, key=np.size)
    assert draws.shape == (5000, 2)
    assert abs(np.corrcoef(draws.T)[0, 1]) < 0.05


def test_what_an_interval_leaves_out_is_said() -> None:
    one_seed = resampled([[1.0, 2.0] * 5], rng())
    assert one_seed.notes == ("one seed: the variation from seed to seed is not included",)
    assert resampled([[1.0, 2.0] * 5] * 5, rng()).notes == ()
    two = "only 2 seeds: where seeds differ, percentile intervals from so few are too narrow"
    assert resampled([[1.0, 2.0] * 5] * 2, rng()).notes == (two,)
    assert resampled([[1.0, 2.0] * 5] * 2, rng(), method="symmetric").notes == ()
    few = resampled([[1.0, 2.0], [3.0]], rng())
    assert few.notes == (two, "only 3 episodes a game: percentile intervals from so few are too narrow")
    assert resampled([[1.0, 2.0], [3.0]], rng(), method="expanded").notes == ()
    mixed = interval({"pong": [[1.0, 2.0] * 5], "qbert": [[1.0] * 5, [1.0] * 5]}, lambda s: s.sum(axis=-1), rng())
    assert mixed.notes == (
        "one seed on pong: the variation from seed to seed is not included",
        two,
        "every episode scored the same on qbert: no variation was seen there",
    )


def test_one_episode_has_a_score_but_no_interval() -> None:
    found = interval({"pong": [[3.0]], "qbert": [[1.0, 2.0]]}, lambda scores: scores.sum(axis=-1), rng())
    assert (found.value, found.low, found.high, found.standard_error) == (4.5, None, None, None)
    assert "fewer than 3 episodes on pong" in found.notes[0]


def test_other_methods_draw_seeds_alone_and_widen_by_how_few_there_are() -> None:
    seeds = [[0.0, 2], [4.0, 6], [10.0, 12]]  # means 1, 5, 11
    plain = [np.mean(drawn) for drawn in itertools.product([1, 5, 11], repeat=3)]
    found = resampled(seeds, rng(), method="expanded", resamples=40_000)
    widening = np.sqrt(3 / 2)
    assert found.standard_error == pytest.approx(np.std(plain) * widening, rel=0.02)
    student = stats.t.ppf(0.975, 2) / stats.norm.ppf(0.975)
    reach = widening * student * (np.quantile(plain, [0.025, 0.975], method="inverted_cdf") - found.value)
    assert (found.low, found.high) == pytest.approx(tuple(found.value + reach))
    episodes = resampled([[1.0, 3, 4, 9]], rng(), method="expanded", resamples=40_000)
    assert episodes.standard_error == pytest.approx(np.std([1.0, 3, 4, 9], ddof=1) / 2, rel=0.02)


def test_other_methods_hold_the_truth_where_seeds_differ() -> None:
    source, held = rng(4), dict.fromkeys(("percentile", "symmetric"), 0)
    for _ in range(200):
        tasks = {name: [source.normal(source.normal(10), 1, 20) for _ in range(3)] for name in "abc"}
        for method in held:
            found = interval(tasks, lambda s: s.mean(axis=-1), source, method=method, resamples=300)  # type: ignore[arg-type]
            assert found.low is not None
            assert found.high is not None
            assert found.method == method
            held[method] += found.low <= 10 <= found.high
    assert held["percentile"] / 200 < 0.93
    assert held["symmetric"] / 200 > 0.93


@pytest.mark.parametrize("seeds", [[], [[]], [[1.0], []], [[[1.0]]]])
def test_nothing_to_average_is_refused(seeds: list[list[float]]) -> None:
    with pytest.raises(ArcadeMarkError, match="no episodes to average"):
        score(seeds)


def test_a_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(ArcadeMarkError, match="missing or infinite"):
        resampled([[1.0, np.nan]], rng())


@pytest.mark.parametrize(("values", "level"), [([4.0, 20, 3], 0.95), ([1.0, 2, 6, 7], 0.8)])
def test_one_tasks_interval_is_students_t_over_seeds_or_episodes(values: list[float], level: float) -> None:
    (found,) = score_intervals([np.array(values)], level=level).tolist()
    error = stats.sem(values)
    expected = stats.t.interval(level, len(values) - 1, loc=np.mean(values), scale=error)
    assert found == pytest.approx([np.mean(values), *expected, error])


@pytest.mark.parametrize("values", [[3.0], [1.0, 3.0], [2.0] * 3])
def test_of_too_few_values_or_where_nothing_varies_there_are_no_limits(values: list[float]) -> None:
    assert np.isnan(score_intervals([np.array(values)])[0, 1:]).all()


def test_a_level_that_is_no_share_is_refused() -> None:
    with pytest.raises(ArcadeMarkError, match="level 95: expected a share between 0 and 1"):
        check("symmetric", 95)


def test_the_mean_of_very_many_episodes_is_resampled_without_drawing_each() -> None:
    episodes = rng().exponential(size=1_000_000)
    found = resampled([episodes], rng(), method="symmetric")
    assert (found.low, found.high) == pytest.approx(score_intervals([episodes])[0, 1:3], abs=1e-4)
