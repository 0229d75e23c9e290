"""``arcademark robustness``: a balanced design is played, continued and shown; what is lost by hand."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from arcademark.analysis.measures import atari
from arcademark.operations.robustness import _lost
from arcademark.records.reading import read_run
from arcademark.suite.references import scores

ASKED = ("--games", "boxing,skiing", "--override", "max_frames_per_episode=400", "--episodes", 2, "--seeds", 2)
PLAYED = ("robustness", "random", *ASKED, "--variants", 1, "--workers", 1, "--out", "o", "--format=json")
RUNS = {
    *("base", "difficulty=1", "repeat_action_probability=0.5", "frame_skip=8", "colours=inverted"),
    "modification=one_armed",
}


@pytest.mark.slow
def test_what_is_lost(invoke, tmp_path):
    first = invoke(*PLAYED, code=0)
    assert {path.name for path in (tmp_path / "o").iterdir()} == RUNS
    found = first.json
    assert (found["agent"], found["games"], found["trained"]) == ("random", ["boxing", "skiing"], False)
    random, human = scores("random"), scores("human")
    for row in found["variants"]:
        by_hand = 100 * (row["base"] - row["score"]) / (human[row["game"]] - random[row["game"]])
        assert row["lost"]["value"] == pytest.approx(by_hand)
        assert row["same"] == (row["kind"] == "colours")  # which random play does not look at
        assert row["episodes"] == 4
    lost = {}
    for kind in found["kinds"]:
        mine = [row["lost"]["value"] for row in found["variants"] if row["kind"] == kind["kind"]]
        lost[kind["kind"]] = sum(mine) / len(mine)
        assert kind["lost"]["value"] == pytest.approx(lost[kind["kind"]])
        assert kind["variants"] == len(mine) == len(kind["games"])
    assert found["overall"]["value"] == pytest.approx(sum(lost.values()) / 5)
    assert found["overall"]["low"] < found["overall"]["value"] < found["overall"]["high"]
    assert found["fewer"] == [
        {"game": "skiing", "kind": kind, "played": 0, "exist": 0} for kind in ("switches", "modification")
    ]

    again = invoke(*PLAYED)
    assert again.out == first.out
    assert "episodes" not in again.err
    shown = invoke("robustness", "--out", "o")
    assert "one armed" in shown.out
    assert "Skiing, modified game: no variant." in shown.out

    shutil.copytree(tmp_path / "o" / "base", tmp_path / "o" / "another run")  # is left alone
    assert invoke("robustness", "--out", "o").out == shown.out
    shutil.copytree(tmp_path / "o" / "base", tmp_path / "o" / "frame_skip=9")
    assert "its protocol is not changed in one of" in invoke("robustness", "--out", "o", code=2).err


@pytest.mark.slow
def test_a_learner_is_trained_once_and_plays_every_flavour(invoke, tmp_path):
    learner = f"{Path(__file__).parents[1] / 'runs' / 'paced.py'}:Learner"
    asked = ("--games", "gopher", "--override", "max_frames_per_episode=300", "--episodes", 2, "--frames", 900)
    played = invoke(
        "robustness", learner, *asked, "--variants", "flavours", "--workers", 1, "--out", "o", "--format=json", code=0
    )
    assert played.err.count("trains for 900 frames") == 1
    found = played.json
    flavours = {"difficulty": 1}, {"mode": 2}, {"mode": 2, "difficulty": 1}
    assert tuple(row["changed"] for row in found["variants"]) == flavours
    assert (found["trained"], found["protocol"]) == (
        True,
        "world-records (max_frames_per_episode=300, reported_episodes=evaluation)",
    )
    assert found["fewer"] == []
    assert {path.name: len(read_run(path).episodes) - 2 for path in (tmp_path / "o").iterdir()} == {
        "base": 3,
        **dict.fromkeys(("difficulty=1", "mode=2", "difficulty=1,mode=2"), 0),
    }
    shown = invoke("robustness", "--out", "o")
    assert "mode 2, difficulty 1" in shown.out
    assert "trained without these changes and did not learn in the variants" in shown.out

    anew = ("--override", "mode=2", "--override", "reported_episodes=evaluation", "--out", "o/mode=2")
    shutil.rmtree(tmp_path / "o" / "mode=2")
    assert invoke("run", learner, *asked, *anew, "--workers", 1).code == 0
    assert "its agent was trained again there, not in base" in invoke("robustness", "--out", "o").err


def test_seeds_that_lose_alike_in_all_variants_are_no_more_seeds_for_it():
    names = [f"frame_skip={number}" for number in range(2, 7)]
    base = {("pong", "base"): {seed: np.full(3, 20.0) for seed in range(3)}}
    varied = {("pong", name): {seed: np.full(2, 20.0 - 5 * seed) for seed in range(3)} for name in names}
    cells = [*varied]
    one, together, by_kind = (
        _lost(groups, base | varied, atari()["hns"], apart=True)
        for groups in ([cells[:1]], [cells], [[cell] for cell in cells])
    )
    assert one.low < 0 < one.value < one.high
    for lost in (together, by_kind):
        assert (lost.value, lost.low, lost.high) == pytest.approx((one.value, one.low, one.high))
