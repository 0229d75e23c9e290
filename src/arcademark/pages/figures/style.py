"""The style sheet of every figure: widths, fonts, colours, dashes, sizes of text, axes and ticks.

Lengths are in points, as printed. A page scales its figures to its own width.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError

WIDTH, NARROW = 540.0, 198.0
"""Width of a figure on a page, and of one for a phone."""
WIDE = 400.0
"""Width from which panels are side by side, and names to the left of rows."""
INCH = 72.0
MIN_INCHES, MAX_INCHES = 2.75, 20.0
"""Least and greatest width of a figure."""
SINGLE_COLUMN, TWO_COLUMNS = 3.3, 6.9
"""Widths of figures in papers of two columns, in inches."""

StyleName = Literal["screen", "paper"]
FontName = Literal["sans", "serif"]
FONTS = {"sans": ["DejaVu Sans", "sans-serif"], "serif": ["STIXGeneral", "DejaVu Serif", "serif"]}
"""Families of fonts; the first ones are part of Matplotlib, so that a figure is the same everywhere."""
SVG_FONTS = {
    "sans": "'DejaVu Sans', Verdana, sans-serif",
    "serif": "STIXGeneral, 'STIX Two Text', 'Times New Roman', Times, 'Liberation Serif', serif",
}
"""Families that an SVG names, for viewers without the first; their letters are about as wide."""


@dataclass(frozen=True)
class FigureStyle:
    """Width and font of a stand-alone figure.

    Parameters
    ----------
    name : {"screen", "paper"}
        Default width and font: 7.5 inches and sans, or 6.9 inches and serif.
    width_inches : float, optional
        Width from 2.75 to 20 inches; a column of a paper has 3.3.
    font : {"sans", "serif"}, optional

    Raises
    ------
    ArcadeMarkError
        If the style or the font is unknown, or the width is out of range.
    """

    name: StyleName = "screen"
    width_inches: float | None = None
    font: FontName | None = None

    def __post_init__(self) -> None:
        for what, value, known in (("style", self.name, StyleName), ("font", self.font or "sans", FontName)):
            if value not in get_args(known):
                raise ArcadeMarkError(f"{what} {value!r} of figures: expected {' or '.join(get_args(known))}")
        if self.width_inches is not None and not MIN_INCHES <= self.width_inches <= MAX_INCHES:
            raise ArcadeMarkError(
                f"figures {self.width_inches:g} inches wide: expected {MIN_INCHES:g} to {MAX_INCHES:g}; papers of two "
                f"columns take {SINGLE_COLUMN:g} and {TWO_COLUMNS:g}"
            )

    @property
    def width(self) -> float:
        """The width in points."""
        default = WIDTH / INCH if self.name == "screen" else TWO_COLUMNS
        return INCH * (self.width_inches or default)

    @property
    def face(self) -> FontName:
        """The font, by default the style's."""
        return self.font or ("sans" if self.name == "screen" else "serif")

    @property
    def families(self) -> list[str]:
        """The families of its font, in order of preference."""
        return FONTS[self.face]


SCREEN = FigureStyle()
MAX_ROWS = 40
"""Maximum number of algorithms, or pairs, in a figure."""
MAX_COLUMNS = 24
"""Maximum number of algorithms in a heat map."""
MAX_SERIES = 5
"""Maximum number of algorithms in a figure, the first ones."""

PALETTE = {
    "paper": "#ffffff",
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
    "cell-ink": "#1d1c1c",
    "heat-1": "#e39a5f",
    "heat-2": "#eeb887",
    "heat-3": "#f5d3b1",
    "heat-4": "#fbebda",
    "heat-5": "#e3f1f1",
    "heat-6": "#b9dddd",
    "heat-7": "#8ac7c8",
    "heat-8": "#58afb1",
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
    **{name: colour for name, colour in PALETTE.items() if name.startswith(("cell", "heat"))},
}
"""Colours of dark pages, by name. Colours of series are distinct under every kind of colour blindness."""
SERIES = tuple(name for name in PALETTE if name.startswith("series"))
HEAT = tuple(name for name in PALETTE if name.startswith("heat"))
"""Fills of cells, half of them below a threshold and half above; dark text is legible on each."""
DASHES: tuple[tuple[float, ...], ...] = ((), (6, 1.6), (1.2, 1.4), (5, 1.4, 1.2, 1.4), (3, 1.2))
MARKERS = ("o", "s", "D", "^", "v")

