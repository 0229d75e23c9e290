"""A run that is submitted to the catalogue."""

import json
import tomllib
from pathlib import Path

import pytest

from altering import alter

PAPER = ("--entry", "paper=doe-2026,authors=Doe et al.,venue=Somewhere,year=2026", "--entry", "kind=baseline")


@pytest.mark.slow
def test_a_confirmed_run_becomes_a_collection(invoke, played, tmp_path):
    title = 'A "Title" \\ [x]\n</script>'
    assert '"files": {}' in invoke("catalogue", "submit", played, "--format=json", code=0).out
    found = invoke("catalogue", "submit", played, *PAPER, "--entry", f"title={title}", "--out", "submission", code=0)
    assert "4 of 4 recorded episodes gave their score again" in found.out
    folder = tmp_path / "submission"
    assert {path.name for path in folder.iterdir()} == {"doe-2026.toml", "doe-2026.csv", "sources.toml"}
    assert "2 scores of 1 algorithm on 2 games" in invoke("catalogue", "add", *folder.iterdir(), code=0).out
    assert found.out.isprintable() or "\x1b" not in found.out
    again = invoke("catalogue", "submit", played, *PAPER, "--entry", f"title={title}", "--out", "submission", code=2)
    assert "contains other files" in again.err


@pytest.mark.slow
def test_a_protocol_is_what_was_played_whatever_the_manifest_calls_it(invoke, played, tmp_path):
    """Changed settings that the manifest keeps quiet about, and fewer episodes than the protocol's."""
    path = played / "manifest.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["protocol"]["overrides"]
    document["protocol"]["overrides"] = {}
    path.write_text(json.dumps(document), encoding="utf-8")
    assert invoke("catalogue", "submit", played, *PAPER, "--entry", "title=A Title", "--out", "submission").code == 0
    (entry,) = tomllib.loads((tmp_path / "submission" / "doe-2026.toml").read_text(encoding="utf-8")).values()
    assert entry["protocol"] == ""
    assert entry["settings"]["averaged episodes"] == 2
    assert entry["settings"]["max episode length"] != "30 min"


def test_who_plans_is_submitted_as_planning(invoke, tmp_path):
    short = ("--override", "max_frames_per_episode=60", "--set", "simulations=2")
    assert invoke("run", "uct", "--games", "pong", "--episodes", 1, *short, "--out", "planned").code == 0
    paper = (*PAPER[:-1], "kind=value-based", "--entry", "title=A Title", "--out", "submission")
    assert "an agent of the run plans" in invoke("catalogue", "submit", "planned", *paper, code=1).out
    assert not (tmp_path / "submission").exists()


@pytest.mark.slow
def test_a_score_that_is_not_real(invoke, played, tmp_path):
    alter(played, "UPDATE episode SET score = score + 1 WHERE episode = 1")
    found = invoke("catalogue", "submit", played, *PAPER, "--entry", "title=A Title", "--out", "submission", code=1)
    assert "2 of 4 recorded episodes gave their score again" in found.out
    assert not (tmp_path / "submission").exists()


def test_a_run_with_a_failed_trial(invoke):
    agent = f"{Path(__file__).parents[1] / 'fakes' / 'raising.py'}:make_agent"
    assert invoke("run", agent, "--games", "pong", "--episodes", "1", "--out", "failed").code == 1
    found = invoke("catalogue", "submit", "failed", *PAPER, "--entry", "title=A Title", "--out", "submission", code=1)
    assert "0 of 1 episodes are recorded (failed)" in found.words


@pytest.mark.parametrize(
    "url",
    ["http://a.org/x", "https://a.org/'x'", 'https://a.org/"x"', "https://a.org/<b>", "https://a.org/ x", "https://"],
)
def test_a_papers_address_is_checked_before_anything_is_replayed_or_written(invoke, url, tmp_path):
    cite = ("--entry", "title=A Title", "--entry", f"url={url}")
    found = invoke("catalogue", "submit", tmp_path / "none", *PAPER, *cite, "--out", "submission", code=2)
    assert "expected an address that begins with https://, without spaces, quotes and angle brackets" in found.err
    assert not (tmp_path / "submission").exists()
