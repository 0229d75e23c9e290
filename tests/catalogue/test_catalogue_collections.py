import statistics

import numpy as np
import pytest

from arcademark import catalogue
from arcademark.catalogue import collections, reading
from arcademark.catalogue.collections import Filter
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.suite import references, tasks
from arcademark.suite.tables import read_rows

LEARNERS = ("Basic", "BASS", "DISCO", "LSH", "RAM")
BASELINES = ("Random", "Const", "Perturb")


def entry(collection, algorithm):
    return next(item for item in collections.entries(collection) if item.algorithm == algorithm)


def score(collection, algorithm, game):
    return collections.scores_of(entry(collection, algorithm))[game].score


def test_the_training_table_has_the_62_algorithms_of_table_8_with_its_counts_and_medians():
    random, human = references.scores("random"), references.scores("human")
    rows = read_rows("aitchison-2023.csv", reading.data_directory() / "printed")
    printed = [(row["row"], *row["printed"].split("; ")) for row in rows if row["table"] == "8"]
    assert len(printed) == 62
    assert [name for name, _, _ in printed] == [item.algorithm for item in collections.entries("atari-5-training")]
    for name, games, median in printed:
        found = collections.scores_of(entry("atari-5-training", name), as_published=True)
        scores = {game: result.score for game, result in found.items()}
        worth = [100 * (value - random[game]) / (human[game] - random[game]) for game, value in scores.items()]
        assert (len(scores), f"{statistics.median(worth):.1f}") == (int(games), median), name


@pytest.mark.parametrize(
    ("review", "training", "holds", "slip"),
    [("GDI-I3", "GDI-I3", 140440, 28075), ("GDI-H3", "GDI-H3(200M frames)", 1666665, 28349)],
)
def test_kung_fu_masters_slip_in_the_training_table_is_no_score_but_can_be_had(review, training, holds, slip):
    there = collections.scores_of(entry("atari-5-training", training))
    assert there["kung_fu_master"].score == score("review-2021", review, "kung_fu_master") == holds
    assert "River Raid" in there["kung_fu_master"].note
    assert "riverraid" not in there
    assert score("review-2021", review, "riverraid") == slip
    assert there["kung_fu_master"].published.score == slip
    for as_published, expected in ((False, holds), (True, slip)):
        table = catalogue.load("atari-5-training", algorithms=[training], as_published=as_published)
        assert table.scores[0, table.tasks.index("kung_fu_master"), 0] == expected
        found = {
            result.score
            for result in collections.results("atari-5-training", as_published=as_published)
            if (result.entry.algorithm, result.task) == (training, "kung_fu_master")
        }
        assert found == {expected}


def test_entries_of_one_algorithm_have_one_identity():
    known = {item.algorithm for item in collections.entries("review-2021")}
    renamed = [item for item in collections.entries("atari-5-training") if item.same_as]
    assert len(renamed) == 6
    for item in renamed:
        assert item.identity == item.same_as
        assert item.same_as in known
        mine, theirs = collections.scores_of(item), collections.scores_of(entry("review-2021", item.same_as))
        both = [game for game in mine if game in theirs]
        assert sum(abs(mine[game].score - theirs[game].score) > 0.5 for game in both) <= 2
    assert entry("ale-2013", "UCT").identity == "UCT"


def test_a_table_holds_the_scores_and_only_them():
    table = catalogue.load("review-2021")
    assert table.tasks == tasks.suite("atari-57").tasks
    assert table.scores.shape == (len(collections.entries("review-2021")), 57, 1)
    for result in collections.results("review-2021"):
        row, column = table.algorithms.index(result.entry.algorithm), table.tasks.index(result.task)
        assert table.scores[row, column, 0] == result.score
    assert np.count_nonzero(~np.isnan(table.scores)) == len(collections.results("review-2021"))


def test_games_stand_in_the_order_of_a_suite_that_has_them_all():
    assert catalogue.load("ale-2013").tasks == tasks.suite("ale-55").tasks
    both = catalogue.load(["ale-2013", "review-2021"]).tasks
    assert both == (*tasks.suite("atari-57").tasks, "carnival", "elevator_action", "journey_escape", "pooyan")


def test_two_algorithms_of_one_name_get_their_source_in_brackets():
    assert "Agent57" in catalogue.load("review-2021").algorithms
    table = catalogue.load(["review-2021", "atari-5-training"])
    assert {"Agent57 (Fan 2021)", "Agent57 (Aitchison et al. 2023)", "Rainbow"} <= set(table.algorithms)
    assert "Agent57" not in table.algorithms
    only = catalogue.load(["review-2021", "atari-5-training"], algorithms="Agent57", max_training_frames=10**12)
    assert only.algorithms == ("Agent57 (Fan 2021)", "Agent57 (Aitchison et al. 2023)")


