"""Other tasks than Atari games as our environments: any Gymnasium environment, step by step.

* An episode is seeded by a number drawn from the episode's generator, and has a new environment, so that it does not
  depend on earlier ones.
* Observations are arrays: unchanged for `Box`, `Discrete`, `MultiDiscrete` and `MultiBinary` spaces, texts as text,
  and a structured array with one field per part for `Dict` and `Tuple` spaces ("0", "1", … for a tuple).
* Actions of a `Discrete` space are numbers from 0, others arrays (`base.ArrayActions`).
* Frames are steps.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import importlib.metadata
import math
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from arcademark import plugins
from arcademark.environments.base import ArrayActions, EnvironmentSpec, State, Step
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.suite.protocols import StepProtocol
from arcademark.suite.settings import ARRAY_ACTIONS, MAX_ACTION_DIMENSIONS
from arcademark.suite.task_suites import Task, TaskSuite

MAX_OBJECTS = 100_000
"""Maximum number of objects searched for random generators in a copied environment."""

MAX_ACTIONS = 2**16
"""Numbered actions that a run can record."""

MAX_TEXT_CHARS = 256
"""Characters of a text observation if its space sets no limit."""

MAX_NUMBERS = 4096
"""Maximum number of values in an action that is an array."""


def make(task: Task, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Make a task's environment.

    ArcadeMarkError: its package is not installed, Gymnasium does not know it, or it refuses its arguments.
    """
    where = f"task {task.id!r}"
    try:
        name = task.environment.rpartition(":")[2]
        if task.module:
            registers = getattr(importlib.import_module(task.module), "register_envs", None)
            if name not in gymnasium.registry and callable(registers):
                registers()
        limit: dict[str, Any] = {} if task.max_steps is None else {"max_episode_steps": task.max_steps}
        with warnings.catch_warnings():
            for category in (DeprecationWarning, UserWarning):  # about later versions of the suite's environments
                warnings.filterwarnings("ignore", category=category, module=r"gymnasium\.envs\.registration")
            mode: dict[str, Any] = {} if render_mode is None else {"render_mode": render_mode}
            return gymnasium.make(name, disable_env_checker=True, **limit, **mode, **task.kwargs)
    except ImportError as error:
        raise ArcadeMarkError(
            f"{where}: {task.environment} cannot be imported ({one_line(str(error))}); install its package"
        ) from None
    except Exception as error:  # a third-party constructor
        raise ArcadeMarkError(
            f"{where}: {task.environment} cannot be made ({_line(error)}); correct the suite"
        ) from None


def _line(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}", 300)


def trusted(task: Task, suites: Iterable[TaskSuite]) -> bool:
    """Return True if a task of an untrusted run may be made.

    It may if one of `suites` defines it, with any limit of steps; or if its class is Gymnasium's own and its arguments
    are booleans: others could name a file or use excessive resources.
    """
    known = (other for suite in suites for other in suite.tasks.values())
    if any((task.environment, task.kwargs) == (other.environment, other.kwargs) for other in known):
        return True
    entry_point = getattr(gymnasium.registry.get(task.environment), "entry_point", None)
    own = isinstance(entry_point, str) and entry_point.startswith("gymnasium.envs.")
    return own and all(isinstance(value, bool) for value in task.kwargs.values())


def package(task: Task) -> str:
    """Return the package that defines a task with its version, "gymnasium 1.2.1"; "" if unknown."""
    module = (task.module or "gymnasium").partition(".")[0]
    names = _packages(plugins.installed()).get(module, [])
    return f"{names[0]} {importlib.metadata.version(names[0])}" if names else ""


@lru_cache(maxsize=1)
def _packages(_: tuple[tuple[str, int], ...]) -> Mapping[str, list[str]]:
    """Return the packages of modules, found by reading every installed package's list of files."""
    return importlib.metadata.packages_distributions()


_KNOWN: dict[tuple[str, str, int | None], tuple[spaces.Space[Any], spaces.Space[Any], bool]] = {}
"""Spaces of tasks that were made, and whether they draw pictures, by their environments and arguments."""


