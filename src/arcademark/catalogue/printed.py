"""Printed cells of the review's tables, and their values as numbers.

A cell is kept as printed, including errors; "N/A" means that a table prints no value. Training frames are in the column
of the table's percentage, like the summaries below the games. In the available text, the columns of that row in Tables
3, 7 and 11 are lost (six, four and four times "200M" over five algorithms): each of the five has "200M" here. The text
has no bold print.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources.abc import Traversable

from arcademark.catalogue.model import Location, PrintedCell
from arcademark.catalogue.reading import data_directory
from arcademark.errors import ArcadeMarkError
from arcademark.files import read_as
from arcademark.suite.tables import read_rows

PAPER = "fan-2021"
NOTHING = "N/A"

_NUMBER = re.compile(r"(?P<digits>[+-]?\d+(?:\.\d+)?)(?:(?P<multiple>[MB])|E(?P<power>[+-]?\d+))?")
_MULTIPLES = {"M": 6, "B": 9}
_FLOAT_NOISE = 1e-12


@dataclass(frozen=True)
class PrintedNumber:
    """A number as it is printed.

    Parameters
    ----------
    value : float
    last_digit : int
        The power of ten of its last digit: −2 for "3.43", 0 for "21", −10 for "4.37E-08", 6 for "200M".
    form : {"plain", "power", "multiple"}
        "3.43", "4.37E-08" or "200M".
    """

    value: float
    last_digit: int
    form: str

    @property
    def decimals(self) -> int:
        """The number of decimals: 2 for "3.43", 10 for "4.37E-08", 0 for "200M"."""
        return max(0, -self.last_digit)

    @property
    def half_unit(self) -> float:
        """The largest rounding error."""
        return float(Decimal((0, (5,), self.last_digit - 1)))

    def is_rounding_of(self, exact: float) -> bool:
        """Return True if an exact value may be rounded to this number; half-way cases may be rounded either way."""
        return abs(self.value - exact) <= self.half_unit + _FLOAT_NOISE * abs(exact)

    def like(self, exact: float) -> str:
        """Write another number in the same form, with the same precision."""
        if self.form == "multiple":
            power = 9 if self.last_digit >= 9 else 6
            return f"{exact / 10**power:g}{'B' if power == 9 else 'M'}"
        if self.form == "power":
            places = Decimal(repr(self.value)).adjusted() - self.last_digit
            return f"{exact:.{max(0, places)}E}"
        text = f"{exact:.{self.decimals}f}"
        return text.removeprefix("-") if float(text) == 0 else text


def printed_number(printed: str) -> PrintedNumber | None:
    """Parse "-18.6", "4.37E-08", "1E+5", "200M" or "10B"; return None for other texts: "N/A", "441/32"."""
    match = _NUMBER.fullmatch(printed.strip().replace("\N{MINUS SIGN}", "-"))
    if not match:
        return None
    digits, multiple, power = match["digits"], match["multiple"], match["power"]
    shift = _MULTIPLES[multiple] if multiple else int(power or 0)
    exact = Decimal(digits).scaleb(shift)
    decimals = len(digits.partition(".")[2])
    form = "multiple" if multiple else "power" if power else "plain"
    return PrintedNumber(float(exact), shift - decimals, form)


@cache
def printed_cells(directory: Traversable | None = None) -> tuple[PrintedCell, ...]:
    """Return every cell of the review's Tables 3 to 14, row by row."""
    name = f"{PAPER}.csv"
    cells: dict[Location, PrintedCell] = {}
    rows = read_rows(name, directory or data_directory() / "printed")
    for line, row in enumerate(rows, start=2):
        where = f"printed/{name}, line {line}"
        cell = read_as(PrintedCell, {**row, "place": row}, where, "correct that line, or drop it", strict=False)
        if cell.place in cells:
            raise ArcadeMarkError(f"{where}: this cell is repeated; keep one of them")
        cells[cell.place] = cell
    return tuple(cells.values())
