"""Consoles that keep what ale-py's saved states do not hold: what follows a restore is as it would have been."""

import ale_py
import numpy as np
import pytest

from arcademark.environments.emulation.atari import rom_path
from arcademark.environments.emulation.atari_apart import MiniatureGolfConsole, open_console


@pytest.mark.slow
def test_a_machine_that_thinks_is_exact():
    """Video Chess cuts frames short while it thinks; states around such frames are restored from one another."""
    console, rng = open_console("video_chess"), np.random.default_rng(3)
    console.start(rng)
    whole = console._packer.whole
    history, cut, left, action = [], [], 0, 0
    while len(cut) < 20:
        if left == 0:
            action, left = int(rng.integers(18)), int(rng.choice([1, 2, 5, 15, 40]))
        left -= 1
        history.append((console.save(), action, seen(console, action)))
        if not whole(console._packer.pack(console._ale.cloneState())):
            cut.append(len(history))
        assert len(history) < 20_000
    points = [place for place in range(len(history) - 3) if min(abs(place - frame) for frame in cut) < 12]
    points += rng.integers(cut[0], size=20).tolist()
    for place in rng.permutation(points).tolist():
        console.restore(history[place][0])
        for state, action, moment in history[place : place + 3]:
            assert console.save() == state
            assert seen(console, action) == moment


def seen(console, action):
    """Play a frame, and return what can be seen."""
    reward = console.act(action)
    ram, screen = np.empty(console.ram_size, np.uint8), np.empty(console.screen_shape, np.uint8)
    console.ram(ram)
    console.screen(screen)
    return reward, ram.tobytes(), screen.tobytes(), console.game_over(), console.lives()


def golf_events(rng, frames):
    """Yield joystick actions, and bytes written into the memory that finish holes and count strokes."""
    level = 1
    for _ in range(frames):
        yield None, int(rng.integers(18))
        if rng.random() < 0.01:
            level = (level + 1) % 9
            yield MiniatureGolfConsole.LEVEL, level
        if rng.random() < 0.01:
            yield MiniatureGolfConsole.LEFT, 16 * int(rng.integers(10)) + int(rng.integers(10))
        if rng.random() < 0.02:
            yield MiniatureGolfConsole.RIGHT, int(rng.integers(5))


@pytest.mark.parametrize("seed", range(4))
def test_miniature_golf_pays_after_a_restore_as_it_would_have(seed):
    """Against an emulator that never restores: holes finished, and the end of the round."""
    bare = ale_py.ALEInterface()
    bare.setFloat("repeat_action_probability", 0.0)
    bare.loadROM(rom_path("miniature_golf"))
    console, rng = open_console("miniature_golf"), np.random.default_rng(seed)
    console.start(rng)
    paid = 0
    for place, value in golf_events(rng, 900):
        if place is not None:
            bare.setRAM(place, value)
            console._ale.setRAM(place, value)
            continue
        reward = bare.act(value)
        assert (console.act(value), console.game_over()) == (reward, bare.game_over())
        paid += reward != 0
        if rng.random() < 0.2:
            state = console.save()
            for _ in range(3):
                console.act(1)
            console.restore(state)
            assert console.save() == state
    assert paid > 2
    assert bare.game_over()
