"""How scores were made, as far as it is known, and where that differs between algorithms set side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from arcademark.catalogue.model import Entry
from arcademark.errors import ArcadeMarkError
from arcademark.report import wording
from arcademark.subset.model import FrameCap
from arcademark.suite.protocols import Protocol, differences, protocols
from arcademark.suite.settings import format_setting

_LABEL = re.compile(r"(?P<name>\S+)(?: \((?P<overrides>.+)\))?")

_LENGTH = re.compile(r"(?P<number>[\d,]+) (?P<unit>min|frames)")

FRAMES_PER_MINUTE = 3600

MOST_GROUPS = 3
"""Groups of algorithms, each with its own differences from the first, above which settings are told one by one."""

_DIFFERENT = "{} were scored under different protocols, so their scores are not to be ranked together"

UNKNOWN = "not known"

NO_SETTING = frozenset({"training_frames", "training_episodes"})
"""What is said of training apart from the protocol."""


@dataclass(frozen=True)
class Play:
    """How an algorithm's scores were made.

    Parameters
    ----------
    label : str
        The protocol's label, "" where it is not known.
    protocol : Protocol or None
        Its settings, where it is one of ours.
    settings : mapping of str to str
        What is known of settings where no named protocol fits.
    """

    label: str = ""
    protocol: Protocol | None = None
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def known(self) -> bool:
        """Whether anything is known."""
        return bool(self.label or self.protocol or self.settings)


def from_label(label: str) -> Play:
    """Return what a label such as "world-records (frame_skip=5)" says; a name of no protocol here is only a name."""
    found = _LABEL.fullmatch(label.strip())
    if not found or found["name"].lower() not in protocols():
        return Play(label.strip())
    protocol = protocols()[found["name"].lower()]
    pairs = dict(pair.split("=", 1) for pair in (found["overrides"] or "").split(", ") if "=" in pair)
    try:
        changed = protocol.override(pairs)
    except ArcadeMarkError:
        return Play(label.strip())
    return Play(changed.label, changed)


def from_entry(entry: Entry) -> Play:
    """Return what the catalogue knows."""
    play = from_label(entry.protocol)
    return Play(play.label, play.protocol, entry.settings)


def frame_cap(play: Play) -> FrameCap:
    """Return the frame cap, None for none and "unknown" where it is not known."""
    if play.protocol:
        return play.protocol.max_frames_per_episode
    found = _LENGTH.fullmatch(play.settings.get("max episode length", ""))
    if not found:
        return "unknown"
    return int(found["number"].replace(",", "")) * (FRAMES_PER_MINUTE if found["unit"] == "min" else 1)


def differing(plays: Mapping[str, Play]) -> Iterator[str]:
    """Say in which settings algorithms differ, each from the first that is known; setting by setting if they are many.

    Parameters
    ----------
    plays : mapping of str to Play
        By algorithm.
    """
    known = {name: play for name, play in plays.items() if play.known}
    first, *others = known or [""]
    groups: dict[str, list[str]] = {}
    for name in others:
        if what := _difference(plays[first], plays[name]):
            groups.setdefault(what, []).append(name)
    if len(groups) > MOST_GROUPS:
        told = "; ".join(_setting_by_setting(known))
        yield f"{_DIFFERENT.format(wording.shortened(known))}: {told}."
        return
    for what, names in groups.items():
        yield f"{_DIFFERENT.format(f'{first} and {wording.shortened(names)}')}: {what}."


def _setting_by_setting(plays: Mapping[str, Play]) -> Iterator[str]:
    """Name each setting that has several values, and who has which."""
    settings = {name: _everything_known(play) for name, play in plays.items()}
    for key in dict.fromkeys(key for known in settings.values() for key in known):
        values: dict[str, list[str]] = {}
        for name, known in settings.items():
            values.setdefault(known.get(key, UNKNOWN), []).append(name)
        if len(values.keys() - {UNKNOWN}) > 1:
            unknown = values.pop(UNKNOWN, [])
            told = [f"{value}: {wording.shortened(names, most=3)}" for value, names in values.items()]
            if unknown:
                told.append(f"{UNKNOWN}: {wording.shortened(unknown, most=1 if len(unknown) > 3 else 3)}")
            yield f"{key} ({', '.join(told)})"


def _everything_known(play: Play) -> dict[str, str]:
    """Return the settings of the protocol, where it is one of ours, and those that the catalogue has besides."""
    named = {} if play.protocol is None else play.protocol.settings()
    return {key: format_setting(value) for key, value in named.items() if key not in NO_SETTING} | dict(play.settings)


def unknown(plays: Mapping[str, Play], names: Sequence[str]) -> tuple[str, ...]:
    """Return the algorithms of whose protocol nothing is known."""
    return tuple(name for name in names if not plays.get(name, Play()).known)


def _difference(a: Play, b: Play) -> str:
    """Name the settings that differ, with both values; "" where none is known to."""
    if a.protocol and b.protocol:
        found = (item for item in differences(a.protocol, b.protocol) if item.setting not in NO_SETTING)
        return "; ".join(f"{item.setting} ({format_setting(item.a)}, {format_setting(item.b)})" for item in found)
    if a.settings and b.settings:
        keys = dict.fromkeys([*a.settings, *b.settings])
        pairs = ((key, a.settings.get(key, "not known"), b.settings.get(key, "not known")) for key in keys)
        return "; ".join(f"{key} ({one}, {other})" for key, one, other in pairs if one != other)
    if a.label != b.label:
        return f"the one's is {_described(a)}, the other's {_described(b)}"
    return ""


def _described(play: Play) -> str:
    if play.label:
        return play.label if play.protocol else f"{play.label}, of which the settings are not known"
    known = ", ".join(f"{key} {value}" for key, value in play.settings.items())
    return f"no named one ({known})"
