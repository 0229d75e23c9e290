"""From whatever a factory returned to a checked agent.

Accepted, in this order:

1. an object with ``act(observations, first, rngs)``: a `Policy` (with ``learn`` and the rest: a `Learner`; with
   ``fit`` and the rest: a `Trainer`);
2. an object with ``plan(model, state, first, rng)``: a `Planner`;
3. an object with ``predict(observation)``, as Gymnasium's and Stable-Baselines3's agents have, made a `Policy` by
   `PredictPolicy`;
4. a plain callable, observation → action, made a `Policy` by `CallablePolicy`.

What 3 and 4 are given is theirs to keep. Every action goes through `CheckedPolicy` or `CheckedPlanner`: the one place
where an agent's mistakes become a line that names the agent, the game and what was expected. Their methods raise
`ArcadeMarkError` if the agent raises, or returns something else than it should.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from arcademark.agents.base import (
    MOST_BATCH,
    Actions,
    Flags,
    Generators,
    Learner,
    Observations,
    Planner,
    Policy,
    Trainer,
    Transition,
    learns,
    trains,
)
from arcademark.agents.command import CommandError, CommandPolicy
from arcademark.agents.importing import said, where_raised
from arcademark.agents.spaces import check_spaces
from arcademark.environments.base import AskedObservation, EnvironmentSpec
from arcademark.environments.registry import observing
from arcademark.errors import ArcadeMarkError
from arcademark.suite.settings import MOST_FRAMES, MOST_FRAMES_PER_ACTION

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

    from arcademark.environments.emulation.generative import GenerativeModel, State

ASKED_OBSERVATIONS: tuple[AskedObservation, ...] = get_args(AskedObservation)
CHECKPOINT_FRAMES = 1_000_000
CHECKPOINT_SECONDS = 10.0
"""How much play of a learner or a planner may be lost, unless it asks for something else."""


def adapt(made: object, name: str, env: EnvironmentSpec) -> CheckedPolicy | CheckedPlanner:
    """Make a checked agent of what a factory returned; `name` is the agent's, for messages.

    ArcadeMarkError if it is none of the above, has only some of a learner's or planner's methods, its optional
    attributes are wrong, or it has spaces that are not the game's (`arcademark.agents.spaces`).
    """
    agent = _adapted(made, name, env)
    check_spaces(made, agent.where, observing(env, agent.observation))
    return agent


def _adapted(made: object, name: str, env: EnvironmentSpec) -> CheckedPolicy | CheckedPlanner:
    if inspect.isclass(made):
        raise ArcadeMarkError(f"agent {name}: its factory returned the class {made.__name__}; expected an instance")
    if _has(made, "act"):
        _check_arguments(made, "act", ("observations", "first", "rngs"), name)
        if learns(made, name):
            return CheckedLearner(cast(Learner, made), name, env)
        if trains(made, name):
            _check_arguments(made, "fit", ("envs", "frames"), name)
            return CheckedTrainer(cast(Trainer, made), name, env)
        return CheckedPolicy(cast(Policy, made), name, env)
    if _has(made, "plan"):
        _check_arguments(made, "plan", ("model", "state", "first", "rng"), name)
        kept = [method for method in ("checkpoint", "restore") if _has(made, method)]
        if len(kept) == 1:
            raise ArcadeMarkError(
                f"agent {name}: it has {kept[0]}() alone; a planner needs both checkpoint() and restore(), or neither"
            )
        return CheckedPlanner(cast(Planner, made), name, env)
    if _has(made, "predict"):
        return CheckedPolicy(PredictPolicy(made, _shape(env)), name, env)
    if callable(made):
        return CheckedPolicy(CallablePolicy(made, _shape(env)), name, env)
    raise ArcadeMarkError(
        f"agent {name}: its factory returned {type(made).__name__}; expected an object with act(), plan() or "
        "predict(), or a function from observation to action"
    )


def _has(agent: object, method: str) -> bool:
    return callable(getattr(agent, method, None))


def _check_arguments(agent: object, method: str, arguments: tuple[str, ...], name: str) -> None:
    try:
        signature = inspect.signature(getattr(agent, method))
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        expected = f"({', '.join(arguments)})"
        raise ArcadeMarkError(f"agent {name}: {method} takes {signature}; expected {expected}") from None


class PredictPolicy:
    """An agent with ``predict(observation)``, which returns an action, or an action and a state.

    It is asked about one episode at a time, or, where it declares a ``predict_batch``, about so many at once, a row
    each. `state` and `episode_start` are passed if it takes them, and the state it returns is kept for the episode;
    ``deterministic=True`` is passed if it takes it, since its own sampling would not be repeatable.
    """

    asked = "predict"

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
        """Ask for all episodes at once, or for each in turn, with the state that belongs to it."""
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

    asked = "its function"

    def __init__(self, function: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
        self._function, self._shape = function, shape

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Ask for each episode in turn."""
        return np.array([_single(self._function(_own(one)), self._shape) for one in observations])


