"""Damage is told line by line, and what is intact becomes a run; episodes are exported for other tools."""

from pathlib import Path

import pytest

from altering import alter

SHORT = ("--games", "pong", "--episodes", "2", "--override", "max_frames_per_episode=200", "--out", "runs/it")


@pytest.fixture
def run(invoke):
    assert invoke("run", "random", *SHORT).code == 0
    return Path("runs/it")


def test_a_damaged_run_is_salvaged_and_continued(invoke, run):
    assert invoke("runs", "check", run).out.startswith("runs/it: nothing is damaged")
    alter(run, "UPDATE episode SET steps = 3 WHERE episode = 1")
    assert "its actions are damaged" in invoke("runs", "check", run, code=1).words
    document = invoke("runs", "check", run, "--format=json").json
    assert (document["ok"], len(document["problems"]), document["salvaged"]) == (False, 1, None)
    new = invoke("runs", "check", run, "--salvage", "runs/json", "--format=json").json["salvaged"]
    assert new == {"directory": "runs/json", "episodes": 1, "trials": 1, "done": 0}
    salvaged = invoke("runs", "check", run, "--salvage", "runs/new", code=1)
    assert "1 intact episode, 0 of 1 trial done" in salvaged.words
    assert invoke("run", "random", *SHORT[:-1], "runs/new").code == 0
    assert invoke("runs", "check", "runs/new").code == 0
    assert invoke("runs", "check", "runs/none").code == 2


@pytest.mark.parametrize("actions", [False, True])
def test_episodes_are_exported_as_recorded(invoke, run, actions):
    from pyarrow import parquet

    from arcademark.records.reading import read_actions, read_run

    done = invoke("runs", "export", run.parent, "--out", "out/episodes.parquet", *(["--actions"] if actions else []))
    assert (done.code, done.out) == (0, "out/episodes.parquet: 2 episodes\n")
    record = read_run(run)
    for row, episode in zip(parquet.read_table("out/episodes.parquet").to_pylist(), record.episodes, strict=True):
        trial = record.trials[0]
        assert row.pop("actions", b"") == (
            bytes(read_actions(run, trial.id, episode.episode).tolist()) if actions else b""
        )
        where = {"run": "runs/it", "protocol": record.protocol.label, "trial": trial.id, "game": "pong", "seed": 0}
        assert row == where | {"agent": "random"} | {
            name: getattr(episode, name) for name in row if name not in (*where, "agent")
        }
        assert len(row) == 14
    assert "already exists" in invoke("runs", "export", run, "--out", "out/episodes.parquet").err
    assert "expected a file named *.parquet" in invoke("runs", "export", run, "--out", "out/episodes.csv").err
