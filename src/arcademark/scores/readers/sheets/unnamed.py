"""Names columns that a file leaves unnamed: of games with their scores in one cell, and of rows without a header.

Conventions
-----------
* ``Alien (2390)`` and ``Pong: 20.3``, as a cell, or as an item of a list, are a game and its score.
* Without a header, a column of games, one of numbers and, at most, one of words are games, scores and algorithms.
* d3rlpy writes epoch, step and value; the file's name is that of the series.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.scores.readers.base import OPTION, UnrecognisedError
from arcademark.scores.readers.sheets.columns_of_text import SAMPLED
from arcademark.scores.readers.sheets.grid import Grid
from arcademark.scores.readers.sheets.sheet import Sheet
from arcademark.scores.readers.words import numerals
from arcademark.scores.readers.words.column_names import role_of
from arcademark.scores.readers.words.log_names import LOGS

MAX_LIST_CHARACTERS = 2**20
"""Maximum number of characters of a text that is searched for lists."""
MAX_PAIRS_CHARACTERS = 5_000
"""Maximum number of characters of a cell, or an item of a list, with games and scores."""

_PAIR = re.compile(
    r"\W{0,4}(\w.{0,80}?)[ *_`]{0,6}"
    r"(?:(?:[:=→]|->| [-–—] )[ *_`]{0,6}([^ :=].{0,100})|[(\[] ?([^()\[\]]{1,100}?) ?[)\]])"
)
_BETWEEN = re.compile(r" ?; ?|,(?!\d) ?|(?<=[)\]]) (?=\w)")
"""Separators of several games with their scores."""
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?=\S)")
_FEWEST = 2
"""Minimum number of games of a list."""
_WIDEST = 3
"""Maximum number of columns of a table without a header."""
_FACTS = ("index", "seed", "run", "frames", "count", "note")
"""Roles of columns of numbers beside games with their scores."""

IsGame = Callable[[str], bool]


def with_names(sheet: Sheet, tag: str | None, is_game: IsGame) -> Sheet:
    """Return a sheet whose columns have names, where its cells can be read in one way only; else the sheet itself."""
    if any(isinstance(cells, np.ndarray) for cells in sheet.columns):
        return sheet
    return _with_header(_with_pairs(sheet, is_game), tag, is_game)


def _with_pairs(sheet: Sheet, is_game: IsGame) -> Sheet:
    """Return a sheet with a row for each score that stands behind its game in one cell.

    Names above several such columns are algorithms. Beside other columns that may be scores, and where the numbers
    count the games, the sheet is left as it is.
    """
    headless = any(sheet.header) and all(not name or pairs_in(name, is_game) for name in sheet.header)
    columns = [[*[name] * headless, *cells] for name, cells in zip(sheet.header, sheet.columns, strict=True)]
    header = [""] * len(columns) if headless else sheet.header
    pairs_of = {at: found for at, cells in enumerate(columns) if any(found := _cells(cells, is_game))}
    beside = [at for at in range(len(columns)) if at not in pairs_of]
    roles = list(map(role_of, header))
    scores = [score for found in pairs_of.values() for pairs in found for _, score in pairs]
    rivals = (cell for at in beside if roles[at] not in _FACTS for cell in columns[at])
    counted = len(scores) > 1 and scores == [str(number) for number in range(1, len(scores) + 1)]
    if not pairs_of or counted or "game" in (roles[at] for at in beside) or any(map(numerals.is_number, rivals)):
        return sheet
    for at, found in pairs_of.items():
        wrong = next(
            (row for row, cell in enumerate(columns[at]) if not (found[row] or numerals.is_missing(cell))), None
        )
        if wrong is not None:
            raise ArcadeMarkError(
                f"{sheet.path}, row {_line(sheet, wrong, headless)}: {one_line(columns[at][wrong], 60)!r} is no game "
                "with its score, as other cells are; write it as 'Pong: 20.3', or remove it"
            )
    heads = [header[at] for at in pairs_of if roles[at] not in ("game", "score", "index", "algorithm")]
    if heads and (len(heads) < len(pairs_of) or any(map(role_of, heads)) or "algorithm" in roles):
        raise ArcadeMarkError(
            f"{sheet.path}, row 1: column {heads[0]!r} holds games with numbers, and nothing says that these are "
            "scores; name it 'score' if they are"
        )
    rows = [
        (row, [*(columns[one][row] for one in beside), *([header[at]] if heads else []), game, score])
        for row in range(len(columns[0]))
        for at, found in pairs_of.items()
        for game, score in found[row]
    ]
    return replace(
        sheet,
        header=(*(header[at] for at in beside), *(["algorithm"] if heads else []), "game", "score"),
        columns=tuple(map(list, zip(*(cells for _, cells in rows), strict=True))),
        size=len(rows),
        line=lambda at: _line(sheet, rows[at][0], headless),
    )


def _line(sheet: Sheet, row: int, headless: bool) -> int:
    """Return where the file has a row; that of a header which is none is above the first."""
    return sheet.line(row - headless) if row >= headless else sheet.line(0) - 1


def _cells(cells: Sequence[str], is_game: IsGame) -> list[list[tuple[str, str]]]:
    """Return the games and scores in each cell of a column, if at least half of the cells hold such."""
    if not any(pairs_in(cell, is_game) for cell in cells[:SAMPLED]):
        return []
    found = [pairs_in(cell, is_game) for cell in cells]
    return found if 2 * sum(map(bool, found)) >= len(cells) - sum(map(numerals.is_missing, cells)) else []


def pairs_in(text: str, is_game: IsGame) -> list[tuple[str, str]]:
    """Return the games in a text and their scores as written; none if it holds anything else."""
    if len(text) > MAX_PAIRS_CHARACTERS:
        return []
    found = [_PAIR.fullmatch(part) for part in _BETWEEN.split(" ".join(text.split()))]
    pairs = [(one[1].strip("*_` "), one[2] or one[3]) for one in found if one]
    whole = len(pairs) == len(found) and all(numerals.is_number(score) and is_game(name) for name, score in pairs)
    return pairs if whole else []


def lists_in(text: str, is_game: IsGame) -> Iterator[Grid]:
    """Yield the lists of games with their scores in a text: items with bullets, or lines below each other."""
    lines = text.splitlines() if len(text) <= MAX_LIST_CHARACTERS else []
    items: list[tuple[int, str]] = []
    heading, bullets, gap = "", False, False
    for number, line in enumerate([*lines, "#"], 1):
        bullet, content = _BULLET.match(line), line.strip()
        item = line[bullet.end() :].strip() if bullet else content
        goes_on = bool(bullet) == bullets and (bullet or not gap or pairs_in(item, is_game))
        ends = content.startswith("#") or content.endswith(":") or not (goes_on or (bullets and not gap))
        if items and content and ends:
            yield from _list(heading, items, is_game)
            items = []
        if not content:
            gap = True
            continue
        if items and not bullet and bullets:  # an item's second line
            if len(items[-1][1]) <= MAX_PAIRS_CHARACTERS:
                items[-1] = items[-1][0], f"{items[-1][1]} {content}"
        elif items or bullet or pairs_in(item, is_game):
            bullets = bool(bullet) if not items else bullets
            items.append((number, item))
        else:
            heading = content.strip("#*_:=~- ") or heading
        gap = False


def _list(heading: str, items: Sequence[tuple[int, str]], is_game: IsGame) -> Iterator[Grid]:
    number = sum(bool(pairs_in(item, is_game)) for _, item in items)
    if number >= _FEWEST and 2 * number >= len(items):
        yield Grid(heading, [(items[0][0] - 1, ["score"]), *((line, [item]) for line, item in items)])


def _with_header(sheet: Sheet, tag: str | None, is_game: IsGame) -> Sheet:
    """Return a sheet with a header where its first row is one of scores, and each column can be of one kind only."""
    if len(sheet.header) > _WIDEST or not any(map(numerals.is_number, sheet.header)):
        return sheet
    columns = [[name, *cells] for name, cells in zip(sheet.header, sheet.columns, strict=True)]
    numbers = [all(map(numerals.is_number, cells)) for cells in columns]
    games = [all(map(is_game, cells)) for cells in columns]
    if numbers == [True] * 3 and _counts(columns[0]) and _rises(columns[1]):
        header = ["epoch", "step", _series(sheet, tag)]
    elif games.count(True) == numbers.count(True) == 1 and sheet.size:
        words = [cells for cells, number, game in zip(columns, numbers, games, strict=True) if not (number or game)]
        if _counts(columns[numbers.index(True)]) or any(len(set(cells)) == 1 or "" in cells for cells in words):
            return sheet
        kinds = zip(numbers, games, strict=True)
        header = ["score" if number else "game" if game else "algorithm" for number, game in kinds]
    else:
        return sheet
    return replace(
        sheet,
        header=tuple(header),
        columns=tuple(columns),
        size=sheet.size + 1,
        line=lambda row: _line(sheet, row, True),
        notes=(*sheet.notes, f"the first row is no header: the columns are {', '.join(header)}"),
    )


def _counts(cells: Sequence[str]) -> bool:
    """Return whether cells count from 0 or 1."""
    return any(list(cells) == [str(row + first) for row in range(len(cells))] for first in (0, 1))


def _rises(cells: Sequence[str]) -> bool:
    """Return whether cells hold whole numbers that rise throughout."""
    return all(map(str.isdecimal, cells)) and all(int(a) < int(b) for a, b in pairwise(cells))


def _series(sheet: Sheet, tag: str | None) -> str:
    """Return the series of a file of d3rlpy, which its name says; refuse one that is not known to be scores."""
    name = sheet.path.name.split(".csv")[0]
    if name != tag and name not in LOGS["series"]:
        raise UnrecognisedError(
            f"{sheet.path}: the rows hold numbers without a header, as d3rlpy writes epoch, step and {name!r}, which "
            f"is not known to be scores; leave it out, say that it is with {OPTION['tag']}, or add a header"
        )
    return name
