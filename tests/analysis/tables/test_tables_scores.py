"""What is said of a table of scores."""

import dataclasses

import numpy as np
import pytest

import arcademark
from arcademark.analysis import published
from arcademark.analysis.scoring.analysis import analyse
from arcademark.catalogue.model import Location
from arcademark.errors import ArcadeMarkError
from arcademark.reproduce.review import values as review_values
from arcademark.scores.table import ScoreTable
from arcademark.suite import references, subsets, tasks
from arcademark.suite.protocols import protocol
from made_up import collected, made_up_run
from made_up_tables import made_up_table, table
from shown import printed, text_of

GAMES = tasks.suite("atari-57").tasks
RANDOM, HUMAN, RECORD = (references.scores(kind) for kind in ("random", "human", "human_world_record"))


def summary(algorithm, metric):
    return next(item for item in algorithm.summaries if item.metric == metric)


@pytest.fixture(scope="module")
def whole():
    return analyse(made_up_table(protocols={"mine": "world-records", "yours": "world-records"}), frames=200_000_000)


def test_the_whole_suite_has_its_median_and_parts_of_it_are_refused_with_the_reason(whole):
    first = whole.algorithms[0]
    assert first.coverage.median == summary(first, "hns").median.value
    assert (first.coverage.missing, first.coverage.refused) == ((), "")
    part = analyse(made_up_table(games=GAMES[:27]), resamples=20)
    coverage = part.algorithms[0].coverage
    assert (coverage.games, coverage.of, len(coverage.missing)) == (27, 57, 30)
    assert coverage.median is None
    assert "30 games" in coverage.refused
    assert part.notices[0].kind == "partial_suite"
    assert "27 of the 57 games of atari-57" in part.notices[0].text
    assert part.scope == "27 of the 57 games of atari-57"
    assert summary(part.algorithms[0], "hns").games == 27


def test_beside_an_estimate_from_any_games_stands_that_of_the_published_model_of_just_these():
    atari_5 = subsets.subset("atari-5")
    scores = {game: [HUMAN[game]] for game in atari_5.tasks} | {"qbert": [RANDOM["qbert"]]}
    (item,) = analyse(table({"mine": scores})).algorithms
    assert item.published.subset == "atari-5"
    logs = [0.0 if game == "qbert" else np.log10(101) for game in atari_5.tasks]
    assert item.published.value == pytest.approx(10 ** np.dot(atari_5.coefficients or (), logs) - 1)
    assert item.estimate.subset == "any"
    for more, options in (({"pong": [1.0]}, {}), ({}, {"model": "atari-5"}), ({}, {"suite": "atari-100k"})):
        assert analyse(table({"mine": scores | more}), **options).algorithms[0].published is None
    report = analyse(table({"mine": scores}))
    told = [notice.text for notice in report.notices if notice.kind == "estimate_reading"]
    assert ["Atari-5 estimates the" in text for text in told] == [False, True]


def test_records_broken_are_named_and_so_are_those_that_nobody_else_broke():
    scores = {game: [RECORD[game] if game in ("pong", "bowling") else RANDOM[game]] for game in GAMES}
    found = analyse(table({"mine": scores})).algorithms[0].breakthroughs
    assert found[1].reached == ("Bowling", "Pong")
    assert "Pong" not in found[1].unprecedented
    assert found[0].metric == "human_level"
    assert len(found[0].reached) == 2


def test_min_max_scaling_is_shown_where_it_is_asked_for(whole):
    assert "min_max" not in [item.metric for item in whole.algorithms[0].summaries]
    scores = {"pong": [0.0], "chopper_command": [999_900.0], "skiing": [-5_000.0], "breakout": [216.0]}
    (item,) = analyse(table({"mine": scores}), metrics=["min_max"]).algorithms
    (found,) = item.summaries
    assert (found.mean.value, found.games) == (pytest.approx(100 * (0.5 + 1.0 + 0.25) / 3), 3)
    placed = {score.game: score.normalised["min_max"].value for score in item.scores}
    assert placed == {"pong": 50.0, "chopper_command": 100.0, "skiing": None, "breakout": 25.0}
    assert found.meaning.endswith("Robotank, Skiing, Space Invaders and Wizard of Wor")
    (all_games,) = analyse(table({"mine": {game: [HUMAN[game]] for game in GAMES}}), metrics=["min_max"]).algorithms
    assert (all_games.coverage.median, all_games.coverage.refused) == (None, "9 games have no min-max score")


