"""Checks that every planner must pass; `check_agent` runs them.

They let the planner play short episodes of its `EnvironmentSpec`'s game, preferably the toy game, since it is fast:
``environment_spec("toy", protocol)``. They compare actions, simulated frames and the generator's states. A check that
fails raises `AssertionError` with the difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from arcademark.agents.adapters import CheckedPlanner
from arcademark.agents.base import Planner
from arcademark.agents.loading import AgentSpec
from arcademark.environments.base import EnvironmentSpec, Step
from arcademark.environments.registry import as_asked, open_environment, open_model
from arcademark.records.model import Phase, Unfinished, decode_actions
from arcademark.runs.plan import Trial
from arcademark.runs.playing.planning import plan_episodes
from arcademark.runs.playing.slot import Slot
from arcademark.testing.base import require

Make = Callable[[], Planner | CheckedPlanner]

DECISIONS = 8
"""Largest number of decisions of an episode."""
BREAKS = 12
"""Largest number of places at which an episode is interrupted."""


class Decision(NamedTuple):
    """One decision, with the episode's simulated frames and its generator's state after it."""

    action: int
    simulated_frames: int
    generator: str


class _Watched(Slot):
    """An episode of at most `DECISIONS`, each of which is recorded."""

    def begin(self, seed: int, phase: Phase, episode: int) -> np.random.Generator:
        """Begin an episode, and return the planner's generator."""
        self.decisions: list[Decision] = []
        self._rng = super().begin(seed, phase, episode)
        return self._rng

    def resume(self, seed: int, kept: Unfinished) -> np.random.Generator:
        """Replay an unfinished episode, and record the decisions after it."""
        rng = super().resume(seed, kept)
        self.decisions.clear()
        return rng

    def step(self, action: int) -> Step:
        """Play and record a decision."""
        step = super().step(action)
        self.decisions.append(Decision(action, self.simulated_frames, str(self._rng.bit_generator.state)))
        return step._replace(truncated=step.truncated or len(self.actions) >= DECISIONS)


def check_planner(make: Make, env: EnvironmentSpec, rng: np.random.Generator) -> None:
    """Run every check of planners.

    Parameters
    ----------
    make : callable
        Returns a new planner at each call.
    env : EnvironmentSpec
        The game that it plays.
    rng : numpy.random.Generator
        Generator of the episodes' seed.

    Raises
    ------
    AssertionError
        If a check fails, with the difference.
    """
    seed = int(rng.integers(2**32))
    check_plans_repeat(make, env, seed)
    check_plan_first(make, env, seed)
    check_plan_goes_on(make, env, seed)


def check_plans_repeat(make: Make, env: EnvironmentSpec, seed: int) -> None:
    """Check that two new planners decide alike, whatever NumPy's global state."""
    once, _ = _play(make, env, seed)
    np.random.random(17)  # noqa: NPY002 (to detect a planner that draws from the global state)
    _same(once, _play(make, env, seed)[0], "two fresh planners differ")


def check_plan_first(make: Make, env: EnvironmentSpec, seed: int) -> None:
    """Check that a planner plays an episode after another as a new planner does."""
    afterwards, _ = _play(make, env, seed, episodes=(1, 0))
    _same(_play(make, env, seed)[0], afterwards, "earlier episodes change the next one")


def check_plan_goes_on(make: Make, env: EnvironmentSpec, seed: int) -> None:
    """Check that a new planner continues exactly from a checkpoint, and that writing one changes nothing.

    Checkpoints are taken between decisions, and within them whenever the planner yields True.
    """
    undisturbed, _ = _play(make, env, seed)
    kept, breaks = _play(make, env, seed, checkpoint_seconds=0.0)
    _same(undisturbed, kept, "asking for checkpoints changes the episode")
    for place in breaks[:: max(1, len(breaks) // BREAKS)]:
        behind = len(decode_actions(place.actions))
        rest, _ = _play(make, env, seed, unfinished=(place,))
        what = f"the episode differs after restore() at decision {behind}"
        _same(undisturbed, [*undisturbed[:behind], *rest], what)


def _play(
    make: Make,
    env: EnvironmentSpec,
    seed: int,
    *,
    episodes: Sequence[int] = (0,),
    unfinished: Sequence[Unfinished] = (),
    checkpoint_seconds: float = math.inf,
) -> tuple[list[Decision], list[Unfinished]]:
    """Let a new planner play episodes; return its decisions in the last, and the checkpoints of all."""
    planner = make()
    if not isinstance(planner, CheckedPlanner):
        planner = CheckedPlanner(planner, type(planner).__name__, env)
    planner.checkpoint_seconds = checkpoint_seconds
    env = as_asked(env, None, planner.frames_per_action)
    trial = Trial(AgentSpec("planner"), env.game, env.protocol, seed, 1)
    slot, model = _Watched(0, open_environment(env)), open_model(env)
    events = plan_episodes(trial, planner, slot, model, episodes, unfinished, time_share=math.inf)
    kept = [event for event in events if isinstance(event, Unfinished)]
    return slot.decisions, kept


def _same(expected: list[Decision], actual: list[Decision], what: str) -> None:
    for number, (a, b) in enumerate(zip(expected, actual, strict=False)):
        for name in Decision._fields:
            before, now = getattr(a, name), getattr(b, name)
            require(before == now, f"{what}: decision {number}: {name.replace('_', ' ')} {before} became {now}")
    require(len(expected) == len(actual), f"{what}: {len(expected)} decisions became {len(actual)}")
