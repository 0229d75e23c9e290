"""Known conditions under which scores were obtained, and their differences between algorithms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from arcademark import wording
from arcademark.analysis import settings as vocabulary
from arcademark.catalogue.model import Entry, SettingValue
from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.subset.predict.model import FrameCap
from arcademark.suite.protocols import Protocol, protocols
from arcademark.suite.settings import format_setting

_LABEL = re.compile(r"(?P<name>\S+)(?: \((?P<overrides>.+)\))?")

UNKNOWN = "not known"

NO_SETTING = frozenset(
    {
        "training_frames",
        "training_episodes",
        "training",
        "training time",
        "features",
        "learner",
        "policy",
        "model",
        "search",
        "simulations per action",
        "search depth in frames",
        "exploration constant",
    }
)
"""Settings of an algorithm and its training, which are not part of the protocol; other notices cover them."""


@dataclass(frozen=True)
class PlayConditions:
    """Conditions under which an algorithm's scores were obtained.

    label: The protocol's label, "" where it is not known.
    protocol: The protocol, if it is one of ArcadeMark's.
    settings: Settings that are known beside it, or without a named protocol.
    plans: True if the algorithm simulates actions on the emulator itself before it takes one.
    papers: Keys of the papers that its scores are from.
    """

    label: str = ""
    protocol: Protocol | None = None
    settings: Mapping[str, SettingValue] = field(default_factory=dict)
    plans: bool = False
    papers: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """True if anything is known."""
        return bool(self.label or self.protocol or self.settings)


def from_label(label: str) -> PlayConditions:
    """Parse a label such as "world-records (frame_skip=5)"; an unknown label is kept without a protocol."""
    found = _LABEL.fullmatch(label.strip())
    if not found or found["name"].lower() not in protocols():
        return PlayConditions(label.strip())
    protocol = protocols()[found["name"].lower()]
    pairs = dict(pair.split("=", 1) for pair in (found["overrides"] or "").split(", ") if "=" in pair)
    try:
        changed = protocol.override(pairs)
    except ArcadeMarkError:
        return PlayConditions(label.strip())
    return PlayConditions(changed.label, changed)


def from_entry(entry: Entry) -> PlayConditions:
    """Return the conditions of a catalogue entry."""
    play = from_label(entry.protocol)
    papers = (entry.source.key, *([entry.paper.key] if entry.paper else []))
    return PlayConditions(play.label, play.protocol, entry.settings, entry.kind == "planning", papers)


def frame_cap(play: PlayConditions) -> FrameCap:
    """Return the frame cap, None for none and "unknown" where it is not known."""
    if play.protocol:
        return play.protocol.max_frames_per_episode
    length = vocabulary.length(play.settings.get("max episode length", ""))
    return "unknown" if length is None else length


def setting_by_setting(plays: Mapping[str, PlayConditions]) -> Iterator[str]:
    """Yield each setting that has several values, with the algorithms of each value."""
    settings = {name: settings_of(play) for name, play in plays.items()}
    for key in vocabulary.ordered(dict.fromkeys(key for known in settings.values() for key in known)):
        values = grouped((known.get(key, UNKNOWN), name) for name, known in settings.items())
        if len(values.keys() - {UNKNOWN}) > 1:
            unknown = values.pop(UNKNOWN, [])
            if unknown:
                values[UNKNOWN] = unknown
            by_value = (f"{value}: {wording.shortened(names, most=2)}" for value, names in values.items())
            yield f"{key} ({', '.join(by_value)})"


def settings_of(play: PlayConditions) -> dict[str, str]:
    """Return as text the settings of the protocol, if it is one of ArcadeMark's, and those of the catalogue."""
    named = {} if play.protocol is None else vocabulary.of_protocol(play.protocol)
    everything = named | vocabulary.of_entry(play.settings)
    return {key: format_setting(value) for key, value in everything.items() if key not in NO_SETTING}


def difference(a: PlayConditions, b: PlayConditions) -> tuple[str, ...]:
    """Return the settings that are known to differ, with both values."""
    one, other = settings_of(a), settings_of(b)
    keys = [key for key in dict.fromkeys([*one, *other]) if (key in one and key in other) or not (a.label or b.label)]
    pairs = ((key, one.get(key, UNKNOWN), other.get(key, UNKNOWN)) for key in vocabulary.ordered(dict.fromkeys(keys)))
    return tuple(f"{key} ({first}, {second})" for key, first, second in pairs if first != second)


def differences(a: PlayConditions, b: PlayConditions) -> tuple[str, ...]:
    """Return the settings that are known to differ, with both values; without any, the differing protocols."""
    if known := difference(a, b):
        return known
    if a.label != b.label and not (a.protocol and b.protocol):
        return (f"one protocol is {_described(a)}, the other {_described(b)}",)
    return ()


def _described(play: PlayConditions) -> str:
    if play.label:
        return play.label if play.protocol else f"{play.label} with unknown settings"
    known = ", ".join(f"{key} {value}" for key, value in settings_of(play).items())
    return f"unnamed ({known})"
