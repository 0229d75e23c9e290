"""The presenter, which makes a document of blocks from an analysis and its template, for every renderer.

A template of ``templates/documents`` is text with jinja2's commands. An interpolated value stays one piece of text,
which is never read as structure or broken into lines. Lines are read as follows:

* The first lines may be ``# title``, ``> lead`` and ``% kind`` of the document; the kind is above the title.
* ``## title`` begins a section, ``### title`` one within it; ``{detail}`` and ``{folded}`` after it are as in
  `Section`. A section without content is left out.
* ``- name :: value`` is a fact; consecutive facts are one block.
* ``! text`` is a warning and ``* text`` a note, up to an empty line.
* A line that consists of a block, such as ``{{ table(rows) }}`` or ``{{ block(figure) }}``, is that block.
* Text between lines of ``~~~`` is code.
* Other lines are prose, a paragraph up to an empty line; ``{weak}`` before it is its style.

``{{ table(rows, columns.runs.listed(it)) }}`` shows rows by columns of a module of `arcademark.pages.columns`, and
``{{ block(special.name(it)) }}`` a block from a function of `arcademark.pages.special`. The analysis is ``it``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import compress, groupby, pairwise
from types import ModuleType
from typing import Any, get_args

from markupsafe import Markup

from arcademark import wording
from arcademark.analysis.document import Level, Notice
from arcademark.pages.columns import AnyColumn, AnyColumns, Style
from arcademark.pages.render.blocks import (
    Block,
    Cell,
    Code,
    Document,
    Facts,
    Figure,
    Notices,
    Prose,
    References,
    Table,
    section,
)
from arcademark.wording.prose import Pieces, rendered

_STYLED = re.compile(rf"\{{({'|'.join(get_args(Style)).lstrip('|')})\}}\s*")
_OF_CARDS = 3
"""Number of columns that each card has: a title, a large number, and its basis."""
_FLAG = re.compile(r"\s*\{(detail|folded)\}")


def document(analysis: Any, template: str = "", /, **values: Any) -> Document:
    """Make the document of an analysis.

    Parameters
    ----------
    analysis : object
        The analysis, ``it`` in the template.
    template : str, optional
        Name of a file of ``templates/documents``, without its ending; by default that in its ``SCHEMA``: "status" in
        "arcademark.status/1".
    **values : object
        Further variables of the template.
    """
    template = template or analysis.SCHEMA.partition(".")[2].partition("/")[0]
    pieces = _Pieces()
    given = {
        "it": analysis,
        "columns": _Columns(),
        "special": _Special(),
        "block": pieces.block,
        "table": pieces.table,
        "notices": lambda items: pieces.block(Notices(tuple(items)) if items else None),
        "references": lambda items: pieces.block(References(tuple(items)) if items else None),
    }
    lines = rendered("arcademark.pages", f"documents/{template}", pieces, **(values | given)).splitlines()
    return _document(lines, pieces, template)


def tabulated(rows: Iterable[Any], columns: AnyColumns, *, names: int = 1, **how: Any) -> Table | None:
    """Make a table of rows; None without rows.

    A row is one argument of the columns' functions, or a tuple of several. The first ``names`` columns are names;
    ``how`` contains fields of `Table`. Other columns that are empty in all rows are left out.
    """
    entries = [row if isinstance(row, tuple) else (row,) for row in rows]
    if not entries:
        return None
    wanted = [column for column in columns if column is not None]
    kept = tuple(
        replace(column, kind="name") if place < names and column.kind == "number" else column
        for place, column in enumerate(wanted)
    )
    rows_of = [tuple(_cell(column, row) for column in kept) for row in entries]
    first = max(names, _OF_CARDS if how.get("cards") else 0)
    full = [place < first or any(map(_shows, cells)) for place, cells in enumerate(zip(*rows_of, strict=True))]
    return Table(tuple(compress(kept, full)), tuple(tuple(compress(row, full)) for row in rows_of), **how)


def _shows(cell: Cell) -> bool:
    return bool(cell.below) or cell.text.strip() not in ("", wording.MISSING)


def _cell(column: AnyColumn, row: tuple[Any, ...]) -> Cell:
    order = (column.sort or column.value)(*row)
    return Cell(
        column.text(*row),
        column.style(*row) if callable(column.style) else column.style,
        str(column.below(*row) or "") if column.below is not None else "",
        float(order) if isinstance(order, int | float) and not isinstance(order, bool) else None,
    )


class _Columns:
    """The modules of `arcademark.pages.columns` by name, each imported when a template first uses it."""

    def __getattr__(self, name: str) -> ModuleType:
        return import_module(f"arcademark.pages.columns.{name}")


class _Special:
    """The functions of `arcademark.pages.special`, which is imported when a template first uses one."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("arcademark.pages.special"), name)


