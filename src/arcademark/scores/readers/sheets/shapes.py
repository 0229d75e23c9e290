"""Brings tables into one shape: a header of one row, one table, and a name in every row.

Conventions
-----------
* Names that are blank below a name repeat it, as merged cells and tables in print leave them.
* Two tables of one header beside each other stand below each other.
* A row of spreads alone, below the row of its scores, and one that repeats the header, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

import numpy as np

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.scores.readers.sheets.sheet import Sheet, bare, levels_of
from arcademark.scores.readers.words import numerals
from arcademark.scores.readers.words.column_names import DURATIONS, PATTERNS, ROWS, is_aside, parted, role_of, words_of
from arcademark.wording import plural

_HEADER_ROWS = 3
_RULE = re.compile(r"\s*[-=_]{2,}\s*")
_INDEX = ("game", "algorithm", "index", "seed", "run")
"""Roles of columns that an index may hold."""
MAX_TITLE = 1_000
"""Maximum number of characters of a title that are read."""
_NUMBER = re.compile(r"\s*(?:table|tab\.?|tabelle|tableau|tabla|表)\s*[\w.]*\d\w*\s*[:.)–—-]\s*", re.IGNORECASE)
"""A table's number in its title."""
_SHOWN = re.compile(
    r"(?:below|here|these|this|the (?:following )?table(?: below)?|the following)\s+"
    r"(?:is|are|shows?|lists?|gives?|contains?)\s+(?:the\s+)?",
    re.IGNORECASE,
)
"""Words of a sentence before what a table holds."""
_OTHERS = {"normalised": ROWS, "spread": ROWS, "rank": ROWS, "note": DURATIONS}
"""Words, by role, that say in a title that a table holds no scores."""
_NORMALISED = frozenset({"normalised", "normalized"})
"""Words that say with 'score' that a table's scores are normalised, whatever else its title says."""
_JOINED = frozenset({"raw", "of", "in", "one", "and", "or", "with", "without", "not", "non", "no", "un", "vs"})
"""Words of a title or a file's name with which others do not say what all its numbers are."""
_SPANS = frozenset({"time", "times", "hours", "minutes", "seconds", "memory"})
"""Words that may end the name of a file of scores, too: "scores_over_time", "results_200_minutes"."""
_NAMES = 2
"""Number of columns at the left that may hold names."""


def shaped(sheet: Sheet) -> Sheet:
    """Return a sheet of text in the one shape in which roles are identified."""
    return _filled_down(_without_spreads(_without_headers(_below_each_other(_with_one_header(_with_levels(sheet))))))


def _with_levels(sheet: Sheet) -> Sheet:
    """Give each level of an index a column of its own, where the first holds tuples as pandas prints them."""
    cells = _texts(sheet)[0]
    number = len(levels_of(cells[0])) if cells else 1
    levels = [levels_of(cell) for cell in cells] if number > 1 else []
    if number == 1 or any(len(row) != number for row in levels):
        return sheet
    columns = (*map(list, zip(*levels, strict=True)), *sheet.columns[1:])
    return replace(sheet, header=(*[""] * number, *sheet.header[1:]), columns=columns)


def check_title(place: str, title: str) -> None:
    """Refuse a table whose title says that its scores are in thousands, normalised, or no scores but their spreads."""
    title = title[:MAX_TITLE].lstrip("#%/* ")
    what = re.split(
        r"[:.,]?\s+(?:of|on|for|in|over|across|per|by|after|at|with|from)\b|[:.]\s*$",
        _SHOWN.sub("", _NUMBER.sub("", title)),
    )[0]
    role, words = role_of(what.strip()), {*words_of(what)}
    normalised = words & _NORMALISED and any(role_of(word) == "score" for word in words) and not words & _JOINED
    if PATTERNS["in_thousands"].fullmatch(title) or words & _OTHERS.get(role or "", frozenset()) or normalised:
        raise ArcadeMarkError(
            f"{place}: the title says {one_line(title, 100)!r}; give the games' own points, or correct the title"
        )


def check_name(sheet: Sheet) -> None:
    """Refuse a file whose name ends in what is no score, "atari_hns.csv", unless a column is named so or a score."""
    name = sheet.path.name.split(".")[0]
    written = sheet.header if sheet.separator else ()  # objects in objects have a 'score' that no file says
    for before, what in (("", name), *((before, behind) for before, behind, last in parted(name) if last)):
        role, words = role_of(what), {*words_of(what)}
        none = role != "spread" and words & _OTHERS.get(role or "", frozenset()) - (_SPANS if before else set())
        beside = any(role_of(word) in (role, "score") for head in written for word in (head, *words_of(head)))
        if none and not beside and not _JOINED & {*words_of(before)[-1:], *words}:
            raise ArcadeMarkError(
                f"{sheet.path}: the file's name says {what!r}; give the games' own points, or rename a file of these"
            )


