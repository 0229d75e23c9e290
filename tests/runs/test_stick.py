"""Keys and a gamepad as the console's joystick, by pygame's events."""

import pygame
import pytest

from arcademark.runs.playing.joystick import Stick
from arcademark.suite.tasks import JOYSTICK_ACTIONS, games


class Held:
    """A joystick and the names of its actions."""

    def __init__(self, meanings=JOYSTICK_ACTIONS):
        self.stick, self.meanings = Stick(meanings), meanings

    def press(self, *keys, down=True):
        for key in keys:
            self.hear(pygame.KEYDOWN if down else pygame.KEYUP, key=pygame.key.key_code(key))
        return self

    def hear(self, kind, **said):
        self.stick.hear(pygame.event.Event(kind, **said))
        return self

    @property
    def action(self):
        return self.meanings[self.stick.action()]


@pytest.fixture(autouse=True)
def _pygame(driver):
    pygame.display.init()


@pytest.mark.parametrize(
    ("game", "keys", "action"),
    [
        ("", (), "NOOP"),
        ("", ("up",), "UP"),
        ("", ("w", "d"), "UPRIGHT"),
        ("", ("left", "down", "space"), "DOWNLEFTFIRE"),
        ("", ("left", "right"), "RIGHT"),  # the later one
        ("", ("d", "a", "space"), "LEFTFIRE"),
        ("", ("return", "x"), "NOOP"),
        ("pong", ("up", "right", "space"), "RIGHTFIRE"),
        ("pong", ("up",), "NOOP"),
        ("qbert", ("up", "right"), "RIGHT"),  # has no UPRIGHT: the later one
        ("qbert", ("right", "up"), "UP"),
        ("journey_escape", ("up", "space"), "UP"),
    ],
)
def test_keys_are_an_action_and_of_what_a_game_lacks_the_largest_part(game, keys, action):
    held = Held(games()[game].minimal_actions if game else JOYSTICK_ACTIONS).press(*keys)
    assert [held.action, held.action] == [action, action]
    assert held.press(*keys, down=False).action == "NOOP"


def test_a_tapped_key_counts_once():
    held = Held().press("left").press("left", down=False).press("space")
    assert held.stick.touched()
    assert [held.action, held.action] == ["LEFTFIRE", "FIRE"]
    held.press("space", down=False)
    assert not held.stick.touched()


def test_what_is_released_is_forgotten():
    held = Held().press("space")
    assert held.stick.begun
    held.stick.release()
    assert (held.stick.begun, held.action) == (False, "NOOP")
    assert held.press("space", down=False).press("left").action == "LEFT"
    assert not held.stick.begun


def test_a_gamepad_is_a_joystick():
    held = Held()
    held.hear(pygame.JOYAXISMOTION, instance_id=1, axis=0, value=-0.9)
    held.hear(pygame.JOYAXISMOTION, instance_id=1, axis=1, value=0.3)
    held.hear(pygame.JOYBUTTONDOWN, instance_id=1, button=2)
    assert [held.action, held.action] == ["LEFTFIRE", "LEFTFIRE"]
    held.hear(pygame.JOYAXISMOTION, instance_id=1, axis=0, value=0.8)
    held.hear(pygame.JOYBUTTONUP, instance_id=1, button=2)
    assert held.action == "RIGHT"
    held.hear(pygame.JOYAXISMOTION, instance_id=1, axis=0, value=0.0)
    held.hear(pygame.JOYHATMOTION, instance_id=1, hat=0, value=(1, 1))
    assert held.action == "UPRIGHT"
    held.hear(pygame.JOYAXISMOTION, instance_id=1, axis=5, value=1.0)  # a trigger
    held.hear(pygame.JOYDEVICEREMOVED, instance_id=1)
    assert held.action == "NOOP"
    held.press("p")
    assert held.stick.paused
    assert not held.press("p").stick.paused
