"""The settings of a protocol: what each accepts, written how, and which go together.

One parser a setting reads what people type ("none", "84x84", "true", "108_000"), what Python code passes and what JSON
holds; `format_setting` writes it back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, get_args

EpisodeEnd = Literal["game_over", "life_lost"]
TrainingEpisodeEnd = Literal["game_over", "life_lost", "episodic_life"]
ActionSet = Literal["full", "minimal"]
Start = Literal["reset", "noop", "every_noop", "human"]
ObservationKind = Literal["grayscale", "rgb", "palette", "ram"]
Reporting = Literal["evaluation", "training_last_k"]
MaxPool = bool | Literal["rgb", "resized"]
CountedFrames = Literal["emulated", "played"]
Colours = Literal["original", "inverted", "rotated", "gray", "shuffled"]

Parser = Callable[[object], Any]


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


def _integer(least: int, most: int) -> Parser:
    expected = f"a whole number from {least:,} to {most:,}"

    def parse(value: object) -> int:
        if isinstance(value, str):
            digits = value.strip().lstrip("+-").replace("_", "")
            number = int(value) if digits.isdecimal() and len(digits) <= len(str(most)) else None
        else:
            number = value if isinstance(value, int) and not isinstance(value, bool) else None
        if number is None or not least <= number <= most:
            raise ValueError(expected)
        return number

    return parse


def _probability(value: object) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else -1.0
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise ValueError("a probability from 0 to 1")
    return number


def _truth(value: object) -> bool:
    words = {"true": True, "false": False}
    truth = words.get(value.strip().lower()) if isinstance(value, str) else value
    if not isinstance(truth, bool):
        raise ValueError("'true' or 'false'")
    return truth


def _max_pool(value: object) -> MaxPool:
    if isinstance(value, str) and (word := value.strip().lower()) in ("rgb", "resized"):
        return word  # type: ignore[return-value]
    try:
        return _truth(value)
    except ValueError as error:
        raise ValueError(f"{error} or 'rgb' or 'resized'") from None


def _size(value: object) -> tuple[int, int]:
    sides = value.lower().split("x") if isinstance(value, str) else value
    try:
        height, width = (_integer(1, MOST_PIXELS)(side) for side in sides)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ValueError("a height and a width such as '84x84'") from None
    return height, width


def _one_of(literal: Any) -> Parser:
    allowed = get_args(literal)

    def parse(value: object) -> str:
        word = value.strip().lower() if isinstance(value, str) else value
        if word not in allowed:
            raise ValueError(" or ".join(f"'{choice}'" for choice in allowed))
        return str(word)

    return parse


def _name(value: object) -> str:
    word = value.strip().lower() if isinstance(value, str) else ""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", word):
        raise ValueError("a modification's name ('arcademark info games NAME' lists them)")
    return word


def _or_none(parser: Parser) -> Parser:
    def parse(value: object) -> Any:
        if value is None or (isinstance(value, str) and value.strip().lower() == "none"):
            return None
        try:
            return parser(value)
        except ValueError as error:
            raise ValueError(f"{error} or 'none'") from None

    return parse


SETTINGS: Mapping[str, Parser] = MappingProxyType(
    {
        "frame_skip": _integer(1, MOST_FRAMES_PER_ACTION),
        "repeat_action_probability": _probability,
        "action_set": _one_of(ActionSet),
        "max_frames_per_episode": _or_none(_integer(1, MOST_FRAMES)),
        "training_episode_end": _one_of(TrainingEpisodeEnd),
        "evaluation_episode_end": _one_of(EpisodeEnd),
        "start": _one_of(Start),
        "noop_max": _integer(0, MOST_FRAMES_PER_ACTION),
        "fire_reset": _truth,
        "mode": _or_none(_integer(0, MOST_SWITCHES)),
        "difficulty": _or_none(_integer(0, MOST_SWITCHES)),
        "modification": _or_none(_name),
        "colours": _one_of(Colours),
        "observation": _one_of(ObservationKind),
        "screen_size": _or_none(_size),
        "max_pool": _max_pool,
        "frame_stack": _integer(1, MOST_STACKED),
        "training_reward_clipping": _truth,
        "training_frames": _or_none(_integer(1, MOST_FRAMES)),
        "training_episodes": _or_none(_integer(1, MOST_FRAMES)),
        "evaluation_episodes": _integer(1, MOST_EPISODES),
        "reported_episodes": _one_of(Reporting),
        "counted_frames": _one_of(CountedFrames),
    }
)
"""Every setting that can change a score, in the order in which it is shown, with the parser of its values."""

STEP_SETTINGS: Mapping[str, Parser] = MappingProxyType(
    {
        "max_steps_per_episode": _or_none(_integer(1, MOST_FRAMES)),
        "training_steps": _or_none(_integer(1, MOST_FRAMES)),
        **{name: SETTINGS[name] for name in ("training_episodes", "evaluation_episodes", "reported_episodes")},
    }
)
"""The same of protocols of suites that are files."""

ADDED: Mapping[str, Any] = MappingProxyType({"fire_reset": False, "modification": None, "colours": "original"})
"""Settings that protocols written by older versions lack, with the value that they had then."""

VARIED = ("modification", "colours")
"""Settings of variants, which no named protocol has: each has the value of `ADDED`."""


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


def contradictions(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield what does not fit together in a full set of settings, each as one clause that says how to correct it."""
    if (values["start"] in ("noop", "every_noop")) != (values["noop_max"] > 0):
        yield "noop_max must be at least 1 with start=noop or every_noop, and 0 with any other start"
    if (values["training_frames"] is None) == (values["training_episodes"] is None):
        yield "give either training_frames or training_episodes and set the other to none"
    end, training_end = values["evaluation_episode_end"], recorded_end(values["training_episode_end"])
    if values["reported_episodes"] == "training_last_k" and training_end != end:
        yield f"training episodes are the score: set training_episode_end={end} or reported_episodes=evaluation"
    if values["observation"] == "ram" and values["frame_stack"] != 1:
        yield "observation=ram is not stacked: set frame_stack=1"
    if values["observation"] in {"ram", "palette"} and values["screen_size"] is not None:
        yield f"observation={values['observation']} cannot be resized: set screen_size=none"
    if values["observation"] in {"ram", "palette"} and values["max_pool"]:
        yield f"observation={values['observation']} has no brighter pixel to pool: set max_pool=false"
