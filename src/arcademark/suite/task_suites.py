"""Suites of tasks beyond Atari: their data model and files.

A suite is a TOML file; ``docs/suites.md`` describes all of its fields::

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

A suite may instead consist of user-defined Atari games, each with a table ``cartridge`` in place of an environment
(`arcademark.suite.cartridges`): these are played under any of Atari's protocols.

No part of such a file is run as code; the modules that its environments name are imported when a task is played
(`arcademark.environments.tasks`).
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal
from unicodedata import normalize

from msgspec import Meta, Struct, to_builtins

from arcademark import files, plugins
from arcademark.errors import ArcadeMarkError, UnknownNameError, one_line
from arcademark.files import read_as
from arcademark.suite.cartridges import Cartridge
from arcademark.suite.tables import data_directory, read_tables, read_text
from arcademark.suite.tasks import known_spelling, suites

SUITES = "arcademark.suites"
"""The group of entry points by which packages declare suites."""

ON_THE_SPOT = "gymnasium:"
"""Prefix of a list of environments' ids, which is a suite without a file."""

MAX_BYTES = 4 * 2**20
MAX_TASKS = 10_000
MAX_GAMES = 500
"""Largest number of games in a user's suite."""

GROUPS = ("all", "training", "test")
"""Names of groups of tasks that every suite, or every suite with training tasks, has."""

REMEDY = "correct the suite"
_DEPTH = 8
"""Largest depth of nested lists and tables in an environment's arguments."""

Line = Annotated[str, Meta(pattern=r"\A[^\x00-\x1f\x7f-\x9f\u2028\u2029]*\Z", description="one line of text")]
Name = Annotated[
    str,
    Meta(
        pattern=r"\A[a-z0-9][a-z0-9_.-]{0,63}\Z",
        description="a name of up to 64 lower-case letters, digits, '_', '.' and '-'",
    ),
]
TaskName = Annotated[  # a part of files' names
    str,
    Meta(pattern=r"\A[a-z0-9_]{1,64}\Z", description="a name of 1 to 64 lower-case letters, digits and '_'"),
]
EnvironmentName = Annotated[
    str,
    Meta(
        pattern=r"\A(([A-Za-z_][\w.]*:)?[\w./-]+(-v\d+)?)?\Z",
        description="Gymnasium's id of an environment, as in 'CartPole-v1' or 'module:MyGame-v0'",
    ),
]
SUBSET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class TaskReference(Struct, frozen=True, forbid_unknown_fields=True):
    """A reference score of a task, with its source."""

    score: Annotated[float, Meta(ge=-1e300, le=1e300)]
    source: Line


