"""Base of the built-in planners, which play any game and can be saved and restored.

Checkpoints are data in MessagePack, never Python objects; an array is its type, its shape and its numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.environments.base import EnvironmentSpec
    from arcademark.environments.generative import GenerativeModel, State

_ARRAY = 1
"""Code of the MessagePack extension for arrays."""


@dataclass(eq=False, repr=False)
class KeptPlanner:
    """Planner with its whole state of an episode in `memory`; a base for `agents.base.Planner`.

    It is a dataclass, and its keyword-only fields are its parameters. `name` is the agent's name for messages; `plan`
    yields about every `yield_frames` frames; `emulated` counts the frames of the current decision.

    Parameters
    ----------
    env : EnvironmentSpec
        The game to be played.
    """

    env: EnvironmentSpec

    name = ""
    yield_frames = 1_000
    searches_anew = True

    def __post_init__(self) -> None:
        self.emulated = 0

    @classmethod
    def supports(cls, env: EnvironmentSpec, **parameters: Any) -> str | None:
        """Support every game; ArcadeMarkError if a parameter is out of range."""
        make: Callable[..., object] = cls
        make(env, **parameters)
        return None

    def plan(
        self, model: GenerativeModel, state: State, first: bool, rng: np.random.Generator
    ) -> Generator[bool, None, int]:
        """Search from `state` and return the action; yields True every `yield_frames`; see `base.Planner.plan`."""
        self.begin(model, state, first)
        frames = model.frames
        for _ in self.search(model, rng):
            if model.frames >= frames + self.yield_frames:
                yield True
                frames = model.frames
        action = self.decide(model, rng)
        self.emulated = 0
        return action

    def begin(self, model: GenerativeModel, state: State, first: bool) -> None:
        """Begin a decision at `state`, or continue one that a checkpoint interrupted."""
        raise NotImplementedError

    def search(self, model: GenerativeModel, rng: np.random.Generator) -> Iterator[None]:
        """Search, with yields where a checkpoint is complete; continue after a checkpoint."""
        raise NotImplementedError

    def decide(self, model: GenerativeModel, rng: np.random.Generator) -> int:
        """Return the best action, and keep the part of the search below it."""
        raise NotImplementedError

    def checkpoint(self) -> bytes:
        """Return the state between decisions of an episode, or within the current decision."""
        return pack(self.memory())

    def restore(self, checkpoint: bytes) -> None:
        """Restore a checkpoint; ValueError if it is damaged, or of another planner."""
        try:
            self.remember(unpack(checkpoint))
        except (msgspec.MsgspecError, ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
            raise ValueError(f"the checkpoint is damaged ({error}); play the run again in another directory") from None

    def memory(self) -> Any:
        """Return the state to save, for `pack`."""
        raise NotImplementedError

    def remember(self, memory: Any) -> None:
        """Restore the state that `memory` returned, with tuples as lists."""
        raise NotImplementedError


def pack(memory: Any) -> bytes:
    """Return JSON values, tuples, states, bytes and arrays of numbers as bytes, deterministically."""

    def array(value: Any) -> msgspec.msgpack.Ext:
        if not isinstance(value, np.ndarray):
            raise TypeError(f"cannot save a {type(value).__name__}")
        return msgspec.msgpack.Ext(_ARRAY, msgspec.msgpack.encode((value.dtype.str, value.shape, value.tobytes())))

    return msgspec.msgpack.encode(memory, enc_hook=array)


def unpack(data: bytes) -> Any:
    """Return the contents of bytes from `pack`, with tuples and states as lists; ValueError if they are invalid."""

    def array(_: int, content: memoryview) -> NDArray[Any]:
        kind, shape, numbers = msgspec.msgpack.decode(content, type=tuple[str, tuple[int, ...], bytes])
        if (dtype := np.dtype(kind)).kind not in "biuf":
            raise ValueError(f"an array of {dtype}")
        return np.frombuffer(numbers, dtype).reshape(shape).copy()

    return msgspec.msgpack.decode(data, ext_hook=array)


def as_state(kept: Sequence[Any]) -> State:
    """Return a state from a list."""
    from arcademark.environments.generative import State

    game, inner, *others = kept
    return State(sys.intern(game), _frozen(inner), *others)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def hold_actions(actions: list[int], held: Sequence[bool]) -> list[int]:
    """Replace each held action by the one before it."""
    for i in range(1, len(actions)):
        if held[i]:
            actions[i] = actions[i - 1]
    return actions


def choose(values: Sequence[float], rng: np.random.Generator) -> int:
    """Return the index of the greatest value; only if there are several, one of them is drawn."""
    greatest = max(values)
    best = [i for i, value in enumerate(values) if value == greatest]
    return best[0] if len(best) == 1 else best[int(rng.integers(len(best)))]


def check_frames(agent: str, parameter: str, frames: int, env: EnvironmentSpec, frames_per_action: int | None) -> None:
    """Refuse a budget of frames below those of one action, the protocol's if `frames_per_action` is None."""
    least = env.frames_per_action if frames_per_action is None else frames_per_action
    if frames < least:
        raise ArcadeMarkError(
            f"agent {agent}: parameter {parameter!r} is {frames}: expected at least {least}, the frames of one action"
        )
