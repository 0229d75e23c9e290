r"""Finds tables in text: Markdown, reStructuredText and what is drawn with ``+--``, LaTeX, HTML.

Conventions
-----------
* A grid is its heading (or caption, or sheet's name) and its rows: each the line in which it stands, and its cells.
* What spans several columns or rows stands in the first of them.
* Type around a whole cell (``**DQN**``, ``\textbf{DQN}``, a link), citations and footnotes are taken off.
"""

from __future__ import annotations

import html
import html.parser
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.latex_commands import expanded
from arcademark.scores.readers.shapes import check_title, shaped
from arcademark.scores.readers.sheet import Sheet, bare, checked, named

_Row = tuple[int, list[str]]


class Grid(NamedTuple):
    """A table as it stands somewhere."""

    heading: str
    rows: list[_Row]
    hidden: bool = False


_MARKDOWN_RULE = re.compile(r"[\s|:+-]*-[\s|:+-]*")
_MARKED = re.compile(r"(\*\*|__|`|\*|_)(?=\S)(.*\S)\1|!?\[([^\[\]]*)\]\([^()\s]*\)")
_BREAK = re.compile(r"\s*<br ?/?>\s*", re.IGNORECASE)
_ENVIRONMENT = re.compile(
    r"\\begin\{(tabular[xy]?|tabulary|longtable|longtblr|tblr|array)\*?\}(.*?)\\end\{\1\*?\}", re.DOTALL
)
_BEGIN_OR_END = re.compile(r"(?<!\\)%.*|\\(begin|end)\{(?:tabular[xy]?|tabulary|longtable|longtblr|tblr|array)\*?\}")
_BRACES = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
_TEX_RULES = re.compile(
    r"(?<!\\)%.*|\\(?:top|mid|bottom)rule(?:\[.*?\])?|\\(?:hline|addlinespace|endhead|endfirsthead|endfoot|endlastfoot)"
    r"(?:\[.*?\])?|\\(?:cline|cmidrule)(?:\(\w+\))?\{.*?\}|\\(?:rowcolor|cellcolor|arrayrulecolor|color)(?:\[\w+\])?\{.*?\}"
)
_MARKS = r"\\(?:d{1,2}ag(?:ger)?|ast|star|sharp|diamond|bullet)\b\s*"
_TEX_DROPPED = re.compile(
    r"~?\\(?:cite\w*|footnote\w*|tnote|label|textsuperscript|[vh]?phantom|vspace|hspace)(?:\[[^\[\]]*\])*"
    + _BRACES
    + r"|\\(?:scriptsize|scriptstyle|displaystyle|small|footnotesize|tiny|bfseries|itshape|centering|bf|it|em)\b"
    rf"|\^\{{(?:{_MARKS})+\}}|\^?(?:{_MARKS})+|\\(?:strut|xspace|hfill|q?quad)\b"
)
_TEX_KEPT = re.compile(
    r"\\(?:(?:textcolor|colorbox|fcolorbox|rotatebox|scalebox)(?:\[\w*\])?\{[^{}]*\}|text\w*|math\w*|emph|u?underline|uline|hl|bm|boldsymbol|makecell|shortstack"
    r"|thead|mbox|hbox|num|best|second)(?:\[\w*\])?" + _BRACES
)
_TEX_LINES = re.compile(r"\\(?:makecell|shortstack|thead)(?:\[\w*\])?" + _BRACES)
"""Cells of several lines."""
_TEX_SIGNS = {r"\,": "\u2009", r"\;": " ", "~": " ", r"\pm": "±", "{,}": ",", r"\textemdash": "—", "---": "—", "$": ""}
_TEX_SIGNS |= {r"\textminus ": "-", r"\textminus": "-", "{}": ""}
_TEX_SIGNS |= {r"\sigma": "σ", r"\Delta": "Δ", r"\uparrow": "↑", r"\downarrow": "↓"}
_TEX_BELOW = re.compile(r"\A([-+]?\d[\d.,]*)_\{([\d.,]+)\}\Z")
_TEX_LIMITS = re.compile(
    r"\A([-+]?\d[\d.,]*)(?:\^\{?\+([\d.,]+)\}?_\{?-[\d.,]+\}?|_\{?-[\d.,]+\}?\^\{?\+([\d.,]+)\}?)\Z"
)
"""Scores with limits above and below them."""
_SPAN = re.compile(r"\s*\\multi(column|row)(?:\[\w+\])?\{(\d+)\}(?:\[.*?\])?\{[^{}]*\}" + _BRACES)
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
    if "\\begin{" in text and (found := list(_latex(text))):
        return found
    if re.search(r"<table[\s>]", text, re.IGNORECASE):
        parser = _Tables()
        parser.feed(text)
        return [grid for grid in parser.found if len(grid.rows) > 1]
    if re.search("[\u2500-\u2570]", text):
        text = text.translate(_BOXES)
    if "--" not in text and "==" not in text:
        return []
    lines = [
        re.sub(r"^\s*(?:>\s?)+", "", line) if line.lstrip().startswith(">") else line for line in text.splitlines()
    ]
    return list(_drawn(lines)) + list(_markdown(lines)) + list(_simple(lines))


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


