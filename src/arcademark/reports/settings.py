"""A protocol in words: one table of what its fields are called and how their values read, wherever they are shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from arcademark.catalogue.model import SettingValue
from arcademark.reports import wording
from arcademark.reports.record import ProtocolView, Setting
from arcademark.suite.protocols import Protocol
from arcademark.suite.settings import format_setting

FRAMES_PER_MINUTE = 3600
_LENGTH = re.compile(r"(?P<number>[\d,]+) (?P<unit>min|frames)")
_NO_WORDS: Mapping[str, str] = MappingProxyType({})


class Field(NamedTuple):
    """The words of a protocol's field.

    title, text: In a report: its name, and how a value reads.
    published: What the catalogue's entries call it; "" where underscores are spaces.
    values: How entries write values that are not as `format_setting` writes them.
    phrases: Values within a sentence.
    """

    title: str
    text: Callable[[Any], str]
    published: str = ""
    values: Mapping[str, SettingValue] = _NO_WORDS
    phrases: Mapping[str, str] = _NO_WORDS


def minutes(frames: int) -> str:
    """Write the length of an episode as the catalogue does."""
    return f"{frames // FRAMES_PER_MINUTE:,} min" if frames % FRAMES_PER_MINUTE == 0 else f"{frames:,} frames"


def _or(none: str, text: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: none if value is None else text(value)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


_END = {
    "game_over": "game over",
    "life_lost": "a life lost",
    "episodic_life": "a life lost; the game goes on",
}.__getitem__
_DEFAULT = _or("the game's default", str)

FIELDS: Mapping[str, Field] = {
    "max_frames_per_episode": Field(
        "Frame cap", _or("none", lambda value: f"{value:,} frames ({wording.duration(value)})"), "max episode length"
    ),
    "max_steps_per_episode": Field("Step cap", _or("the environment's own", "{:,} steps".format)),
    "frame_skip": Field("Action held for", lambda value: wording.plural(value, "frame"), "action repeats"),
    "repeat_action_probability": Field(
        "Sticky actions", lambda value: f"probability {value:g}" if value else "none", "sticky actions"
    ),
    "training_episode_end": Field(
        "Training episode ends at",
        _END,
        "life information in training",
        {"life_lost": "yes", "episodic_life": "yes", "game_over": "no"},
    ),
    "action_set": Field(
        "Actions",
        {"full": "all of the joystick's (18)", "minimal": "the game's own"}.__getitem__,
        "actions",
        {"full": 18, "minimal": "minimal set"},
        {"full": "all actions of the joystick", "minimal": "the game's minimal action set"},
    ),
    "start": Field(
        "Episode starts from",
        {
            "reset": "the reset",
            "noop": "no-op frames after the reset",
            "every_noop": "each number of no-op frames after the reset in turn",
            "human": "positions from human play",
        }.__getitem__,
        "start",
        {"noop": "no-ops", "every_noop": "no-ops"},
        {
            "reset": "the emulator's reset",
            "noop": "1 to {noop_max} no-op frames",
            "every_noop": "1 to {noop_max} no-op frames, each number in turn,",
            "human": "human play",
        },
    ),
    "frame_stack": Field("Screens stacked", str, "frame stack"),
    "screen_size": Field("Resized to", _or("not resized", "{0[0]} × {0[1]}".format), "image size"),
    "observation": Field(
        "Observation",
        {
            "grayscale": "grayscale screen",
            "rgb": "colour screen",
            "palette": "screen of 7-bit palette indices",
            "ram": "128 bytes of RAM",
        }.__getitem__,
        "colour",
        {"rgb": "RGB"},
        {"grayscale": "grayscale screens", "rgb": "colour screens", "palette": "screens of palette indices"},
    ),
    "evaluation_episode_end": Field(
        "Evaluation episode ends at",
        _END,
        "episode end",
        {"game_over": "all lives lost", "life_lost": "a life lost"},
        {"game_over": "the game is over", "life_lost": "a life is lost"},
    ),
    "evaluation_episodes": Field("Episodes averaged, k", wording.count, "averaged episodes"),
    "noop_max": Field("Most no-op frames", str),
    "fire_reset": Field("FIRE pressed for the agent", _yes),
    "mode": Field("Game mode", _DEFAULT),
    "difficulty": Field("Difficulty", _DEFAULT),
    "modification": Field("Changed in the game", _or("nothing", lambda value: value.replace("_", " "))),
    "colours": Field(
        "Colours",
        {
            "original": "the console's",
            "inverted": "light for dark",
            "rotated": "other hues",
            "gray": "no hues",
            "shuffled": "exchanged",
        }.__getitem__,
    ),
    "max_pool": Field(
        "Maximum of last two frames",
        {False: "no", True: "yes", "rgb": "yes, of colours", "resized": "yes, after resizing"}.__getitem__,
    ),
    "training_reward_clipping": Field("Rewards clipped in training", _yes),
    "training_frames": Field("Training frames", _or("counted in episodes", wording.count)),
    "training_steps": Field("Training steps", _or("counted in episodes", wording.count)),
    "training_episodes": Field("Training episodes", _or("counted otherwise", wording.count)),
    "reported_episodes": Field(
        "Score is of",
        {
            "evaluation": "evaluation episodes",
            "training_last_k": "the last k of training; evaluation, if it does not learn",
        }.__getitem__,
    ),
    "counted_frames": Field(
        "Frames counted",
        {"emulated": "all that were emulated, planning included", "played": "those of the episodes played"}.__getitem__,
    ),
}
"""By name; those that matter most when scores are compared go first."""

_CAP = FIELDS["max_frames_per_episode"].published
_PUBLISHED = {name: item.published or name.replace("_", " ") for name, item in FIELDS.items()}
_ORDER = {item.published: place for place, item in enumerate(FIELDS.values()) if item.published}


def view(protocol: Protocol) -> ProtocolView:
    """Show a protocol with every setting, what was overridden, and where each value comes from."""
    return ProtocolView(
        name=protocol.name,
        label=protocol.label,
        title=protocol.title,
        citation=protocol.citation,
        unit=protocol.unit,
        settings=tuple(_setting(protocol, field, value) for field, value in protocol.settings().items()),
    )


def _setting(protocol: Protocol, field: str, value: Any) -> Setting:
    original, words, provenance = protocol.overrides.get(field, value), FIELDS[field], protocol.provenance[field]
    return Setting(
        field=field,
        title=words.title,
        value=value,
        text=words.text(value),
        overridden=field in protocol.overrides,
        original=original,
        original_text=words.text(original),
        status=provenance.status,
        note=provenance.note,
    )


def budget(frames: int | None, episodes: int | None, unit: str = "frame") -> str:
    """Say a budget of training, "50 episodes" or "200,000,000 frames"; "" where there is none."""
    if frames is not None:
        return wording.plural(frames, unit)
    return "" if episodes is None else wording.plural(episodes, "episode")


def named_budget(protocol: Protocol) -> str:
    """Say what the named protocol gives to train with, whatever was overridden."""
    fields = (f"training_{protocol.unit}s", "training_episodes")
    frames, episodes = (protocol.overrides.get(field, getattr(protocol, field)) for field in fields)
    return budget(frames, episodes, protocol.unit)


def length(value: SettingValue) -> int | None:
    """Read the length of an episode in frames, 108_000, "30 min" or "108,000 frames"; None where it is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    found = _LENGTH.fullmatch(str(value))
    if not found:
        return None
    return int(found["number"].replace(",", "")) * (FRAMES_PER_MINUTE if found["unit"] == "min" else 1)


def of_protocol(protocol: Protocol) -> dict[str, SettingValue]:
    """Return a protocol's settings in the words of the catalogue."""
    return {_PUBLISHED[name]: _published(name, value) for name, value in protocol.settings().items()}


def of_entry(settings: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """Return the settings of published scores, lengths in minutes where they are whole ones."""
    return {
        name: minutes(value) if name == _CAP and isinstance(value, int) else value
        for name, value in in_frames(settings).items()
    }


def in_frames(settings: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """Return the settings of published scores, lengths of episodes as a number of frames."""
    frames = length(settings.get(_CAP, ""))
    return dict(settings) if frames is None else {**settings, _CAP: frames}


def ordered(names: Iterable[str]) -> list[str]:
    """Put settings in order, those that matter most first."""
    return sorted(names, key=lambda name: _ORDER.get(name, len(_ORDER)))


def _published(name: str, value: Any) -> SettingValue:
    if name == "max_frames_per_episode" and value is not None:
        return minutes(value)
    written = format_setting(value)
    return FIELDS[name].values.get(written, value if isinstance(value, SettingValue) else written)
