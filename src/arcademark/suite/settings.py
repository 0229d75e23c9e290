"""The settings of a protocol: how one is declared, once, for all that reads, writes and shows it.

A field of a protocol's dataclass has a `Setting` in its metadata. It reads what people type ("none", "84x84", "true",
"108_000"), what Python code passes and what JSON holds; `format_setting` writes it back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field
from types import MappingProxyType
from typing import Any, Literal

EpisodeEnd = Literal["game_over", "life_lost"]
TrainingEpisodeEnd = Literal["game_over", "life_lost", "episodic_life"]
ActionSet = Literal["full", "minimal"]
Start = Literal["reset", "noop", "every_noop", "human"]
ObservationKind = Literal["grayscale", "rgb", "palette", "ram"]
Reporting = Literal["evaluation", "training_last_k"]
MaxPool = bool | Literal["rgb", "resized"]
CountedFrames = Literal["emulated", "played"]
Colours = Literal["original", "inverted", "rotated", "gray", "shuffled"]

MOST_FRAMES = 2**40
"""Of an episode, a training, or whatever else is counted in frames: 580 years of play."""
MOST_FRAMES_PER_ACTION = 10_000
MOST_EPISODES = 1_000_000
"""Of a trial."""
MOST_STACKED = 1_000
MOST_SWITCHES = 2**31 - 1
"""Of modes and difficulties, which are numbered."""
MOST_PIXELS = 10_000
"""Of a side."""


ALWAYS: Any = object()


@dataclass(frozen=True)
class Reader:
    """Reads values that are no words: text in small letters, or a Python value; `expected` says what they are."""

    expected: str
    read: Callable[[Any], Any]


@dataclass(frozen=True)
class Setting:
    """What there is to say of a protocol's setting, whatever its value.

    Parameters
    ----------
    title : str
        What reports call it.
    choices : mapping of value to str
        The values that are words, true, false or none, and how each reads in a report.
    reader : Reader or None
        Reads its other values, if it has any.
    text : callable
        How those read in a report.
    published : str
        What entries of the catalogue call it.
    published_values : mapping of str to str or int
        How they write values that are not as `format_setting` writes them.
    before : object
        The value that protocols of versions without the setting had; `ALWAYS` where there are no such versions.
    """

    title: str
    choices: Mapping[Any, str] = field(default_factory=dict)
    reader: Reader | None = None
    text: Callable[[Any], str] = str
    published: str = ""
    published_values: Mapping[str, str | int] = field(default_factory=dict)
    before: Any = ALWAYS

    def parse(self, value: object) -> Any:
        """Return the value that is meant; a ValueError says what was expected."""
        typed = value.strip().lower() if isinstance(value, str) else value
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
        """Return how a value reads in a report."""
        return self.choices[value] if value in self.choices else self.text(value)


def declare(*args: Any, default: Any = MISSING, **kwargs: Any) -> Any:
    """Return a dataclass's field whose metadata is a `Setting` of these arguments."""
    return field(default=default, metadata={"setting": Setting(*args, **kwargs)})


def whole(least: int, most: int) -> Reader:
    """Read whole numbers within bounds."""

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
    height, width = map(whole(1, MOST_PIXELS).read, value.split("x") if isinstance(value, str) else value)
    return height, width


def _name(value: Any) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", value):
        raise ValueError
    return str(value)


PROBABILITY = Reader("a probability from 0 to 1", _probability)
SIZE = Reader("a height and a width such as '84x84'", _size)
MODIFICATION = Reader("a modification's name ('arcademark info games NAME' lists them)", _name)
YES_OR_NO: Mapping[Any, str] = MappingProxyType({True: "yes", False: "no"})


def format_setting(value: object) -> str:
    """Return a setting's value as people type it: "none", "true", "84x84", "0.25"."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "x".join(str(side) for side in value)
    return str(value)


def recorded_end(training_episode_end: TrainingEpisodeEnd) -> EpisodeEnd:
    """Return what ends the training episodes that are recorded: where lost lives go on, these are whole games."""
    return "game_over" if training_episode_end == "episodic_life" else training_episode_end


def duration(frames: int) -> str:
    """Say how long emulated frames take at the console's 60 a second, e.g. "30 minutes"."""
    seconds = frames / 60
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            amount = round(seconds / size, 1)
            return f"{amount:g} {unit}{'' if amount == 1 else 's'}"
    return f"{int(seconds + 0.5)} second{'' if int(seconds + 0.5) == 1 else 's'}"
