"""DreamerV3 as RLlib has it: it learns, is kept without pickle, goes on, and plays as its module does."""

from __future__ import annotations

import dataclasses
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from trained import MEMORY, check_trainer, environment, fitted, games, trainer

from arcademark.agents.checkpoints.paths import checksum
from arcademark.agents.checkpoints.policy import Checkpoint as Player
from arcademark.errors import ArcadeMarkError

pytest.importorskip("ray.rllib", reason="RLlib is not installed: make test-deep")

import torch

pytestmark = pytest.mark.deep

SCREENS = {"observation": "rgb", "screen_size": "64x64", "frame_stack": 1}


@pytest.fixture
def env():
    return environment("toy", **MEMORY)


def test_it_conforms_before_training_and_after(env):
    check_trainer("dreamerv3", env, 240)


def test_a_checkpoint_holds_all_that_training_changed_and_it_goes_on_from_there(env):
    untrained = trainer("dreamerv3", env)
    untrained.checkpoint()
    before = {name: value.clone() for name, value in untrained.policy._model.kept()[0].items()}
    made = fitted("dreamerv3", env, 240)
    model = made.policy._model
    assert model.learnt >= 8 * (model.played - 16) > 0
    after, kept = model.kept()[0], made.checkpoint()
    same = [name for name in before if torch.equal(before[name], after[name]) and "support" not in name]
    assert not same
    fresh = trainer("dreamerv3", env)
    fresh.restore(kept)
    for _ in fresh.fit(games(env, 1, frames=240, first=False), 400):
        pass
    assert fresh.policy._model.played > model.played
    assert fresh.policy._model.learnt > model.learnt


def test_the_same_seed_trains_the_same_network_and_another_does_not(env):
    once, again = (fitted("dreamerv3", env, 240).checkpoint() for _ in range(2))
    assert once == again
    assert fitted("dreamerv3", dataclasses.replace(env, seed=4), 240).checkpoint() != once


def test_a_checkpoint_is_free_of_pickle(env):
    with zipfile.ZipFile(io.BytesIO(fitted("dreamerv3", env, 240).checkpoint())) as archive:
        assert set(archive.namelist()) == {"data", "module.pth", "optimizer.pth"}
        for inner in ("module.pth", "optimizer.pth"):
            torch.load(io.BytesIO(archive.read(inner)), weights_only=True)


@pytest.mark.parametrize("override", [MEMORY, SCREENS], ids=str)
def test_it_plays_what_the_module_infers_from_its_file(override, tmp_path: Path, monkeypatch):
    """The module draws the world model's state, here the likeliest: where each chance is near 0 or 1 they agree."""
    env = environment("toy" if override is MEMORY else "pong", **override)
    made = fitted("dreamerv3", env, 120)
    module = made.policy._model.network
    with torch.no_grad():
        module.world_model.posterior_representation_layer.z_generating_layer.weight.mul_(1e4)
    path = tmp_path / "dreamer.zip"
    path.write_bytes(made.checkpoint())
    played = Player(env, path, checksum(path))
    monkeypatch.setattr(
        torch.distributions.OneHotCategorical,
        "sample",
        lambda self, *_: torch.nn.functional.one_hot(self.probs.argmax(-1), self.probs.shape[-1]).float(),
    )
    rows = 3
    state = {key: value[None].repeat(rows, *[1] * value.dim()) for key, value in module.get_initial_state().items()}
    for step in range(6):
        seen = np.random.default_rng(step).integers(0, 256, (rows, *env.observation_shape), dtype=np.uint8)
        first = np.array([step in (0, 3), step == 0, step == 0])
        given = module._scaled({"obs": torch.from_numpy(seen)[:, None]})["obs"]
        batch = {"obs": given, "state_in": state, "is_first": torch.from_numpy(first).float()}
        found = module.forward_inference(batch)
        state = {key: value.float() for key, value in found["state_out"].items()}
        acted = played.act(seen, first, [np.random.default_rng(0)] * rows)
        assert acted.tolist() == found["actions"].flatten().tolist()


def test_it_plays_a_game_on_with_the_memory_that_it_trained_with(env):
    from arcademark.agents.trainers.dreamer_parts import memories

    made = fitted("dreamerv3", env, 240, num_envs=2).policy
    kept = memories(made._runner)
    assert kept[3].flatten().tolist() == [episode.t > 0 for episode in made._runner._ongoing_episodes]
    assert kept[3].any()
    for part, played in zip(kept, made._network()._states[0], strict=True):
        assert torch.equal(played[:, :2], part)
    made.evaluate()
    assert not any(part.any() for part in made._network()._states[0])


def test_observations_that_do_not_fit_are_refused_with_what_fits():
    with pytest.raises(
        ArcadeMarkError, match=r"one screen of 64 × 64 in colour, not .*\(4, 84, 84\); add --override obs.*stack=1"
    ):
        trainer("dreamerv3", environment("pong"))


def test_damage_and_other_sizes_are_refused_in_one_line(env):
    kept = fitted("dreamerv3", env, 120).checkpoint()
    for data, settings in ((kept[: len(kept) // 2], {}), (kept, {"model_size": "micro"})):
        made = trainer("dreamerv3", env, **settings)
        made.restore(data)
        with pytest.raises(ArcadeMarkError, match="checkpoint"):
            next(iter(made.fit(games(env, 1, first=False), 300)))
