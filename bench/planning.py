"""Measure the cost of planning, as a ratio to the bare emulator on the same core in the same run.

    python bench/planning.py [--games asterix,seaquest] [--rounds 20] [--states 100000] [--simulations 500]

1. The limit: ``ALEInterface.act`` in a loop, and the cost of ``cloneState`` and ``restoreState``.
2. The generative model: its time for a step of 5 frames, a save and a restore, to that of the bare calls. All are timed
   on one emulator, since its address in memory alone changes its speed by some hundredths.
3. Memory: bytes per state with all of its Python objects, the length of the emulator's own state, the size of a
   compressed state, and the time for compression.
4. The searches themselves, see ``searches.py``.

Times are of this process, medians of interleaved rounds.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import ale_py
import numpy as np
from rich.console import Console
from rich.table import Table

import searches
from arcademark.environments.emulation.atari import AleEmulator
from arcademark.environments.generative import GenerativeModel, State, snapshot
from arcademark.environments.registry import EmulatorName, environment_spec, open_environment, open_model
from arcademark.suite.protocols import protocol

PROTOCOL = "ale-2013"
FRAMES_PER_ACTION = 5
STEPS = 100
"""Agent steps per round."""
ACTIONS = (1, 2, 3, 4, 5) * (STEPS // 5)


@dataclass(frozen=True)
class RawCosts:
    """Times of the bare emulator's calls in a game, in microseconds; medians over rounds."""

    frame: float
    clone: float
    restore: float

    def limit(self, frames: int, saves: int, restores: int) -> float:
        """Return the microseconds that the emulator alone needs for these calls."""
        return frames * self.frame + saves * self.clone + restores * self.restore


def start(game: str, emulator: EmulatorName | None = None) -> tuple[GenerativeModel, State]:
    """Return a model of a game, and a state soon after the start to search from."""
    spec = environment_spec(game, protocol(PROTOCOL), FRAMES_PER_ACTION)
    environment = open_environment(spec, emulator=emulator)
    environment.reset(np.random.default_rng(0))
    for _ in range(10):
        environment.step(0)
    model = open_model(spec, emulator=emulator)
    state = snapshot(environment)
    model.restore(state)
    return model, state


def bare_emulator(game: str) -> ale_py.ALEInterface:
    """Return ale-py's emulator in the state at which searches begin."""
    console = start(game, "ale")[0]._emulator
    assert isinstance(console, AleEmulator)
    return console._ale


def microseconds(work: Callable[[], object]) -> float:
    """Return the processor time of a call in microseconds."""
    begin = time.process_time_ns()
    work()
    return (time.process_time_ns() - begin) / 1000


def raw_costs(game: str, rounds: int = 20) -> RawCosts:
    """Time the bare emulator's frame, save and restore, in turns on one emulator."""
    ale = bare_emulator(game)
    begin = ale.cloneState()
    times = [_raw_round(ale, begin) for _ in range(rounds + 1)][1:]
    return RawCosts(*(statistics.median(each) for each in zip(*times, strict=True)))


def _raw_round(ale: ale_py.ALEInterface, begin: ale_py.ALEState) -> tuple[float, float, float]:
    act, clone, restore = ale.act, ale.cloneState, ale.restoreState
    restore(begin)
    states: list[ale_py.ALEState] = []

    def play() -> None:
        for action in ACTIONS:
            act(action)
            act(action)
            act(action)
            act(action)
            act(action)

    def save() -> None:
        states.extend([clone() for _ in ACTIONS])

    def back() -> None:
        for state in states:
            restore(state)

    frames, clones, restores = microseconds(play), microseconds(save), microseconds(back)
    return frames / STEPS / FRAMES_PER_ACTION, clones / STEPS, restores / STEPS


def model_ratios(game: str, rounds: int = 20) -> list[float]:
    """Return ratios of the model's time for a step, a save and a restore to the bare calls', one per round."""
    model, state = start(game)
    bare = model_rounds(model, state), bare_rounds(bare_emulator(game))
    for play in bare:
        play()
    return [ours / limit for ours, limit in (in_turn(*bare, number) for number in range(rounds))]


def in_turn(first: Callable[[], float], second: Callable[[], float], number: int) -> tuple[float, float]:
    """Return the results of both functions, called in an order that alternates between rounds."""
    if number % 2:
        return first(), second()
    b = second()
    return first(), b


