"""Measure the speed of planners, as a ratio to the bare emulator with the same frames, saves and restores.

    python bench/searches.py [--rounds 5] [--games asterix,seaquest,space_invaders] [--simulations 500] [--frames 40000]

This is also the last part of ``bench/planning.py``. A search is recorded once: every action with its frames, every
state that was saved and restored, in order. "Limit" plays only this record on the bare emulator (``ALEInterface.act``,
``cloneState``, ``restoreState``), so it is the cost of the same search without a tree. "Ours" searches again from the
same state with the same generator, and therefore emulates the same frames. The two take turns, pinned to one core, on
one emulator, since its address in memory alone changes its speed by some hundredths. Speeds are frames per second of
processor time, and a ratio is of two speeds in the same round. The tables show medians, with the quartiles in brackets.

* "breadth-first" has a budget of ``--frames``; it saves and restores once per node.
* "uct" runs ``--simulations`` with a horizon of 300 frames; it saves once per node and restores once per rollout.
* "plain" is a simple UCT on ale-py (``plain_uct.py``). It does not prune duplicates and searches another tree, so
  frames per second are compared, too.
* "two processes" is UCT in two simultaneous processes, to two simultaneous limits, each on its own core.

Every search begins after 100 random actions of an episode under ``ale-2013`` (5 frames per action, 18 actions). Memory
is the growth of the process in a breadth-first search of 133,000 frames, divided by the nodes of the tree.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

import ale_py
import numpy as np
from rich.console import Console
from rich.table import Table

from arcademark.classic.planning.breadth_first import BreadthFirst
from arcademark.classic.planning.tree import TreePlanner
from arcademark.classic.planning.uct import UCT
from arcademark.environments.emulation.atari import rom_path
from arcademark.environments.generative import GenerativeModel, State, snapshot
from arcademark.environments.registry import environment_spec, open_environment, open_model
from arcademark.suite.protocols import protocol
from arcademark.suite.tasks import JOYSTICK_ACTIONS
from plain_uct import PlainUCT

GAMES = ("asterix", "seaquest", "space_invaders")
WARM_UP = 100
"""Random actions before a search begins."""

FRAMES = 5
HORIZON = 300
MEMORY_FRAMES = 133_000
RATIO_LIMIT, TWO_LIMIT, BYTES_LIMIT = 0.90, 0.95, 2_000

STEP, SAVE, RESTORE = range(3)
Record = list[tuple[int, int, int]]
"""(STEP, console action, frames), (SAVE, number, 0) or (RESTORE, number, 0), in order; the root is number 0."""

Play = Callable[[], float]
"""Plays a round and returns frames per second of processor time."""

Speeds = dict[str, list[float]]


def warm_up_actions() -> list[int]:
    """Return the actions before a search, from the full set, in which indices are the console's numbers."""
    actions: list[int] = np.random.default_rng(0).integers(len(JOYSTICK_ACTIONS), size=WARM_UP).tolist()
    return actions


def opened(game: str) -> tuple[GenerativeModel, State]:
    """Return a model and the state at which searches begin."""
    spec = environment_spec(game, protocol("ale-2013"))
    environment = open_environment(spec)
    environment.reset(np.random.default_rng(0))
    for action in warm_up_actions():
        environment.step(action)
    model, state = open_model(spec), snapshot(environment)
    model.restore(state)
    return model, state


