"""A keyboard or gamepad as Atari's joystick, from pygame's events (extra ``window``).

Arrows or WASD and the space bar; stick or D-pad and any button. A key tapped since the last read counts as held once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

PARTS = ("UP", "DOWN", "LEFT", "RIGHT", "FIRE")
"""Parts of actions, as in "UPRIGHTFIRE"; "NOOP" has none."""
NONE = ""
"""Part of Enter, which chooses "NOOP" in stepped play."""
TILT = 0.5
"""Minimum tilt of a gamepad's stick that counts; the maximum is 1."""
HELP = "arrows or WASD, space: fire · P: pause · Esc: end"
HELP_STEPPED = f"{HELP} · Enter: no action"


class Stick:
    """State of the joystick and the action that it selects.

    Parameters
    ----------
    meanings : sequence of str
        The name of each action by its index, as `EnvironmentSpec.action_meanings`.

    Attributes
    ----------
    paused : bool
        True if P was pressed an odd number of times.
    begun : bool
        True if FIRE or Enter was pressed since `release`.
    """

    def __init__(self, meanings: Sequence[str]) -> None:
        import pygame

        self._pygame: Any = pygame
        names = (("UP", "w"), ("DOWN", "s"), ("LEFT", "a"), ("RIGHT", "d"))
        self._keys = {getattr(pygame, f"K_{key}"): part for part, letter in names for key in (part, letter)}
        self._keys |= {pygame.K_SPACE: "FIRE", pygame.K_RETURN: NONE}
        self._actions = {
            frozenset(part for part in PARTS if part in meaning): place for place, meaning in enumerate(meanings)
        }
        self._held: dict[Hashable, str] = {}
        self._tapped: dict[Hashable, str] = {}
        self._pads: dict[int, Any] = {}
        self.paused = self.begun = False

    def action(self) -> int:
        """Return the held action: the one with the most held parts, then the one of the latest keys."""
        parts = [*self._held.values(), *self._tapped.values()]
        self._tapped.clear()
        order = {part: place for place, part in enumerate(parts)}
        fitting = (action for action in self._actions if action <= order.keys())
        best = max(fitting, key=lambda action: (len(action), sorted((order[part] for part in action), reverse=True)))
        return self._actions[best]

    def touched(self) -> bool:
        """Return True if an action is held or was tapped; Enter selects no action."""
        return bool(self._held or self._tapped)

    def release(self) -> None:
        """Treat all keys as released until they are pressed again."""
        self._held.clear()
        self._tapped.clear()
        self.begun = False

    def hear(self, event: Any) -> None:
        """Process an event."""
        pygame = self._pygame
        match event.type:
            case pygame.KEYDOWN | pygame.KEYUP:
                self._hear_key(event.key, event.type == pygame.KEYDOWN)
            case pygame.JOYDEVICEADDED:
                pad = pygame.joystick.Joystick(event.device_index)
                self._pads[pad.get_instance_id()] = pad  # keeps it open
            case pygame.JOYDEVICEREMOVED:
                self._pads.pop(event.instance_id, None)
                self._held.clear()
            case pygame.JOYAXISMOTION if event.axis < 2:
                self._tilt(event.instance_id, "stick", event.axis, event.value)
            case pygame.JOYHATMOTION:
                for axis, value in enumerate((event.value[0], -event.value[1])):
                    self._tilt(event.instance_id, "hat", axis, value)
            case pygame.JOYBUTTONDOWN | pygame.JOYBUTTONUP:
                self._press((event.instance_id, event.button), "FIRE", event.type == pygame.JOYBUTTONDOWN)

    def _hear_key(self, key: int, down: bool) -> None:
        pygame = self._pygame
        if key in self._keys:
            self._press(key, self._keys[key], down)
        elif key == pygame.K_p and down:
            self.paused = not self.paused

    def _tilt(self, pad: int, what: str, axis: int, value: float) -> None:
        for part, tilted in zip((("LEFT", "RIGHT"), ("UP", "DOWN"))[axis], (value < -TILT, value > TILT), strict=True):
            source = (pad, what, part)
            if tilted != (source in self._held):
                self._press(source, part, tilted)

    def _press(self, source: Hashable, part: str, down: bool) -> None:
        self._held.pop(source, None)
        if down:
            self._tapped.pop(source, None)
            self._held[source] = self._tapped[source] = part
            self.begun |= part in ("FIRE", NONE)
