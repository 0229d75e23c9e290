"""What predictions are made of: learning from a table of one's own, and what is named to play next."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from arcademark.analysis.subsets import predictors
from arcademark.analysis.subsets.predicting import predicted
from arcademark.analysis.tables import loading
from arcademark.scores.table import ScoreTable
from arcademark.subset.predict.any_tasks import train
from arcademark.suite.tasks import canonical_game
from shown import printed

TASKS = tuple("abcdef")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A benchmark of six tasks and 24 players of eight papers; on task f all score the same, and few have e."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    rows = ["algorithm,task,score"]
    for player in range(24):
        skill = rng.uniform(0.2, 1.4)
        for task in TASKS:
            score = 120.0 if task == "f" else 100 + 50 * skill * rng.uniform(0.85, 1.15)
            if task != "e" or player < 5:
                rows.append(f"{chr(97 + player)} player,{task},{score}")
    Path("others.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    Path("refs.csv").write_text("task,low,high\n" + "".join(f"{task},100,150\n" for task in TASKS), encoding="utf-8")
    papers = "".join(f"{chr(97 + player)} player,paper {player // 3}\n" for player in range(24))
    Path("papers.csv").write_text("algorithm,paper\n" + papers, encoding="utf-8")
    Path("mine.csv").write_text("algorithm,task,score\nme,A,125\nme,c,135\nme,extra,3\n", encoding="utf-8")
    Path("frames.csv").write_text("task,frames\nb,10\nd,1000\n", encoding="utf-8")
    return tmp_path


def words(found):
    return " ".join(printed(found, 100, everything=True).split())


def test_any_tasks_of_a_benchmark_of_ones_own(files):
    training = predictors.own(["others.csv"], Path("refs.csv"))
    assert (training.noun, training.groups, training.tasks) == ("task", "algorithms", ("a", "b", "c", "d"))
    found = predicted(["mine.csv"], training=training)
    (item,) = found.predictions
    forecast = item.forecast
    assert (found.noun, found.groups) == ("task", "algorithms")
    assert forecast.known == ("a", "c")
    assert set(forecast.tasks) == {"b", "d"}
    assert list(forecast.summaries) == ["median", "mean", "at 100 % or more"]
    assert 40 < forecast.summaries["median"].low < forecast.summaries["median"].value
    assert forecast.summaries["median"].value < forecast.summaries["median"].high < 85
    assert forecast.groups == 24
    assert any("Left out of everything, also of summaries" in line and "e and f" in line for line in found.remarks)
    assert any("do not include them: extra" in line for line in item.warnings)


def test_the_same_as_training_by_hand(files):
    training = predictors.own(["others.csv"], Path("refs.csv"), Path("papers.csv"))
    assert training.groups == "papers"
    lines = [line.split(",") for line in Path("others.csv").read_text(encoding="utf-8").splitlines()[1:]]
    names = sorted({name for name, _, _ in lines})
    percent = np.full((24, 6), np.nan)
    for name, task, score in lines:
        percent[names.index(name), TASKS.index(task)] = 2 * (float(score) - 100)
    by_hand = train(percent, names, TASKS, [f"paper {row // 3}" for row in range(24)])
    assert by_hand.joint.tasks == training.tasks
    np.testing.assert_allclose(by_hand.joint.covariance, training.trained.joint.covariance)
    assert set(training.trained.without) == {f"paper {number}" for number in range(8)}
    forecast = predicted(["mine.csv"], training=training).predictions[0].forecast
    assert forecast.groups == 8
    assert forecast.summaries["median"].high is None  # eight papers are too few for 90 %
    assert "too few papers for 90 %" in words(predicted(["mine.csv"], training=training))


def test_nothing_is_learnt_from_the_paper_of_what_is_predicted(files):
    training = predictors.own(["others.csv"], Path("refs.csv"), Path("papers.csv"))
    group = dict(zip(training.trained.algorithms, training.trained.groups, strict=True))["f player"]
    few, value = ({name: {"a": 125.0}} for name in ("f player", "mine")), []
    for table in few:
        (item,) = predicted([ScoreTable.from_mapping(table)], training=training).predictions
        value.append(item.forecast.summaries["median"].value)
        assert item.left_out == (group if item.algorithm == "f player" else "")
    without, all_there = (training.predict({"a": 125.0}, level=0.9, without=some) for some in (group, None))
    assert value == [without.summaries["median"].value, all_there.summaries["median"].value]
    assert value[0] != value[1]


@pytest.mark.parametrize("how", [{"games": "atari-5"}, {"name": "atari-5"}], ids=str)
def test_the_true_median_stands_beside_what_a_few_games_tell(how):
    """Of algorithms with all games: the estimate of others, and of these when they are unknown, is the same."""
    (item,) = predicted(["catalogue:review-2021"], **how, algorithms=["Muesli"]).predictions
    assert item.truth["median"] == pytest.approx(1077, abs=1)
    told = item.forecast.summaries["median"] if item.forecast else item.estimate
    assert told.low < item.truth["median"] < told.high
    if item.forecast:
        assert (len(item.forecast.known), item.left_out) == (5, "hessel-2021")


@pytest.mark.parametrize(
    ("missing", "true"),
    [
        (("defender", "surround"), True),
        (("defender", "surround", "tennis"), False),
        (("pitfall",), False),
        (("montezuma_revenge", "pitfall", "private_eye", "venture"), False),
    ],
)
def test_a_median_is_true_over_55_games_unless_hard_ones_are_missing(missing, true):
    (every,) = predicted(["catalogue:review-2021"], games="atari-5", algorithms=["Muesli"]).predictions
    table = loading.load(["catalogue:review-2021"], canonical_game).table.select(algorithms=["Muesli"])
    scores = {task: score for task, score in predictors.known(table, 0).items() if task not in missing}
    for how in ({"games": "atari-5"}, {"name": "atari-5"}):
        (item,) = predicted([{"Muesli": scores}], **how).predictions
        assert list(item.truth) == (["median", "mean"][: 1 + ("games" in how)] if true else [])
        if true:
            assert item.truth["median"] == pytest.approx(every.truth["median"], rel=0.05)


@pytest.mark.slow
def test_another_table_of_atari_games_is_learnt_from():
    training = predictors.own(["catalogue:review-2021"])
    assert (training.noun, training.groups) == ("game", "papers")
    assert "at human level" in [quantity.name for quantity in training.quantities]
    table = ScoreTable.from_mapping({"Mine": {"pong": 10.0, "Alien": 2000.0}})
    forecast = predicted([table], training=training).predictions[0].forecast
    assert forecast.known == ("alien", "pong")


def test_papers_that_a_table_has_are_not_among_the_others():
    """By their keys, or by the name of an algorithm of theirs where the table does not say its paper."""
    model = SimpleNamespace(tasks=("alien", "qbert"), coefficients=(0.5, 0.5), intercept=0.0)
    trained = predictors.atari().trained
    trained = trained.only(trained.fitted & (np.isfinite(trained.percent).sum(axis=1) >= 55))  # with a true median
    every = predictors.other_papers(model, ())
    papers = len(set(trained.groups))
    assert len(every) == papers < 43
    assert len(predictors.other_papers(model, {trained.groups[0]})) == papers - 1
    name = next(name for name in trained.algorithms if name.startswith("MuZero"))
    assert len(predictors.other_papers(model, (), [name])) < papers
    assert predictors.other_papers(model, (), trained.algorithms) == ()
