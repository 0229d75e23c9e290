"""Measure the console's speed, as ratios of CPU time to ale-py and to programs on it, in the same process.

    python bench/emulator.py [--parts frames,drop-in,…] [--games atari-57] [--rounds 5] [--translated]

* "frames": to bare ale-py. Frames with the last two of every four drawn and read, one call per frame; frames without
  screens; the same two in one call for many frames; and saving and restoring a state, in microseconds.
* "preprocessing": full DQN preprocessing with random actions (see ``environments.py``). Our environment and our
  ``make_vec`` with 8 games in one thread, each on the console to itself on ale-py; and ``make_vec`` on the console to
  ale-py's AtariVectorEnv and to EnvPool (``pip install envpool``), both with 8 games in one thread.
* "drop-in": ``arcademark.ale`` to ale-py itself: calls of ``act`` alone, and ``AtariEnv`` with its usual arguments; and
  ``arcademark.ale.envpool`` to EnvPool, with 8 games in one thread.
* "vectors": ``AtariVectorEnv`` of ``arcademark.ale`` to that of ale-py, and to EnvPool, each with 8 games and with 64
  in one thread.
* "shares": the share of time spent in calls of C: in steps of ``make_vec``, ours and that for Stable-Baselines3 (if
  that is installed), including resets, with 8 games and with 64 in one thread, in decisions of UCT and of best-path,
  and in training of SARSA(λ) on Basic.
* "planning": decisions of UCT and of best-path, and "learning": training of SARSA(λ) on Basic, each on the console to
  the same on ale-py, as frames per second.
* "scaling": frames per second by the clock of two processes to one, each ``make_vec`` with 8 games, and of ``make_vec``
  with 8, 32 and 128 games in two threads to one, and with 128 in 64; the machine should have nothing else to do.

Contestants take turns in short rounds; a figure is the median over rounds of ratios within a round, and the last line
the median over games. Cartridges are played by the interpreter, or by their translations if the cache contains them;
with ``--translated`` they are made beforehand.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial, partialmethod
from typing import TypeVar

import ale_py
import numpy as np

import arcademark
from arcademark.classic.planning.best_path import BestPath
from arcademark.classic.planning.uct import UCT
from arcademark.emulator import build
from arcademark.emulator.machine import WIDTH, Machine
from arcademark.emulator.translate import translated
from arcademark.environments.emulation.atari import rom_path
from arcademark.environments.interfaces.batch import Crew
from arcademark.environments.native import NativeEmulator
from arcademark.environments.registry import EmulatorName, choose_emulator
from arcademark.suite.subsets import resolve_tasks
from environments import NUM_ENVS, STEPS, Play, ale_vector, dqn_protocol, environment, envpool_vector, vector_play
from learning import Training
from searches import opened, search

HELD = 4
"""Frames for which a random action is repeated."""

COUNTS = 8, 64
"""Numbers of games in a vector."""

THREADED = (8, 2), (32, 2), (128, 2), (128, 64)
"""Numbers of games and threads of the vectors that are compared with one thread."""

SIMULATIONS, DECISION_FRAMES, TRAINED_FRAMES = 60, 6_000, 4_000
SCALED_SECONDS = 2.0

Name = TypeVar("Name", bound=Hashable)

Figures = dict[str, float]
"""Values by column."""


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of this process for a call."""
    began = time.process_time()
    work()
    return time.process_time() - began


