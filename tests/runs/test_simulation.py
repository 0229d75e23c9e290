"""The simulator's clock: hand-computed schedules."""

import numpy as np
import pytest

from arcademark.runs.simulation import Load, simulate


def test_one_worker_plays_all_one_after_the_other():
    went = simulate([Load([3.0, 1.0]), Load([2.0], training=4.0, learns=True)], 1, starting_seconds=2)
    assert (went.seconds, went.efficiency, went.failures) == (12, pytest.approx(10 / 12), 0)


def test_idle_workers_help_with_the_trial_of_longest_episodes():
    loads = [Load([8.0, 8.0], plans=True), Load([1.0, 1.0], plans=True), Load([1.0], plans=True)]
    assert simulate(loads, 3).seconds == 9  # the third begins a trial of its own, then helps with the first
    assert simulate([Load([8.0, 8.0], plans=True), Load([1.0] * 4, plans=True)], 3).seconds == 8


def test_a_learner_stays_with_one_worker():
    loads = [Load([1.0] * 10, training=5.0, learns=True), Load([1.0] * 3)]
    went = simulate(loads, 4)
    assert went.seconds == 15
    assert went.efficiency == pytest.approx(18 / (4 * 15))


def test_shares_shrink_as_the_end_nears():
    load = Load([1.0] * 100)
    assert [len(load.take(2)) for _ in range(5)] == [25, 19, 14, 11, 8]
    assert simulate([Load([1.0] * 100)], 2).seconds == 50


def test_a_batch_plays_its_episodes_side_by_side():
    assert simulate([Load([1.0, 1.0, 3.0], batch_size=2)], 1).seconds == 8
    assert simulate([Load([1.0, 1.0], batch_size=4)], 1).seconds == 4


@pytest.mark.parametrize("learns", [False, True])
def test_what_a_failure_loses_is_played_again(learns):
    loads = [Load([600.0] * 40, training=1800.0 if learns else 0.0, learns=learns) for _ in range(6)]
    calm = simulate([Load([600.0] * 40, training=loads[0].training, learns=learns) for _ in range(6)], 3)
    rng = np.random.default_rng(0)
    went = simulate(loads, 3, failures_per_hour=2, away_seconds=300, rng=rng)
    assert went.failures > 10
    assert calm.seconds < went.seconds < calm.seconds + went.failures * (600 + 300)
    assert all(load.pending == 0 for load in loads)
    assert went.efficiency < calm.efficiency