def bare_emulator(game: str) -> ale_py.ALEInterface:
    """Return the emulator in the same state."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(rom_path(game))
    for action in warm_up_actions():
        for _ in range(FRAMES):
            ale.act(action)
    return ale


def make_planner(name: str, model: GenerativeModel, amount: int) -> TreePlanner:
    """Return a planner with `amount` simulations or frames per decision."""
    if name == "uct":
        return UCT(model.spec, simulations=amount, horizon_frames=HORIZON)
    return BreadthFirst(model.spec, frames_per_decision=amount)


def search(planner: Any, model: Any, state: State) -> None:
    """Make one decision, without an earlier tree."""
    for _ in planner.plan(model, state, True, np.random.default_rng(0)):
        pass


class Recorder:
    """A model that records the steps, saves and restores that are really done."""

    def __init__(self, model: GenerativeModel) -> None:
        self.model, self.spec, self.num_actions = model, model.spec, model.num_actions
        self.record: Record = []
        self.numbers: dict[State, int] = {}

    @property
    def frames(self) -> int:
        return self.model.frames

    def save(self) -> State:
        new = self.model.here is None
        state = self.model.save()
        if new:  # a duplicate gets the number of the state that it equals
            self.record.append((SAVE, self.numbers.setdefault(state, len(self.numbers)), 0))
        return state

    def restore(self, state: State) -> None:
        number = self.numbers.setdefault(state, len(self.numbers))
        if self.model.here != state:
            self.record.append((RESTORE, number, 0))
        self.model.restore(state)

    def step(self, action: int) -> Any:
        before = self.model.frames
        result = self.model.step(action)
        self.record.append((STEP, action, self.model.frames - before))
        return result


def recorded(game: str, name: str, amount: int) -> Record:
    """Return the record of a search."""
    model, state = opened(game)
    recorder = Recorder(model)
    search(make_planner(name, model, amount), recorder, state)
    return recorder.record


def frames_of(record: Record) -> int:
    """Return the number of frames that a record emulates."""
    return sum(frames for what, _, frames in record if what == STEP)


def limit(ale: ale_py.ALEInterface, record: Record) -> Play:
    """Return a function that plays a record on the bare emulator, from the emulator's present state."""
    root = ale.cloneState()
    act, clone, put = ale.act, ale.cloneState, ale.restoreState
    total = frames_of(record)

    def play() -> float:
        states: dict[int, Any] = {0: root}
        put(root)
        begin = time.process_time()
        for what, argument, frames in record:
            if what == STEP:
                for _ in range(frames):
                    act(argument)
            elif what == SAVE:
                states[argument] = clone()
            else:
                put(states[argument])
        return total / (time.process_time() - begin)

    return play


def ours(name: str, amount: int, model: GenerativeModel) -> Play:
    """Return a function that searches from the model's present state, with a new planner each time."""
    state = model.save()

    def play() -> float:
        planner = make_planner(name, model, amount)
        model.restore(state)
        before, begin = model.frames, time.process_time()
        search(planner, model, state)
        return (model.frames - before) / (time.process_time() - begin)

    return play


