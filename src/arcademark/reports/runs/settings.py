"""A protocol in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from arcademark.reports import wording
from arcademark.reports.record import ProtocolView, Setting
from arcademark.suite.protocols import Protocol
from arcademark.suite.settings import format_setting

_EPISODE_ENDS = {"game_over": "game over", "life_lost": "a life lost"}
_STARTS = {"reset": "the reset", "noop": "no-op frames after the reset", "human": "positions from human play"}
_OBSERVATIONS = {
    "grayscale": "grayscale screen",
    "rgb": "colour screen",
    "palette": "screen of 7-bit palette indices",
    "ram": "128 bytes of RAM",
}
_REPORTED = {
    "evaluation": "evaluation episodes",
    "training_last_k": "the last k of training; evaluation, if it does not learn",
}
_COUNTED = {"emulated": "all that were emulated, planning included", "played": "those of the episodes played"}


def _frames(value: int | None) -> str:
    return "none" if value is None else f"{value:,} frames ({wording.duration(value)})"


def _optional(value: int | None) -> str:
    return "the game's default" if value is None else str(value)


WORDS: Mapping[str, tuple[str, Callable[[Any], str]]] = MappingProxyType(
    {
        "frame_skip": ("Action held for", lambda value: wording.plural(value, "frame")),
        "repeat_action_probability": ("Sticky actions", lambda value: f"probability {value:g}" if value else "none"),
        "action_set": ("Actions", {"full": "all of the joystick's (18)", "minimal": "the game's own"}.__getitem__),
        "max_frames_per_episode": ("Frame cap", _frames),
        "training_episode_end": ("Training episode ends at", _EPISODE_ENDS.__getitem__),
        "evaluation_episode_end": ("Evaluation episode ends at", _EPISODE_ENDS.__getitem__),
        "start": ("Episode starts from", _STARTS.__getitem__),
        "noop_max": ("Most no-op frames", str),
        "mode": ("Game mode", _optional),
        "difficulty": ("Difficulty", _optional),
        "observation": ("Observation", _OBSERVATIONS.__getitem__),
        "screen_size": ("Resized to", lambda value: f"{value[0]} × {value[1]}" if value else "not resized"),
        "max_pool": ("Maximum of last two frames", lambda value: "yes" if value else "no"),
        "frame_stack": ("Screens stacked", str),
        "training_reward_clipping": ("Rewards clipped in training", lambda value: "yes" if value else "no"),
        "training_frames": ("Training frames", lambda value: "counted in episodes" if value is None else f"{value:,}"),
        "training_episodes": (
            "Training episodes",
            lambda value: "counted in frames" if value is None else f"{value:,}",
        ),
        "evaluation_episodes": ("Episodes averaged, k", lambda value: f"{value:,}"),
        "reported_episodes": ("Score is of", _REPORTED.__getitem__),
        "counted_frames": ("Frames counted", _COUNTED.__getitem__),
    }
)
"""What each setting is called, and how its value reads."""


def title(field: str) -> str:
    """Name a setting in words."""
    return WORDS[field][0] if field in WORDS else field


def text(field: str, value: Any) -> str:
    """Say a setting's value in words."""
    return WORDS[field][1](value) if field in WORDS else format_setting(value)


def view(protocol: Protocol) -> ProtocolView:
    """Show a protocol with every setting, what was overridden, and where each value comes from."""
    return ProtocolView(
        name=protocol.name,
        label=protocol.label,
        title=protocol.title,
        citation=protocol.citation,
        settings=tuple(_setting(protocol, field, value) for field, value in protocol.settings().items()),
    )


def _setting(protocol: Protocol, field: str, value: Any) -> Setting:
    original = protocol.overrides.get(field, value)
    provenance = protocol.provenance[field]
    return Setting(
        field=field,
        title=title(field),
        value=value,
        text=text(field, value),
        overridden=field in protocol.overrides,
        original=original,
        original_text=text(field, original),
        status=provenance.status,
        note=provenance.note,
    )
