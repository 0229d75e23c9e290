"""Texts of others on a terminal, in pages and in files: shown as they are where they can be, and harmless always."""

import csv
import io
import json
import os
import re
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import altering
from arcademark.cli import messages
from arcademark.cli.play.progress import Display
from arcademark.pages.columns import Column
from arcademark.pages.render import terminal
from arcademark.pages.render.blocks import Cell, Document, Table
from arcademark.pages.render.layout import Console, Text
from arcademark.records.model import TrialRecord

HOSTILE = "\x1b]0;owned\x07\x1b[31m[bold]x[/]:smile:\n\u202e\u009b\u2028\u200b"
NAMES = ("PPO [ours]", "PPO [a]", "[/]", ":smile:", r"$\frac{$", r"\input{/etc/passwd}", "50 % $a_1$", "a\u200bb<b>")
FILE = os.fsdecode(b"x\x1b[31m\xff[b]\n\xc2\x9b.csv")
FILE_ESCAPED = r"x\x1b[31m\udcff[b]\n\x9b.csv"


@pytest.fixture
def shown(invoke):
    """Run a command and check that both streams hold nothing but what can be seen, and line breaks."""

    def call(*arguments):
        answer = invoke(*arguments)
        assert answer.code in (0, 1, 2), arguments
        for text in (answer.out, answer.err):
            assert all(char.isprintable() or char in "\n\xa0" for char in text), arguments
        assert "Traceback" not in answer.err
        assert answer.code != 2 or answer.err.split("\n")[-2].startswith("arcademark: ")
        return answer

    return call


def write_table(path, names=NAMES, tasks=("pong", "qbert", "alien")):
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("algorithm", "task", "run", "score"))
        rows.writerows(
            (name, task, run, 10 + 7 * i + j + 1.5 * run)
            for i, name in enumerate(names)
            for j, task in enumerate(tasks)
            for run in range(2)
        )


@pytest.mark.slow
def test_names_are_text_in_every_form_of_a_table(shown):
    write_table("t.csv")
    brief = ("--intervals", "resamples=10")
    told = shown("score", "t.csv", "--all", "--save", "s.html", *brief).out
    compared = shown("compare", "t.csv", "--all", "--save", "c.html", *brief).out
    pair = shown("compare", "t.csv", "PPO [ours]", "PPO [a]", *brief).out
    assert pair.startswith("PPO [ours] against PPO [a]\n")
    for name in ("PPO [ours]", "PPO [a]", "[/]", ":smile:", r"$\frac{$", r"a\u200bb<b>"):
        assert name in told
        assert name in compared
    for page in (Path("s.html").read_text(), Path("c.html").read_text()):
        assert r"$\frac{$" in page
        assert r"a\u200bb&lt;b&gt;" in page
        assert "<b>" not in page
        assert all(link.startswith(("http", "#")) for link in re.findall(r'href="([^"]*)', page))
    latex = shown("score", "t.csv", "--format=latex", "--all", *brief).out
    assert r"\textbackslash{}input\{/etc/passwd\}" in latex
    assert r"a\textbackslash{}u200bb" in latex
    assert not re.search(r"\\(input|frac)", "".join(line for line in latex.split("\n") if not line.startswith("%")))
    assert {item["name"] for item in shown("score", "t.csv", "--format=json", *brief).json["algorithms"]} == {*NAMES}


@pytest.mark.slow
def test_tasks_of_a_benchmark_of_ones_own_are_text_too(shown):
    tasks = ("[/]", "$x$ [a]", r"\input{x}", ":smile:")
    write_table("t.csv", ("PPO [a]", "[/]", "other"), tasks)
    Path("r.csv").write_text("task,low,high\n" + "".join(f"{task},0,100\n" for task in tasks))
    own = ("--references", "r.csv", "--intervals", "resamples=10")
    for command in (("score", "t.csv", "--all"), ("compare", "t.csv", "PPO [a]", "[/]", "--all", "--save", "c.html")):
        told = shown(*command, *own)
        assert all(task in told.out for task in tasks)
    search = ("subset", "search", "t.csv", *own[:2], "--set", "minimum_tasks=2,minimum_algorithms=2,folds=2")
    assert "[/]" in shown(*search, "--size", 1).out


@pytest.mark.slow
def test_names_of_files_are_shown_escaped_and_can_be_written(shown):
    write_table(FILE)
    assert FILE_ESCAPED in shown("score", FILE, "--intervals", "resamples=10").out
    brief = ("--intervals", "resamples=10")
    assert shown("score", FILE, "--format=json", *brief).json["sources"][0].startswith(FILE)
    assert shown("score", FILE, "--save", f"{FILE}.html", *brief).code == 0
    assert r"x\x1b[31m\udcff[b]" in Path(f"{FILE}.html").read_text()
    assert FILE_ESCAPED in shown("score", FILE, "--export", f"2{FILE}").err
    for command in ("verify", "watch", "run", "reproduce", "info", "nothing"):
        assert shown(command, FILE).code == 2
    for arguments in (("run", "random", f"--{FILE}"), (FILE,), ("info", "games", FILE)):
        assert FILE_ESCAPED in shown(*arguments).err


