"""What an agent is: a policy on a batch, and a learner on top of it.

A factory makes the agent: ``factory(env, **parameters)``, where `env` is the `EnvironmentSpec` of the game to be
played. Its keyword parameters with their annotations and defaults *are* what the agent declares; ``--set name=value``
is checked against them.

Optional attributes of a policy, read once after it is made:

``frames_per_action`` : int or None
    Emulated frames an action, where the agent asks for another number than the protocol's ``frame_skip``. Recorded.
``batch_size`` : int
    How many episodes the agent would like to play at once (default 1). It cannot change a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Policy(Protocol):
    """Observations in, actions out, for N episodes in play at once."""

    def act(
        self,
        observations: NDArray[np.uint8],
        first: NDArray[np.bool_],
        rngs: Sequence[np.random.Generator],
    ) -> NDArray[np.int64]:
        """Choose an action for each episode in play.

        Parameters
        ----------
        observations : uint8 array, shape (N, *spec.observation_shape)
            Valid only during the call: copy what you keep.
        first : bool array, shape (N,)
            Whether the observation begins an episode: an agent with memory forgets there. Row i is the same episode
            from call to call until ``first[i]``.
        rngs : sequence of N numpy.random.Generator
            Each episode's own generator, the only source of randomness, so that no action depends on the batch.

        Returns
        -------
        integer array, shape (N,)
            Each in ``range(spec.num_actions)``.
        """


class Transition(NamedTuple):
    """One agent step, as a learner sees it (learners play one episode at a time).

    Parameters
    ----------
    observation, next_observation : uint8 array, shape spec.observation_shape
        Before and after. Valid only during the call.
    action : int
    reward : float
        Raw, or its sign where the protocol clips rewards in training.
    terminated, truncated : bool
        Whether the episode ended there, and how.
    """

    observation: NDArray[np.uint8]
    action: int
    reward: float
    next_observation: NDArray[np.uint8]
    terminated: bool
    truncated: bool


@runtime_checkable
class Learner(Policy, Protocol):
    """A policy that improves by playing.

    Training and evaluation use the same `act`; `train` and `evaluate` switch between the two. `checkpoint` is called
    between episodes only and must hold everything that training depends on (weights, traces, counters, buffers, the
    state of any generator of its own): a learner restored from it goes on exactly as if it had never stopped.

    Optional attribute ``checkpoint_frames`` : int, training frames between checkpoints (default 1,000,000). What was
    learnt since the last one is lost when the process dies, and is played again.
    """

    def train(self) -> None:
        """Explore and learn from now on."""

    def evaluate(self) -> None:
        """Neither learn nor change from now on."""

    def learn(self, transition: Transition, rng: np.random.Generator) -> None:
        """Learn from one step; `rng` is the episode's generator."""

    def checkpoint(self) -> bytes:
        """Everything the learner is, as bytes."""

    def restore(self, checkpoint: bytes) -> None:
        """Become what `checkpoint` holds."""
