"""Shards of a plan, played one by one and merged."""

from pathlib import Path

SHORT = ("--games", "pong,freeway", "--episodes", "1", "--override", "max_frames_per_episode=200", "--seeds", "2")


def test_shards_are_played_and_merged(invoke):
    for number in (1, 2):
        played = invoke("run", "random", *SHORT, "--shard", f"{number}/2")
        assert played.code == 0, played.err
    together = invoke("report", "runs/random-1-of-2", "runs/random-2-of-2")
    assert invoke("report", "runs").out == together.out
    merged = invoke("merge", "runs/all", "runs/random-1-of-2", "runs/random-2-of-2")
    assert merged.code == 0
    assert "4 of 4 trials done" in " ".join(merged.out.split())
    again = invoke("run", "random", *SHORT, "--out", "runs/all")
    assert again.code == 0
    assert "nothing was left to play" in again.err
    together = invoke("report", "runs/random-1-of-2", "runs/random-2-of-2", "--all")
    assert "2 games, 2 seeds" in together.out
    assert "[random" not in together.out
    assert "arcademark merge OUT runs/random-1-of-2" in " ".join(together.out.split())


def test_what_makes_no_sense_is_refused(invoke):
    for given, told in (
        (("run", "random", *SHORT, "--shard", "5/4"), "K from 1 to N, and N at most the number of trials, 4"),
        (("run", "random", *SHORT, "--shard", "third"), "expected the shard's number"),
        (("run", "random", *SHORT, "--shard", "1/2", "--until-error", "50%"), "--shard and --until-error"),
        (("merge", "runs/all", "runs/none"), "no such directory"),
    ):
        refused = invoke(*given)
        assert refused.code == 2
        assert told in refused.err
    assert not Path("runs").exists()
