"""Checks that every agent must pass.

Each check takes `make`, which returns a new agent, and the `EnvironmentSpec` for which it is made. The episodes are
fake: random observations, which do not depend on the actions, are enough to detect an agent that depends on anything
but its observations, its episodes' beginnings and its generators. A check that fails raises `AssertionError` with the
difference. `check_agent` runs all of them::

    check_agent(lambda: make_agent(spec, env), env, np.random.default_rng(0))

Planners receive no observations; they are checked on the game itself, see `planners`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from arcademark.agents.base import Learner, Planner, Policy, Transition
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.registry import as_asked
from arcademark.testing.base import require
from arcademark.testing.planners import check_planner

Make = Callable[[], Policy]
Actions = list[list[int]]


class FakeEpisode(NamedTuple):
    """Observations and rewards to show an agent.

    Parameters
    ----------
    observations : uint8 array, shape (T + 1, *spec.observation_shape)
    rewards : float array, shape (T,)
    seed : int
        Seed of the episode's generator.
    """

    observations: NDArray[np.uint8]
    rewards: NDArray[np.float64]
    seed: int

    @property
    def steps(self) -> int:
        """Number of requested actions, T."""
        return len(self.rewards)


def fake_episodes(
    env: EnvironmentSpec, rng: np.random.Generator, count: int = 4, max_steps: int = 12
) -> tuple[FakeEpisode, ...]:
    """Return fake episodes of 2 to `max_steps` steps, of a few recurring observations."""
    screens = _screens(env, rng, 5)
    lengths = rng.integers(2, max_steps + 1, count)
    return tuple(
        FakeEpisode(screens[rng.integers(0, 5, steps + 1)], rng.integers(-1, 2, steps).astype(float), int(seed))
        for steps, seed in zip(lengths, rng.integers(0, 2**32, count), strict=True)
    )


def play(policy: Policy, episodes: Sequence[FakeEpisode], slots: int = 1) -> Actions:
    """Show episodes to a policy, `slots` of them at once; when one ends, the next takes its row.

    The batch keeps its size: a row without a next episode repeats its last observation; its actions are ignored.

    Returns
    -------
    list of list of int
        The actions of each episode.
    """
    actions: Actions = [[] for _ in episodes]
    rngs = [np.random.default_rng(episode.seed) for episode in episodes]
    rows = list(range(min(slots, len(episodes))))
    waiting = list(range(len(rows), len(episodes)))
    while any(len(actions[i]) < episodes[i].steps for i in rows):
        taken = [len(actions[i]) for i in rows]
        observations = np.stack([episodes[i].observations[t] for i, t in zip(rows, taken, strict=True)])
        chosen = policy.act(observations, np.array([t == 0 for t in taken]), [rngs[i] for i in rows])
        observations[:] = 0  # valid during the call only
        for row, (i, action) in enumerate(zip(rows, chosen, strict=True)):
            if len(actions[i]) < episodes[i].steps:
                actions[i].append(int(action))
            if len(actions[i]) == episodes[i].steps and waiting:
                rows[row] = waiting.pop(0)
    return actions


def check_agent(make: Callable[[], object], env: EnvironmentSpec, rng: np.random.Generator) -> None:
    """Run every check that applies to this agent.

    Parameters
    ----------
    make : callable
        Returns a new agent at each call.
    env : EnvironmentSpec
        The game for which it is made; for a planner, preferably the toy game, which is really played.
    rng : numpy.random.Generator
        Generator of the episodes.

    Raises
    ------
    AssertionError
        If a check fails, with the difference.
    """
    agent = make()
    env = as_asked(env, getattr(agent, "observation", None))
    if not isinstance(agent, Policy) and callable(getattr(agent, "plan", None)):
        check_planner(cast(Callable[[], Planner], make), env, rng)
        return
    make = cast(Make, make)
    check_actions(make, env, rng)
    check_repeatable(make, env, rng)
    check_batching(make, env, rng)
    check_first(make, env, rng)
    if isinstance(agent, Learner):
        check_evaluation_changes_nothing(make, env, rng)
        check_checkpoint(make, env, rng)


def check_actions(make: Make, env: EnvironmentSpec, rng: np.random.Generator) -> None:
    """Check that `act` returns one integer per episode, within the game's actions."""
    policy = _evaluating(make)
    for slots in (1, 3):
        observations = _screens(env, rng, slots)
        rngs = rng.spawn(slots)
        for first in (True, False):
            actions = policy.act(observations, np.full(slots, first), rngs)
            require(isinstance(actions, np.ndarray), f"act returned {type(actions).__name__}, not an array")
            require(actions.shape == (slots,), f"actions have shape {actions.shape} for {slots} episodes")
            require(actions.dtype.kind in "iu", f"actions are {actions.dtype}, not integers")
            require(
                bool(((actions >= 0) & (actions < env.num_actions)).all()),
                f"actions {actions.tolist()} are not all in 0 to {env.num_actions - 1}",
            )


