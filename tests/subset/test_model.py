import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.normalise import hns
from arcademark.subset.predict.model import SubsetModel, from_subset
from arcademark.suite.references import scores
from arcademark.suite.subsets import Nested, subset, subsets

PUBLISHED = tuple(name for name, found in subsets().items() if found.coefficients is not None)
CAP = 108_000

# Raw scores on battle_zone, double_dunk, name_this_game, phoenix, qbert, and the estimate that the Atari-5 paper
# (Aitchison et al. 2023, Table 3) prints for them, cut off rather than rounded: 475.8 is printed 475.
PRINTED = {
    "MuZero": ((848623.0, 23.94, 157177.85, 955137.84, 72276.0), 2091),  # Schrittwieser et al. 2020
    "Agent57": ((934134.88, 23.93, 54386.77, 908264.15, 580328.14), 1817),  # Badia et al. 2020
    "Ape-X": ((98895.0, 23.5, 25783.3, 224491.1, 302391.3), 475),  # Horgan et al. 2018
    "IQN": ((42244.0, 5.6, 22682.0, 56599.0, 25750.0), 215),  # Dabney et al. 2018
    "Rainbow": ((62010.0, -0.3, 13136.0, 108528.6, 33817.5), 225),  # Hessel et al. 2018
}


def toy(**changes):
    values = {
        "name": "toy-2",
        "tasks": ("p", "q"),
        "coefficients": (0.5, 0.25),
        "intercept": 0.0,
        "log_error": 0.2,
        "target": "median of toys",
        "max_frames_per_episode": CAP,
        "citation": "nobody",
    }
    return SubsetModel(**(values | changes))


def atari_5():
    return from_subset(subset("atari-5"))


def test_hand_computed_value():
    # 10^(0.5·log10(100) + 0.25·log10(10000)) − 1 = 10^2 − 1
    assert toy().predict([99, 9999]) == pytest.approx(99)
    assert toy(intercept=1.0).predict([99, 9999]) == pytest.approx(999)
    np.testing.assert_allclose(toy().predict([[99, 9999], [0, 0], [99, -5]]), [99, 0, 10**1 - 1])


@pytest.mark.parametrize("algorithm", PRINTED)
def test_estimates_of_the_atari_5_paper_come_out(algorithm):
    raw, printed = PRINTED[algorithm]
    model = atari_5()
    assert model.tasks == ("battle_zone", "double_dunk", "name_this_game", "phoenix", "qbert")
    percent = hns(raw, scores("random"), scores("human"), model.tasks)
    found = model.estimate(dict(zip(model.tasks, percent.tolist(), strict=True)), max_frames_per_episode=CAP)
    assert math.floor(found.value) == printed
    assert (found.log_error, found.warnings) == (0.104, ())


@pytest.mark.parametrize("name", PUBLISHED)
def test_zero_and_worse_than_random_predict_zero(name):
    model = from_subset(subset(name))
    for score in (0.0, -50.0):
        assert model.estimate(dict.fromkeys(model.tasks, score), max_frames_per_episode=CAP).value == 0


@pytest.mark.parametrize("name", PUBLISHED)
@settings(max_examples=50)
@given(data=st.data())
def test_a_better_score_never_predicts_less(name, data):
    """Proposition 2 of the paper."""
    model = from_subset(subset(name))
    size = len(model.tasks)
    worse = np.array(data.draw(st.lists(st.floats(-1000, 1e5), min_size=size, max_size=size)))
    gains = np.array(data.draw(st.lists(st.floats(0, 1e5), min_size=size, max_size=size)))
    better = model.predict(worse + gains)
    assert better >= model.predict(worse) * (1 - 1e-12) - 1e-12


def test_the_printed_error_is_no_interval():
    found = toy().estimate({"p": 99, "q": 9999}, max_frames_per_episode=CAP)
    assert (found.log_error, found.low, found.high) == (0.2, None, None)
    assert "were not measured, so there is no interval" in found.notes[-1]


