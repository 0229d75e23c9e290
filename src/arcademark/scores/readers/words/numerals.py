r"""Reads numbers as people write them: decimal points and commas, thousands, uncertainties, signs and bold type.

Conventions
-----------
* A cell is read as the set of its possible decimal marks. ``0.5``, ``1234.5`` and ``1,234.5`` have a decimal point,
  ``0,5`` and ``1.234.567`` a decimal comma; ``1.234`` may have either, ``1234`` says nothing.
* One unambiguous cell decides for all numbers of a file; two that contradict each other are refused.
* Thousands are groups of three digits, separated by one mark throughout: the comma or point that is not decimal, an
  apostrophe or a blank.
* ``k`` and ``K`` behind a number are thousands, ``M`` millions. A spread has them only where its score has.
* Type (``**12**``, ``\textbf{12}``, ``<b>12</b>``), links, marks of footnotes, ``$`` and marks without width are left
  out, as are spreads: a number behind ``±``, ``+/-`` or ``\pm``, one in brackets, or two that ascend around the score.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from arcademark.scores.readers.words.role_names import RULES

MISSING = frozenset(RULES["missing"])
"""Marks of a missing score, in lower case."""

MARKS = (".", ",")
"""Decimal marks."""

_SPREADS = r"±|\+/-|\+-|\\pm"
_BLANKS = " \u00a0\u2007\u2009\u202f"
_TYPE = re.compile(
    r"\\(?:(?:text|math)?(?:bf|it|rm|tt)|underline|emph|textsuperscript|mathbf|(?:text)?color\{\w+\})\s*\{([^{}]*)\}"
    r"|\A\{?\\(?:bf|it|em|bfseries|itshape)(?:series)?\s+(.*?)\}?\Z|\A\[([^\[\]]*)\]\([^()\s]*\)\Z"
    r"|</?(?:b|i|u|em|strong|code|mark|span|small|font)(?:\s[^<>]*)?>|<br ?/?>"
    r"|(?<!\A10)<sup>[^<>]*</sup>|[\^_]?[†‡§¶#]+\Z|\[\^\w+\]\Z|\s*[★☆✓✔⭐\U0001f300-\U0001faff\ufe0f]+\Z"
    r"|\A\\(?=-)|\A'(?=[\d.+-])"
    r"|\$?\^\{?(?:[a-z*†‡§¶,]{1,3}|\\d?dagger)\}?\$?\Z"
    r"|\A[*$`_]+|[*$`_]+\Z|[\u200b\u200c\u200d\u2060\ufeff]+",
    re.IGNORECASE,
)
MAX_CHARACTERS = 200
"""Maximum length of a cell that contains a number."""
_NESTED = 4
"""Maximum number of nested marks of type that are removed."""
_SPREAD = re.compile(rf"(.*[^\s$])\s*\$?(?:{_SPREADS})\$?[{_BLANKS}]*\{{?(\S.*?)\}}?")
_IN_BRACKETS = re.compile(r"(.*[^\s(\[])\s*(?:\(([^()\[\]]+)\)|\[([^()\[\]]+)\])")
_ALONE = re.compile(rf"\$?(?:{_SPREADS}).*\d.*|\([^()\[\]]*\d[^()\[\]]*\)|\[[^()\[\]]*\d[^()\[\]]*\]")
_MAY_BE_ALONE = re.compile(rf"^[\s$*{{_]*(?:{_SPREADS}|[(\[])", re.MULTILINE)
_LEVEL = re.compile(r"\A\s*(?:\d\d(?:\.\d)?\s*%\s*)?CI\s*[:=]?\s*")
"""Words after which limits follow."""
_NUMBER_OF = re.compile(r"\s*(?:[nN]\s*=\s*\d+|\d+\s+(?:seed|run|trial|episode|rollout)s?)\s*")
"""Numbers of runs or episodes in brackets behind a score."""
_TO = re.compile(r"\s*[;…–—]\s*|\s+to\s+|\.\.+|\s*,\s*|(?<=\d)\s*-(?=\s*[\d.+-])")
"""Separators of two limits."""
_SCALED = re.compile(rf"([^eE]*\d\.?)[{_BLANKS}]?([kKM])")
_POWERS = {"k": 3, "K": 3, "M": 6}
_MINUS = str.maketrans(dict.fromkeys("\N{MINUS SIGN}–\u2010\u2011\u2012\ufe63\uff0d", "-"))
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
    """A parsed cell: the score alone, its possible decimal marks (none: no number), and its spread.

    Parameters
    ----------
    power : int
        Power of ten by which the score is multiplied: 3 of ``10.6k``.
    unsaid : bool
        True if the spread is one number in brackets, of which nothing in the cell says that it is no score.
    """

    text: str
    marks: tuple[str, ...]
    spread: str = ""
    power: int = 0
    unsaid: bool = False

    @property
    def says(self) -> bool:
        """True if it is another number with another decimal mark."""
        return len(self.marks) == 1 or len({self.value(mark) for mark in self.marks}) > 1

    @property
    def written(self) -> str:
        """The score as it is written, with its ``k`` or ``M``."""
        return self.text + {3: "k", 6: "M"}.get(self.power, "")

    def value(self, mark: str) -> float:
        """Return the number; infinity where it is none."""
        return _value(self.text, mark, self.power) if mark in self.marks else math.inf

    def overshadowed(self, mark: str) -> bool:
        """Return whether the spread is larger than the score."""
        spread, power = _scaled(self.spread)
        return mark in _marks(spread) and abs(_value(spread, mark, power)) > abs(self.value(mark))


@lru_cache(maxsize=2**16)
def apart(cell: str) -> Numeral:
    """Parse a cell."""
    bare = cell.strip()
    if len(bare) > MAX_CHARACTERS:
        return Numeral(bare, ())
    if marks := _marks(bare):
        return Numeral(bare, marks)
    score, spread, brackets = _bare(bare), "", ""
    if parts := _IN_BRACKETS.fullmatch(score):
        score, brackets = _bare(parts[1]), parts[2] or parts[3]
        if stated := re.fullmatch(rf"(?:{_SPREADS})\s*(\S.*)", brackets.strip()):
            spread, brackets = stated[1], ""
    elif parts := _SPREAD.fullmatch(score):
        score, spread = _bare(parts[1]), parts[2]
    score, power = _scaled(score)
    marks = _marks(score)
    if spread:
        marks = tuple(mark for mark in marks if mark in _marks(_as_scaled(spread, power)))
    if not brackets:
        return Numeral(score, marks, spread, power)
    if _NUMBER_OF.fullmatch(brackets):  # of what the score is a mean
        return Numeral(score, marks, brackets.strip(), power)
    brackets = _LEVEL.sub("", brackets)
    if re.fullmatch(r"[+-]?[\d.,]+ ?\\?%", brackets.strip()):  # a normalised score behind the score
        return Numeral(score, marks, brackets.strip(), power)
    single = tuple(mark for mark in marks if mark in _marks(_as_scaled(brackets, power)))
    limits = tuple(mark for mark in marks if _around(score, power, brackets, mark))
    either = tuple(mark for mark in marks if mark in (*single, *limits))
    return Numeral(score, either, brackets.strip(), power, unsaid=not limits)


def _around(score: str, power: int, brackets: str, mark: str) -> bool:
    """Return whether brackets hold two limits of a score."""
    for between in _TO.finditer(brackets):
        parts = [_scaled(part.strip()) for part in (brackets[: between.start()], brackets[between.end() :])]
        if all(mark in _marks(text) and own in (0, power) for text, own in parts):
            low, high = (_value(text, mark, own) for text, own in parts)
            if low <= _value(score, mark, power) <= high and low < high:
                return True
    return False


def _scaled(text: str) -> tuple[str, int]:
    """Return a number without its ``k`` or ``M``, and the power of ten that this stands for."""
    scaled = _SCALED.fullmatch(text)
    return (scaled[1], _POWERS[scaled[2]]) if scaled else (text, 0)


def _as_scaled(spread: str, power: int) -> str:
    """Return a spread without its ``k`` or ``M``; "" if it has one and its score has none."""
    text, own = _scaled(_bare(spread))
    return text if not own or power else ""


def _value(text: str, mark: str, power: int) -> float:
    number = _GROUPS[mark].sub("", text).replace(mark, ".")
    return float(f"{number}e{power}" if power else number)


def is_spread(cell: str) -> bool:
    """Return whether a cell holds a spread alone, ``± 0.3`` or ``(0.3)``."""
    return len(cell) <= MAX_CHARACTERS and _ALONE.fullmatch(_bare(cell)) is not None


def is_number(cell: str) -> bool:
    """Return whether a cell holds a number, with or without a spread."""
    return bool(apart(cell).marks)


def is_missing(cell: str) -> bool:
    """Return whether a cell holds nothing, or a mark of a missing score."""
    return cell.strip().lower() in MISSING


def any_spread(cells: Sequence[str]) -> bool:
    """Return whether any of these cells may hold a spread alone."""
    return _MAY_BE_ALONE.search("\n".join(cells)) is not None


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
    if is_missing(cell):
        return math.nan
    bare = cell.strip()
    try:
        return math.inf if "_" in bare or "n" in bare.lower() else float(bare)
    except ValueError:
        return math.inf


def read(cell: str, mark: str, *, alone: bool = False) -> float:
    """Read a number with a decimal mark: NaN where it is missing, infinity where it is none.

    Where it is to stand `alone`, one with an uncertainty or with ``k`` is none.
    """
    numeral = apart(cell)
    if not numeral.marks:
        return math.nan if is_missing(cell) else math.inf
    return math.inf if alone and (numeral.spread or numeral.power) else numeral.value(mark)
