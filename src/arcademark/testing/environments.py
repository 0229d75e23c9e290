"""Checks that every environment must pass.

Each check takes `open_env`, which returns a new environment, always of the same spec. A check that fails raises
`AssertionError` with the difference. `check_environment` runs all of them::

    check_environment(lambda: open_environment(spec), np.random.default_rng(0))
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from arcademark.environments.base import Environment
from arcademark.environments.tasks import random_action
from arcademark.errors import ArcadeMarkError
from arcademark.testing.base import require

Open = Callable[[], Environment]


class SeenMoment(NamedTuple):
    """Everything observable after a reset (with reward 0) or a step."""

    observation: bytes
    reward: float
    terminated: bool
    truncated: bool
    frames: int
    lives: int

    @property
    def ended(self) -> bool:
        """True if the episode has ended."""
        return self.terminated or self.truncated


def check_environment(open_env: Open, rng: np.random.Generator, steps: int = 200) -> None:
    """Run every check, on episodes of at most `steps` agent steps, with actions drawn from `rng`.

    Raises
    ------
    AssertionError
        If a check fails, with the difference.
    """
    for check in (
        check_observations,
        check_actions,
        check_ends,
        check_repeatable,
        check_independent_of_the_past,
        check_save_and_restore,
    ):
        check(open_env, rng, steps)


def check_observations(open_env: Open, rng: np.random.Generator, steps: int) -> None:
    """Check that an observation has the spec's shape and type, is written in full, and changes nothing."""
    env = open_env()
    env.reset(rng)
    for _ in range(min(steps, 5)):
        first = np.full(env.spec.observation_shape, 0, env.spec.observation_dtype)
        second = np.full(env.spec.observation_shape, 255, env.spec.observation_dtype)
        env.observe(first)
        env.observe(second)
        require(np.array_equal(first, second), "an observation is not written in full, or observing changes it")
        if any(env.step(random_action(env.spec, rng))[1:]):
            env.reset(rng)
    env.close()


def check_actions(open_env: Open, rng: np.random.Generator, steps: int) -> None:
    """Check that actions out of range are refused and change nothing, and NumPy's integers are accepted."""
    env = open_env()
    seed, actions = _plan(env, rng, min(steps, 10))
    expected = list(_play(env, seed, actions))
    env.reset(np.random.default_rng(seed))
    for i, action in enumerate(actions[: len(expected) - 1]):
        for wrong in _wrong(env):
            _require_refusal(env, wrong, f"action {wrong!r} is accepted")
        moment = _moment(env, env.step(np.int64(action) if isinstance(action, int) else action))
        require(moment == expected[i + 1], f"a refused action changes step {i}")
    env.close()


def check_ends(open_env: Open, rng: np.random.Generator, steps: int) -> None:
    """Check the number of frames, and that an episode ends by termination, or by truncation at the cap only."""
    env = open_env()
    settings = env.spec.protocol
    cap = settings.max_frames_per_episode
    seed, actions = _plan(env, rng, steps)
    frames: int | None = None
    for moment in _play(env, seed, actions):
        where = f"after frame {moment.frames}"
        require(not (moment.terminated and moment.truncated), f"terminated and truncated at once {where}")
        require(cap is None or moment.frames <= cap, f"the episode goes on beyond the cap of {cap} frames")
        truncated = not moment.terminated and moment.frames == cap
        own = settings.unit == "step"  # a task's environment has a cap of its own
        require(moment.truncated == truncated or (own and moment.truncated), f"wrong truncation {where}")
        if frames is not None:
            new = moment.frames - frames
            full = new == settings.frame_skip
            require(full or (moment.ended and 0 < new < settings.frame_skip), f"{new} frames in a step {where}")
        frames = moment.frames
        if moment.ended:
            _require_refusal(env, 0, f"a step is possible after the end {where}")
    env.close()


def check_repeatable(open_env: Open, rng: np.random.Generator, steps: int) -> None:
    """Check that the same generator and actions give the same episode, in one instance and in another."""
    env = open_env()
    seed, actions = _plan(env, rng, steps)
    expected = list(_play(env, seed, actions))
    _compare(expected, _play(env, seed, actions), "played again")
    _compare(expected, _play(open_env(), seed, actions), "played in another instance")
    env.close()