def _shape(env: EnvironmentSpec) -> tuple[int, ...]:
    return () if env.array_actions is None else env.array_actions.shape


def _own(observation: Any) -> Any:
    """Return a copy of an observation, one of several parts as a dictionary, as Gymnasium has it."""
    names = observation.dtype.names
    return observation.copy() if names is None else {name: _own(observation[name]) for name in names}


def _single(answer: Any, shape: tuple[int, ...]) -> Any:
    """Unwrap an action that came in a batch of one."""
    array = np.asarray(answer)
    return array.reshape(shape)[()] if array.size == math.prod(shape) else answer


class CheckedAgent:
    """What is common to checked policies and planners.

    `frames_per_action` and `observation` are what the agent declares, None if nothing; `where` names the agent and the
    game, for messages.
    """

    def __init__(self, agent: Policy | Planner, name: str, env: EnvironmentSpec) -> None:
        self._agent = agent
        self.where = f"agent {name} on {env.game}"
        self.num_actions, self.array_actions = len(env.action_meanings), env.array_actions
        self.frames_per_action: int | None = self._whole("frames_per_action", None, MOST_FRAMES_PER_ACTION)
        self.observation: AskedObservation | None = self._declared(
            "observation",
            lambda value: isinstance(value, str) and value in ASKED_OBSERVATIONS,
            " or ".join(repr(kind) for kind in ASKED_OBSERVATIONS),
        )

    def action_values(self) -> NDArray[np.float64] | None:
        """Return what the agent said of each action when it last chose, of the first episode in play; None if nothing.

        NaN where it said nothing of an action.
        """
        told = getattr(self._agent, "action_values", None)
        if told is None:
            return None
        try:
            values = np.asarray(told, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.ndim not in (1, 2) or not len(values) or values.shape[-1] != self.num_actions:
            raise ArcadeMarkError(
                f"{self.where}: action_values is {type(told).__name__} of shape {values.shape}; expected numbers of "
                f"shape (episodes, {self.num_actions})"
            )
        return values if values.ndim == 1 else np.asarray(values[0])

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self._agent, method)(*arguments)
        except (Exception, SystemExit) as error:
            raise self._raised(method, error) from error

    def _raised(self, method: str, error: BaseException) -> ArcadeMarkError:
        if isinstance(error, CommandError):
            return error
        return ArcadeMarkError(f"{self.where}: {method} raised {where_raised(error)}")

    def checkpoint(self) -> bytes:
        """Return everything that the agent keeps."""
        saved = self._call("checkpoint")
        if not isinstance(saved, (bytes, bytearray)):
            raise ArcadeMarkError(f"{self.where}: checkpoint returned {type(saved).__name__}; expected bytes")
        return bytes(saved)

    def restore(self, checkpoint: bytes) -> None:
        """Become what `checkpoint` holds."""
        self._call("restore", checkpoint)

    def _declared(self, attribute: str, fits: Callable[[Any], bool], expected: str, default: Any = None) -> Any:
        """Return an optional attribute of the agent."""
        value = getattr(self._agent, attribute, None)
        if value is None:
            return default
        if isinstance(value, bool) or not fits(value):
            raise ArcadeMarkError(f"{self.where}: its {attribute} is {said(repr, value)}; expected {expected}")
        return value

    def _whole(self, attribute: str, default: Any, most: int = MOST_FRAMES) -> Any:
        def fits(value: Any) -> bool:
            return isinstance(value, (int, np.integer)) and 1 <= int(value) <= most

        value = self._declared(attribute, fits, f"a whole number from 1 to {most:,}", default)
        return value if value is None else int(value)


class CheckedPolicy(CheckedAgent):
    """A policy whose mistakes are reported clearly; all it returns is valid.

    `batch_size`, `trained_frames` and `draws` are what the agent declares, 1 and None if nothing; `asked` is what its
    author calls the method that chooses.
    """

    def __init__(self, policy: Policy, name: str, env: EnvironmentSpec) -> None:
        super().__init__(policy, name, env)
        self.policy = policy
        self.asked = getattr(policy, "asked", "act")
        self.batch_size: int = self._whole("batch_size", 1, MOST_BATCH)
        self.trained_frames: int | None = self._whole("trained_frames", None)
        told = getattr(policy, "draws", None)
        self.draws = told if isinstance(told, bool) else None

    def rows(self, env: EnvironmentSpec) -> Observations:
        """Return blank rows for the observations of ``batch_size`` episodes: those that the agent maps, if it does."""
        if isinstance(self.policy, CommandPolicy) and self.policy.memory is not None:
            self.policy.memory[...] = np.zeros((), self.policy.memory.dtype)
            return self.policy.memory
        return np.zeros((self.batch_size, *env.observation_shape), env.observation_dtype)

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        """Ask the agent and check its answer: integers in ``range(num_actions)``, one for each episode."""
        try:
            actions: NDArray[Any] = np.asarray(self.policy.act(observations, first, rngs))
        except (Exception, SystemExit) as error:
            raise self._raised(self.asked, error) from error
        if self.array_actions is not None:
            return self.array_actions.checked(actions, f"{self.where}: what {self.asked} returned", first.shape)
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


