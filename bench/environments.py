"""Measure the speed of environments, as a ratio to the bare emulator on the same core in the same run.

    python bench/environments.py [--batches 6] [--rounds 10] [--games pong,breakout] [--json]

Every contestant plays full DQN preprocessing (4 frames per step, maximum of the last two, luminance, 84 × 84, stack of
4) with a policy that takes no time: the same random actions of the minimal set for all, drawn beforehand. The process
is pinned to one core. Speeds are frames per second of processor time. Machines are noisy, and an emulator's address in
memory alone changes its speed by some hundredths. Contestants therefore take turns in short rounds, and are made anew
for every batch of rounds. A round's ratio is to the bare emulator of that round; the table shows medians, with the
quartiles in brackets.

* "bare" is ``ALEInterface.act`` in a loop; after the end of a game, its start is restored, as in our environment.
* "environment" is our environment as agents play it: a step, with its observation written into an array.
* "vector" is ``arcademark.make_vec`` with 8 environments.
* "ale-py" is its AtariVectorEnv, and "EnvPool" EnvPool, both with 8 environments and one thread.
* "two processes" is ours in two simultaneous processes, to the bare emulator in two, each on its own core.

Frames emulated to reset a game (a peer's reset emulates at least 68) are never counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import multiprocessing
import os
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

import ale_py
import numpy as np
from rich.console import Console
from rich.table import Table

import arcademark
from arcademark.environments.emulation.atari import rom_path
from arcademark.environments.emulation.facts import REAL_RESET
from arcademark.environments.registry import environment_spec, open_environment
from arcademark.suite.protocols import AtariProtocol, protocol
from arcademark.suite.tasks import JOYSTICK_ACTIONS, games

GAMES = ("pong", "breakout", "space_invaders", "seaquest", "montezuma_revenge")
NUM_ENVS = 8
STEPS = 640
"""Agent steps per round, of all environments of a vector together."""

FRAME_SKIP = 4
TWO = "two processes"
MANY = 1 << 16

Play = Callable[[], float]
"""Plays a round and returns frames per second of processor time."""

Speeds = dict[str, list[float]]


def dqn_protocol() -> AtariProtocol:
    """Return the benchmark's protocol, without no-op starts, which not all contestants can turn off in the same way."""
    return protocol("dqn-2015").override({"start": "reset", "noop_max": 0, "max_frames_per_episode": 108_000})


def random_actions(game: str) -> list[int]:
    """Return many random actions of the minimal set."""
    actions: list[int] = np.random.default_rng(0).integers(len(games()[game].minimal_actions), size=MANY).tolist()
    return actions