def check_independent_of_the_past(open_env: Open, rng: np.random.Generator, steps: int) -> None:
    """Check that an episode does not depend on whole or partial episodes or restored states before it."""
    env = open_env()
    seed, actions = _plan(env, rng, steps)
    expected = list(_play(env, seed, actions))
    for length in (1, steps // 3, steps):
        other_seed, other_actions = _plan(env, rng, length)
        before = list(_play(env, other_seed, other_actions))
        if not before[-1].ended:
            env.restore(env.save())
        _compare(expected, _play(env, seed, actions), f"played after {len(before) - 1} other steps")
    env.close()


def check_save_and_restore(open_env: Open, rng: np.random.Generator, steps: int) -> None:
    """Check that a restored state continues as the original did: later, in another instance, and from its pickle."""
    env, other = open_env(), open_env()
    seed, actions = _plan(env, rng, steps)
    moments, states = [], []
    for moment in _play(env, seed, actions):
        moments.append(moment)
        states.append(env.save())
    points = {0, min(1, len(states) - 1), *rng.integers(0, len(states), 4).tolist()}
    for begin in rng.permutation(sorted(points)).tolist():
        ways = [(env, states[begin], "in the same instance"), (other, states[begin], "in another instance")]
        if env.spec.protocol.unit == "frame":  # the state of other tasks' environments need not be picklable
            ways.append((other, pickle.loads(pickle.dumps(states[begin])), "from its pickle"))  # noqa: S301 - made here
        for instance, state, how in ways:
            instance.restore(state)
            observation = _observation(instance)
            condition = f"restored at step {begin} {how}"
            require(observation == moments[begin].observation, f"the observation differs when {condition}")
            require(instance.episode_frames == moments[begin].frames, f"the frames differ when {condition}")
            require(instance.lives == moments[begin].lives, f"the lives differ when {condition}")
            rest = actions[begin : len(moments) - 1]
            _compare(moments[begin + 1 :], (_moment(instance, instance.step(a)) for a in rest), condition)
    env.close()
    other.close()


def _plan(env: Environment, rng: np.random.Generator, steps: int) -> tuple[int, list[Any]]:
    """Return an episode's seed and its actions, each repeated for a few steps so that games progress."""
    drawn = [random_action(env.spec, rng) for _ in range(steps)]
    kept = np.repeat(np.arange(steps), rng.integers(1, 6, size=steps))[:steps]
    return int(rng.integers(1 << 32)), [drawn[i] for i in kept]


def _wrong(env: Environment) -> list[Any]:
    if (arrays := env.spec.array_actions) is None:
        return [-1, env.spec.num_actions, 1 << 40, "up", None, 0.5]
    beyond = np.nextafter(np.array(arrays.high), np.inf, dtype="f4") + arrays.integer
    return [0, "up", None, np.zeros((*arrays.shape, 2)), beyond.reshape(arrays.shape), np.full(arrays.shape, np.nan)]


def _play(env: Environment, seed: int, actions: Sequence[Any]) -> Iterator[SeenMoment]:
    """Yield the moments of an episode, up to its end or that of the actions."""
    env.reset(np.random.default_rng(seed))
    yield _moment(env, (0.0, False, False))
    for action in actions:
        moment = _moment(env, env.step(action))
        yield moment
        if moment.ended:
            return


def _moment(env: Environment, step: tuple[float, bool, bool]) -> SeenMoment:
    return SeenMoment(_observation(env), *step, env.episode_frames, env.lives)


def _observation(env: Environment) -> bytes:
    out = np.empty(env.spec.observation_shape, env.spec.observation_dtype)
    env.observe(out)
    return out.tobytes()


def _compare(expected: Sequence[SeenMoment], moments: Iterator[SeenMoment], how: str) -> None:
    actual = list(moments)
    for i, (a, b) in enumerate(zip(expected, actual, strict=False)):
        differing = [name for name, x, y in zip(SeenMoment._fields, a, b, strict=True) if x != y]
        require(not differing, f"{', '.join(differing)} differ {i} steps on when {how}")
    require(len(expected) == len(actual), f"{len(actual)} steps instead of {len(expected)} when {how}")


def _require_refusal(env: Environment, action: Any, failure: str) -> None:
    try:
        env.step(action)
    except ArcadeMarkError:
        return
    raise AssertionError(failure)
