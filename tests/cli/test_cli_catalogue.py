import csv
import io
import shutil
from pathlib import Path

import numpy as np
import pytest

from arcademark import catalogue
from arcademark.catalogue import check as checking
from arcademark.catalogue.collections import collections, entries, results
from arcademark.catalogue.reading import data_directory
from arcademark.scores.reading import read_tables
from arcademark.suite.tasks import canonical_game


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_list_shows_every_collection_and_algorithm(invoke, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    shown = invoke("catalogue", "list", code=0)
    for collection in collections():
        assert f"\n{collection}\n" in f"\n{shown.out}"
    for entry in entries():
        assert f"\n{entry.algorithm} " in shown.out
    assert f"{len(entries())} algorithms" in shown.out


def test_list_filters(invoke):
    asked = ("--collection", "review-2021", "--where", "kind=model-based,exploration,max_frames=1e9,since=2020")
    document = invoke("catalogue", "list", *asked, "--format=json").json
    assert [item["name"] for item in document["algorithms"]] == ["DreamerV2", "Muesli"]
    unknown = invoke("catalogue", "list", "--where", "protocol=unknown", "--format=json").json
    assert {item["protocol"] for item in unknown["algorithms"]} == {None}


@pytest.mark.parametrize("arguments", [("list", "--algorithms", "UCT,Muesli"), ("show", "ale-2013")])
def test_collections_say_whose_scores_are_not_those_of_todays_emulator(invoke, arguments):
    told = invoke("catalogue", *arguments).words
    assert told.count("differ from those of today's emulator") == 1
    assert "on Battle Zone, Gopher, Ice Hockey, Pong, Robotank and Skiing: " in told


def test_list_as_json_tells_what_is_known_of_an_algorithm(invoke):
    document = invoke("catalogue", "list", "--algorithms", "UCT,Muesli", "--format=json").json
    assert document["schema"] == "arcademark.catalogue/2"
    uct, muesli = document["algorithms"]
    assert (uct["name"], uct["kind"], uct["games"], uct["hand"]) == ("UCT", "planning", 54, "second")
    assert (uct["settings"]["simulations per action"], uct["settings"]["search depth in frames"]) == (500, 300)
    assert muesli["settings"]["max episode length"] == 108_000
    assert uct["assumed"] == ["search depth in frames", "exploration constant"]
    assert (muesli["published_by"]["key"], muesli["source"]["key"]) == ("hessel-2021", "fan-2021")
    assert (muesli["training_frames"], muesli["protocol"], muesli["year"]) == (200_000_000, None, 2021)


def test_show_an_algorithm_with_its_settings_its_source_and_hns(invoke):
    shown = invoke("catalogue", "show", "rainbow", "--collection", "review-2021", code=0)
    assert "Hessel et al. 2018, as given in Fan 2021" in shown.words
    assert "84x84" in shown.out
    (pong,) = (line.split() for line in shown.out.splitlines() if line.startswith("Pong"))
    assert pong == ["Pong", "20.9", "118", "%", "−20.71", "14.6"]
    assert "HNS over 57 games: mean 874" in shown.out.replace("\N{NO-BREAK SPACE}", " ")


def test_export_has_every_score_with_its_source(invoke):
    done = invoke("catalogue", "export")
    rows = read(done.out)
    assert len(rows) == len(results())
    assert all(row["source"] and row["table"] and row["collection"] for row in rows)
    assert all(bool(row["read_in"]) == (row["hand"] == "second") for row in rows)
    assert "Human of ale-2013 has no scores" in done.err


@pytest.mark.parametrize("form", [(), ("--format=wide",)])
def test_an_export_reads_back_as_the_table_that_load_gives(invoke, form):
    asked = ("--collection", "review-2021,atari-5-training")
    export = ("catalogue", "export", *asked, *form, "--out", "deep/scores.csv")
    assert invoke(*export).out == ""
    assert "exists already" in invoke(*export, code=2).err
    back = read_tables("deep/scores.csv", canonical_task=canonical_game).table
    table = catalogue.load(["review-2021", "atari-5-training"])
    again = back.select(algorithms=table.algorithms, tasks=table.tasks)
    assert np.array_equal(again.scores, table.scores, equal_nan=True)
    assert set(back.algorithms) == set(table.algorithms)


def test_check_counts_and_is_content(invoke):
    document = invoke("catalogue", "check", "--format=json").json
    assert (document["ok"], document["findings"]) == (True, [])
    counts = {count["collection"]: count["results"] for count in document["collections"]}
    assert counts == {name: len(results(name)) for name in collections()}


def test_check_ends_with_1_where_something_is_wrong(invoke, monkeypatch):
    found = checking.Check(False, (checking.CatalogueFinding("scores/x.csv", "burnt"),), (), 1, 0, 0, 0, 0)
    monkeypatch.setattr(checking, "check", lambda: found)
    assert "burnt" in invoke("catalogue", "check", code=1).out


CONTRIBUTED = {
    "doe-2026.toml": """["My agent"]
kind = "value-based"
paper = "doe-2026"
source = "doe-2026"
table = "Table 1"
protocol = ""
reported = "unknown"
hand = "first"
same_as = "Rainbow"
""",
    "doe-2026.csv": "algorithm,task,score,uncertainty,uncertainty_kind,runs,note\nMy agent,qbert,33.8,,,,\n",
    "sources.toml": '[doe-2026]\nauthors = "Doe"\ntitle = "A Paper"\nvenue = "Somewhere"\nyear = 2026\n',
}


@pytest.fixture
def contributed():
    for name, text in CONTRIBUTED.items():
        Path(name).write_text(text, encoding="utf-8")
    return list(CONTRIBUTED)


def test_a_collection_is_added_once_no_remark_is_open(invoke, contributed):
    shutil.copytree(data_directory(), "data")
    shown = invoke("catalogue", "add", *contributed, "--into", "data")
    told = shown.words
    assert (shown.code, "1 remark to be answered" in told) == (1, True)
    assert "33.8 differs by a factor of 10 or more from" in told
    assert not Path("data/scores/doe-2026.csv").exists()
    path = Path("doe-2026.csv")
    path.write_text(CONTRIBUTED[path.name].removesuffix(",\n") + ",as published\n", encoding="utf-8")
    told = invoke("catalogue", "add", *contributed).words
    assert "Nothing is wrong: 1 score of 1 algorithm on 1 game." in told
    assert "--into src/arcademark/catalogue/data" in told
    assert invoke("catalogue", "add", *contributed, "--into", "data").code == 0
    assert Path("data/scores/doe-2026.csv").read_bytes() == path.read_bytes()


def keys(value):
    """Return the names of all fields in a document but those of settings, which are the papers' own."""
    if isinstance(value, list):
        return {name for item in value for name in keys(item)}
    if not isinstance(value, dict):
        return set()
    return set(value) | {name for field, item in value.items() if field != "settings" for name in keys(item)}


@pytest.mark.parametrize(
    "arguments",
    [("show", "UCT"), ("check",), ("errata", "--paper", "review"), ("add", *CONTRIBUTED)],
)
def test_every_field_of_a_document_is_described(invoke, contributed, arguments):
    described = (Path(__file__).parents[2] / "docs" / "catalogue.md").read_text(encoding="utf-8")
    document = invoke("catalogue", *arguments, "--format=json").json
    assert [name for name in sorted(keys(document)) if f"`{name}`" not in described] == []
