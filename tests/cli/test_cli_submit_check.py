"""A run that is submitted to the catalogue."""

import contextlib
import sqlite3
from pathlib import Path

import pytest

PAPER = (
    "--paper",
    "doe-2026",
    "--authors",
    "Doe et al.",
    "--venue",
    "Somewhere",
    "--year",
    "2026",
    "--kind",
    "baseline",
)


def test_a_confirmed_run_becomes_a_collection(invoke, played, tmp_path):
    title = 'A "Title" \\ [x]\n</script>'
    found = invoke("submit-check", played, *PAPER, "--title", title, "--out", "submission")
    assert found.code == 0, found.err
    assert "4 of 4 recorded episodes replayed to their score" in found.out
    folder = tmp_path / "submission"
    assert {path.name for path in folder.iterdir()} == {"doe-2026.toml", "doe-2026.csv", "sources.toml"}
    added = invoke("catalogue", "add", *folder.iterdir())
    assert added.code == 0
    assert "2 scores of 1 algorithm on 2 games" in added.out
    assert found.out.isprintable() or "\x1b" not in found.out
    again = invoke("submit-check", played, *PAPER, "--title", title, "--out", "submission")
    assert again.code == 2
    assert "holds other files" in again.err


def test_a_run_can_be_checked_alone(invoke, played):
    found = invoke("submit-check", played, "--json")
    assert found.code == 0
    assert '"files": {}' in found.out


def test_a_score_that_is_not_real(invoke, played, tmp_path):
    with contextlib.closing(sqlite3.connect(played / "run.sqlite")) as database, database:
        database.execute("UPDATE episode SET score = score + 1 WHERE episode = 1")
    found = invoke("submit-check", played, *PAPER, "--title", "A Title", "--out", "submission")
    assert found.code == 1
    assert "2 of 4 recorded episodes replayed" in found.out
    assert not (tmp_path / "submission").exists()


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "x" * 101])
def test_names_that_are_no_text(invoke, played, tmp_path, name):
    found = invoke("submit-check", played, *PAPER, "--title", "A Title", "--name", name, "--out", "submission")
    assert found.code == 1
    assert "1 finding" in found.out
    assert not (tmp_path / "submission").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--paper", "doe-2026"), "--paper, --kind and --out go together"),
        (("--authors", "Doe"), "go together"),
        ((*PAPER, "--title", "T", "--out", ".", "--paper", "../doe"), "--paper '../doe': expected"),
    ],
)
def test_options_that_belong_together(invoke, played, options, told):
    found = invoke("submit-check", played, *options)
    assert found.code == 2
    assert told in found.err or "holds other files" in found.err


def test_a_run_with_a_failed_trial(invoke):
    agent = f"{Path(__file__).parents[1] / 'fakes' / 'raising.py'}:make_agent"
    assert invoke("run", agent, "--games", "pong", "--episodes", "1", "--out", "failed").code == 1
    found = invoke("submit-check", "failed", *PAPER, "--title", "A Title", "--out", "submission")
    assert found.code == 1
    assert "0 of 1 episodes are there (failed)" in " ".join(found.out.split())
