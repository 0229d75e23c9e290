from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics.power import (
    Spreads,
    detectable_difference,
    detection_power,
    episodes_needed,
    seeds_needed,
    spreads_of_episodes,
    spreads_of_runs,
)
from arcademark.metrics.simulated_power import (
    STATISTICS,
    simulated_detectable_difference,
    simulated_power,
    simulated_seeds_needed,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# Cohen 1992, "A power primer", Table 2: runs of each group for power 0.8, by effect size and two-sided alpha.
COHEN = {
    (0.2, 0.01): 586, (0.5, 0.01): 95, (0.8, 0.01): 38,
    (0.2, 0.05): 393, (0.5, 0.05): 64, (0.8, 0.05): 26,
    (0.2, 0.10): 310, (0.5, 0.10): 50, (0.8, 0.10): 20,
}  # fmt: skip


@pytest.mark.parametrize(("effect", "alpha"), COHEN)
def test_seeds_needed_are_those_of_the_table(effect: float, alpha: float) -> None:
    found = seeds_needed(effect, 1.0, alpha=alpha)
    assert abs(found - COHEN[effect, alpha]) <= 1  # the table rounds
    assert seeds_needed(100 * effect, 100.0, alpha=alpha) == found


@pytest.mark.parametrize(
    ("seeds", "effect", "alpha"), [(2, 1.0, 0.05), (5, 0.7, 0.01), (40, 0.3, 0.1), (300, 0.0, 0.05)]
)
def test_power_is_that_of_the_noncentral_t_distribution(seeds: int, effect: float, alpha: float) -> None:
    degrees, shift = 2 * seeds - 2, effect * np.sqrt(seeds / 2)
    bar = stats.t.isf(alpha / 2, degrees)
    expected = stats.nct.sf(bar, degrees, shift) + stats.nct.cdf(-bar, degrees, shift)
    assert detection_power(effect, seeds, 1.0, alpha=alpha) == pytest.approx(expected)
    assert detection_power(-effect, seeds, 1.0, alpha=alpha) == detection_power(effect, seeds, 1.0, alpha=alpha)


def test_power_is_how_often_welchs_test_finds_the_difference() -> None:
    source = rng(1)
    x, y = source.normal(1.5, 2.0, (20_000, 8)), source.normal(0.0, 1.0, (20_000, 8))
    found = np.mean(stats.ttest_ind(x, y, axis=1, equal_var=False).pvalue < 0.05)
    assert detection_power(1.5, 8, (2.0, 1.0)) == pytest.approx(found, abs=0.012)


def test_episodes_add_to_the_spread_of_a_seed() -> None:
    assert detection_power(1, 5, 0.6, within=1.6, episodes=4) == pytest.approx(detection_power(1, 5, 1.0))
    assert detection_power(1, 5, 0.0, within=3.0, episodes=9) == pytest.approx(detection_power(1, 5, 1.0))
    assert detection_power(0.1, 5, 20.0, relative_to=200.0) == pytest.approx(detection_power(1, 5, 1.0))


def test_what_is_needed_is_enough_and_one_less_is_not() -> None:
    seeds = seeds_needed(0.7, 1.0, within=2.0, episodes=5, power=0.9, alpha=0.01)
    for count, enough in ((seeds, True), (seeds - 1, False)):
        assert (detection_power(0.7, count, 1.0, within=2.0, episodes=5, alpha=0.01) >= 0.9) is enough
    episodes = episodes_needed(1.0, 30, 1.0, 5.0)
    for count, enough in ((episodes, True), (episodes - 1, False)):
        assert (detection_power(1.0, 30, 1.0, within=5.0, episodes=count) >= 0.8) is enough
    assert seeds_needed(1000.0, 1.0) == 2
    assert seeds_needed(0.001, 1.0) == pytest.approx(2 * ((1.959964 + 0.841621) / 0.001) ** 2, rel=1e-3)


def test_the_detectable_difference_is_detected_with_just_that_power() -> None:
    found = detectable_difference(5, 1.0, within=2.0, episodes=10, power=0.9)
    assert detection_power(found, 5, 1.0, within=2.0, episodes=10) == pytest.approx(0.9)
    share = detectable_difference(5, 1.0, within=2.0, episodes=10, power=0.9, relative_to=50.0)
    assert share == pytest.approx(found / 50)
    assert detectable_difference(64, 1.0) == pytest.approx(0.5, rel=0.01)  # Cohen 1992, as above


def test_too_few_seeds_are_told_apart_from_too_few_episodes() -> None:
    with pytest.raises(ArcadeMarkError, match=r"with 3 seeds no number of episodes reaches .* play more seeds"):
        episodes_needed(0.5, 3, 1.0, 5.0)


CALLS: list[tuple[Any, str]] = [
    (lambda: detection_power(1, 1, 1.0), "seeds 1: expected 2 or more"),
    (lambda: detection_power(1, 5, -1.0), "standard deviations, finite and 0 or more"),
    (lambda: detection_power(1, 5, 0.0), "do not vary"),
    (lambda: detection_power(1, 5, 1.0, alpha=5), "alpha 5: expected a share"),
    (lambda: detection_power(1, 5, 1.0, episodes=0), "episodes 0: expected 1 or more"),
    (lambda: seeds_needed(0.0, 1.0), "difference 0"),
    (lambda: seeds_needed(1.0, 1.0, power=80), "power 80: expected a share"),
    (lambda: seeds_needed(1e-9, 1.0), "1,000,000,000 seeds are not enough"),
    (lambda: detectable_difference(5, 1.0, power=0.01), "expected more than alpha"),
    (lambda: spreads_of_runs(np.array([[1.0, np.nan], [1, 2]]), ["a", "b"]), "fewer on a"),
    (lambda: spreads_of_runs(np.ones(3), ["a"]), "expected scores of shape"),
    (lambda: spreads_of_episodes({"a": [[1.0, 2.0]]}), "a: two seeds are needed"),
    (lambda: spreads_of_episodes({"a": [[1.0], [2.0]]}), "a: two seeds are needed .* two episodes"),
    (lambda: spreads_of_episodes({"a": [[1.0, np.nan], [2.0]]}), "a: expected one array of finite"),
    (lambda: Spreads(np.ones(2), np.ones(2), np.ones(3)), "three arrays of shape"),
    (lambda: Spreads(np.ones(2), -np.ones(2), np.ones(2)), "0 or more"),
]


@pytest.mark.parametrize(("call", "told"), CALLS)
def test_arguments_out_of_bounds_are_refused(call: Any, told: str) -> None:
    with pytest.raises(ArcadeMarkError, match=told):
        call()


def test_spreads_of_runs_by_hand() -> None:
    found = spreads_of_runs([[1.0, 3.0, np.nan], [5.0, 5.0, 5.0]], ["a", "b"])
    assert (found.means.tolist(), found.within.tolist()) == ([2, 5], [0, 0])
    assert found.between == pytest.approx([np.sqrt(2), 0])


def test_spreads_of_episodes_by_hand() -> None:
    # Seed means 2 and 8, variance 18; within variance (2 + 2) / 2 = 2, of which each mean of two episodes has 1.
    found = spreads_of_episodes({"a": [[1.0, 3.0], [7.0, 9.0]], "b": [[0.0, 10.0], [4.0, 6.0]]})
    assert found.means.tolist() == [5, 5]
    assert found.between == pytest.approx([np.sqrt(17), 0])
    assert found.within == pytest.approx([np.sqrt(2), np.sqrt(26)])


def test_spreads_of_episodes_find_the_truth_in_uneven_seeds() -> None:
    source = rng(2)
    seeds = [source.normal(source.normal(10, 3), 2, size) for size in source.integers(1, 6, 4000)]
    found = spreads_of_episodes({"a": seeds})
    assert (found.means[0], found.between[0], found.within[0]) == pytest.approx((10, 3, 2), rel=0.03)


MEANS = 100 * np.exp(np.linspace(-1, 1, 12))
SPREADS = Spreads(MEANS, 0.2 * MEANS, 0.3 * MEANS)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_simulated_experiments_find_what_is_there_and_seldom_what_is_not(statistic: Any) -> None:
    options: dict[str, Any] = {"relative": True, "statistic": statistic, "trials": 100, "resamples": 200}
    nothing, little, much = (simulated_power(SPREADS, by, 6, rng(1), **options).power for by in (0.0, 0.2, 1.0))
    assert nothing <= 0.08  # two-sided at 5 %: 2.5 % on this side
    assert nothing <= little <= much
    assert much > 0.9
    assert simulated_power(SPREADS, 0.2, 6, rng(1), **options).power == little


def test_simulated_power_of_one_task_is_the_analytic_one() -> None:
    one = Spreads(np.array([10.0]), np.array([1.0]), np.array([0.0]))
    found = simulated_power(one, 1.0, 12, rng(3), statistic="mean", method="expanded", trials=1000, resamples=400)
    assert found.power == pytest.approx(detection_power(1.0, 12, 1.0), abs=0.06)
    assert found.standard_error == pytest.approx(np.sqrt(found.power * (1 - found.power) / 1000))


def test_more_episodes_help_as_far_as_they_go() -> None:
    options: dict[str, Any] = {"relative": True, "trials": 100, "resamples": 200}
    few, many = (simulated_power(SPREADS, 0.15, 4, rng(1), episodes=count, **options).power for count in (1, 100))
    assert few < many


def test_simulated_seeds_and_difference_are_each_others_inverse() -> None:
    options: dict[str, Any] = {"relative": True, "trials": 100, "resamples": 200}
    found = simulated_seeds_needed(SPREADS, 0.2, rng(5), power=0.7, **options)
    assert found.power >= 0.7
    assert 3 <= found.seeds <= 20
    same_draws = np.random.default_rng(rng(5).integers(2**63))
    assert simulated_power(SPREADS, 0.2, found.seeds - 1, same_draws, **options).power < 0.7
    difference = simulated_detectable_difference(SPREADS, found.seeds, rng(6), power=0.7, tolerance=0.1, **options)
    assert difference == pytest.approx(0.2, rel=0.3)


def test_simulations_refuse_what_they_cannot_do() -> None:
    with pytest.raises(UnknownNameError, match="modus"):
        simulated_power(SPREADS, 1.0, 3, rng(), statistic="modus")  # type: ignore[arg-type]
    with pytest.raises(ArcadeMarkError, match="seeds 1"):
        simulated_power(SPREADS, 1.0, 1, rng())
    with pytest.raises(ArcadeMarkError, match="3 seeds are not enough"):
        simulated_seeds_needed(SPREADS, 0.001, rng(), most=3, relative=True, trials=20, resamples=50)
    flat = Spreads(MEANS, 0 * MEANS, 0 * MEANS)
    with pytest.raises(ArcadeMarkError, match="do not vary"):
        simulated_detectable_difference(flat, 3, rng())
