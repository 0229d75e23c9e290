"""A document as Markdown, in GitHub's dialect, without figures."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arcademark import wording
from arcademark.analysis.document import GENERATOR
from arcademark.errors import escaped
from arcademark.pages.render import blocks
from arcademark.pages.render.blocks import Block, Cell, Document, Section, Table

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def render(document: Document, *, everything: bool = False) -> str:
    """Return a document, with ``everything`` also its details and whole tables; special characters are escaped."""
    parts = [f"# {text(document.title)}"]
    parts += [text(document.lead)] if document.lead else []
    for block in document.blocks:
        parts += _block(block, 2, everything)
    return "\n\n".join([*parts, f"*{text(GENERATOR)}*"]) + "\n"


def text(words: str) -> str:
    """Escape Markdown's special characters."""
    return _MARKS.sub(r"\\\1", escaped(" ".join(words.split())))


def _block(block: Block, level: int, everything: bool) -> Iterator[str]:
    match block:
        case Section():
            if block.detail and not everything:
                return
            inner = [part for item in block.blocks for part in _block(item, level + 1, everything)]
            if inner and block.title:
                yield f"{'#' * min(level, 6)} {text(block.title)}"
            yield from inner
        case blocks.Prose():
            yield text(block.text)
        case blocks.Code():
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", block.text)), default=0))
            yield f"{fence}\n{escaped(block.text, kept=chr(10))}\n{fence}"
        case blocks.Notices():
            marks = {"warning": "**Warning:** ", "note": ""}
            yield "\n".join(f"- {marks[item.level]}{text(item.text)}" for item in block.notices)
        case blocks.Facts():
            yield "\n".join(f"- {text(name)}: {text(value)}" for name, value in block.pairs)
        case blocks.References():
            yield "\n".join(f"- [{text(item.text)}]({item.url})" for item in block.citations)
        case Table():
            yield from _table(block, everything)


def _table(shown: Table, everything: bool) -> Iterator[str]:
    marks = {"number": "---:", "name": ":---", "prose": ":---"}
    rows = [[_cell(cell) for cell in row] for row in shown.rows]
    most = len(rows) if shown.most is None or everything else shown.most
    head = [
        [text(column.heading) for column in shown.columns],
        [marks[column.kind] for column in shown.columns],
    ]
    yield "\n".join(f"| {' | '.join(row)} |" for row in (*head, *rows[:most]))
    if len(rows) > most:
        yield f"and {wording.count(len(rows) - most)} more"
    if shown.caption:
        yield text(shown.caption)


def _cell(cell: Cell) -> str:
    shown = f"**{text(cell.text)}**" if cell.style in ("best", "good") and cell.text.strip() else text(cell.text)
    return f"{shown} ({text(cell.below)})" if cell.below else shown
