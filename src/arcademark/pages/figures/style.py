"""How every figure looks: its width, colours, dashes, sizes of text and ticks."""

from __future__ import annotations

import math

WIDTH, NARROW = 720.0, 264.0
"""Of a figure, and of one for a phone, in points."""
MAX_SERIES = 5
"""Algorithms that a figure shows: the first ones."""

PALETTE = {
    "paper": "#fdfcf9",
    "ink": "#1d1c1a",
    "muted": "#6f6b64",
    "rule": "#d8d4cb",
    "track": "#eae6dd",
    "record": "#a3266b",
    "series-1": "#1f6f78",
    "series-2": "#af7e23",
    "series-3": "#534a8d",
    "series-4": "#3a91de",
    "series-5": "#1d1c1b",
}
DARK = {
    "paper": "#191817",
    "ink": "#ece8e0",
    "muted": "#a09a8f",
    "rule": "#3a3733",
    "track": "#302e2a",
    "record": "#e88bc0",
    "series-1": "#5fb3bc",
    "series-2": "#f1be68",
    "series-3": "#8777be",
    "series-4": "#abb7f9",
    "series-5": "#ece8e1",
}
"""What the colours become where a page is dark. The series' tell apart under every kind of colour blindness."""
SERIES = tuple(name for name in PALETTE if name.startswith("series"))
DASHES: tuple[tuple[float, ...], ...] = ((), (6, 1.6), (1.2, 1.4), (5, 1.4, 1.2, 1.4), (3, 1.2))
MARKERS = ("o", "s", "D", "^", "v")

NAME_SIZE, NUMBER_SIZE, TICK_SIZE = 10.5, 9.5, 9.0
"""Of names and titles; of numbers and other texts; of ticks."""

MAX_TICKS = 5


def ticks(low: float, high: float, most: int = MAX_TICKS) -> tuple[float, ...]:
    """Choose at most so many round values from `low` to `high`."""
    rough = (high - low or 1.0) / (most - 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(place * step for place in range(first, last + 1))


def decades(low: float, high: float) -> tuple[int, ...]:
    """Choose at most `MAX_TICKS` powers of ten around positive values."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    return tuple(range(first, last + 1, math.ceil((last - first + 1) / MAX_TICKS)))


def legend(names: tuple[str, ...] | list[str]) -> tuple[tuple[str, str], ...]:
    """Return the first names, each with the palette colour of its series."""
    return tuple(zip(names, SERIES, strict=False))
