"""Algorithms beside published ones of a similar budget."""

import dataclasses

import numpy as np
import pytest
from made_up import collected, made_up_run
from made_up_tables import made_up_table
from shown import printed

from arcademark.catalogue.model import Location
from arcademark.reports import published
from arcademark.reports.tables.analysis import analyse
from arcademark.reproduce.review import values as review_values
from arcademark.suite import references, tasks
from arcademark.suite.protocols import protocol

GAMES = tasks.suite("atari-57").tasks
RANDOM, HUMAN, RECORD = (references.scores(kind) for kind in ("random", "human", "human_world_record"))
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
def whole():
    return analyse(learner())


def test_published_figures_are_those_that_the_review_prints(whole):
    (found,) = whole.similar
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


def test_protocols_and_what_is_lacking_are_told(whole):
    (found,) = whole.similar
    there = {item.name: item for item in found.published}
    assert there["Rainbow"].differs == ()  # the protocol is its own
    assert there["IMPALA"].differs == ("actions (minimal set, 18)",)
    assert (there["Rainbow"].source, there["Rainbow"].reported) == ("Hessel et al. 2018", "best")
    assert found.own[0].reported == "evaluation"
    assert {"DreamerV2", "Nature DQN"} <= set(found.lacking)
    assert there["Rainbow"].paper == "hessel-2018"
    assert "Hessel et al. 2018" in {paper.text for paper in whole.citations}


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
        assert published.of_similar_budget(frames, ["pong"]).within == within
    assert {entry.identity for entry in published.of_similar_budget(100_000_000, GAMES).entries} >= {"Rainbow", "LASER"}
    assert {entry.identity for entry in published.of_similar_budget(99_999_999, GAMES).entries} == {
        "LASER Shared (50M)"
    }


def test_algorithms_alike_stand_together_and_others_apart():
    two = analyse(made_up_table(), frames=200_000_000, resamples=20)
    assert [[item.name for item in found.own] for found in two.similar] == [["mine", "yours"]]
    apart = analyse(made_up_table(), frames={"mine": 200_000_000, "yours": 50_000_000}, resamples=20)
    assert [(found.training_frames, len(found.own)) for found in apart.similar] == [(200_000_000, 1), (50_000_000, 1)]


def test_what_is_published_trains_for_unknown_frames_or_is_no_game_of_the_suite_is_set_beside_nothing():
    assert analyse("catalogue:review-2021", algorithms=["Rainbow"], resamples=20).similar == ()
    assert analyse(made_up_table(), resamples=20).similar == ()
    assert analyse(made_up_table(), suite="ale-55", frames=200_000_000, resamples=20).similar == ()
