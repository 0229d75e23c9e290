"""The simulator's clock: hand-computed schedules."""

import pytest

from arcademark.runs.engines.simulation import Load, simulate


def test_one_worker_plays_all_one_after_the_other():
    went = simulate([Load([3.0, 1.0]), Load([2.0], training=4.0, learns=True)], 1, starting_seconds=2)
    assert (went.seconds, went.efficiency) == (12, pytest.approx(10 / 12))


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
