"""Texts in CSV that a spreadsheet would take for formulas: written with an apostrophe before them, read without it.

``=cmd|…``, ``+1``, ``-2+3`` and ``@SUM`` run when somebody opens the file (OWASP, *CSV Injection*). A text that begins
with apostrophes and one of these gets one more, so that what is written is read back unchanged.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

_RUNS = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


_NUMBER = re.compile(r"-\d+(\.\d*)?([eE][+-]?\d+)?")


def escaped(cell: object) -> object:
    """Return a cell as it is written; numbers stay numbers, negative ones given as text too."""
    runs = isinstance(cell, str) and _RUNS.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if runs else cell


def as_csv(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV in which nothing is a formula."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(escaped, row) for row in rows)
    return text.getvalue()


def unescaped(text: str) -> str:
    """Return the text of which `escaped` made this."""
    return text[1:] if text.startswith("'") and _RUNS.match(text) else text
