"""Screens of sample trajectories, from which feature sets are adapted to a game before an agent plays it.

Bellemare et al. (2013, §3.1.1) follow a human player's trajectory for a random number of steps, and then act uniformly
at random. The paper leaves some details open; these are our choices:

* The number of steps is drawn for each episode, uniformly from zero to the length of the trajectory.
* Random play lasts to the end of the episode (with the protocol's cap), and then the next one begins.
* Without a trajectory, play is random from the start: the paper's own trajectories were not published.
* An action is held for the protocol's frames per action; every frame except that of the start gives one screen.

A trajectory is a text file with the number of one action per line, in the protocol's action set, for each agent step;
empty lines and comments after ``#`` are ignored. It begins at the start of a game, so with no-op starts or sticky
actions it may lead to other states than its player's.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.base import Environment, EnvironmentSpec
from arcademark.environments.registry import choose_emulator, environment_spec, open_environment, version_of
from arcademark.errors import ArcadeMarkError
from arcademark.files import read_text

MAX_BYTES = 16 * 2**20
"""Maximum size of a trajectory's file."""

VERSION = 1
"""Version of sampling; it changes when the same key gives other screens."""

_PLAYED = (
    *("frame_skip", "repeat_action_probability", "max_frames_per_episode", "evaluation_episode_end"),
    *("start", "noop_max", "mode", "difficulty"),
)
"""Settings of the protocol that determine the screens, besides the actions."""

_CHANGED = ("colours", "modification")
"""Newer settings that determine the screens, which are in the key only if they differ from the former behaviour."""


def sample_screens(
    env: EnvironmentSpec, count: int, trajectory: str | None, rng: np.random.Generator
) -> Iterator[NDArray[np.uint8]]:
    """Play and yield the screen of every frame, uint8 of 0 to 127, in one array that the next screen overwrites.

    ArcadeMarkError, at the call, if the trajectory cannot be read.
    """
    actions = () if trajectory is None else read_trajectory(trajectory, env)
    return _screens(env, count, actions, rng)


def sampling_key(env: EnvironmentSpec, count: int, trajectory: str | None, seed: int) -> dict[str, Any]:
    """Return everything that determines the screens from ``default_rng(seed)``, as JSON values for a cache's key."""
    actions = None if trajectory is None else json.dumps(read_trajectory(trajectory, env))
    declared = env.atari.declarations()
    return {
        "game": env.game,
        "rom": version_of(env.game, env.protocol),
        "emulator": importlib.metadata.version("ale-py"),
        "sampling": VERSION,
        "actions": list(env.action_meanings),
        **{name: getattr(env.protocol, name) for name in _PLAYED},
        **{name: value for name in _CHANGED if (value := getattr(env.atari, name)) != declared[name].before},
        "screens": count,
        "trajectory": actions and hashlib.sha256(actions.encode()).hexdigest(),
        "seed": seed,
        **({"task": env.atari.of_trial(env.game)["task"]} if env.atari.suite else {}),
    }


def read_trajectory(path: str, env: EnvironmentSpec) -> tuple[int, ...]:
    """Read a file of actions; ArcadeMarkError if it is unreadable or without actions, or a line is not an action."""
    try:
        place = Path(path).expanduser()
    except RuntimeError:  # the home of an unknown user
        place = Path(path)
    actions = []
    for number, line in enumerate(read_text(place, MAX_BYTES).splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) < env.num_actions):
            raise ArcadeMarkError(
                f"{path}, line {number}: {text!r} is not an action of {env.game!r} under protocol "
                f"{env.protocol.name!r}; expected a number from 0 to {env.num_actions - 1}"
            )
        actions.append(int(text))
    if not actions:
        raise ArcadeMarkError(f"{path}: has no action; expected a number from 0 to {env.num_actions - 1} per line")
    return tuple(actions)


def _screens(
    env: EnvironmentSpec, count: int, actions: Sequence[int], rng: np.random.Generator
) -> Iterator[NDArray[np.uint8]]:
    screens = {"observation": "palette", "screen_size": None, "max_pool": False, "frame_stack": 1}
    emulator = choose_emulator(env.game, compiles=False, suite=env.atari.suite)  # other processes may be compiling
    game = open_environment(environment_spec(env.game, env.atari.override(screens)), emulator=emulator)
    screen = np.empty(game.spec.observation_shape, np.uint8)
    try:
        episodes = (_episode(game, actions, screen, rng) for _ in repeat(None))
        yield from islice(chain.from_iterable(episodes), count)
    finally:
        game.close()


def _episode(
    game: Environment, trajectory: Sequence[int], screen: NDArray[np.uint8], rng: np.random.Generator
) -> Iterator[NDArray[np.uint8]]:
    game_rng, rng = rng.spawn(2)
    game.reset(game_rng)
    for action in _actions(trajectory, game.spec.num_actions, rng):
        for _, terminated, truncated in game.each_frame(action):
            game.observe(screen)
            yield screen
            if terminated or truncated:
                return


def _actions(trajectory: Sequence[int], num_actions: int, rng: np.random.Generator) -> Iterator[int]:
    """Follow a trajectory for a random number of steps, then act uniformly at random without end."""
    yield from trajectory[: int(rng.integers(len(trajectory) + 1))]
    while True:
        yield int(rng.integers(num_actions))
