"""What the leaderboard's pages are drawn from, and what they are made of."""

import fnmatch
import hashlib
import re
import tomllib
from pathlib import Path

import pytest

import arcademark
from arcademark.analysis.subsets import predictors
from arcademark.catalogue import collections
from arcademark.operations.info import documents
from arcademark.pages.render import json as schemas
from arcademark.pages.render import pages as render
from json_schema import problems

pytestmark = pytest.mark.slow

PACKAGE = Path(arcademark.__file__).parent
MAX_BYTES = 4_000_000


def row(data, name):
    return next(item for item in data["algorithms"] if item["name"] == name)


def test_the_data_fit_their_schema(data):
    schema = schemas.schema(documents()["arcademark.site/1"])
    assert problems(data, schema, schema) == []


def test_summaries_are_those_of_score(data):
    report = arcademark.report("catalogue:review-2021", algorithms="GDI-H3")
    (item,) = report.algorithms
    found = row(data, "GDI-H3")["standings"]["atari-57"]["summaries"]
    for summary in item.summaries:
        for name in ("mean", "median", "iqm", "optimality_gap"):
            assert found[summary.metric][name] == [getattr(summary, name).value]


def test_few_games_are_set_beside_the_truth_learnt_without_the_paper(data):
    found = row(data, "Muesli")
    (item,) = arcademark.predict("catalogue:review-2021", games="atari-5", algorithms="Muesli").predictions
    told = item.forecast.summaries["median"]
    named = {name: predictors.atari().group(name) for name in ("Rainbow (Dopamine)", "rainbow", "Mine")}
    assert named == {"Rainbow (Dopamine)": "castro-2018", "rainbow": "hessel-2018", "Mine": None}
    assert found["predicted"] == pytest.approx([told.value, told.low, told.high], rel=1e-9)
    assert found["standings"]["atari-57"]["summaries"]["hns"]["median"] == [pytest.approx(item.truth["median"])]
    assert row(data, "random")["predicted"] == []
    assert row(data, "random")["estimate"]["title"] == "2 games"


def test_badges_say_what_is_known(data):
    assert row(data, "random")["badges"] == ["yours", "replayed"]
    assert row(data, "random")["replay"]["confirmed"] == 8
    assert row(data, "GDI-H3")["badges"] == ["as-published", "errata"]
    assert row(data, "DIAMOND")["badges"] == ["per-seed"]


def test_what_the_catalogue_knows_of_an_algorithm_is_shown_whatever_it_is_called_there(data):
    """Where some collections alone are shown, a name needs no source beside it."""
    for name, entry in collections.select(["review-2021", "diamond-2024", "iris-2023"]).items():
        if entry.kind not in ("reference", "baseline") and not entry.unavailable:
            found = row(data, name)
            assert (found["year"], found["kind"]) == (entry.year, entry.kind)
            assert found["badges"] != []


def test_only_known_protocols_are_ranked(data):
    for group in data["groups"]:
        assert group["known"] == ("not known" not in group["settings"].values())
    alike = {tuple(group["settings"].values()) for group in data["groups"]}
    assert len(alike) == len(data["groups"])
    sticky = data["groups"][row(data, "random")["group"]]["settings"]
    assert sticky["sticky actions"] == "0.25"
    assert sticky["max episode length"] == "600 frames"


def test_films_and_curves_are_of_runs(data, pages):
    films = [film for item in data["algorithms"] for film in item["films"]]
    assert {film["game"] for film in films} == {"pong", "qbert", "freeway"}
    for film in films:
        assert (pages / film["file"]).read_bytes().startswith(b"GIF89a")
        assert film["shown"] <= film["frames"]
    assert [curve["game"] for curve in row(data, "sarsa(features=ram-bits)")["curves"]] == ["freeway"]


def test_everything_is_small(pages):
    assert sum(path.stat().st_size for path in pages.rglob("*") if path.is_file()) < MAX_BYTES


def test_no_data_ends_a_script():
    written = render.script({"name": "</script><!--\u2028"})
    assert "<" not in written
    assert written.isascii()


def test_parts_of_others_are_unchanged():
    folder = PACKAGE / "pages" / "templates" / "site" / "vendor"
    listed = dict(
        re.findall(r"^\| (\S+) \|.*\| ([0-9a-f]{64}) \|$", (folder / "VENDORED.md").read_text(), re.MULTILINE)
    )
    assert set(listed) == set(render.VENDORED) == {path.name for path in folder.glob("*.js")}
    for name, digest in listed.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


def test_the_wheel_has_every_file():
    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["arcademark"]
    files = [path for folder in ("pages", "wording") for path in (PACKAGE / folder / "templates").rglob("*")]
    assert len(files) > 40
    for path in files:
        name = path.relative_to(PACKAGE).as_posix()
        assert path.is_dir() or any(
            fnmatch.fnmatch(name, pattern) and name.count("/") == pattern.count("/") for pattern in patterns
        )
