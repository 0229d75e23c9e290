"""One vocabulary for settings: those of named protocols, said as the catalogue says those of published scores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from arcademark.suite.protocols import Protocol
from arcademark.suite.settings import format_setting

FRAMES_PER_MINUTE = 3600

LENGTH = re.compile(r"(?P<number>[\d,]+) (?P<unit>min|frames)")

TITLES = MappingProxyType(
    {
        "max_frames_per_episode": "max episode length",
        "frame_skip": "action repeats",
        "repeat_action_probability": "sticky actions",
        "training_episode_end": "life information in training",
        "action_set": "actions",
        "start": "start",
        "frame_stack": "frame stack",
        "screen_size": "image size",
        "observation": "colour",
        "evaluation_episode_end": "episode end",
        "evaluation_episodes": "averaged episodes",
    }
)
"""Settings of protocols whose names differ; in all others, underscores are spaces. Those that matter most go first."""

_VALUES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("training_episode_end", "life_lost"): "yes",
        ("training_episode_end", "game_over"): "no",
        ("evaluation_episode_end", "game_over"): "all lives lost",
        ("evaluation_episode_end", "life_lost"): "a life lost",
        ("action_set", "full"): "18",
        ("action_set", "minimal"): "minimal set",
        ("observation", "rgb"): "RGB",
        ("start", "noop"): "no-ops",
    }
)


def minutes(frames: int) -> str:
    """Say the length of an episode."""
    return f"{frames // FRAMES_PER_MINUTE:,} min" if frames % FRAMES_PER_MINUTE == 0 else f"{frames:,} frames"


def frames(length: str) -> int | None:
    """Read the length of an episode, "30 min" or "108,000 frames"; None where it is neither."""
    found = LENGTH.fullmatch(length)
    if not found:
        return None
    return int(found["number"].replace(",", "")) * (FRAMES_PER_MINUTE if found["unit"] == "min" else 1)


def of_protocol(protocol: Protocol) -> dict[str, str]:
    """Return a protocol's settings in the words of the catalogue."""
    return {TITLES.get(key, key.replace("_", " ")): _value(key, value) for key, value in protocol.settings().items()}


def of_entry(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of published scores, lengths in minutes where they are whole ones."""
    told = dict(settings)
    if (length := frames(told.get("max episode length", ""))) is not None:
        told["max episode length"] = minutes(length)
    return told


def ordered(names: Mapping[str, Any]) -> list[str]:
    """Put settings in order, those that matter most first."""
    first = list(TITLES.values())
    return sorted(names, key=lambda name: first.index(name) if name in first else len(first))


def _value(key: str, value: Any) -> str:
    if key == "max_frames_per_episode" and value is not None:
        return minutes(value)
    written = format_setting(value)
    return _VALUES.get((key, written), written)