class Pair:
    """A game on both machines, at its start."""

    def __init__(self, game: str, frames: int, translate: bool = False) -> None:
        path = rom_path(game)
        self.ale = ale_py.ALEInterface()
        self.ale.setFloat("repeat_action_probability", 0.0)
        self.ale.loadROM(path)
        rom = path.read_bytes()
        self.machine = Machine(game, rom, chosen=translated(game, rom) if translate else None)
        minimal = [action.value for action in self.ale.getMinimalActionSet()]
        self.actions = np.repeat(np.random.default_rng(0).choice(minimal, -(-frames // HELD)), HELD)[:frames].tolist()
        self.start, self.our_start = self.ale.cloneState(), self.machine.save()
        self.screen = np.empty((self.machine.rows, WIDTH), np.uint8)

    def play_ale(self) -> None:
        """Play all frames on ale-py and read the last two of every four screens."""
        ale, screen = self.ale, self.screen
        act, over, read = ale.act, ale.game_over, ale.getScreen
        ale.restoreState(self.start)
        for number, action in enumerate(self.actions):
            act(action)
            if number & 3 >= 2:
                read(screen)
            if over():
                ale.restoreState(self.start)

    def play_ours(self, seen: int) -> None:
        """Play all frames on the console, with `seen` of every four drawn and read."""
        machine, screen = self.machine, self.screen
        act, unseen, over, read = machine.act, machine.act_unseen, machine.game_over, machine.screen
        machine.restore(self.our_start)
        for number, action in enumerate(self.actions):
            if number & 3 >= 4 - seen:
                act(action)
                read(screen)
            else:
                unseen(action)
            if over():
                machine.restore(self.our_start)

    def play_at_once(self, seen: int) -> None:
        """Play all frames on the console with one call per game."""
        machine, actions = self.machine, bytes(self.actions)
        machine.restore(self.our_start)
        began = machine.frames
        while actions:
            machine.play(actions, seen)
            played, began = machine.frames - began, machine.frames
            actions = actions[max(1, played) :]
            if machine.game_over():
                machine.restore(self.our_start)
                began = machine.frames

    def figures(self) -> Figures:
        """Return the figures of one round."""
        bare = cpu(self.play_ale)
        ours = {"2 of 4 drawn": cpu(lambda: self.play_ours(2)), "none drawn": cpu(lambda: self.play_ours(0))}
        ours["one call, 2 of 4"] = cpu(lambda: self.play_at_once(2))
        ours["one call, none"] = cpu(lambda: self.play_at_once(0))
        save, restore = self.state_times()
        return {**{name: bare / part for name, part in ours.items()}, "save, µs": save, "restore, µs": restore}

    def state_times(self, times: int = 1_000) -> list[float]:
        """Return microseconds to save and to restore."""
        machine, state = self.machine, self.our_start

        def restore() -> None:
            for _ in range(times):
                machine.restore(state)

        save = cpu(lambda: [machine.save() for _ in range(times)])
        return [1e6 * save / times, 1e6 * cpu(restore) / times]


# ---- measurements of a game


def frames(game: str, arguments: argparse.Namespace) -> Figures:
    """Compare bare frames."""
    pair = Pair(game, arguments.frames, arguments.translated)
    rounds = [pair.figures() for _ in range(arguments.rounds)]
    return {name: statistics.median(figures[name] for figures in rounds) for name in rounds[0]}


def preprocessing(game: str, arguments: argparse.Namespace) -> Figures:
    """Compare environments."""
    ours: dict[str, Callable[[], Play]] = {
        "environment": partial(environment, game),
        "vector": partial(vector, game, 1),
    }
    plays = {(name, emulator): on(emulator, make) for name, make in ours.items() for emulator in ("ale", "console")}
    plays["ale-py", ""] = ale_vector(game)
    if importlib.util.find_spec("envpool") is not None:
        plays["EnvPool", ""] = envpool_vector(game)
    speeds = in_turn(plays, arguments.rounds)
    console, found = speeds["vector", "console"], {}
    for name in ours:
        found[f"{name} to itself"] = ratio(speeds[name, "console"], speeds[name, "ale"])
    for name, _ in list(plays)[4:]:
        found[f"vector to {name}"] = ratio(console, speeds[name, ""])
    return found


def vector(game: str, threads: int) -> Play:
    """Return a function that plays our vector environment."""
    return vector_play(arcademark.make_vec(game, NUM_ENVS, dqn_protocol(), threads=threads), game)


def drop_in(game: str, arguments: argparse.Namespace) -> Figures:
    """Compare ale-py's interfaces on the console with ale-py's own."""
    makers: dict[str, Callable[[str, str], Play]] = {"act": ale_interface, "AtariEnv": ale_environment}
    peers = dict.fromkeys(makers, ("arcademark.ale", "ale_py"))
    if importlib.util.find_spec("envpool") is not None:
        makers["EnvPool"] = lambda game, package: envpool_vector(game, package=package)
        peers["EnvPool"] = "arcademark.ale.envpool", "envpool"
    plays = {(name, package): make(game, package) for name, make in makers.items() for package in peers[name]}
    speeds = in_turn(plays, arguments.rounds)
    return {name: ratio(*(speeds[name, package] for package in peers[name])) for name in makers}


def vectors(game: str, arguments: argparse.Namespace) -> Figures:
    """Compare ale-py's vector environment on the console with ale-py's own and with EnvPool."""
    found: Figures = {}
    for count in COUNTS:
        plays = {"ours": ale_vector(game, "arcademark.ale", count), "ale-py": ale_vector(game, "ale_py", count)}
        if importlib.util.find_spec("envpool") is not None:
            plays["EnvPool"] = envpool_vector(game, count)
        speeds = in_turn(plays, arguments.rounds)
        ours = speeds.pop("ours")
        found |= {f"{count} games to {name}": ratio(ours, theirs) for name, theirs in speeds.items()}
    return found


def shares(game: str, arguments: argparse.Namespace) -> Figures:
    """Measure the share of time spent in calls of C."""
    plays = {}
    for count in COUNTS:
        envs = arcademark.make_vec(game, count, dqn_protocol(), threads=1)
        plays[f"make_vec, {count}"] = vector_play(envs, game, count)
        if importlib.util.find_spec("stable_baselines3") is not None:
            plays[f"sb3, {count}"] = stepping(game, count)
    plays |= {name: planner(game, name) for name in ("uct", "best-path")} | {"SARSA on Basic": learner(game)}
    return {name: statistics.median(in_c(play) for _ in range(arguments.rounds)) for name, play in plays.items()}


def stepping(game: str, count: int) -> Play:
    """Return a function that steps our environments for Stable-Baselines3."""
    from arcademark import sb3

    envs = sb3.make_vec(game, count, dqn_protocol(), threads=1)
    actions = np.random.default_rng(0).integers(envs.action_space.n, size=(STEPS // count, count))
    envs.reset()

    def play() -> float:
        taken = cpu(lambda: [envs.step(row) for row in actions])
        return STEPS / taken

    return play


def in_c(play: Play) -> float:
    """Return the share of a round's CPU time in which C plays steps, or saves and restores states."""
    seconds, methods = 0.0, [(Crew, "play"), *((NativeEmulator, name) for name in ("play", "save", "restore"))]
    before = [getattr(kind, name) for kind, name in methods]

    def clocked_call(method: Callable[..., object], *arguments: object) -> object:
        nonlocal seconds
        began = time.thread_time()
        result = method(*arguments)
        seconds += time.thread_time() - began
        return result

    play()
    try:
        for (kind, name), method in zip(methods, before, strict=True):
            setattr(kind, name, partialmethod(partial(clocked_call, method)))
        began = time.process_time()
        play()
        return seconds / (time.process_time() - began)
    finally:
        for (kind, name), method in zip(methods, before, strict=True):
            setattr(kind, name, method)


def ale_interface(game: str, package: str) -> Play:
    """Return a function that plays one of ale-py's interfaces without reading its screen."""
    ale = importlib.import_module(package).ALEInterface()
    ale.loadROM(rom_path(game))
    actions = list(np.random.default_rng(0).choice(ale.getMinimalActionSet(), STEPS))

    def play() -> float:
        begin = time.process_time()
        for action in actions:
            ale.act(action)
            if ale.game_over():
                ale.reset_game()
        return STEPS / (time.process_time() - begin)

    return play


def ale_environment(game: str, package: str) -> Play:
    """Return a function that plays one of ale-py's environments, in colour."""
    env = importlib.import_module(f"{package}.env").AtariEnv(game)
    actions = np.random.default_rng(0).integers(env.action_space.n, size=STEPS // 4).tolist()
    env.reset(seed=0)

    def play() -> float:
        begin = time.process_time()
        for action in actions:
            if any(env.step(action)[2:4]):
                env.reset()
        return STEPS / (time.process_time() - begin)

    return play


def planning(game: str, arguments: argparse.Namespace) -> Figures:
    """Compare planners' decisions."""
    found = {}
    for name in ("uct", "best-path"):
        plays = {emulator: on(emulator, partial(planner, game, name)) for emulator in ("ale", "console")}
        speeds = in_turn(plays, arguments.rounds)
        found[name] = ratio(speeds["console"], speeds["ale"])
    return found


def planner(game: str, name: str) -> Play:
    """Return a function in which a new planner decides from the state at which searches begin."""
    model, state = opened(game)

    def play() -> float:
        if name == "uct":
            planner: UCT | BestPath = UCT(model.spec, simulations=SIMULATIONS, horizon_frames=300)
        else:
            planner = BestPath(model.spec, frames_per_decision=DECISION_FRAMES)
        before = model.frames
        model.restore(state)
        taken = cpu(lambda: search(planner, model, state))
        return (model.frames - before) / taken

    return play


def learning(game: str, arguments: argparse.Namespace) -> Figures:
    """Compare training."""
    plays = {emulator: on(emulator, partial(learner, game)) for emulator in ("ale", "console")}
    speeds = in_turn(plays, arguments.rounds)
    return {"SARSA on Basic": ratio(speeds["console"], speeds["ale"])}


def learner(game: str) -> Play:
    """Return a function that continues the training of a learner."""
    training = Training(game, "basic")

    def play() -> float:
        begin = time.process_time()
        results = training.play(TRAINED_FRAMES)
        return sum(result.record.frames for result in results) / (time.process_time() - begin)

    return play


def scaling(game: str, arguments: argparse.Namespace) -> Figures:
    """Compare two processes with one, and threads with one, by the clock."""
    one, two = [], []
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(clocked, [game] * 4))  # compiles, warms up
        for _ in range(arguments.rounds):
            one.append(pool.submit(clocked, game).result())
            two.append(sum(pool.map(clocked, [game] * 2)))
    found = {"two processes": ratio(two, one)}
    for count, number in THREADED:
        alone: list[float] = []
        together: list[float] = []
        for _ in range(arguments.rounds):
            alone.append(clocked(game, count))
            together.append(clocked(game, count, number))
        found[f"{number} threads, {count} games"] = ratio(together, alone)
    return found


def clocked(game: str, count: int = NUM_ENVS, threads: int = 1) -> float:
    """Return agent steps per second by the clock."""
    envs = arcademark.make_vec(game, count, dqn_protocol(), threads=threads)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).integers(4, size=(1 << 12, count))
    steps, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < SCALED_SECONDS:
        envs.step(actions[steps % len(actions)])
        steps += 1
    return count * steps / (time.perf_counter() - begin)


PARTS = {
    "frames": frames,
    "preprocessing": preprocessing,
    "drop-in": drop_in,
    "vectors": vectors,
    "shares": shares,
    "planning": planning,
    "learning": learning,
    "scaling": scaling,
}


# ---- rounds


def on(emulator: EmulatorName, make: Callable[[], Play]) -> Play:
    """Make a contestant that plays on an emulator."""
    with played_on(emulator):
        return make()


@contextmanager
def played_on(emulator: EmulatorName) -> Iterator[None]:
    """Play games that are opened meanwhile on an emulator."""
    before = os.environ.pop(build.SWITCH, None)
    if emulator == "ale":
        os.environ[build.SWITCH] = "off"
    try:
        yield
    finally:
        os.environ.pop(build.SWITCH, None)
        if before is not None:
            os.environ[build.SWITCH] = before


def in_turn(plays: dict[Name, Play], rounds: int) -> dict[Name, list[float]]:
    """Return a list of speeds of each contestant, after one round that does not count."""
    speeds: dict[Name, list[float]] = {name: [] for name in plays}
    for number in range(rounds + 1):
        for name, play in plays.items():
            speed = play()
            if number:
                speeds[name].append(speed)
    return speeds


def ratio(speeds: list[float], others: list[float]) -> float:
    """Return the median over rounds of the ratio of two speeds."""
    return statistics.median(one / other for one, other in zip(speeds, others, strict=True))


def main() -> None:
    """Measure the chosen games and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--parts", default="frames", help=f"some of {', '.join(PARTS)} (%(default)s)")
    parser.add_argument("--games", default="atari-57", help="a suite, a subset or games (%(default)s)")
    parser.add_argument("--frames", type=int, default=2_000, help="bare frames per round (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--translated", action="store_true", help="translate each cartridge beforehand")
    arguments = parser.parse_args()
    try:
        build.core()
    except build.NoCore as error:
        print(f"there is no console to measure: {error}")
        return
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    games = resolve_tasks(arguments.games)
    for part in arguments.parts.split(","):
        table = []
        for game in games:
            if part != "frames":
                choose_emulator(game, "console")
            if arguments.translated:
                translated(game, rom_path(game).read_bytes())
            table.append(PARTS[part](game, arguments))
            if len(table) == 1:
                print(
                    f"{part if part == 'shares' else part + ', times as fast':28}"
                    + "".join(f"{column:>24}" for column in table[0])
                )
            print_line(game, table[-1])
        print_line("median", {name: statistics.median(row[name] for row in table) for name in table[0]})


def print_line(name: str, figures: Figures) -> None:
    """Print a game's figures."""
    print(f"{name:28}" + "".join(f"{value:24.2f}" for value in figures.values()), flush=True)


if __name__ == "__main__":
    main()
