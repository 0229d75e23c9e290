"""Collisions, found when a program reads them or a state is saved, and pictures that end within a line."""

import numpy as np
import pytest
from random_programs import CXCLR, GAMES, HMOVE, VSYNC, WSYNC, cartridge, random_body

from arcademark.emulator import build
from arcademark.emulator.machine import Machine


@pytest.fixture(autouse=True)
def core():
    if build.compiler() is None:
        pytest.skip("no C compiler: the emulator cannot be compiled")


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
def test_collisions_do_not_depend_on_when_they_are_asked_for(core, first):
    """States must be the same to the last bit, in drawn frames and others, whenever they are saved."""
    for seed in range(first, first + 20):
        rng = np.random.default_rng(seed)
        program = cartridge(random_body(rng), int(rng.integers(1, 9)))
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
            assert (drawn.memory == undrawn.memory).all(), (seed, number)
            if seed % 2 or number % 7 == 6:
                assert states[-1] == undrawn.save(), (seed, number)


def test_where_a_picture_ends_on_a_line_with_a_bar_most_is_blank_that_a_halt_has_blanked(core):
    """The beam halts 18 clocks into the line, at the second HMOVE, and blanks as far as pixel 57; then at 27."""
    cut = [0xA9, 2, 0xA2, 0, 0x85, VSYNC, *(0x85, WSYNC) * 2, *(0x85, HMOVE) * 2, 0x86, VSYNC]
    shown = [0xA9, 0x1E, 0x85, 0x09, *(0x85, WSYNC) * 100, 0xA5, 0x90, 0xF0, len(cut)]
    machine = Machine("seaquest", cartridge([*shown, *cut, *(0x85, WSYNC) * 140]))
    screen = np.empty((machine.rows, 160), np.uint8)
    for cut_short in (0, 0, 0, 1):
        machine.memory[0x10] = cut_short
        machine._numbers[3] = 0  # the game is not over
        machine.act(0)
    machine.screen(screen)
    (row,) = np.flatnonzero((screen == 0).any(1) & (screen == 0x1E).any(1))
    assert np.flatnonzero(screen[row]).tolist() == list(range(58, 160))