def task_spec(name: str, protocol: StepProtocol) -> EnvironmentSpec:
    """Return the description of a task of the protocol's suite, for an agent; errors as in `make`, or of its spaces."""
    task = protocol.suite.tasks[protocol.suite.resolve([name])[0]]
    observed, acted, _ = _known(task)
    where = f"task {task.id!r}"
    kind = _type_of(observed, where)
    meanings, arrays = _actions(acted, where)
    shape, dtype = (kind.shape, kind.base) if kind.subdtype else ((), kind)
    return EnvironmentSpec(task.id, protocol, meanings, shape, dtype, array_actions=arrays)


def spaces_of(spec: EnvironmentSpec) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    """Return the spaces of a task's observations, as `unpacked` has them, and of its actions, numbered from 0."""
    assert isinstance(spec.protocol, StepProtocol)
    observed, acted, _ = _known(spec.protocol.suite.tasks[spec.game])
    return observed, acted if spec.array_actions is not None else spaces.Discrete(spec.num_actions)


def _known(task: Task) -> tuple[spaces.Space[Any], spaces.Space[Any], bool]:
    """Return the entry of `_KNOWN` for a task, whose environment is made at first use; errors as in `make`."""
    key = (task.environment, repr(sorted(task.kwargs.items())), task.max_steps)
    if key not in _KNOWN:
        environment = make(task)
        draws = "rgb_array" in environment.metadata.get("render_modes", ())
        _KNOWN[key] = environment.observation_space, environment.action_space, draws
        _close(environment)
    return _KNOWN[key]


@contextlib.contextmanager
def _unseen() -> Iterator[None]:
    """Let SDL use neither screen nor sound, which pictures do not need, unless the user chose its drivers."""
    missing = {"SDL_VIDEODRIVER", "SDL_AUDIODRIVER"} - os.environ.keys()
    os.environ.update(dict.fromkeys(missing, "dummy"))
    try:
        yield
    finally:
        for name in missing:
            os.environ.pop(name, None)


def _close(environment: gymnasium.Env[Any, Any]) -> None:
    with contextlib.suppress(Exception):  # of third-party code, with no consequence
        environment.close()


def parts(space: spaces.Space[Any]) -> dict[str, spaces.Space[Any]] | None:
    """Return the parts of a space by their names in arrays; None for a space without parts."""
    if isinstance(space, spaces.Dict):
        return dict(space.spaces)
    return {str(i): part for i, part in enumerate(space.spaces)} if isinstance(space, spaces.Tuple) else None


def _type_of(space: spaces.Space[Any], where: str) -> np.dtype[Any]:
    """Return the type of one observation as an array, its shape included."""
    if (named := parts(space)) is not None:
        return np.dtype([(name, _type_of(part, where)) for name, part in named.items()])
    if isinstance(space, spaces.Text) or (space.dtype is not None and space.dtype.kind == "U"):
        return np.dtype(f"U{getattr(space, 'max_length', MAX_TEXT_CHARS)}")
    if isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary | spaces.Discrete):
        return np.dtype((space.dtype, space.shape))
    raise ArcadeMarkError(
        f"{where}: its observations are {one_line(repr(space), 100)}; expected boxes, numbers, text, or a Dict of these"
    )


