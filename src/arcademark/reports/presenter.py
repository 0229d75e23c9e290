"""The one presenter: from an analysis and its template to a document of blocks, which every renderer shows.

A template of ``templates/documents`` is text with jinja2's commands. What is interpolated stays one piece of text: no
value, whoever wrote it, is read as structure or broken into lines. Lines are read as follows:

* The first lines may be ``# title``, ``> lead`` and ``% kind`` of the document; the kind stands above the title.
* ``## title`` begins a section, ``### title`` one within it; ``{detail}`` and ``{folded}`` after it are
  as in `Section`. A section without content is left out.
* ``- name :: value`` is a fact; facts below each other are one block.
* ``! text`` is a warning and ``* text`` a note, up to an empty line.
* A line by itself that is a block, as ``{{ table(rows) }}`` and ``{{ block(figure) }}`` make them, is that block.
* Between lines of ``~~~`` stands text to copy.
* Other lines are prose, a paragraph up to an empty line; ``{weak}`` before it is its style.

``{{ table(rows) }}`` shows rows by the ``COLUMNS`` of their class, or by ``columns=``.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from functools import cache
from itertools import groupby, pairwise
from typing import Any, cast, get_args

import jinja2

from arcademark.reports import blocks, wording
from arcademark.reports.blocks import Block, Cell, Code, Document, Facts, Later, Notices, Prose, Table, section
from arcademark.reports.columns import Column, Style, plain
from arcademark.reports.document import Level, Notice

_STYLED = re.compile(rf"\{{({'|'.join(get_args(Style)).lstrip('|')})\}}\s*")
_FLAG = re.compile(r"\s*\{(detail|folded)\}")


def document(analysis: Any, template: str = "", /, **values: Any) -> Document:
    """Make the document of an analysis.

    Parameters
    ----------
    analysis : object
        Its attributes are variables of the template; it is itself ``it``.
    template : str, optional
        Name of a file of ``templates/documents``, without its ending; by default that of its ``SCHEMA``, so "status" of
        "arcademark.status/1".
    **values : object
        More variables.
    """
    template = template or analysis.SCHEMA.partition(".")[2].partition("/")[0]
    pieces = _Pieces()
    fields = {name: getattr(analysis, name) for name in dir(analysis) if not name.startswith("_")}
    makers = {
        "it": analysis,
        "block": pieces.block,
        "table": lambda *rows, **how: pieces.block(tabulated(*rows, **how)),
        "notices": lambda items: pieces.block(Notices(tuple(items)) if items else None),
    }
    token = _PIECES.set(pieces)
    try:
        lines = _template(f"documents/{template}").render(fields | values | makers).splitlines()
    finally:
        _PIECES.reset(token)
    return _document(lines, pieces, template)


def text(template: str, name: str, /, **values: Any) -> str:
    """Return the sentences that a macro of ``templates/prose/TEMPLATE`` makes, on one line."""
    return " ".join(str(getattr(_template(f"prose/{template}").module, name)(**values)).split())


def paragraphs(template: str, /, **values: Any) -> tuple[str, ...]:
    """Return the paragraphs of ``templates/prose/TEMPLATE``, which empty lines part, each on one line."""
    parts = re.split(r"\n\s*\n", _template(f"prose/{template}").render(values))
    return tuple(" ".join(part.split()) for part in parts if part.strip())


def tabulated(
    rows: Iterable[Any],
    columns: Sequence[Column | None] | None = None,
    *,
    names: int = 1,
    caption: str = "",
    grouped: bool = False,
    sortable: bool = False,
    most: int | None = None,
) -> Table | None:
    """Make a table of rows, by the ``COLUMNS`` of their class unless others are given; None without rows."""
    entries = list(rows)
    if not entries:
        return None
    kept = [column for column in columns or type(entries[0]).COLUMNS if column is not None]
    kinds = [column.kind or ("name" if place < names else "number") for place, column in enumerate(kept)]
    return Table(
        tuple(
            blocks.Column(item.heading, kind, item.meaning, item.optional, item.over)
            for item, kind in zip(kept, kinds, strict=True)
        ),
        tuple(tuple(_cell(column, row) for column in kept) for row in entries),
        caption,
        grouped,
        sortable,
        most,
    )


def _cell(column: Column, row: Any) -> Cell:
    order = column.of(row, column.sort)
    return Cell(
        column.text(row),
        cast(Style, column.style(row)) if callable(column.style) else column.style,
        column.below(row) if column.below else "",
        float(order) if isinstance(order, int | float) and not isinstance(order, bool) else None,
    )


class _Pieces(list[Any]):
    """What a template interpolates: texts, and blocks; in the text that is read, tokens stand for them.

    No text can hold a token that it was not given: each document's are its own.
    """

    def __init__(self) -> None:
        self._mark = f"\ue000{secrets.token_hex(8)}"
        self.token = re.compile(f"{self._mark}(\\d+)\ue001")

    def keep(self, piece: Any) -> str:
        """Return the token of a piece."""
        self.append(piece)
        return f"{self._mark}{len(self) - 1}\ue001"

    def block(self, shown: Block | Later | None) -> str:
        """Return the token of a block; nothing where there is none."""
        return "" if shown is None else self.keep(shown)

    def filled(self, text: str) -> str:
        """Put texts in the places of their tokens, and in those of tokens within them."""
        return self.token.sub(lambda token: self.filled(str(self[int(token[1])])), text)

    def blocks(self, line: str) -> list[Block | Later]:
        """Return the blocks that a line consists of; none if it holds any text."""
        pieces = [self[int(number)] for number in self.token.findall(line)]
        return [] if self.token.sub("", line).strip() or any(isinstance(piece, str) for piece in pieces) else pieces


_PIECES: ContextVar[_Pieces | None] = ContextVar("pieces", default=None)


@jinja2.pass_context
def _interpolated(_: object, value: Any) -> str:
    """Keep a value as one piece of a document's text; in prose, which is not read again, it stands as it is."""
    pieces = _PIECES.get()
    if pieces is None or (isinstance(value, str) and (not value or pieces.token.fullmatch(value))):
        return plain(value) if not isinstance(value, str) else value
    return pieces.keep(value if isinstance(value, str) else plain(value))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("arcademark.reports"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_interpolated,
    )
    environment.filters.update(
        {name: value for name, value in vars(wording).items() if callable(value) and not name.startswith("_")}
    )
    return environment


