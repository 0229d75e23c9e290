"""How far a run is, by hand-made news."""

from __future__ import annotations

import pytest

from arcademark.runs.engines.base import Failed, Lost, Opened
from arcademark.runs.lane import Played, TrainingBlock
from arcademark.runs.progress import Standing, Tracker
from arcademark.runs.store import Checkpoint, EpisodeRecord, EpisodeResult


def episode(trial, number: int, frames: int, phase: str = "evaluation") -> EpisodeResult:
    return EpisodeResult(EpisodeRecord(trial.id, phase, number, 0.0, frames, frames, "terminated", 1.0), b"")


def test_episodes_are_expected_to_be_as_long_as_those_before(toy_plan):
    first, second = toy_plan(seeds=(0, 1), episodes=4).trials
    tracker = Tracker([Standing(first), Standing(second)])
    assert tracker.progress().fraction is None
    assert tracker.progress().seconds_left is None
    tracker.hear(first.id, Opened(None, False, 1))
    tracker.hear(first.id, Played(100))
    assert tracker.progress().fraction is None
    tracker.hear(first.id, episode(first, 0, 100))
    halfway = tracker.progress()
    assert halfway.fraction == pytest.approx(100 / (100 + 7 * 100))
    assert (halfway.episodes_done, halfway.episodes, halfway.frames) == (1, 8, 100)
    tracker.hear(second.id, Played(300))
    tracker.hear(second.id, episode(second, 0, 300))
    assert tracker.progress().fraction == pytest.approx(400 / (400 + 3 * 100 + 3 * 300))
    tracker.hear(first.id, Played(60))
    assert tracker.progress().fraction == pytest.approx(460 / (460 + 240 + 900))
    tracker.hear(first.id, Lost("SIGKILL"))
    assert tracker.progress().fraction == pytest.approx(460 / (460 + 300 + 900))
    tracker.hear(second.id, Failed("why not"))
    assert tracker.progress().fraction == pytest.approx(460 / (460 + 300))


def test_what_earlier_commands_recorded_counts(toy_plan):
    first, second = toy_plan(seeds=(0, 1), episodes=4).trials
    tracker = Tracker([Standing(first, episodes=4, frames=80), Standing(second, episodes=1, frames=50)])
    progress = tracker.progress()
    assert (progress.trials_done, progress.episodes_done, progress.fraction) == (1, 5, 0.0)
    tracker.hear(second.id, Played(50))
    assert tracker.progress().fraction == pytest.approx(50 / 150)


def test_a_learner_has_its_budget_to_play(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), episodes=2, frames=1000).trials
    tracker = Tracker([Standing(trial, episodes=1, frames=100)])
    tracker.hear(trial.id, Opened(None, True, 1))
    tracker.hear(trial.id, Played(400))
    assert tracker.progress().fraction == pytest.approx(400 / (400 + 600 + 100))
    block = (episode(trial, 0, 300, "training"),)
    tracker.hear(trial.id, TrainingBlock(block, Checkpoint(1, 300, False, b"")))
    assert tracker.progress().fraction == pytest.approx(400 / (400 + 600 + 100))
    tracker.hear(trial.id, TrainingBlock((), Checkpoint(4, 1020, True, b"")))
    assert not tracker.done
    tracker.hear(trial.id, episode(trial, 1, 100))
    assert tracker.progress().fraction == 1.0
    assert tracker.done == 1


def test_a_learner_whose_budget_is_in_episodes_cannot_be_guessed(toy_plan, paced):
    override = {"training_frames": "none", "training_episodes": 7}
    (trial,) = toy_plan(paced("Learner"), override=override).trials
    tracker = Tracker([Standing(trial, episodes=1, frames=100, learns=True)])
    assert tracker.progress().fraction is None


def test_a_learner_whose_training_is_scored_needs_no_evaluation(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), frames=100, override={"reported_episodes": "training_last_k"}).trials
    tracker = Tracker([Standing(trial, learns=True)])
    assert tracker.progress().episodes_done == trial.episodes
    assert not tracker.done
    tracker.hear(trial.id, TrainingBlock((), Checkpoint(4, 120, True, b"")))
    assert tracker.done == 1
