"""The emulator's picture chip against one written apart from it (`offline_chip.py`): all pixels, all collisions."""

import numpy as np
import offline_chip
import pytest
from random_programs import COLOURED, GAMES, OBJECTS, cartridge, random_body

from arcademark.emulator import build


@pytest.fixture(autouse=True)
def core():
    if build.compiler() is None:
        pytest.skip("no C compiler: the console cannot be compiled")


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
