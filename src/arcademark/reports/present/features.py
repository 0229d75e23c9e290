"""Feature sets of linear learners: which there are, and what some see of games."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from arcademark.features.registry import FeatureSet
from arcademark.reports import wording
from arcademark.reports.blocks import Block, Code, Column, Document, Figure, Prose, section, table
from arcademark.reports.features.documents import length
from arcademark.reports.features.seen import Images, Seen
from arcademark.reports.figures.model import Picture, PictureRow, Pictures
from arcademark.suite.tasks import game_name

Look = tuple[Seen, Images]

MOST_DESCRIBED = 8
"""Active features that are described where not everything is shown."""


def listing(sets: Sequence[FeatureSet]) -> Document:
    """Show the feature sets: what each sees, its length and its source."""
    columns = (Column("set", "name"), Column("features"), Column("what they are", "prose"))
    sources = (
        Prose(f"{wording.listing(item.name for item in sets if item.citation == citation)}: {citation}.", "weak")
        for citation in dict.fromkeys(item.citation for item in sets)
    )
    return Document(
        "Feature sets",
        "features",
        "",
        (
            section("", table(columns, ((item.name, length(item), item.summary) for item in sets)), *sources),
            Prose("What one sees, and what its parameters are:"),
            Code("arcademark info features show basic --games freeway --figure f.png\narcademark info features basic"),
        ),
    )


def seen(found: Sequence[Look]) -> Document:
    """Show a row for each game and feature set, what some of the active features mean, and pictures."""
    columns = ("game", "set", "features", "active", "newly active a step", "µs a step")
    rows = (
        (
            game_name(item.game),
            item.set,
            *map(wording.count, (item.features, item.active)),
            *map(_number, (item.newly_active, item.microseconds)),
        )
        for item, _ in found
    )
    caption = "Active: then. Newly active: mean of the steps before. Time: median, without learning."
    return Document(
        "What feature sets see",
        "features",
        "",
        (section("", table(columns, rows, names=2, caption=caption)), *map(_seen, found)),
    )


def _seen(look: Look) -> Block:
    item = look[0]
    every = max(1, item.active // MOST_DESCRIBED)
    rows = [(str(one.feature), wording.score(one.value, 0), one.meaning) for one in item.active_features]
    chosen = rows[::every][:MOST_DESCRIBED]
    columns = (Column("feature", "name"), Column("value"), Column("what it means", "prose"))
    return section(
        f"{game_name(item.game)}, {label(item)}",
        Prose(moment(item), "weak"),
        table(columns, chosen) if chosen else Prose("Nothing is active."),
        section("Every active feature", table(columns, rows), detail=True, folded=True) if rows != chosen else None,
        Figure(f"features-{item.set}-{item.game}", partial(_pictures, look)),
    )


def _pictures(look: Look) -> tuple[tuple[Pictures, str], ...]:
    row = _row(*look)
    return ((Pictures((row,)), f"{row.title}: {'; '.join(picture.title for picture in row.pictures)}."),)


def model(found: Sequence[Look]) -> Pictures:
    """Lay out a row of pictures for each game and feature set."""
    return Pictures(tuple(_row(*look) for look in found))


def _row(item: Seen, images: Images) -> PictureRow:
    numbers = [f"{wording.count(item.features)} features", f"{wording.count(item.active)} active"]
    if item.newly_active is not None:
        numbers.append(f"{_number(item.newly_active)} newly active a step")
    named = (
        ("The screen", images.screen),
        ("Its background: each pixel's most frequent colour", images.background),
        ("The screen without it", images.foreground),
        (f"What {item.set} sees", images.picture),
        ("The classes of objects that it discovered", images.classes),
    )
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
    return f"{item.set}({given})" if given else item.set


def moment(item: Seen) -> str:
    """Say which moment is shown."""
    return f"{item.source}, after {wording.count(item.frames)} frames"
