"""Patterns of checkpoints: the file of each game and seed, its checksum, and what reports call them."""

import pytest

from arcademark.agents.checkpoints import paths
from arcademark.errors import ArcadeMarkError


def test_pattern_names_the_file_of_each_game_and_seed(tmp_path):
    for name in ("ALE-Pong-v5/0.zip", "SpaceInvadersNoFrameskip-v4/0.zip"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"x")
    pattern = paths.canonical_pattern(str(tmp_path / "{gym_id}/{seed}.zip"))
    assert paths.file_of(pattern, "pong", 0).parent.name == "ALE-Pong-v5"
    assert paths.file_of(pattern, "space_invaders", 0).parent.name == "SpaceInvadersNoFrameskip-v4"
    with pytest.raises(ArcadeMarkError, match="3 checkpoints are missing") as caught:
        paths.files_of(pattern, [(game, seed) for game in ("pong", "space_invaders", "qbert") for seed in (0, 7)][1:5])
    assert str(tmp_path / "PongNoFrameskip-v4/7.zip") in str(caught.value)


def test_file_is_a_checkpoint_whatever_its_ending(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "renamed.bin").write_bytes(b"x")
    (tmp_path / "agent.py").write_bytes(b"x")
    assert paths.is_checkpoint("renamed.bin")
    assert not paths.is_checkpoint("agent.py")
    assert not paths.is_checkpoint("missing.bin")
    assert not paths.is_checkpoint("agent.py:make")


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("/a/models/pong.zip", "pong.zip"),
        ("/a/models/{game}/seed{seed}.zip", "models"),
        ("/a/logs/{gym_id}_{seed}/model.pt", "logs-model"),
        ("/a/zoo/ppo-{game}-s{seed}.zip", "zoo-ppo"),
        ("/a/games/{game}.pt", "games"),
        ("/{game}.pt", "checkpoints"),
    ],
)
def test_patterns_have_readable_names(pattern, name):
    assert paths.short(pattern) == name


def test_sample_factorys_settings_are_part_of_its_checkpoints_checksum(tmp_path):
    path, other = tmp_path / "run/checkpoint_p0/best.pth", tmp_path / "run/checkpoint_p0/other.pth"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"..env_steps..")
    other.write_bytes(b"of another library")
    sums = []
    for settings in (None, "{}", '{"use_rnn": true}'):
        if settings is not None:
            (tmp_path / "run/config.json").write_text(settings)
        sums.append((paths.checksum(path), paths.checksum(other)))
    assert [len(set(of_file)) for of_file in zip(*sums, strict=True)] == [3, 1]