def test_efficiency_divides_fractions_by_frames(whole):
    found = whole.algorithms[0].efficiency
    mean = summary(whole.algorithms[0], "hns").mean.value
    assert found.gains[0].mean == pytest.approx(mean / 100 / 200_000_000)
    assert found.game_time_days == pytest.approx(38.580, abs=1e-3)
    assert found.review_days == pytest.approx(41.667, abs=1e-3)
    some = analyse(made_up_table(), frames={"mine": 1_000_000}, resamples=20)
    assert some.algorithms[1].efficiency is None
    assert "yours" in text_of(some, "efficiency")


def test_the_suite_of_2013_has_its_own_measures():
    scores = {"low": {"pong": [-20.0], "venture": [0.0]}, "high": {"pong": [20.0], "venture": [500.0]}}
    report = analyse(table(scores), suite="ale-55")
    low, high = report.algorithms
    assert summary(high, "inter_algorithm").mean.value == 100
    assert summary(low, "inter_algorithm").mean.value == 0
    assert summary(low, "random_normalised").left_out == ("Venture",)
    random = references.scores("random", "ale-55")["pong"]
    assert summary(high, "random_normalised").mean.value == pytest.approx(100 * 20 / abs(random))
    assert "Venture" in text_of(report, "measures")
    assert "baseline" in [item.metric for item in high.summaries]
    assert high.estimate is None
    assert high.breakthroughs == ()


def test_a_benchmark_of_ones_own(tmp_path):
    path = tmp_path / "references.csv"
    path.write_text("Task,High,low\nHopper-v4,3000,0\nAnt-v4,6000,-60\n")
    report = analyse(table({"sac": {"hopper-v4": [1500.0, 1500.0]}}), references=path)
    assert report.algorithms[0].coverage.missing == ("Ant-v4",)
    both = table({"sac": {"Hopper-v4": [1500.0, 1800.0], "Ant-v4": [6000.0, 9000.0]}})
    own = analyse(both, references=path)
    assert summary(own.algorithms[0], "normalised").mean.value == pytest.approx((55 + 100 * 7560 / 6060) / 2)
    assert summary(own.algorithms[0], "capped").mean.value == pytest.approx((55 + 100) / 2)
    assert own.hard_exploration is None
    with pytest.raises(ArcadeMarkError, match="none of the scored tasks"):
        analyse(table({"sac": {"Humanoid-v4": [1.0]}}), references=path)


def test_published_scores_are_read_with_what_is_known_of_them():
    report = analyse("catalogue:review-2021", algorithms=["Rainbow"], resamples=20)
    (rainbow,) = report.algorithms
    assert (rainbow.training_frames, rainbow.coverage.games) == (200_000_000, 57)
    reference = "Reference players of catalogue:review-2021, not used: Random, Human and Human World Record."
    assert reference in text_of(report, "read")


def test_tables_side_by_side_keep_names_apart():
    first = made_up_table(("mine",), ("pong",))
    other = ScoreTable(("mine",), ("pong",), first.scores, ("",), ("elsewhere.csv",))
    names = [item.name for item in analyse([first, other]).algorithms]
    assert names == ["mine [made up]", "mine [elsewhere.csv]"]


def test_collections_side_by_side_name_algorithms_shortly_and_set_none_against_itself():
    names = ("Agent57 (Fan 2021)", "Agent57 (Aitchison et al. 2023)", "GDI-H3", "GDI-H3(200M frames)")
    places = ("catalogue:review-2021", "catalogue:atari-5-training")
    report = analyse(places, algorithms=names, games="kung_fu_master,gravitar", resamples=20)
    assert tuple(item.name for item in report.algorithms) == names
    new = {item.name: item.breakthroughs[1].unprecedented for item in report.algorithms}
    assert new == dict.fromkeys(names[:2], ()) | dict.fromkeys(names[2:], ("Kung-Fu Master",))


