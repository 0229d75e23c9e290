"""What the built-in planners share: they play any game, and they can be kept and restored."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    import numpy as np

    from arcademark.environments.base import EnvironmentSpec


class KeptPlanner:
    """A planner whose `memory` holds all that it knows of an episode; a base for `agents.base.Planner`.

    Attributes
    ----------
    yield_frames : int
        Frames to emulate before `plan` yields again.
    """

    yield_frames = 1_000

    @classmethod
    def supports(cls, env: EnvironmentSpec, **parameters: Any) -> str | None:
        """Play every game.

        Raises
        ------
        ArcadeMarkError
            If a parameter is out of range.
        """
        make: Callable[..., object] = cls
        make(env, **parameters)
        return None

    def checkpoint(self) -> bytes:
        """Return all that is kept between decisions of an episode, or of the decision under way."""
        return pickle.dumps(self.memory(), pickle.HIGHEST_PROTOCOL)

    def restore(self, checkpoint: bytes) -> None:
        """Become what `checkpoint` holds."""
        self.remember(pickle.loads(checkpoint))

    def memory(self) -> Any:
        """Return what is kept, picklable."""
        raise NotImplementedError

    def remember(self, memory: Any) -> None:
        """Keep what `memory` returned."""
        raise NotImplementedError


def choose(values: Sequence[float], rng: np.random.Generator) -> int:
    """Return the index of the greatest value; among equal ones each is as likely.

    Nothing is drawn where one is the greatest alone.
    """
    greatest = max(values)
    best = [i for i, value in enumerate(values) if value == greatest]
    return best[0] if len(best) == 1 else best[int(rng.integers(len(best)))]


def check_frames(agent: str, parameter: str, frames: int, env: EnvironmentSpec, frames_per_action: int | None) -> None:
    """Refuse a budget of frames that holds no action.

    Raises
    ------
    ArcadeMarkError
        If `frames` is below those of one action, the protocol's if `frames_per_action` is None.
    """
    if frames_per_action is not None:
        check(agent, "frames_per_action", frames_per_action, 1)
    least = env.protocol.frame_skip if frames_per_action is None else frames_per_action
    if frames < least:
        raise ArcadeMarkError(
            f"agent {agent}: parameter {parameter!r} is {frames}: expected at least {least}, the frames of one action"
        )


def check(agent: str, parameter: str, value: float, least: float, most: float | None = None) -> None:
    """Refuse a parameter that is out of range.

    Raises
    ------
    ArcadeMarkError
        If `value` is below `least` or above `most`.
    """
    if value < least or (most is not None and value > most):
        expected = f"at least {least:g}" if most is None else f"{least:g} to {most:g}"
        raise ArcadeMarkError(f"agent {agent}: parameter {parameter!r} is {value:g}: expected {expected}")
