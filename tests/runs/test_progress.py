"""How far a run is, by hand-made events."""

from __future__ import annotations

import pytest

from arcademark.runs.engines.base import Failed, Lost, Opened
from arcademark.runs.playing.events import Learning
from arcademark.runs.playing.progress import RECENT_EPISODES, Standing, Tracker
from arcademark.runs.playing.slot import Played, Trained, TrainingBlock
from arcademark.runs.store.reading import Checkpoint, EpisodeRecord, EpisodeResult, Unfinished


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


def test_a_learner_has_its_budget_to_play(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), episodes=2, frames=1000).trials
    tracker = Tracker([Standing(trial, episodes=1, frames=100)])
    tracker.hear(trial.id, Opened(None, True, 1))
    tracker.hear(trial.id, Played(400))
    assert tracker.progress().fraction == pytest.approx(400 / (400 + 600 + 100))
    block = (episode(trial, 0, 300, "training"),)
    assert tracker.kept == (0, 1000)
    tracker.hear(trial.id, TrainingBlock(block, Checkpoint(1, 300, False, b"")))
    assert tracker.progress().fraction == pytest.approx(400 / (400 + 600 + 100))
    assert tracker.kept == (300, 1000)
    tracker.hear(trial.id, TrainingBlock((), Checkpoint(4, 1020, True, b"")))
    assert tracker.kept is None
    assert not tracker.done
    tracker.hear(trial.id, episode(trial, 1, 100))
    assert tracker.progress().fraction == 1.0
    assert tracker.done == 1


IN_EPISODES = {"training_frames": "none", "training_episodes": 7}


def ended(frames: int, score: float = 0.0) -> tuple[Played, Trained]:
    return Played(frames), Trained(score, frames, frames)


def test_training_episodes_are_expected_to_be_as_long_as_the_last_ones(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), episodes=2, override=IN_EPISODES).trials  # of at most 120 frames
    tracker = Tracker([Standing(trial)])
    tracker.hear(trial.id, Opened(None, True, 1))
    tracker.hear(trial.id, Played(20))
    early = tracker.progress()
    assert early.fraction == pytest.approx(20 / (9 * 120))
    assert early.at_most
    for event in (Played(10), Trained(0.0, 30, 30)):
        tracker.hear(trial.id, event)
    later = tracker.progress()
    assert later.fraction == pytest.approx(30 / (9 * 30))
    assert not later.at_most
    for event in ended(50):
        tracker.hear(trial.id, event)
    assert tracker.progress().fraction == pytest.approx(80 / (9 * 40))
    block = tuple(episode(trial, number, frames, "training") for number, frames in enumerate((30, 50)))
    tracker.hear(trial.id, TrainingBlock(block, Checkpoint(2, 80, False, b"")))
    assert tracker.progress().fraction == pytest.approx(80 / (9 * 40))
    tracker.hear(trial.id, Played(200))
    tracker.hear(trial.id, TrainingBlock((), Checkpoint(7, 280, True, b"")))
    tracker.hear(trial.id, Played(100))
    tracker.hear(trial.id, episode(trial, 0, 100))
    assert tracker.progress().fraction == pytest.approx(380 / (380 + 100))


def test_a_learner_that_goes_on_knows_how_long_its_training_episodes_were(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), episodes=2, override=IN_EPISODES, training_episodes=10).trials
    tracker = Tracker([Standing(trial, learns=True, training_episodes=4, training_frames=200)])
    tracker.hear(trial.id, Played(50))
    assert tracker.progress().fraction == pytest.approx(50 / (8 * 50))
    assert not tracker.progress().at_most
    assert tracker.progress().learning == Learning(4, 250, 10, None, ())


def test_what_learners_scored_lately_is_told_by_game(toy_plan, paced):
    first, second = toy_plan(paced("Learner"), seeds=(0, 1), episodes=2, frames=1000).trials
    tracker = Tracker([Standing(first), Standing(second)])
    assert tracker.progress().learning is None
    tracker.hear(first.id, Opened(None, True, 1))
    assert tracker.progress().learning == Learning(0, 0, None, 2000, ())  # the other seed is the same agent's
    for score in range(RECENT_EPISODES + 10):
        for event in ended(10, float(score)):
            tracker.hear(first.id, event)
    for event in ended(100, 100.0):
        tracker.hear(second.id, event)
    mean = 10 + (RECENT_EPISODES - 1) / 2
    assert tracker.progress().learning == Learning(31, 400, None, 2000, (("toy", (mean + 100) / 2),))
    tracker.hear(second.id, TrainingBlock((), Checkpoint(1, 100, False, b"")))
    assert tracker.progress().learning == Learning(31, 400, None, 2000, (("toy", (mean + 100) / 2),))
    tracker.hear(first.id, Lost("SIGKILL"))
    assert tracker.progress().learning == Learning(1, 100, None, 2000, (("toy", 100.0),))
    tracker.hear(second.id, TrainingBlock((), Checkpoint(11, 1030, True, b"")))
    tracker.hear(first.id, Failed("why not"))
    assert tracker.progress().learning is None


