"""Adapters from the objects that factories return to checked agents.

Accepted, in this order:

1. an object with ``act(observations, first, rngs)``: a `Policy` (with ``learn`` and the rest: a `Learner`; with ``fit``
   and the rest: a `Trainer`);
2. an object with ``plan(model, state, first, rng)``: a `Planner`;
3. an object with ``predict(observation)``, as Gymnasium's and Stable-Baselines3's agents have, made a `Policy` by
   `PredictPolicy`;
4. a plain callable, observation → action, made a `Policy` by `CallablePolicy`.

Agents of 3 and 4 may keep their observations. Every action is checked by `CheckedPolicy` or `CheckedPlanner`, the only
place where an agent's mistakes become an error that names the agent, the game and the expected value. Their methods
raise `ArcadeMarkError` if the agent raises, or returns an invalid value.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from arcademark.agents.base import (
    MAX_BATCH,
    Actions,
    Flags,
    Generators,
    Observations,
    Planner,
    Policy,
    Trainer,
    Transition,
    has,
    kind_by_methods,
)
from arcademark.agents.command import CommandError, CommandPolicy
from arcademark.agents.spaces import check_spaces
from arcademark.environments.base import AskedObservation, EnvironmentSpec
from arcademark.environments.registry import as_asked
from arcademark.errors import ArcadeMarkError
from arcademark.importing import said, where_raised
from arcademark.suite.settings import MAX_FRAMES, MAX_FRAMES_PER_ACTION

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

    from arcademark.environments.generative import GenerativeModel, State

Frames = Annotated[int, Meta(ge=1, le=MAX_FRAMES)]


def adapt(given: object, name: str, env: EnvironmentSpec) -> CheckedPolicy | CheckedPlanner:
    """Make a checked agent from a factory's result; `name` is the agent's, for messages.

    ArcadeMarkError if it is none of the above, has only some of a learner's or planner's methods, its optional
    attributes are wrong, or its spaces differ from the game's (`arcademark.agents.spaces`).
    """
    agent = _adapted(given, name, env)
    check_spaces(given, agent.where, as_asked(env, agent.observation))
    return agent


def _adapted(given: Any, name: str, env: EnvironmentSpec) -> CheckedPolicy | CheckedPlanner:
    if inspect.isclass(given):
        raise ArcadeMarkError(f"agent {name}: its factory returned the class {given.__name__}; expected an instance")
    match kind_by_methods(given, name):
        case "learner":
            return CheckedLearner(given, name, env)
        case "trainer":
            return CheckedTrainer(given, name, env)
        case "policy":
            return CheckedPolicy(given if has(given, "act") else PredictPolicy(given, _shape(env)), name, env)
        case "planner":
            return CheckedPlanner(given, name, env)
    if callable(given):
        return CheckedPolicy(CallablePolicy(given, _shape(env)), name, env)
    raise ArcadeMarkError(
        f"agent {name}: its factory returned {type(given).__name__}; expected an object with act(), plan() or "
        "predict(), or a function from observation to action"
    )


class PredictPolicy:
    """An agent with ``predict(observation)``, which returns an action, or an action and a state.

    It is called for one episode at a time, or, if it declares a ``predict_batch``, for that many at once, a row each.
    `state` and `episode_start` are passed if it takes them, and the returned state is kept for the episode;
    ``deterministic=True`` is passed if it takes it, since its own sampling would not be repeatable.
    """

    called = "predict"

    def __init__(self, agent: Any, shape: tuple[int, ...]) -> None:
        self._predict: Callable[..., Any] = agent.predict
        self._shape = shape
        try:
            self._takes = set(inspect.signature(self._predict).parameters)
        except (TypeError, ValueError):
            self._takes = set()
        self.batch_size = getattr(agent, "predict_batch", None)
        self._states: list[Any] = []

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Call the agent for all episodes at once, or for each in turn, with the episode's state."""
        if self.batch_size is not None:
            answer, self._states = self._ask(_own(observations), self._states or None, first.copy())
            return np.asarray(answer)
        self._states.extend([None] * (len(first) - len(self._states)))
        return np.array([self._one(i, _own(observations[i]), bool(first[i])) for i in range(len(first))])

    def _one(self, i: int, observation: Any, first: bool) -> Any:
        answer, self._states[i] = self._ask(observation, None if first else self._states[i], np.array([first]))
        return _single(answer, self._shape)

    def _ask(self, observations: Any, state: Any, first: Flags) -> tuple[Any, Any]:
        keywords = {"state": state, "episode_start": first, "deterministic": True}
        answer = self._predict(observations, **{name: keywords[name] for name in keywords if name in self._takes})
        return answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, None)


