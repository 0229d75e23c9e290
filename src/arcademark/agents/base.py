"""Interfaces of agents: a policy on a batch, a learner or trainer that extends it, a planner with a model of the game.

A factory makes the agent: ``factory(env, **parameters)``, where `env` is the `EnvironmentSpec` of the game to be
played. Its keyword parameters, with their annotations and defaults, are the agent's parameters; ``--set name=value`` is
checked against them.

Optional attributes, read once after the agent is made (``action_values`` after each action that is watched):

``frames_per_action`` : int or None
    Emulated frames per action, if the agent requests another number than the protocol's ``frame_skip``. Recorded.
``observation`` : "palette" or "ram"
    Observations that the agent requests instead of the protocol's: screens of 7-bit colours in the console's size, or
    its memory. It sees one screen, of one frame. Other settings of the protocol, and replays, do not change.
``batch_size`` : int
    Number of episodes that a policy plays at once (default 1). It does not change scores.
``predict_batch`` : int
    The same for an agent with `predict`, which then receives observations of shape (episodes, …) and an array of
    ``episode_start``, and returns one action per episode.
``draws`` : bool
    Whether a policy with `act` draws random numbers (unknown by default). One that does not repeats itself: if only the
    start of a game is random, reports give the number of different episodes.
``trained_frames`` : int
    Emulated frames of a network's earlier training, by its file. Recorded, and shown in reports.
``action_values`` : float array, shape (N, num_actions) or, of a planner, (num_actions,)
    Of an agent with `act` or `plan`: expected returns or preferences of the actions at its last choice; ``watch
    --live`` shows them.
``checkpoint_frames`` : int
    Of a learner or trainer: maximum number of training frames between checkpoints; it does not change scores. If these
    frames take long, checkpoints are taken about once a minute, less often if they are large.
``set_progress(share)``
    Of a learner: called before each training episode with the share of the training budget that is spent, from 0 to
    less than 1. A step size that decreases over training follows it.
``channels_first`` : bool
    Of a trainer: whether observations in training have stacked screens and colours first, as in PyTorch, and those of
    other tasks are plain pictures or vectors (`environments.observations.spaces.View`; default False).
``checkpoint_seconds`` : float
    Of a planner: time between checkpoints, the maximum lost when the process dies. It does not change scores.
``action_space``, ``observation_space``
    Gymnasium's spaces of the task that it was made for: an agent with other spaces than the game's is refused.

A complete planner; run it as ``arcademark run my_planner.py:Greedy --games pong``::

    class Greedy:
        def __init__(self, env):
            self.num_actions = env.num_actions

        def plan(self, model, state, first, rng):
            rewards = []
            for action in range(self.num_actions):
                model.restore(state)
                rewards.append(model.step(action).reward)
            return int(rng.choice([action for action, r in enumerate(rewards) if r == max(rewards)]))
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

    from arcademark.environments.generative import GenerativeModel, State

MAX_BATCH = 4096
"""Episodes that an agent may play at once."""

Observations = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Generators = Sequence[np.random.Generator]
Actions = NDArray[np.int64]


@runtime_checkable
class Policy(Protocol):
    """Observations in, actions out, for N episodes in play at once."""

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
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

    observation: Observations
    action: int
    reward: float
    next_observation: Observations
    terminated: bool
    truncated: bool


@runtime_checkable
class Learner(Policy, Protocol):
    """A policy that improves by playing.

    Training and evaluation use the same `act`; `train` and `evaluate` switch between the two, also between two training
    episodes. `checkpoint` is called between episodes only, changes nothing, and must hold everything that training
    depends on (weights, traces, counters, buffers, the state of any generator of its own): a learner restored from it
    continues exactly as if it had never stopped. Training since the last checkpoint is lost when the process dies, and
    is played again.
    """

    def train(self) -> None:
        """Switch to training: explore and learn."""

    def evaluate(self) -> None:
        """Switch to evaluation: neither learn nor change."""

    def learn(self, transition: Transition, rng: np.random.Generator) -> None:
        """Learn from one step; `rng` is the episode's generator."""

    def checkpoint(self) -> bytes:
        """Return the learner's complete state as bytes."""

    def restore(self, checkpoint: bytes) -> None:
        """Restore the state of a checkpoint."""


