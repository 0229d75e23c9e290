"""The settings of a protocol: their declarations, and functions that parse, change, write and show them.

A field of a protocol's dataclass has a `Setting` in its metadata. It parses typed text ("none", "84x84", "true",
"108_000"), Python values and JSON values; `format_setting` writes a value as text.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from functools import cache
from typing import Any, Literal, Self

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.keywords import plain

EpisodeEnd = Literal["game_over", "life_lost"]
TrainingEpisodeEnd = Literal["game_over", "life_lost", "episodic_life"]
ActionSet = Literal["full", "minimal"]
Start = Literal["reset", "noop", "every_noop", "human"]
ObservationKind = Literal["grayscale", "rgb", "palette", "ram"]
Reporting = Literal["evaluation", "training_last_k"]
MaxPool = bool | Literal["rgb", "resized"]
CountedFrames = Literal["emulated", "played"]
Colours = Literal["original", "inverted", "rotated", "gray", "shuffled"]

MAX_FRAMES = 2**40
"""Largest number of frames of an episode, a training or any other length: 580 years of play."""
MAX_FRAMES_PER_ACTION = 10_000
MAX_EPISODES = 1_000_000
"""Largest number of episodes of a trial."""
ARRAY_ACTIONS = frozenset({"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"})
"""Types of numbers in array actions that can be recorded."""

MAX_ACTION_DIMENSIONS = 4
"""Maximum number of dimensions of such an action."""

MAX_STACKED = 1_000
MAX_SWITCHES = 2**31 - 1
"""Largest number of a mode or difficulty."""
MAX_PIXELS = 10_000
"""Largest side of a screen in pixels."""


ALWAYS: Any = object()

_NOTHING: Mapping[str, Any] = {}
_OLDER = {"status": "choice", "note": "as it was before there was this setting"}


@dataclass(frozen=True)
class Reader:
    """Parser of values that are not words, from text in lower case or a Python value; `expected` describes them."""

    expected: str
    read: Callable[[Any], Any]


@dataclass(frozen=True)
class Setting:
    """Declaration of a protocol's setting.

    Parameters
    ----------
    title : str
        Name in reports.
    choices : mapping of value to str
        The values that are words, true, false or none, with their texts in reports.
    reader : Reader or None
        Parser of other values, if it has any.
    text : callable
        Function that returns a value's text in reports.
    published : str
        Name in entries of the catalogue.
    published_values : mapping of str to str or int
        The catalogue's notation of values, if it is not that of `format_setting`.
    before : object
        Value for protocols of versions without the setting; `ALWAYS` if there are no such versions.
    """

    title: str
    choices: Mapping[Any, str] = field(default_factory=dict)
    reader: Reader | None = None
    text: Callable[[Any], str] = str
    published: str = ""
    published_values: Mapping[str, str | int] = field(default_factory=dict)
    before: Any = ALWAYS

    def parse(self, value: object) -> Any:
        """Return the parsed value; a ValueError describes the expected ones."""
        given = plain(value)
        typed = given.strip().lower() if isinstance(given, str) else given
        for choice in self.choices:
            if typed is choice or (isinstance(typed, str) and typed == format_setting(choice)):
                return choice
        expected = [f"'{format_setting(choice)}'" for choice in self.choices]
        if self.reader is not None:
            try:
                return self.reader.read(typed)
            except (TypeError, ValueError):
                expected.insert(0, self.reader.expected)
        raise ValueError(" or ".join(expected))

    def in_words(self, value: Any) -> str:
        """Return a value's text in reports."""
        return self.choices[value] if value in self.choices else self.text(value)


@dataclass(frozen=True)
class SettingSource:
    """Source of a setting's value: cited from the protocol's source, or left open by it and chosen by us.

    `note` is the paper and section or, for a choice, the reason.
    """

    status: Literal["cited", "choice"]
    note: str


