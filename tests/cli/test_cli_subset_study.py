"""``arcademark subset study``: estimates beside what their models predict, each of the training table counted once."""

import json

import numpy as np
import pytest

from arcademark.subset.predict import files
from arcademark.subset.predict.model import SubsetModel
from command_line import execute

OWN = ("subset", "study", "scores.csv", "--references", "references.csv", "--minimum-tasks", 3)
SCORES = {"weak": (1.0, 2.0, 9.0), "able": (4.0, 6.0, 20.0), "best": (10.0, 20.0, 60.0)}


@pytest.fixture
def own(tmp_path, benchmark):
    benchmark({name: dict(zip("xyz", row, strict=True)) for name, row in SCORES.items()}, 0, 10)
    (tmp_path / "own.py").write_text("def worst(scores):\n    return min(scores)\n", encoding="utf-8")

    def write(name, summary, unit="%"):
        model = SubsetModel(
            *(name, ("x",), (2.0,), 0.0, None, f"{summary} of ours", None, "made up", "none"),
            references={"x": (0.0, 10.0)},
            absolute_error=3.0,
            summary=summary,
            unit=unit,
        )
        (tmp_path / f"{name}.json").write_text(files.dumps(model), encoding="utf-8")

    return write


@pytest.mark.parametrize(
    ("summary", "truth"),
    [
        ("median", {"weak": 20.0, "able": 60.0, "best": 200.0}),
        ("mean", {"weak": 40.0, "able": 100.0, "best": 300.0}),
        ("at human level", {"weak": 0.0, "able": 1.0, "best": 3.0}),
    ],
)
def test_what_the_model_predicts_stands_beside_its_estimates(invoke, own, summary, truth):
    own("m", summary, "tasks" if summary == "at human level" else "%")
    answer = invoke(*OWN, "--models", "m.json", "--format=json")
    assert (answer.code, answer.err) == (0, "")
    document = answer.json
    rows = {line["row"]["algorithm"]: line["row"] for line in document["lines"]}
    assert {name: row["true"] for name, row in rows.items()} == pytest.approx(truth)
    assert rows["able"]["estimates"][0]["value"] == pytest.approx(80.0)
    told = invoke(*OWN, "--models", "m.json").out
    assert ("median" in told) == (summary == "median")


def test_a_function_is_computed_only_where_it_is_asked_for(invoke, own):
    own("m", "elsewhere/own.py:worst")
    answer = invoke(*OWN, "--models", "m.json", code=2)
    assert "a function of its author's" in answer.err
    assert "add --target FILE.py:NAME" in answer.err
    told = invoke(*OWN, "--models", "m.json", "--target", "own.py:worst", "--format=json")
    rows = {line["row"]["algorithm"]: line["row"]["true"] for line in told.json["lines"]}
    assert rows == pytest.approx({"weak": 10.0, "able": 40.0, "best": 100.0})
    assert "predicts 'elsewhere/own.py:worst', not 'mean'" in invoke(*OWN, "--models", "m.json", "--target", "mean").err


def test_a_model_that_does_not_say_what_it_predicts_is_asked(invoke, own):
    own("m", None)
    assert "add --target (median, mean" in invoke(*OWN, "--models", "m.json", code=2).err
    told = invoke(*OWN, "--models", "m.json", "--target", "mean", "--format=json")
    assert told.json["lines"][0]["row"]["true"] == pytest.approx(300.0)


def test_models_of_different_things_are_not_put_side_by_side(invoke, own):
    own("m", "mean")
    own("n", "median")
    assert "'mean' and 'median'; study one at a time" in invoke(*OWN, "--models", "m.json,n.json", code=2).err


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    """The study of the whole catalogue."""
    out = execute(tmp_path_factory.mktemp("study"), ("arcademark", "subset", "study", "--format=json"))
    return json.loads(out)


def test_every_published_algorithm_has_its_estimates(catalogue):
    assert catalogue["models"] == ["Atari-1", "Atari-3", "Atari-5", "Atari-10"]
    rows = {line["row"]["algorithm"]: line for line in catalogue["lines"]}
    muzero = rows["MuZero (Aitchison et al. 2023)"]
    assert muzero["fitted"] == "MuZero"
    assert round(muzero["row"]["true"], 1) == 2041.1
    assert round(muzero["row"]["estimates"][2]["value"]) == 2091
    explore = rows["Go-Explore"]
    assert explore["fitted"] == ""
    assert (round(explore["row"]["true"]), round(explore["row"]["estimates"][2]["value"])) == (1446, 1855)
    assert [kind["title"] for kind in catalogue["kinds"]] == ["all algorithms", "in the training table", "others"]


def test_each_of_the_training_table_counts_once_and_who_is_scored_otherwise_not_at_all(catalogue):
    whole, fitted, others = ({"title": kind["title"], "of": kind["agreements"]} for kind in catalogue["kinds"])
    # Of the 62 those with 55 games or more, without the human reference, and without Planning and Nature DQN, whose
    # episodes were shorter.
    assert [item["compared"] for item in fitted["of"]] == [38, 38, 38, 37]
    assert catalogue["minimum_tasks"] == 55
    assert [a["compared"] + b["compared"] for a, b in zip(fitted["of"], others["of"], strict=True)] == [
        item["compared"] for item in whole["of"]
    ]
    assert max(item["worst_error"] for kind in (whole, others) for item in kind["of"]) < 5
    rows = [line for line in catalogue["lines"] if line["fitted"] == "MuZero"]
    errors = {round(line["row"]["estimates"][2]["error"], 6) for line in rows}
    assert len(rows) > len(errors) == 1, "two entries of the same scores"
    counted = {
        line["fitted"]: line["row"]["estimates"][2]["error"]
        for line in catalogue["lines"]
        if line["fitted"]
        and line["row"]["estimates"][2]["error"] is not None
        and "(Lee 2019)" not in line["row"]["algorithm"]  # which has games that the training table lacks
    }
    del counted["GDI-I3"]  # The training table lacks two of its games, which its namesake elsewhere has.
    assert len(counted) == fitted["of"][2]["compared"]
    assert np.mean(np.abs(list(counted.values()))) == pytest.approx(fitted["of"][2]["mean_error"], abs=0.005)


def test_corrected_scores_and_shorter_episodes_are_told(catalogue, invoke):
    assert catalogue["corrected"]["GDI-H3(200M frames)"] == ["Kung-Fu Master"]
    assert "Go-Explore" in catalogue["scored_otherwise"]
    assert catalogue["frame_caps"] == [108_000]
    told = invoke("subset", "study", "--format=markdown").words
    assert "not those that the paper prints (Aitchison et al. 2023, Table 8)" in told
    assert "Scored otherwise: Go-Explore" in told
    assert "the averages leave them out" in told
    assert "Reference players of the catalogue, not used: Human (Bell" in told
