"""Moving pictures: GIF by Pillow, MP4 with the extra ``video``; PNG, a sheet of pictures.

A picture is a uint8 array of shape (height, width, 3), taken one at a time. After a GIF's first picture, only the
rectangle that changed is written, in its exact colours, or the 256 nearest where it has more.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from PIL import GifImagePlugin, Image, ImageDraw, ImageFont, PngImagePlugin

from arcademark.errors import ArcadeMarkError
from arcademark.files import MADE_BY, write_whole
from arcademark.importing import needing

Picture = NDArray[np.uint8]

GIF_TICKS_PER_SECOND = 100
GIF_COLOURS = 256

BAR_HEIGHT = 22
MARGIN = 6
GAP = 4
COLUMN = 12
FONT_SIZE = 13
BAR_COLOUR, TEXT_COLOUR = (24, 24, 27), (244, 244, 245)
CHOSEN_COLOUR, OTHER_COLOUR = (250, 204, 21), (113, 113, 122)
SHEET_WIDTH = 1300  # maximum width of a row of pictures, which has at least one


def write(path: Path, pictures: Iterable[Picture], pictures_per_second: float) -> None:
    """Write a .gif, a .mp4, or a .png sheet, by the file's name; no file is left if that fails.

    `pictures` are at least one, all of one size.
    """
    if path.suffix.lower() not in WRITERS:
        raise ArcadeMarkError(f"{path}: expected a name that ends in .gif, .mp4 or .png")
    writer = WRITERS[path.suffix.lower()]
    try:
        write_whole(path, lambda draft: writer(draft, pictures, pictures_per_second))
    except OSError as error:
        raise ArcadeMarkError(f"{path}: cannot be written ({error.strerror or error}); choose another --out") from None


def captioned(screen: Picture, scale: int, left: str, right: str) -> Picture:
    """Enlarge a screen by a whole factor and put a bar with two texts below it.

    The left text is omitted if there is no room for both.
    """
    large = screen.repeat(scale, axis=1).repeat(scale, axis=0)
    return np.concatenate([large, _bar(large.shape[1], left, right)])


def noted(picture: Picture, note: str) -> Picture:
    """Put a bar with a text below a picture; the text is cut to fit."""
    return np.concatenate([picture, _bar(picture.shape[1], _fitting(note, picture.shape[1] - 3 * MARGIN), "")])


@lru_cache(maxsize=8)
def _fitting(text: str, room: int) -> str:
    font = ImageFont.load_default(size=FONT_SIZE)
    cuts = (text, *(f"{text[:kept]}..." for kept in range(len(text) - 1, 0, -1)))
    return next((cut for cut in cuts if font.getlength(cut) <= room), "...")


@lru_cache(maxsize=64)
def action_bar(width: int, action: str, chosen: int, values: tuple[float, ...] = ()) -> Picture:
    """Draw a bar with an action's name and, if values are given, a column per action, scaled from lowest to highest.

    The chosen action's column is bright; NaN gets no column.
    """
    image = Image.fromarray(_bar(width, action, ""))
    draw = ImageDraw.Draw(image)
    known = [value for value in values if np.isfinite(value)]
    lowest, spread = (min(known), (max(known) - min(known)) or 1.0) if known else (0.0, 1.0)
    step = min(COLUMN, (width // 2) // max(len(values), 1))
    for place, value in enumerate(values):
        if np.isfinite(value):
            right = width - MARGIN - (len(values) - place) * step + step - 2
            top = BAR_HEIGHT - 3 - round((BAR_HEIGHT - 8) * (value - lowest) / spread)
            colour = CHOSEN_COLOUR if place == chosen else OTHER_COLOUR
            draw.rectangle((right - max(step - 3, 0), top, right, BAR_HEIGHT - 3), colour)
    return np.asarray(image)


def beside(pictures: Sequence[Picture]) -> Picture:
    """Put pictures side by side, with gaps; lower ones are padded."""
    height = max(picture.shape[0] for picture in pictures)
    filled = []
    for place, picture in enumerate(pictures):
        missing, gap = height - picture.shape[0], GAP if place else 0
        whole = np.empty((height, picture.shape[1] + gap, 3), np.uint8)
        whole[:] = BAR_COLOUR
        whole[: height - missing, gap:] = picture
        filled.append(whole)
    return np.concatenate(filled, axis=1)


@lru_cache(maxsize=8)
def _bar(width: int, left: str, right: str) -> Picture:
    image = Image.new("RGB", (width, BAR_HEIGHT), BAR_COLOUR)
    draw = ImageDraw.Draw(image)
    draw.fontmode = "1"  # without smoothing, which would need more colours than a GIF has
    font = ImageFont.load_default(size=FONT_SIZE)
    draw.text((width - MARGIN, BAR_HEIGHT // 2), right, TEXT_COLOUR, font, anchor="rm")
    if draw.textlength(left, font) + draw.textlength(right, font) + 3 * MARGIN <= width:
        draw.text((MARGIN, BAR_HEIGHT // 2), left, TEXT_COLOUR, font, anchor="lm")
    return np.asarray(image)


def write_gif(path: Path, pictures: Iterable[Picture], pictures_per_second: float) -> None:
    """Write a GIF that repeats endlessly.

    Delays are whole hundredths of a second; they alternate where needed, so that the total time is right.
    """
    ticks = GIF_TICKS_PER_SECOND / pictures_per_second
    before: Picture | None = None
    with path.open("wb") as file:
        for count, picture in enumerate(pictures):
            if before is None:
                file.write(_gif_header(picture.shape[1], picture.shape[0]))
            top, bottom, left, right = _changed(picture, before)
            delay = round((count + 1) * ticks) - round(count * ticks)
            _write_gif_picture(file, picture[top:bottom, left:right], (left, top), delay)
            before = picture
        file.write(b";")


def _changed(picture: Picture, before: Picture | None) -> tuple[int, int, int, int]:
    """Return top, bottom, left and right of the changed rectangle; a single pixel if nothing changed."""
    height, width, _ = picture.shape
    if before is None:
        return 0, height, 0, width
    differs = picture != before
    rows = np.flatnonzero(differs.reshape(height, -1).any(axis=1))
    if not len(rows):
        return 0, 1, 0, 1
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    columns = np.flatnonzero(differs[top:bottom].any(axis=0).any(axis=1))
    return top, bottom, int(columns[0]), int(columns[-1]) + 1


def _gif_header(width: int, height: int) -> bytes:
    """Return the header: signature, size, no global palette, repetition (Netscape's extension), a comment.

    GIF89a specification, §17, §18, §24.
    """
    size = struct.pack("<HHBBB", width, height, 0, 0, 0)
    comment = bytes([len(MADE_BY)]) + MADE_BY.encode() + b"\0"
    return b"GIF89a" + size + b"!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00" + b"!\xfe" + comment


def _write_gif_picture(file: IO[bytes], picture: Picture, offset: tuple[int, int], ticks: int) -> None:
    image = Image.fromarray(np.ascontiguousarray(picture))
    if counted := image.getcolors(GIF_COLOURS):
        palette = np.array(sorted(colour for _, colour in counted), np.uint32)
        indices = np.searchsorted(_packed(palette), _packed(picture))
        image = Image.frombytes("P", image.size, indices.astype(np.uint8).tobytes())
        image.putpalette(palette.astype(np.uint8).tobytes())
    else:  # of other tasks than games
        image = image.quantize(GIF_COLOURS, dither=Image.Dither.NONE)
    for block in GifImagePlugin.getdata(image, offset, duration=10 * ticks, disposal=1, include_color_table=True):
        file.write(block)


def _packed(colours: NDArray[Any]) -> NDArray[np.uint32]:
    """Return colours, shape (..., 3), as numbers, in the order of red, green and blue."""
    red, green, blue = (colours[..., channel].astype(np.uint32) for channel in range(3))
    return np.asarray((red << 16) + (green << 8) + blue, np.uint32)


def write_mp4(path: Path, pictures: Iterable[Picture], pictures_per_second: float) -> None:
    """Write an MP4 (H.264)."""
    with needing("writing MP4 needs imageio-ffmpeg", "video", ", or choose a name that ends in .gif"):
        import imageio_ffmpeg
    left = iter(pictures)
    first = next(left)
    size, made_by = (first.shape[1], first.shape[0]), ["-metadata", f"comment={MADE_BY}"]
    how: dict[str, Any] = {"fps": pictures_per_second, "macro_block_size": 2, "output_params": made_by}
    try:
        with closing(imageio_ffmpeg.write_frames(str(path), size, **how)) as writer:
            writer.send(None)
            for picture in chain((first,), left):
                writer.send(np.ascontiguousarray(picture))
    except RuntimeError as error:
        raise ArcadeMarkError(
            f"imageio-ffmpeg cannot write MP4 here ({error}); choose a name that ends in .gif"
        ) from error


def write_png(path: Path, pictures: Iterable[Picture], _: float) -> None:
    """Write all pictures on one sheet, in rows of at most `SHEET_WIDTH` pixels, or of one picture."""
    kept = list(pictures)
    columns = max(1, SHEET_WIDTH // (kept[0].shape[1] + GAP))
    rows = [beside(kept[start : start + columns]) for start in range(0, len(kept), columns)]
    sheet = np.full((sum(len(row) for row in rows) + GAP * (len(rows) - 1), rows[0].shape[1], 3), BAR_COLOUR, np.uint8)
    top = 0
    for row in rows:
        sheet[top : top + len(row), : row.shape[1]] = row
        top += len(row) + GAP
    made_by = PngImagePlugin.PngInfo()
    made_by.add_text("Software", MADE_BY)
    Image.fromarray(sheet).save(path, pnginfo=made_by)


WRITERS = {".gif": write_gif, ".mp4": write_mp4, ".png": write_png}
