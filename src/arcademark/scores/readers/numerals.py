r"""Reads numbers as people write them: decimal points and commas, thousands, uncertainties, signs and bold type.

Conventions
-----------
* What a cell may mean is a set of decimal marks. ``0.5``, ``1234.5`` and ``1,234.5`` have a decimal point, ``0,5`` and
  ``1.234.567`` a decimal comma; ``1.234`` may have either, ``1234`` says nothing.
* One cell that says it decides for all numbers of a file; two that contradict each other are refused.
* Thousands are groups of three digits, apart by one mark throughout: the comma or point that is not decimal, an
  apostrophe or a blank.
* Left out are type (``**12**``, ``\textbf{12}``, ``<b>12</b>``), links, marks of footnotes, ``$``, marks without width,
  and what follows ``±``, ``+/-`` or ``\pm``.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from arcademark.scores.readers.role_names import RULES

MISSING = frozenset(RULES["missing"])
"""Cells that hold no score, in any case."""

MARKS = (".", ",")
"""Decimal marks."""

_SPREADS = r"±|\+/-|\+-|\\pm"
_BLANKS = " \u00a0\u2007\u2009\u202f"
_TYPE = re.compile(
    r"\\(?:(?:text|math)?(?:bf|it|rm|tt)|underline|emph|textsuperscript|mathbf|(?:text)?color\{\w+\})\s*\{([^{}]*)\}"
    r"|\A\{?\\(?:bf|it|em|bfseries|itshape)(?:series)?\s+(.*?)\}?\Z|\A\[([^\[\]]*)\]\([^()\s]*\)\Z"
    r"|</?(?:b|i|u|em|strong|code|mark|span|small|font)(?:\s[^<>]*)?>|<br ?/?>"
    r"|(?<!\A10)<sup>[^<>]*</sup>|[\^_]?[†‡§¶#]+\Z|\[\^\w+\]\Z"
    r"|\A\\(?=-)"
    r"|\$?\^\{?(?:[a-z*†‡§¶,]{1,3}|\\d?dagger)\}?\$?\Z"
    r"|\A[*$`_]+|[*$`_]+\Z|[\u200b\u200c\u200d\u2060\ufeff]+",
    re.IGNORECASE,
)
MAX_CHARACTERS = 200
"""Largest length of a cell that holds a number."""
_NESTED = 4
"""Marks of type within each other that are taken off."""
_SPREAD = re.compile(rf"(.*[^\s$])[{_BLANKS}]*\$?(?:{_SPREADS})\$?[{_BLANKS}]*\{{?(\S.*?)\}}?")
_MINUS = str.maketrans({"\N{MINUS SIGN}": "-", "–": "-"})
_NUMBER = {
    mark: re.compile(
        rf"[+-]?(?:(?:[0-9]+(?:{re.escape(mark)}[0-9]*)?|{re.escape(mark)}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        rf"|[1-9][0-9]{{0,2}}([{other}'’{_BLANKS}])[0-9]{{3}}(?:\1[0-9]{{3}})*(?:{re.escape(mark)}[0-9]*)?)"
    )
    for mark, other in (MARKS, reversed(MARKS))
}
_GROUPS = {mark: re.compile(rf"[{other}'’{_BLANKS}]") for mark, other in (MARKS, reversed(MARKS))}


@dataclass(frozen=True)
class Numeral:
    """A parsed cell: the score alone, its possible decimal marks (none: no number), and its spread."""

    text: str
    marks: tuple[str, ...]
    spread: str = ""

    @property
    def says(self) -> bool:
        """True if it is another number with another decimal mark."""
        return len(self.marks) == 1 or (bool(self.marks) and any(mark in self.text + self.spread for mark in MARKS))

    def value(self, mark: str) -> float:
        """Return the number; infinity where it is none."""
        if mark not in self.marks:
            return math.inf
        return float(_GROUPS[mark].sub("", self.text).replace(mark, "."))


@lru_cache(maxsize=2**16)
def apart(cell: str) -> Numeral:
    """Parse a cell."""
    bare = cell.strip()
    if len(bare) > MAX_CHARACTERS:
        return Numeral(bare, ())
    if marks := _marks(bare):
        return Numeral(bare, marks)
    score, spread = _bare(bare), ""
    if parts := _SPREAD.fullmatch(score):
        score, spread = parts[1], parts[2]
    score = _bare(score)
    marks = tuple(mark for mark in _marks(score) if not spread or mark in _marks(spread))
    return Numeral(score, marks, spread)


def _marks(text: str) -> tuple[str, ...]:
    return tuple(mark for mark in MARKS if _NUMBER[mark].fullmatch(text))


def _bare(cell: str) -> str:
    text = cell
    for _ in range(_NESTED):
        text = _TYPE.sub(lambda match: match[1] or match[2] or match[3] or "", text).strip()
    return text.translate(_MINUS)


def written_out(cell: str) -> str:
    """Return a number of frames such as ``200M`` or ``1.5k`` in digits, and others as they are."""
    scaled = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmb])\s*", cell, re.IGNORECASE) if cell[-1:].isalpha() else None
    return f"{float(scaled[1]) * 1000 ** (1 + 'kmb'.index(scaled[2].lower())):.0f}" if scaled else cell


def plain(cell: str) -> float:
    """Read a number with a decimal point and nothing else: NaN where it is missing, infinity where it is another."""
    bare = cell.strip()
    if bare.lower() in MISSING:
        return math.nan
    try:
        return math.inf if "_" in bare or "n" in bare.lower() else float(bare)
    except ValueError:
        return math.inf


def read(cell: str, mark: str, *, alone: bool = False) -> float:
    """Read a number with a decimal mark: NaN where it is missing, infinity where it is none.

    Where it is to stand `alone`, one with an uncertainty is none.
    """
    numeral = apart(cell)
    if not numeral.marks:
        return math.nan if cell.strip().lower() in MISSING else math.inf
    return math.inf if alone and numeral.spread else numeral.value(mark)
