"""FIRE, for which some games wait: pressed by a protocol for the agent, and a watch for waiting games.

A protocol whose ``fire_reset`` is true presses FIRE for the agent, in games with FIRE as action 1, like
Stable-Baselines3's ``FireResetEnv`` above its ``EpisodicLifeEnv``:

* At the start, after the no-ops, one agent step for each of `PRESSES`. If the game ends meanwhile, it starts again and
  the remaining press follows.
* After a lost life that does not end the game's play, an agent step of no action, then the same.
* A press that loses a life, but not the last, is followed by a step of no action.

A network that was trained so may never press FIRE itself: `missed` finds such games, and `Watch` ends one that waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from arcademark.environments.base import Environment, EnvironmentSpec, Step
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import AtariProtocol

NOOP = 0
PRESSES = (1, 2)
"""Actions pressed for the agent: FIRE, then the action after it."""

AWAIT_FIRE = frozenset({"breakout", "donkey_kong", "tennis"})
"""Games that do not start until FIRE is pressed once, and again after each lost life.

In a minute of random play without FIRE there is no reward and no lost life; after one press there are.
"""

WAITING_FRAMES = 3_600
"""Frames for which a game may wait for FIRE: one minute."""

MISSED = "wrappers with which {agent} may have been trained press FIRE for the agent on {games}"
REMEDY = "--protocol sb3-atari plays as they do, --override fire_reset=true presses it here"


class PressedGame(Protocol):
    """A game in which actions are pressed for the agent."""

    ended: bool

    @property
    def lives(self) -> int:
        """Lives left."""

    def play_step(self, action: int) -> Step:
        """Play only one agent step."""


def presses(spec: EnvironmentSpec) -> tuple[int, ...]:
    """Return the actions that the protocol presses for the agent in a game: `PRESSES`, or none."""
    return PRESSES if isinstance(spec.protocol, AtariProtocol) and spec.protocol.fire_reset and _has(spec) else ()


def missed(spec: EnvironmentSpec, fire_reset: bool) -> bool:
    """Return True if FIRE was pressed for a network in training (``fire_reset``), but is not pressed in this game."""
    return fire_reset and _has(spec) and not presses(spec)


def waits(spec: EnvironmentSpec, fire_reset: bool) -> bool:
    """Return True if the game may wait endlessly for such a network to press FIRE."""
    return spec.game in AWAIT_FIRE and missed(spec, fire_reset)


def _has(spec: EnvironmentSpec) -> bool:
    """Return True if a reset can press FIRE: as action 1 of three, as in Stable-Baselines3's ``FireResetEnv``."""
    return len(spec.action_meanings) >= 3 and spec.action_meanings[1] == "FIRE"


def press_at_start(game: PressedGame, actions: tuple[int, ...], start_again: Callable[[], None]) -> float:
    """Press actions in a game that has started, and return their raw reward since its last start."""
    total = 0.0
    for action in actions:
        total += _press(game, (action,)).reward
        if game.ended:
            start_again()
            total = 0.0
    return total


def press_after_life(game: PressedGame, actions: tuple[int, ...]) -> Step:
    """Press no action and then actions after a lost life, and return their total result."""
    return _press(game, (NOOP, *actions))


def _press(game: PressedGame, actions: tuple[int, ...]) -> Step:
    total, terminated, truncated = 0.0, False, False
    for action in actions:
        before = game.lives
        reward, terminated, truncated = game.play_step(action)
        total += reward
        if not game.ended and action != NOOP and 0 < game.lives < before:
            reward, terminated, truncated = game.play_step(NOOP)
            total += reward
        if game.ended:
            break
    return Step(total, terminated, truncated)


class Watch:
    """Ends a game that waits for FIRE, from its start or a lost life until FIRE is pressed."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._fires = [number for number, name in enumerate(environment.spec.action_meanings) if "FIRE" in name]

    def begin(self) -> None:
        """Begin to watch an episode."""
        self._waits_since: int | None = 0
        self._lives = self._environment.lives

    def look(self, action: int, reward: float) -> None:
        """Check the game after a step; ArcadeMarkError if it has waited for `WAITING_FRAMES`."""
        frames, lives = self._environment.episode_frames, self._environment.lives
        if action in self._fires or reward:
            self._waits_since = None
        elif lives < self._lives:
            self._waits_since = frames
        self._lives = lives
        if self._waits_since is not None and frames - self._waits_since >= WAITING_FRAMES:
            raise ArcadeMarkError(
                f"the game has waited {WAITING_FRAMES:,} frames for FIRE, which wrappers in training may have pressed "
                f"for the agent, and which is not pressed here; {REMEDY}, --set fire_pressed=false plays on, for "
                "networks that were trained without them"
            )
