"""Check of a suite's tasks: each is described, and played twice to check that it repeats exactly.

A random agent plays every task in worker processes, its episodes are replayed in others, and observations of an episode
that is played twice here are compared to the byte.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from arcademark.agents.loading import agent_specs
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.registry import environment_spec, open_environment, version_of
from arcademark.environments.tasks import copies, random_action
from arcademark.errors import ArcadeMarkError
from arcademark.records.model import EpisodeRecord, RunRecord
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.playing.events import Event
from arcademark.runs.replay.verify import verify
from arcademark.suite.protocols import StepProtocol

STEPS = 200
"""Steps of the episode whose observations are compared."""


@dataclass(frozen=True)
class CheckedTask:
    """Description of a task, with results of random play.

    environment, package: Gymnasium's id, and the package with its version that makes it.
    observation, actions: Types of observations and actions, in words.
    steps: Mean length of an episode of random play; None where none was played.
    random_score: Mean score of random play, with the standard error; None where none was played.
    repeatable: Whether both plays were the same.
    difference: The difference if not, or why it could not be played.
    planned: Whether planners can search it.
    unplanned: Why planners cannot search it; "" if they can.
    """

    task: str
    environment: str
    package: str
    observation: str
    actions: str
    steps: float | None
    random_score: float | None
    random_error: float | None
    repeatable: bool
    difference: str
    planned: bool
    unplanned: str


@dataclass(frozen=True)
class SuiteCheck:
    """Description of a suite's tasks, with results of random play."""

    SCHEMA: ClassVar[str] = "arcademark.suite-check/1"

    suite: str
    title: str
    episodes: int
    tasks: tuple[CheckedTask, ...]

    @property
    def ok(self) -> bool:
        """True if every task can be played and repeats exactly."""
        return all(task.repeatable for task in self.tasks)

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that make the tasks."""
        return tuple(dict.fromkeys(task.package for task in self.tasks if task.package))


def check_suite(
    protocol: StepProtocol,
    episodes: int,
    workers: int | None = None,
    follow: Callable[[int, int], None] = lambda _done, _of: None,
) -> SuiteCheck:
    """Play every task of a suite twice.

    ``follow`` is called with the number of episodes played, replayed and observed so far, and the total.
    """
    specs: dict[str, EnvironmentSpec | str] = {}
    for task in protocol.suite.tasks:
        try:
            specs[task] = environment_spec(task, protocol)
        except ArcadeMarkError as error:
            specs[task] = str(error)
    playable = [task for task, spec in specs.items() if isinstance(spec, EnvironmentSpec)]
    numbers = count(1)

    def one_more() -> None:
        follow(next(numbers), 2 * episodes * len(playable) + len(specs))

    def on_event(event: Event) -> None:
        if isinstance(event, EpisodeRecord):
            one_more()

    with tempfile.TemporaryDirectory() as folder:
        run, differences = None, dict[str, str]()
        if playable:
            place = Path(folder) / "run"
            plan = make_plan(agent_specs("random"), playable, protocol, 1, episodes)
            execute(plan, place, workers=workers, on_event=on_event)
            run = read_run(place)
            replayed = verify(place, workers=workers, suite=protocol.suite, on_finding=lambda _finding, _of: one_more())
            differences = {finding.game: str(finding) for finding in reversed(replayed.problems)}
            differences |= {trial.game: str(trial.error) for trial in run.trials if trial.error}
        tasks = []
        for task, spec in specs.items():
            tasks.append(_checked(task, spec, protocol, run, differences.get(task, "")))
            one_more()
    return SuiteCheck(protocol.suite.name, protocol.suite.title, episodes, tuple(tasks))


def _checked(
    task: str, spec: EnvironmentSpec | str, protocol: StepProtocol, run: RunRecord | None, difference: str
) -> CheckedTask:
    environment = protocol.suite.tasks[task].environment
    if isinstance(spec, str) or run is None:
        return CheckedTask(
            task, environment, "", "", "", None, None, None, False, str(spec), False, "it cannot be made"
        )
    trial = next(trial for trial in run.trials if trial.game == task)
    rows = run.scored_episodes(trial)
    try:
        difference = difference or ("" if _observed(spec) == _observed(spec) else "an observation differs")
        unplanned = _unplanned(spec, protocol)
    except ArcadeMarkError as error:
        difference, unplanned = difference or str(error), "it cannot be played"
    return CheckedTask(
        task=task,
        environment=environment,
        package=version_of(task, protocol),
        observation=_observation(np.dtype((spec.observation_dtype, spec.observation_shape))),
        actions=_actions(spec),
        steps=float(rows.steps.mean()) if rows else None,
        random_score=float(rows.score.mean()) if rows else None,
        random_error=float(rows.score.std(ddof=1) / np.sqrt(len(rows))) if len(rows) > 1 else None,
        repeatable=not difference,
        difference=difference,
        planned=not unplanned,
        unplanned=unplanned,
    )


def _unplanned(spec: EnvironmentSpec, protocol: StepProtocol) -> str:
    if spec.array_actions is not None:
        return "its actions are arrays"
    try:
        return "" if copies(spec, protocol) else "copies of it play differently"
    except ArcadeMarkError:
        return "it cannot be copied"


def _observed(spec: EnvironmentSpec) -> list[bytes]:
    """Return every observation, reward and end of an episode of random play."""
    environment, rng, seen = open_environment(spec), np.random.default_rng(0), []
    environment.reset(rng)
    out = np.zeros(spec.observation_shape, spec.observation_dtype)
    for _ in range(STEPS):
        environment.observe(out[...])
        step = environment.step(random_action(spec, rng))
        seen += [out.tobytes(), repr(step).encode()]
        if step.terminated or step.truncated:
            break
    environment.close()
    return seen


def _observation(kind: np.dtype[Any]) -> str:
    """Describe an observation: "float32 (4,)", or its parts."""
    if kind.names:
        return "; ".join(f"{name}: {_observation(kind[name])}" for name in kind.names)
    base, shape = kind.subdtype or (kind, ())
    name = "text" if base.kind == "U" else str(base)
    return f"{name} {shape}" if shape else name


def _actions(spec: EnvironmentSpec) -> str:
    arrays = spec.array_actions
    if arrays is None:
        return f"{spec.num_actions}"
    low, high = (f"{min(arrays.low):g}", f"{max(arrays.high):g}")
    return f"{np.dtype(arrays.dtype)} {arrays.shape}, {low} to {high}"
