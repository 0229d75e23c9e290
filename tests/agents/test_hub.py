"""Models of the Hugging Face Hub: the file of the network, the game and protocol, and nothing else is fetched."""

import sys
from types import SimpleNamespace

import pytest

from arcademark.agents.checkpoints import hub
from arcademark.agents.loading import agent_specs
from arcademark.errors import ArcadeMarkError
from arcademark.runs.request import DEFAULTS, request

NAME = "ppo-PongNoFrameskip-v4"
FILES = ("README.md", "args.yml", "config.yml", f"{NAME}.zip", f"{NAME}/policy.pth", "replay.mp4", "results.json")
FILES += ("train_eval_metrics.zip",)


@pytest.fixture
def folder(tmp_path):
    for name in FILES:
        path = tmp_path / "models" / NAME / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return tmp_path / "models" / NAME


def test_file_game_and_protocol_follow_from_a_folder_of_the_hubs_layout(folder):
    assert hub.file_of(f"hf:{folder}") == str(folder / f"{NAME}.zip")
    asked = f"hf:{folder}:{NAME}/policy.pth"
    assert hub.file_of(asked) == str(folder / NAME / "policy.pth")
    assert (hub.game_of(asked), hub.game_of(f"hf:{folder}/")) == ("pong", "pong")
    (spec,) = agent_specs(f"hf:{folder}")
    assert spec.ref == str(folder / f"{NAME}.zip")
    wanted = request(f"hf:{folder}", None, DEFAULTS)
    assert (wanted.usual_games(), wanted.protocol.name) == ("pong", "sb3-atari")
    assert request(f"hf:{folder}", "dqn-2015", DEFAULTS).protocol.name == "dqn-2015"


@pytest.mark.parametrize(
    ("name", "game"),
    [
        (f"sb3/{NAME}", "pong"),
        ("sb3/dqn-SpaceInvadersNoFrameskip-v4", "space_invaders"),
        ("cleanrl/BeamRider-v5-dqn_atari-seed1", "beam_rider"),
        (f"sb3/{NAME}:sub/model.zip", "pong"),
        (f"sb3/{NAME}@refs/pr/1:model.zip", "pong"),
        ("me/a-model:Pong-v5/model.zip", None),
        ("me/a-model", None),
        ("me/ppo-CartPole-v1", None),
    ],
)
def test_game_is_in_the_models_name(name, game):
    assert hub.game_of(f"hf:{name}") == game


def test_only_the_networks_file_is_fetched_at_the_commit_that_was_looked_at(monkeypatch, tmp_path):
    fetched = []

    class Api:
        def model_info(self, name, revision, files_metadata):
            assert (name, revision, files_metadata) == (f"sb3/{NAME}", "v1", True)
            return SimpleNamespace(sha="abc", siblings=[SimpleNamespace(rfilename=f, size=1) for f in FILES])

    def hf_hub_download(name, file, revision):
        fetched.append((name, file, revision))
        return str(tmp_path / file)

    fake = SimpleNamespace(HfApi=Api, hf_hub_download=hf_hub_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake)
    assert hub.file_of(f"hf:sb3/{NAME}@v1") == str(tmp_path / f"{NAME}.zip")
    assert fetched == [(f"sb3/{NAME}", f"{NAME}.zip", "abc")]
    monkeypatch.setattr(hub, "MAX_BYTES", 0)
    with pytest.raises(ArcadeMarkError, match="has 1 bytes; at most 0 are read"):
        hub.file_of(f"hf:sb3/{NAME}@v1")


def test_what_cannot_be_fetched_or_chosen_is_one_clear_error(folder, monkeypatch):
    (folder / f"{NAME}.zip").rename(folder / "a.zip")
    (folder / "b.pt").write_bytes(b"x")
    with pytest.raises(ArcadeMarkError, match=r"has 2 files that may be networks \(a\.zip, b\.pt\); name one: hf:"):
        hub.file_of(f"hf:{folder}")
    with pytest.raises(ArcadeMarkError, match=r"has no file 'c\.pt'"):
        hub.file_of(f"hf:{folder}:c.pt")
    with pytest.raises(ArcadeMarkError, match="expected hf:OWNER/NAME"):
        hub.file_of("hf:nothing")

    class Api:
        def model_info(self, *_, **__):
            raise OSError("no connection")

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(HfApi=Api))
    with pytest.raises(ArcadeMarkError, match=r"cannot be fetched \(OSError: no connection\)"):
        hub.file_of("hf:a/b")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ArcadeMarkError, match=r"pip install '\.\[hub\]'"):
        hub.file_of("hf:a/b")