def test_a_learner_whose_training_is_scored_needs_no_evaluation(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), frames=100, override={"reported_episodes": "training_last_k"}).trials
    tracker = Tracker([Standing(trial, learns=True)])
    assert tracker.progress().episodes_done == 0
    assert not tracker.done
    tracker.hear(trial.id, TrainingBlock((), Checkpoint(4, 120, True, b"")))
    assert tracker.progress().episodes_done == trial.episodes
    assert tracker.done == 1


def kept(number: int, frames: int) -> Unfinished:
    return Unfinished(number, frames, 100 * frames, 1.0, "{}", b"", b"")


def test_planners_have_a_bound_before_their_first_episode_ends(toy_plan):
    (trial,) = toy_plan(episodes=4).trials  # of at most 120 frames
    tracker = Tracker([Standing(trial)])
    assert tracker.progress().planning is None
    tracker.hear(trial.id, Opened(None, False, 1, plans=True))
    tracker.hear(trial.id, Played(30, simulated_frames=5000, decisions=6))
    tracker.hear(trial.id, Played(10, simulated_frames=1000, decisions=2))
    early = tracker.progress()
    assert early.fraction == pytest.approx(40 / 480)
    assert early.at_most
    assert early.planning is not None
    assert (early.planning.decisions, early.planning.simulated_frames) == (8, 6000)
    assert early.planning.simulated_frames_per_second > 0
    assert early.frames == 40
    tracker.hear(trial.id, episode(trial, 0, 40))
    later = tracker.progress()
    assert later.fraction == pytest.approx(40 / (40 + 120))
    assert not later.at_most


def test_without_a_cap_a_planner_cannot_be_guessed(toy_plan):
    (trial,) = toy_plan(episodes=4, override={"max_frames_per_episode": "none"}).trials
    tracker = Tracker([Standing(trial, plans=True)])
    tracker.hear(trial.id, Played(30, simulated_frames=5000, decisions=6))
    progress = tracker.progress()
    assert (progress.fraction, progress.seconds_left, progress.at_most) == (None, None, False)


def test_a_lost_planner_goes_on_where_it_was_kept(toy_plan):
    (trial,) = toy_plan(episodes=2).trials
    tracker = Tracker([Standing(trial, plans=True, in_play=50, kept={1: 50})])
    tracker.hear(trial.id, Played(30))
    tracker.hear(trial.id, kept(0, 20))
    assert tracker.progress().fraction == pytest.approx(30 / (30 + 240 - 80))
    tracker.hear(trial.id, Lost("SIGKILL"))
    assert tracker.progress().fraction == pytest.approx(30 / (30 + 240 - 70))
    tracker.hear(trial.id, Played(100))
    tracker.hear(trial.id, episode(trial, 0, 120))
    tracker.hear(trial.id, Lost("SIGKILL"))
    assert tracker.progress().fraction == pytest.approx(130 / (130 + 120 - 50))


@pytest.mark.parametrize(("times", "expected"), [(range(1, 1001), 10), ([500, 1000], (2800 - 500) / 500)])
def test_time_left_follows_the_speed_of_the_last_minutes(toy_plan, monkeypatch, times, expected):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    (trial,) = toy_plan(episodes=2).trials
    tracker = Tracker([Standing(trial, episodes=1, frames=10**6)])
    played = 0
    for seconds in times:
        due = seconds if seconds < 800 else 800 + 10 * (seconds - 800)  # ten times as fast in the end
        tracker.hear(trial.id, Played(due - played))
        now[0], played = seconds, due
        last = tracker.progress()
    assert last.frames_per_second == pytest.approx(2.8)
    assert last.seconds_left == pytest.approx((10**6 - 2800) / expected)
