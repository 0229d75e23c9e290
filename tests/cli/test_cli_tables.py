"""``arcademark score`` and ``arcademark compare`` as their user meets them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HEADER = "algorithm,game,run,score\n"
GOOD = HEADER + "".join(
    f"{name},{game},{run},{100 * skill + 10 * run + len(game)}\n"
    for name, skill in (("mine", 3), ("yours", 2))
    for game in ("pong", "qbert", "alien")
    for run in range(3)
)
BAD_TABLES = {
    "duplicate": (HEADER + "a,pong,0,1\na,pong,0,2\n", ["row 3", "second score"]),
    "text": (HEADER + "a,pong,0,twelve\n", ["row 2", "'score'", "twelve"]),
    "unknown game": (HEADER + "a,pnog,0,1\n", ["row 2", "did you mean 'pong'"]),
    "infinite": (HEADER + "a,pong,0,inf\n", ["row 2", "inf"]),
    "control character": (HEADER + "a\x1b[31m,pong,0,1\n", ["row 2", "'algorithm'", "U+001B", "take it out"]),
    "quotation mark": (HEADER + 'a,pong,0,1\na,"pong,1,1\na,pong,2,1\n', ["row 3", "close it"]),
    "spread": (HEADER + "a,pong,0,18.9 (0.3)\n", ["row 2", "leave the spread out", "18.9"]),
    "other benchmark": (HEADER + "a,HalfCheetah-v4,0,1\n", ["row 2", "--references"]),
    "empty": ("", ["empty"]),
    "header only": (HEADER, ["no rows"]),
    "nothing but missing": (HEADER + "a,pong,0,NaN\n", ["no cell holds a score"]),
    "wrong columns": ("one,two\n1,2\n", ["row 1"]),
    "two protocols of one algorithm": (
        "algorithm,game,run,score,protocol\na,pong,0,1,saber\na,qbert,0,1,dqn-2015\n",
        ["row 3", "protocol"],
    ),
}
BAD_REFERENCES = {
    "no column": ("task,lo,high\npong,0,1\n", ["row 1", "'low'"]),
    "text": ("task,low,high\npong,0,x\n", ["row 2", "'high'"]),
    "equal": ("task,low,high\npong,1,1\n", ["row 2", "both 1"]),
    "twice": ("task,low,high\npong,0,1\npong,0,2\n", ["row 3", "row 2"]),
    "no row": ("task,low,high\n", ["no rows"]),
    "empty": ("", ["empty"]),
    "short row": ("task,low,high\npong,0\n", ["row 2", "2 cells"]),
    "no task": ("task,low,high\n ,0,1\n", ["row 2", "'task'"]),
    "of other tasks": ("task,low,high\nhopper,0,1\n", ["hopper", "none of the tasks"]),
}
BAD_OPTIONS = {
    "unknown algorithm": (["score", "good.csv", "--algorithms", "mien"], "did you mean 'mine'"),
    "unknown metric": (["score", "good.csv", "--metric", "hsn"], "did you mean 'hns'"),
    "unknown suite": (["score", "good.csv", "--suite", "atari-75"], "did you mean 'atari-57'"),
    "unknown game": (["score", "good.csv", "--games", "pnog"], "did you mean 'pong'"),
    "unknown protocol": (["score", "good.csv", "--protocol", "sabr"], "did you mean 'saber'"),
    "unknown method": (["score", "good.csv", "--intervals", "method=bca"], "symmetric"),
    "unknown format": (["score", "good.csv", "--read", "format=csvv"], "csvv"),
    "unknown collection": (["score", "catalogue:review"], "did you mean 'review-2021'"),
    "no such table": (["score", "nowhere.csv"], "nowhere.csv"),
    "no table": (["score"], "TABLE"),
    "frames": (["score", "good.csv", "--frames", "many"], "--frames"),
    "frames twice": (["score", "good.csv", "--frames", "1e6", "--frames", "2e6"], "twice"),
    "frames of nobody": (["score", "good.csv", "--frames", "mien=1e6"], "did you mean 'mine'"),
    "frames with a wrong unit": (["score", "good.csv", "--frames", "mine=20Q"], "as in --frames 200M"),
    "two benchmarks": (["score", "good.csv", "--suite", "ale-55", "--references", "good.csv"], "leave one out"),
    "name that is empty": (["score", ""], "the name of a table is empty"),
    "two forms": (["score", "good.csv", "--to=json", "--to=latex"], "choose one"),
    "page is a folder": (["score", "good.csv", "--to", "."], "ends with .html"),
    "two forms of a comparison": (["compare", "good.csv", "--to=json", "--to=latex"], "choose one"),
    "itself": (["compare", "good.csv", "mine", "mine"], "not compared with itself"),
    "one only": (["compare", "good.csv", "mine"], "name another"),
    "nobody": (["compare", "good.csv", "mine", "yuors"], "did you mean 'yours'"),
    "plan without a test": (["compare", "good.csv", "--plan", "groups=3"], "--plan says how to test with --sequential"),
    "summary without a test": (["compare", "good.csv", "--plan", "summary=mean"], "--plan"),
    "plan that decides nothing": (
        ["compare", "good.csv", "--sequential", "--plan", "group=1"],
        "larger or more groups",
    ),
    "alpha": (["compare", "good.csv", "--sequential", "--plan", "alpha=0"], "--plan alpha=0"),
    "share of all runs": (["score", "good.csv", "--tolerance", "100%"], "share of runs 1"),
    "draws": (["compare", "good.csv", "--intervals", "resamples=0"], "--intervals resamples=0"),
}


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    return path


@pytest.mark.parametrize(("text", "named"), BAD_TABLES.values(), ids=BAD_TABLES)
@pytest.mark.parametrize("command", ["score", "compare"])
def test_a_damaged_table_is_answered_in_one_line(
    invoke: Callable[..., Any], tmp_path: Path, command: str, text: str, named: list[str]
) -> None:
    (tmp_path / "bad.csv").write_text(text, encoding="utf-8")
    answer = invoke(command, "bad.csv", "--to", "page.html")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert all(word in answer.err for word in ["bad.csv", *named])
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize(("text", "named"), BAD_REFERENCES.values(), ids=BAD_REFERENCES)
def test_damaged_references_are_answered_in_one_line(
    invoke: Callable[..., Any], good: Path, text: str, named: list[str]
) -> None:
    Path("references.csv").write_text(text)
    answer = invoke("score", "good.csv", "--references", "references.csv")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert all(word in answer.err for word in ["references.csv", *named])


@pytest.mark.parametrize(("arguments", "named"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_options_are_answered_in_one_line(
    invoke: Callable[..., Any], good: Path, arguments: list[str], named: str
) -> None:
    answer = invoke(*arguments)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert named in answer.err
    assert sorted(path.name for path in good.parent.iterdir()) == ["good.csv"]


def test_every_form_of_a_score(invoke: Callable[..., Any], good: Path) -> None:
    shown = invoke("score", good, "--to", "pages/score.html", "--frames", "mine=200e6")
    assert shown.code == 0
    assert "Summaries over 3 of the 57 games of atari-57" in shown.out
    assert "Learning efficiency" in shown.out
    assert "pages/score.html" in shown.out
    assert Path("pages/score.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    document = json.loads(invoke("score", good, "--to=json").out)
    assert document["schema"] == "arcademark.report/4"
    assert [item["name"] for item in document["algorithms"]] == ["mine", "yours"]
    tex = invoke("score", good, "--to=latex", "--all").out
    assert r"\toprule" in tex
    assert "Q*bert &" in tex
    only = json.loads(invoke("score", good, "--to=json", "--algorithms", "yours", "--games", "pong,alien").out)
    assert [item["name"] for item in only["algorithms"]] == ["yours"]
    assert [item["id"] for item in only["games"]] == ["alien", "pong"]
    single = json.loads(invoke("score", good, "--to=json", "--metric", "saber").out)
    assert [item["metric"] for item in single["algorithms"][0]["summaries"]] == ["saber"]


@pytest.mark.parametrize("form", [(), ("--to", "latex"), ("--to", "markdown")])
def test_more_runs_and_single_runs_in_every_form(invoke: Callable[..., Any], good: Path, form: tuple[str, ...]) -> None:
    asked = ("--sequential", "--plan", "group=3,groups=2", "--plan", "alpha=10%,summary=median")
    shown = invoke("compare", good, *asked, *form).out
    assert "Whether more runs are needed" in shown
    assert "median HNS over 3 games" in " ".join(shown.split())
    single = " ".join(invoke("score", good, "--tolerance", "90%", *form).out.split())
    assert form == ("--to", "latex") or "takes 46 runs" in single  # LaTeX has tables only
    assert "Between which scores single runs lie" in single


def test_every_form_of_a_comparison(invoke: Callable[..., Any], good: Path) -> None:
    shown = invoke("compare", good, "yours", "mine", "--to", "compare.html")
    assert shown.code == 0
    assert shown.out.startswith("yours against mine")
    assert "Does the order change" in shown.out
    assert "<svg" in Path("compare.html").read_text(encoding="utf-8")
    document = json.loads(invoke("compare", good, "--to=json").out)
    assert document["schema"] == "arcademark.comparison/1"
    assert (document["pairs"][0]["first"], document["pairs"][0]["second"]) == ("mine", "yours")


def test_a_run_and_the_catalogue_are_tables_too(invoke: Callable[..., Any], played: Path) -> None:
    scored = invoke("score", played)
    assert scored.code == 0
    assert f"{played}: " in scored.out
    others = ("--with", "catalogue:review-2021", "--games", "pong,qbert")
    compared = invoke("compare", played, "random", "Rainbow", *others)
    assert compared.code == 0
    assert compared.out.startswith("random against Rainbow")
    assert "under different protocols" in compared.out


def test_a_benchmark_of_ones_own(invoke: Callable[..., Any], tmp_path: Path) -> None:
    Path("mujoco.csv").write_text("algorithm,task,run,score\nsac,Hopper-v4,0,1500\nsac,Ant-v4,0,3000\n")
    Path("references.csv").write_text("task,low,high\nHopper-v4,0,3000\nAnt-v4,0,6000\n")
    shown = invoke("score", "mujoco.csv", "--references", "references.csv", "--all")
    assert shown.code == 0
    assert "50.0\N{NO-BREAK SPACE}%" in shown.out
    assert "Hard-exploration" not in shown.out


def test_short_ways_to_say_it(invoke: Callable[..., Any], good: Path) -> None:
    shown = invoke(
        "score", good, "--algorithms", "YOURS", "--frames", "Yours=200M", "--to=json", "--intervals", "resamples=10"
    )
    assert shown.code == 0
    assert [(a["name"], a["training_frames"]) for a in json.loads(shown.out)["algorithms"]] == [("yours", 200_000_000)]


def test_a_table_through_a_pipe(invoke: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode()), encoding="utf-8"))
    shown = invoke("score", "-", "--export", "kept.csv", "--to=json", "--intervals", "resamples=10")
    assert (shown.code, shown.err) == (0, "kept.csv: 2 algorithms, 3 games\n")
    assert [item["name"] for item in json.loads(shown.out)["algorithms"]] == ["mine", "yours"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("form", [[], ["--to=json"], ["--to=latex"]])
def test_output_that_has_no_room(good: Path, form: list[str]) -> None:
    call = "from arcademark.cli.main import main; main()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", call, "score", good, "--intervals", "resamples=10", *form],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("arcademark: cannot write (No space left")


@pytest.mark.slow
def test_a_million_rows(invoke: Callable[..., Any], tmp_path: Path) -> None:
    games = ("pong", "qbert", "alien", "amidar", "assault")
    with Path("large.csv").open("w", encoding="utf-8") as file:
        file.write(HEADER)
        for name in range(20):
            for game in games:
                file.writelines(f"a{name},{game},{run},{run % 997 + name}\n" for run in range(10_000))
    shown = invoke("score", "large.csv", "--intervals", "resamples=20")
    assert shown.code == 0
    assert "1,000,000 rows" in shown.out


def test_runs_and_files_are_compared_side_by_side(invoke: Callable[..., Any], good: Path, played: Path) -> None:
    beside = invoke("compare", "run", "good.csv", "random", "mine", "--to=json")
    assert beside.code == 0, beside.err
    assert beside.out == invoke("compare", "run", "--with", "good.csv", "random", "mine", "--to=json").out
    refused = invoke("compare", "run", "random", "missing.csv")
    assert refused.code == 2
    assert "missing.csv" in refused.err


def test_a_published_model_goes_with_its_own_benchmark(invoke):
    for command in (
        ("score", "catalogue:review-2021", "--suite", "atari-100k"),
        ("report", "catalogue:ale-2013", "--suite", "ale-55"),
    ):
        answer = invoke(*command, "--model", "atari-5")
        assert answer.code == 2
        assert "atari-5 estimates the median of atari-57; leave the model out" in answer.err
