"""The emulator's picture chip against one written apart from it (`offline_chip.py`): all pixels, all collisions."""

import numpy as np
import offline_chip
import pytest
from random_programs import BODY, COLOURED, CXCLR, GAMES, HMCLR, HMOVE, OBJECTS, WSYNC, cartridge, random_body

from arcademark.emulator import build


@pytest.fixture(autouse=True)
def core():
    if build.compiler() is None:
        pytest.skip("no C compiler: the emulator cannot be compiled")


@pytest.mark.slow
@pytest.mark.parametrize("game", ["berzerk", "journey_escape", "robotank", "surround", "yars_revenge"])
def test_games_show_what_an_independent_chip_shows(game):
    compared = offline_chip.compare(game, 30)
    assert compared["frames"] > 90
    assert compared["pixels"] > 2_000_000


COLOURS = [byte for register in range(4) for byte in (0xA9, 0x1E + 0x30 * register, 0x85, 0x06 + register)]


def played(game, body, repeated, frames=10):
    """Play a program under random actions, in drawn frames and others; return what was compared."""
    machine = offline_chip.Recorded(game, cartridge(body, repeated))
    for frame, action in enumerate(np.random.default_rng(0).integers(18, size=frames).tolist()):
        machine._numbers[3] = 0  # the game is not over
        machine.play(action, drawn=frame % 2 == 0)
    return machine.compared


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(4), 2213, 2537])
def test_random_programs_show_what_an_independent_chip_shows(seed):
    """They read collisions at random clocks; the last two found a core that missed some in drawn frames."""
    rng = np.random.default_rng(seed)
    body, repeated = random_body(rng), int(rng.integers(1, 9))
    assert played(GAMES[seed % len(GAMES)], COLOURS + body if seed < 4 else body, repeated)["reads"] > 1_000


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 8))
def test_colours_change_within_lines_as_an_independent_chip_has_it(seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, COLOURED)
    assert played(GAMES[seed], COLOURS + body, int(rng.integers(1, 9)))["pixels"] > 200_000


@pytest.mark.slow
@pytest.mark.parametrize("move", [0x00, 0x10, 0xF0])
def test_what_one_instruction_stores_takes_effect_in_order(move):
    """JSR stores to PF0, which stays as it is and is due up to 5 clocks later, and then to REFP1, due after one clock.

    The beam is past that clock by then: player 1, at that place, is not turned yet and meets the playfield.
    """
    field = [0xA9, 0xF0, 0x85, 0x0D, 0xA9, 0, 0x85, 0x0C, 0x85, 0x1C, 0xA9, move, 0x85, 0x21]
    placed = [*[0xEA] * 8, *(0x85, WSYNC) * 60, *[0xEA] * 24, 0x85, 0x11, 0x85, WSYNC, 0x85, HMOVE, 0x85, WSYNC]
    pushed = [0x85, HMCLR, 0x85, CXCLR, 0xA2, 0x0D, 0x9A, 0xA9, 0x80, 0x85, WSYNC, 0x85, 0x1C, 0x85, HMOVE]
    before = [*field, *placed, *pushed, *[0xEA] * 20, 0x20]
    after = (BODY + len(before) + 2).to_bytes(2, "little")
    body = [*before, *after, 0xA2, 0xFF, 0x9A, *(0x85, WSYNC) * 40]
    assert played("seaquest", body, 1, frames=4)["frames"] > 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DELAYS", {}),
        ("DELAYS", offline_chip.DELAYS | {offline_chip.GRP0: 0}),
        ("FIELD_DELAYS", (4, 5, 2, 2)),
        ("COPIES", offline_chip.COPIES[::-1]),
        ("PAIRS", (*offline_chip.PAIRS[:15], None)),
    ],
)
def test_a_difference_is_found(monkeypatch, name, value):
    monkeypatch.setattr(offline_chip, name, value)
    values = np.random.default_rng(0).integers(256, size=900)
    stores = [[0xA9, value, 0x85, OBJECTS[value % len(OBJECTS)]] for value in values]
    with pytest.raises(AssertionError, match=r"pixels|collisions|register"):
        played("seaquest", COLOURS + np.ravel(stores).tolist(), 8, frames=3)
