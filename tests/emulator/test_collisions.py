"""Collisions in frames that are not drawn, where most are ruled out without looking, against frames that are drawn."""

import numpy as np
import pytest

from arcademark.emulator import build
from arcademark.emulator.machine import Machine

GAMES = ("amidar", "assault", "carnival", "qbert", "riverraid", "seaquest", "superman", "venture")
"""Games of 4 KB whose loading needs no mode to be reached, so that any program can stand in for theirs."""


OBJECTS = (*range(0x04, 0x06), *range(0x0A, 0x15), *range(0x1B, 0x20), *range(0x25, 0x2A))
"""Registers of the picture chip that objects depend on; 0x20 to 0x24 hold what HMOVE (0x2A) moves them by."""

VSYNC, VBLANK, WSYNC, HMOVE, HMCLR, CXCLR = 0x00, 0x01, 0x02, 0x2A, 0x2B, 0x2C


@pytest.fixture(autouse=True)
def core():
    if build.compiler() is None:
        pytest.skip("no C compiler: the console cannot be compiled")


def cartridge(body, repeated=1):
    """Return 4 KB: a frame's begin, the body that many times, and over again."""
    begin = [0x78, 0xD8, 0xA2, 0xFF, 0x9A]
    frame = [0xA9, 2, 0x85, VSYNC, *(0x85, WSYNC) * 3, 0xA9, 0, 0x85, VSYNC, 0x85, VBLANK, 0xA9, repeated, 0x85, 0xF0]
    first = 0xF000 + len(begin) + len(frame)
    again = [
        0xC6,
        0xF0,
        0xF0,
        3,
        0x4C,
        *first.to_bytes(2, "little"),
        0x4C,
        *(0xF000 + len(begin)).to_bytes(2, "little"),
    ]
    program = bytes([*begin, *frame, *body, *again])
    return program + bytes([0xEA]) * (0xFFC - len(program)) + bytes([0x00, 0xF0, 0x00, 0xF0])


def chance_body(rng):
    """Return stores to the picture chip; what is read of its collisions decides what follows."""
    registers = rng.choice(OBJECTS, rng.integers(3, len(OBJECTS) + 1), replace=False)
    shares, clears, body = rng.dirichlet(np.full(9, 0.7)), rng.random() < 0.6, []
    while len(body) < 3_600:
        kind, value, memory = (
            rng.choice(9, p=shares),
            rng.integers(256) * (rng.random() < 0.7),
            0x80 + rng.integers(100),
        )
        if kind <= 3:
            body += [0xA9, value, 0x85, rng.choice(registers)]
        elif kind == 4:
            body += [0x85, WSYNC]
        elif kind == 5:
            body += [0xA9, value, 0x85, rng.choice([*range(0x20, 0x25), HMOVE, HMOVE, HMCLR])]
        elif kind == 6:
            body += [0xA5, rng.integers(8), 0x85, memory]
        elif kind == 7:
            body += [0xA6, memory, 0x86, rng.choice(registers)]
        elif clears and rng.random() < 0.3:
            body += [0x85, CXCLR]
        elif rng.random() < 0.2:
            body += [0xA9, 2 * (rng.random() < 0.2), 0x85, VBLANK]
        else:
            body += [0xA5, rng.integers(8), 0x10, 2, 0xE6, memory]
    return [int(byte) for byte in body]


def test_a_clear_within_a_line_is_no_end_of_the_search(core):
    """The lines after it are like its own, whose collision lies to the left of where it came; ale-py reads 0x82."""
    shown = [0x85, WSYNC, 0x85, 0x10, 0xA9, 0xF0, 0x85, 0x0D, 0x85, 0x1B]  # player 0 at the left, and a playfield
    clear = [*(0x85, WSYNC) * 6, *[0xEA] * 30, 0x85, CXCLR]
    program = cartridge([*shown, *clear, *(0x85, WSYNC) * 3, 0xA5, 0x02, 0x85, 0x90], 8)
    for act in ("act", "act_unseen"):
        machine = Machine("seaquest", program)
        getattr(machine, act)(0)
        assert machine.memory[0x10] == 0x82


@pytest.mark.parametrize("first", [0, 20, 40])
def test_what_is_ruled_out_could_not_be_found(core, first):
    """In drawn frames nothing is ruled out by where objects are: states must be the same, to the last bit."""
    for seed in range(first, first + 20):
        rng = np.random.default_rng(seed)
        program = cartridge(chance_body(rng), int(rng.integers(1, 9)))
        drawn, undrawn = (Machine(GAMES[seed % len(GAMES)], program) for _ in range(2))
        states = [drawn.save()]
        for number, action in enumerate(rng.integers(18, size=40).tolist()):
            if number % 10 == 9:
                drawn.restore(states[-5])
                undrawn.restore(states[-5])
            for machine in (drawn, undrawn):
                machine._numbers[3] = 0  # the game is not over
            drawn.act(action)
            undrawn.act_unseen(action)
            states.append(drawn.save())
            assert states[-1] == undrawn.save(), (seed, number)