class CheckedLearner(CheckedPolicy):
    """A learner whose mistakes are reported clearly; `checkpoint_frames` is what it declares, 1,000,000 if nothing."""

    def __init__(self, learner: Learner, name: str, env: EnvironmentSpec) -> None:
        super().__init__(learner, name, env)
        self.learner = learner
        self.checkpoint_frames = self._whole("checkpoint_frames", CHECKPOINT_FRAMES)

    def train(self) -> None:
        """Explore and learn from now on."""
        self._call("train")

    def evaluate(self) -> None:
        """Neither learn nor change from now on."""
        self._call("evaluate")

    def learn(self, transition: Transition, rng: np.random.Generator) -> None:
        """Learn from one step."""
        self._call("learn", transition, rng)


class CheckedTrainer(CheckedPolicy):
    """A trainer whose mistakes are reported clearly; `checkpoint_frames` as of `CheckedLearner`."""

    def __init__(self, trainer: Trainer, name: str, env: EnvironmentSpec) -> None:
        super().__init__(trainer, name, env)
        self.checkpoint_frames = self._whole("checkpoint_frames", CHECKPOINT_FRAMES)
        self.num_envs: int = self._whole("num_envs", None)
        if self.num_envs is None:
            raise ArcadeMarkError(f"{self.where}: it has no num_envs; expected how many games it trains on at once")
        self.channels_first = bool(getattr(trainer, "channels_first", False))

    def fit(self, envs: VectorEnv[Observations, Actions, Flags], frames: int) -> Iterator[None]:
        """Train, yielding wherever the trainer does."""
        training = self._call("fit", envs, frames)
        if not isinstance(training, Iterator):
            raise ArcadeMarkError(f"{self.where}: fit returned {type(training).__name__}; expected a generator")
        while True:
            try:
                next(training)
            except StopIteration:
                return
            except (Exception, SystemExit) as error:
                raise self._raised("fit", error) from error
            yield

    def evaluate(self) -> None:
        """Neither learn nor explore from now on."""
        self._call("evaluate")


class CheckedPlanner(CheckedAgent):
    """A planner whose mistakes are reported clearly; the actions it returns are valid.

    `checkpoint_seconds` is what the agent declares, 10 if nothing.
    """

    batch_size = 1

    def __init__(self, planner: Planner, name: str, env: EnvironmentSpec) -> None:
        super().__init__(planner, name, env)
        self.planner = planner
        self._keeps = _has(planner, "checkpoint")
        self.checkpoint_seconds = float(
            self._declared(
                "checkpoint_seconds",
                lambda value: isinstance(value, (int, float, np.number)) and bool(value > 0),
                "more than 0",
                CHECKPOINT_SECONDS,
            )
        )

    def plan(
        self, model: GenerativeModel, state: State, first: bool, rng: np.random.Generator
    ) -> Generator[bool, None, int]:
        """Ask for an action and check it; yields wherever the planner does, True where a checkpoint can be taken."""
        answer = self._call("plan", model, state, first, rng)
        if isinstance(answer, Generator):
            answer = yield from self._run(answer)
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

    def _run(self, planning: Generator[Any, None, Any]) -> Generator[bool, None, Any]:
        while True:
            try:
                yielded = next(planning)
            except StopIteration as end:
                return end.value
            except (Exception, SystemExit) as error:
                raise self._raised("plan", error) from error
            if yielded is not None and yielded is not True:
                raise ArcadeMarkError(
                    f"{self.where}: plan yielded {said(repr, yielded)}; expected None or True, and the action to be "
                    "returned"
                )
            yield bool(yielded) and self._keeps

    def checkpoint(self) -> bytes:
        """Return what the planner keeps; nothing if it has no `checkpoint`."""
        return super().checkpoint() if self._keeps else b""

    def restore(self, checkpoint: bytes) -> None:
        """Become what `checkpoint` holds."""
        if self._keeps:
            super().restore(checkpoint)