NAME_SIZE, NUMBER_SIZE, TICK_SIZE = 8.0, 7.2, 6.8
"""Font sizes of names and titles; of numbers and other texts; of ticks."""

MAX_TICKS = 5
QUARTERS = tuple((share, f"{100 * share:.0f} %") for share in (0.0, 0.25, 0.5, 0.75, 1.0))
"""Ticks of an axis of shares."""
FEWEST_TICKS = 4
"""Number of powers of ten on an axis below which it has ticks between them."""
ROOM = 0.04
"""Part of an axis that is free at each end."""
FAR_OFF = 20.0
"""Ratio of the largest to the median absolute value above which an axis is logarithmic."""


def ticks(low: float, high: float, most: int = MAX_TICKS) -> tuple[float, ...]:
    """Return at most ``most`` round values from `low` to `high`."""
    rough = (high - low or 1.0) / (most - 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(place * step for place in range(first, last + 1))


def signed_log(values: ArrayLike) -> NDArray[np.float64]:
    r"""Transform values to the symmetric logarithmic scale sign(v)·log₁₀(1 + \|v\|): 0 → 0, 100 → about 2."""
    numbers = np.asarray(values, dtype=np.float64)
    return np.asarray(np.sign(numbers) * np.log10(1 + np.abs(numbers)))


@dataclass(frozen=True)
class Axis:
    """An axis for some values: linear, or symmetric logarithmic if one is far from most others.

    low, high: The lowest and the highest value.
    log: True if it is logarithmic.
    """

    low: float
    high: float
    log: bool

    @classmethod
    def spanning(cls, values: Iterable[float]) -> Axis:
        """Return the axis for at least one value."""
        known = [float(value) for value in values]
        usual = max(float(np.median(np.abs(known))), 1.0)
        return cls(min(known), max(known), max(map(abs, known)) > FAR_OFF * usual)

    def place(self, value: float) -> float:
        """Return the position of a value."""
        return float(signed_log(value)) if self.log else value

    @property
    def limits(self) -> tuple[float, float]:
        """The ends, with some room beyond the values."""
        low, high = self.place(self.low), self.place(self.high)
        room = ROOM * ((high - low) or 1.0)
        return low - room, high + room

    def ticks(self, unit: str = "", most: int = MAX_TICKS) -> tuple[tuple[float, str], ...]:
        """Return at most ``most`` ticks, more on a logarithmic axis, with their labels."""
        if not self.log:
            chosen = ticks(self.low, self.high, most)
        else:
            sizes = [10.0**power for power in range(1, math.ceil(math.log10(1 + max(-self.low, self.high))) + 1)]
            decades = (*(-size for size in reversed(sizes)), 0.0, *sizes)
            low, high = self.limits
            chosen = tuple(value for value in decades if low <= self.place(value) <= high)
            if len(chosen) < FEWEST_TICKS:
                chosen = tuple(sorted({*decades, *(3 * value for value in decades)}))
        low, high = self.limits
        shown = (value for value in chosen if low <= self.place(value) <= high)
        return tuple((self.place(value), f"{value:,.10g}{unit}".replace("-", "−")) for value in shown)

    @property
    def name(self) -> str:
        """Addition to the axis label: "", or ", symmetric logarithmic scale"."""
        return ", symmetric logarithmic scale" if self.log else ""


def decades(low: float, high: float) -> tuple[int, ...]:
    """Return at most `MAX_TICKS` exponents of powers of ten around positive values."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    return tuple(range(first, last + 1, math.ceil((last - first + 1) / MAX_TICKS)))


def legend(names: tuple[str, ...] | list[str]) -> tuple[tuple[str, str], ...]:
    """Return the first names, each with the palette colour of its series."""
    return tuple(zip(names, SERIES, strict=False))
