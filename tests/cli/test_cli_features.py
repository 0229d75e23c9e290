"""``arcademark features``: sets are listed, what they see is shown and drawn, actions become trajectories."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from arcademark.agents.parameters import declared
from arcademark.classic.features.registry import feature_sets, make_features
from arcademark.classic.features.samples import read_trajectory
from arcademark.environments.registry import environment_spec
from arcademark.suite.protocols import protocol

QUICK = ("--set", "background_screens=500", "--after", 100)


def test_the_listed_counts_hold():
    for name, item in feature_sets().items():
        if item.features is not None:
            has = {parameter.name for parameter in declared(item.factory)[0]}
            cheap = {"background": False} if "background" in has else {}
            assert make_features(name, spec(item.observed), cheap).num_features == item.features, name


def spec(observed):
    return environment_spec("pong", protocol("ale-2013").override({"observation": observed}))


@pytest.mark.slow
def test_what_is_seen_is_shown_and_drawn(invoke):
    shown = invoke(
        *("info", "features", "show", "basic", "bass", "--games", "freeway", *QUICK),
        *("--save", "basic-bass-freeway.png", "--save", "f.svg", "--save", "f.pdf"),
        code=0,
    )
    words = shown.words
    assert "Freeway basic 28,672" in words
    assert "Freeway bass 1,606,528" in words
    assert "Freeway, bass(background_screens=500)" in words
    assert "random play, seed 0, after 100 frames" in shown.out
    assert "png: basic-bass-freeway.png\nsvg: f.svg\npdf: f.pdf\n" in shown.out
    with Image.open("basic-bass-freeway.png") as image:
        assert image.width > 1000
        assert len(np.unique(np.asarray(image).reshape(-1, image.mode.count("A") + 3), axis=0)) > 20
    assert Path("f.pdf").read_bytes().startswith(b"%PDF")
    assert Path("f.svg").read_text().count("<image") == 4  # of the first set


def test_json_says_the_same(invoke):
    arguments = (
        "info",
        "features",
        "show",
        "basic",
        "--games",
        "freeway,asterix",
        *QUICK,
        "--only",
        "seed=3",
        "--format=json",
    )
    found = invoke(*arguments).json
    assert found["schema"] == "arcademark.features/1"
    assert [item["game"] for item in found["seen"]] == ["freeway", "asterix"]
    for item in found["seen"]:
        assert item["parameters"] == {"background_screens": 500}
        assert item["active"] == len(item["active_features"]) > 0
        assert (item["frames"], item["steps"], item["source"]) == (100, 21, "random play, seed 3")


@pytest.mark.slow
def test_an_episode_of_a_run_is_shown_and_followed(invoke):
    played = ("run", "const", "--set", "action=UP", "--games", "freeway", "--out", "up", "--episodes", 1)
    assert invoke(*played, "--override", "max_frames_per_episode=400").code == 0
    shown = invoke("info", "features", "show", "ram-bits", "--run", "up", "--format=json")
    (item,) = shown.json["seen"]
    assert (item["game"], item["frames"]) == ("freeway", 200)
    assert item["source"].startswith("evaluation episode 0 of const-action-up-freeway-s0-")
    late = invoke("info", "features", "show", "ram-bits", "--run", "up", "--after", 400)
    assert (late.code, late.err.count("\n")) == (2, 1)
    assert "ends after 400 frames; choose an earlier frame" in late.err
    written = invoke("info", "features", "actions", "up", "--only", "game=freeway", "--out", "actions.txt", code=0)
    assert (
        "actions: actions.txt: 100 actions of freeway, evaluation episode 0, for protocol world-records" in written.out
    )
    assert read_trajectory("actions.txt", environment_spec("freeway", protocol("world-records"))) == (2,) * 100
    again = invoke("info", "features", "actions", "up", "--out", "actions.txt")
    assert (again.code, again.err.count("\n")) == (2, 1)
    followed = ("--games", "freeway", *QUICK, "--set", "trajectory=actions.txt")
    assert invoke("info", "features", "show", "basic", *followed).code == 0