def _texts(sheet: Sheet) -> list[Sequence[str]]:
    return [cells for cells in sheet.columns if not isinstance(cells, np.ndarray)]


def _with_one_header(sheet: Sheet) -> Sheet:
    """Join the rows of a header, "DQN mean" of "DQN" above "mean", and drop a title above it."""
    header, taken = list(sheet.header), 0
    columns = [column[:_HEADER_ROWS] for column in _texts(sheet)]
    while taken < min(_HEADER_ROWS, sheet.size - 1):
        below = [column[taken].strip() for column in columns]
        filled = [name for name in header if name]
        named = [name.lower() for name in header[1:]]
        first, rest = below[0], list(filter(None, below[1:]))
        index = list(takewhile(lambda name: role_of(name) in _INDEX and name, below))
        if len(filled) == 1 and header[0] and len(header) > 2 and (len(rest) > 1 or (first and not rest)):
            check_title(str(sheet.path), header[0])
            header = below  # below a title, or the first line of one
        elif (first and len(index) == len(rest) + 1) and (
            len(index) > 1 or not header[0] or taken or role_of(header[0]) in ("game", "algorithm")
        ):
            header[: len(index)] = index  # the names of an index
        elif "" not in named and len(set(named)) == len(named):
            break
        elif (
            rest and all(cell.isdecimal() for cell in rest) and role_of(first) in ("seed", "run", "index", "algorithm")
        ):
            corner, noun = (first, "seed") if role_of(first) == "algorithm" else ("", first or "seed")
            header = [corner or header[0], *_joined(header[1:], [cell and f"{noun} {cell}" for cell in below[1:]])]
        elif rest and (
            not any(re.fullmatch(r"[-+]?\d.*", cell) for cell in rest)
            or (role_of(first) in ("game", "algorithm") and all(map(PATTERNS["parts"].fullmatch, rest)))
        ):
            header = _joined(header, below)
        else:
            break
        taken += 1
    if not taken:
        return sheet
    left = tuple(column[taken:] for column in sheet.columns)
    line: Callable[[int], int] = sheet.line
    return replace(
        sheet,
        header=tuple(map(bare, header)),
        columns=left,
        size=sheet.size - taken,
        line=lambda row: line(row + taken),
    )


def _joined(above: Sequence[str], below: Sequence[str]) -> list[str]:
    """Join two rows of a header; a blank in the upper one continues the name before it."""
    result, last = [], ""
    for name, under in zip(above, below, strict=True):
        last = name or last
        result.append(f"{last} {under}".strip() if under and under != last else name or under)
    return result


def _below_each_other(sheet: Sheet) -> Sheet:
    """Put tables that stand beside each other, "Game, DQN, Game, DQN", below each other; refuse other headers."""
    names, columns = sheet.lowered, _texts(sheet)
    named = role_of(names[0]) in ("game", "algorithm")
    kept = [at for at, name in enumerate(names) if name or at == 0 or any(map(str.strip, columns[at]))]
    starts = [place for place, at in enumerate(kept) if _again(names[0], names[at])]
    if not (named or not names[0]) or len(starts) == 1:
        return sheet
    first, *others = (kept[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True))
    alike = all(
        len(block) == len(first) and all(_again(names[a], names[b]) for a, b in zip(first, block, strict=True))
        for block in others
    )
    if not alike and not named:
        return sheet
    if not alike and all(columns[block[0]] == columns[0] for block in others):  # names repeated for the reader's eye
        kept = [at for at in kept if at not in {block[0] for block in others}]
        return replace(sheet, header=tuple(sheet.header[at] for at in kept), columns=tuple(columns[at] for at in kept))
    if not alike:
        raise ArcadeMarkError(
            f"{sheet.path}, row 1: tables of other columns stand beside each other, and each begins with "
            f"{sheet.header[0]!r}; write each in a file or sheet of its own"
        )
    blocks, line = [first, *others], sheet.line
    rows = [
        (row, block) for block in blocks for row in range(sheet.size) if any(columns[at][row].strip() for at in block)
    ]
    return replace(
        sheet,
        header=tuple(sheet.header[at] for at in first),
        columns=tuple([columns[block[place]][row] for row, block in rows] for place in range(len(first))),
        size=len(rows),
        line=lambda row: line(rows[row][0]),
        notes=(*sheet.notes, f"{plural(len(blocks), 'table')} of one header beside each other are read as one"),
    )


