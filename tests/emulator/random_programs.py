"""Random programs of 4 KB that store to the picture chip and read its collisions at random clocks."""

import numpy as np

GAMES = ("amidar", "assault", "carnival", "qbert", "riverraid", "seaquest", "superman", "venture")
"""Games of 4 KB whose loading needs no mode to be reached, so that any program can stand in for theirs."""


OBJECTS = (*range(0x04, 0x06), *range(0x0A, 0x15), *range(0x1B, 0x20), *range(0x25, 0x2A))
"""Registers of the picture chip that objects depend on; 0x20 to 0x24 hold what HMOVE (0x2A) moves them by."""

COLOURED = (*range(0x06, 0x0A), *OBJECTS)
"""The same, and the colours."""

VSYNC, VBLANK, WSYNC, HMOVE, HMCLR, CXCLR = 0x00, 0x01, 0x02, 0x2A, 0x2B, 0x2C


BEGIN = [0x78, 0xD8, 0xA2, 0xFF, 0x9A]
FRAME = [0xA9, 2, 0x85, VSYNC, *(0x85, WSYNC) * 3, 0xA9, 0, 0x85, VSYNC, 0x85, VBLANK]
BODY = 0xF000 + len(BEGIN) + len(FRAME) + 4
"""Address of what a cartridge is given to do; the 4 bytes before it set how often."""


def cartridge(body, repeated=1):
    """Return 4 KB that begin a frame, do the body that many times, and so on."""
    begin, again = 0xF000 + len(BEGIN), [0x4C, *BODY.to_bytes(2, "little")]
    times = [0xA9, repeated, 0x85, 0xF0]
    program = bytes(
        [*BEGIN, *FRAME, *times, *body, 0xC6, 0xF0, 0xF0, len(again), *again, 0x4C, *begin.to_bytes(2, "little")]
    )
    return program + bytes([0xEA]) * (0xFFC - len(program)) + bytes([0x00, 0xF0, 0x00, 0xF0])


def random_body(rng, registers=OBJECTS):
    """Return stores to the picture chip and reads of its collisions, which decide what follows."""
    registers = rng.choice(registers, rng.integers(3, len(registers) + 1), replace=False)
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
