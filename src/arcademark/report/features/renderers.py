"""What feature sets see, shown: in the terminal, as JSON and as a figure of pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType

from arcademark.agents import docstrings
from arcademark.agents.parameters import declared
from arcademark.features.registry import FeatureSet
from arcademark.report import wording
from arcademark.report.drawing.forms import Picture, PictureRow, Pictures
from arcademark.report.features.seen import Seen
from arcademark.report.layout import Text, prose, section, table
from arcademark.suite.tasks import game_name

LISTING, SCHEMA = "arcademark.feature-sets/1", "arcademark.features/1"
MOST_DESCRIBED = 8
"""Active features that the terminal describes."""


def listing(sets: Sequence[FeatureSet]) -> Iterator[RenderableType]:
    """Yield the feature sets: what each sees, its length and its source."""
    made = prose(table("set", "features", "what they are"))
    for item in sets:
        made.add_row(item.name, length(item), Text(item.summary))
    yield made
    yield Text()
    for citation in dict.fromkeys(item.citation for item in sets):
        names = wording.listing(item.name for item in sets if item.citation == citation)
        yield Text(f"{names}: {citation}.", style="dim")
    yield Text()
    yield Text("What one sees: arcademark features basic --games freeway --png basic.png")
    yield Text("What its parameters are: arcademark info features basic")


def length(item: FeatureSet) -> str:
    """Say how many features a set has."""
    return "by game" if item.features is None else wording.count(item.features)


def listing_document(sets: Sequence[FeatureSet]) -> dict[str, Any]:
    """Return the feature sets with their parameters as JSON values."""
    return {"schema": LISTING, "sets": [set_document(item) for item in sets]}


def set_document(item: FeatureSet) -> dict[str, Any]:
    """Return a feature set with its parameters as JSON values."""
    notes = docstrings.parameter_notes(item.factory)
    return {
        "name": item.name,
        "features": item.features,
        "summary": item.summary,
        "observed": item.observed,
        "citation": item.citation,
        "parameters": {
            parameter.name: {
                "default": parameter.default,
                "type": parameter.expected,
                "meaning": notes.get(parameter.name, ""),
            }
            for parameter in declared(item.factory)[0]
        },
    }


def terminal(found: Sequence[Seen]) -> Iterator[RenderableType]:
    """Yield a row for each game and feature set, and what some of the active features mean."""
    made = table("game", "set", "features", "active", ("newly active", "a step"), "µs a step", left=2)
    for item in found:
        made.add_row(
            game_name(item.game),
            item.name,
            wording.count(item.features),
            wording.count(len(item.active)),
            _number(item.newly_active),
            _number(item.microseconds),
        )
    yield made
    yield Text()
    for item in found:
        yield from section(f"{game_name(item.game)}, {label(item)}", Text(moment(item), style="dim"), _described(item))
    yield Text("Active: then. Newly active: mean of the steps before. Time: median, without learning.")


def _described(item: Seen) -> RenderableType:
    if not item.active:
        return Text("Nothing is active.")
    shown = table("feature", "value", "what it means")
    prose(shown)
    every = max(1, len(item.active) // MOST_DESCRIBED)
    for active in item.active[::every][:MOST_DESCRIBED]:
        shown.add_row(str(active.feature), wording.score(active.value, 0), Text(active.meaning))
    return shown


def document(found: Sequence[Seen]) -> dict[str, Any]:
    """Return what was found as JSON values, every active feature described."""
    return {"schema": SCHEMA, "seen": [_seen(item) for item in found]}


def _seen(item: Seen) -> dict[str, Any]:
    return {
        "set": item.name,
        "parameters": dict(item.parameters),
        "game": item.game,
        "source": item.source,
        "frames": item.frames,
        "steps": item.steps,
        "features": item.features,
        "active": len(item.active),
        "mean_active": item.mean_active,
        "newly_active": item.newly_active,
        "microseconds": item.microseconds,
        "active_features": [
            {"feature": active.feature, "value": active.value, "meaning": active.meaning} for active in item.active
        ],
    }


def figure_model(found: Sequence[Seen]) -> Pictures:
    """Return a row of pictures for each game and feature set."""
    return Pictures(tuple(_row(item) for item in found))


def _row(item: Seen) -> PictureRow:
    images = item.images
    named = (
        ("The screen", images.screen),
        ("Its background: each pixel's most frequent colour", images.background),
        ("The screen without it", images.foreground),
        (f"What {item.name} sees", images.picture),
        ("The classes of objects that it discovered", images.classes),
    )
    numbers = [f"{wording.count(item.features)} features", f"{wording.count(len(item.active))} active"]
    if item.newly_active is not None:
        numbers.append(f"{_number(item.newly_active)} newly active a step")
    return PictureRow(
        f"{game_name(item.game)}, {label(item)}",
        f"{' · '.join(numbers)} · {moment(item)}",
        tuple(Picture(title, pixels, _span(pixels)) for title, pixels in named if pixels is not None),
    )


def _span(pixels: NDArray[np.uint8]) -> int:
    """Give what is broad room to be read."""
    height, width = pixels.shape[:2]
    return 2 if width >= 2 * height else 1


def _number(value: float | None) -> str:
    return wording.score(value, 1 if value is not None and value < 100 else 0)


def label(item: Seen) -> str:
    """Name a feature set with the parameters that were given."""
    given = ", ".join(f"{name}={value}" for name, value in item.parameters.items())
    return f"{item.name}({given})" if given else item.name


def moment(item: Seen) -> str:
    """Say which moment is shown."""
    return f"{item.source}, after {wording.count(item.frames)} frames"
