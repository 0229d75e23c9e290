"""Measure the speed of training deep agents on our games, compared with the library's own wrappers.

    python bench/deep.py [--parts environment,ppo,evaluation] [--games pong,breakout] [--rounds 7] [--json]

Needs ``pip install '.[sb3]'`` and OpenCV. Both sides play 8 environments with DQN's preprocessing, episodes that end
with a life and clipped rewards, in the same process and one thread, also for PyTorch; they take turns in short rounds.
The table shows how many times as fast as the library's own wrappers ours are in the same round, by processor time:
medians over rounds, with the quartiles in brackets.

* "environment": random actions, drawn beforehand, on ``arcademark.sb3.make_vec`` against Stable-Baselines3's
  ``make_atari_env`` with ``VecFrameStack``; and, as the limit of any wrapper of ale-py, only the calls of ale-py: four
  frames per step and the screens of the last two.
* "ppo": PPO's ``learn`` with its usual network on both, with 1 and with 4 epochs.
* "evaluation": a saved PPO played from its file, the default number of episodes at once, against the model's own
  ``predict`` for one episode at a time on the same games and emulator; and the network's share of the time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ale_py
import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_atari_env
from stable_baselines3.common.vec_env import VecEnv, VecFrameStack

import arcademark.sb3
from arcademark.agents.adapters import PredictPolicy
from arcademark.agents.checkpoints.paths import checksum
from arcademark.agents.checkpoints.policy import CheckpointPlayer
from arcademark.emulator.translate import translated
from arcademark.environments.emulation.atari import rom_path
from arcademark.environments.registry import choose_emulator, environment_spec, open_environment
from arcademark.suite.protocols import protocol

GAMES = ("pong", "breakout", "ms_pacman")
NUM_ENVS = 8
STEPS = 100
"""Steps of a vector per round."""

EVALUATED = 480
"""Steps of all episodes of a game together per round of evaluation."""

SWITCH = "ARCADEMARK_CONSOLE"
Play = Callable[[], None]
Ratios = dict[str, list[float]]
"""Ratios by row; above 1 is faster than the library."""


def theirs(game: str) -> VecEnv:
    """Return the library's own environments."""
    name = "".join(word.capitalize() for word in game.split("_"))
    return VecFrameStack(make_atari_env(f"{name}NoFrameskip-v4", NUM_ENVS, seed=0), 4)


def ours(game: str) -> VecEnv:
    """Return our environments, in one thread."""
    return arcademark.sb3.make_vec(game, NUM_ENVS, "dqn-2015", threads=1)


@contextmanager
def emulator(name: str) -> Iterator[None]:
    """Make ale-py, or else the emulator that is chosen by default, play games that are opened meanwhile."""
    before = os.environ.get(SWITCH)
    if name == "ale-py":
        os.environ[SWITCH] = "off"
    try:
        yield
    finally:
        os.environ.pop(SWITCH, None)
        if before is not None:
            os.environ[SWITCH] = before


def emulators(game: str) -> Iterator[str]:
    """Yield each emulator that is available for a game, which plays games that are opened meanwhile."""
    if choose_emulator(game) == "console":
        translated(game, rom_path(game).read_bytes())  # as in later runs, from the cache
    for name in ("ale-py", "console"):
        with emulator(name):
            if name == "ale-py" or choose_emulator(game) == "console":
                yield name


def contestants(game: str) -> dict[str, VecEnv]:
    """Return the library's environments, and ours on each emulator that is available."""
    return {"library": theirs(game), **{name: ours(game) for name in emulators(game)}}


def alone(game: str) -> Play:
    """Return a function that makes only the calls of ale-py for the steps of all environments."""
    games = [ale_py.ALEInterface() for _ in range(NUM_ENVS)]
    for ale in games:
        ale.setFloat("repeat_action_probability", 0.0)
        ale.loadROM(rom_path(game))
    names = games[0].getMinimalActionSet()
    chosen = np.random.default_rng(0).integers(len(names), size=(STEPS, NUM_ENVS))
    screen = games[0].getScreen()

    def play() -> None:
        for row in chosen.tolist():
            for ale, action in zip(games, row, strict=True):
                for frame in range(4):
                    ale.act(names[action])
                    if frame > 1:
                        ale.getScreen(screen)
                if ale.game_over():
                    ale.reset_game()

    return play


