"""Collisions are found when they are asked for."""

import numpy as np
import pytest
from random_programs import CXCLR, GAMES, WSYNC, cartridge, random_body

from arcademark.emulator import build
from arcademark.emulator.machine import Machine


@pytest.fixture(autouse=True)
def core():
    if build.compiler() is None:
        pytest.skip("no C compiler: the console cannot be compiled")


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
