"""What a table may be given as."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from arcademark.analysis.scoring.analysis import analyse
from arcademark.analysis.scoring.compare import compare_tables
from arcademark.analysis.tables import dataset, plausible, units
from arcademark.analysis.tables.dataset import ScoreOptions, prepare
from arcademark.catalogue import collections
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.grouping import grouped
from arcademark.scores.table import ScoreTable
from arcademark.suite import references

SCORES = {"DQN": {"pong": [18.9, 19.3], "Q*bert": 31.8}, "PPO": {"pong": np.array([20.7]), "Q*bert": [32.9, None]}}


def test_scores_by_name_are_a_table():
    report = analyse(SCORES, resamples=10)
    assert {
        (item.name, score.game): (score.score.value, score.runs) for item in report.algorithms for score in item.scores
    } == {
        ("DQN", "pong"): (pytest.approx(19.1), 2),
        ("DQN", "qbert"): (31.8, 1),
        ("PPO", "pong"): (20.7, 1),
        ("PPO", "qbert"): (32.9, 1),
    }


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"A": [1, 2]}, r"^scores\['A'\]: list given, expected a mapping"),
        ({"A": {"pong": "x"}}, r"^scores\['A'\]\['pong'\]: 'x' given, expected a score or a list"),
        ({"A": {"pong": [[1.0]]}}, "expected a score or a list"),
        ({"A": {"pong": []}}, "there is no score; leave the task out"),
        ({"A": {"pong": [1, float("inf")]}}, r"^scores\['A'\]\['pong'\]\[1\]: an infinite score"),
        ({}, "^a table without scores; expected such as"),
        (np.ones((2, 2)), "^sources array.*: expected a path, .* a ScoreTable, a DataFrame, or a dict such as"),
        ([np.ones(2)], "^sources .*: expected a path"),
        (None, r"^sources \[?None\]?: expected a path"),
        ([None], r"^sources \[?None\]?: expected a path"),
        ([], "^no table of scores"),
        ("", "^the name of a table is empty"),
        ({"a\x1b[31m": {"pong": 1}}, r"U\+001B; take it out"),
    ],
)
def test_what_is_no_table_is_said_to_be_none(given, named):
    with pytest.raises(ArcadeMarkError, match=named):
        analyse(given)


def test_names_of_algorithms_count_in_any_case():
    report = analyse(SCORES, algorithms=["ppo", "Dqn"], frames={"dqn": 5}, resamples=10)
    assert [(item.name, item.training_frames) for item in report.algorithms] == [("PPO", None), ("DQN", 5)]
    assert compare_tables(SCORES, algorithms=["ppo", "dqn"], resamples=10).pairs[0].first == "PPO"


def test_names_that_case_alone_tells_apart_are_to_be_written_so():
    both = {"Agent": {"pong": 1}, "AGENT": {"pong": 2}}
    assert [item.name for item in analyse(both, algorithms=["AGENT"]).algorithms] == ["AGENT"]
    with pytest.raises(ArcadeMarkError, match="'agent' may be 'Agent' or 'AGENT'; use the exact name"):
        analyse(both, algorithms=["agent"])
    with pytest.raises(ArcadeMarkError, match="'PPO' is named twice"):
        analyse(SCORES, algorithms=["ppo", "PPO"])


def test_a_table_in_the_place_of_an_algorithm_is_told_where_it_belongs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArcadeMarkError, match=r"only 'DQN' is named; name another .*, such as 'PPO', or none for all$"):
        compare_tables(SCORES, algorithms=["dqn"])
    with pytest.raises(UnknownNameError, match=r"unknown algorithm 'MuZero'; did you mean 'MuZero \(Fan 2021\)'"):
        compare_tables("catalogue:all", algorithms=["MuZero"])
    with pytest.raises(
        ArcadeMarkError, match=r"only 'Rainbow' is named; .* such as '.*', '.*' or '.*', or none for all"
    ):
        compare_tables("catalogue:review-2021", algorithms=["Rainbow"])
    Path("dqn").mkdir()
    with pytest.raises(ArcadeMarkError, match="or none for all; for another table add --with dqn"):
        compare_tables(SCORES, algorithms=["dqn"])


def test_of_many_names_only_the_closest_are_told():
    many = {f"agent-{i}": {"pong": i} for i in range(80)}
    with pytest.raises(UnknownNameError) as caught:
        analyse(many, algorithms=["zzz"])
    assert str(caught.value).count("agent-") == 3
    assert "of the 80 known ones" in str(caught.value)


# Implausible scores are reported, and none of the catalogue's


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
    assert "so −1.00 of Mine on Pong and Skiing is probably not a score either" in found["impossible"]
    assert "hardly" not in told({"Mine": {**RAINBOW, "breakout": -1, "pong": -1}})["impossible"]


def test_after_human_starts_there_is_more_to_lose():
    row = ("A3C", "enduro", 0, -82.5)
    assert "impossible" in told(ScoreTable.from_rows([row]))
    assert "impossible" not in told(ScoreTable.from_rows([row], protocols={"A3C": "human-starts"}))


def normalised(scores, times=1.0):
    return {game: times * (score - RANDOM[game]) / (HUMAN[game] - RANDOM[game]) for game, score in scores.items()}


@pytest.mark.parametrize("games", [tuple(RAINBOW), ("alien", "hero", "qbert", "pong")])
def test_normalised_scores_and_thousands_are_told(games):
    raw = {game: RAINBOW[game] for game in games}
    thousands = {game: score / 1000 for game, score in raw.items()}
    for wrong, unit in (
        (normalised(raw), "in fractions"),
        (normalised(raw, 100), "in percent"),
        (thousands, "thousand"),
    ):
        found = told({"Mine": wrong, "Rainbow": raw})
        assert unit in found["scale"]
        assert "of Mine (random play " in found["scale"]
        assert "Rainbow" not in found["scale"]


@pytest.mark.parametrize(
    ("scores", "told_of"),
    [
        ({"pong": 0.9, "breakout": 1.2, "freeway": 1.1, "qbert": 0.8, "seaquest": 1.3}, "in fractions.*Q\\*bert 0.80"),
        ({"breakout": 267.5, "qbert": 15.4, "seaquest": 2.5}, "in percent.*Seaquest 2.50"),
        ({"breakout": 268, "qbert": 15, "seaquest": 3}, "in percent"),
        ({"qbert": 0.8, "seaquest": 1.3}, "not as points"),
        (
            {"pong": 20.1, "breakout": 401.2, "beam_rider": 6846.0, "qbert": 0.8, "seaquest": 1.3, "alien": 0.4},
            "in frac",
        ),
    ],
)
def test_normalised_scores_on_few_games_and_beside_points_are_told(scores, told_of):
    assert re.search(told_of, told({"Mine": scores})["scale"])


@pytest.mark.parametrize(
    "scores",
    [
        {"pong": 0.9},
        {"pong": -20.7, "breakout": 1.7, "freeway": 0.0, "qbert": 163.9, "seaquest": 68.4},
        {"pong": -21.0, "breakout": 0.0, "freeway": 0.0, "qbert": 0.0, "seaquest": 0.0},
        {"montezuma_revenge": 0.0, "venture": 0.4, "pitfall": -0.3, "private_eye": 100.0},
    ],
)
def test_points_of_weak_agents_are_not_taken_for_normalised_scores(scores):
    assert "scale" not in told({"Mine": scores})


def every_algorithm():
    """Return the games that have references, every entry and checkpoint's scores on them, and whose each row is."""
    games = tuple(HUMAN)
    rows = [(item.entry.identity, item.entry.qualified, item.task, item.score) for item in collections.results()]
    for place, point in enumerate(collections.checkpoints()):
        rows += [(point.entry.identity, str(place), task, score) for task, score in point.scores.items()]
    by_entry = grouped(((who, entry), (task, score)) for who, entry, task, score in rows if task in HUMAN)
    scores = np.array([[dict(those).get(game, np.nan) for game in games] for those in by_entry.values()])
    return games, scores, [who for who, _ in by_entry]