def bare(game: str) -> Play:
    """Return a function that plays the emulator alone."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(rom_path(game))
    start = ale.cloneState()
    values = [JOYSTICK_ACTIONS.index(meaning) for meaning in games()[game].minimal_actions]
    actions = itertools.cycle([values[action] for action in random_actions(game)])
    act, game_over = ale.act, ale.game_over

    def restart() -> None:
        if game in REAL_RESET:
            ale.reset_game()
        else:
            ale.restoreState(start)

    def play() -> float:
        chosen = [next(actions) for _ in range(STEPS)]
        begin = time.process_time()
        for action in chosen:
            act(action)
            act(action)
            act(action)
            act(action)
            if game_over():
                restart()
        return STEPS * FRAME_SKIP / (time.process_time() - begin)

    return play


def environment(game: str) -> Play:
    """Return a function that plays our environment as agents do."""
    spec = environment_spec(game, dqn_protocol())
    env = open_environment(spec)
    actions = itertools.cycle(random_actions(game))
    rng = np.random.default_rng(0)
    observation = np.empty(spec.observation_shape, np.uint8)
    env.reset(rng)

    def play() -> float:
        chosen = [next(actions) for _ in range(STEPS)]
        frames = 0
        begin = time.process_time()
        for action in chosen:
            _, terminated, truncated = env.step(action)
            env.observe(observation)
            frames += FRAME_SKIP
            if terminated or truncated:
                env.reset(rng)
        return frames / (time.process_time() - begin)

    return play


def vector_play(envs: Any, game: str, count: int = NUM_ENVS) -> Play:
    """Return a function that plays a vector environment with next-step autoreset; such a step has no frames."""
    actions = np.array(random_actions(game), np.int32).reshape(-1, count)
    envs.reset()
    round_number = 0

    def play() -> float:
        nonlocal round_number
        rounds = STEPS // count
        frames = 0
        ended = np.zeros(count, np.bool_)
        begin = time.process_time()
        for step in range(round_number * rounds, (round_number + 1) * rounds):
            frames += FRAME_SKIP * (count - int(np.count_nonzero(ended)))
            _, _, terminated, truncated, _ = envs.step(actions[step % len(actions)])
            ended = terminated | truncated
        round_number += 1
        return frames / (time.process_time() - begin)

    return play


def vector(game: str) -> Play:
    """Return a function that plays our vector environment."""
    return vector_play(arcademark.make_vec(game, NUM_ENVS, dqn_protocol()), game)


def ale_vector(game: str, package: str = "ale_py", count: int = NUM_ENVS) -> Play:
    """Return a function that plays the vector environment of ale-py, or of a package in its place."""
    kind = importlib.import_module(f"{package}.vector_env").AtariVectorEnv
    envs = kind(game, count, num_threads=1, noop_max=0, use_fire_reset=False, reward_clipping=False)
    return vector_play(envs, game, count)


def envpool_vector(game: str, count: int = NUM_ENVS, package: str = "envpool") -> Play:
    """Return a function that plays EnvPool, which must be installed, or a package in its place."""
    envpool = importlib.import_module(package)
    name = "".join(word.capitalize() for word in game.split("_"))
    envs = envpool.make(
        f"{name}-v5", env_type="gymnasium", num_envs=count, num_threads=1, noop_max=1, use_fire_reset=False
    )
    return vector_play(envs, game, count)


CONTESTANTS: dict[str, Callable[[str], Play]] = {
    "environment": environment,
    "vector": vector,
    "ale-py": ale_vector,
    "EnvPool": envpool_vector,
}


def measure(game: str, batches: int, rounds: int) -> Speeds:
    """Return the frames per second of the bare emulator and of each contestant, one number per round."""
    makers = {"bare": bare} | CONTESTANTS
    if importlib.util.find_spec("envpool") is None:
        del makers["EnvPool"]
    names = list(makers)
    speeds: Speeds = {name: [] for name in names}
    for _ in range(batches):
        plays = {name: make(game) for name, make in makers.items()}
        for play in plays.values():
            play()
        for i in range(rounds):
            for name in names[i % len(names) :] + names[: i % len(names)]:
                speeds[name].append(plays[name]())
    return speeds


def serve(core: int, game: str, connection: Connection) -> None:
    """Play rounds on demand in a separate process, until it receives "stop"."""
    pin({core})
    plays: dict[str, Play] = {}
    while (order := connection.recv()) != "stop":
        if order == "new":
            plays = {"bare": bare(game), "environment": environment(game)}
            connection.send(sum(play() for play in plays.values()))
        else:
            connection.send(plays[order]())


def measure_two_processes(game: str, batches: int, rounds: int, cores: Sequence[int]) -> Speeds:
    """Return the frames per second, in two simultaneous processes, of the bare emulator and of ours, per round."""
    context = multiprocessing.get_context("spawn")
    connections, processes = [], []
    for core in cores[:2]:
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(core, game, theirs), daemon=True)
        process.start()
        connections.append(ours)
        processes.append(process)

    def together(order: str) -> float:
        for connection in connections:
            connection.send(order)
        return sum(float(connection.recv()) for connection in connections)

    speeds: Speeds = {"bare": [], "environment": []}
    for _ in range(batches):
        together("new")
        for i in range(rounds):
            for name in ("bare", "environment") if i % 2 else ("environment", "bare"):
                speeds[name].append(together(name))
    for connection, process in zip(connections, processes, strict=True):
        connection.send("stop")
        process.join()
    return speeds


def pin(cores: set[int]) -> None:
    """Pin this process, and the threads it starts, to some cores, if the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def ratios_to_bare(speeds: Speeds) -> Speeds:
    """Return each contestant's ratios to the bare emulator, one per round."""
    bare_speeds = speeds["bare"]
    return {
        name: [a / b for a, b in zip(each, bare_speeds, strict=True)] for name, each in speeds.items() if name != "bare"
    }


def shown(ratios: Sequence[float]) -> str:
    """Return the median and quartiles as text."""
    low, median, high = statistics.quantiles(ratios, n=4)
    return f"{median:.3f} [{low:.2f}–{high:.2f}]"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Speed of environments as a ratio to the bare emulator.")
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--games", default=",".join(GAMES))
    parser.add_argument("--json", action="store_true", help="print every round's ratio as JSON instead of the table")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0, 1]
    results = {}
    for game in arguments.games.split(","):
        pin({cores[0]})
        speeds = measure(game, arguments.batches, arguments.rounds)
        pin(set(cores))
        results[game] = {"bare": speeds["bare"], **ratios_to_bare(speeds)}
        if len(cores) > 1:
            two = measure_two_processes(game, arguments.batches, arguments.rounds, cores)
            results[game][TWO] = ratios_to_bare(two)["environment"]
    if arguments.json:
        print(json.dumps(results))
        return
    print_table(results)


def print_table(results: dict[str, Speeds]) -> None:
    """Print a table with one row per game."""
    names = [*CONTESTANTS, TWO]
    table = Table(title="Frames per second as a ratio to the bare emulator: median [quartiles]")
    table.add_column("game")
    table.add_column("bare, frames/s", justify="right")
    for name in names:
        table.add_column(name, justify="right")
    for game, ratios in results.items():
        cells = [shown(ratios[name]) if name in ratios else "not measured" for name in names]
        table.add_row(game, f"{statistics.median(ratios['bare']):,.0f}", *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
