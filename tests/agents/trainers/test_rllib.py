"""RLlib's algorithms as trainers: they learn, are kept without pickle, go on, and play as RLlib's modules do."""

from __future__ import annotations

import dataclasses
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from trained import MEMORY, check_trainer, environment, fitted, games, trainer

from arcademark.agents.checkpoints import contents
from arcademark.agents.checkpoints.policy import ROWS
from arcademark.agents.loading import agent_specs, make_agent
from arcademark.errors import ArcadeMarkError

pytest.importorskip("ray.rllib", reason="RLlib is not installed: make test-deep")

pytestmark = pytest.mark.deep

NAMES = ("impala", "appo", "rainbow")


@pytest.fixture
def env():
    return environment("toy", **MEMORY)


def tensors(made):
    return {name: value.clone() for name, value in made.policy._model.network.state_dict().items()}


@pytest.mark.parametrize("name", NAMES)
def test_each_conforms_before_training_and_after(name, env):
    check_trainer(name, env)


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_holds_all_that_training_changed_and_it_goes_on_from_there(name, env):
    import torch

    made = trainer(name, env)
    made.checkpoint()
    before = tensors(made)
    made = fitted(name, env)
    after, kept = tensors(made), made.checkpoint()
    changed = [key for key in before if not torch.equal(before[key], after[key])]
    assert len(changed) >= len(made.policy._model.kept()[0]) - ("support" in after), changed
    fresh = trainer(name, env)
    fresh.restore(kept)
    assert fresh.checkpoint() == kept
    again = trainer(name, env)
    again.restore(kept)
    for _ in again.fit(more := games(env, again.num_envs, frames=1000), 2000):
        pass
    assert more.frames >= 2000
    steps = [one.policy._model.optimizer.state_dict()["state"][0]["step"] for one in (made, again)]
    assert steps[1] > steps[0] > 0, "the optimizer's steps go on"


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_trains_the_same_network_and_another_does_not(name, env):
    once, again = (fitted(name, env, 600).checkpoint() for _ in range(2))
    assert once == again
    assert fitted(name, dataclasses.replace(env, seed=4), 600).checkpoint() != once


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_is_free_of_pickle(name, env):
    import torch

    with zipfile.ZipFile(io.BytesIO(fitted(name, env, 600).checkpoint())) as archive:
        assert set(archive.namelist()) == {"data", "module.pth", "optimizer.pth"}
        for inner in ("module.pth", "optimizer.pth"):
            torch.load(io.BytesIO(archive.read(inner)), weights_only=True)


