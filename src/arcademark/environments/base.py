"""Contract of every environment.

An environment plays one game under one protocol. Every draw (sticky actions, no-op starts) comes from the generator
given to `reset`, so an episode depends on nothing that was played before it::

    reset(rng) ─→ observe(out) ─→ step(action) ─→ observe(out) ─→ …
                                     │
                                     └─ reward (raw), terminated, truncated

`save` and `restore` carry everything, the generator's state and the frame stack too: restoring and replaying gives the
same screens, RAM, rewards and ends.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.suite import protocols

AskedObservation = Literal["palette", "ram"]
"""What an agent may ask to be shown instead of the protocol's observations."""


@dataclass(frozen=True)
class ArrayActions:
    """Actions that are arrays: numbers between bounds, or (`integer`) whole ones, as of several switches.

    `low` and `high`, both included, have one bound a number in the order of the flattened array of shape `shape`;
    infinite where there is none. `dtype` is how actions are recorded, which is exact.
    """

    shape: tuple[int, ...]
    dtype: str
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def integer(self) -> bool:
        """True if they are whole numbers."""
        return np.dtype(self.dtype).kind in "iu"

    def sample(self, rng: np.random.Generator) -> NDArray[Any]:
        """Draw each number uniformly between its bounds, from the standard normal distribution where one has none."""
        low, high = np.array(self.low), np.array(self.high)
        if self.integer:
            ends = np.iinfo(self.dtype)
            limits = [(max(int(a), ends.min), min(int(b), ends.max)) for a, b in zip(self.low, self.high, strict=True)]
            drawn: NDArray[Any] = np.array([rng.integers(*pair, dtype=self.dtype, endpoint=True) for pair in limits])
        else:
            with np.errstate(over="ignore"):
                bounded = np.isfinite(high - low)
            drawn = rng.standard_normal(low.size)
            drawn[bounded] = rng.uniform(low[bounded], high[bounded])
            drawn = np.clip(drawn.astype(self.dtype), low, high)
        return drawn.astype(self.dtype).reshape(self.shape)

    def checked(self, actions: NDArray[Any], where: str, rows: tuple[int, ...] = ()) -> NDArray[Any]:
        """Return actions, shape (*rows, *shape), in the type in which they are recorded.

        ArcadeMarkError, which begins with `where`: they have another shape, are no numbers of that kind, or beyond the
        bounds.
        """
        kinds = "iu" if self.integer else "iuf"
        if actions.shape != (*rows, *self.shape) or actions.dtype.kind not in kinds:
            raise ArcadeMarkError(
                f"{where} has shape {actions.shape} and type {actions.dtype}; expected {(*rows, *self.shape)} and "
                f"{np.dtype(self.dtype)}"
            )
        exact = actions.astype(self.dtype)
        held = actions if self.integer else exact  # whole numbers would wrap round
        flat = held.reshape(-1, len(self.low)).astype(np.float64)
        wrong = ~((flat >= np.array(self.low)) & (flat <= np.array(self.high)))
        if wrong.any():
            row, i = (int(place) for place in np.argwhere(wrong)[0])
            raise ArcadeMarkError(
                f"{where} has {flat[row, i]:g} at place {i}; expected {self.low[i]:g} to {self.high[i]:g}"
            )
        return exact


@dataclass(frozen=True)
class EnvironmentSpec:
    """Description of a task for an agent; pure data, picklable.

    `game` is the task's id, on Atari a game's; `protocol` holds the settings in force, overrides and what the agent
    asks for included; `action_meanings` the name of each action by its index, ("NOOP", "FIRE", …), none where actions
    are arrays, which `array_actions` describes then; `observation_shape` and `observation_dtype` describe one
    observation, of several parts a structured type with a field each; `seed` is the trial's, by which an agent that was
    trained several times tells its networks apart, None elsewhere.
    """

    game: str
    protocol: protocols.Protocol
    action_meanings: tuple[str, ...]
    observation_shape: tuple[int, ...]
    observation_dtype: str | np.dtype[Any] = "uint8"
    seed: int | None = None
    array_actions: ArrayActions | None = None

    @property
    def num_actions(self) -> int:
        """Number of actions the agent may choose from; an ArcadeMarkError where actions are arrays."""
        if self.array_actions is not None:
            raise ArcadeMarkError(f"task {self.game!r}: its actions are arrays, not numbered ones")
        return len(self.action_meanings)

    @property
    def frames_per_action(self) -> int:
        """Frames that an action is held for: the protocol's ``frame_skip``, or what the agent asks for instead."""
        return self.protocol.frame_skip

    @property
    def atari(self) -> protocols.AtariProtocol:
        """The protocol of an Atari game; an ArcadeMarkError if the task is none."""
        if not isinstance(self.protocol, protocols.AtariProtocol):
            raise ArcadeMarkError(f"task {self.game!r}: is no Atari game; choose an agent that plays other tasks")
        return self.protocol


def one_by_one(actions: NDArray[Any]) -> Sequence[Any]:
    """Return actions, shape (N, …), as what `Environment.step` is given one after the other."""
    numbers: list[Any] = actions.tolist() if actions.ndim == 1 else list(actions)
    return numbers


class Step(NamedTuple):
    """Result of one agent step.

    The sum of its frames' raw rewards, whether the game (or, if the protocol says so, a life) ended, and whether the
    frame cap was reached; never both.
    """

    reward: float
    terminated: bool
    truncated: bool


class State(NamedTuple):
    """One place in a game, compact, hashable and picklable; equal exactly if all that decides the future is equal.

    `console` is the console's own state; `executed` its last action, which sticky actions may repeat (0 without them);
    `frames` count from the episode's reset, no-op start included; `lives` are 0 where the game has none; `ended` says
    whether the episode is over, at the game's end or the frame cap.
    """

    game: str
    console: Hashable
    executed: int
    frames: int
    lives: int
    ended: bool


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
        """True if an episode ended with a lost life and `go_on` goes on in the same game."""

    @property
    def life_begun(self) -> bool:
        """True if a life was lost in the last step and the agent sees an episode begin, as `fire` describes."""

    def reset(self, rng: np.random.Generator, noops: int | None = None) -> float:
        """Start an episode in a new game; `rng` is the source of every draw until the next reset.

        `noops` is how many no-ops begin it, None for the protocol's. Returns the raw reward of what the protocol
        presses for the agent, 0 where that is nothing.
        """

    def go_on(self) -> Step:
        """Start an episode in the same game after a lost life, with an agent step of action 0, which is no action.

        FIRE follows where the protocol presses it. The game may end meanwhile; then only a reset starts an episode.

        Raises
        ------
        ArcadeMarkError
            If no life was just lost, or a lost life does not end an episode here, or the game ended with it.
        """

    def step(self, action: Any) -> Step:
        """Play one agent step, and what the protocol presses for the agent where it lost a life.

        `action` is a number, or an array where the spec says so. ArcadeMarkError: it is outside
        ``range(spec.num_actions)`` or its bounds, or the episode has ended.
        """

    def each_frame(self, action: Any) -> Iterator[Step]:
        """Play one agent step frame by frame, yielding what each gave; what the protocol presses counts to the last.

        Only where observations are of the last frame alone. Errors as of `step`.
        """

    def observe(self, out: NDArray[Any]) -> None:
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
