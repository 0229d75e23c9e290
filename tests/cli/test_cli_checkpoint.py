"""Trained networks on the command line: a file or a pattern, one network for each game and seed."""

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all")

from torch import nn  # noqa: E402

pytestmark = pytest.mark.needs("torch")

HOW = ("--protocol", "dqn-2015", "--override", "max_frames_per_episode=400", "--episodes", "2", "--workers", "1")


def write(path, actions, seed, steps=None):
    torch.manual_seed(seed)
    layers = [
        *(nn.Conv2d(4, 2, 8, 4), nn.ReLU(), nn.Conv2d(2, 2, 4, 2), nn.ReLU(), nn.Conv2d(2, 2, 3, 1), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(2 * 7 * 7, 8), nn.ReLU(), nn.Linear(8, actions)),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors = nn.ModuleDict({"network": nn.Sequential(*layers)}).state_dict()
    torch.save(tensors if steps is None else {"model_weights": tensors, "args": {"total_timesteps": steps}}, path)


@pytest.fixture
def models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed in (0, 1):
        write(tmp_path / f"models/pong/{seed}.pt", 6, seed)
        write(tmp_path / f"models/freeway/{seed}.pt", 3, seed)
    return tmp_path


PATTERN = "models/{game}/{seed}.pt"


def test_seeds_of_a_pattern_are_one_algorithm(models, invoke):
    done = invoke(
        "run", PATTERN, "--games", "pong,freeway", "--seeds", "2", "--name", "DQN (ours)", "--out", "r", *HOW, code=0
    )
    assert done.err.count("--override fire_reset=true") == 1  # of four networks; Freeway has no such button
    report = invoke("report", "r", "--format=json").json
    assert [item["name"] for item in report["algorithms"]] == ["DQN (ours)"]
    manifest = json.loads((models / "r/manifest.json").read_text())
    networks = manifest["agents"][0]["checkpoints"]
    assert sorted(networks) == ["freeway 0", "freeway 1", "pong 0", "pong 1"]
    assert len(set(networks.values())) == 4
    assert invoke("verify", "r").code == 0


def test_training_frames_are_the_mean_of_what_the_files_say(models, invoke):
    for seed, steps in ((0, 100_000), (1, 300_000), (2, None)):
        write(models / f"models/pong/{seed}.pt", 6, seed, steps)
    asked = ("run", PATTERN, "--games", "pong", "--name", "DQN", "--out", "r", *HOW)
    assert invoke(*asked, "--seeds", "2").code == 0
    manifest = json.loads((models / "r/manifest.json").read_text())
    assert manifest["agents"][0]["trained_frames"] == {"pong 0": 400_000, "pong 1": 1_200_000}
    assert manifest["versions"]["torch"] == torch.__version__
    report = invoke("report", "r", "--format=json").json
    (item,) = report["algorithms"]
    assert (item["training_frames"], item["frames_of_files"]) == (800_000, True)
    assert item["efficiency"]["training_frames"] == report["similar"][0]["training_frames"] == 800_000
    (told,) = (note["text"] for note in report["notices"] if note["kind"] == "efficiency")
    assert "Training frames of DQN are those in the files of the networks" in told
    assert (
        "for 800,000 frames per game and seed on average, according to the files of its networks"
        in report["methods"][0]
    )
    (said,) = invoke("score", "r", "--frames", "DQN=1M", "--format=json").json["algorithms"]
    assert (said["training_frames"], said["frames_of_files"]) == (1_000_000, False)
    assert invoke(*asked, "--seeds", "3").code == 0  # of the third nothing is known
    (item,) = invoke("report", "r", "--format=json").json["algorithms"]
    assert (item["training_frames"], item["frames_of_files"], item["efficiency"]) == (None, False, None)


def test_run_grows_by_seeds_and_refuses_another_file(models, invoke):
    assert invoke("run", PATTERN, "--games", "pong", "--seeds", "1", "--out", "r", *HOW).code == 0
    assert invoke("run", PATTERN, "--games", "pong", "--seeds", "2", "--out", "r", *HOW).code == 0
    networks = json.loads((models / "r/manifest.json").read_text())["agents"][0]["checkpoints"]
    assert sorted(networks) == ["pong 0", "pong 1"]
    write(models / "models/pong/0.pt", 6, 7)
    refused = invoke("run", PATTERN, "--games", "pong", "--seeds", "2", "--out", "r", *HOW, code=2)
    assert "checkpoint of models on pong 0 (sha256)" in refused.err


def test_one_network_with_several_seeds_is_one_run(models, invoke):
    assert invoke("run", "models/pong/0.pt", "--games", "pong", "--seeds", "2", "--out", "r", *HOW).code == 0
    report = invoke("report", "r", "--format=json").json
    assert [score["runs"] for score in report["algorithms"][0]["scores"]] == [1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("models/pong/0.pt", "--override", "action_set=full"),
            "try --override action_set=minimal, which has 6",
        ),
        (("whole.pt", "--set", "trust=true"), "whole.pt: its network gives 5 actions a value; the game has 6"),
        ((PATTERN, "--seeds", "4"), "2 checkpoints are missing: "),
    ],
)
def test_a_network_that_does_not_fit_is_refused_before_it_plays(models, invoke, arguments, told):
    torch.save(nn.Sequential(nn.Flatten(), nn.Linear(4 * 84 * 84, 5)), models / "whole.pt")
    assert told in invoke("run", *arguments, "--games", "pong", "--out", "r", *HOW, code=2).err
    assert not (models / "r").exists()


def test_files_that_cannot_be_played_have_a_line_each_before_anything_plays(models, invoke):
    (models / "models/pong/1.pt").write_bytes(b"PK\x03\x04 and no more")
    write(models / "models/freeway/0.pt", 6, 0)
    write(models / "models/freeway/2.pt", 3, 2)
    torch.save({"network.0.weight": torch.zeros(1), "env": Path("x")}, models / "models/pong/2.pt")
    refused = invoke("run", PATTERN, "--games", "pong,freeway", "--seeds", "3", "--out", "r", *HOW, code=2)
    first, *lines = refused.err.splitlines()
    assert first == "arcademark: agent models: 3 of 6 checkpoints cannot be played"
    told = {
        "freeway/0.pt on freeway: it was made for 6": 1,
        "pong/1.pt: not a whole zip archive": 1,
        "pong/2.pt: contains pickled objects": 1,
    }
    assert {text: sum(text in line for line in lines) for text in told} == told
    assert len(lines) == 3
    assert not (models / "r").exists()
