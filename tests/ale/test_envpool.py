"""EnvPool's environments on the console, beside what EnvPool 1.2.5 gave."""

import hashlib
import importlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from arcademark.ale import envpool
from arcademark.emulator import build
from arcademark.errors import ArcadeMarkError

LIVES = {"episodic_life": True, "reward_clip": True}
PLAYED = [
    ("Breakout-v5", LIVES, "c31c6fc972b1d177"),
    ("Breakout-v5", {"max_episode_steps": 30, "noop_max": 5, "episodic_life": True}, "58d15356709c767a"),
    ("Breakout-v5", {"gray_scale": False, "img_height": 90, "img_width": 50, "stack_num": 2}, "e909075698a5d041"),
    ("AirRaid-v5", LIVES, "8e9b7bf32103677e"),
    (
        "Qbert-v5",
        {"frame_skip": 3, "stack_num": 2, "noop_max": 1, "full_action_space": True} | LIVES,
        "9f2330007a130c8a",
    ),
    ("MsPacman-v5", {"frame_skip": 1, "repeat_action_probability": 0.25, "use_fire_reset": False}, "9193bd5ab5e04494"),
]
"""Tasks, settings, and the digest of what EnvPool gave; `test_envpool_gives_them` checks that it does."""


def digest(package, task, settings, steps=150):
    envs = package.make(task, env_type="gymnasium", num_envs=2, seed=7, **settings)
    rng, seen = np.random.default_rng(0), hashlib.sha256()
    results = envs.reset()
    for _ in range(steps):
        infos = results[-1]
        for array in (*results[:-1], *(infos[name] for name in ("env_id", "lives", "reward", "terminated"))):
            seen.update(array.tobytes())
        seen.update(infos["elapsed_step"].tobytes() + infos["ram"].tobytes() + infos["players"]["env_id"].tobytes())
        results = envs.step(rng.integers(envs.action_space.n, size=2))
    return seen.hexdigest()[:16]


@pytest.mark.parametrize(("task", "settings", "expected"), PLAYED)
def test_results_are_those_of_envpool(task, settings, expected):
    assert digest(envpool, task, settings) == expected


@pytest.mark.needs("envpool")
@pytest.mark.parametrize(("task", "settings", "expected"), PLAYED)
def test_envpool_gives_them(task, settings, expected):
    assert digest(importlib.import_module("envpool"), task, settings) == expected


def test_ale_py_in_place_of_the_console_gives_the_same(monkeypatch):
    monkeypatch.setenv(build.SWITCH, "off")
    assert digest(envpool, *PLAYED[0][:2]) == PLAYED[0][2]


def test_games_step_apart_and_as_in_gym():
    envs = envpool.EnvPool("pong", envpool.Config(num_envs=3), importlib.import_module("gymnasium").spaces, old=True)
    first = envs.reset()
    assert (first.shape, len(envs), envs.num_envs) == ((3, 4, 84, 84), 3, 3)
    observed, rewards, ended, infos = envs.step(np.array([2, 3]), np.array([2, 0]))
    assert infos["env_id"].tolist() == [2, 0]
    assert (rewards.dtype, ended.dtype, observed.shape) == (np.float32, np.bool_, (2, 4, 84, 84))
    assert infos["elapsed_step"].tolist() == [1, 1]
    assert infos["TimeLimit.truncated"].tolist() == [False, False]


@pytest.mark.parametrize(
    ("arguments", "settings", "match"),
    [
        (("Breakout-v9",), {}, "'Breakout-v5'"),
        (("Pong-v5", "dm"), {}, "'gymnasium' or 'gym'"),
        (("Pong-v5",), {"use_inter_area_resize": False}, "use_inter_area_resize: not known; .* frame_skip"),
        (("Pong-v5",), {"num_envs": 4, "batch_size": 2}, "all in a batch"),
        (("Pong-v5",), {"img_height": 300}, "at most 210 by 160"),
    ],
)
def test_what_is_not_known_is_refused(arguments, settings, match):
    with pytest.raises(ArcadeMarkError, match=match):
        envpool.make(*arguments, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        *({"num_envs": number} for number in (0, -1, 10**6, 2**31, 1.0, None)),
        *(
            {"stack_num": 0},
            {"frame_skip": 0},
            {"frame_skip": 10**9},
            {"img_height": 0},
            {"seed": 2**31},
            {"seed": "1"},
        ),
        *({"mode": 99}, {"difficulty": 9}, {"gray_scale": 1}, {"repeat_action_probability": "x"}),
    ],
)
def test_settings_are_checked(settings):
    with pytest.raises(ArcadeMarkError, match=r"expected|is not among"):
        envpool.make("Pong-v5", **settings)


def test_games_and_actions_are_whole_numbers_and_one_thread_calls():
    envs = envpool.make("Pong-v5", num_envs=2)
    envs.reset()
    for games in ([-1], [2], [0, 0], [0.0], "0", 5, [[0]], np.array([True, False])):
        with pytest.raises(ArcadeMarkError, match="expected"):
            envs.reset(games)
    for actions in (np.zeros(2), [0, None], np.zeros((2, 1), int), 5, "00", [0, 2**40]):
        with pytest.raises(ArcadeMarkError, match="expected"):
            envs.step(actions)
    with envs._one_thread, ThreadPoolExecutor(1) as other:
        for call in (envs.reset, lambda: envs.step([0, 0])):
            with pytest.raises(ArcadeMarkError, match="another thread"):
                other.submit(call).result()


def test_actions_are_checked():
    envs = envpool.make_gym("Pong-v5", num_envs=2)
    envs.reset()
    for actions in ([0], [0, 6], [-1, 0]):
        with pytest.raises(ArcadeMarkError, match="each from 0 to 5"):
            envs.step(np.array(actions))