def both(game: str, name: str, amount: int) -> tuple[Record, dict[str, Play]]:
    """Return the record of a search, and functions for the limit and ours, warmed up."""
    record = recorded(game, name, amount)
    model, _ = opened(game)
    plays = {"limit": limit(bare_emulator(game), record), "ours": ours(name, amount, model)}
    ours(name, max(amount // 20, 1), model)()
    return record, plays


def plain(uct: PlainUCT, simulations: int) -> Play:
    """Return a function that runs the simple UCT on ale-py."""

    def play() -> float:
        begin = time.process_time()
        uct.search(simulations)
        return uct.frames / (time.process_time() - begin)

    return play


def alternate(plays: dict[str, Play], rounds: int) -> Speeds:
    """Play contestants in turn; return the speeds of each, one per round."""
    names = list(plays)
    speeds: Speeds = {name: [] for name in names}
    for i in range(rounds):
        for name in names if i % 2 else reversed(names):
            speeds[name].append(plays[name]())
    return speeds


def serve(core: int, game: str, amount: int, connection: Connection) -> None:
    """Play rounds on demand in a separate process, until it receives "stop"."""
    pin({core})
    _, plays = both(game, "uct", amount)
    connection.send(0.0)
    while (order := connection.recv()) != "stop":
        connection.send(plays[order]())


def two_processes(game: str, amount: int, rounds: int, cores: Sequence[int]) -> list[float]:
    """Return the ratios of UCT to its limit, each in two simultaneous processes, one per round."""
    context = multiprocessing.get_context("spawn")
    connections, processes = [], []
    for core in cores[:2]:
        mine, theirs = context.Pipe()
        process = context.Process(target=serve, args=(core, game, amount, theirs), daemon=True)
        process.start()
        connections.append(mine)
        processes.append(process)
    for connection in connections:
        connection.recv()

    def together(order: str) -> float:
        for connection in connections:
            connection.send(order)
        return sum(float(connection.recv()) for connection in connections)

    speeds = alternate({"limit": lambda: together("limit"), "ours": lambda: together("ours")}, rounds)
    for connection, process in zip(connections, processes, strict=True):
        connection.send("stop")
        process.join()
    return ratios(speeds)


def resident() -> int:
    """Return this process's resident memory in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def weigh(game: str, connection: Connection) -> None:
    """Send the number of nodes of a tree and its size in bytes, including states."""
    model, state = opened(game)
    planner = BreadthFirst(model.spec, frames_per_decision=MEMORY_FRAMES)
    plan = planner.plan(model, state, True, np.random.default_rng(0))
    next(plan)
    root = planner.root
    assert root is not None
    gc.collect()
    before, nodes = resident(), sum(1 for _ in root.walk())
    for _ in plan:
        pass
    gc.collect()
    connection.send((sum(1 for _ in root.walk()) - nodes, resident() - before))


def bytes_a_node(game: str) -> float:
    """Return the memory per node of a breadth-first tree, measured in a separate process."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    process = context.Process(target=weigh, args=(game, theirs), daemon=True)
    process.start()
    nodes, size = mine.recv()
    process.join()
    return float(size / nodes)


def pin(cores: set[int]) -> None:
    """Pin this process to some cores, if the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def ratios(speeds: Speeds) -> list[float]:
    """Return the ratios of ours to its limit, one per round."""
    return [a / b for a, b in zip(speeds["ours"], speeds["limit"], strict=True)]


def shown(values: Sequence[float]) -> str:
    """Return the median and quartiles as text."""
    if len(values) < 2:
        return f"{values[0]:.3f}"
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{median:.3f} [{low:.2f}–{high:.2f}]"


def compare(console: Console, games: Sequence[str], rounds: int, frames: int, simulations: int) -> bool:
    """Print a table with one row per game and planner; return True if their limits are kept."""
    table = Table(title="Frames per second of a search, and of the bare emulator doing the same")
    for name in ("game", "planner", "saves", "limit", "ours", "ours to limit", "at least"):
        table.add_column(name, justify="left" if name in ("game", "planner") else "right")
    other = Table(title="Simulations per second of UCT")
    for name in ("game", "ours", "plain", "ours to plain", "the same in frames"):
        other.add_column(name, justify="left" if name == "game" else "right")
    kept = True
    for game in games:
        for name, amount in (("breadth-first", frames), ("uct", simulations)):
            record, plays = both(game, name, amount)
            if name == "uct":
                peer = PlainUCT(bare_emulator(game), len(JOYSTICK_ACTIONS), HORIZON // FRAMES)
                plays["plain"] = plain(peer, amount)
            speeds = alternate(plays, rounds)
            kept &= statistics.median(ratios(speeds)) >= RATIO_LIMIT
            middle = [f"{statistics.median(speeds[who]):,.0f}" for who in ("limit", "ours")]
            saves = sum(what == SAVE for what, _, _ in record)
            table.add_row(game, name, f"{saves:,}", *middle, shown(ratios(speeds)), f"{RATIO_LIMIT:.2f}")
        other.add_row(game, *against_plain(speeds, simulations / frames_of(record), simulations / peer.frames))
    console.print(table)
    console.print(other)
    return kept


def against_plain(speeds: Speeds, ours_a_frame: float, plain_a_frame: float) -> list[str]:
    """Return a row's cells, given each one's simulations per frame."""
    in_frames = [a / b for a, b in zip(speeds["ours"], speeds["plain"], strict=True)]
    rates = (("ours", ours_a_frame), ("plain", plain_a_frame))
    middle = [f"{a_frame * statistics.median(speeds[who]):.1f}" for who, a_frame in rates]
    return [*middle, shown([value * ours_a_frame / plain_a_frame for value in in_frames]), shown(in_frames)]


def measure(console: Console, games: Sequence[str], rounds: int, frames: int, simulations: int) -> bool:
    """Print all measurements of searches; return True if all limits are kept."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0, 1]
    pin({cores[0]})
    kept = compare(console, games, rounds, frames, simulations)
    size = bytes_a_node(games[0])
    kept &= size <= BYTES_LIMIT
    console.print(f"Memory per node in {games[0]}, with its state: {size:,.0f} bytes (limit {BYTES_LIMIT:,}).")
    pin(set(cores))
    if len(cores) > 1:
        two = two_processes(games[0], simulations, rounds, cores)
        kept &= statistics.median(two) >= TWO_LIMIT
        console.print(f"UCT in two processes to two limits, {games[0]}: {shown(two)} (at least {TWO_LIMIT}).")
    return kept


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Speed of planners as a ratio to the bare emulator.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", default=",".join(GAMES))
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--frames", type=int, default=40_000, help="budget of breadth-first search")
    arguments = parser.parse_args()
    console = Console()
    kept = measure(
        console, arguments.games.split(","), arguments.rounds, arguments.frames, arguments.simulations
    )  # fmt: skip
    console.print("All limits are kept." if kept else "Not all limits are kept.")
    sys.exit(not kept)


if __name__ == "__main__":
    main()
