"""The hard-exploration games are listed separately in every report."""

import pytest

from arcademark.analysis import published
from arcademark.suite import references, subsets
from made_up import ATARI_5, analysed, made_up_run
from shown import page


def test_all_seven_games_are_there_with_what_they_stand_beside():
    found = published.hard_exploration({"mine": {"venture": 1187.5, "pong": 3.0}})
    assert tuple(game.id for game in found.games) == subsets.subset("hard-exploration-7").tasks
    assert [game.id for game in found.played] == ["venture"]
    venture = found.games[-1]
    assert (venture.random, venture.human) == (0.0, 1187.5)
    assert (venture.scores[0].score, venture.scores[0].hns) == (1187.5, 100.0)
    assert (found.games[0].scores[0].score, found.games[0].scores[0].hns) == (None, None)


@pytest.mark.parametrize("name", ["GDI-H3", "GDI-H3(200M frames)", "GDI-H3 (Fan 2021)"])
def test_no_algorithm_competes_with_itself_whatever_it_is_called(name):
    best = published.best("kung_fu_master")
    assert (best.entry.identity, best.score) == ("GDI-H3", 1666665)
    second = published.best("kung_fu_master", but=[name])
    assert "GDI-H3" not in second.entry.identity
    assert second.score < references.scores("human_world_record")["kung_fu_master"]


def test_references_and_baselines_are_nobodys_best():
    for task in ("pitfall", "private_eye", "pong", "tennis"):
        best = published.best(task)
        assert best.entry.identity not in {"Random", "Human", "Human World Record", "Const", "Perturb"}


def test_runs_show_the_section_where_such_a_game_was_played():
    with_one = analysed(made_up_run(games=(*ATARI_5, "montezuma_revenge")))
    assert [game.name for game in with_one.hard_exploration.played] == ["Montezuma's Revenge"]
    assert with_one.hard_exploration.played[0].scores[0].algorithm == "random"
    without = analysed(made_up_run())
    assert without.hard_exploration.played == ()
    assert "Hard-exploration games" not in page(without)
    assert "No score on Freeway, Gravitar, Pitfall!" in page(with_one)