@pytest.mark.parametrize(
    ("cap", "words"),
    [
        (18_000, ("at most 18,000 frames", "108,000", "do not rely on", "§5.3, §8.1")),
        (None, ("without a frame cap", "108,000", "do not rely on")),
        ("unknown", ("not known", "108,000", "§5.3, §8.1")),
    ],
)
def test_another_frame_cap_is_warned_of(cap, words):
    found = toy().estimate({"p": 1, "q": 2}, max_frames_per_episode=cap)
    assert len(found.warnings) == 1
    assert all(word in found.warnings[0] for word in words)


def test_the_same_frame_cap_is_not_warned_of_but_how_to_compare_is_always_said():
    found = toy().estimate({"p": 1, "q": 2}, max_frames_per_episode=CAP)
    assert found.warnings == ()
    assert "Compare toy-2 estimates with toy-2 estimates only" in found.notes[0]
    assert toy(max_frames_per_episode=None).estimate({"p": 1, "q": 2}, max_frames_per_episode=7).warnings == ()


def test_the_interval_of_papers_left_out_is_taken_where_it_was_measured():
    nested = Nested(mean=0.2, median=0.1, worst=0.5, n=9, errors=((0.3,),) * 9)
    made = dataclasses.replace(from_subset(subset("atari-1")), coefficients=(1.0,), nested=nested)
    found = made.estimate({"name_this_game": 99.0}, max_frames_per_episode=CAP)
    assert (found.low, found.high) == pytest.approx((100 / 10**0.3 - 1, 100 * 10**0.3 - 1))
    assert "20.0 % on average (median 10.0 %, worst 50.0 %)" in found.notes[-1]
    linear = dataclasses.replace(made, transform="none", log_error=None, absolute_error=5.0).estimate(
        {"name_this_game": 99.0}, max_frames_per_episode=CAP
    )
    assert (linear.low, linear.high) == pytest.approx((98.7, 99.3))
    bare = dataclasses.replace(made, nested=None).estimate({"name_this_game": 99.0}, max_frames_per_episode=CAP)
    assert (bare.nested, bare.low, bare.high) == (None, None, None)


LEVELS = (0.5, 0.8, 0.9, 0.95)


@pytest.mark.parametrize("name", PUBLISHED)
def test_intervals_widen_with_the_level_until_there_are_too_few_papers(name):
    model = from_subset(subset(name))
    scores = dict.fromkeys(model.tasks, 100.0)
    found = [model.estimate(scores, max_frames_per_episode=CAP, level=level) for level in LEVELS]
    assert tuple(item.level for item in found) == LEVELS
    widths = [(item.high or 0.0) - (item.low or 0.0) for item in found]
    assert all(narrow < wide for narrow, wide in itertools.pairwise(widths))
    beyond = model.estimate(scores, max_frames_per_episode=CAP, level=0.99)
    assert (beyond.low, beyond.high) == (None, None)
    assert "papers are too few for a 99 % interval; they allow one of up to 9" in beyond.notes[-1]
    with pytest.raises(ArcadeMarkError, match="level 1: expected a share"):
        model.estimate(scores, max_frames_per_episode=CAP, level=1.0)


def test_the_error_of_a_model_of_scores_as_they_are_is_in_its_unit():
    model = toy(transform="none", log_error=None, absolute_error=12.0, unit="games")
    found = model.estimate({"p": 40, "q": 8}, max_frames_per_episode=CAP)
    assert found.value == 22
    assert (found.absolute_error, found.log_error, found.unit) == (12.0, None, "games")


def test_only_published_models_are_compared_in_the_papers_words():
    own = toy().estimate({"p": 1, "q": 2}, max_frames_per_episode=CAP)
    assert not own.published
    assert "Aitchison" not in own.notes[0]
    assert "median" not in own.notes[0]
    paper = atari_5().estimate(dict.fromkeys(atari_5().tasks, 10.0), max_frames_per_episode=CAP)
    assert paper.published
    assert "true medians are biased differently (Aitchison et al. 2023, §8)" in paper.notes[0]
    assert (atari_5().summary, atari_5().unit) == ("median", "%")
