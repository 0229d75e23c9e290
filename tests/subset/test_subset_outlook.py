"""Predicting from any tasks: intervals that hold new groups, monotone predictions, and what to play next."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.subset.predict import calibration
from arcademark.subset.predict.any_tasks import MEAN, MEDIAN, Calibration, reached, train
from arcademark.subset.predict.calibration import Errors, Misses
from arcademark.subset.predict.outlook import Range, estimates, least_error, predict

TASKS = tuple("abcdefg")
QUANTITIES = (MEDIAN, MEAN, reached("good", [30.0] * 7))


def made(seed, groups, *, odd=0.3, missing=0.1):
    """Scores of three algorithms a group, which share what is odd about them."""
    rng = np.random.default_rng(seed)
    level = rng.normal(1.5, 0.4, size=(groups, 1, 1))
    own = rng.normal(scale=odd, size=(groups, 1, 7))
    logs = (level + own + rng.normal(scale=0.1, size=(groups, 3, 7))).reshape(-1, 7)
    scores = 10 ** np.maximum(logs, 0) - 1
    scores[rng.random(scores.shape) < missing] = np.nan
    return scores, [f"paper {row // 3}" for row in range(len(scores))]


def trained_on(seed=0, groups=20):
    scores, papers = made(seed, groups)
    return train(scores, [f"algorithm {row}" for row in range(len(scores))], TASKS, papers)


@pytest.fixture(scope="module")
def trained():
    return trained_on()


def test_known_tasks_keep_their_scores_and_the_others_have_ranges(trained):
    found = predict(trained, {"a": 20.0, "c": 40.0, "stranger": 3.0}, QUANTITIES, rng=np.random.default_rng(0))
    assert (found.known, found.unused, found.outside) == (("a", "c"), ("stranger",), ())
    assert set(found.tasks) == set("bdefg")
    for item in (*found.tasks.values(), *found.summaries.values()):
        assert item.low <= item.value <= item.high
    assert 1 <= found.summaries["good"].low <= found.summaries["good"].high <= 6
    assert [step.left for step in found.plays] == sorted(step.left for step in found.plays)


def test_all_tasks_known_leave_nothing_open(trained):
    scores = dict(zip(TASKS, (1.0, 5.0, 10.0, 20.0, 40.0, 80.0, 60.0), strict=True))
    found = predict(trained, scores, QUANTITIES, rng=np.random.default_rng(0))
    assert [found.summaries["median"].low, found.summaries["median"].high] == pytest.approx([20.0, 20.0])
    assert found.summaries["good"].value == 3
    assert found.tasks == {}
    assert found.plays == ()


def test_the_middle_is_the_conditional_mean_by_hand(trained):
    found = predict(trained, {"a": 20.0}, QUANTITIES, rng=np.random.default_rng(0))
    joint = trained.joint
    log = joint.mean[1] + joint.covariance[1, 0] / joint.covariance[0, 0] * (np.log10(21.0) - joint.mean[0])
    assert found.tasks["b"].value == pytest.approx(10**log - 1)


@pytest.mark.slow
@settings(max_examples=12)
@given(
    st.dictionaries(st.sampled_from(TASKS), st.floats(0, 300), min_size=1, max_size=6),
    st.floats(0.1, 500),
    st.integers(0, 6),
)
def test_a_better_score_lowers_no_prediction(scores, more, which):
    trained = SHARED
    task = sorted(scores)[which % len(scores)]
    before, after = (
        predict(trained, given_scores, QUANTITIES, rng=np.random.default_rng(5), draws=200)
        for given_scores in (scores, scores | {task: scores[task] + more})
    )
    for name in before.summaries:
        found, less = after.summaries[name], before.summaries[name]
        if less.value is not None and found.value is not None:
            assert found.value >= less.value - 1e-9
    for name in before.tasks:
        assert after.tasks[name].value >= before.tasks[name].value * (1 - 1e-12)


SHARED = trained_on(3)


@pytest.mark.slow
def test_intervals_hold_new_groups_as_often_as_they_say():
    trained = trained_on(11, groups=30)
    scores, _ = made(99, 80, missing=0.0)
    held, tasks_held = [], []
    for row in scores[::3]:
        found = predict(trained, {"a": row[0], "b": row[1]}, QUANTITIES, rng=np.random.default_rng(1), draws=150)
        median = found.summaries["median"]
        held.append(median.low <= np.median(row) <= median.high)
        tasks_held += [item.low <= row[TASKS.index(task)] <= item.high for task, item in found.tasks.items()]
    assert np.mean(held) >= 0.8  # 80 trials: three standard errors below 0.9
    assert 0.85 <= np.mean(tasks_held) <= 0.99
    noise = np.random.default_rng(0).standard_normal((calibration.DRAWS, len(TASKS)))
    found = calibration.misses(trained, np.isin(TASKS, ("a", "b")), QUANTITIES, noise)
    assert found.covered("median", 0.9).share >= 0.8
    assert len(set(found.tasks_groups)) == 30


def test_widening_counts_groups_alike_and_the_new_one_as_missed_unless_coverage_was_measured():
    values = np.array([0.1, 0.2, 0.3, 5.0])
    misses = Misses({}, values, ("p", "p", "p", "q"), np.ones(4, bool))
    assert misses.widening(1 / 3) == 0.3  # p alone is a third of p, q and the new group
    measured = replace(misses, calibration=Calibration(guaranteed=False))
    assert measured.widening(1 / 2) == 0.3  # and half of p and q
    assert misses.widening(0.6) == measured.widening(0.6) == 5.0
    assert misses.widening(0.7) == measured.widening(0.7) == float("inf")
    assert misses.widening(0.3, without="p") == 5.0


def levelled(seed, groups=40):
    """Errors that shrink with the level; the weak are overestimated, the strong underestimated."""
    rng = np.random.default_rng(seed)
    truths = rng.uniform(0, 20, size=groups)
    estimates = truths + (10 - truths) / 10 + rng.normal(size=groups) * (2.5 - truths / 10)
    return Errors(estimates, np.ones(groups), truths, [f"paper {row}" for row in range(groups)])


def test_intervals_follow_what_estimates_of_their_level_are_off():
    known = levelled(2, 400)
    ends, weak = known.interval(known.estimates, known.scales, 0.9), known.truths < 10
    held, widths = known.held(0.9, known), ends[:, 1] - ends[:, 0]
    assert widths[weak].mean() > 1.3 * widths[~weak].mean()
    assert 0.85 <= held[weak].mean() <= 0.95
    assert 0.85 <= held[~weak].mean() <= 0.95
    assert known.values(np.array([5.0]))[0] < 4.7
    assert (np.diff(known.values(np.linspace(-5, 30, 100))) >= 0).all()


def test_below_all_that_errors_are_known_of_there_is_an_upper_end_alone(trained):
    weak, usual = (dict.fromkeys("abc", score) for score in (0.0, 20.0))
    low, known = (predict(trained, one, QUANTITIES, rng=np.random.default_rng(0)).summaries for one in (weak, usual))
    assert (low["median"].value, low["median"].low) == (None, 0.0)
    assert 0 < low["median"].high < known["median"].low < known["median"].value
    assert low["median"].error == low["median"].high
    assert low["good"].value is not None


def test_intervals_hold_what_they_are_said_to_and_are_infinite_where_groups_are_too_few():
    known = levelled(3)
    held = known.held(0.9, known)
    for row in range(0, 40, 5):
        ends = known.interval(known.estimates[[row]], known.scales[[row]], 0.9, without=f"paper {row}")[0]
        assert held[row] == (ends[0] <= known.truths[row] <= ends[1])
    few = levelled(4, 8)
    assert np.isinf(few.interval(np.ones(1), np.ones(1), 0.9)).all()
    assert np.isfinite(few.interval(np.ones(1), np.ones(1), 0.8)).all()


def test_similar_algorithms_of_a_group_weigh_as_one():
    known = levelled(5)
    often = Errors(
        *(np.concatenate([some, np.repeat(some[:1], 30)]) for some in (known.estimates, known.scales, known.truths)),
        [*known.groups, *["paper 0"] * 30],
    )
    asked = np.array([2.0, 9.0, 16.0]), np.ones(3)
    np.testing.assert_allclose(often.interval(*asked, 0.9), known.interval(*asked, 0.9), atol=0.3)


def test_algorithms_are_predicted_together_as_one_by_one(trained):
    rng = np.random.default_rng(2)
    rows = np.full((23, 7), np.nan)
    rows[:, [0, 3]] = 10 ** rng.normal(1.5, 0.4, size=(23, 2))
    noise = rng.standard_normal((200, 7))
    misses = calibration.misses(trained, np.isfinite(rows[0]), (MEDIAN,), noise)
    together = estimates(trained, rows, MEDIAN, misses, noise, 0.9)
    for row in range(0, len(rows), 4):
        (alone,) = estimates(trained, rows[row : row + 1], MEDIAN, misses, noise, 0.9)
        numbers = [(one.value, one.low, one.high) for one in (alone, together[row])]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-12)


def test_what_is_not_learnt_from_tells_how_far_predictions_are_off():
    scores, papers = made(6, 20)
    fitted = np.arange(len(scores)) < 45
    names = [str(row) for row in range(len(scores))]
    found = train(scores, names, TASKS, papers, fitted=fitted)
    alone = train(scores[fitted], names[:45], TASKS, papers[:45])
    np.testing.assert_array_equal(found.joint.covariance, alone.joint.covariance)
    assert predict(found, {"a": 20.0}, rng=np.random.default_rng(0)).weak == 15


def test_scores_beyond_those_learnt_from_and_odd_ones_are_told(trained):
    plain = predict(trained, {"a": 20.0, "b": 20.0}, QUANTITIES, rng=np.random.default_rng(0))
    odd = predict(trained, {"a": 5.0, "b": 9e6}, QUANTITIES, rng=np.random.default_rng(0))
    assert (plain.outside, odd.outside) == ((), ("b",))
    assert plain.extrapolation == 1.0
    assert odd.extrapolation > 2
    ratio = [item.high / max(item.low, 1e-3) for item in (plain.summaries["median"], odd.summaries["median"])]
    assert ratio[1] > ratio[0]


def test_what_to_play_next_agrees_with_trying_it(trained):
    """Draw the task, predict again from it, and see what is left of the spread: slow and obvious."""
    joint, rng = trained.joint, np.random.default_rng(0)
    found = predict(trained, {"a": 20.0}, (MEDIAN,), rng=np.random.default_rng(1), draws=4000)
    row = np.array([20.0, *[np.nan] * 6])
    known = np.isfinite(row)
    noise = rng.standard_normal((2000, 7))
    drawn = calibration.draw(trained, joint, row[np.newaxis], known, (MEDIAN,), noise)
    today = np.log10(1 + drawn.summaries["median"][0]).std()
    for step in found.plays:
        place = TASKS.index(step.task)
        left = []
        for value in drawn.logs[0, :60, place - 1]:
            tried = row.copy()
            tried[place] = 10 ** max(0.0, value) - 1
            again = calibration.draw(trained, joint, tried[np.newaxis], np.isfinite(tried), (MEDIAN,), noise[:500])
            left.append(np.log10(1 + again.summaries["median"]).var())
        assert step.left == pytest.approx(np.sqrt(np.mean(left)) / today, abs=0.07)


def test_scores_that_are_not_transformed_may_be_below_zero():
    rng = np.random.default_rng(0)
    scores = rng.normal(-5, 1, size=(24, 1)) + rng.normal(scale=0.2, size=(24, 4))
    found = train(scores, [str(row) for row in range(24)], tuple("abcd"), transform="none")
    told = predict(found, {"a": -6.0}, rng=np.random.default_rng(0))
    assert told.tasks["b"].value < -5
    assert told.summaries["mean"].low < told.summaries["mean"].value < told.summaries["mean"].high < 0


def test_the_error_is_that_of_the_farther_end_of_the_interval():
    assert Range(99.0, 80.0, 114.0).error == pytest.approx(0.19)
    assert Range(99.0, 90.0, 114.0).error == pytest.approx(0.15)
    assert Range(0.0, 0.0, 0.15).error == pytest.approx(0.15)
    assert Range(99.0, 0.0, None).error == float("inf")
    assert Range(-3.0, -4.0, -2.0).error == float("inf")
    assert Range(99.0, 99.0, 99.0).error == 0.0


@pytest.mark.parametrize("known", ["a", "ab", "abcdef", "abcdefg"])
def test_no_scores_make_the_error_less_than_the_least(trained, known):
    least = least_error(trained, known, rng=np.random.default_rng(0))
    rng = np.random.default_rng(3)
    for _ in range(8):
        scores = dict(zip(known, 10 ** rng.normal(1.5, 0.5, size=len(known)), strict=True))
        found = predict(trained, scores, (MEDIAN,), rng=np.random.default_rng(0))
        assert found.summaries["median"].error >= least - 1e-9
    assert (least == 0.0) == (known == "abcdefg") or least == 0.0


def test_an_interval_that_reaches_below_all_truths_ends_at_the_worst_score():
    """As of random play, where the weakest known median is 2 %."""
    known = levelled(20)
    bounded = Errors(known.estimates, known.scales, known.truths, known.groups.tolist(), worst=-3.0)
    asked = np.array([known.truths.min(), known.truths.max()]), np.ones(2)
    (open_low, open_high), above = known.interval(*asked, 0.9)
    assert open_low < known.truths.min()
    np.testing.assert_array_equal(bounded.interval(*asked, 0.9), [(-3.0, open_high), above])
