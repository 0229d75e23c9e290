"""Suites of tasks beyond Atari: what a suite's file says, and how it is read.

A suite is a TOML file; ``docs/suites.md`` has all that one may hold::

    title = "Classic control"
    citation = "Towers et al. 2024"

    [protocol]                       # settings of `StepProtocol`; what is missing has a default
    training_steps = 100_000

    [tasks.cartpole]
    environment = "CartPole-v1"      # Gymnasium's id, with its package before a colon where that registers it
    kwargs = {}
    max_steps = 500
    low = { score = 22.0, source = "random play, 1,000 episodes" }
    high = { score = 475.0, source = "Gymnasium's registry" }

    [subsets]
    easy = ["cartpole"]

Nothing in such a file is code; the modules that its environments name are imported once a task is played
(`arcademark.environments.tasks`).
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from arcademark.errors import ArcadeMarkError, UnknownNameError, one_line
from arcademark.suite.tables import data_directory, read_text

ON_THE_SPOT = "gymnasium:"
"""Before the ids of environments that make a suite without a file."""

MOST_BYTES = 4 * 2**20
MOST_TASKS = 10_000
_ENVIRONMENT = re.compile(r"([A-Za-z_][\w.]*:)?[\w./-]+(-v\d+)?")
_TASK = re.compile(r"[a-z0-9_]{1,64}")  # a part of files' names
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
GROUPS = ("all", "training", "test")
"""Names of tasks together that every suite has, or that has tasks for training."""

_PLAIN = (str, int, float, bool)


@dataclass(frozen=True)
class Reference:
    """A score that a task is measured by, with its source."""

    score: float
    source: str


@dataclass(frozen=True)
class Task:
    """An environment with its arguments.

    `environment` is Gymnasium's id, with the module that registers it before a colon if it is not Gymnasium's own;
    `kwargs` are passed to it; `max_steps` truncates episodes in place of the environment's own limit, None for that.
    `training` tasks are for tuning. `low` scores 0 %, `high` 100 %, None where nobody says.
    """

    id: str
    environment: str
    kwargs: Mapping[str, Any]
    max_steps: int | None = None
    training: bool = False
    low: Reference | None = None
    high: Reference | None = None

    @property
    def module(self) -> str:
        """The module that registers the environment, "" if it is Gymnasium's own."""
        return self.environment.rpartition(":")[0]

    def played(self) -> dict[str, Any]:
        """Return what of it can change an episode's score, as JSON values."""
        return {"environment": self.environment, "kwargs": dict(self.kwargs), "max_steps": self.max_steps}


@dataclass(frozen=True)
class TaskSuite:
    """The tasks of a suite by their ids, and its subsets; `protocol` has the settings that its file gives."""

    name: str
    title: str
    citation: str
    tasks: Mapping[str, Task]
    subsets: Mapping[str, tuple[str, ...]]
    protocol: Mapping[str, Any]

    @property
    def training_tasks(self) -> tuple[str, ...]:
        """The tasks meant for tuning."""
        return tuple(task.id for task in self.tasks.values() if task.training)

    @property
    def test_tasks(self) -> tuple[str, ...]:
        """The others, of a suite that has such; none where nothing tells which are for tuning."""
        training = self.training_tasks
        return tuple(task for task in self.tasks if task not in training) if training else ()

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Its subsets, and the groups of `GROUPS` that it has."""
        split = {"training": self.training_tasks, "test": self.test_tasks} if self.training_tasks else {}
        return {"all": tuple(self.tasks), **self.subsets, **split}

    def resolve(self, names: str | Sequence[str]) -> tuple[str, ...]:
        """Return the tasks in a list of ids and subsets, "all", "training" and "test" among these, each once.

        ArcadeMarkError: nothing is named, or a name is neither (`UnknownNameError`).
        """
        given = [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
        found = dict.fromkeys(task for name in given if name for task in self._named(name))
        if not found:
            raise ArcadeMarkError(f"no tasks named; expected tasks or subsets of {self.name}, or 'all'")
        return tuple(found)

    def _named(self, name: str) -> tuple[str, ...]:
        key, groups = name.lower(), self.groups
        if key in self.tasks:
            return (key,)
        if key in groups:
            return groups[key]
        ids = {task.environment.lower(): task.id for task in self.tasks.values()}
        if key in ids:
            return (ids[key],)
        raise UnknownNameError("task", name, [*groups, *self.tasks])

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values, in the layout of a file."""
        return {
            "name": self.name,
            "title": self.title,
            "citation": self.citation,
            "protocol": dict(self.protocol),
            "tasks": {task.id: _task_to_json(task) for task in self.tasks.values()},
            "subsets": {name: list(those) for name, those in self.subsets.items()},
        }


def _task_to_json(task: Task) -> dict[str, Any]:
    anchors = {"low": task.low, "high": task.high}
    return {
        **task.played(),
        "training": task.training,
        **{name: {"score": one.score, "source": one.source} for name, one in anchors.items() if one is not None},
    }