def _actions(space: spaces.Space[Any], where: str) -> tuple[tuple[str, ...], ArrayActions | None]:
    if isinstance(space, spaces.Discrete):
        if space.n <= MAX_ACTIONS:
            return tuple(str(space.start + i) for i in range(int(space.n))), None
        raise ArcadeMarkError(f"{where}: {space.n:,} actions; at most {MAX_ACTIONS:,} can be recorded")
    low: NDArray[Any]
    high: NDArray[Any]
    match space:
        case spaces.Box():
            low, high = space.low, space.high
        case spaces.MultiDiscrete():
            low, high = space.start, space.start + space.nvec - 1
        case spaces.MultiBinary():
            low, high = np.zeros(space.shape), np.ones(space.shape)
        case _:
            raise ArcadeMarkError(
                f"{where}: its actions are {one_line(repr(space), 100)}; expected Discrete, MultiDiscrete, MultiBinary "
                "or Box"
            )
    dtype = np.dtype(space.dtype)
    if (
        dtype.str[1:] not in ARRAY_ACTIONS
        or not 1 <= low.ndim <= MAX_ACTION_DIMENSIONS
        or not 1 <= low.size <= MAX_NUMBERS
    ):
        raise ArcadeMarkError(
            f"{where}: its actions, of shape {low.shape} and type {dtype}, cannot be recorded; wrap the environment so "
            f"that they have 1 to {MAX_ACTION_DIMENSIONS} dimensions and an ordinary type such as float32"
        )
    bounds = (tuple(float(bound) for bound in end.ravel()) for end in (low, high))
    return (), ArrayActions(low.shape, dtype.str, *bounds)


def fill(out: NDArray[Any], observation: Any, space: spaces.Space[Any]) -> None:
    """Write an observation of a space into an array of its type."""
    if (named := parts(space)) is not None:
        for name, part in named.items():
            fill(out[name], observation[name if isinstance(space, spaces.Dict) else int(name)], part)
        return
    if np.shape(observation) != out.shape:
        raise ValueError(f"shape {np.shape(observation)}, expected {out.shape}")
    if isinstance(observation, str) and len(observation) > out.dtype.itemsize // 4:
        raise ValueError(f"a text of {len(observation):,} characters")
    out[...] = observation


def unpacked(observations: NDArray[Any], space: spaces.Space[Any], texts: type = tuple) -> Any:
    """Return rows of observations of a space, or a single one, in Gymnasium's form.

    Parts become a dictionary or a tuple of their rows, texts a tuple, or `texts`; a single number or text stays one.
    """
    if (named := parts(space)) is not None:
        rows = {name: unpacked(observations[name], part, texts) for name, part in named.items()}
        return rows if isinstance(space, spaces.Dict) else tuple(rows.values())
    if observations.dtype.kind == "U":
        return texts(observations.tolist()) if observations.ndim else str(observations)
    return observations[()] if isinstance(space, spaces.Discrete) else observations


class Copy:
    """A copy of a Gymnasium environment, equal to itself only; an ArcadeMarkError if it cannot be copied."""

    def __init__(self, environment: gymnasium.Env[Any, Any], task: str) -> None:
        self._task = task
        self._kept = environment
        self._kept = self.copied()

    def copied(self) -> gymnasium.Env[Any, Any]:
        """Return another such environment, to be played."""
        try:
            return copy.deepcopy(self._kept)
        except Exception as error:  # a third-party environment
            why = f"it cannot be copied ({_line(error)})"
            raise ArcadeMarkError(f"task {self._task!r}: planners cannot play it, as {why}") from None


