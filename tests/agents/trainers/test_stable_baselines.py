"""Stable-Baselines3's algorithms as trainers: they learn, are kept without pickle, and play as from their files."""

import dataclasses
import io
import itertools
import zipfile

import numpy as np
import pytest
from trained import MEMORY, check_trainer, environment, fitted, games, trainer

from arcademark.agents.checkpoints.policy import ROWS
from arcademark.agents.loading import agent_specs, make_agent
from arcademark.environments.observations.spaces import ObservationView
from arcademark.errors import ArcadeMarkError
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.replay.verify import verify
from arcademark.suite.protocols import step_protocol
from arcademark.suite.task_suites import load_suite
from fakes.spaces import sampled, spec_of

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all")

pytestmark = pytest.mark.needs("sb3_contrib")

NAMES = ("ppo", "recurrent-ppo", "a2c", "dqn", "qr-dqn")


@pytest.fixture
def env():
    return environment("toy", **MEMORY)


@pytest.mark.parametrize("name", NAMES)
def test_each_conforms_before_training_and_after(name, env):
    check_trainer(name, env)


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_holds_all_that_was_learnt_for_the_library_too_without_pickle(name, env, tmp_path):
    made = fitted(name, env)
    model, kept = made.policy._model, made.checkpoint()
    assert model._n_updates > 0
    (path := tmp_path / "model.zip").write_bytes(kept)
    with zipfile.ZipFile(path) as archive:
        assert set(archive.namelist()) == {"data", "policy.pth", "policy.optimizer.pth"}
        assert b"serialized" not in archive.read("data")
        for inner in ("policy.pth", "policy.optimizer.pth"):
            torch.load(io.BytesIO(archive.read(inner)), weights_only=True)
    fresh, other = trainer(name, env), trainer(name, dataclasses.replace(env, seed=9)).policy._ready()
    before = {key: value.clone() for key, value in fresh.policy._ready().policy.state_dict().items()}
    fresh.restore(kept)
    again = fresh.policy._ready()
    other.set_parameters(str(path), device="cpu")
    learnt = model.policy.state_dict()
    assert any(not torch.equal(before[key], value) for key, value in learnt.items())
    for key, value in learnt.items():
        assert all(torch.equal(one.policy.state_dict()[key], value) for one in (again, other)), key
    assert str(again.policy.optimizer.state_dict()) == str(model.policy.optimizer.state_dict())
    assert (again.num_timesteps, again._n_updates) == (model.num_timesteps, model._n_updates)
    assert fresh.checkpoint() == kept == fitted(name, env).checkpoint()
    assert fitted(name, dataclasses.replace(env, seed=4)).checkpoint() != kept


def test_games_are_played_on_with_the_memory_that_training_left(env):
    made = fitted("recurrent-ppo", env)
    model, player = made.policy._model, made.policy._network()
    before, starts = model._last_lstm_states, torch.as_tensor(model._last_episode_starts, dtype=torch.float32)
    assert all(state.abs().sum() > 0 for state in before.pi)
    made.act(model._last_obs, model._last_episode_starts, [np.random.default_rng(row) for row in range(2)])
    with torch.no_grad():
        *_, after = model.policy(torch.as_tensor(model._last_obs), before, starts)
    for ours, there, expected in zip(made.policy._player._state, player._state, after.pi, strict=True):
        torch.testing.assert_close(ours[:, :2], expected)
        assert not torch.allclose(there[:, :2], expected)
    made.evaluate()
    assert all(state.abs().sum() == 0 for state in made.policy._network()._state)


def test_schedules_fall_over_the_budget_in_frames(env):
    made = trainer("ppo", env)
    played = games(env, 2)
    optimizer = made.policy._ready().policy.optimizer
    rates = [(played.frames, optimizer.param_groups[0]["lr"]) for _ in made.fit(played, 12_000)]
    assert len(rates) > 2
    for (frames, _), (_, rate) in itertools.pairwise(rates):
        assert 0 <= rate < 2.5e-4 * (1 - frames / 12_000)
    assert trainer("ppo", env, anneal=False).policy._ready().lr_schedule(0.25) == 2.5e-4


@pytest.mark.parametrize("name", ["dqn", "qr-dqn"])
def test_values_are_no_distribution_to_draw_from(name, env):
    with pytest.raises(ArcadeMarkError, match=f"agent {name}: --set deterministic=false changes nothing"):
        trainer(name, env, deterministic=False)