def _template(name: str) -> jinja2.Template:
    return _environment().get_template(f"{name}.jinja")


def _document(lines: Sequence[str], pieces: _Pieces, kind: str) -> Document:
    heads = {"#": "", ">": "", "%": kind}
    body = list(lines)
    while body and (not body[0] or body[0][:2].rstrip() in heads):
        mark, _, words = body.pop(0).partition(" ")
        heads[mark] = pieces.filled(words.strip())
    whole = section("", *_sections(body, pieces, 2))
    return Document(heads["#"], heads["%"], heads[">"], whole.blocks)


def _sections(lines: Sequence[str], pieces: _Pieces, level: int) -> Iterator[Block | Later]:
    """Yield the blocks before the first heading of a level, then its sections."""
    mark = "#" * level
    starts = [place for place, line in enumerate(lines) if line == mark or line.startswith(f"{mark} ")]
    yield from _blocks(lines[: starts[0] if starts else len(lines)], pieces)
    for start, end in pairwise([*starts, len(lines)]):
        title = lines[start].removeprefix(mark)
        flags = dict.fromkeys(_FLAG.findall(title), True)
        inner = _sections(lines[start + 1 : end], pieces, level + 1)
        whole = section(pieces.filled(_FLAG.sub("", title).strip()), *inner, **flags)
        if whole.content:
            yield whole


def _blocks(lines: Sequence[str], pieces: _Pieces) -> Iterator[Block | Later]:
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
