"""What every planner must keep, as checks; `check_agent` runs them.

They let the planner play short episodes of the game that its `EnvironmentSpec` names, the toy game best, since it is
fast: ``environment_spec("toy", protocol)``. Compared are actions, simulated frames and what was drawn. A check that
fails raises `AssertionError` and says what differed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from arcademark.agents.adapters import CheckedPlanner
from arcademark.agents.base import Planner
from arcademark.environments.base import Environment, EnvironmentSpec
from arcademark.environments.generative import snapshot
from arcademark.environments.registry import as_asked, open_environment, open_model
from arcademark.testing.base import require

Make = Callable[[], Planner | CheckedPlanner]

DECISIONS = 8
"""Most decisions of an episode that is played here."""
BREAKS = 12
"""Most places in an episode where it is broken off."""


class Decision(NamedTuple):
    """What one decision came to, with the state of the episode's generator afterwards."""

    action: int
    simulated_frames: int
    generator: str


class Break(NamedTuple):
    """Where an episode was broken off: decisions behind it, frames of the one under way, the generator's state."""

    decisions: int
    simulated_frames: int
    generator: dict[str, object]
    checkpoint: bytes


def check_planner(make: Make, env: EnvironmentSpec, rng: np.random.Generator) -> None:
    """Run every check of planners.

    Parameters
    ----------
    make : callable
        Gives a fresh planner each time.
    env : EnvironmentSpec
        The game that it is decisions for, and plays here.
    rng : numpy.random.Generator
        Begins the episodes.

    Raises
    ------
    AssertionError
        With what differed.
    """
    seed = int(rng.integers(2**32))
    check_plans_repeat(make, env, seed)
    check_plan_first(make, env, seed)
    check_plan_goes_on(make, env, seed)


def check_plans_repeat(make: Make, env: EnvironmentSpec, seed: int) -> None:
    """Two fresh planners do the same; NumPy's global state has no part in it."""
    once = _Play(make, env).episode(seed)
    np.random.random(17)  # noqa: NPY002 (a planner that draws from the global state is to be caught)
    _same(once, _Play(make, env).episode(seed), "two fresh planners differ")


def check_plan_first(make: Make, env: EnvironmentSpec, seed: int) -> None:
    """An episode after another is played as by a fresh planner."""
    play = _Play(make, env)
    play.episode(seed + 1)
    afterwards = play.episode(seed)
    _same(_Play(make, env).episode(seed), afterwards, "what was played before shows in the next episode")


def check_plan_goes_on(make: Make, env: EnvironmentSpec, seed: int) -> None:
    """A fresh planner that restores a checkpoint goes on exactly as the one that wrote it, and writing changes nothing.

    Checkpoints are taken between decisions, and within them wherever the planner yields True.
    """
    undisturbed = _Play(make, env).episode(seed)
    breaks: list[Break] = []
    _same(undisturbed, _Play(make, env, breaks).episode(seed), "asking for checkpoints changes the episode")
    for place in breaks[:: max(1, len(breaks) // BREAKS)]:
        what = f"after restore() at decision {place.decisions}"
        _same(undisturbed, _Play(make, env).go_on(seed, undisturbed, place), f"the episode differs {what}")


class _Play:
    """A fresh planner with the game and a model of it; plays as `arcademark.runs.playing.planning` does."""

    def __init__(self, make: Make, env: EnvironmentSpec, breaks: list[Break] | None = None) -> None:
        planner = make()
        if not isinstance(planner, CheckedPlanner):
            planner = CheckedPlanner(planner, type(planner).__name__, env)
        self._planner = planner
        env = as_asked(env, None, planner.frames_per_action)
        self._environment: Environment = open_environment(env)
        self._model = open_model(env)
        self._breaks = breaks

    def episode(self, seed: int) -> list[Decision]:
        """Play a new episode."""
        return self._play([], self._begin(seed), first=True, simulated_frames=0)

    def go_on(self, seed: int, undisturbed: list[Decision], place: Break) -> list[Decision]:
        """Play the rest of a broken episode; return all of it."""
        agent, before = self._begin(seed), undisturbed[: place.decisions]
        for decision in before:
            self._environment.step(decision.action)
        agent.bit_generator.state = place.generator
        self._planner.restore(place.checkpoint)
        return self._play(before, agent, first=False, simulated_frames=place.simulated_frames)

    def _begin(self, seed: int) -> np.random.Generator:
        """Begin an episode, and return the planner's generator."""
        environment, agent = (np.random.default_rng([seed, stream]) for stream in (0, 1))
        self._environment.reset(environment)
        return agent

    def _play(
        self, decisions: list[Decision], rng: np.random.Generator, first: bool, simulated_frames: int
    ) -> list[Decision]:
        while len(decisions) < DECISIONS:
            if decisions:
                self._break(len(decisions), 0, rng)
            decisions.append(self._decide(len(decisions), rng, first, simulated_frames))
            first, simulated_frames = False, 0
            _, terminated, truncated = self._environment.step(decisions[-1].action)
            if terminated or truncated:
                break
        return decisions

    def _decide(self, number: int, rng: np.random.Generator, first: bool, simulated_frames: int) -> Decision:
        model, state = self._model, snapshot(self._environment)
        planning = self._planner.plan(model, state, first, rng)
        counted = self._put(state, rng)
        while True:
            try:
                resumable = next(planning)
            except StopIteration as end:
                simulated_frames += model.frames - counted
                return Decision(int(end.value), simulated_frames, str(rng.bit_generator.state))
            if resumable:
                simulated_frames += model.frames - counted
                self._break(number, simulated_frames, rng)
                counted = self._put(state, rng)

    def _put(self, state: object, rng: np.random.Generator) -> int:
        self._model.restore(state)  # type: ignore[arg-type]
        self._model.use(rng)
        return self._model.frames

    def _break(self, decisions: int, simulated_frames: int, rng: np.random.Generator) -> None:
        if self._breaks is not None:
            generator = dict(rng.bit_generator.state)
            self._breaks.append(Break(decisions, simulated_frames, generator, self._planner.checkpoint()))


def _same(expected: list[Decision], actual: list[Decision], what: str) -> None:
    for number, (a, b) in enumerate(zip(expected, actual, strict=False)):
        for name in Decision._fields:
            before, now = getattr(a, name), getattr(b, name)
            require(before == now, f"{what}: decision {number}: {name.replace('_', ' ')} {before} became {now}")
    require(len(expected) == len(actual), f"{what}: {len(expected)} decisions became {len(actual)}")
