"""Finds tables in text: Markdown, reStructuredText and what is drawn with ``+--``, LaTeX, HTML.

Type around a whole cell (``**DQN**``, a link), citations and footnotes are taken off.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from arcademark.scores.readers.sheets.grid import Grid
from arcademark.scores.readers.sheets.html_tables import html_grids
from arcademark.scores.readers.sheets.latex_tables import latex_grids

_MARKDOWN_RULE = re.compile(r"[\s|:+-]*-[\s|:+-]*")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_MARKED = re.compile(r"(\*\*|__|`|\*|_)(?=\S)(.*\S)\1|!?\[([^\[\]]*)\](?:\([^()\s]*\)|\[[^\[\]]*\])")
_BREAK = re.compile(r"\s*<br ?/?>\s*", re.IGNORECASE)
_RST_RULE = re.compile(r"\s*(?:=+(?:[ \t]+=+)+|-+(?:[ \t]+-+)+)\s*")
_BOX_RULE = re.compile(r"\s*\+(?:[-=:]+\+)+\s*")
_BOXES = {
    **dict.fromkeys(map(ord, "│┃║┆┊╎╏"), "|"),
    **dict.fromkeys(map(ord, "─━╌┄"), "-"),
    **dict.fromkeys(map(ord, "═"), "="),
    **dict.fromkeys((*range(0x250C, 0x254C), *range(0x2552, 0x2571)), "+"),
}
"""Lines and corners of Unicode, and the characters of ASCII that draw the same."""


def grids_in(text: str) -> list[Grid]:
    """Return the tables in a text, in their order; none where it is separated by commas or such."""
    if "\\begin{" in text and (found := list(latex_grids(text))):
        return found
    if re.search(r"<table[\s>]", text, re.IGNORECASE):
        return html_grids(text)
    if re.search("[\u2500-\u2570]", text):
        text = text.translate(_BOXES)
    if "--" not in text and "==" not in text:
        return []
    lines = [
        re.sub(r"^\s*(?:>\s?)+", "", line) if line.lstrip().startswith(">") else line for line in text.splitlines()
    ]
    lines = _without_code(lines)
    return _with_sections([*_drawn(lines), *_markdown(lines), *_simple(lines)], lines)


def _without_code(lines: Sequence[str]) -> list[str]:
    """Blank out code between fences, whose comments are no titles, unless a table stands in it."""
    result = list(lines)
    fences = [at for at, line in enumerate(lines) if _FENCE.match(line)]
    for first, last in zip(fences[::2], fences[1::2], strict=False):
        within = lines[first + 1 : last]
        if not any(rule.fullmatch(line) for rule in (_MARKDOWN_RULE, _RST_RULE, _BOX_RULE) for line in within):
            result[first : last + 1] = [""] * (last + 1 - first)
    return result


def _with_sections(grids: Sequence[Grid], lines: Sequence[str]) -> list[Grid]:
    """Put the title of Markdown's section before a heading that several tables have."""
    number = Counter(grid.heading for grid in grids)
    titles = list(accumulate(lines, lambda last, line: line.strip(" #") if line.startswith("#") else last, initial=""))
    return [
        grid._replace(heading=": ".join(filter(None, dict.fromkeys([titles[grid.rows[0][0] - 1], grid.heading]))))
        if number[grid.heading] > 1
        else grid
        for grid in grids
    ]


def _heading(lines: Sequence[str], at: int) -> str:
    """Return the nearest line of text above a line."""
    above = (line.strip(" \t#*_:=~-") for line in reversed(lines[max(0, at - 12) : at]) if "|" not in line)
    return next(filter(None, above), "")