class TaskEnvironment:
    """A task under a protocol; a `base.Environment` whose frames are steps.

    Its errors are `ArcadeMarkError`, also where the environment raises.
    """

    lives = 0
    life_lost = life_begun = False

    def __init__(self, spec: EnvironmentSpec, protocol: StepProtocol, pictures: bool = False) -> None:
        self.spec = spec
        self._task = protocol.suite.tasks[spec.game]
        self._cap = math.inf if protocol.max_frames_per_episode is None else protocol.max_frames_per_episode
        self._rendering = "rgb_array" if pictures and _known(self._task)[2] else None
        self._inner = make(self._task, self._rendering)
        self._observation: Any = None
        self._space = self._inner.observation_space
        self._first = (
            int(self._inner.action_space.start) if isinstance(self._inner.action_space, spaces.Discrete) else 0
        )
        self.ended, self.episode_frames, self._used = True, 0, False
        self._chosen: Any = None

    def reset(self, rng: np.random.Generator, noops: int | None = None) -> float:
        """Start an episode, seeded by a number drawn from `rng`; there are no no-ops."""
        seed = int(rng.integers(2**31))
        if self._used:  # some environments carry state over to the next episode
            _close(self._inner)
            self._inner = make(self._task, self._rendering)
        self._used = True
        self._observation, _ = self._call("reset", seed=seed)
        self.ended, self.episode_frames = False, 0
        return 0.0

    def go_on(self) -> Step:
        """Raise ArcadeMarkError: tasks have no lives."""
        raise ArcadeMarkError(f"task {self.spec.game!r}: there is no game to continue; call reset")

    def step(self, action: Any) -> Step:
        """Play a step; errors as in `base.Environment.step`."""
        self.prepare(action)
        return self.play()

    def prepare(self, action: Any) -> None:
        """Prepare a step, to be played by `play`; errors as in `base.Environment.step`."""
        if self.ended:
            raise ArcadeMarkError(f"task {self.spec.game!r}: the episode has ended; call reset")
        self._chosen = self._valid(action)

    def play(self) -> Step:
        """Play the prepared step; an ArcadeMarkError if the environment raises."""
        answer = self._call("step", self._chosen)
        try:
            self._observation, reward, terminated, truncated, _ = answer
            score, terminated, truncated = float(reward), bool(terminated), bool(truncated)
        except (ValueError, TypeError, OverflowError) as error:
            raise ArcadeMarkError(
                f"task {self.spec.game!r}: its step did not return Gymnasium's five values ({one_line(str(error))})"
            ) from None
        self.episode_frames += 1
        truncated = not terminated and (truncated or self.episode_frames >= self._cap)
        self.ended = terminated or truncated
        if not math.isfinite(score):
            raise ArcadeMarkError(f"task {self.spec.game!r}: a step's reward is {score}; expected a number")
        return Step(score, terminated, truncated)

    def each_frame(self, action: Any) -> Iterator[Step]:
        """Play a step."""
        yield self.step(action)

    def _valid(self, action: Any) -> Any:
        arrays = self.spec.array_actions
        if arrays is None:
            if isinstance(action, int | np.integer) and 0 <= action < len(self.spec.action_meanings):
                return np.int64(action + self._first)
            last = len(self.spec.action_meanings) - 1
            raise ArcadeMarkError(f"task {self.spec.game!r}: action {action!r} is not an integer from 0 to {last}")
        return arrays.checked(np.asarray(action), f"task {self.spec.game!r}: action")

    def _call(self, method: str, *arguments: Any, **keywords: Any) -> Any:
        try:
            return getattr(self._inner, method)(*arguments, **keywords)
        except Exception as error:  # a third-party environment
            raise ArcadeMarkError(f"task {self.spec.game!r}: its {method} raised {_line(error)}") from error

    def observe(self, out: NDArray[Any]) -> None:
        """Write the current observation, of shape ``spec.observation_shape``, into `out`."""
        try:
            fill(out, self._observation, self._space)
        except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
            raise ArcadeMarkError(
                f"task {self.spec.game!r}: an observation is not of its observation_space ({one_line(str(error))})"
            ) from None

    def render(self) -> NDArray[np.uint8]:
        """Return the picture, shape (height, width, 3); an ArcadeMarkError if there is none."""
        with _unseen():
            picture = self._call("render") if self._rendering else None
        if not isinstance(picture, np.ndarray) or picture.ndim != 3 or picture.shape[2] != 3:
            raise ArcadeMarkError(f"task {self.spec.game!r}: its environment draws no picture")
        return picture.astype(np.uint8, copy=False)

    def place(self) -> State:
        """Return the task's state; errors as in `Copy`."""
        return State(self.spec.game, Copy(self._inner, self.spec.game), 0, self.episode_frames, 0, self.ended)

    def save(self) -> Any:
        """Return everything needed to continue from here, in this process; errors as in `place`."""
        return Copy(self._inner, self.spec.game), copy.deepcopy(self._observation), self.ended, self.episode_frames

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved."""
        kept, self._observation, self.ended, self.episode_frames = state
        self._inner = kept.copied()

    def close(self) -> None:
        """Close the environment."""
        self.ended = True
        _close(self._inner)


def _generators(environment: Any) -> Iterator[np.random.Generator | np.random.RandomState]:
    """Yield the random generators in an environment's attributes, recursively."""
    seen: set[int] = set()
    waiting = [environment]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or len(seen) > MAX_OBJECTS:
            continue
        seen.add(id(thing))
        if isinstance(thing, np.random.Generator | np.random.RandomState):
            yield thing
        elif not isinstance(thing, type | ModuleType):
            waiting += reversed(list(getattr(thing, "__dict__", {}).values()))


