"""Scores that are hardly what they say to be are told of, and none of the catalogue's are."""

import pytest

from arcademark.catalogue import collections
from arcademark.reports.tables import plausible
from arcademark.reports.tables.dataset import ScoreOptions, prepare
from arcademark.scores.table import ScoreTable
from arcademark.suite import references

RAINBOW = {game: one.score for game, one in collections.scores_of(collections.select("review-2021")["Rainbow"]).items()}
RANDOM, HUMAN = (references.scores(kind) for kind in ("random", "human"))
CLIPPED_IN = {"alien": 10, "asterix": 50, "beam_rider": 44, "hero": 75, "qbert": 25, "riverraid": 70, "seaquest": 20}
"""Points of a typical reward."""


def told(*sources):
    found = list(plausible.warnings(prepare(sources, ScoreOptions())))
    assert len({one.kind for one in found}) == len(found)
    return {one.kind: one.text for one in found}


@pytest.mark.parametrize("name", collections.collections())
def test_nothing_is_told_of_published_scores_in_a_table_of_ones_own(name):
    players = {entry.algorithm for entry in collections.entries(name) if entry.kind in ("reference", "baseline")}
    found = told(collections.load(name))
    assert not found.keys() & plausible.OF_DATA
    assert "reference_named" not in found or players


@pytest.mark.parametrize("name", collections.collections())
def test_of_collections_nothing_is_told_but_where_counters_end(name):
    assert told(f"catalogue:{name}").keys() <= {"counter"}


@pytest.mark.parametrize(
    ("game", "score", "bound"),
    [
        ("pong", -30, "at least −21"),
        ("pong", -22, "at least −21"),
        ("pong", 22, "at most 21"),
        ("breakout", -999, "at least 0"),
        ("breakout", 900, "at most 864"),
        ("private_eye", -1001, "at least −1,000"),
        ("skiing", 5, "at most 0"),
    ],
)
def test_what_no_episode_can_score_is_told_with_its_row(game, score, bound):
    found = told({"Mine": {**RAINBOW, game: score}, "Rainbow": RAINBOW})
    assert "impossible" in found
    assert f"of Mine ({bound})" in found["impossible"]
    assert "Rainbow" not in found["impossible"]


def test_what_a_game_can_just_score_is_not():
    edges = {"pong": -21.0, "boxing": -100.0, "tennis": 24.0, "private_eye": -1000.0, "enduro": 0.0, "freeway": 34.0}
    assert "impossible" not in told({"Mine": edges})


def test_a_run_that_no_mean_shows_is_told():
    assert "Pong −50.0 of Mine in 1 of 3 runs" in told({"Mine": {"pong": [20, -50, 21]}})["impossible"]


def test_a_negative_score_that_stands_for_a_missing_one_is_told_wherever_it_stands():
    found = told({"Mine": {**RAINBOW, "breakout": -1, "pong": -1, "skiing": -1}})
    assert "Breakout −1.00 of Mine (at least 0)" in found["impossible"]
    assert "so −1.00 of Mine on Pong and Skiing is hardly a score either" in found["impossible"]
    assert "hardly" not in told({"Mine": {**RAINBOW, "breakout": -1, "pong": -1}})["impossible"]


def test_after_human_starts_there_is_more_to_lose():
    row = ("A3C", "enduro", 0, -82.5)
    assert "impossible" in told(ScoreTable.from_rows([row]))
    assert "impossible" not in told(ScoreTable.from_rows([row], protocols={"A3C": "human-starts"}))


@pytest.mark.parametrize("games", [tuple(RAINBOW), ("alien", "hero", "qbert", "pong")])
def test_fractions_and_thousands_are_told(games):
    fractions = {game: (RAINBOW[game] - RANDOM[game]) / (HUMAN[game] - RANDOM[game]) for game in games}
    thousands = {game: RAINBOW[game] / 1000 for game in games}
    for wrong in (fractions, thousands):
        found = told({"Mine": wrong, "Rainbow": {game: RAINBOW[game] for game in games}})
        assert "far below random play" in found["scale"]
        assert "of Mine (random play 227.8)" in found["scale"]
        assert "Rainbow" not in found["scale"]


def test_clipped_scores_beside_raw_ones_are_told():
    games = {**CLIPPED_IN, "pong": 1, "freeway": 1, "boxing": 1}
    raw = {game: RAINBOW[game] for game in games}
    weaker = {**raw, "hero": 9_000.0, "qbert": 6_000.0, "alien": 2_400.0, "asterix": 3_000.0, "seaquest": 2_000.0}
    clipped = {game: weaker[game] / points for game, points in games.items()}
    found = told({"Mine": clipped, "Rainbow": raw})
    assert "as sums of clipped rewards are" in found["scale"]
    assert "of Mine" in found["scale"]
    assert "Rainbow" not in found["scale"]
    assert "scale" not in told({"Mine": weaker, "Rainbow": raw})


def test_a_run_in_other_units_than_the_others_is_told():
    runs = {game: [score, 1.2 * score, score / CLIPPED_IN.get(game, 1)] for game, score in RAINBOW.items()}
    few = {game: runs[game] for game in ("alien", "hero", "seaquest", "qbert", "pong")}
    assert "of Mine in its run 3" in told({"Mine": few})["scale"]
    failed = {game: [*scores[:2], scores[0] if game != "hero" else 0.0] for game, scores in few.items()}
    assert "scale" not in told({"Mine": failed})


def test_names_that_differ_by_capitals_and_spaces_are_told():
    found = told({"DQN": RAINBOW, "dqn": RAINBOW, "Rain bow": RAINBOW, "Rain-Bow": RAINBOW, "DQN2": RAINBOW})
    assert "DQN and dqn" in found["names_alike"]
    assert "Rain bow and Rain-Bow" in found["names_alike"]
    assert "DQN2" not in found["names_alike"]


def test_columns_of_reference_players_are_told(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("game,random,Human,mine\npong,-20.7,14.6,19\nalien,227.8,7127.7,1620\n")
    assert "random and Human are taken for algorithms" in told(path)["reference_named"]
    assert "reference_named" not in told({"Random forest": RAINBOW, "Humanoid": RAINBOW})
