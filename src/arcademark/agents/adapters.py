"""From whatever a factory returned to a checked policy.

Accepted, in this order:

1. an object with ``act(observations, first, rngs)``: a `Policy` (with ``learn`` and the rest: a `Learner`);
2. an object with ``predict(observation)``, as Gymnasium's and Stable-Baselines3's agents have. It is asked about one
   observation at a time; `state` and `episode_start` are passed if it takes them, and the state it returns is kept for
   the episode; ``deterministic=True`` is passed if it takes it, for its own sampling would not be repeatable;
3. a plain callable, observation → action.

What 2 and 3 are given is theirs to keep. Every action goes through `CheckedPolicy`: the one place where an agent's
mistakes become a line that names the agent, the game and what was expected.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from arcademark.agents.base import Learner, Policy, Transition
from arcademark.agents.importing import where_raised
from arcademark.environments.base import EnvironmentSpec
from arcademark.errors import ArcadeMarkError

LEARNER_METHODS = ("train", "evaluate", "learn", "checkpoint", "restore")


def adapt(made: object, name: str, env: EnvironmentSpec) -> CheckedPolicy:
    """Make a checked policy of what a factory returned.

    Parameters
    ----------
    made : object
        See the list above.
    name : str
        The agent, for messages.
    env : EnvironmentSpec

    Raises
    ------
    ArcadeMarkError
        If it is none of these, has only some of a learner's methods, or its optional attributes are wrong.
    """
    if inspect.isclass(made):
        raise ArcadeMarkError(f"agent {name}: its factory returned the class {made.__name__}; expected an instance")
    if callable(getattr(made, "act", None)):
        _check_arguments(cast(Policy, made).act, 3, f"agent {name}: act", "(observations, first, rngs)")
        found = [method for method in LEARNER_METHODS if callable(getattr(made, method, None))]
        if "learn" not in found:
            return CheckedPolicy(cast(Policy, made), name, env)
        if missing := [method for method in LEARNER_METHODS if method not in found]:
            raise ArcadeMarkError(f"agent {name}: it has learn() but not {', '.join(missing)}; a learner needs all")
        return CheckedLearner(cast(Learner, made), name, env)
    if callable(getattr(made, "predict", None)):
        return CheckedPolicy(PredictPolicy(made), name, env)
    if callable(made):
        return CheckedPolicy(CallablePolicy(made), name, env)
    raise ArcadeMarkError(
        f"agent {name}: its factory returned {type(made).__name__}; expected an object with act() or predict(), "
        "or a function from observation to action"
    )


class CheckedPolicy:
    """A policy whose mistakes are told clearly; all it returns is valid.

    Parameters
    ----------
    policy : Policy
    name : str
        The agent, for messages.
    env : EnvironmentSpec

    Attributes
    ----------
    frames_per_action : int or None
        What the agent declares.
    batch_size : int
        What the agent declares, 1 if nothing.
    asked : str
        What the agent's author calls the method that chooses, for messages.
    """

    def __init__(self, policy: Policy, name: str, env: EnvironmentSpec) -> None:
        self.policy = policy
        self.where = f"agent {name} on {env.game}"
        self.asked = getattr(policy, "asked", "act")
        self.num_actions = env.num_actions
        self.frames_per_action = self._positive("frames_per_action", None)
        self.batch_size = self._positive("batch_size", 1)

    def act(
        self,
        observations: NDArray[np.uint8],
        first: NDArray[np.bool_],
        rngs: Sequence[np.random.Generator],
    ) -> NDArray[np.int64]:
        """Ask the agent and check its answer.

        Raises
        ------
        ArcadeMarkError
            If the agent raises, or its actions have another shape, are no integers, or are out of range.
        """
        actions: NDArray[Any] = self._call(self.asked, self._ask, observations, first, rngs)
        if actions.shape != first.shape:
            raise ArcadeMarkError(
                f"{self.where}: {self.asked} returned an array of shape {actions.shape}; expected {first.shape}, "
                "an action an episode in play"
            )
        if actions.dtype.kind not in "iu":
            raise ArcadeMarkError(f"{self.where}: {self.asked} returned {actions.dtype} actions; expected integers")
        low, high = (int(actions[0]),) * 2 if len(actions) == 1 else (int(actions.min()), int(actions.max()))
        if low < 0 or high >= self.num_actions:
            wrong = low if low < 0 else high
            raise ArcadeMarkError(
                f"{self.where}: {self.asked} chose action {wrong}; expected 0 to {self.num_actions - 1}"
            )
        return actions.astype(np.int64, copy=False)

    def _ask(self, *arguments: Any) -> NDArray[Any]:
        return np.asarray(self.policy.act(*arguments))

    def _call(self, method: str, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except (Exception, SystemExit) as error:
            raise ArcadeMarkError(f"{self.where}: {method} raised {where_raised(error)}") from error

    def _positive(self, attribute: str, default: Any) -> Any:
        value = getattr(self.policy, attribute, None)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise ArcadeMarkError(f"{self.where}: its {attribute} is {value!r}; expected a whole number of at least 1")
        return int(value)


class CheckedLearner(CheckedPolicy):
    """A learner whose mistakes are told clearly.

    Attributes
    ----------
    checkpoint_frames : int
        What the agent declares, 1,000,000 if nothing.
    """

    def __init__(self, learner: Learner, name: str, env: EnvironmentSpec) -> None:
        super().__init__(learner, name, env)
        self.learner = learner
        self.checkpoint_frames = self._positive("checkpoint_frames", 1_000_000)

    def train(self) -> None:
        """Explore and learn from now on."""
        self._call("train", self.learner.train)

    def evaluate(self) -> None:
        """Neither learn nor change from now on."""
        self._call("evaluate", self.learner.evaluate)

    def learn(self, transition: Transition, rng: np.random.Generator) -> None:
        """Learn from one step."""
        self._call("learn", self.learner.learn, transition, rng)

    def checkpoint(self) -> bytes:
        """Return everything the learner is.

        Raises
        ------
        ArcadeMarkError
            If the agent raises, or returns anything but bytes.
        """
        saved = self._call("checkpoint", self.learner.checkpoint)
        if not isinstance(saved, (bytes, bytearray)):
            raise ArcadeMarkError(f"{self.where}: checkpoint returned {type(saved).__name__}; expected bytes")
        return bytes(saved)

    def restore(self, checkpoint: bytes) -> None:
        """Become what `checkpoint` holds."""
        self._call("restore", self.learner.restore, checkpoint)


class PredictPolicy:
    """An agent with ``predict(observation)``, asked about one episode at a time.

    Parameters
    ----------
    agent : object
        Its `predict` returns an action, or an action and a state.
    """

    asked = "predict"

    def __init__(self, agent: Any) -> None:
        self._predict: Callable[..., Any] = agent.predict
        takes = _keywords(self._predict)
        self._takes_state = "state" in takes
        self._takes_start = "episode_start" in takes
        self._fixed = {"deterministic": True} if "deterministic" in takes else {}
        self._states: list[Any] = []

    def act(
        self,
        observations: NDArray[np.uint8],
        first: NDArray[np.bool_],
        rngs: Sequence[np.random.Generator],
    ) -> NDArray[np.int64]:
        """Ask for each episode in turn, with the state that belongs to it."""
        self._states.extend([None] * (len(first) - len(self._states)))
        return np.array([self._one(i, observations[i].copy(), bool(first[i])) for i in range(len(first))])

    def _one(self, i: int, observation: NDArray[np.uint8], first: bool) -> Any:
        keywords: dict[str, Any] = dict(self._fixed)
        if self._takes_state:
            keywords["state"] = None if first else self._states[i]
        if self._takes_start:
            keywords["episode_start"] = np.array([first])
        answer = self._predict(observation, **keywords)
        if isinstance(answer, tuple) and len(answer) == 2:
            answer, self._states[i] = answer
        return _scalar(answer)


class CallablePolicy:
    """A function from one observation to one action.

    Parameters
    ----------
    function : callable
    """

    asked = "its function"

    def __init__(self, function: Callable[[NDArray[np.uint8]], Any]) -> None:
        self._function = function

    def act(
        self,
        observations: NDArray[np.uint8],
        first: NDArray[np.bool_],
        rngs: Sequence[np.random.Generator],
    ) -> NDArray[np.int64]:
        """Ask for each episode in turn."""
        return np.array([_scalar(self._function(observation.copy())) for observation in observations])


def _scalar(answer: Any) -> Any:
    """Unwrap an action that came in an array of one (as from a batch of one)."""
    array = np.asarray(answer)
    return array.reshape(())[()] if array.size == 1 else answer


def _keywords(function: Callable[..., Any]) -> set[str]:
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return set()


def _check_arguments(function: Callable[..., Any], count: int, what: str, expected: str) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*range(count))
    except TypeError:
        raise ArcadeMarkError(f"{what} takes {signature}; expected {expected}") from None