def test_the_same_seed_gives_the_same_document_and_another_other_limits():
    scores = made_up_table(games=GAMES[:5], runs=4)
    first, again = (analyse(scores, seed=7) for _ in range(2))
    assert first == again
    other = summary(analyse(scores, seed=8).algorithms[0], "hns").iqm
    assert other.value == summary(first.algorithms[0], "hns").iqm.value
    assert other.low != summary(first.algorithms[0], "hns").iqm.low


def test_single_runs_are_said_to_lie_where_their_order_tells():
    runs = [float(value) for value in range(50)]
    scores = table({"a": {"pong": runs[::-1], "qbert": [3.0, 1.0]}, "b": {"pong": [1.0]}})
    found = analyse(scores, tolerance=0.9).tolerance
    assert (found.share, found.confidence, found.runs_needed, found.runs_of_bound) == (0.9, 0.95, 46, 29)
    pong, qbert = found.rows
    assert (pong.algorithm, pong.game, pong.runs, pong.low, pong.high, pong.at_least) == ("a", "pong", 50, 0, 49, 1)
    assert pong.share == pytest.approx(0.9086, abs=1e-4)
    assert (qbert.runs, qbert.low, qbert.high, qbert.at_least) == (2, 1, 3, None)
    assert qbert.share == pytest.approx(1 - np.sqrt(0.95))  # P(less than p within the range of two) is 2 p − p²
    assert analyse(scores).tolerance is None


# Algorithms beside published ones of a similar budget


PRINTED = {  # review, Tables 3, 7 and 11: mean HNS a frame, median HNS and it a frame, median HWRNS and SABER, HWRB
    "Rainbow": ("4.37E-08", "230.99", "1.15E-08", "4.92", "4.92", 4),
    "IMPALA": ("4.79E-08", "191.82", "9.59E-09", "4.31", "4.31", 3),
    "Muesli": ("1.27E-07", "1077.47", "5.39E-08", "24.86", "24.86", 5),
}
CELLS = {
    "mean_hns": ("mean", "hns"),
    "median_hns": ("median", "hns"),
    "mean_hwrns": ("mean", "hwrns"),
    "median_hwrns": ("median", "hwrns"),
    "mean_saber": ("mean", "saber"),
    "median_saber": ("median", "saber"),
    "records": ("hwrb", "hwrns"),
    "hns_a_frame": ("mean efficiency", "hns"),
    "median_hns_a_frame": ("median efficiency", "hns"),
}


def learner(games=GAMES, frames=200_000_000, using="noop-108000"):
    """The run of a learner whose budget is so many frames."""
    record = made_up_run("runs/ppo", ("ppo",), games, episodes=2, learns=True, using=protocol(using))
    known = (dataclasses.replace(trial, training_frames=frames) for trial in record.trials)
    return collected(dataclasses.replace(record, trials=tuple(known)))


@pytest.fixture(scope="module")
def similar():
    return analyse(learner())


def test_published_figures_are_those_that_the_review_prints(similar):
    (found,) = similar.similar
    there = {item.name: item for item in found.published}
    assert found.within
    for name, cells in PRINTED.items():
        item = there[name]
        told = f"{item.hns_a_frame:.2E}", f"{item.median_hns:.2f}", f"{item.median_hns_a_frame:.2E}"
        assert (*told, f"{item.median_hwrns:.2f}", f"{item.median_saber:.2f}", item.records) == cells
    for name in (*PRINTED, "LASER", "GDI-I3", "GDI-H3"):
        for figure, (row, quantity) in CELLS.items():
            computed = review_values.value(Location(3, row, name, quantity), review_values.ours())
            assert getattr(there[name], figure) == pytest.approx(computed), (name, figure)


def test_protocols_and_what_is_lacking_are_told(similar):
    (found,) = similar.similar
    there = {item.name: item for item in found.published}
    assert there["Rainbow"].differs == ()  # the protocol is its own
    assert there["IMPALA"].differs == ("actions (minimal set, 18)",)
    assert (there["Rainbow"].source, there["Rainbow"].reported) == ("Hessel et al. 2018", "best")
    assert found.own[0].reported == "evaluation"
    assert {"DreamerV2", "Nature DQN"} <= set(found.lacking)
    assert there["Rainbow"].paper == "hessel-2018"
    assert "Hessel et al. 2018" in {paper.text for paper in similar.citations}


