"""A metric that somebody registers is in the terminal, the page, JSON, LaTeX, Markdown, comparisons and leaderboard."""

import numpy as np
import pytest

import arcademark
from arcademark.analysis.site import analysis as site
from arcademark.analysis.tables.dataset import ScoreOptions, prepare
from arcademark.errors import ArcadeMarkError
from arcademark.metrics import normalise
from arcademark.metrics.normalise import Metric
from arcademark.suite import references

GAMES = ("pong", "breakout", "qbert", "seaquest")
FEAT = Metric("feat", "FEAT", "0 % is the human average, 100 % the world record", "human", "human_world_record")


@pytest.fixture(autouse=True)
def registered():
    normalise.register(FEAT)
    yield
    del normalise.METRICS[FEAT.name]


def scores(seed):
    rng = np.random.default_rng(seed)
    return {game: rng.gamma(2, 300, 3).tolist() for game in GAMES}


@pytest.mark.slow
def test_it_is_everywhere_with_its_interval():
    mine = scores(0)
    report = arcademark.report({"mine": mine})
    (found,) = (one.statistics["mean"] for one in report.algorithms[0].summaries if one.metric == "feat")
    human, record = references.scores("human"), references.scores("human_world_record")
    placed = [100 * (np.mean(mine[game]) - human[game]) / (record[game] - human[game]) for game in GAMES]
    assert found.value == pytest.approx(np.mean(placed))
    assert found.low < found.value < found.high
    compared = arcademark.compare({"mine": mine, "theirs": scores(1)})
    forms = (str(report), report.to_html(), report.to_latex(), report.to_markdown(), str(compared), compared.to_html())
    assert all("FEAT" in shown for shown in forms)
    (written,) = (one for one in report.to_json()["algorithms"][0]["summaries"] if one["metric"] == "feat")
    assert written["statistics"]["mean"]["value"] == found.value
    game = report.to_json()["algorithms"][0]["scores"][0]
    assert "feat" in game["normalised"]
    assert "feat" in {item["metric"] for item in compared.to_json()["pairs"][0]["summaries"]}


def test_benchmarks_without_its_references_do_not_have_it(tmp_path):
    suites = {"atari-57": True, "atari-100k": False, "ale-55": False}
    for suite, there in suites.items():
        dataset = prepare({"mine": scores(0)}, ScoreOptions(suite=suite, games="pong"))
        assert ("feat" in dataset.benchmark.measures) is there
    ends = tmp_path / "ends.csv"
    ends.write_text("task,low,high\npong,-21,21\n")
    assert "feat" not in prepare({"mine": {"pong": 3}}, ScoreOptions(references=ends)).benchmark.measures


def test_the_leaderboard_is_given_it():
    dataset = prepare({"mine": scores(0)}, ScoreOptions())
    (measure,) = (one for one in site._view(dataset, "").measures if one.metric == "feat")
    assert measure.low["pong"] == references.scores("human")["pong"]


@pytest.mark.parametrize(
    "other",
    [
        Metric("feat", "another", ""),
        Metric("another", "HNS", ""),
        Metric("not a name", "another", ""),
        Metric("another", "another", "", bounds=(1.0, 1.0)),
    ],
)
def test_a_second_of_its_name_or_one_that_is_none_is_refused(other):
    with pytest.raises(ArcadeMarkError, match="metric "):
        normalise.register(other)
