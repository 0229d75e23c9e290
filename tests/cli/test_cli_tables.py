"""``arcademark report`` and ``arcademark compare`` as their user meets them."""

import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from arcademark.records.reading import read_run
from arcademark.scores.readers.base import Options
from arcademark.scores.readers.logs.tensorboard import read_events
from arcademark.scores.reading import read_tables

HEADER = "algorithm,game,run,score\n"
GOOD = HEADER + "".join(
    f"{name},{game},{run},{100 * skill + 10 * run + len(game)}\n"
    for name, skill in (("mine", 3), ("yours", 2))
    for game in ("pong", "qbert", "alien")
    for run in range(3)
)


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    return path


def test_every_form_of_a_score(invoke, good):
    shown = invoke("score", good, "--save", "pages/score.html", "--frames", "mine=200e6", code=0)
    assert "Summaries over 3 of the 57 games of atari-57" in shown.out
    assert "Learning efficiency" in shown.out
    assert "pages/score.html" in shown.out
    assert Path("pages/score.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    document = invoke("score", good, "--format=json").json
    assert document["schema"] == "arcademark.report/6"
    assert [item["name"] for item in document["algorithms"]] == ["mine", "yours"]
    tex = invoke("score", good, "--format=latex", "--all").out
    assert r"\toprule" in tex
    assert "Q*bert &" in tex
    only = invoke("score", good, "--format=json", "--algorithms", "yours", "--games", "pong,alien").json
    assert [item["name"] for item in only["algorithms"]] == ["yours"]
    assert [item["id"] for item in only["games"]] == ["alien", "pong"]
    single = invoke("score", good, "--format=json", "--normalize", "saber").json
    assert [item["metric"] for item in single["algorithms"][0]["summaries"]] == ["saber"]


@pytest.mark.parametrize("form", [(), ("--format", "latex"), ("--format", "markdown")])
def test_more_runs_and_single_runs_in_every_form(invoke, good, form):
    asked = ("--sequential", "--plan", "group=3,groups=2", "--plan", "alpha=10%,summary=median")
    shown = invoke("compare", good, *asked, *form).out
    assert "Whether more runs are needed" in shown
    assert "median HNS over 3 games" in " ".join(shown.split())
    single = invoke("score", good, "--tolerance", "90%", *form).words
    assert form == ("--format", "latex") or "takes 46 runs" in single  # LaTeX has tables only
    assert "Between which scores single runs lie" in single


def test_every_form_of_a_comparison(invoke, good):
    shown = invoke("compare", good, "yours", "mine", "--save", "compare.html", code=0)
    assert shown.out.startswith("yours against mine")
    assert "Does the conclusion hold under other choices?" in shown.out
    assert "<svg" in Path("compare.html").read_text(encoding="utf-8")
    document = invoke("compare", good, "--format=json").json
    assert document["schema"] == "arcademark.comparison/1"
    assert (document["pairs"][0]["first"], document["pairs"][0]["second"]) == ("mine", "yours")


def test_figures_of_a_comparison_are_written_in_the_style_asked_for(invoke, good):
    style = ("--style", "paper,width=3.3,font=sans", "--intervals", "resamples=50")
    shown = invoke("compare", good, "--save", "a.svg", "--save", "differences.PDF", *style, code=0)
    assert "svg: a.svg" in shown.words
    drawing = Path("a.svg").read_text(encoding="utf-8")
    assert all(f">{word}<" in drawing for word in ("mine", "yours", "Median", "human average"))
    assert float(re.search(r'<svg[^>]* width="([\d.]+)pt"', drawing)[1]) == pytest.approx(3.3 * 72, abs=0.1)
    assert Path("differences.PDF").read_bytes().startswith(b"%PDF")
    assert "--style applies to figures" in invoke("compare", good, "--style", "paper", code=2).err
    assert "55 inches wide: expected" in invoke("compare", good, "--save", "a.png", "--style", "width=55", code=2).err
    invoke("report", good, "--save", "heat.png", "--style", "screen", code=0)
    assert Path("heat.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_and_the_catalogue_are_tables_too(invoke, played):
    assert f"{played}: " in invoke("score", played, code=0).out
    others = ("--with", "catalogue:review-2021", "--games", "pong,qbert")
    compared = invoke("compare", played, "random", "Rainbow", *others, code=0)
    assert compared.out.startswith("random against Rainbow")
    assert "under different protocols" in compared.out


def test_a_table_through_a_pipe(invoke, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode()), encoding="utf-8"))
    shown = invoke("score", "-", "--export", "kept.csv", "--format=json", "--intervals", "resamples=10")
    assert (shown.code, shown.err) == (0, "kept.csv: 2 algorithms, 3 games\n")
    assert [item["name"] for item in shown.json["algorithms"]] == ["mine", "yours"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("form", [[], ["--format=json"], ["--format=latex"]])
def test_output_that_has_no_room(good, form):
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


def test_scores_are_written_for_tensorboard_and_refused_where_something_is(invoke, played):
    written = invoke("report", "run", "--quiet", "--tensorboard", "events")
    assert (written.code, written.err) == (0, "")
    files = sorted(Path("events").rglob("events.out.tfevents.*"))
    record = read_run("run")
    assert [path.parent for path in files] == [Path("events", trial.id) for trial in record.trials]
    for path, trial in zip(files, record.trials, strict=True):
        (log,) = read_events(path, Options(tag="evaluation/score"))
        assert log.values.tolist() == record.evaluation(trial).score.tolist()
    assert "already exists" in invoke("report", "run", "--tensorboard", "events", code=2).err


PAGE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_pages_commands_write_what_they_say(invoke, tmp_path):
    for name, text in re.findall(
        r"^<!-- file: (\w+\.csv) -->\n```csv\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL
    ):
        (tmp_path / name).write_text(text)
    commands = [line for line in PAGE.splitlines() if "--export" in line and line.startswith("arcademark")]
    assert len(commands) == 3
    for command in commands:
        invoke(*shlex.split(command, comments=True)[1:], "--intervals", "resamples=10", code=0)
    table = read_tables("dqn.parquet").table
    assert (table.algorithms, table.tasks, table.protocols) == (("DQN",), ("freeway", "pong"), ("machado-2018",))
    assert sorted(table.mean_over_runs()[0].tolist()) == [19.1, 31.8]
    wide = read_tables("wide.tsv").table
    assert wide.algorithms == ("DQN", "PPO")
    assert wide.scores.shape == (2, 3, 1)
    arrays = np.load("review.npz")
    assert arrays["Rainbow"].shape == (1, 36)