def test_own_figures_by_hand():
    """Pong half way to the human world record, Breakout twice as far above random play as the human average."""
    pong = (RANDOM["pong"] + RECORD["pong"]) / 2
    breakout = RANDOM["breakout"] + 2 * (HUMAN["breakout"] - RANDOM["breakout"])
    report = analyse({"mine": {"pong": [pong], "breakout": [breakout]}}, frames=100)
    ((mine,),) = (found.own for found in report.similar)
    hns = [100 * (pong - RANDOM["pong"]) / (HUMAN["pong"] - RANDOM["pong"]), 200]
    assert (mine.mean_hns, mine.median_hns) == pytest.approx((np.mean(hns), np.mean(hns)))
    far = 100 * (breakout - RANDOM["breakout"]) / (RECORD["breakout"] - RANDOM["breakout"])
    assert (mine.mean_hwrns, mine.mean_saber) == pytest.approx(((50 + far) / 2, (50 + far) / 2))
    assert (mine.records, mine.records_a_frame, mine.reported) == (0, 0, "unknown")
    assert mine.hns_a_frame == pytest.approx(np.mean(hns) / 100 / 100)
    best = analyse({"mine": {"pong": [pong], "breakout": [3 * RECORD["breakout"]]}}, frames=100)
    assert best.similar[0].own[0].records == 1
    assert best.similar[0].own[0].records_a_frame == pytest.approx(0.01)
    assert best.algorithms[0].efficiency.records == pytest.approx(0.01)
    assert best.similar[0].own[0].mean_saber == pytest.approx((50 + 200) / 2)


def test_where_no_budget_is_similar_the_nearest_is_shown_and_it_is_said():
    report = analyse(learner(("breakout", "freeway"), 3_000_000))
    (found,) = report.similar
    assert (found.within, [item.name for item in found.published], found.lacking) == (False, ["SimPLe"], ())
    shown = " ".join(printed(report, 120, everything=True).split())
    assert "trained for half to twice as many frames as 3,000,000: the nearest is shown, 3 times as few." in shown
    assert "Beside published" not in printed(report, 120).partition("--all also shows")[0]
    (whole,) = analyse(learner(frames=3_000_000)).similar  # SimPLe has 36 games
    assert (whole.within, whole.lacking[0]) == (False, "SimPLe")
    assert min(item.training_frames for item in whole.published) > 10_000_000


def test_the_bounds_of_a_similar_budget_are_included():
    for frames, within in ((100_000_000, True), (99_999_999, True), (20_000_000, True), (19_999_999, False)):
        assert published.of_similar_budget(frames, ["pong"])[1] == within
    assert {entry.identity for entry in published.of_similar_budget(100_000_000, GAMES)[0]} >= {"Rainbow", "LASER"}
    assert {entry.identity for entry in published.of_similar_budget(99_999_999, GAMES)[0]} == {"LASER Shared (50M)"}


def test_algorithms_alike_stand_together_and_others_apart():
    two = analyse(made_up_table(), frames=200_000_000, resamples=20)
    assert [[item.name for item in found.own] for found in two.similar] == [["mine", "yours"]]
    apart = analyse(made_up_table(), frames={"mine": 200_000_000, "yours": 50_000_000}, resamples=20)
    assert [(found.training_frames, len(found.own)) for found in apart.similar] == [(200_000_000, 1), (50_000_000, 1)]


def test_what_is_published_trains_for_unknown_frames_or_is_no_game_of_the_suite_is_set_beside_nothing():
    assert analyse("catalogue:review-2021", algorithms=["Rainbow"], resamples=20).similar == ()
    assert analyse(made_up_table(), resamples=20).similar == ()
    assert analyse(made_up_table(), suite="ale-55", frames=200_000_000, resamples=20).similar == ()


def test_below_what_errors_are_known_of_the_headline_is_an_upper_end():
    report = arcademark.report({"x": {"pong": -21}})
    (item,) = report.algorithms
    assert (item.estimate.value, item.estimate.low, item.estimate.below) == (None, 0.0, True)
    assert 2 < item.estimate.high < 10
    headline = f"below {item.estimate.high:.3g}"
    assert f"{headline} % 1 game" in " ".join(printed(report, 100).split())
    assert report.brief[0].startswith(f"x: worse than random play; {headline}\N{NO-BREAK SPACE}%, the atari-57 median")
