"""What README, documentation, paper and leaderboard print of errors of estimates is what is computed, and the same."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- bench/estimates.py --unseen -->\n", "\n<!-- end -->"


def page(*place):
    return (ROOT.joinpath(*place)).read_text(encoding="utf-8")


def printed_rows(text, begin):
    """Return the rows of a table between marks, by their cells."""
    inside = text.partition(begin)[2].partition(END)[0]
    heading, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in inside.splitlines())
    return [dict(zip(heading, row, strict=True)) for row in rows]


ROWS = printed_rows(page("docs", "estimates.md"), BEGIN)


@pytest.fixture(scope="module")
def bench():
    sys.path.insert(0, str(ROOT / "bench"))
    import unseen

    yield unseen
    sys.path.remove(str(ROOT / "bench"))


@pytest.mark.slow
def test_the_table_of_games_against_error_is_what_is_computed(bench):
    every = [one for one in bench.read() if not one.reason]
    table = "\n".join(bench.lines(every, 20, everything=False))
    assert printed_rows(f"{BEGIN}{table}{END}", BEGIN) == ROWS


def test_errors_on_unseen_algorithms_are_the_same_everywhere():
    """Of five, ten and fourteen games: the error, over algorithms and over sources, and intervals that cover."""
    by_name = {row["from"].strip("`"): row for row in ROWS}
    five, ten, fourteen = (by_name[f"atari-{size}"] for size in (5, 10, 14))
    for text in (page("README.md"), page("src", "arcademark", "pages", "templates", "site", "site.js")):
        words = " ".join(text.split())
        assert f"{error(five)} %" in words
        assert f"{error(ten)} % from ten and {error(fourteen)} % from fourteen" in words
        covered = [row["intervals covered"].split()[0] for row in (five, ten, fourteen)]
        assert f"{covered[0]}, {covered[1]} and {covered[2]} of {five['intervals covered'].split()[2]}" in words
    paper = page("paper", "paper.md").replace("\N{NO-BREAK SPACE}", " ")
    for name, row in (("atari-5", five), ("atari-10", ten), ("atari-14", fourteen)):
        cells = [name, f"{error(row)} %", row["by source"], row["nine of ten within"], row["intervals covered"]]
        assert f"| {' | '.join([*cells, row['covered by source']])} |" in paper


def error(row):
    return row["error"].split()[0]


def test_what_choosing_anew_gave_is_the_same_in_the_paper(bench):
    import choosing

    results = json.loads(page("paper", "data", "results.json"))
    assert page("docs", "research", "choosing.md").partition(f"{choosing.BEGIN}\n")[2].partition(END)[0] == "\n".join(
        choosing.lines(results["choosing"])
    )


def test_the_check_by_others_is_printed_as_it_was_recorded():
    text = page("docs", "research", "choosing.md")
    for row in csv.DictReader(page("paper", "data", "outside.csv").splitlines()):
        numbers = [value for name, value in row.items() if name not in ("games", "by") and value]
        (line,) = [
            line for line in text.splitlines() if line.replace("`", "").startswith(f"| {row['games']}, {row['by']} |")
        ]
        assert re.findall(r"\d+\.?\d*", line.partition(row["by"])[2]) == numbers


@pytest.mark.slow
def test_the_bench_judges_other_files(bench, tmp_path):
    """Each algorithm once; of another source what has the same scores is the same, and a few games give no truth."""
    (one,) = [one for one in bench.read() if one.name == "STACX"]
    lines = ["algorithm,game,score,source", *(f"mine,{game},{score},here" for game, score in one.scores.items())]
    lines += [line.replace("here", "there") for line in lines[1:]] + ["few,pong,3,here"]
    (tmp_path / "new.csv").write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, ROOT / "bench" / "estimates.py", "--unseen", tmp_path / "new.csv"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.startswith("1 algorithms of 1 sources\n")
    assert "few of here has no truth: without freeway" in shown
    (row,) = [line for line in shown.splitlines() if line.startswith("| 5 | `atari-5` |")]
    (told,) = bench.by_ours(bench.subset("atari-5").tasks, [one])
    assert f"| {100 * told.error:.1f} % |" in row
