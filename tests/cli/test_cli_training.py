"""A trainer on the command line: trained, reported, verified, its network written as a file and played from it."""

import json
import zipfile
from pathlib import Path

import pytest

from arcademark.catalogue.collections import entries

pytestmark = [pytest.mark.needs("sb3_contrib"), pytest.mark.slow]

SHORT = ("--games", "pong", "--protocol", "dqn-2015", "--override", "max_frames_per_episode=800", "--episodes", 2)
TINY = ("--set", "num_envs=2", "--set", "n_steps=16", "--set", "minibatch_size=16")


def test_ppo_is_trained_reported_verified_and_played_from_its_file(invoke):
    asked = ("run", "ppo", *SHORT, *TINY, "--frames", "2k", "--workers", 1, "--name", "PPO", "--out", "run")
    assert "PPO trains for 2,000 frames" in invoke(*asked, code=0).err
    document = invoke("report", "run", "--format=json").json
    assert document["algorithms"][0]["training_frames"] == 2000
    assert {"torch", "stable-baselines3", "sb3-contrib"} < document["runs"][0]["versions"].keys()
    (learning,) = document["learning"]
    assert learning["seeds"][0]["episodes"] >= 3
    invoke("verify", "run", "--workers", 1, code=0)
    (path,) = Path("run/checkpoints").iterdir()
    with zipfile.ZipFile(path) as archive:
        assert {"data", "policy.pth"} < set(archive.namelist())
        steps = json.loads(archive.read("data"))["num_timesteps"]
    assert "complete already" in invoke(*asked).err
    invoke("run", str(path), *SHORT, "--workers", 1, "--out", "played", code=0)
    of_training, of_file = (invoke("report", name, "--format=json").json for name in ("run", "played"))
    assert len(of_training["algorithms"][0]["scores"][0]["played"]["episodes"]) == 2
    (item,) = of_file["algorithms"]
    assert (item["training_frames"], item["frames_of_files"]) == (4 * steps, True)
    assert of_training["algorithms"][0]["scores"] == of_file["algorithms"][0]["scores"]


def test_the_algorithms_of_the_review_are_listed_with_what_trains_them(invoke):
    listed = invoke("info", "agents").words
    for name in ("ppo", "a2c", "dqn", "qr-dqn", "recurrent-ppo"):
        assert f"{name} trainer" in listed
    rows = {row["name"]: row for row in invoke("info", "algorithms", "--format=json").json["algorithms"]}
    assert (rows["QR-DQN"]["agent"], rows["QR-DQN"]["library"]) == ("qr-dqn", "sb3-contrib")
    assert rows["MuZero"]["agent"] == ""
    review = {name for name, row in rows.items() if row["in_review"]}
    assert review == {entry.algorithm for entry in entries("review-2021")} - {"Random", "Human", "Human World Record"}
    assert invoke("info", "algorithms", "rainbow", "--format=json").json["algorithms"] == [rows["Rainbow"]]
