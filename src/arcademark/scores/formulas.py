"""Escapes texts in CSV files that a spreadsheet would take for formulas, by an apostrophe before them.

``=cmd|…``, ``+1``, ``-2+3`` and ``@SUM`` run when somebody opens the file (OWASP, *CSV Injection*). A text that begins
with apostrophes and one of these gets one more, so that every text is read back unchanged.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

_RUNS = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


_NUMBER = re.compile(r"-\d+(\.\d*)?([eE][+-]?\d+)?")


def escaped(cell: object) -> object:
    """Return a cell as it is written to CSV; numbers stay numbers, as do texts of negative ones."""
    runs = isinstance(cell, str) and _RUNS.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if runs else cell


def as_csv(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV without formulas."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(escaped, row) for row in rows)
    return text.getvalue()


def unescaped(text: str) -> str:
    """Return the text from which `escaped` made this one."""
    return text[1:] if text.startswith("'") and _RUNS.match(text) else text