class CallablePolicy:
    """A function from one observation to one action."""

    called = "its function"

    def __init__(self, function: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
        self._function, self._shape = function, shape

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Call the function for each episode in turn."""
        return np.array([_single(self._function(_own(one)), self._shape) for one in observations])


def _shape(env: EnvironmentSpec) -> tuple[int, ...]:
    return () if env.array_actions is None else env.array_actions.shape


def _own(observation: Any) -> Any:
    """Return a copy of an observation; a dictionary if it has several parts, as in Gymnasium."""
    names = observation.dtype.names
    return observation.copy() if names is None else {name: _own(observation[name]) for name in names}


def _single(answer: Any, shape: tuple[int, ...]) -> Any:
    """Return an action without the axis of a batch of one."""
    array = np.asarray(answer)
    return array.reshape(shape)[()] if array.size == math.prod(shape) else answer


class CheckedAgent:
    """Base of checked policies and planners.

    An agent may declare the annotated attributes of these classes; `where` names the agent and the game, for messages.
    """

    frames_per_action: Annotated[int, Meta(ge=1, le=MAX_FRAMES_PER_ACTION)] | None = None
    observation: AskedObservation | None = None

    def __init__(self, agent: Policy | Planner, name: str, env: EnvironmentSpec) -> None:
        self._agent: Any = agent
        self.where = f"agent {name} on {env.game}"
        self.num_actions, self.array_actions = len(env.action_meanings), env.array_actions
        for attribute, kind in get_type_hints(type(self), include_extras=True).items():
            value = getattr(agent, attribute, None)
            if value is None or callable(value):  # a method of that name declares nothing
                continue
            try:
                read = msgspec.convert(value.item() if isinstance(value, np.generic) else value, kind)
            except (msgspec.ValidationError, TypeError) as error:
                raise ArcadeMarkError(f"{self.where}: its {attribute} is {said(repr, value)}; {error}") from None
            setattr(self, attribute, read)

    def action_values(self) -> NDArray[np.float64] | None:
        """Return the values of the actions at the last choice, shape (num_actions,); None if it has none.

        They are of the first episode in play; an action without a value has NaN.
        """
        given = getattr(self._agent, "action_values", None)
        if given is None:
            return None
        try:
            values = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.ndim not in (1, 2) or not len(values) or values.shape[-1] != self.num_actions:
            raise ArcadeMarkError(
                f"{self.where}: action_values is {type(given).__name__} of shape {values.shape}; expected numbers of "
                f"shape (episodes, {self.num_actions})"
            )
        return values if values.ndim == 1 else np.asarray(values[0])

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the agent; ArcadeMarkError if it raises."""
        try:
            return getattr(self._agent, method)(*arguments)
        except (Exception, SystemExit) as error:
            raise self._raised(method, error) from error

    def run(self, method: str, steps: Iterator[Any]) -> Generator[Any, None, Any]:
        """Run a generator of the agent, and return its result; ArcadeMarkError if it raises."""
        while True:
            try:
                yielded = next(steps)
            except StopIteration as end:
                return end.value
            except (Exception, SystemExit) as error:
                raise self._raised(method, error) from error
            yield self._step(method, yielded)

    def _step(self, method: str, yielded: Any) -> Any:
        """Return the value to yield for one that a generator yielded."""

    def _raised(self, method: str, error: BaseException) -> ArcadeMarkError:
        if isinstance(error, CommandError):
            return error
        return ArcadeMarkError(f"{self.where}: {method} raised {where_raised(error)}")

    def evaluate(self) -> None:
        """Switch a learner or trainer to evaluation: it neither learns nor explores."""
        self.call("evaluate")

    def checkpoint(self) -> bytes:
        """Return the agent's state as bytes."""
        saved = self.call("checkpoint")
        if not isinstance(saved, (bytes, bytearray)):
            raise ArcadeMarkError(f"{self.where}: checkpoint returned {type(saved).__name__}; expected bytes")
        return bytes(saved)

    def restore(self, checkpoint: bytes) -> None:
        """Restore the state of a checkpoint."""
        self.call("restore", checkpoint)


class CheckedPolicy(CheckedAgent):
    """A policy whose mistakes are reported clearly, and whose actions are valid.

    `called` is the name of its method in messages.
    """

    batch_size: Annotated[int, Meta(ge=1, le=MAX_BATCH)] = 1
    trained_frames: Frames | None = None
    draws: bool | None = None

    def __init__(self, policy: Policy, name: str, env: EnvironmentSpec) -> None:
        super().__init__(policy, name, env)
        self.policy = policy
        self.called = getattr(policy, "called", "act")

    def rows(self, env: EnvironmentSpec) -> Observations:
        """Return blank rows for the observations of ``batch_size`` episodes, in memory that the agent maps, if any."""
        if isinstance(self.policy, CommandPolicy) and self.policy.memory is not None:
            self.policy.memory[...] = np.zeros((), self.policy.memory.dtype)
            return self.policy.memory
        return np.zeros((self.batch_size, *env.observation_shape), env.observation_dtype)

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Return the agent's actions, checked: integers in ``range(num_actions)``, one per episode."""
        try:
            actions: NDArray[Any] = np.asarray(self.policy.act(observations, first, rngs))
        except (Exception, SystemExit) as error:
            raise self._raised(self.called, error) from error
        if self.array_actions is not None:
            return self.array_actions.checked(actions, f"{self.where}: the result of {self.called}", first.shape)
        if actions.shape != first.shape:
            raise ArcadeMarkError(
                f"{self.where}: {self.called} returned an array of shape {actions.shape}; expected {first.shape}, "
                "one action per episode in play"
            )
        if actions.dtype.kind not in "iu":
            raise ArcadeMarkError(f"{self.where}: {self.called} returned {actions.dtype} actions; expected integers")
        low, high = (int(actions[0]),) * 2 if len(actions) == 1 else (int(actions.min()), int(actions.max()))
        if low < 0 or high >= self.num_actions:
            wrong = low if low < 0 else high
            raise ArcadeMarkError(
                f"{self.where}: {self.called} chose action {wrong}; expected 0 to {self.num_actions - 1}"
            )
        return actions.astype(np.int64, copy=False)


class CheckedLearner(CheckedPolicy):
    """A learner whose mistakes are reported clearly."""

    checkpoint_frames: Frames = 1_000_000

    def train(self) -> None:
        """Explore and learn from now on."""
        self.call("train")

    def set_progress(self, share: float) -> None:
        """Report the finished share of training to a learner that has `set_progress`."""
        if has(self.policy, "set_progress"):
            self.call("set_progress", share)

    def learn(self, transition: Transition, rng: np.random.Generator) -> None:
        """Learn from one step."""
        self.call("learn", transition, rng)


class CheckedTrainer(CheckedPolicy):
    """A trainer whose mistakes are reported clearly."""

    checkpoint_frames: Frames = 1_000_000
    num_envs: Frames = 0
    channels_first: bool = False

    def __init__(self, trainer: Trainer, name: str, env: EnvironmentSpec) -> None:
        super().__init__(trainer, name, env)
        if not self.num_envs:
            raise ArcadeMarkError(f"{self.where}: it has no num_envs; expected its number of parallel games")

    def fit(self, envs: VectorEnv[Observations, Actions, Flags], frames: int) -> Iterator[None]:
        """Train, yielding where the trainer yields."""
        training = self.call("fit", envs, frames)
        if not isinstance(training, Iterator):
            raise ArcadeMarkError(f"{self.where}: fit returned {type(training).__name__}; expected a generator")
        yield from self.run("fit", training)


class CheckedPlanner(CheckedAgent):
    """A planner whose mistakes are reported clearly, and whose actions are valid."""

    checkpoint_seconds: Annotated[float, Meta(gt=0)] = 10.0

    def __init__(self, planner: Planner, name: str, env: EnvironmentSpec) -> None:
        super().__init__(planner, name, env)
        self.planner, self.batch_size = planner, 1
        kept = [method for method in ("checkpoint", "restore") if has(planner, method)]
        if len(kept) == 1:
            raise ArcadeMarkError(
                f"agent {name}: it has only {kept[0]}(); a planner needs both checkpoint() and restore(), or neither"
            )
        self._keeps = bool(kept)
        self.searches_anew = getattr(planner, "searches_anew", False) is True

    def plan(
        self, model: GenerativeModel, state: State, first: bool, rng: np.random.Generator
    ) -> Generator[bool, None, int]:
        """Return the planner's action, checked; yield where the planner yields, True if a checkpoint can be taken."""
        answer = self.call("plan", model, state, first, rng)
        if isinstance(answer, Generator):
            answer = yield from self.run("plan", answer)
        try:
            if isinstance(answer, (bool, np.bool_)):
                raise TypeError
            action = operator.index(answer)
        except TypeError:
            raise ArcadeMarkError(
                f"{self.where}: plan returned {type(answer).__name__}; expected an integer, the action"
            ) from None
        if not 0 <= action < self.num_actions:
            raise ArcadeMarkError(f"{self.where}: plan chose action {action}; expected 0 to {self.num_actions - 1}")
        return action

    def _step(self, method: str, yielded: Any) -> bool:
        if yielded is not None and yielded is not True:
            raise ArcadeMarkError(
                f"{self.where}: {method} yielded {said(repr, yielded)}; expected None or True, and the action to be "
                "returned"
            )
        return bool(yielded) and self._keeps

    def checkpoint(self) -> bytes:
        """Return the planner's checkpoint; empty if it has no `checkpoint`."""
        return super().checkpoint() if self._keeps else b""

    def restore(self, checkpoint: bytes) -> None:
        """Restore the state of a checkpoint."""
        if self._keeps:
            super().restore(checkpoint)
