"""How fast the console is, as ratios of CPU time to bare ale-py in the same process.

    python bench/console.py [--games atari-57] [--frames 2000] [--rounds 5] [--translated]

1. Frames of which the last two of each four are drawn and read, a call a frame as the environment makes them.
2. Frames without screens.
3. The same two in one call for many frames, without Python in between.
4. Saving and restoring a state, in microseconds.

Medians of interleaved rounds; the last line is the median of the games.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import ale_py
import numpy as np

from arcademark.console.machine import WIDTH, Machine
from arcademark.console.translate import translated
from arcademark.environments.atari import rom_path
from arcademark.suite.subsets import resolve_tasks

COLUMNS = ("2 of 4 drawn", "none drawn", "one call, 2 of 4", "one call, none", "save", "restore")
HELD = 4
"""Frames that a random action is held."""


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of this process that something takes."""
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
        """Play all frames on ale-py and read the last two of each four screens."""
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
        """Play all frames on the console, `seen` of each four drawn and read."""
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
        """Play all frames on the console in as few calls as games end."""
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

    def ratios(self) -> list[float]:
        """Return one round's figures, in the order of the columns."""
        bare = cpu(self.play_ale)
        ours = [cpu(lambda: self.play_ours(2)), cpu(lambda: self.play_ours(0))]
        ours += [cpu(lambda: self.play_at_once(2)), cpu(lambda: self.play_at_once(0))]
        return [bare / part for part in ours] + self.state_times()

    def state_times(self, times: int = 1_000) -> list[float]:
        """Return microseconds to save and to restore."""
        machine, state = self.machine, self.our_start

        def restore() -> None:
            for _ in range(times):
                machine.restore(state)

        save = cpu(lambda: [machine.save() for _ in range(times)])
        return [1e6 * save / times, 1e6 * cpu(restore) / times]


def main() -> None:
    """Measure the games asked for and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", default="atari-57", help="a suite, a subset or games (%(default)s)")
    parser.add_argument("--frames", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--translated", action="store_true", help="with each cartridge translated, not interpreted")
    asked = parser.parse_args()
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    print(f"{'times as fast as bare ale-py':28}" + "".join(f"{column:>18}" for column in COLUMNS))
    table = []
    for game in resolve_tasks(asked.games):
        pair = Pair(game, asked.frames, asked.translated)
        rounds = [pair.ratios() for _ in range(asked.rounds)]
        table.append([statistics.median(column) for column in zip(*rounds, strict=True)])
        print(f"{game:28}" + _figures(table[-1]), flush=True)
    print(f"{'median':28}" + _figures([statistics.median(column) for column in zip(*table, strict=True)]))


def _figures(values: list[float]) -> str:
    units = ("×", "×", "×", "×", " µs", " µs")
    return "".join(f"{f'{value:.2f}{unit}':>18}" for value, unit in zip(values, units, strict=True))


if __name__ == "__main__":
    main()