@runtime_checkable
class Trainer(Policy, Protocol):
    """A policy that is trained by a loop of its own, on several games at once.

    Attributes
    ----------
    num_envs : int
        Number of games on which it trains in parallel.
    """

    num_envs: int

    def fit(self, envs: VectorEnv[Observations, Actions, Flags], frames: int) -> Iterator[None]:
        """Train, yielding at least a few times per second, or between updates where these take longer.

        After each yield `checkpoint` may be called, and the generator may be abandoned.

        Parameters
        ----------
        envs : gymnasium.vector.VectorEnv
            `num_envs` games in training mode, which begin again in the step in which they end
            (``AutoresetMode.SAME_STEP``); rewards are clipped if the protocol specifies it. ``envs.frames`` counts the
            emulated frames of this training, those from before a restart too.
        frames : int
            The budget: train while ``envs.frames`` is less.
        """

    def evaluate(self) -> None:
        """Switch to evaluation: neither learn nor explore; before it, `act` explores as in training."""

    def checkpoint(self) -> bytes:
        """Return the state of training as bytes, without games in play and data that are too large."""

    def restore(self, checkpoint: bytes) -> None:
        """Restore the state of a checkpoint; `fit` or `evaluate` follows."""


Kind = Literal["policy", "learner", "trainer", "planner", "function"]

METHODS: Mapping[Kind, tuple[str, ...]] = {
    "learner": ("learn", "train", "evaluate", "checkpoint", "restore"),
    "trainer": ("fit", "evaluate", "checkpoint", "restore"),
}
"""Methods that distinguish a learner and a trainer from another policy; the first one decides."""


def kind_by_methods(agent: object, name: str) -> Kind:
    """Return the kind of an agent or of a class; ArcadeMarkError: it has only some of a learner's methods.

    `name` is the agent's, for messages. Without a known method the kind is "function".
    """
    if not has(agent, "act"):
        return "planner" if has(agent, "plan") else "policy" if has(agent, "predict") else "function"
    kind: Kind = "trainer" if has(agent, "fit") else "learner"
    missing = [method for method in METHODS[kind] if not has(agent, method)]
    if "learn" in missing and len(missing) > 1:
        return "policy"
    if missing:
        some = next(method for method in METHODS[kind] if method not in missing)
        raise ArcadeMarkError(f"agent {name}: it has {some}() but not {', '.join(missing)}; a {kind} needs all")
    return kind


def has(policy: object, method: str) -> bool:
    """Return True if an object, or a class, has a method."""
    return callable(getattr(policy, method, None))


@runtime_checkable
class Planner(Protocol):
    """An agent that tries actions in a model of the game before it chooses one.

    It plays one episode at a time and sees no observations, only the model
    (`arcademark.environments.generative.GenerativeModel`). Every frame that it emulates in the model is counted and
    recorded. A planner without state between decisions may omit `checkpoint` and `restore`, both of them. One whose
    searches begin anew at each decision may set ``searches_anew = True``: checkpoints are then taken between decisions
    on tasks whose states cannot be stored, too.
    """

    def plan(
        self, model: GenerativeModel, state: State, first: bool, rng: np.random.Generator
    ) -> int | Generator[bool | None, None, int]:
        """Choose the next action of the episode in play.

        Parameters
        ----------
        model : GenerativeModel
            A copy of the game: actions in it do not affect the real game. Its state is arbitrary, and after a restart
            it is another object: restore the state that you start from. Its own draws (sticky actions) come from `rng`,
            too; a planner cannot foresee those of the real game.
        state : State
            State of the real game: ``model.restore(state)``. Under sticky actions it may differ from the one that the
            last decision expected, so kept searches are of use only if their state equals this one.
        first : bool
            Whether an episode begins, where a planner forgets its kept searches. False after `restore`.
        rng : numpy.random.Generator
            The episode's own generator, the only source of randomness.

        Returns
        -------
        int
            In ``range(env.num_actions)``. Or a generator that returns it (``return action``) and yields at least a few
            times per second: None, where progress may be reported, or True, where `checkpoint` also holds the decision
            so far. Such a planner, restored, is called again with the same `state`, and continues its search.
        """

    def checkpoint(self) -> bytes:
        """Return the state between decisions as bytes; called between decisions, and where `plan` yields True.

        The call must not change the planner.
        """

    def restore(self, checkpoint: bytes) -> None:
        """Restore the state of a checkpoint: the episode continues exactly as if it had never stopped."""