def commands(run):
    short = ("--override", "max_frames_per_episode=600")
    yield from (
        ("report", run),
        ("report", run, "--format=json"),
        ("report", run, "--save", "page.html"),
        ("verify", run),
    )
    yield from (("runs", "ledger", run, "--all"), ("score", run), ("watch", run, "--only=game=qbert"))
    yield ("run", "random", "--games", "pong,qbert", "--episodes", 2, *short, "--out", run)


@pytest.mark.slow
def test_texts_of_a_store_steer_no_terminal(shown, played):
    texts = {"agent": "trial", "error": "trial", "game": "trial", "id": "trial", "begun": "evaluation"}
    for column, of in texts.items():
        shutil.copytree(played, column)
        with altering.database(Path(column)) as database:
            database.execute(f"UPDATE {of} SET {column} = ? || rowid", (HOSTILE,))
            database.execute("DELETE FROM episode WHERE episode = 1")
            database.execute("UPDATE evaluation SET episodes = 1")
        if column == "error":
            assert r"\x1b]0;owned\x07\x1b[31m[bold]x" in shown("report", column).out
            assert repr(repr(HOSTILE)[1:-1])[1:-1] in str(shown("report", column, "--format=json").json)
            shown("subset", "predict", column)
        for command in commands(column):
            shown(*command)


@pytest.mark.slow
def test_texts_of_a_manifest_steer_no_terminal(shown, played):
    def replaced(value):
        match value:
            case str():
                return f"{HOSTILE}\ud800"
            case list():
                return [replaced(item) for item in value]
            case dict():
                return {key: replaced(item) for key, item in value.items()}
        return value

    manifest = json.loads((played / "manifest.json").read_text())
    protocol = manifest["protocol"]
    told = [manifest | {key: replaced(value)} for key, value in manifest.items()]
    told += [manifest | {"protocol": protocol | {key: replaced(value)}} for key, value in protocol.items()]
    told += [manifest | {"left_out": [[HOSTILE, "pong", HOSTILE]]}, manifest | {"games": {HOSTILE: HOSTILE}}]
    for document in told:
        (played / "manifest.json").write_text(json.dumps(document))
        shown("report", played)
        shown("runs", "ledger", played, "--all")
    for name in ("versions", "machine", "emulators"):
        (played / "manifest.json").write_text(json.dumps(manifest | {name: {}}))
        assert shown("report", played, "--all").code == 0


def test_styles_are_all_that_steers_a_terminal():
    console = Console(file=io.StringIO(), width=60, force_terminal=True, color_system="truecolor")
    row = (Cell(HOSTILE, "strong"), Cell(HOSTILE), Cell(HOSTILE, below="[/]"))
    columns = (Column("name", str, kind="name"), Column("two lines", str), Column(HOSTILE, str))
    terminal.render(Document("Names", "test", "", (Table(columns, (row,)),)), console)
    for text in (Text("a") + HOSTILE, Text.assemble(HOSTILE, (HOSTILE, "red"))):
        console.print(text, crop=False)
    console.print(HOSTILE, style="red")
    display = Display(console)
    display.hear(TrialRecord("id", "PPO [/]", HOSTILE, 0, 1, None, error=HOSTILE))
    written = console.file.getvalue()
    plain = re.sub(r"\x1b\[[0-9;]*m", "", written)
    assert all(char.isprintable() or char == "\n" for char in plain)
    assert (plain.count("owned"), plain.count("[bold]"), plain.count("PPO [/]")) == (10, 10, 1)
    assert "two\n" not in plain
    rows = [line for line in plain.split("\n") if line.startswith((r"\x1b]0;owned", "name"))]
    assert len(rows) >= 2


def test_a_document_is_the_same_after_it_was_printed(capsys):
    document = {"name": f"{HOSTILE} é\ud800\U000e0001", "numbers": [1.5, None]}
    messages.print_json(document)
    printed = capsys.readouterr().out
    assert json.loads(printed) == document
    assert all(char.isprintable() or char == "\n" for char in printed)
    assert "é" in printed


@pytest.mark.slow
def test_a_drawing_is_well_formed_and_keeps_names(invoke):
    from arcademark.pages.figures import files
    from arcademark.pages.figures.model import CurveFigure, CurvePanel, Curves

    name = ' id="x" #fdfcf9 url(#y) $\\frac{$ \x1b\x9b <b> 日本語'
    curve = CurveFigure((1.0, 2.0), (1.0, 2.0))
    model = Curves((CurvePanel(name, name, (1.0, 2.0), (0.0, 2.0), ((1.0, "1"),), (), (curve,)),), legend=((name, 0),))
    drawing = files.themed(files.as_svg(files.draw(model), "a"))
    texts = "".join(ElementTree.fromstring(drawing).itertext())
    assert name.strip().replace("\x1b\x9b", r"\x1b\x9b") in texts
    assert files.file(model, ".pdf", "a").startswith(b"%PDF")
    assert files.file(model, ".png", "a").startswith(b"\x89PNG")
