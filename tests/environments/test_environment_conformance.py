"""Every environment keeps the contract: the emulator under each protocol, and the toy game."""

import numpy as np
import pytest

from arcademark.environments.registry import open_environment
from arcademark.suite.protocols import protocols
from arcademark.suite.tasks import games
from arcademark.testing import check_environment
from arcademark.testing import environments as conformance

RUNNABLE = [name for name, protocol in protocols().items() if protocol.runnable]
PICTURE_NOT_EXACT = {"tic_tac_toe_3d"}
"""While it thinks, this game lets the emulator show old pictures, which a restore cannot bring back."""


@pytest.mark.parametrize("name", RUNNABLE)
@pytest.mark.parametrize("training", [False, True])
def test_the_toy_game_conforms_under_every_protocol(make_spec, name, training):
    spec = make_spec("toy", name)
    check_environment(lambda: open_environment(spec, training=training), np.random.default_rng(0))


@pytest.mark.parametrize(
    "changes",
    [
        {"repeat_action_probability": 0.5},
        {"max_frames_per_episode": 37},
        {"max_frames_per_episode": 40, "frame_skip": 4, "repeat_action_probability": 0},
        {"start": "noop", "noop_max": 30},
        {"observation": "ram", "screen_size": None, "frame_stack": 1, "max_pool": False},
        {"observation": "rgb"},
        {"frame_skip": 1},
        {"action_set": "minimal"},
    ],
    ids=str,
)
def test_the_toy_game_conforms_under_other_settings(make_spec, changes):
    spec = make_spec("toy", **changes)
    check_environment(lambda: open_environment(spec), np.random.default_rng(1))


@pytest.mark.parametrize("name", ["ale-2013", "dqn-2015", "world-records", "ale-v5"])
def test_the_emulator_conforms_under_protocols_of_every_kind(make_spec, name):
    spec = make_spec("breakout", name)
    check_environment(lambda: open_environment(spec, training=True), np.random.default_rng(2), steps=60)


@pytest.mark.parametrize("game", ["qbert", "seaquest", "montezuma_revenge"])
def test_games_with_traps_conform(make_spec, game):
    spec = make_spec(game, "dqn-2015", max_frames_per_episode=330)
    check_environment(lambda: open_environment(spec), np.random.default_rng(3), steps=100)


@pytest.mark.slow
@pytest.mark.parametrize("game", sorted(games()))
def test_every_game_conforms(make_spec, game):
    if game not in PICTURE_NOT_EXACT:
        pooled = make_spec(game)
        check_environment(lambda: open_environment(pooled), np.random.default_rng(4), steps=90)
    memory = make_spec(game, "ale-2013", observation="ram")
    check_environment(lambda: open_environment(memory), np.random.default_rng(5), steps=90)


class Broken:
    """A toy environment that breaks one rule."""

    def __init__(self, spec):
        self.inner = open_environment(spec)
        self.spec = spec

    def __getattr__(self, name):
        return getattr(self.inner, name)


class ForgetsTheGenerator(Broken):
    def restore(self, state):
        self.inner.restore(state)
        self.inner._record.set_draws(b"", 0)


class RemembersThePast(Broken):
    resets = 0

    def reset(self, rng):
        self.resets += 1
        rng.random(self.resets)
        self.inner.reset(rng)


class WritesHalf(Broken):
    def observe(self, out):
        self.inner.observe(out)
        out[0] = out[0] // 2 + np.arange(out[0].size).reshape(out[0].shape) % 2 if self.inner.lives else 0
        out.ravel()[1] = np.random.default_rng().integers(256)


class TakesAnyAction(Broken):
    def step(self, action):
        return self.inner.step(abs(action) % self.spec.num_actions if isinstance(action, int) else action)


class EndsTwice(Broken):
    def step(self, action):
        reward, terminated, truncated = self.inner.step(action)
        return reward, terminated, truncated or terminated


class ForgetsFrames(Broken):
    @property
    def episode_frames(self):
        return self.inner.episode_frames // 3


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (ForgetsTheGenerator, "check_save_and_restore"),
        (RemembersThePast, "check_repeatable"),
        (RemembersThePast, "check_independent_of_the_past"),
        (WritesHalf, "check_observations"),
        (TakesAnyAction, "check_actions"),
        (EndsTwice, "check_ends"),
        (ForgetsFrames, "check_ends"),
    ],
)
def test_an_environment_that_breaks_a_rule_fails_by_it(make_spec, broken, check):
    spec = make_spec("toy", repeat_action_probability=0.5, frame_skip=2)
    with pytest.raises(AssertionError):
        getattr(conformance, check)(lambda: broken(spec), np.random.default_rng(0), 200)