def test_algorithms_come_in_the_order_asked_for_whatever_their_case():
    assert catalogue.load("review-2021", algorithms=["muzero", "RAINBOW"]).algorithms == ("MuZero", "Rainbow")
    assert catalogue.load(algorithms="agent57 (fan 2021)").algorithms == ("Agent57 (Fan 2021)",)


def test_a_table_cites_who_published_and_where_it_was_read():
    three = ["review-2021", "ale-2013", "atari-5-training"]
    table = catalogue.load(three, algorithms=["Rainbow", "UCT", "IQN", "Muesli"])
    cited = dict(zip(table.algorithms, table.sources, strict=True))
    assert cited["Rainbow"] == "Hessel et al. 2018, as given in Fan 2021, Tables 3, 7 and 11"
    assert cited["UCT"].startswith("Bellemare et al. 2013, Table 5; read at second hand in ")
    assert cited["IQN"].startswith(
        "Dabney et al. 2018b, as given in Aitchison et al. 2023, training table; read at second"
    )
    assert table.protocols == ("noop-108000", "ale-2013", "", "")


def test_lost_scores_are_left_out_and_refused_where_they_are_asked_for():
    assert "Human" not in catalogue.load("ale-2013").algorithms
    with pytest.raises(ArcadeMarkError, match="'Human' are not available"):
        catalogue.load("ale-2013", algorithms=["UCT", "Human"])
    assert catalogue.load(algorithms="Human").algorithms == ("Human (Fan 2021)",)


def test_nothing_left_is_an_error():
    with pytest.raises(ArcadeMarkError, match="no algorithm matches all filters"):
        catalogue.load(kind="linear", since=2020)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"kind": "liner"}, "did you mean 'linear'"),
        ({"kind": ["linear", "shallow"]}, "unknown kind 'shallow'"),
        ({"reported": "evaluations"}, "did you mean 'evaluation'"),
        ({"protocol": "ale2013"}, "did you mean 'ale-2013'"),
        ({"collection": ["review-2021", "ale-2031"]}, "did you mean 'ale-2013'"),
        ({"collection": "review-2021", "algorithms": ["Rainbw"]}, "did you mean 'Rainbow'"),
        ({"knid": "value"}, "unknown parameter of load 'knid'; did you mean 'kind'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_closest(asked, told):
    with pytest.raises(UnknownNameError) as refused:
        catalogue.load(**asked)
    assert told in str(refused.value)


def test_protocol_frames_year_kind_and_report_filter():
    def names(**asked):
        return set(catalogue.load(**asked).algorithms)

    assert names(collection="atari-5-training", protocol="dqn-2015") == {"Nature DQN"}
    assert "MuZero (Fan 2021)" in names(protocol="")
    assert names(collection="review-2021", max_training_frames=1_000_000, kind="model-based") == {"SimPLe"}
    assert names(collection="review-2021", min_training_frames=35_000_000_000) == {"NGU", "Agent57"}
    free = names(collection="review-2021", kind="model-free")
    both = [names(collection="review-2021", kind=kind) for kind in ("value-based", "policy-based")]
    assert free == both[0] | both[1]
    assert both == [{"Rainbow", "R2D2", "NGU", "Agent57"}, {"IMPALA", "LASER", "GDI-I3", "GDI-H3"}]
    assert names(collection="ale-2013", kind=["linear", "planning"]) == {*LEARNERS, "Breadth-first search", "UCT"}
    assert names(collection="ale-2013", reported="best") == {"Const", "Perturb"}
    assert names(collection="atari-5-training", year=2017) == {"ES FF (1 hour) noop"}


def test_unknown_frames_are_within_no_bounds():
    assert entry("atari-5-training", "Ape-X").training_frames is None
    for bound in ({"min_training_frames": 0}, {"max_training_frames": 10**15}):
        assert "Ape-X" not in collections.select("atari-5-training", keep=Filter(**bound))


def test_the_runs_of_dreamerv2_have_the_means_that_its_paper_prints():
    runs = collections.scores_of(entry("dreamerv2-2021", "DreamerV2"))
    printed = collections.scores_of(entry("atari-5-training", "DreamerV2"))
    assert runs.keys() == printed.keys()
    assert {result.runs for result in runs.values()} == {8}
    assert all(abs(result.score - printed[game].score) <= 0.5 for game, result in runs.items())


def test_checkpoints_are_of_algorithms_before_their_end():
    points = collections.checkpoints()
    assert len(points) == 60
    assert sum(len(point.scores) for point in points) == 3320
    for point in points:
        assert point.training_frames < point.entry.training_frames
        end = collections.scores_of(point.entry)
        better = [end[game].score > score for game, score in point.scores.items() if game in end]
        assert np.mean(better) > 0.6, (point.entry.algorithm, point.training_frames)
