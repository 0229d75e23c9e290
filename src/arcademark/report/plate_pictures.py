"""Draws a plate of pictures: rows, each with its title, and the pictures beside each other with theirs below them."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from arcademark.report.plate_drawing import PALETTE, WIDTH, bare, beside, wrapped
from arcademark.report.plates import Picture, PictureRow, Pictures

GAP = 10.0
"""Between two pictures."""
ROW_GAP = 16.0
WIDEST = 229.0
SCREEN = 210 / 160
"""A screen's height to its width."""

TITLE_LINE, TEXT_LINE, HEAD_GAP = 13.0, 10.0, 5.0
CAPTION_LINE, CAPTION_GAP = 9.5, 4.0
TITLE_SIZE, TEXT_SIZE, CAPTION_SIZE = 10.0, 8.0, 7.5

PIXELS_AN_INCH = 300
"""Of pictures in SVG."""
ENLARGED = 640
"""Pixels to which small pictures are enlarged before anything smooths them."""


def draw(plate: Pictures) -> Figure:
    """Draw the plate on a figure that has no canvas yet."""
    width = min(WIDEST, _width(max(len(row.pictures) for row in plate.rows)))
    heights = [_height(row, width) for row in plate.rows]
    total = sum(heights) + ROW_GAP * (len(heights) - 1)
    figure = Figure(figsize=(WIDTH / 72, total / 72), dpi=PIXELS_AN_INCH)
    top = total
    for row, height in zip(plate.rows, heights, strict=True):
        _row(figure, row, width, top, total)
        top -= height + ROW_GAP
    return figure


def _width(number: int) -> float:
    return (WIDTH - GAP * (number - 1)) / number


def _height(row: PictureRow, width: float) -> float:
    return _head(row) + max(
        _size(picture.pixels, width)[1] + CAPTION_GAP + CAPTION_LINE * len(_caption(picture, width))
        for picture in row.pictures
    )


def _head(row: PictureRow) -> float:
    return TITLE_LINE + TEXT_LINE * len(_text(row)) + HEAD_GAP


def _text(row: PictureRow) -> list[str]:
    return wrapped(row.text, WIDTH, TEXT_SIZE)


def _caption(picture: Picture, width: float) -> list[str]:
    return wrapped(picture.title, width, CAPTION_SIZE)


def _size(pixels: NDArray[np.uint8], width: float) -> tuple[float, float]:
    """Return width and height: as wide as the place, but no higher than a screen would be there."""
    high, wide = pixels.shape[:2]
    height = min(width * high / wide, width * SCREEN)
    return height * wide / high, height


def _row(figure: Figure, row: PictureRow, width: float, top: float, total: float) -> None:
    """Draw a row whose upper end is at `top` of `total`, in points from below."""
    head = figure.add_axes((0, (top - _head(row)) / total, 1, _head(row) / total))
    bare(head)
    beside(head, row.title, (0, 1), (0, 0), TITLE_SIZE, "ink", fontweight="bold", va="top")
    for line, text in enumerate(_text(row)):
        beside(head, text, (0, 1), (0, -TITLE_LINE - TEXT_LINE * line), TEXT_SIZE, "muted", va="top")
    for place, picture in enumerate(row.pictures):
        left = place * (width + GAP)
        _picture(figure, picture, (left, top - _head(row)), width, total)


def _picture(figure: Figure, picture: Picture, corner: tuple[float, float], width: float, total: float) -> None:
    """Draw a picture below and to the right of a corner, and its title below it."""
    left, top = corner
    wide, high = _size(picture.pixels, width)
    axes = figure.add_axes((left / WIDTH, (top - high) / total, wide / WIDTH, high / total))
    times = max(1, ENLARGED // max(picture.pixels.shape[:2]))
    axes.imshow(picture.pixels.repeat(times, axis=0).repeat(times, axis=1), aspect="auto")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(color=PALETTE["rule"], linewidth=0.5)
    for line, text in enumerate(_caption(picture, width)):
        down = CAPTION_GAP + CAPTION_LINE * line
        beside(axes, text, (0, 0), (0, -down), CAPTION_SIZE, "muted", va="top")
