"""Pictures of DISCO's instances on a screen, and of its classes with their shapes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.disco.classes import ObjectClasses
from arcademark.classic.features.disco.shapes import Rows, pixels_of
from arcademark.environments.emulation.palettes import gray_table

COLOURS = np.array(
    (
        *((255, 221, 51), (230, 60, 60), (70, 150, 255), (80, 210, 90), (240, 130, 30)),
        *((190, 100, 240), (60, 220, 220), (250, 150, 200), (170, 120, 70), (235, 235, 235)),
    ),
    np.uint8,
)
"""Colours of classes, repeated from the eleventh class on."""
DIM = 3
"""Divisor of the screen's brightness."""
SCALE = 4
"""Pixels of the picture per pixel of a shape."""
SHAPES = 8
"""Maximum number of shapes drawn per class."""
MARGIN = 8
LINE = 14
"""Height of a line of text."""
WIDTH = 480


def draw_instances(
    screen: NDArray[np.uint8], boxes: NDArray[np.int32], shapes: list[Rows], classes: list[int]
) -> NDArray[np.uint8]:
    """Draw a screen in dark grey with its shapes in the colours of their classes, -1 for none."""
    image = np.repeat(gray_table("NTSC")[2 * screen.astype(int), None] // DIM, 3, axis=-1)
    for (top, left, height, width), shape, of_class in zip(boxes.tolist(), shapes, classes, strict=True):
        if of_class >= 0:
            inside = image[top : top + height, left : left + width]
            inside[pixels_of(shape, width)] = COLOURS[of_class % len(COLOURS)]
    return image


def draw_classes(classes: ObjectClasses) -> NDArray[np.uint8]:
    """Draw the most frequent shapes of each class in a row, under a line with the frequency of the class."""
    from PIL import Image, ImageDraw

    rows = [_draw_shapes(classes, i) for i in range(len(classes))]
    width = max([WIDTH, *(2 * MARGIN + row.shape[1] for row in rows)])
    height = MARGIN + sum(LINE + row.shape[0] + MARGIN for row in rows) + (0 if rows else LINE + MARGIN)
    picture = Image.new("RGB", (width, height))
    pen = ImageDraw.Draw(picture)
    y = MARGIN
    if not rows:
        pen.text((MARGIN, y), "no classes were found")
    for i, row in enumerate(rows):
        number = int((classes.of_shape == i).sum())
        pen.text(
            (MARGIN, y),
            f"class {i}: on {classes.frequency[i]:.0%} of screens, {classes.instances[i]:.1f} of it; "
            f"{number} shape{'s' if number > 1 else ''}",
        )
        picture.paste(Image.fromarray(row), (MARGIN, y + LINE))
        y += LINE + row.shape[0] + MARGIN
    return np.asarray(picture)


def _draw_shapes(classes: ObjectClasses, of_class: int) -> NDArray[np.uint8]:
    """Draw the most frequent shapes of a class side by side."""
    shapes = np.flatnonzero(classes.of_shape == of_class)[:SHAPES]
    height = int(classes.heights[shapes].max())
    width = int((classes.widths[shapes] + 2).sum())
    pixels = np.zeros((height, width), bool)
    x = 0
    for shape in shapes:
        silhouette = classes.silhouette(int(shape))
        pixels[: silhouette.shape[0], x : x + silhouette.shape[1]] = silhouette
        x += silhouette.shape[1] + 2
    large = np.kron(pixels, np.ones((SCALE, SCALE), bool))
    image = np.zeros((*large.shape, 3), np.uint8)
    image[large] = COLOURS[of_class % len(COLOURS)]
    return image