@dataclass(frozen=True, kw_only=True)
class BaseProtocol:
    """Settings of the environment and its evaluation that can change a score, and that all protocols share.

    An `AtariProtocol` counts emulated frames, a `StepProtocol`, for any other suite, steps. Generic code calls both
    frames; `unit` is the actual unit.

    Parameters
    ----------
    name, title, citation : str
        Stable id, one line for people, the paper that defines it.
    training_episodes : int or None
        A learner's budget in episodes, None if training is counted in frames.
    evaluation_episodes : int
        Episodes whose average is the score (the k of "average of k episodes").
    reported_episodes : {"evaluation", "training_last_k"}
        Separate episodes after training, or the last k of training.
    provenance : mapping of str to SettingSource
        One entry per setting, for the named protocol's value.
    overrides : mapping of str to object
        The settings that differ from the named protocol, with the named protocol's value. Empty if unmodified.

    Raises
    ------
    ArcadeMarkError
        If the settings contradict each other.
    """

    name: str
    title: str
    citation: str
    provenance: Mapping[str, SettingSource] = field(default_factory=lambda: _NOTHING, compare=False, repr=False)
    overrides: Mapping[str, Any] = field(default_factory=lambda: _NOTHING, hash=False, repr=False)

    def __post_init__(self) -> None:
        if problems := list(self.contradictions()):
            raise ArcadeMarkError(f"protocol {self.name!r}: {'; '.join(problems)}")

    @classmethod
    @cache
    def declarations(cls) -> Mapping[str, Setting]:
        """Return the declarations of all settings that can change a score, in the order of display."""
        fields = dataclasses.fields(cls)
        return {each.name: each.metadata["setting"] for each in fields if each.metadata}

    def contradictions(self) -> Iterator[str]:
        """Yield the conflicts of the settings, each as one clause with a remedy."""
        raise NotImplementedError

    def every_start(self) -> Self:
        """Return the protocol with each of its no-op starts once; raise ArcadeMarkError if it has none."""
        starts = getattr(self, "noop_max", 0)
        if not starts:
            raise ArcadeMarkError(
                f"protocol {self.label} has no no-op starts to be played once each; expected one with start=noop "
                "('arcademark info protocols'), or a number of episodes"
            )
        return self.override({"start": "every_noop", "evaluation_episodes": starts})

    @property
    def label(self) -> str:
        """The name, and the overrides: "world-records (frame_skip=5)"."""
        changes = ", ".join(f"{name}={format_setting(getattr(self, name))}" for name in self.overrides)
        return f"{self.name} ({changes})" if changes else self.name

    def settings(self) -> dict[str, Any]:
        """Return every setting's value by name, in the order of `declarations`."""
        return {name: getattr(self, name) for name in self.declarations()}

    def override(self, changes: Mapping[str, object]) -> Self:
        """Return the protocol with some settings changed, which `overrides` lists.

        `changes` are values, or text as typed: ``{"frame_skip": "5", "screen_size": "none"}``. A value equal to the
        named protocol's undoes an earlier change of that setting. ArcadeMarkError: a name is not a setting
        (`UnknownNameError`), a setting does not accept its value, or the settings then contradict each other.
        """
        values = self.settings() | self.parsed(changes)
        named = self.settings() | dict(self.overrides)
        overrides = {name: named[name] for name in values if values[name] != named[name]}
        return dataclasses.replace(self, **values, overrides=overrides)

    def of_trial(self, task: str) -> dict[str, Any]:
        """Return all that can change the score of an episode of a task, as JSON values."""
        settings: dict[str, Any] = self.to_json()["settings"]
        del settings["evaluation_episodes"]
        for name, declared in self.declarations().items():
            if name in settings and settings[name] == declared.before:
                del settings[name]  # so that trials of older versions keep their names
        return settings

    def to_json(self) -> dict[str, Any]:
        """Return all fields as JSON values; `from_json` restores an equal protocol."""
        return {
            "name": self.name,
            "title": self.title,
            "citation": self.citation,
            "settings": _json_values(self.settings()),
            "overrides": _json_values(self.overrides),
            "provenance": {name: dataclasses.asdict(entry) for name, entry in self.provenance.items()},
        }

    @classmethod
    def parsed(cls, values: Mapping[str, object]) -> dict[str, Any]:
        """Return the values of settings, given as values or as typed text; errors are those of `override`."""
        declared, parsed = cls.declarations(), {}
        for name, value in values.items():
            if name not in declared:
                titles = {text: one for one, setting in declared.items() for text in (setting.title, setting.published)}
                raise UnknownNameError("protocol setting", name, declared, titles)
            try:
                parsed[name] = declared[name].parse(value)
            except ValueError as error:
                raise ArcadeMarkError(f"protocol setting {name}={value}: expected {error}") from None
        return parsed

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the protocol that `to_json` wrote, in this or an older version, independently of current definitions.

        ArcadeMarkError: a part is missing, or a setting does not accept its value.
        """
        try:
            return cls(**cls.restored(data))
        except (KeyError, TypeError, AttributeError) as error:
            raise ArcadeMarkError(f"protocol as JSON: {error!r}; expected what to_json writes") from error

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that `to_json` wrote."""
        declared = cls.declarations()
        before = {name: setting.before for name, setting in declared.items() if setting.before is not ALWAYS}
        given, notes = before | data["settings"], dict.fromkeys(before, _OLDER) | data["provenance"]
        return {
            "name": data["name"],
            "title": data["title"],
            "citation": data["citation"],
            **cls.parsed({name: given[name] for name in declared}),
            "provenance": {name: SettingSource(**notes[name]) for name in declared},
            "overrides": cls.parsed(data["overrides"]),
        }


