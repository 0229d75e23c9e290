"""What every environment is: the contract that the emulator and the toy game both keep.

An environment plays one game under one protocol. Every draw (sticky actions, no-op starts) comes from the generator
given to `reset`, so an episode depends on nothing that was played before it::

    reset(rng) ─→ observe(out) ─→ step(action) ─→ observe(out) ─→ …
                                     │
                                     └─ reward (raw), terminated, truncated

`save` and `restore` carry everything, the generator's state and the frame stack too: restoring and replaying gives the
same screens, RAM, rewards and ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from arcademark.suite import protocols

AskedObservation = Literal["palette", "ram"]
"""What an agent may ask to be shown instead of the protocol's observations."""


@dataclass(frozen=True)
class EnvironmentSpec:
    """What an agent is told before it plays; pure data, picklable.

    `protocol` holds the settings in force, overrides included; `action_meanings` the name of each action by its index,
    ("NOOP", "FIRE", …); `observation_shape` and `observation_dtype` describe one observation;
    `seed` is the trial's, by which an agent that was trained several times tells its networks apart, None elsewhere.
    """

    game: str
    protocol: protocols.Protocol
    action_meanings: tuple[str, ...]
    observation_shape: tuple[int, ...]
    observation_dtype: str = "uint8"
    seed: int | None = None

    @property
    def num_actions(self) -> int:
        """Number of actions the agent may choose from."""
        return len(self.action_meanings)

    @property
    def has_fire(self) -> bool:
        """Whether FIRE can be pressed at a reset, as Stable-Baselines3's ``FireResetEnv`` asks: action 1 of three."""
        return len(self.action_meanings) >= 3 and self.action_meanings[1] == "FIRE"

    @property
    def presses_fire(self) -> bool:
        """Whether the protocol presses FIRE for the agent in this game."""
        return self.protocol.fire_reset and self.has_fire


class Step(NamedTuple):
    """What one agent step gave.

    The sum of its frames' raw rewards, whether the game (or, if the protocol says so, a life) ended, and whether the
    frame cap was reached; never both.
    """

    reward: float
    terminated: bool
    truncated: bool


class Environment(Protocol):
    """One game under one protocol, played an agent step at a time."""

    spec: EnvironmentSpec

    @property
    def episode_frames(self) -> int:
        """Frames emulated since the reset, no-op start included."""

    @property
    def lives(self) -> int:
        """Lives left, 0 where the game has none."""

    @property
    def life_lost(self) -> bool:
        """Whether an episode ended with a lost life and `go_on` goes on in the same game."""

    @property
    def life_begun(self) -> bool:
        """Whether a life was lost and FIRE pressed in the last step, so that the agent sees an episode begin."""

    def reset(self, rng: np.random.Generator) -> float:
        """Start an episode in a new game; `rng` is the source of every draw until the next reset.

        Returns the raw reward of what the protocol presses for the agent, 0 where that is nothing.
        """

    def go_on(self) -> Step:
        """Start an episode in the same game after a lost life, with an agent step of action 0, which is no action.

        FIRE follows where the protocol presses it. The game may end meanwhile; then only a reset starts an episode.

        Raises
        ------
        ArcadeMarkError
            If no life was just lost, or a lost life does not end an episode here, or the game ended with it.
        """

    def step(self, action: int) -> Step:
        """Play one agent step, and what the protocol presses for the agent where it lost a life.

        ArcadeMarkError: `action` is outside ``range(spec.num_actions)``, or the episode has ended.
        """

    def each_frame(self, action: int) -> Iterator[Step]:
        """Play one agent step frame by frame, yielding what each gave; what the protocol presses counts to the last.

        Only where observations are of the last frame alone. Errors as of `step`.
        """

    def observe(self, out: NDArray[np.uint8]) -> None:
        """Write the current observation, of shape ``spec.observation_shape``, into `out`."""

    def render(self) -> NDArray[np.uint8]:
        """Return the screen in colour, shape (height, width, 3), as people see it.

        ArcadeMarkError: before the first reset, or between `restore` and the next step (emulators do not keep the
        picture).
        """

    def save(self) -> Any:
        """Return everything needed to continue from here, as an opaque picklable value."""

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved, in this instance or another of the same spec."""

    def close(self) -> None:
        """Release the emulator."""