def copies(spec: EnvironmentSpec, protocol: StepProtocol, steps: int = 20) -> bool:
    """Return True if a copy of a task's environment, made within an episode, plays like the environment itself.

    ArcadeMarkError: it cannot be copied.
    """
    rng = np.random.default_rng(0)
    ours, other = TaskEnvironment(spec, protocol), TaskEnvironment(spec, protocol)
    views = [np.zeros(spec.observation_shape, spec.observation_dtype) for _ in range(2)]
    with contextlib.closing(ours), contextlib.closing(other):
        ours.reset(rng)
        for _ in range(steps):
            ours.step(random_action(spec, rng))
            if ours.ended:
                ours.reset(rng)
        other.restore(ours.save())
        for _ in range(steps):
            if ours.ended:
                break
            action = random_action(spec, rng)
            alike = ours.step(action) == other.step(action)
            for environment, view in zip((ours, other), views, strict=True):
                environment.observe(view)
            if not alike or views[0].tobytes() != views[1].tobytes():
                return False
    return True


def random_action(spec: EnvironmentSpec, rng: np.random.Generator) -> Any:
    """Draw an action of a task."""
    return int(rng.integers(spec.num_actions)) if spec.array_actions is None else spec.array_actions.sample(rng)


class TaskModel(TaskEnvironment):
    """A task as a model that planners search, like `generative.GenerativeModel` for a game.

    Its states are copies of the environment, with its random generators: those found in its attributes are seeded anew
    at each restore, so that a planner cannot foresee the real task's draws. No state equals another, so a search begins
    anew at each decision. ArcadeMarkError: copies of the environment are not exact.
    """

    ram_size, screen_shape = 0, (0, 0)
    keeps = False

    def __init__(self, spec: EnvironmentSpec, protocol: StepProtocol) -> None:
        if not copies(spec, protocol):
            raise ArcadeMarkError(f"task {spec.game!r}: planners cannot play it, as copies of it play differently")
        super().__init__(spec, protocol)
        self.num_actions = spec.num_actions
        self.frames = 0
        self._here: State | None = None
        self._rng = np.random.default_rng(0)

    def use(self, rng: np.random.Generator) -> None:
        """Seed the model's random numbers from `rng` from now on."""
        self._rng = rng

    def save(self) -> State:
        """Return the current state."""
        if self._here is None:
            self._here = self.place()
        return self._here

    def restore(self, state: State) -> None:
        """Restore a state, at no cost if it is the current one, and draw new random numbers after it."""
        if self._here is state:
            return
        _, kept, _, self.episode_frames, _, self.ended = state
        assert isinstance(kept, Copy)
        self._inner = kept.copied()
        seeds = np.random.default_rng(self._rng.integers(2**63, size=2))
        for generator in _generators(self._inner):
            if isinstance(generator, np.random.RandomState):
                generator.seed(seeds.integers(2**32, size=4).tolist())
            else:
                generator.bit_generator.state = type(generator.bit_generator)(seeds.integers(2**63)).state
        self._here = state

    def step(self, action: Any) -> Step:
        """Play a step; errors as in `base.Environment.step`."""
        self._here = None
        self.frames += 1
        return super().step(action)

    def ram(self, out: NDArray[np.uint8]) -> None:
        """Raise ArcadeMarkError: only Atari games have such a memory."""
        raise ArcadeMarkError(f"task {self.spec.game!r}: has no screen or memory; plan with uct, for example")

    screen = ram