def test_replay_fills_again_before_dqn_learns_on(env):
    kept = fitted("dqn", env).checkpoint()
    made = trainer("dqn", env)
    made.restore(kept)
    model = made.policy._ready()
    updates, steps = model._n_updates, model.num_timesteps
    told = [(model.replay_buffer.size() * 2, model._n_updates) for _ in made.fit(games(env, 2), 3000)]
    assert model.num_timesteps > steps
    assert all(count == updates for size, count in told if size < 50)
    assert told[-1][1] > updates


def test_a_checkpoint_that_is_damaged_or_of_another_algorithm_is_refused_in_one_line(env):
    kept = fitted("ppo", env, 300).checkpoint()
    for data in (kept[: len(kept) // 2], b"nothing", fitted("dqn", env, 300).checkpoint()):
        made = trainer("ppo", env)
        made.restore(data)
        with pytest.raises(ArcadeMarkError, match="checkpoint"):
            next(iter(made.fit(games(env, 2), 300)))


def test_defaults_are_those_of_the_zoo(env):
    """Spot values of hyperparams/*.yml, under the library's names."""
    (spec,) = agent_specs("ppo")
    ppo = make_agent(spec, env).policy._ready()
    assert (ppo.n_envs, ppo.n_steps, ppo.n_epochs, ppo.batch_size) == (8, 128, 4, 256)
    assert (ppo.ent_coef, ppo.vf_coef, ppo.clip_range(0.5), ppo.lr_schedule(0.5)) == (0.01, 0.5, 0.05, 1.25e-4)
    (spec,) = agent_specs("a2c")
    a2c = make_agent(spec, env).policy._ready()
    assert (a2c.n_envs, a2c.n_steps, a2c.ent_coef, a2c.vf_coef) == (16, 5, 0.01, 0.25)
    assert type(a2c.policy.optimizer).__name__ == "RMSpropTFLike"


@pytest.mark.parametrize(
    ("name", "observed", "taken"),
    [
        ("ppo", "vector", "reals"),
        ("ppo", "picture", "two"),
        ("ppo", "spoken", "buttons"),
        ("a2c", "number", "levels"),
        ("dqn", "grid", "two"),
        ("qr-dqn", "parts", "two"),
        ("recurrent-ppo", "small", "two"),
        ("sac", "parts", "reals"),
    ],
)
def test_each_trains_on_other_tasks_and_plays_what_the_library_predicts(name, observed, taken):
    spec = spec_of(observed, taken)
    made = fitted(name, spec, 150)
    model = made.policy._model
    assert model._n_updates > 0
    again, kept = trainer(name, spec), made.checkpoint()
    again.restore(kept)
    again.policy._ready()
    assert again.checkpoint() == kept
    made.evaluate()
    seen = sampled(spec, observed, ROWS)
    found = made.act(seen, np.ones(ROWS, bool), [np.random.default_rng(i) for i in range(ROWS)])
    expected, _ = model.predict(ObservationView(spec, channels_first=True).rows(seen), deterministic=True)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_what_cannot_be_learnt_is_refused_before_anything_starts():
    rules = spec_of("vector", "reals").protocol
    with pytest.raises(ArcadeMarkError, match="it supports only numbered actions; for arrays use ppo or a2c"):
        make_plan("dqn", "all", rules)
    with pytest.raises(ArcadeMarkError, match="it supports only real-valued actions between bounds"):
        make_plan("sac", ["toy"], "dqn-2015")
    with pytest.raises(ArcadeMarkError, match="it supports only vectors of MultiDiscrete and MultiBinary spaces"):
        make_plan("ppo", "all", spec_of("vector", "steps").protocol)
    with pytest.raises(ArcadeMarkError, match="learns after 50 random steps, but is trained for 40; give --set"):
        fitted("dqn", spec_of("vector"), 40)
    with pytest.raises(ArcadeMarkError, match="plays Atari games only; of ours a2c, breadth-first, dqn, ppo"):
        make_plan("sarsa", "all", rules)


@pytest.mark.parametrize("name", NAMES)
def test_without_a_gpu_a_training_on_one_is_refused_before_it_begins(name, env, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ArcadeMarkError, match=f"agent {name}: PyTorch finds no CUDA device; leave --set device out"):
        trainer(name, env, device="cuda")


@pytest.mark.deep
def test_cartpole_is_learnt(tmp_path):
    rules = step_protocol(load_suite("gymnasium:CartPole-v1"))
    specs = agent_specs("ppo", {"n_steps": 32, "learning_rate": 1e-3, "clip_range": 0.2})
    execute(make_plan(specs, "all", rules, frames=15_000, episodes=10), tmp_path / "run", workers=1)
    run = read_run(tmp_path / "run")
    assert run.scored_episodes(run.trials[0]).score.mean() > 100
    assert verify(run.directory).ok
