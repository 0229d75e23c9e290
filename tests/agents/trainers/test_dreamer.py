"""DreamerV3 as RLlib has it: it learns, is kept without pickle, goes on, and plays as its module does."""

from __future__ import annotations

import dataclasses
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from agent_conformance import check_agent

from arcademark.agents.checkpoints.paths import checksum
from arcademark.agents.checkpoints.policy import Checkpoint as Player
from arcademark.agents.loading import agent_specs, make_agent
from arcademark.environments.registry import environment_spec, open_environment
from arcademark.errors import ArcadeMarkError
from arcademark.runs.plan import Trial
from arcademark.runs.store import Checkpoint
from arcademark.runs.training import TrainingGames
from arcademark.suite.protocols import protocol

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-deep")
pytest.importorskip("ray.rllib", reason="needs RLlib: make test-deep")

pytestmark = pytest.mark.deep

TINY = {"model_size": "nano", "training_ratio": 8, "minibatch_size": 2, "sequence": 8, "horizon": 3}
MEMORY = {"observation": "ram", "screen_size": None, "frame_stack": 1, "max_pool": False}
SCREENS = {"observation": "rgb", "screen_size": "64x64", "frame_stack": 1}


def environment(game, **override):
    rules = protocol("dqn-2015").override({"max_frames_per_episode": 120} | override)
    return dataclasses.replace(environment_spec(game, rules), seed=3)


@pytest.fixture
def env():
    return environment("toy", **MEMORY)


def trainer(env, **settings):
    (spec,) = agent_specs("dreamerv3", TINY | settings)
    return make_agent(spec, env)


def games(env, count, frames=0):
    trial = Trial(agent_specs("random")[0], env.game, env.protocol, env.seed, 1, 1000)
    opened = [open_environment(env, training=True) for _ in range(count)]
    return TrainingGames(trial, opened, Checkpoint(0, frames, False, b""), first=False)


def fitted(env, frames=240, **settings):
    made = trainer(env, **settings)
    for _ in made.fit(games(env, made.num_envs), frames):
        pass
    return made


def test_it_conforms_before_training_and_after(env):
    kept = fitted(env).checkpoint()

    def make():
        made = trainer(env)
        made.restore(kept)
        made.evaluate()
        return made.policy

    check_agent(make, env, np.random.default_rng(0))


def test_a_checkpoint_holds_all_that_training_changed_and_it_goes_on_from_there(env):
    untrained = trainer(env)
    untrained.checkpoint()
    before = {name: value.clone() for name, value in untrained.policy._model.kept()[0].items()}
    made = fitted(env)
    model = made.policy._model
    assert model.learnt >= 8 * (model.played - 16) > 0
    after, kept = model.kept()[0], made.checkpoint()
    same = [name for name in before if torch.equal(before[name], after[name]) and "support" not in name]
    assert not same
    fresh = trainer(env)
    fresh.restore(kept)
    for _ in fresh.fit(games(env, 1, frames=240), 400):
        pass
    assert fresh.policy._model.played > model.played
    assert fresh.policy._model.learnt > model.learnt


def test_the_same_seed_trains_the_same_network_and_another_does_not(env):
    once, again = (fitted(env).checkpoint() for _ in range(2))
    assert once == again
    assert fitted(dataclasses.replace(env, seed=4)).checkpoint() != once


def test_a_checkpoint_is_free_of_pickle(env):
    with zipfile.ZipFile(io.BytesIO(fitted(env).checkpoint())) as archive:
        assert set(archive.namelist()) == {"data", "module.pth", "optimizer.pth"}
        for inner in ("module.pth", "optimizer.pth"):
            torch.load(io.BytesIO(archive.read(inner)), weights_only=True)


@pytest.mark.parametrize("override", [MEMORY, SCREENS], ids=str)
def test_it_plays_what_the_module_infers_from_its_file(override, tmp_path: Path, monkeypatch):
    """The module draws the world model's state, here the likeliest: where each chance is near 0 or 1 they agree."""
    env = environment("toy" if override is MEMORY else "pong", **override)
    made = fitted(env, 120)
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

    made = fitted(env, 240, num_envs=2).policy
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
        trainer(environment("pong"))


def test_damage_and_other_sizes_are_refused_in_one_line(env):
    kept = fitted(env, 120).checkpoint()
    for data, settings in ((kept[: len(kept) // 2], {}), (kept, {"model_size": "micro"})):
        made = trainer(env, **settings)
        made.restore(data)
        with pytest.raises(ArcadeMarkError, match="checkpoint"):
            next(iter(made.fit(games(env, 1), 300)))
