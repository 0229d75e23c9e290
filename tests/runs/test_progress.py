"""How far a run is, by hand-made events."""

import pytest

from arcademark.records.model import Checkpoint, EpisodeRecord, EpisodeResult, Unfinished
from arcademark.runs.playing.events import Failed, Learning, Lost, Opened, PlayedFrames, TrainedEpisode, TrainingBlock
from arcademark.runs.scheduling.progress import RECENT_EPISODES, Tracker, TrialStanding


def episode(trial, number, frames, phase="evaluation"):
    return EpisodeResult(EpisodeRecord(trial.id, phase, number, 0.0, frames, frames, "terminated", 1.0), b"")


def after(tracker, trial, *happened):
    """Tell of what happened to a trial; return how far the run is then."""
    for event in happened:
        tracker.hear(trial.id, event)
    return tracker.progress()


def test_episodes_are_expected_to_be_as_long_as_those_before(toy_plan):
    first, second = toy_plan(seeds=(0, 1), episodes=4).trials
    tracker = Tracker([TrialStanding(first), TrialStanding(second)])
    begun = after(tracker, first, Opened(None, False, 1), PlayedFrames(100))
    assert (begun.fraction, begun.seconds_left) == (None, None)
    one = after(tracker, first, episode(first, 0, 100))
    assert one.fraction == pytest.approx(100 / (100 + 7 * 100))
    assert (one.episodes_done, one.episodes, one.frames) == (1, 8, 100)
    for trial, happened, fraction in (
        (second, [PlayedFrames(300), episode(second, 0, 300)], 400 / (400 + 3 * 100 + 3 * 300)),
        (first, [PlayedFrames(60)], 460 / (460 + 240 + 900)),
        (first, [Lost("SIGKILL")], 460 / (460 + 300 + 900)),
        (second, [Failed("why not")], 460 / (460 + 300)),
    ):
        assert after(tracker, trial, *happened).fraction == pytest.approx(fraction)


def test_a_learner_has_its_budget_to_play(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), episodes=2, frames=1000).trials
    tracker = Tracker([TrialStanding(trial, episodes=1, frames=100)])
    assert after(tracker, trial, Opened(None, True, 1), PlayedFrames(400)).fraction == pytest.approx(
        400 / (400 + 600 + 5 * 100)
    )
    assert tracker.kept == (0, 1000)
    block = TrainingBlock((episode(trial, 0, 300, "training"),), Checkpoint(1, 300, False, b""))
    assert after(tracker, trial, block).fraction == pytest.approx(400 / (400 + 600 + 5 * 100))
    assert tracker.kept == (300, 1000)
    assert not after(tracker, trial, TrainingBlock((), Checkpoint(4, 1020, True, b""))).trials_done
    assert tracker.kept is None
    done = after(tracker, trial, episode(trial, 1, 100))
    assert (done.fraction, done.trials_done) == (1.0, 1)


IN_EPISODES = {"training_frames": "none", "training_episodes": 7}


def ended(frames, score=0.0):
    return PlayedFrames(frames), TrainedEpisode(score, frames, frames)


def test_training_episodes_are_expected_to_be_as_long_as_the_last_ones(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), episodes=2, override=IN_EPISODES).trials  # of at most 120 frames
    assert TrialStanding(trial, learns=True).snapshot_episodes_left == 1  # after 6 of 7, of 80, 85, 90 and 95 % of them
    tracker = Tracker([TrialStanding(trial)])
    block = tuple(episode(trial, number, frames, "training") for number, frames in enumerate((30, 50)))
    last = TrainingBlock((), Checkpoint(7, 280, True, b""))
    for happened, fraction, bound in (
        ([Opened(None, True, 1), PlayedFrames(20)], 20 / (10 * 120), True),
        ([PlayedFrames(10), TrainedEpisode(0.0, 30, 30)], 30 / (10 * 30), False),
        (ended(50), 80 / (10 * 40), False),
        ([TrainingBlock(block, Checkpoint(2, 80, False, b""))], 80 / (10 * 40), False),
        ([PlayedFrames(200), last, PlayedFrames(100), episode(trial, 0, 100)], 380 / (380 + 100), False),
    ):
        progress = after(tracker, trial, *happened)
        assert (progress.fraction, progress.at_most) == (pytest.approx(fraction), bound)


