"""Trainers with tiny networks and budgets, and the games that they train on."""

import dataclasses

import numpy as np

from arcademark.agents.loading import agent_specs, kind, make_agent
from arcademark.environments.registry import environment_spec, open_environment
from arcademark.records.model import Checkpoint
from arcademark.runs.plan import Trial
from arcademark.runs.playing.training import TrainingGames
from arcademark.suite.protocols import protocol
from arcademark.testing import check_agent

MEMORY = {"observation": "ram", "screen_size": None, "frame_stack": 1, "max_pool": False}
_STEPS = {"num_envs": 2, "n_steps": 16}
_REPLAY = {"buffer_size": 500, "learning_starts": 50, "target_update_interval": 20, "num_envs": 2}
SETTINGS = {
    "ppo": {**_STEPS, "minibatch_size": 16},
    "recurrent-ppo": {**_STEPS, "minibatch_size": 16, "lstm_hidden_size": 8},
    "a2c": _STEPS,
    "dqn": _REPLAY,
    "qr-dqn": {**_REPLAY, "n_quantiles": 5},
    "sac": {"num_envs": 2, "buffer_size": 500, "learning_starts": 20, "minibatch_size": 16},
}


def environment(game, **override):
    rules = protocol("dqn-2015").override({"max_frames_per_episode": 120} | override)
    return dataclasses.replace(environment_spec(game, rules), seed=3)


def trainer(name, env, **settings):
    (spec,) = agent_specs(name, SETTINGS[name] | settings)
    return make_agent(spec, env)


def games(env, count, frames=0, first=True):
    trial = Trial(agent_specs("random")[0], env.game, env.protocol, env.seed, 1, 1000)
    opened = [open_environment(env, training=True) for _ in range(count)]
    return TrainingGames(trial, opened, Checkpoint(0, frames, False, b""), first=first)


def fitted(name, env, frames=1000, **settings):
    made = trainer(name, env, **settings)
    for _ in made.fit(games(env, made.num_envs, first=name != "dreamerv3"), frames):
        pass
    return made


def check_trainer(name, env, frames=1000):
    """Hold the policy that it leaves against what every agent passes."""
    (spec,) = agent_specs(name, SETTINGS[name])
    assert kind(spec) == "trainer"
    kept = fitted(name, env, frames).checkpoint()

    def make():
        made = make_agent(spec, env)
        made.restore(kept)
        made.evaluate()
        return made.policy

    check_agent(make, env, np.random.default_rng(0))
