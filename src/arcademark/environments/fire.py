"""FIRE, without which some games stand still: who presses it, when, and what happens where nobody does.

A protocol whose ``fire_reset`` is true presses it for the agent, in games whose action 1 it is, as Stable-Baselines3's
``FireResetEnv`` above its ``EpisodicLifeEnv`` does:

* At the start, after the no-ops, an agent step each of `PRESSES`. Should the game end meanwhile, it starts again and
  the remaining press follows.
* After a lost life that does not end the game's play, an agent step of no action, then the same.
* A press that loses a life, but not the last, is followed by a step of no action.

A network that was trained so may never press FIRE itself: `missed` tells, and `Watch` gives up a game that waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from arcademark.environments.base import Environment, EnvironmentSpec, Step
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import AtariProtocol

NOOP = 0
PRESSES = (1, 2)
"""What is pressed for the agent: FIRE, then the action after it."""

AWAIT_FIRE = frozenset({"breakout", "donkey_kong", "tennis"})
"""Games that stand still until FIRE is pressed once, and again after each lost life.

Random play sees no reward and no lost life in a minute without it, and does once it was pressed, without any more.
"""

WAITING_FRAMES = 3_600
"""Frames, a minute, for which a game may wait for FIRE."""

MISSED = "wrappers with which {agent} may have been trained press FIRE for the agent on {games}"
REMEDY = "--protocol sb3-atari plays as they do, --override fire_reset=true presses it here"


class PressedGame(Protocol):
    """A game in which actions are pressed for the agent."""

    ended: bool

    @property
    def lives(self) -> int:
        """Lives left."""

    def play_step(self, action: int) -> Step:
        """Play one agent step and nothing else."""


def presses(spec: EnvironmentSpec) -> tuple[int, ...]:
    """Return the actions that the protocol presses for the agent in a game: `PRESSES`, or none."""
    return PRESSES if isinstance(spec.protocol, AtariProtocol) and spec.protocol.fire_reset and _has(spec) else ()


def missed(spec: EnvironmentSpec, fire_reset: bool) -> bool:
    """Tell whether nobody presses FIRE in a game for a network, which was trained with or without ``fire_reset``."""
    return fire_reset and _has(spec) and not presses(spec)


def waits(spec: EnvironmentSpec, fire_reset: bool) -> bool:
    """Tell whether the game may wait for such a network for ever."""
    return spec.game in AWAIT_FIRE and missed(spec, fire_reset)


def _has(spec: EnvironmentSpec) -> bool:
    """Tell whether FIRE can be pressed at a reset, as Stable-Baselines3's ``FireResetEnv`` asks: action 1 of three."""
    return len(spec.action_meanings) >= 3 and spec.action_meanings[1] == "FIRE"


def press_at_start(game: PressedGame, actions: tuple[int, ...], start_again: Callable[[], None]) -> float:
    """Press actions in a game that has started, and return the raw reward of those since it last started."""
    total = 0.0
    for action in actions:
        total += _press(game, (action,)).reward
        if game.ended:
            start_again()
            total = 0.0
    return total


def press_after_life(game: PressedGame, actions: tuple[int, ...]) -> Step:
    """Press no action and then actions in a game in which a life was lost, and return what they gave together."""
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
    """Gives up a game that waits for FIRE, as it does from its start and from a lost life until FIRE is pressed."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._fires = [number for number, name in enumerate(environment.spec.action_meanings) if "FIRE" in name]

    def begin(self) -> None:
        """Watch the episode that has begun."""
        self._waits_since: int | None = 0
        self._lives = self._environment.lives

    def look(self, action: int, reward: float) -> None:
        """Look at the game after a step; ArcadeMarkError if it has waited for `WAITING_FRAMES`."""
        frames, lives = self._environment.episode_frames, self._environment.lives
        if action in self._fires or reward:
            self._waits_since = None
        elif lives < self._lives:
            self._waits_since = frames
        self._lives = lives
        if self._waits_since is not None and frames - self._waits_since >= WAITING_FRAMES:
            raise ArcadeMarkError(
                f"the game has waited {WAITING_FRAMES:,} frames for FIRE, which wrappers in training may have pressed "
                f"for the agent, and nobody presses here; {REMEDY}, --set fire_pressed=false plays on, as a network "
                "that was trained without them"
            )
