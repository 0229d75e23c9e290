"""Drawing of pictures side by side, with their titles below, and a title and a text above."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from arcademark.pages.figures.canvas import TITLE_LINE, axes_at, beside, blank, wrapped
from arcademark.pages.figures.model import Picture, PictureRow
from arcademark.pages.figures.style import NAME_SIZE, NUMBER_SIZE, PALETTE, TICK_SIZE, WIDTH

GAP, LINE_GAP = 11.0, 7.5
"""Gaps between pictures, and between lines of pictures."""
MAX_COLUMNS = 4
"""Maximum number of columns."""
WIDEST = (WIDTH - GAP) / 2
SCREEN = 210 / 160
"""Ratio of a screen's height to its width."""
TEXT_LINE, CAPTION_LINE, CAPTION_GAP, HEAD_GAP = 9.0, 8.0, 3.5, 4.5
PIXELS_AN_INCH = 300
"""Resolution of pictures in SVG."""
ENLARGED = 640
"""Pixels to which small pictures are enlarged, so that viewers do not smooth them."""

Line = list[tuple[float, float, Picture]]
"""Pictures side by side, each with the left end and the width of its place."""


def draw(shown: PictureRow) -> Figure:
    """Draw pictures; the figure has no canvas."""
    columns = min(MAX_COLUMNS, sum(picture.span for picture in shown.pictures))
    lines, texts = _lines(shown.pictures, columns), wrapped(shown.text, WIDTH, NUMBER_SIZE)
    head = TITLE_LINE + TEXT_LINE * len(texts) + HEAD_GAP
    below = sum(map(_height, lines)) + LINE_GAP * (len(lines) - 1)
    figure = blank(head + below, dpi=PIXELS_AN_INCH)
    axes = axes_at(figure, 0, below, WIDTH, head)
    beside(axes, shown.title, (0, 1), (0, 0), NAME_SIZE, "ink", fontweight="bold", va="top")
    for number, text in enumerate(texts):
        beside(axes, text, (0, 1), (0, -TITLE_LINE - TEXT_LINE * number), NUMBER_SIZE, "muted", va="top")
    for line in lines:
        for left, width, picture in line:
            _picture(figure, picture, (left, below), width)
        below -= _height(line) + LINE_GAP
    return figure


def _lines(pictures: Sequence[Picture], columns: int) -> list[Line]:
    """Distribute the pictures over lines of this number of columns."""
    one = min(WIDEST, (WIDTH - GAP * (columns - 1)) / columns)
    lines: list[Line] = [[]]
    used = 0
    for picture in pictures:
        span = min(picture.span, columns)
        if used + span > columns:
            lines.append([])
            used = 0
        lines[-1].append((used * (one + GAP), span * (one + GAP) - GAP, picture))
        used += span
    return lines


def _height(line: Line) -> float:
    return max(
        _size(picture.pixels, width)[1] + CAPTION_GAP + CAPTION_LINE * len(_caption(picture, width))
        for _, width, picture in line
    )


def _caption(picture: Picture, width: float) -> list[str]:
    return wrapped(picture.title, width, TICK_SIZE)


def _size(pixels: NDArray[np.uint8], width: float) -> tuple[float, float]:
    """Return width and height: as wide as the place, but at most as high as a screen of that width."""
    high, wide = pixels.shape[:2]
    height = min(width * high / wide, width * SCREEN)
    return height * wide / high, height


def _picture(figure: Figure, picture: Picture, corner: tuple[float, float], width: float) -> None:
    """Draw a picture below and to the right of a corner, and its title below it."""
    left, top = corner
    wide, high = _size(picture.pixels, width)
    axes = axes_at(figure, left, top - high, wide, high)
    times = max(1, ENLARGED // max(picture.pixels.shape[:2]))
    axes.imshow(picture.pixels.repeat(times, axis=0).repeat(times, axis=1), aspect="auto")
    for spine in axes.spines.values():
        spine.set(color=PALETTE["rule"], linewidth=0.5, visible=True)
    for line, text in enumerate(_caption(picture, width)):
        beside(axes, text, (0, 0), (0, -CAPTION_GAP - CAPTION_LINE * line), TICK_SIZE, "muted", va="top")
