"""Reads text in columns separated by blanks, as programs print tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from arcademark.scores.readers.sheets.grid import Grid, sheet_of
from arcademark.scores.readers.sheets.sheet import Sheet, bare, checked
from arcademark.scores.readers.words import numerals
from arcademark.scores.readers.words.column_names import role_of

COMMENTS = ("#", "//", "%")
"""Marks with which comments begin."""
SAMPLED = 10
"""Number of the first lines that show how cells are separated."""
_BEHIND = re.compile(r"\s*(?:±|\+/-)\s*|(?<=\d) [(\[][±\d.,;\s−–-]+[)\]]")
"""Spreads behind numbers, in text whose columns are separated by blanks."""


def header_in_columns(lines: Sequence[str]) -> int | None:
    """Return the line of a header separated by blanks, "Game DQN PPO" above "Bank Heist 455.0 1,358.0"."""
    for at, line in enumerate(lines[:-1]):
        words, below = line.split(), next(filter(None, map(str.split, lines[at + 1 :])), [])
        named = len(words) > 1 and role_of(words[0]) in ("game", "algorithm") and not set(line) & set(",\t;|")
        if named and len(below) > 1 and numerals.is_number(below[-1]):
            return at
    return None


def parse_columns(path: Path, text: str, skip: int) -> Sheet:
    """Parse columns separated by at least two blanks, or else by any; the name of an index may be missing."""
    lines = [(at, line) for at, line in enumerate(text.splitlines(), 1) if at > skip and line.strip()]
    lines = lines[header_in_columns([line for _, line in lines[:SAMPLED]]) or 0 :]  # below a title
    lines = lines[:1] + [(at, line) for at, line in lines[1:] if not line.startswith(COMMENTS)]
    above = text.splitlines()[skip - 1].lstrip("#/% ") if skip else ""
    for gap in (r"\s{2,}|\t", r"\s+"):
        rows = [
            (at, _split_at(gap, _BEHIND.sub(lambda found: "".join(found[0].split()), line.strip())))
            for at, line in lines
        ]
        if len(rows) > 2 and len(rows[1][1]) == 1 < len(rows[2][1]) and role_of(rows[1][1][0]) in ("game", "algorithm"):
            named = rows.pop(1)[1]  # as pandas prints the name of an index
            rows[0][1][:1] = named if len(rows[0][1]) == len(rows[1][1]) else [*named, rows[0][1][0]]
        if gap == r"\s+" and role_of(rows[0][1][0]) in ("game", "algorithm"):
            rows[1:] = [(at, _joined(cells, len(rows[0][1]))) for at, cells in rows[1:]]
        widths = Counter(len(cells) for _, cells in rows[1:])
        width = max(widths, default=0)
        if above and len(re.split(gap, above)) == width > 1:
            rows.insert(0, (skip, re.split(gap, above)))
        if width > 1 and len(widths) == 1 and len(rows[0][1]) in (width - 1, width):
            rows[0][1][:0] = [""] * (width - len(rows[0][1]))
            return sheet_of(path, Grid("", rows))
    return checked(
        Sheet(path, (bare(lines[0][1]),), ([line for _, line in lines[1:]],), len(lines) - 1, lambda row: row + 2), 1
    )


def _split_at(gap: str, line: str) -> list[str]:
    """Split a line at blanks, but not within quotes, as R writes names."""
    if '"' not in line:
        return re.split(gap, line)
    return [quoted or word for quoted, word in re.findall(r'"([^"]*)"|([^\s"]+)', line)]


def _joined(cells: list[str], width: int) -> list[str]:
    """Join the words of a name before the last numbers of a row: Bank Heist 455.0 1,358.0."""
    name, numbers = cells[: 1 - width], cells[1 - width :]
    whole = name and not numerals.is_number(name[-1])
    whole = whole and all(numerals.is_number(cell) or numerals.is_missing(cell) for cell in numbers)
    return [" ".join(name), *numbers] if whole else cells
