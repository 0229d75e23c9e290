"""Digests of what the emulator computes, to compare cores of two checkouts, or interpreter and translations.

    python tests/emulator/digest_states.py [GAMES] [--frames 3000] [--translated] > new
    PYTHONPATH=OTHER_CHECKOUT/src python tests/emulator/digest_states.py [GAMES] > old
    diff old new

Each line has a game, a frame, and a digest of all memory, rewards and drawn screens so far, and of the states after a
quarter of the frames (collisions last into later frames): two of three frames undrawn, under random actions, with
resets, other difficulties, states restored in this emulator and another, and written memory. The first line that
differs names the game, and the frame within 250. Two cores whose states have other layouts cannot be compared.
"""

import argparse
import hashlib

import numpy as np

from arcademark.emulator import games
from arcademark.emulator.machine import WIDTH, Machine
from arcademark.emulator.translate import translated
from arcademark.environments.emulation.atari import rom_path
from arcademark.suite.subsets import resolve_tasks

HELD, DIGESTED, KEPT = 5, 250, 6
"""Frames that an action is held; frames per line; states that may be restored."""


def digests(game, frames, translate):
    """Play a game and yield each line."""
    rom, rng = rom_path(game).read_bytes(), np.random.default_rng(sum(game.encode()))
    chosen = translated(game, rom) if translate else None
    machine, other = Machine(game, rom, chosen=chosen), Machine(game, rom, chosen=chosen)
    screen, total, states = np.empty((machine.rows, WIDTH), np.uint8), hashlib.sha256(), [machine.save()]
    for frame in range(1, frames + 1):
        if frame % HELD == 1:
            action = int(rng.integers(18))
        chance = int(rng.integers(1000))
        if chance < 2:
            machine.reset(machine.mode, 0)
        elif chance < 6:
            machine.restore(states[rng.integers(len(states))])
        elif chance < 10:
            other.restore(machine.save())
            machine, other = other, machine
        elif chance < 14:
            machine.memory[rng.integers(128)] = rng.integers(256)
        elif chance < 16:
            machine.switch(machine.mode, int(rng.integers(4)))
        drawn = int(rng.integers(3)) == 0
        reward = (machine.act if drawn else machine.act_unseen)(action)
        total.update(machine.memory.tobytes() + str(reward).encode())
        if int(rng.integers(4)) == 0:
            states = [*states, machine.save()][-KEPT:]
            total.update(states[-1])
        if drawn:
            machine.screen(screen)
            total.update(screen)
        if machine.game_over():
            machine.reset(machine.mode, 0)
        if frame % DIGESTED == 0:
            yield f"{game} {frame} {total.hexdigest()[:16]}"


def main():
    """Print the lines of the games asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("games", nargs="?", default="all", help="a suite, a subset or games (%(default)s)")
    parser.add_argument("--frames", type=int, default=3_000)
    parser.add_argument("--translated", action="store_true")
    asked = parser.parse_args()
    for game in games.names() if asked.games == "all" else resolve_tasks(asked.games):
        for line in digests(game, asked.frames, asked.translated):
            print(line, flush=True)


if __name__ == "__main__":
    main()
