"""Feature sets of linear learners: which there are, and what some see of games."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from arcademark.features.registry import FeatureSet
from arcademark.reports import wording
from arcademark.reports.blocks import Block, Code, Column, Document, Figure, Prose, section, table
from arcademark.reports.features.documents import length
from arcademark.reports.features.seen import Seen
from arcademark.reports.figures.model import Picture, PictureRow, Pictures
from arcademark.suite.tasks import game_name

if TYPE_CHECKING:
    import matplotlib.figure

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
            Code("arcademark features basic --games freeway --png basic.png\narcademark info features basic"),
        ),
    )


def seen(found: Sequence[Seen]) -> Document:
    """Show a row for each game and feature set, what some of the active features mean, and pictures."""
    columns = ("game", "set", "features", "active", "newly active a step", "µs a step")
    rows = (
        (
            game_name(item.game),
            item.name,
            *map(wording.count, (item.features, len(item.active))),
            *map(_number, (item.newly_active, item.microseconds)),
        )
        for item in found
    )
    caption = "Active: then. Newly active: mean of the steps before. Time: median, without learning."
    return Document(
        "What feature sets see",
        "features",
        "",
        (section("", table(columns, rows, names=2, caption=caption)), *map(_seen, found)),
    )


def _seen(item: Seen) -> Block:
    every = max(1, len(item.active) // MOST_DESCRIBED)
    chosen = item.active[::every][:MOST_DESCRIBED]
    columns = (Column("feature", "name"), Column("value"), Column("what it means", "prose"))
    rows = [[(str(one.feature), wording.score(one.value, 0), one.meaning) for one in some]
            for some in (chosen, item.active)]  # fmt: skip
    return section(
        f"{game_name(item.game)}, {label(item)}",
        Prose(moment(item), "weak"),
        table(columns, rows[0]) if item.active else Prose("Nothing is active."),
        section("Every active feature", table(columns, rows[1]), detail=True, folded=True)
        if len(item.active) > len(chosen)
        else None,
        Figure(f"features-{item.name}-{item.game}", partial(_draw, item)),
    )


def _draw(item: Seen) -> tuple[tuple[matplotlib.figure.Figure, str], ...]:
    from arcademark.reports.figures import files

    drawn = model([item])
    return ((files.draw(drawn), f"{drawn.rows[0].title}: {'; '.join(title for title, _ in _pictures(item))}."),)


def model(found: Sequence[Seen]) -> Pictures:
    """Lay out a row of pictures for each game and feature set."""
    return Pictures(tuple(_row(item) for item in found))


def _row(item: Seen) -> PictureRow:
    numbers = [f"{wording.count(item.features)} features", f"{wording.count(len(item.active))} active"]
    if item.newly_active is not None:
        numbers.append(f"{_number(item.newly_active)} newly active a step")
    return PictureRow(
        f"{game_name(item.game)}, {label(item)}",
        f"{' · '.join(numbers)} · {moment(item)}",
        tuple(Picture(title, pixels, _span(pixels)) for title, pixels in _pictures(item)),
    )


def _pictures(item: Seen) -> list[tuple[str, NDArray[np.uint8]]]:
    images = item.images
    named = (
        ("The screen", images.screen),
        ("Its background: each pixel's most frequent colour", images.background),
        ("The screen without it", images.foreground),
        (f"What {item.name} sees", images.picture),
        ("The classes of objects that it discovered", images.classes),
    )
    return [(title, pixels) for title, pixels in named if pixels is not None]


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