def _markdown(lines: Sequence[str]) -> Iterator[Grid]:
    for at in range(1, len(lines)):
        boxed = _BOX_RULE.fullmatch(lines[at]) or (at > 1 and _BOX_RULE.fullmatch(lines[at - 2]))
        ruled = _MARKDOWN_RULE.fullmatch(lines[at]) and set("|+") & {*lines[at]} and not boxed
        if ruled and "|" in lines[at - 1]:
            end = next((row for row in range(at + 1, len(lines)) if "|" not in lines[row]), len(lines))
            rows = [(row + 1, _split(lines[row])) for row in range(at - 1, end) if row != at]
            yield Grid(_heading(lines, at - 1), rows)


def _split(line: str) -> list[str]:
    within = line.strip().removeprefix("|")
    within = within[:-1] if re.search(r"(?<!\\)\|$", within) else within
    return [_unmarked(cell.replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", within)]


def _unmarked(cell: str) -> str:
    text = html.unescape(_BREAK.sub(" ", cell) if "<" in cell else cell).strip()
    while marked := _MARKED.fullmatch(text):
        text = (marked[2] or marked[3] or "").strip()
    return text


def _drawn(lines: Sequence[str]) -> Iterator[Grid]:
    """Yield tables in boxes; where rules separate all rows, as in RST, the lines between two are one row."""
    at = 0
    while at < len(lines):
        if not _BOX_RULE.fullmatch(lines[at]):
            at += 1
            continue
        start = at
        while at < len(lines) and (_BOX_RULE.fullmatch(lines[at]) or lines[at].lstrip().startswith("|")):
            at += 1
        rules = [row for row in range(start, at) if _BOX_RULE.fullmatch(lines[row])]
        groups = [range(a + 1, b) for a, b in pairwise(rules) if b > a + 1]
        split = {
            row: [cell.strip() for cell in lines[row].strip().strip("|").split("|")]
            for group in groups
            for row in group
        }
        if groups and any("=" in lines[row] for row in rules):
            split[groups[0][0]] = _column_names([split[row] for row in groups[0]])
            if len(groups) == 2 and len(groups[1]) > 1:  # no rules between rows
                groups[1:] = [range(row, row + 1) for row in groups[1]]
            groups[0] = groups[0][:1]
            rows = [
                (group[0] + 1, [" ".join(parts).strip() for parts in zip(*(split[row] for row in group), strict=False)])
                for group in groups
            ]
        else:
            rows = [(row + 1, split[row]) for group in groups for row in group]
        if len(rows) > 1:
            yield Grid(_heading(lines, start), [(row, list(map(_unmarked, cells))) for row, cells in rows])


def _column_names(header: Sequence[Sequence[str]]) -> list[str]:
    """Join the lines of a header, without the types of columns that Polars prints below ``---``."""
    end = next((at for at, cells in enumerate(header) if all(cell in ("---", "") for cell in cells)), len(header))
    return [" ".join(parts).strip() for parts in zip(*header[:end], strict=False)]


def _simple(lines: Sequence[str]) -> Iterator[Grid]:
    """Yield RST's simple tables, between three rules of ``==``, and those with one rule of ``--`` below the header."""
    rules = [at for at, line in enumerate(lines) if _RST_RULE.fullmatch(line)]
    while rules:
        if "-" in lines[rules[0]]:
            middle, top = rules[0], rules[0] - 2
            end = next((at for at in range(middle + 1, len(lines)) if not lines[at].strip() or at in rules), len(lines))
            rules = [at for at in rules if at > end]
            if top < -1 or not lines[middle - 1].strip():
                continue
        elif len(rules) < 3:
            return
        else:
            top, middle, end = rules[:3]
            rules = rules[3:]
        starts = [match.start() for match in re.finditer("=+|-+", lines[middle])]
        bounds = list(zip(starts, [*starts[1:], None], strict=True))
        rows = [
            (at + 1, [_unmarked(lines[at][a:b]) for a, b in bounds])
            for at in (*range(top + 1, middle), *range(middle + 1, end))
            if lines[at].strip() and not re.fullmatch(r"[\s-]+", lines[at])
        ]
        yield Grid(_heading(lines, top), rows)