def check_repeatable(make: Make, env: EnvironmentSpec, rng: np.random.Generator) -> None:
    """Check that two new agents act alike with the same episodes and generators, whatever NumPy's global state."""
    episodes = fake_episodes(env, rng)
    once = play(_evaluating(make), episodes)
    np.random.random(17)  # noqa: NPY002 (to detect an agent that draws from the global state)
    _same(once, play(_evaluating(make), episodes), "two fresh agents differ")


def check_batching(make: Make, env: EnvironmentSpec, rng: np.random.Generator) -> None:
    """Check that episodes played at once equal the same episodes played one by one."""
    episodes = fake_episodes(env, rng, count=6)
    alone = play(_evaluating(make), episodes)
    for slots in (2, 6):
        _same(alone, play(_evaluating(make), episodes, slots), f"playing {slots} at once differs from one by one")


def check_first(make: Make, env: EnvironmentSpec, rng: np.random.Generator) -> None:
    """Check that an agent plays an episode after others as a new agent does."""
    *before, last = fake_episodes(env, rng, count=3)
    policy = _evaluating(make)
    play(policy, before)
    _same(play(_evaluating(make), [last]), play(policy, [last]), "earlier episodes change the next one")


def check_evaluation_changes_nothing(make: Make, env: EnvironmentSpec, rng: np.random.Generator) -> None:
    """Check that evaluation leaves a learner's checkpoint unchanged, and training continues as if without it."""
    first, second = fake_episodes(env, rng), fake_episodes(env, rng)
    undisturbed, learner = _learner(make), _learner(make)
    for one in (undisturbed, learner):
        one.train()
        train(one, first)
    learner.evaluate()
    before = learner.checkpoint()
    play(learner, second)
    require(learner.checkpoint() == before, "evaluation changed the learner's checkpoint")
    learner.train()
    _same(train(undisturbed, second), train(learner, second), "training differs after evaluation")
    require(learner.checkpoint() == undisturbed.checkpoint(), "checkpoints differ after evaluation and more training")


def check_checkpoint(make: Make, env: EnvironmentSpec, rng: np.random.Generator) -> None:
    """Check that a new learner that restores a checkpoint continues exactly as the one that wrote it."""
    episodes = fake_episodes(env, rng, count=6)
    undisturbed, stopped, restored = _learner(make), _learner(make), _learner(make)
    undisturbed.train()
    train(undisturbed, episodes[:3])
    expected = train(undisturbed, episodes[3:])
    stopped.train()
    train(stopped, episodes[:3])
    saved = stopped.checkpoint()
    require(isinstance(saved, bytes), f"checkpoint returned {type(saved).__name__}, not bytes")
    restored.restore(saved)
    restored.train()
    _same(expected, train(restored, episodes[3:]), "training differs after restore()")
    require(restored.checkpoint() == undisturbed.checkpoint(), "checkpoints differ after restore() and more training")
    for learner in (undisturbed, restored):
        learner.evaluate()
    _same(play(undisturbed, episodes), play(restored, episodes), "evaluation differs after restore()")


def train(learner: Learner, episodes: Sequence[FakeEpisode]) -> Actions:
    """Train a learner on fake episodes, one at a time.

    Returns
    -------
    list of list of int
        The actions of each episode.
    """
    actions: Actions = []
    for episode in episodes:
        rng = np.random.default_rng(episode.seed)
        actions.append([])
        for t in range(episode.steps):
            before, after = episode.observations[t].copy(), episode.observations[t + 1].copy()
            action = int(learner.act(before[None], np.array([t == 0]), [rng])[0])
            ended = t + 1 == episode.steps
            learner.learn(Transition(before, action, float(episode.rewards[t]), after, ended, False), rng)
            before[:], after[:] = 0, 0  # valid during the calls only
            actions[-1].append(action)
    return actions


def _screens(env: EnvironmentSpec, rng: np.random.Generator, count: int) -> NDArray[np.uint8]:
    values = 128 if getattr(env.protocol, "observation", "") == "palette" else 256
    return rng.integers(0, values, (count, *env.observation_shape), dtype=np.uint8)


def _evaluating(make: Make) -> Policy:
    policy = make()
    if isinstance(policy, Learner):
        policy.evaluate()
    return policy


def _learner(make: Make) -> Learner:
    policy = make()
    if not isinstance(policy, Learner):
        raise AssertionError(f"{type(policy).__name__} is not a learner")
    return policy


def _same(expected: Actions, actual: Actions, what: str) -> None:
    for episode, (a, b) in enumerate(zip(expected, actual, strict=True)):
        if a != b:
            step = next(i for i in range(len(a)) if a[i] != b[i])
            raise AssertionError(f"{what}: episode {episode}, step {step}: action {a[step]} became {b[step]}")