def _json_values(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}


def declare(*args: Any, default: Any = MISSING, **kwargs: Any) -> Any:
    """Return a dataclass's field whose metadata is a `Setting` of these arguments."""
    return field(default=default, metadata={"setting": Setting(*args, **kwargs)})


def whole(least: int, most: int) -> Reader:
    """Return a reader of integers within bounds."""

    def read(value: Any) -> int:
        number = int(value) if isinstance(value, str) else value
        if type(number) is not int or not least <= number <= most:
            raise ValueError
        return number

    return Reader(f"a whole number from {least:,} to {most:,}", read)


def _probability(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or not 0.0 <= number <= 1.0:
        raise ValueError
    return number


def _size(value: Any) -> tuple[int, int]:
    height, width = map(whole(1, MAX_PIXELS).read, value.split("x") if isinstance(value, str) else value)
    return height, width


def _name(value: Any) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", value):
        raise ValueError
    return str(value)


PROBABILITY = Reader("a probability from 0 to 1", _probability)
SIZE = Reader("a height and a width such as '84x84'", _size)
MODIFICATION = Reader("a modification's name ('arcademark info games NAME' lists them)", _name)
YES_OR_NO: Mapping[Any, str] = {True: "yes", False: "no"}


def format_setting(value: object) -> str:
    """Return a setting's value as typed text: "none", "true", "84x84", "0.25"."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "x".join(str(side) for side in value)
    return str(value)


def recorded_end(training_episode_end: TrainingEpisodeEnd) -> EpisodeEnd:
    """Return the termination of recorded training episodes: whole games if play goes on after a lost life."""
    return "game_over" if training_episode_end == "episodic_life" else training_episode_end


def duration(frames: int) -> str:
    """Return the duration of emulated frames at 60 per second as text, e.g. "30 minutes"."""
    seconds = frames / 60
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            amount = round(seconds / size, 1)
            return f"{amount:g} {unit}{'' if amount == 1 else 's'}"
    return f"{int(seconds + 0.5)} second{'' if int(seconds + 0.5) == 1 else 's'}"