@pytest.mark.parametrize("screens", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_it_plays_what_the_module_infers(name, screens, env):
    import torch

    env = environment("pong", screen_size="44x44") if screens else env
    made = fitted(name, env, 400)
    made.evaluate()
    seen = np.random.default_rng(0).integers(0, 256, (2 * ROWS, *env.observation_shape), dtype=np.uint8)
    given = torch.from_numpy(seen)
    module = made.policy._model.network
    with torch.no_grad():
        inferred = module.forward_inference({"obs": given})
        module.eval()
        values = module.compute_q_values({"obs": given})["qf_preds"] if name == "rainbow" else None
    rngs = [np.random.default_rng(i) for i in range(ROWS)]
    found = [made.act(seen[i : i + ROWS], np.ones(ROWS, bool), rngs) for i in range(0, len(seen), ROWS)]
    played = made.policy._player._network(given.float(), ())[0]
    expected = inferred["action_dist_inputs"] if values is None else values
    assert torch.allclose(played, expected, atol=1e-5)
    actions = expected.argmax(1) if values is None else inferred["actions"]
    assert np.concatenate(found).tolist() == actions.tolist()
    assert made.policy._player._network.stochastic == (name != "rainbow")


def test_a_checkpoint_is_played_without_ray(env, monkeypatch):
    kept = fitted("rainbow", env, 400).checkpoint()
    monkeypatch.setitem(sys.modules, "ray", None)
    from arcademark.agents.checkpoints import libraries

    network = libraries.build(contents.read(kept, Path("file"), False), "file")
    assert (network.shape, network.num_actions) == (env.observation_shape, env.num_actions)
    assert contents.read(kept, Path("file"), False).trained_frames(4) >= 400
    with pytest.raises(ArcadeMarkError, match="needs RLlib"):
        trainer("rainbow", env)


def test_rllib_sees_each_observation_once_and_the_last_of_an_episode_too(env):
    from arcademark.agents.trainers.rllib_parts import Games

    plain, adapted = games(env, 1), Games(games(env, 1))
    seen, expected = [(adapted.reset()[0], 0.0)], [(plain.reset()[0], 0.0)]
    for _ in range(100):
        observations, rewards, terminated, truncated, infos = plain.step(np.array([1]))
        if terminated | truncated:
            expected.append((infos["final_obs"][0], rewards[0]))
        expected.append((observations, 0.0 if terminated | truncated else rewards[0]))
    for _ in expected[1:]:
        observations, rewards, *_ = adapted.step(np.array([1]))
        seen.append((observations, rewards[0]))
    assert len(expected) > 105
    assert [reward for _, reward in seen] == [reward for _, reward in expected]
    assert all(np.array_equal(np.squeeze(a), np.squeeze(b)) for (a, _), (b, _) in zip(seen, expected, strict=True))


def test_rainbow_waits_for_its_buffer_and_then_learns_every_fourth_step(env, monkeypatch):
    from arcademark.agents.trainers import rllib_parts

    steps, sample, learn = [0], rllib_parts.Runner.sample, rllib_parts.RainbowLearner.learn

    def sampled(self, **asked):
        episodes = sample(self, **asked)
        steps[-1] += sum(map(len, episodes))
        return episodes

    def learnt(self, *where, **data):
        steps.append(0)
        return learn(self, *where, **data)

    monkeypatch.setattr(rllib_parts.Runner, "sample", sampled)
    monkeypatch.setattr(rllib_parts.RainbowLearner, "learn", learnt)
    fitted("rainbow", env, 800, num_envs=4)
    first, *others, _ = steps
    assert 40 <= first < 48
    assert len(others) > 5
    assert all(4 <= count < 8 for count in others)


def test_all_steps_of_an_episode_are_learnt_from_with_what_they_return(env):
    from ray.rllib.utils.replay_buffers import PrioritizedEpisodeReplayBuffer

    from arcademark.agents.trainers import rllib_parts

    made = trainer("rainbow", env, num_envs=1)
    learner = made.policy._made(100, 0)
    runner = rllib_parts.Runner(learner.config, games(env, 1), learner)
    whole = next(episode for episode in iter(lambda: runner.sample(num_timesteps=20)[0], None) if episode.is_terminated)
    rewards = whole.get_rewards()
    buffer = PrioritizedEpisodeReplayBuffer(100)
    buffer.add(rllib_parts.absorbed(whole, 2))
    seen = {}
    for sample in buffer.sample(300, n_step=3, gamma=0.5):
        seen[sample.t_started] = (sample.get_rewards(0), bool(sample.is_terminated))
    last = len(rewards) - 1
    assert sorted(seen) == list(range(len(rewards)))
    for step, (found, ended) in seen.items():
        assert found == sum(reward * 0.5**i for i, reward in enumerate(rewards[step : step + 3]))
        assert ended == (step + 2 >= last)


def test_schedules_fall_over_the_budget_in_frames(env):
    made = trainer("impala", env)
    for _ in made.fit(played := games(env, 2), 2000):
        pass
    (group,) = made.policy._model.optimizer.param_groups
    assert group["lr"] == pytest.approx(max(0.0, 6e-4 * (1 - played.frames / 2000)), abs=6e-5)
    steady = fitted("impala", env, 600, anneal=False)
    assert steady.policy._model.optimizer.param_groups[0]["lr"] == 6e-4


def test_a_checkpoint_that_is_damaged_or_of_another_algorithm_is_refused_in_one_line(env):
    kept = fitted("impala", env, 300).checkpoint()
    for data in (kept[: len(kept) // 2], b"nothing", fitted("appo", env, 300).checkpoint()):
        made = trainer("impala", env)
        made.restore(data)
        with pytest.raises(ArcadeMarkError, match="checkpoint"):
            next(iter(made.fit(games(env, 2), 300)))


def test_defaults_are_those_of_the_papers(env):
    """Espeholt et al. 2018, Appendix G; Hessel et al. 2018, Table 1."""
    (spec,) = agent_specs("impala")
    impala = make_agent(spec, env).policy
    impala.checkpoint()
    (group,) = impala._model.optimizer.param_groups
    assert (group["lr"], group["eps"], group["momentum"]) == (6e-4, 0.01, 0)
    config = impala._model.config
    assert (config.rollout_fragment_length, config.train_batch_size_per_learner) == (20, 20 * 32)
    assert (config.grad_clip, config.vf_loss_coeff, config.entropy_coeff, config.gamma) == (40.0, 0.5, 0.01, 0.99)
    (spec,) = agent_specs("rainbow")
    rainbow = make_agent(spec, env).policy
    rainbow.checkpoint()
    (group,) = rainbow._model.optimizer.param_groups
    assert (group["lr"], group["eps"]) == (6.25e-5, 1.5e-4)
    config = rainbow._model.config
    assert (config.n_step, config.num_atoms, config.v_min, config.v_max) == (3, 51, -10.0, 10.0)
    assert (config.target_network_update_freq, 4 * rainbow.learning_starts) == (32_000, 80_000)
    assert rainbow.num_envs * rainbow.train_freq == 4