class Task(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An environment with its arguments, or a user-defined Atari game.

    `environment` is Gymnasium's id, with the module that registers it before a colon if it is not Gymnasium's own;
    `kwargs` are passed to it; `max_steps` truncates episodes in place of the environment's own limit, None for that.
    `cartridge` replaces all three: a game's episodes are truncated by a protocol. `training` tasks are for tuning.
    `low` is 0 %, `high` 100 %, each None if not known.
    """

    id: TaskName
    environment: EnvironmentName = ""
    cartridge: Cartridge | None = None
    kwargs: dict[str, Any] = {}
    max_steps: Annotated[int, Meta(ge=1)] | None = None
    training: bool = False
    low: TaskReference | None = None
    high: TaskReference | None = None

    def __post_init__(self) -> None:
        if bool(self.environment) == bool(self.cartridge):
            raise ValueError("expected an environment, or a table cartridge in place of it")
        if self.cartridge and (self.kwargs or self.max_steps):
            raise ValueError("kwargs, max_steps: only for environments; leave them out beside a cartridge")
        if self.cartridge and (game := known_spelling(self.id)):
            raise ValueError(f"expected another name, because {game!r} is already a game of the emulator")
        for argument, value in self.kwargs.items():
            if not argument.isidentifier() or not _plain(value):
                raise ValueError(f"kwargs.{argument}: expected text, a number, true, false, or lists of these")
        if self.low and self.high and self.low.score == self.high.score:
            raise ValueError("high: expected another score than low's, so that scores can be normalised")

    @property
    def module(self) -> str:
        """The module that registers the environment, "" if it is Gymnasium's own."""
        return self.environment.rpartition(":")[0]

    def played(self) -> dict[str, Any]:
        """Return all fields that can change an episode's score, as JSON values."""
        if self.cartridge:
            return self.cartridge.played()
        return {"environment": self.environment, "kwargs": dict(self.kwargs), "max_steps": self.max_steps}


class TaskSuite(Struct, frozen=True, forbid_unknown_fields=True):
    """The tasks of a suite by their ids, and its subsets.

    `protocol` has the settings of its file; `folder` is the absolute path of the folder of that file and of the ROMs of
    games; "" if not known, as for the suite of a run.
    """

    name: Name
    title: Line
    tasks: Annotated[dict[str, Task], Meta(min_length=1, max_length=MAX_TASKS)]
    citation: Line = ""
    subsets: dict[str, Annotated[tuple[str, ...], Meta(min_length=1)]] = {}
    protocol: dict[str, Any] = {}
    folder: str = ""

    def __post_init__(self) -> None:
        if len({bool(task.cartridge) for task in self.tasks.values()}) > 1:
            raise ValueError("tasks: some are cartridges and some environments; expected a suite of either")
        if self.of_games and self.protocol:
            raise ValueError("protocol: games are played under any protocol; leave the table out")
        for name in (*self.tasks, *self.subsets):
            if name.lower() in GROUPS or [each.lower() for each in self.subsets].count(name.lower()) > 1:
                raise ValueError(f"{name}: expected another name, because a group of tasks has this one")
        for name, members in self.subsets.items():
            if not SUBSET_NAME.fullmatch(name):
                raise ValueError(f"subsets, {name!r}: expected a name of up to 64 letters, digits, '_', '.' and '-'")
            if not self.tasks.keys() >= set(members):
                raise ValueError(f"subsets.{name}: expected a list of ids of tasks")

    @property
    def of_games(self) -> bool:
        """True if its tasks are Atari games, played frame by frame under Atari's protocols."""
        return any(task.cartridge for task in self.tasks.values())

    @property
    def unit(self) -> Literal["frame", "step"]:
        """The unit of its episodes' lengths."""
        return "frame" if self.of_games else "step"

    def cartridge(self, task: str) -> Cartridge:
        """Return the definition of a task of a suite of games."""
        cartridge = self.tasks[task].cartridge
        assert cartridge is not None
        return cartridge

    def read_rom(self, task: str) -> bytes:
        """Return the content of a game's ROM; errors are those of `Cartridge.read_rom`."""
        return self.cartridge(task).read_rom(self.folder, task)

    @property
    def training_tasks(self) -> tuple[str, ...]:
        """The tasks for tuning."""
        return tuple(task.id for task in self.tasks.values() if task.training)

    @property
    def test_tasks(self) -> tuple[str, ...]:
        """The tasks for testing: all others, if the suite has tasks for tuning; else none."""
        training = self.training_tasks
        return tuple(task for task in self.tasks if task not in training) if training else ()

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Its subsets, and the groups of `GROUPS` that it has."""
        split = {"training": self.training_tasks, "test": self.test_tasks} if self.training_tasks else {}
        return {"all": tuple(self.tasks), **{name.lower(): tasks for name, tasks in self.subsets.items()}, **split}

    def resolve(self, names: str | Sequence[str]) -> tuple[str, ...]:
        """Return the tasks in a list of ids and subsets, including "all", "training" and "test", each once.

        ArcadeMarkError: the list is empty, or a name is unknown (`UnknownNameError`).
        """
        given = [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
        tasks = dict.fromkeys(task for name in given if name for task in self._named(name))
        if not tasks:
            raise ArcadeMarkError(f"no tasks named; expected tasks or subsets of {self.name}, or 'all'")
        return tuple(tasks)

    def _named(self, name: str) -> tuple[str, ...]:
        key, groups = name.lower(), self.groups
        if key in self.tasks:
            return (key,)
        if key in groups:
            return groups[key]
        ids = {task.environment.lower(): task.id for task in self.tasks.values() if task.environment}
        if key in ids:
            return (ids[key],)
        raise UnknownNameError("task", name, [*groups, *self.tasks])

    def to_json(self) -> dict[str, Any]:
        """Return all fields except its folder as JSON values, in the layout of a file."""
        values: dict[str, Any] = to_builtins(self)
        del values["folder"]
        return values


def parse_suite(data: Any, place: str, name: str = "", folder: str = "") -> TaskSuite:
    """Read a suite from a TOML file's or a manifest's values; errors begin with the place, and name the table.

    `folder` is the folder of its file, which the values must not contain.
    """
    table = read_as(dict[str, Any], data, place, REMEDY)
    if "folder" in table:
        raise ArcadeMarkError(f"{place}: folder: leave it out; ROMs are read in the folder of the suite's file")
    given = read_as(dict[str, dict[str, Any]], table.get("tasks", {}), f"{place}: tasks", REMEDY)
    if (games := sum("cartridge" in values for values in given.values())) > MAX_GAMES:  # expressions take time
        raise ArcadeMarkError(f"{place}: {games:,} cartridges; expected at most {MAX_GAMES}; {REMEDY}")
    if wrong := next((task for task, values in given.items() if values.get("id", task) != task), None):
        raise ArcadeMarkError(f"{place}: tasks.{wrong}: its id is its table's name; leave out id")
    tasks = {
        task: read_as(Task, {**values, "id": task}, f"{place}: tasks.{task}", REMEDY) for task, values in given.items()
    }
    named = table.get("name", name)
    whole = {"title": named, **table, "name": named, "tasks": tasks, "folder": folder}
    return read_as(TaskSuite, whole, place, REMEDY)


def _plain(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list | dict):
        parts = value.values() if isinstance(value, dict) else value
        return depth < _DEPTH and all(_plain(part, depth + 1) for part in parts)
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def on_the_spot(text: str) -> TaskSuite:
    """Make a suite of environments, ``gymnasium:CartPole-v1,Acrobot-v1``, without references.

    ArcadeMarkError: an id is malformed, or two have the same task name.
    """
    ids = [part.strip() for part in text.removeprefix(ON_THE_SPOT).split(",") if part.strip()]
    if not ids:
        raise ArcadeMarkError(f"{text}: names no environment; expected such as {ON_THE_SPOT}CartPole-v1,Acrobot-v1")
    tasks: dict[str, dict[str, Any]] = {}
    for environment in ids:
        name = re.sub(r"[^a-z0-9]+", "_", environment.rpartition(":")[2].lower()).strip("_")
        if tasks.setdefault(name, {"environment": environment})["environment"] != environment:
            raise ArcadeMarkError(f"{text}: two environments would have the name {name}; write a suite's file")
    return parse_suite({"name": "gymnasium", "title": "Gymnasium environments", "tasks": tasks}, text)


def read_suite(text: str, place: str, name: str, folder: str = "") -> TaskSuite:
    """Read a suite's file; `name` is its name unless the file has one. Errors begin with the place."""
    try:
        return parse_suite(tomllib.loads(text), place, name, folder)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ArcadeMarkError(f"{place}: is not TOML ({one_line(str(error))}); correct it there") from None


@cache
def task_suites() -> Mapping[str, TaskSuite]:
    """Return the package's own suites beyond Atari, by name."""
    names = sorted(file.name for file in data_directory().iterdir() if file.name.endswith(SUFFIX))
    suites = (read_suite(read_text(name), name, name.removesuffix(SUFFIX)) for name in names)
    return {suite.name: suite for suite in suites}


SUFFIX = ".suite.toml"
"""Suffix of suites' files in the package's data."""


def is_file(text: str) -> bool:
    """Return True if a text that is no suite's or game's name is a file's."""
    return text.endswith(".toml") or (os.path.exists(text) and not os.path.isdir(text))


def load_suite(text: str | os.PathLike[str] | TaskSuite) -> TaskSuite:
    """Return a suite by its name, in this or an installed package, or by its file; a suite is returned unchanged.

    A package declares a suite by an entry point of `SUITES`: a file's path, or a function that returns one.
    ``gymnasium:CartPole-v1,Acrobot-v1`` is a suite of these environments. ArcadeMarkError: there is no such suite, or
    the file is malformed, with the place.
    """
    if isinstance(text, TaskSuite):
        return text
    text = os.fspath(text)
    if not text:
        raise ArcadeMarkError("suite '': expected a file or a name, such as 'classic-control'")
    shipped = task_suites()
    if text.startswith(ON_THE_SPOT):
        return on_the_spot(text)
    if text.lower() in shipped:
        return shipped[text.lower()]
    path = Path(text)
    if not is_file(text):
        declared = plugins.named(SUITES, text)
        if declared is None and (text.lower() in (*suites(), *read_tables("subsets.toml")) or known_spelling(text)):
            raise ArcadeMarkError(f"suite {text!r} consists of ALE's own games; name it with --games {text.lower()}")
        if declared is None:
            raise UnknownNameError("suite", text, [*shipped, *suites(), *plugins.names(SUITES)])
        path = Path(declared() if callable(declared) else declared)
    letters = normalize("NFKD", path.stem.lower()).encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9_.]+", "-", letters).strip("-_.")[:64] or "suite"
    return read_suite(files.read_text(path, MAX_BYTES), str(path), name, str(path.absolute().parent))
