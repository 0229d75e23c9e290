import pytest

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.suite.subsets import REPORTED, VALIDATION, for_testing, resolve_tasks, subset, subsets
from arcademark.suite.tasks import suite


def test_a_subset_is_of_its_suite_and_says_what_it_is_for():
    for name, entry in subsets().items():
        assert set(entry.tasks) <= set(suite(entry.suite).tasks), name
        assert entry.title
        assert entry.citation
        assert entry.advice.endswith(".")


def test_only_the_sets_for_development_are_for_tuning():
    tuning = {name for name, entry in subsets().items() if entry.purpose == "tuning"}
    assert tuning == {*VALIDATION, "ale-55-training", "atari-100k-3", "atari-100k-5"}
    assert not {*subset(VALIDATION[0]).tasks} & {*subset(REPORTED).tasks, *subset("atari-10").tasks}
    assert for_testing(["assault", "ms_pacman", "beam_rider", "qbert"]) == ("qbert",)


@pytest.mark.parametrize(
    ("text", "games"),
    [
        ("atari-5", ("battle_zone", "double_dunk", "name_this_game", "phoenix", "qbert")),
        ("Atari-3-Val", ("assault", "ms_pacman", "yars_revenge")),
        ("pong,qbert", ("pong", "qbert")),
        (" Q*bert , ALE/Pong-v5 ,, ", ("qbert", "pong")),
        ("atari-1,phoenix,atari-3", ("name_this_game", "phoenix", "battle_zone")),
        ("Up 'n Down", ("up_n_down",)),
        ("koolaid", ("koolaid",)),
    ],
)
def test_resolving_games(text, games):
    assert resolve_tasks(text) == games


def test_resolving_suites_and_nothing():
    assert resolve_tasks("atari-57") == suite("atari-57").tasks
    assert len(resolve_tasks("atari-57,ale-55")) == 61
    for text in ("", " , "):
        with pytest.raises(ArcadeMarkError, match="no games named"):
            resolve_tasks(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("atari5", "unknown game 'atari5'; did you mean 'atari-5'"),
        ("pong,breakuot", "unknown game 'breakuot'; did you mean 'breakout'"),
        ("dqn7", "did you mean 'dqn-7'"),
    ],
)
def test_an_unknown_name_gets_suggestions_from_suites_subsets_and_games(text, message):
    with pytest.raises(UnknownNameError, match=message):
        resolve_tasks(text)


def test_an_unknown_subset_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'atari-3'"):
        subset("atari3")
