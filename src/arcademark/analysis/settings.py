"""Protocols in words, as their settings are declared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from arcademark import wording
from arcademark.catalogue.model import SettingValue
from arcademark.suite.protocols import AtariProtocol, Protocol
from arcademark.suite.settings import format_setting

FRAMES_PER_MINUTE = 3600
_LENGTH = re.compile(r"(?P<number>[\d,]+) (?P<unit>min|frames)")
_CAP = AtariProtocol.declarations()["max_frames_per_episode"].published
_ORDER = (
    *(_CAP, "action repeats", "sticky actions", "life information in training", "actions", "start", "frame stack"),
    *("image size", "colour", "episode end", "averaged episodes"),
)
"""Settings by their names in the catalogue; those that matter most in comparisons of scores come first."""


Value: TypeAlias = str | int | float | bool | tuple[int, ...] | None
"""Value of a protocol's setting."""


@dataclass(frozen=True)
class ProtocolSetting:
    """One field of a protocol.

    field: The name that ``--override`` takes.
    title: Name in words.
    value: The value in effect.
    text: The value in words, with its unit.
    overridden: True if the run changed it.
    original, original_text: The named protocol's value; the same as `value` unless overridden.
    status: "cited" if the protocol's source states the setting, "choice" if it does not.
    note: Place where it is stated, or reason for the choice.
    """

    field: str
    title: str
    value: Value
    text: str
    overridden: bool
    original: Value
    original_text: str
    status: Literal["cited", "choice"]
    note: str


@dataclass(frozen=True)
class ProtocolView:
    """The protocol of a run: name, label (overrides included), title, citation and every setting.

    unit: Unit of lengths and budgets: emulated frames on Atari, steps elsewhere.
    """

    name: str
    label: str
    title: str
    citation: str
    unit: Literal["frame", "step"]
    settings: tuple[ProtocolSetting, ...]

    @property
    def values(self) -> dict[str, Value]:
        """The value in effect of each setting."""
        return {setting.field: setting.value for setting in self.settings}

    @property
    def originals(self) -> dict[str, Value]:
        """The named protocol's values."""
        return {setting.field: setting.original for setting in self.settings}

    @property
    def texts(self) -> dict[str, str]:
        """The value of each setting in words."""
        return {setting.field: setting.text for setting in self.settings}


def minutes(frames: int) -> str:
    """Write the length of an episode as the catalogue does."""
    return f"{frames // FRAMES_PER_MINUTE:,} min" if frames % FRAMES_PER_MINUTE == 0 else f"{frames:,} frames"


def view(protocol: Protocol) -> ProtocolView:
    """Describe a protocol: every setting, the overrides, and the source of each value."""
    return ProtocolView(
        name=protocol.name,
        label=protocol.label,
        title=protocol.title,
        citation=protocol.citation,
        unit=protocol.unit,
        settings=tuple(_setting(protocol, field, value) for field, value in protocol.settings().items()),
    )


def _setting(protocol: Protocol, field: str, value: Any) -> ProtocolSetting:
    original, provenance = protocol.overrides.get(field, value), protocol.provenance[field]
    declared = protocol.declarations()[field]
    return ProtocolSetting(
        field=field,
        title=declared.title,
        value=value,
        text=declared.in_words(value),
        overridden=field in protocol.overrides,
        original=original,
        original_text=declared.in_words(original),
        status=provenance.status,
        note=provenance.note,
    )


def budget(frames: int | None, episodes: int | None, unit: str = "frame") -> str:
    """Write a training budget, "50 episodes" or "200,000,000 frames"; "" if there is none."""
    if frames is not None:
        return wording.plural(frames, unit)
    return "" if episodes is None else wording.plural(episodes, "episode")


def named_budget(protocol: Protocol) -> str:
    """Write the training budget of the named protocol, without overrides."""
    fields = (f"training_{protocol.unit}s", "training_episodes")
    frames, episodes = (protocol.overrides.get(field, getattr(protocol, field)) for field in fields)
    return budget(frames, episodes, protocol.unit)


def length(value: SettingValue) -> int | None:
    """Parse the length of an episode, 108_000, "30 min" or "108,000 frames", in frames; None if it is not a length."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _LENGTH.fullmatch(str(value))
    if not match:
        return None
    return int(match["number"].replace(",", "")) * (FRAMES_PER_MINUTE if match["unit"] == "min" else 1)


def of_protocol(protocol: Protocol) -> dict[str, SettingValue]:
    """Return a protocol's settings by the catalogue's names and values."""
    settings: dict[str, SettingValue] = {}
    for name, declared in protocol.declarations().items():
        value = getattr(protocol, name)
        written: SettingValue = format_setting(value)
        if name == "max_frames_per_episode" and value is not None:
            written = minutes(value)
        elif isinstance(value, SettingValue):
            written = value
        title = declared.published or name.replace("_", " ")
        settings[title] = declared.published_values.get(format_setting(value), written)
    return settings


def of_entry(settings: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """Return the settings of published scores, with episodes' lengths in minutes where these are whole."""
    return {
        name: minutes(value) if name == _CAP and isinstance(value, int) else value
        for name, value in in_frames(settings).items()
    }


def in_frames(settings: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """Return the settings of published scores, with episodes' lengths as numbers of frames."""
    frames = length(settings.get(_CAP, ""))
    return dict(settings) if frames is None else {**settings, _CAP: frames}


def ordered(names: Iterable[str]) -> list[str]:
    """Sort settings by importance."""
    return sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))
