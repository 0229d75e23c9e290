"""Contract of every environment.

An environment plays one game under one protocol. Every draw (sticky actions, no-op starts) uses the generator given to
`reset`, so an episode does not depend on earlier ones::

    reset(rng) ─→ observe(out) ─→ step(action) ─→ observe(out) ─→ …
                                     │
                                     └─ reward (raw), terminated, truncated

`save` and `restore` include the generator's state and the frame stack: restoring and replaying gives the same screens,
RAM, rewards and ends.
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
"""Observations that an agent may request instead of the protocol's."""


@dataclass(frozen=True)
class ArrayActions:
    """Actions that are arrays: numbers between bounds, or (`integer`) whole ones, such as several switches.

    `low` and `high`, both inclusive, have one bound per number in the order of the flattened array of shape `shape`;
    infinite without a bound. `dtype` is the type in which actions are recorded, which is exact.
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
        """Draw each number uniformly between its bounds; from the standard normal distribution if one is infinite."""
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
        """Return actions, shape (*rows, *shape), in the recorded type.

        ArcadeMarkError, which begins with `where`: their shape, type or range is wrong.
        """
        kinds = "iu" if self.integer else "iuf"
        if actions.shape != (*rows, *self.shape) or actions.dtype.kind not in kinds:
            raise ArcadeMarkError(
                f"{where} has shape {actions.shape} and type {actions.dtype}; expected {(*rows, *self.shape)} and "
                f"{np.dtype(self.dtype)}"
            )
        exact = actions.astype(self.dtype)
        compared = actions if self.integer else exact  # whole numbers would wrap around
        flat = compared.reshape(-1, len(self.low)).astype(np.float64)
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

    `game` is the task's id, on Atari a game's; `protocol` holds the settings in force, with overrides and the agent's
    requests; `action_meanings` the name of each action by its index, ("NOOP", "FIRE", …), empty if actions are arrays,
    which `array_actions` describes; `observation_shape` and `observation_dtype` describe one observation, with several
    parts as a structured type with a field per part; `seed` is the trial's, by which an agent that was trained several
    times selects its network, otherwise None.
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
        """Number of actions that the agent may choose from; ArcadeMarkError: actions are arrays."""
        if self.array_actions is not None:
            raise ArcadeMarkError(f"task {self.game!r}: its actions are arrays, not numbered ones")
        return len(self.action_meanings)

    @property
    def frames_per_action(self) -> int:
        """Frames for which an action is held: the protocol's ``frame_skip``, or the agent's own number."""
        return self.protocol.frame_skip

    @property
    def atari(self) -> protocols.AtariProtocol:
        """The protocol of an Atari game; ArcadeMarkError: it is another task."""
        if not isinstance(self.protocol, protocols.AtariProtocol):
            raise ArcadeMarkError(f"task {self.game!r}: is not an Atari game; choose an agent that plays other tasks")
        return self.protocol


def one_by_one(actions: NDArray[Any]) -> Sequence[Any]:
    """Return actions, shape (N, …), as a sequence of arguments of `Environment.step`."""
    numbers: list[Any] = actions.tolist() if actions.ndim == 1 else list(actions)
    return numbers


class Step(NamedTuple):
    """Result of one agent step.

    The sum of its frames' raw rewards, whether the game (or, if the protocol specifies it, a life) ended, and whether
    the frame cap was reached; never both.
    """

    reward: float
    terminated: bool
    truncated: bool


class State(NamedTuple):
    """State of a game, compact, hashable and picklable; states are equal exactly if their futures are equal.

    `inner` is the state of the emulator or task; `executed` the last action, which sticky actions may repeat (0 without
    them); `frames` count from the episode's reset, no-op start included; `lives` are 0 in games without lives; `ended`
    is whether the episode is over, at the game's end or the frame cap.
    """

    game: str
    inner: Hashable
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
        """Lives left, 0 in games without lives."""

    @property
    def life_lost(self) -> bool:
        """True if an episode ended with a lost life and `go_on` continues the same game."""

    @property
    def life_begun(self) -> bool:
        """True if a life was lost in the last step and the agent sees an episode begin, as `fire` describes."""

    def reset(self, rng: np.random.Generator, noops: int | None = None) -> float:
        """Start an episode in a new game; `rng` is the source of every draw until the next reset.

        `noops` is the number of no-ops at its start, None for the protocol's. Returns the raw reward of the actions
        that the protocol presses for the agent, 0 without any.
        """

    def go_on(self) -> Step:
        """Start an episode in the same game after a lost life, with an agent step of action 0, which is no action.

        FIRE follows if the protocol presses it. The game may end during these steps; then only a reset starts an
        episode.

        Raises
        ------
        ArcadeMarkError
            If no life was just lost, or a lost life does not end an episode here, or the game ended with it.
        """

    def step(self, action: Any) -> Step:
        """Play one agent step, and the actions that the protocol presses for the agent after a lost life.

        `action` is a number, or an array if the spec has array actions. ArcadeMarkError: it is outside
        ``range(spec.num_actions)`` or its bounds, or the episode has ended.
        """

    def each_frame(self, action: Any) -> Iterator[Step]:
        """Play one agent step frame by frame, and yield each result; the protocol's own presses count for the last one.

        Valid only for observations of the last frame. Errors as in `step`.
        """

    def observe(self, out: NDArray[Any]) -> None:
        """Write the current observation, of shape ``spec.observation_shape``, into `out`."""

    def render(self) -> NDArray[np.uint8]:
        """Return the screen in colour, shape (height, width, 3).

        ArcadeMarkError: before the first reset, or between `restore` and the next step (emulators do not save the
        picture).
        """

    def save(self) -> Any:
        """Return everything needed to continue from here, as an opaque picklable value."""

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved, in this instance or another of the same spec."""

    def close(self) -> None:
        """Release the emulator."""