def measured(plays: dict[str, Play], rounds: int) -> Ratios:
    """Play all in turn; return the ratios of the library's processor time to each one's, one per round."""
    for play in plays.values():
        play()
    ratios: Ratios = {name: [] for name in plays if name != "library"}
    for _ in range(rounds):
        seconds = {}
        for name, play in plays.items():
            began = time.process_time()
            play()
            seconds[name] = time.process_time() - began
        for name, found in ratios.items():
            found.append(seconds["library"] / seconds[name])
    return ratios


def environment(game: str, rounds: int) -> Ratios:
    """Compare steps alone."""

    def player(envs: VecEnv) -> Play:
        actions = np.random.default_rng(0).integers(envs.action_space.n, size=(STEPS, NUM_ENVS))
        envs.reset()

        def play() -> None:
            for row in actions:
                envs.step(row)

        return play

    plays = {name: player(envs) for name, envs in contestants(game).items()}
    return measured({**plays, "ale-py's calls alone": alone(game)}, rounds)


def ppo(game: str, rounds: int) -> Ratios:
    """Compare the training of PPO."""
    ratios: Ratios = {}
    for epochs in (1, 4):

        def player(envs: VecEnv, epochs: int = epochs) -> Play:
            model = PPO("CnnPolicy", envs, n_steps=32, batch_size=256, n_epochs=epochs, seed=0, device="cpu")
            return lambda: void(model.learn(NUM_ENVS * 32, reset_num_timesteps=False))

        found = measured({name: player(envs) for name, envs in contestants(game).items()}, rounds)
        ratios |= {f"{name}, {epochs} epoch{'s' * (epochs > 1)}": values for name, values in found.items()}
    return ratios


def evaluation(game: str, rounds: int) -> Ratios:
    """Compare a network played from its file with ``predict``, on each emulator that is available."""
    spec = environment_spec(game, protocol("dqn-2015"))
    model = PPO("CnnPolicy", ours(game), n_steps=32, batch_size=256, seed=0, device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.zip"
        model.save(path)
        played = CheckpointPlayer(spec, path, checksum(path))

    def player(agent: Any, rows: int, in_network: list[float]) -> Play:
        games = [open_environment(spec) for _ in range(rows)]
        seen = np.zeros((rows, *spec.observation_shape), np.uint8)
        first = np.ones(rows, np.bool_)
        rngs = [np.random.default_rng(row) for row in range(rows)]
        for row, one in enumerate(games):
            one.reset(rngs[row])
            one.observe(seen[row])

        def play() -> None:
            began, within = time.process_time(), 0.0
            for _ in range(EVALUATED // rows):
                before = time.process_time()
                actions = agent.act(seen, first, rngs).tolist()
                within += time.process_time() - before
                for row, one in enumerate(games):
                    step = one.step(actions[row])
                    first[row] = step.terminated or step.truncated
                    if first[row]:
                        one.reset(rngs[row])
                    one.observe(seen[row])
            in_network.append(within / (time.process_time() - began))

        return play

    ratios: Ratios = {}
    for name in emulators(game):
        share: list[float] = []
        plays = {"library": player(PredictPolicy(model, ()), 1, []), name: player(played, played.batch_size, share)}
        ratios |= {**measured(plays, rounds), f"{name}, network's share": share[1:]}
    return ratios


def void(_: Any) -> None:
    """Return nothing."""


PARTS: dict[str, Callable[[str, int], Ratios]] = {"environment": environment, "ppo": ppo, "evaluation": evaluation}


def main() -> None:
    """Measure and print the parts that were chosen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help="some of " + ",".join(PARTS))
    parser.add_argument("--games", default=",".join(GAMES))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print all ratios")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts.split(",")) - PARTS.keys():
        parser.error(f"unknown part {sorted(unknown)[0]!r}; expected some of {', '.join(PARTS)}")
    gymnasium.register_envs(ale_py)
    torch.set_num_threads(1)
    found = {
        part: {game: PARTS[part](game, arguments.rounds) for game in arguments.games.split(",")}
        for part in arguments.parts.split(",")
    }
    if arguments.json:
        print(json.dumps(found))
        return
    for part, by_game in found.items():
        for game, ratios in by_game.items():
            for row, values in ratios.items():
                low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
                print(f"{part:12} {game:14} {row:24} {middle:5.2f} ({low:.2f}–{high:.2f})")


if __name__ == "__main__":
    main()