def parse_suite(data: Any, place: str, name: str = "") -> TaskSuite:
    """Read a suite from a TOML file's or a manifest's values; errors begin with the place, and name the table."""
    reader = _Reader(place)
    table = reader.table(data, "", {"name", "title", "citation", "protocol", "tasks", "subsets"})
    name = reader.text(table.get("name", name), "name")
    if not _NAME.fullmatch(name):
        raise reader.error("name", "small letters, digits, '-', '_' and '.'", name)
    given = reader.table(table.get("tasks"), "tasks")
    if not 1 <= len(given) <= MOST_TASKS:
        raise reader.error("tasks", f"from 1 to {MOST_TASKS:,} tables such as [tasks.cartpole]", len(given))
    tasks = {task: reader.task(task, values) for task, values in given.items()}
    subsets: dict[str, tuple[str, ...]] = {}
    named = reader.table(table.get("subsets", {}), "subsets")
    for title in (*tasks, *named):
        if title.lower() in GROUPS:
            raise reader.error(title, f"another name, as {', '.join(GROUPS)} are groups of tasks", title)
    for title, members in named.items():
        if title.lower() in subsets:
            raise reader.error(f"subsets.{title}", "another name than that of a subset above", title)
        if not isinstance(members, list) or not members or not all(member in tasks for member in members):
            raise reader.error(f"subsets.{title}", "a list of ids of tasks", members)
        subsets[title.lower()] = tuple(members)
    return TaskSuite(
        name=name,
        title=reader.text(table.get("title", name), "title"),
        citation=reader.text(table.get("citation", ""), "citation"),
        tasks=MappingProxyType(tasks),
        subsets=MappingProxyType(subsets),
        protocol=MappingProxyType(reader.table(table.get("protocol", {}), "protocol")),
    )


class _Reader:
    """Reads values, and says where one is not as expected."""

    def __init__(self, place: str) -> None:
        self._place = place

    def error(self, key: str, expected: str, value: object) -> ArcadeMarkError:
        return ArcadeMarkError(f"{self._place}: {key or 'it'} is {one_line(repr(value), 60)}; expected {expected}")

    def table(self, value: Any, key: str, known: set[str] | None = None) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.error(key, "a table", value)
        for name in value:
            if known is not None and name not in known:
                where = f"key of {key or 'a suite'}"
                raise ArcadeMarkError(f"{self._place}: {UnknownNameError(where, str(name), sorted(known))}")
        return value

    def text(self, value: Any, key: str) -> str:
        if not isinstance(value, str) or not value.isprintable():
            raise self.error(key, "one line of text", value)
        return value

    def task(self, name: str, values: Any) -> Task:
        key = f"tasks.{name}"
        if not _TASK.fullmatch(name):
            raise self.error(key, "an id of small letters, digits and '_'", name)
        table = self.table(values, key, {"environment", "kwargs", "max_steps", "training", "low", "high"})
        environment, steps = self.text(table.get("environment", ""), f"{key}.environment"), table.get("max_steps")
        if not _ENVIRONMENT.fullmatch(environment):
            raise self.error(f"{key}.environment", "a Gymnasium id such as CartPole-v1 or package:Id-v0", environment)
        if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or steps < 1):
            raise self.error(f"{key}.max_steps", "a whole number of at least 1", steps)
        training = table.get("training", False)
        if not isinstance(training, bool):
            raise self.error(f"{key}.training", "true or false", training)
        kwargs = self.table(table.get("kwargs", {}), f"{key}.kwargs")
        for argument, value in kwargs.items():
            if not argument.isidentifier() or not _plain(value):
                raise self.error(f"{key}.kwargs.{argument}", "text, a number, true, false, or lists of these", value)
        anchors = {end: self.reference(table.get(end), f"{key}.{end}") for end in ("low", "high")}
        low, high = anchors["low"], anchors["high"]
        if low is not None and high is not None and low.score == high.score:
            raise self.error(f"{key}.high", "another score than low's, so that scores have a place between", high.score)
        return Task(name, environment, MappingProxyType(kwargs), steps, training, low, high)

    def reference(self, value: Any, key: str) -> Reference | None:
        if value is None:
            return None
        table = self.table(value, key, {"score", "source"})
        score = table.get("score")
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise self.error(f"{key}.score", "a number", score)
        return Reference(float(score), self.text(table.get("source"), f"{key}.source"))


def _plain(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list):
        return depth < 8 and all(_plain(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return depth < 8 and all(isinstance(name, str) and _plain(item, depth + 1) for name, item in value.items())
    return isinstance(value, _PLAIN) and (not isinstance(value, float) or math.isfinite(value))


def on_the_spot(text: str) -> TaskSuite:
    """Make a suite of environments, ``gymnasium:CartPole-v1,Acrobot-v1``, without references.

    ArcadeMarkError: an id is not one, or two make tasks of one name.
    """
    ids = [part.strip() for part in text.removeprefix(ON_THE_SPOT).split(",") if part.strip()]
    if not ids:
        raise ArcadeMarkError(f"{text}: names no environment; expected as in {ON_THE_SPOT}CartPole-v1,Acrobot-v1")
    tasks: dict[str, dict[str, Any]] = {}
    for environment in ids:
        name = re.sub(r"[^a-z0-9]+", "_", environment.rpartition(":")[2].lower()).strip("_")
        if tasks.setdefault(name, {"environment": environment})["environment"] != environment:
            raise ArcadeMarkError(f"{text}: two environments would both be called {name}; write a suite's file")
    return parse_suite({"name": "gymnasium", "title": "Gymnasium environments", "tasks": tasks}, text)


def read_suite(text: str, place: str, name: str) -> TaskSuite:
    """Read a suite's file; `name` is what it is called unless it says so. Errors begin with the place."""
    try:
        return parse_suite(tomllib.loads(text), place, name)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ArcadeMarkError(f"{place}: is not TOML ({one_line(str(error))}); correct it there") from None


@cache
def task_suites() -> Mapping[str, TaskSuite]:
    """Return the suites that come with the package, beside Atari's, by name."""
    names = sorted(file.name for file in data_directory().iterdir() if file.name.endswith(SUFFIX))
    found = (read_suite(read_text(name), name, name.removesuffix(SUFFIX)) for name in names)
    return MappingProxyType({suite.name: suite for suite in found})


SUFFIX = ".suite.toml"
"""How names of files end that hold a suite, among the package's data."""