def test_a_learner_that_goes_on_knows_how_long_its_training_episodes_were(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), episodes=2, override=IN_EPISODES, training_episodes=10).trials
    tracker = Tracker([TrialStanding(trial, learns=True, training_episodes=4, training_frames=200)])
    progress = after(tracker, trial, PlayedFrames(50))
    assert (progress.fraction, progress.at_most) == (pytest.approx(50 / (10 * 50)), False)
    assert progress.learning == Learning(4, 250, 10, None, ())


def test_what_learners_scored_lately_is_told_by_game(toy_plan, paced):
    first, second = toy_plan(paced("Learner"), seeds=(0, 1), episodes=2, frames=1000).trials
    tracker = Tracker([TrialStanding(first), TrialStanding(second)])
    scores = [event for score in range(RECENT_EPISODES + 10) for event in ended(10, float(score))]
    mean = 10 + (RECENT_EPISODES - 1) / 2
    both = Learning(31, 400, None, 2000, (("toy", (mean + 100) / 2),))
    for trial, happened, told in (
        (first, [], None),
        (first, [Opened(None, True, 1)], Learning(0, 0, None, 2000, ())),  # the other seed is the same agent's
        (first, scores, Learning(30, 300, None, 2000, (("toy", mean),))),
        (second, ended(100, 100.0), both),
        (second, [TrainingBlock((), Checkpoint(1, 100, False, b""))], both),
        (first, [Lost("SIGKILL")], Learning(1, 100, None, 2000, (("toy", 100.0),))),
        (second, [TrainingBlock((), Checkpoint(11, 1030, True, b""))], Learning(11, 1030, None, 2000, ())),
        (first, [Failed("why not")], None),
    ):
        assert after(tracker, trial, *happened).learning == told


def test_a_learner_whose_training_is_scored_needs_no_evaluation(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), frames=100, override={"reported_episodes": "training_last_k"}).trials
    tracker = Tracker([TrialStanding(trial, learns=True)])
    for happened, done in (([], 0), ([TrainingBlock((), Checkpoint(4, 120, True, b""))], 1)):
        progress = after(tracker, trial, *happened)
        assert (progress.episodes_done, progress.trials_done) == (done * trial.episodes, done)


def test_planners_have_a_bound_before_their_first_episode_ends(toy_plan):
    (trial,) = toy_plan(episodes=4).trials  # of at most 120 frames
    tracker = Tracker([TrialStanding(trial)])
    assert tracker.progress().planning is None
    begun = (
        Opened(None, False, 1, plans=True),
        PlayedFrames(30, 5000, 6),
        PlayedFrames(10, simulated_frames=1000, decisions=2),
    )
    early = after(tracker, trial, *begun)
    assert (early.fraction, early.at_most, early.frames) == (pytest.approx(40 / 480), True, 40)
    assert (early.planning.decisions, early.planning.simulated_frames) == (8, 6000)
    assert early.planning.simulated_frames_per_second > 0
    later = after(tracker, trial, episode(trial, 0, 40))
    assert (later.fraction, later.at_most) == (pytest.approx(40 / (40 + 120)), False)


def test_a_lost_planner_goes_on_where_it_was_kept(toy_plan):
    (trial,) = toy_plan(episodes=2).trials  # of at most 120 frames
    tracker = Tracker([TrialStanding(trial, plans=True, in_play=50, kept={1: 50})])
    for happened, left in (
        ([PlayedFrames(30), Unfinished(0, 20, 2000, 1.0, "{}", b"", b"")], 160),
        ([Lost("SIGKILL")], 170),
    ):
        assert after(tracker, trial, *happened).fraction == pytest.approx(30 / (30 + left))


@pytest.mark.parametrize(("times", "expected"), [(range(1, 1001), 10), ([500, 1000], (2800 - 500) / 500)])
def test_time_left_follows_the_speed_of_the_last_minutes(toy_plan, monkeypatch, times, expected):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    (trial,) = toy_plan(episodes=2).trials
    tracker = Tracker([TrialStanding(trial, episodes=1, frames=10**6)])
    played = 0
    for seconds in times:
        due = seconds if seconds < 800 else 800 + 10 * (seconds - 800)  # ten times as fast in the end
        tracker.hear(trial.id, PlayedFrames(due - played))
        now[0], played = seconds, due
        last = tracker.progress()
    assert last.frames_per_second == pytest.approx(2.8)
    assert last.seconds_left == pytest.approx((10**6 - 2800) / expected)
