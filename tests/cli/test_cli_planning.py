"""Planners on the command line: played by their names, their decisions and simulated frames told."""

import json
from pathlib import Path

UCT = ("run", "uct", "--games", "seaquest", "--protocol", "ale-2013", "--set", "simulations=8")
SHORT = ("--set", "horizon_frames=50", "--override", "max_frames_per_episode=60", "--episodes", "1")


def test_a_planner_is_played_verified_and_watched(invoke):
    played = invoke(*UCT, *SHORT)
    assert played.code == 0, played.err
    assert "1 episode, 12 decisions, 60 frames played and " in played.err
    words = " ".join(played.out.split())
    assert "Planning on the emulator" in words
    assert "ale-2013 counts those of the episodes played: 60." in words
    assert "UCT" in Path("runs/uct-ale-2013/manifest.json").read_text().upper()
    document = json.loads(invoke("report", "runs/uct-ale-2013", "--to=json").out)
    (score,) = document["algorithms"][0]["scores"]
    assert score["played"]["planning"]["decisions"] == 12
    assert score["played"]["planning"]["simulated_frames"] == document["runs"][0]["simulated_frames"] > 12 * 5
    assert f"{score['played']['planning']['simulated_frames']:,} simulated" in played.err
    assert invoke("verify", "runs/uct-ale-2013").code == 0
    assert invoke("watch", "runs/uct-ale-2013", "--out", "uct.gif").code == 0
    again = invoke(*UCT, *SHORT)
    assert "complete already" in again.err
    other = invoke(*UCT[:3], "tic_tac_toe_3d", *UCT[4:], "--engine", "emulator=ale", "--out", "other")
    assert "nothing can be planned" in other.err
