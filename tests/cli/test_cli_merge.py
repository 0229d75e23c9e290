"""Shards of a plan, played one by one and merged."""

import sys
from pathlib import Path

import pytest

from arcademark.records.reading import read_run
from arcademark.runs.cluster.slurm import gather

SHORT = ("--games", "pong,freeway", "--episodes", "1", "--override", "max_frames_per_episode=200", "--seeds", "2")


def test_shards_are_played_and_merged(invoke):
    for number in (1, 2):
        invoke("run", "random", *SHORT, "--engine", f"shard={number}/2", code=0)
    together = invoke("report", "runs/random-1-of-2", "runs/random-2-of-2")
    assert invoke("report", "runs").out == together.out
    merged = invoke("runs", "merge", "runs/all", "runs/random-1-of-2", "runs/random-2-of-2", code=0)
    assert "4 of 4 trials done" in merged.words
    assert "nothing was left to play" in invoke("run", "random", *SHORT, "--out", "runs/all", code=0).err
    together = invoke("report", "runs/random-1-of-2", "runs/random-2-of-2", "--all")
    assert "2 games, 2 seeds" in together.out
    assert "[random" not in together.out
    assert "arcademark runs merge OUT runs/random-1-of-2" in together.words


def test_a_shard_that_is_left_out_is_missed(invoke):
    for number in (1, 3):
        asked = ("--games", "pong,freeway,qbert", *SHORT[2:-2], "--engine", f"shard={number}/3")
        assert invoke("run", "random", *asked, "--out", f"run/shards/{number}-of-3").code == 0
    shards = ("run/shards/1-of-3", "run/shards/3-of-3")
    (absent,) = {"pong", "freeway", "qbert"} - {trial.game for path in shards for trial in read_run(path).trials}
    with pytest.raises(SystemExit) as merged:
        gather(Path("run"), [sys.executable], [""])
    assert merged.value.code == 1
    again = invoke("runs", "merge", "run", *shards, code=1)
    assert "2 of 3 trials done" in again.words
    assert f"not done: random on {absent} with seed 0" in again.words
    for given in (["run"], shards):
        told = invoke("report", *given).words
        assert "1 trial of " in told
        assert "is not finished: 0 of 1 episodes are recorded so far" in told
        found = invoke("status", *given, "--format=json").json
        assert [trial["state"] for trial in found["trials"]].count("done") == 2
        assert [trial["id"].split("-")[1] for trial in found["trials"] if trial["state"] == "pending"] == [absent]
    assert [run["shard"] for run in found["runs"]] == [[1, 3], [3, 3]]
    assert "shards started 2 of 3" in invoke("status", "run/shards").words