def together(sheets: Sequence[Sheet]) -> Sheet | None:
    """Return parts of one table, of one header and with other names in each, as one; None if they are no such."""
    first = sheets[0]
    names = [{name for name in map(bare, _texts(sheet)[0]) if name and not is_aside(name)} for sheet in sheets]
    if any(sheet.lowered != first.lowered for sheet in sheets) or len(set().union(*names)) < sum(map(len, names)):
        return None
    lines = [sheet.line(row) for sheet in sheets for row in range(sheet.size)]
    columns = tuple([cell for part in parts for cell in part] for parts in zip(*map(_texts, sheets), strict=True))
    note = f"{plural(len(sheets), 'table')} of one header are read as one"
    notes = dict.fromkeys((*(note for sheet in sheets for note in sheet.notes), note))
    return replace(first, columns=columns, size=len(lines), line=lambda row: lines[row], notes=(*notes,))


def _again(name: str, later: str) -> bool:
    """Return whether a column's name is another's, or what pandas makes of it where that is taken: ``DQN.1``."""
    return name == later or (later.startswith(f"{name}.") and later[len(name) + 1 :].isdecimal())


def _without_headers(sheet: Sheet) -> Sheet:
    """Leave out rows that repeat the header, as where files were joined or a table goes on, and rules of dashes."""
    columns, name = _texts(sheet), sheet.header[0]
    alike = {cell for cell in set(columns[0]) if (name and bare(cell) == name) or _RULE.fullmatch(cell)}
    rows = [row for row, cell in enumerate(columns[0]) if cell in alike] if alike else []
    again = {
        row
        for row in rows
        if tuple(bare(cells[row]) for cells in columns) == sheet.header
        or all(_RULE.fullmatch(cells[row]) for cells in columns)
    }
    return sheet.only(np.array([row not in again for row in range(sheet.size)])) if again else sheet


def _without_spreads(sheet: Sheet) -> Sheet:
    """Leave out rows of spreads, ``± 0.3`` or ``(0.3)``, that repeat the names above them or have none."""
    some = [cells for cells in _texts(sheet) if numerals.any_spread(cells)]
    rows = {row for cells in some for row, cell in enumerate(cells) if row and numerals.is_spread(cell)}
    gone = {row for row in rows if _of_spreads(sheet, row)}
    if not gone:
        return sheet
    kept = np.array([row not in gone for row in range(sheet.size)])
    note = f"{plural(len(gone), 'row')} of spreads left out of the scores: intervals come from the runs"
    return replace(sheet.only(kept), notes=(*sheet.notes, note))


def _of_spreads(sheet: Sheet, row: int) -> bool:
    """Return whether a row holds spreads of the row above, and nothing else but its names."""
    cells = [(cells[row].strip(), cells[row - 1].strip()) for cells in _texts(sheet)]
    first = next(at for at, (cell, _) in enumerate(cells) if numerals.is_spread(cell))
    return (
        first > 0
        and all(cell in ("", above) for cell, above in cells[:first])
        and all(
            (numerals.is_spread(cell) and numerals.is_number(above)) or numerals.is_missing(cell)
            for cell, above in cells[first:]
        )
    )


def _filled_down(sheet: Sheet) -> Sheet:
    """Repeat names that are blank in a row with other cells: that of the first column, and with it of the second.

    Where a name stands in two rows below each other, a blank is a missing one.
    """
    columns = _texts(sheet)
    if all(map(str.strip, columns[0])):
        return sheet
    rows = [row for row, cell in enumerate(columns[0]) if row and not cell.strip()]
    filled_rows = 0
    for at in range(min(_NAMES, len(columns) - 1)):
        cells, after = list(columns[at]), columns[at + 1 :]
        rows = [row for row in rows if not cells[row].strip() and any(others[row].strip() for others in after)]
        again = any(cell.strip() and cell == other for cell, other in pairwise(cells))
        of_names = role_of(sheet.header[at]) in ("game", "algorithm", "run", "seed")
        for row in () if again else rows:
            if of_names or not numerals.is_number(cells[row - 1]):
                cells[row] = cells[row - 1]
                filled_rows += at == 0
        columns[at] = cells
    note = f"names that are blank in {plural(filled_rows, 'row')} are those above them"
    return replace(sheet, columns=tuple(columns), notes=(*sheet.notes, note) if filled_rows else sheet.notes)
