"""From whatever a factory returned to a checked agent.

Accepted, in this order:

1. an object with ``act(observations, first, rngs)``: a `Policy` (with ``learn`` and the rest: a `Learner`);
2. an object with ``plan(model, state, first, rng)``: a `Planner`;
3. an object with ``predict(observation)``, as Gymnasium's and Stable-Baselines3's agents have. It is asked about one
   observation at a time; `state` and `episode_start` are passed if it takes them, and the state it returns is kept for
   the episode; ``deterministic=True`` is passed if it takes it, for its own sampling would not be repeatable;
4. a plain callable, observation → action.

What 3 and 4 are given is theirs to keep. Every action goes through `CheckedPolicy` or `CheckedPlanner`: the one place
where an agent's mistakes become a line that names the agent, the game and what was expected.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from arcademark.agents.base import Learner, Planner, Policy, Transition, learns
from arcademark.agents.importing import said, where_raised
from arcademark.agents.spaces import check_spaces
from arcademark.environments.base import AskedObservation, EnvironmentSpec
from arcademark.environments.registry import observing
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.environments.generative import GenerativeModel, State

ASKED_OBSERVATIONS: tuple[AskedObservation, ...] = get_args(AskedObservation)
CHECKPOINT_SECONDS = 10.0
"""How much play of a planner may be lost, unless it asks for something else."""


def adapt(made: object, name: str, env: EnvironmentSpec) -> CheckedPolicy | CheckedPlanner:
    """Make a checked agent of what a factory returned.

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
        If it is none of these, has only some of a learner's or planner's methods, its optional attributes are wrong, or
        it has spaces that are not the game's (`arcademark.agents.spaces`).
    """
    agent = _adapted(made, name, env)
    check_spaces(made, agent.where, observing(env, agent.observation))
    return agent


def _adapted(made: object, name: str, env: EnvironmentSpec) -> CheckedPolicy | CheckedPlanner:
    if inspect.isclass(made):
        raise ArcadeMarkError(f"agent {name}: its factory returned the class {made.__name__}; expected an instance")
    if callable(getattr(made, "act", None)):
        _check_arguments(cast(Policy, made).act, 3, f"agent {name}: act", "(observations, first, rngs)")
        if learns(made, name):
            return CheckedLearner(cast(Learner, made), name, env)
        return CheckedPolicy(cast(Policy, made), name, env)
    if callable(getattr(made, "plan", None)):
        _check_arguments(cast(Planner, made).plan, 4, f"agent {name}: plan", "(model, state, first, rng)")
        kept = [method for method in ("checkpoint", "restore") if callable(getattr(made, method, None))]
        if len(kept) == 1:
            raise ArcadeMarkError(
                f"agent {name}: it has {kept[0]}() alone; a planner needs both checkpoint() and restore(), or neither"
            )
        return CheckedPlanner(cast(Planner, made), name, env)
    if callable(getattr(made, "predict", None)):
        return CheckedPolicy(PredictPolicy(made), name, env)
    if callable(made):
        return CheckedPolicy(CallablePolicy(made), name, env)
    raise ArcadeMarkError(
        f"agent {name}: its factory returned {type(made).__name__}; expected an object with act(), plan() or "
        "predict(), or a function from observation to action"
    )


class CheckedAgent:
    """What is common to policies and planners.

    Parameters
    ----------
    agent : Policy or Planner
    name : str
        The agent, for messages.
    env : EnvironmentSpec

    Attributes
    ----------
    frames_per_action : int or None
        What the agent declares.
    observation : {"palette", "ram"} or None
        What the agent declares.
    """

    def __init__(self, agent: Policy | Planner, name: str, env: EnvironmentSpec) -> None:
        self._agent = agent
        self.where = f"agent {name} on {env.game}"
        self.num_actions = env.num_actions
        self.frames_per_action: int | None = self._positive("frames_per_action", None)
        self.observation: AskedObservation | None = self._observation()

    def _call(self, method: str, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except (Exception, SystemExit) as error:
            raise ArcadeMarkError(f"{self.where}: {method} raised {where_raised(error)}") from error

    def _bytes(self, saved: object) -> bytes:
        if not isinstance(saved, (bytes, bytearray)):
            raise ArcadeMarkError(f"{self.where}: checkpoint returned {type(saved).__name__}; expected bytes")
        return bytes(saved)

    def _observation(self) -> Any:
        value = getattr(self._agent, "observation", None)
        if value is not None and not (isinstance(value, str) and value in ASKED_OBSERVATIONS):
            expected = " or ".join(repr(kind) for kind in ASKED_OBSERVATIONS)
            raise ArcadeMarkError(f"{self.where}: its observation is {said(repr, value)}; expected {expected}")
        return value

    def _positive(self, attribute: str, default: Any) -> Any:
        value = getattr(self._agent, attribute, None)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise ArcadeMarkError(
                f"{self.where}: its {attribute} is {said(repr, value)}; expected a whole number of at least 1"
            )
        return int(value)


class CheckedPolicy(CheckedAgent):
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
        super().__init__(policy, name, env)
        self.policy = policy
        self.asked = getattr(policy, "asked", "act")
        self.batch_size: int = self._positive("batch_size", 1)

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
        return self._bytes(self._call("checkpoint", self.learner.checkpoint))

    def restore(self, checkpoint: bytes) -> None:
        """Become what `checkpoint` holds."""
        self._call("restore", self.learner.restore, checkpoint)


class CheckedPlanner(CheckedAgent):
    """A planner whose mistakes are told clearly; the actions it returns are valid.

    Attributes
    ----------
    checkpoint_seconds : float
        What the agent declares, 10 if nothing.
    """

    batch_size = 1

    def __init__(self, planner: Planner, name: str, env: EnvironmentSpec) -> None:
        super().__init__(planner, name, env)
        self.planner = planner
        self._keeps = callable(getattr(planner, "checkpoint", None))
        self.checkpoint_seconds = self._seconds()

    def plan(
        self, model: GenerativeModel, state: State, first: bool, rng: np.random.Generator
    ) -> Generator[bool, None, int]:
        """Ask for an action and check it; yields wherever the planner does, True where a checkpoint can be taken.

        Raises
        ------
        ArcadeMarkError
            If the agent raises, or its answer is no action.
        """
        answer = self._call("plan", self.planner.plan, model, state, first, rng)
        if isinstance(answer, Generator):
            answer = yield from self._run(answer)
        return self._action(answer)

    def _run(self, planning: Generator[Any, None, Any]) -> Generator[bool, None, Any]:
        while True:
            try:
                told = next(planning)
            except StopIteration as end:
                return end.value
            except (Exception, SystemExit) as error:
                raise ArcadeMarkError(f"{self.where}: plan raised {where_raised(error)}") from error
            if told is not None and told is not True:
                raise ArcadeMarkError(
                    f"{self.where}: plan yielded {said(repr, told)}; expected None or True, and the action to be "
                    "returned"
                )
            yield bool(told) and self._keeps

    def _action(self, answer: object) -> int:
        try:
            if isinstance(answer, (bool, np.bool_)):
                raise TypeError
            action = operator.index(answer)  # type: ignore[arg-type]
        except TypeError:
            raise ArcadeMarkError(
                f"{self.where}: plan returned {type(answer).__name__}; expected an integer, the action"
            ) from None
        if not 0 <= action < self.num_actions:
            raise ArcadeMarkError(f"{self.where}: plan chose action {action}; expected 0 to {self.num_actions - 1}")
        return action

    def checkpoint(self) -> bytes:
        """Return what the planner keeps; nothing if it has no `checkpoint`.

        Raises
        ------
        ArcadeMarkError
            If the agent raises, or returns anything but bytes.
        """
        return self._bytes(self._call("checkpoint", self.planner.checkpoint)) if self._keeps else b""

    def restore(self, checkpoint: bytes) -> None:
        """Become what `checkpoint` holds."""
        if self._keeps:
            self._call("restore", self.planner.restore, checkpoint)

    def _seconds(self) -> float:
        value = getattr(self.planner, "checkpoint_seconds", None)
        if value is None:
            return CHECKPOINT_SECONDS
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not value > 0:
            raise ArcadeMarkError(f"{self.where}: its checkpoint_seconds is {said(repr, value)}; expected more than 0")
        return float(value)


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