def in_units(games, scores):
    low, high = (np.array([kind[game] for game in games]) for kind in (RANDOM, HUMAN))
    normal = (scores - low) / (high - low)
    return {"points": scores, "fractions": normal, "percent": 100 * normal, "thousands": scores / 1000}


def test_no_algorithm_of_the_catalogue_is_taken_for_another_unit_and_nearly_all_are_found_in_one():
    games, scores, whose = every_algorithm()
    found = {unit: units.detect(games, values) for unit, values in in_units(games, scores).items()}
    assert len(scores) > 250
    assert not found["points"]
    for unit in ("fractions", "percent", "thousands"):
        missed = [whose[row] for row in range(len(scores)) if row not in found[unit]]
        assert set(missed) <= {"Random"}, unit
        right = sum(unit in found[unit][row][0] for row in found[unit])
        assert right > 0.9 * len(scores)


@pytest.mark.slow
def test_documented_rates_are_those_of_algorithms_that_densities_do_not_know():
    games, scores, whose = every_algorithm()
    published, rng = units.published(), np.random.default_rng(0)
    tried = dict[tuple[str, str], list[bool]]()
    for name in dict.fromkeys(whose):
        known = units.densities(grouped((task, score) for who, task, score in published if who != name))
        own = scores[[who == name for who in whose]]
        for unit, values in in_units(games, own).items():
            for row, there in zip(values, ~np.isnan(own), strict=True):
                parts = {"all": [row]}
                for size in (2, 3, 5, 10):
                    draws = [rng.permuted(there.nonzero()[0])[:size] for _ in range(5 * (there.sum() > size))]
                    parts[str(size)] = [np.where(np.isin(np.arange(len(games)), drawn), row, np.nan) for drawn in draws]
                rows = [part for some in parts.values() for part in some]
                found = units.detect(games, np.array(rows), known)
                for place, size in enumerate(size for size, some in parts.items() for _ in some):
                    tried.setdefault((unit, size), []).append(place in found)
    text = (Path(__file__).parents[3] / "docs" / "research" / "units.md").read_text()
    table = re.findall(r"^\| (all|\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    assert len(table) == 5
    for size, *printed in table:
        for unit, share in zip(("points", "fractions", "percent", "thousands"), printed, strict=True):
            assert float(share) == pytest.approx(100 * np.mean(tried[unit, size]), abs=0.4 if unit == "points" else 1.5)


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
    assert "random and Human are read as algorithms" in told(path)["reference_named"]
    assert "reference_named" not in told({"Random forest": RAINBOW, "Humanoid": RAINBOW})


def test_columns_of_quantities_are_told(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("game,Episode_reward,frames,mine\npong,-20.7,4000,19\nalien,227.8,5000,1620\n")
    with pytest.raises(ArcadeMarkError, match=r"may be column 'Episode_reward', or those of .* 'mine'; say"):
        told(path)
    path.write_text("algorithm,game,score\nEpisode_reward,pong,-20.7\nframes,pong,5000\nmine,pong,19\n")
    assert "Episode_reward and frames are read as algorithms" in told(path)["quantity_named"]
    assert "quantity_named" not in told({"Mean actor": RAINBOW})


def test_tables_beyond_the_documented_size_are_refused_until_less_is_asked_for(monkeypatch):
    many = {f"a{number}": {"pong": [float(number % 20)]} for number in range(dataset.MAX_ALGORITHMS + 1)}
    with pytest.raises(ArcadeMarkError, match=r"^1,001 algorithms, expected at most 1,000 at once; name some"):
        analyse(many)
    assert prepare(many, ScoreOptions(algorithms=["a1"])).algorithms == ("a1",)
    monkeypatch.setattr(dataset, "MAX_RUNS", 3)
    with pytest.raises(ArcadeMarkError, match=r"^'a' has 4 runs on 'pong', expected at most 3; .*column 'episode'"):
        analyse({"a": {"pong": [1.0] * 4, "qbert": [1.0]}})
    monkeypatch.setattr(dataset, "MAX_SCORES", 5)
    with pytest.raises(ArcadeMarkError, match=r"^6 scores, expected at most 5 at once; name some"):
        analyse({"a": {"pong": [1.0] * 3}, "b": {"pong": [1.0] * 3}})


def test_medians_of_all_other_runs_are_found_at_once():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 5, (4, 7)).astype(float)
    rows[0, 3] = rows[1, :4] = rows[2, 1:] = np.nan
    with warnings.catch_warnings(action="ignore"):
        expected = [np.nanmedian(np.delete(rows, run, axis=1), axis=1) for run in range(rows.shape[1])]
    found = plausible._medians_of_others(rows)
    np.testing.assert_array_equal(found, np.where(np.isnan(rows), np.nan, np.array(expected).T))


@pytest.mark.parametrize("place", [{"DQN": {"pong": 18.9}}, "catalogue:ale-2013"])
@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ({"decimals": ","}, "unknown parameter .*'decimals'; did you mean 'decimal'"),
        ({"format": "nonsense"}, "unknown format 'nonsense'"),
    ],
)
def test_options_for_files_are_checked_where_no_file_is_read(place, reading, message):
    with pytest.raises(ArcadeMarkError, match=message):
        analyse(place, resamples=10, reading=reading)