def model_rounds(model: GenerativeModel, begin: State) -> Callable[[], float]:
    """Return a function that plays a round on the model: it saves each step and restores the state before it."""
    step, save, restore = model.step, model.save, model.restore

    def search() -> None:
        before = begin
        for action in ACTIONS:
            step(action)
            after = save()
            restore(before)
            before = after

    def play() -> float:
        restore(begin)
        return microseconds(search)

    return play


def bare_rounds(ale: ale_py.ALEInterface) -> Callable[[], float]:
    """Return a function that does the same on the bare emulator."""
    act, clone, put = ale.act, ale.cloneState, ale.restoreState
    begin = clone()

    def search() -> None:
        before = begin
        for action in ACTIONS:
            act(action)
            act(action)
            act(action)
            act(action)
            act(action)
            after = clone()
            put(before)
            before = after

    def play() -> float:
        put(begin)
        return microseconds(search)

    return play


@dataclass(frozen=True)
class Memory:
    """Sizes of a state in bytes: with all its Python objects, the emulator's own, compressed; and compression time."""

    state: float
    emulator_state: float
    compressed: float
    compress_microseconds: float


def memory(game: str, states: int) -> Memory:
    """Measure the memory per state of many different states."""
    model, begin = start(game)
    rng = np.random.default_rng(0)
    tracemalloc.start()
    kept = list(different_states(model, begin, rng, states))
    gc.collect()
    size = tracemalloc.get_traced_memory()[0] / len(kept)
    tracemalloc.stop()
    bodies = [state.inner for state in kept[:1000] if isinstance(state.inner, bytes)]
    squeezed: list[bytes] = []
    spent = microseconds(lambda: squeezed.extend([zlib.compress(body, 1) for body in bodies]))
    saved = statistics.fmean(map(len, bodies)) - statistics.fmean(map(len, squeezed))
    own = statistics.fmean(len(bare_emulator(game).cloneState().serialize()) for _ in range(3))
    return Memory(size, own, size - saved, spent / len(bodies))


def different_states(model: GenerativeModel, begin: State, rng: np.random.Generator, number: int) -> Iterator[State]:
    """Yield the states after each step of random play, which returns to `begin` after the game ends."""
    for action in rng.integers(model.num_actions, size=number).tolist():
        if model.ended:
            model.restore(begin)
        model.step(action)
        yield model.save()


def model_table(games: Sequence[str], rounds: int, states: int) -> Table:
    """Return a table with one row per game: the emulator's times, the model's ratio, and the memory of states."""
    table = Table(title="The emulator (times in microseconds), and the model to it: medians [quartiles]")
    for name in ("game", "frames/s", "save", "restore", "model", "bytes a state", "bare", "compressed"):
        table.add_column(name, justify="left" if name == "game" else "right")
    for game in games:
        raw, ratios, size = raw_costs(game, rounds), model_ratios(game, rounds), memory(game, states)
        low, middle, high = statistics.quantiles(ratios, n=4)
        table.add_row(
            game,
            f"{1e6 / raw.frame:,.0f}",
            f"{raw.clone:.1f}",
            f"{raw.restore:.1f}",
            f"{middle:.3f} [{low:.2f}–{high:.2f}]",
            f"{size.state:,.0f}",
            f"{size.emulator_state:,.0f}",
            f"{size.compressed:,.0f} ({size.compress_microseconds:.0f} µs)",
        )
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Cost of planning as a ratio to the bare emulator.")
    parser.add_argument("--games", default=",".join(searches.GAMES))
    parser.add_argument("--rounds", type=int, default=20, help="rounds of the first part; a quarter for the searches")
    parser.add_argument("--states", type=int, default=100_000, help="number of states to measure their memory")
    parser.add_argument("--simulations", type=int, default=500, help="simulations per decision of UCT")
    parser.add_argument("--frames", type=int, default=40_000, help="budget of a decision by breadth-first search")
    arguments = parser.parse_args()
    games, terminal = arguments.games.split(","), Console(width=120)
    terminal.print(model_table(games, arguments.rounds, arguments.states))
    rounds = max(arguments.rounds // 4, 2)
    kept = searches.measure(terminal, games, rounds, arguments.frames, arguments.simulations)
    terminal.print("All limits are kept." if kept else "Not all limits are kept.")
    sys.exit(not kept)


if __name__ == "__main__":
    main()