def _first_head(body: str) -> str:
    """Blank the heads and feet of further pages in a longtable."""
    begin, head = body.find(r"\endfirsthead"), body.rfind(r"\endhead")
    end = max(head, body.rfind(r"\endfoot"), body.rfind(r"\endlastfoot"))
    begin = head if begin < 0 else begin
    return body[:begin] + "\n" * body.count("\n", begin, end) + body[end:] if 0 <= begin < end else body


def _latex(text: str) -> Iterator[Grid]:
    text = _flattened(expanded(text))
    for found in _ENVIRONMENT.finditer(text):
        around = text[text.rfind("\\begin{table", 0, found.start()) : text.find("\\end{table", found.end())]
        caption = re.search(r"\\caption" + _BRACES, around if around.count("\\begin{tabular") < 2 else "")
        body = _TEX_LINES.sub(lambda cell: cell[0].replace("\\\\", " "), _first_head(_arguments(found[2])))
        line = text.count("\n", 0, found.end()) - body.count("\n") + 1
        held: dict[int, tuple[int, str]] = {}
        rows = []
        for row in re.split(r"\\\\(?:\[[^\]]*\])?|\\tabularnewline", body):
            bare_row = _TEX_RULES.sub("", row)
            if bare_row.strip():
                rows.append((line + row[: len(row) - len(row.lstrip())].count("\n"), list(_tex_cells(bare_row, held))))
            line += row.count("\n")
        yield Grid(_tex(caption[1]) if caption else "", rows)


def _flattened(text: str) -> str:
    """Return a text with tables that stand in a table's cells, for their lines, in one line."""
    parts, at, open_ones = [], 0, list[re.Match[str]]()
    for mark in _BEGIN_OR_END.finditer(text):
        if mark[1] == "begin":
            open_ones.append(mark)
        elif mark[1] and open_ones:
            begin = open_ones.pop()
            if len(open_ones) == 1:
                inner = _arguments(text[begin.end() : mark.start()])
                parts += [text[at : begin.start()], inner.replace("\\\\", " ")]
                at = mark.end()
    return "".join((*parts, text[at:]))


def _arguments(body: str) -> str:
    """Return the rows of an environment, without its arguments in brackets and braces."""
    rest = body.lstrip()
    while argument := re.match(r"\[[^\[\]]*\]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", rest):
        rest = rest[argument.end() :]
    return rest


def _tex_cells(row: str, held: dict[int, tuple[int, str]]) -> Iterator[str]:
    column = 0
    for cell in re.split(r"(?<!\\)&", row):
        span = _SPAN.match(cell)
        text, left = _tex(span[3] if span else cell), held.pop(column, (0, ""))
        if span and span[1] == "row" and int(span[2]) > 1:
            held[column] = (int(span[2]) - 1, text)
        elif left[0]:
            text = text or left[1]
            held[column] = (left[0] - 1, left[1])
        yield text
        column += 1
        for _ in range(int(span[2]) - 1 if span and span[1] == "column" else 0):
            yield ""
            column += 1


def _tex(cell: str) -> str:
    text = _TEX_DROPPED.sub("", cell)
    while (plain := _TEX_KEPT.sub(r"\1", text)) != text:
        text = plain
    for sign, written in _TEX_SIGNS.items():
        text = text.replace(sign, written)
    text = re.sub(r"\A--(?=\d)", "-", re.sub(r"\\([&%#_{}])", r"\1", text).strip())
    while braced := re.fullmatch(r"\{\s*([^{}]*|[^{}]*\{[^{}]*\}[^{}]*)\s*\}", text):
        text = braced[1].strip()
    text = re.sub(r"[_^]?\{\s*(±[^{}]*|\([^{}]*\)|\[[^{}]*\])\s*\}", r" \1", text)
    return _TEX_LIMITS.sub(r"\1 ± \2\3", _TEX_BELOW.sub(r"\1 (\2)", text))


_PARTS = ("td", "th", "tr", "tbody", "tfoot", "table")
_WITHIN = ("span", "div", "p", "small", "i", "b", "em", "strong", "a")
"""Elements within cells, which may be invisible, as keys for sorting are."""
_NOT_SHOWN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


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


def sheet_of(path: Path, grid: Grid) -> Sheet:
    """Make a sheet of a grid: blank columns left out, short rows filled, and its first row the header."""
    rows = [(line, list(map(str.strip, cells))) for line, cells in grid.rows if any(map(str.strip, cells))]
    width = max((max(at for at, cell in enumerate(cells) if cell) + 1 for _, cells in rows), default=0)
    full = [(line, (cells + [""] * width)[:width]) for line, cells in rows]
    kept = [at for at in range(width) if any(cells[at] for _, cells in full)]
    if not full:
        raise ArcadeMarkError(f"{path}: the table is empty; expected a header and rows of scores")
    lines, table = [line for line, _ in full], [[cells[at] for at in kept] for _, cells in full]
    columns = tuple(map(list, zip(*table[1:], strict=True))) or tuple([] for _ in kept)
    check_title(str(path), grid.heading)
    header = tuple(map(named, table[0]))
    sheet = Sheet(path, header, columns, len(table) - 1, lambda row: lines[row + 1], "|")
    return checked(shaped(sheet), lines[0])
