"""Finds tables in HTML."""

from __future__ import annotations

import html.parser
import re
from typing import Any

from arcademark.scores.readers.sheets.grid import Grid
from arcademark.scores.readers.sheets.sheet import bare

_PARTS = ("td", "th", "tr", "tbody", "tfoot", "table")
_WITHIN = ("span", "div", "p", "small", "i", "b", "em", "strong", "a")
"""Elements of a cell that a page may hide, such as keys for sorting."""
_NOT_SHOWN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def html_grids(text: str) -> list[Grid]:
    """Return the tables of a page that have rows below their headers."""
    parser = _Tables()
    parser.feed(text)
    return [grid for grid in parser.found if len(grid.rows) > 1]


class _Tables(html.parser.HTMLParser):
    """Parser of a page's tables; cells that span columns or rows are repeated downwards only."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Grid] = []
        self._title, self._text = "", None  # type: tuple[str, list[str] | None]
        self._skipped, self._unseen = 0, list[str]()
        self._open: list[tuple[Grid, dict[int, tuple[int, str]]]] = []  # tables, within each other for a page's looks
        self._span = (1, 1)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(attrs)
        if tag in _PARTS:
            self._unseen = []
        if self._unseen:
            self._unseen += [tag] if tag == self._unseen[0] else []
        elif tag in _WITHIN and ("hidden" in given or _NOT_SHOWN.search(given.get("style") or "")):
            self._unseen = [tag]
        if tag in _PARTS and self._text is not None and self._open:
            self.handle_endtag("td")  # whose end may be left out
        if tag == "sup" and self._text is not None and re.search(r"(?:^|\D)10\s*$", "".join(self._text)):
            self._text.append("^")  # of a power, which is no footnote
        elif tag in ("script", "style", "sup", "sub"):
            self._skipped += 1
        elif tag == "table":
            self._text = None  # of a cell that is there for the looks of a page
            self.found.append(Grid(self._title, []))
            self._open.append((self.found[-1], {}))
        elif tag == "tr" and self._open:
            self._open[-1][0].rows.append((self.getpos()[0], []))
        elif tag in ("td", "th", "caption") or re.fullmatch("h[1-6]", tag):
            self._text = []
            sizes = [given.get(name) or "1" for name in ("colspan", "rowspan")]
            wide, high = (min(int(size), 1_000) if size.isdecimal() else 1 for size in sizes)
            self._span = (max(wide, 1), max(high, 1))
        elif tag == "br" and self._text is not None:
            self._text.append(" ")

    def handle_data(self, data: str) -> None:
        if self._text is not None and not self._skipped and not self._unseen:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._unseen[:1]:
            self._unseen.pop()
        if tag in ("script", "style", "sup", "sub"):
            self._skipped = max(0, self._skipped - 1)
        elif tag == "table":
            if self._text is not None and self._open:
                self.handle_endtag("td")
            self._open[-1:] = []
        elif tag in ("td", "th") and self._text is not None and self._open and self._open[-1][0].rows:
            grid, held = self._open[-1]
            cells = grid.rows[-1][1]
            _fill(cells, held)
            text = bare("".join(self._text))
            if self._span[1] > 1:
                held |= {len(cells) + at: (self._span[1] - 1, text) for at in range(self._span[0])}
            cells += [text, *[""] * (self._span[0] - 1)]
            _fill(cells, held)
            self._text = None
        elif (tag == "caption" or re.fullmatch("h[1-6]", tag)) and self._text is not None:
            self._title, self._text = bare("".join(self._text)), None
            if tag == "caption" and self.found:
                self.found[-1] = Grid(self._title, self.found[-1].rows)


def _fill(cells: list[str], held: dict[int, tuple[int, str]]) -> None:
    """Add cells that rows above reach down to."""
    while len(cells) in held:
        rows, text = held.pop(len(cells))
        if rows > 1:
            held[len(cells)] = (rows - 1, text)
        cells.append(text)