class _Pieces(Pieces):
    """Pieces of which some are blocks."""

    def block(self, block: Block | None) -> str:
        """Return the token of a block, with tokens in its caption replaced; "" for None."""
        if isinstance(block, Table | Figure):
            block = replace(block, caption=" ".join(self.filled(block.caption).split("\n")).strip())
        return Markup("" if block is None else self.keep(block))

    def table(self, rows: Iterable[Any], columns: AnyColumns, **how: Any) -> str:
        """Return the token of a table, as `tabulated` makes it."""
        return self.block(tabulated(rows, columns, **how))

    def blocks(self, line: str) -> list[Block]:
        """Return the blocks that a line consists of; none if it contains any text."""
        pieces = [self[int(number)] for number in self.token.findall(line)]
        return [] if self.token.sub("", line).strip() or any(isinstance(piece, str) for piece in pieces) else pieces


def _document(lines: Sequence[str], pieces: _Pieces, kind: str) -> Document:
    heads = {"#": "", ">": "", "%": kind}
    body = list(lines)
    while body and (not body[0] or body[0][:2].rstrip() in heads):
        mark, _, words = body.pop(0).partition(" ")
        heads[mark] = pieces.filled(words.strip())
    whole = section("", *_sections(body, pieces, 2))
    return Document(heads["#"], heads["%"], heads[">"], whole.blocks)


def _sections(lines: Sequence[str], pieces: _Pieces, level: int) -> Iterator[Block]:
    """Yield the blocks before the first heading of a level, then its sections."""
    mark = "#" * level
    starts = [place for place, line in enumerate(lines) if line == mark or line.startswith(f"{mark} ")]
    yield from _blocks(lines[: starts[0] if starts else len(lines)], pieces)
    for start, end in pairwise([*starts, len(lines)]):
        title = lines[start].removeprefix(mark)
        flags = dict.fromkeys(_FLAG.findall(title), True)
        inner = _sections(lines[start + 1 : end], pieces, level + 1)
        whole = section(pieces.filled(_FLAG.sub("", title).strip()), *inner, **flags)
        if whole.blocks:
            yield whole


def _blocks(lines: Sequence[str], pieces: _Pieces) -> Iterator[Block]:
    """Yield the blocks of lines without headings; neighbouring facts are one, and so are notices."""
    for kind, items in groupby(_items(lines, pieces), key=lambda item: "*" if item[0] == "!" else item[0]):
        if kind == "-":
            pairs = (words.partition(" :: ") for _, words in items)
            yield Facts(tuple((pieces.filled(name), pieces.filled(value)) for name, _, value in pairs))
        elif kind == "*":
            levels: dict[str, Level] = {"*": "note", "!": "warning"}
            yield Notices(tuple(Notice("", levels[mark], pieces.filled(words)) for mark, words in items))
        else:
            for _, words in items:
                if kind == "block":
                    yield from pieces.blocks(words)
                else:
                    yield Code(pieces.filled(words)) if kind == "~~~" else _prose(words, pieces)


def _items(lines: Sequence[str], pieces: _Pieces) -> Iterator[tuple[str, str]]:
    """Yield marks, each with its text, which ends before an empty line, a block or the next mark; prose has none."""
    mark, words = "", list[str]()
    for line in (*lines, ""):
        if mark == "~~~" and line != "~~~":
            words.append(line)
        elif line.strip() and not pieces.blocks(line) and line != "~~~" and line[:2] not in ("- ", "* ", "! "):
            words.append(line.strip())
        else:
            if words:
                yield mark, ("\n" if mark == "~~~" else " ").join(words)
            if pieces.blocks(line):
                yield "block", line
            marked = line[:2] in ("- ", "* ", "! ")
            mark = line[0] if marked else "~~~" if line == "~~~" and mark != "~~~" else ""
            words = [line[2:]] if marked else []


def _prose(words: str, pieces: _Pieces) -> Prose:
    styled = _STYLED.match(words)
    text = words[styled.end() :] if styled else words
    return Prose(pieces.filled(text), styled[1] if styled else "")  # type: ignore[arg-type]
