"""Every environment keeps the contract: the emulator under each protocol, and the toy game."""

import numpy as np
import pytest

from arcademark.environments import fire
from arcademark.environments.registry import open_environment
from arcademark.suite.protocols import protocols
from arcademark.suite.tasks import games
from arcademark.testing import environments as conformance
from arcademark.testing.environments import check_environment, check_save_and_restore

RUNNABLE = [name for name, protocol in protocols().items() if protocol.runnable]


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


@pytest.mark.parametrize(
    ("game", "name", "changes", "emulator"),
    [
        ("toy", "sb3-atari", {"action_set": "full", "screen_size": None, "repeat_action_probability": 0.25}, None),
        pytest.param("qbert", "ale-2013", {"observation": "ram"}, "ale", marks=pytest.mark.slow),
        pytest.param("miniature_golf", "ale-2013", {"observation": "ram"}, "ale", marks=pytest.mark.slow),
    ],
)
def test_an_episode_is_saved_and_goes_on(make_spec, game, name, changes, emulator):
    """Also where FIRE is pressed, and in games of which ale-py saves too little."""
    spec = make_spec(game, name, **changes)
    assert bool(fire.presses(spec)) == (game == "toy")
    check_save_and_restore(lambda: open_environment(spec, emulator=emulator), np.random.default_rng(1), 80)


@pytest.mark.parametrize(
    ("game", "name", "changes"),
    [
        *(("breakout", name, {}) for name in ("ale-2013", "dqn-2015", "world-records", "ale-v5")),
        *((game, "dqn-2015", {"max_frames_per_episode": 330}) for game in ("qbert", "seaquest", "montezuma_revenge")),
    ],
)
def test_the_emulator_conforms(make_spec, game, name, changes):
    """Under protocols of every kind, and in games with traps."""
    spec = make_spec(game, name, **changes)
    check_environment(lambda: open_environment(spec, training=not changes), np.random.default_rng(2), steps=80)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("emulator", "steps", "seed", "name", "changes"),
    [
        ("ale", 25, 4, "world-records", {}),  # takes five times as long, whatever is observed
        ("console", 90, 4, "world-records", {}),
        ("console", 90, 5, "ale-2013", {"observation": "ram"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("game", sorted(games()))
def test_every_game_conforms(make_spec, game, emulator, steps, seed, name, changes):
    spec = make_spec(game, name, **changes)
    check_environment(lambda: open_environment(spec, emulator=emulator), np.random.default_rng(seed), steps)


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
        seen = np.empty_like(out)
        self.inner.observe(seen)
        out[: len(out) // 2] = seen[: len(out) // 2]


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
    ("broken", "check", "told"),
    [
        (ForgetsTheGenerator, "check_save_and_restore", "differ .* steps on when restored at step"),
        (RemembersThePast, "check_repeatable", "when played again"),
        (RemembersThePast, "check_independent_of_the_past", "when played after"),
        (WritesHalf, "check_observations", "not written in full"),
        (TakesAnyAction, "check_actions", "action -1 is accepted"),
        (EndsTwice, "check_ends", "terminated and truncated at once"),
        (ForgetsFrames, "check_ends", "[01] frames in a step"),
    ],
)
def test_an_environment_that_breaks_a_rule_fails_by_it(make_spec, broken, check, told):
    spec = make_spec("toy", repeat_action_probability=0.5, frame_skip=2)
    with pytest.raises(AssertionError, match=told):
        getattr(conformance, check)(lambda: broken(spec), np.random.default_rng(0), 200)


def test_every_check_is_run(make_spec, monkeypatch):
    names = [name for name in vars(conformance) if name.startswith("check_") and name != "check_environment"]
    ran = []
    for name in names:
        monkeypatch.setattr(conformance, name, lambda *_, name=name: ran.append(name))
    check_environment(lambda: open_environment(make_spec("toy")), np.random.default_rng(0))
    assert sorted(ran) == sorted(names)
