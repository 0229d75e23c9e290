r"""Finds tables in LaTeX; takes off type (``\textbf{DQN}``), rules, citations and footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arcademark.scores.readers.sheets.grid import Grid
from arcademark.scores.readers.sheets.latex_commands import expanded
from arcademark.scores.readers.words import numerals

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
_REPEATED = re.compile(r"\*\{(\d{1,9})\}" + _BRACES)
MAX_REPEATED = 100
"""Maximum number of times that a description of columns is repeated."""
MAX_ARGUMENT_CHARACTERS = 10_000
"""Maximum length of a description of columns in which more are repeated."""
_COLUMN = re.compile(rf"[@!]{_BRACES}|[><]{_BRACES}|[A-Za-z](?:\[[^\[\]]*\])?(?:\{{[^{{}}]*\}})?")
"""A column of an environment, or what it puts between two."""
_SPAN = re.compile(r"\s*\\multi(column|row)(?:\[\w+\])?\{(\d+)\}(?:\[.*?\])?\{[^{}]*\}" + _BRACES)


def _first_head(body: str) -> str:
    """Blank the heads and feet of further pages in a longtable."""
    begin, head = body.find(r"\endfirsthead"), body.rfind(r"\endhead")
    end = max(head, body.rfind(r"\endfoot"), body.rfind(r"\endlastfoot"))
    begin = head if begin < 0 else begin
    return body[:begin] + "\n" * body.count("\n", begin, end) + body[end:] if 0 <= begin < end else body


def latex_grids(text: str) -> Iterator[Grid]:
    """Yield the tables of a LaTeX text."""
    text = _flattened(expanded(text))
    for found in _ENVIRONMENT.finditer(text):
        around = text[text.rfind("\\begin{table", 0, found.start()) : text.find("\\end{table", found.end())]
        caption = re.search(r"\\caption" + _BRACES, around if around.count("\\begin{tabular") < 2 else "")
        columns, rest = _arguments(found[2])
        spreads = _spreads(columns)
        body = _TEX_LINES.sub(lambda cell: cell[0].replace("\\\\", " "), _first_head(rest))
        line = text.count("\n", 0, found.end()) - body.count("\n") + 1
        held: dict[int, tuple[int, str]] = {}
        rows = []
        for row in re.split(r"\\\\(?:\[[^\]]*\])?|\\tabularnewline", body):
            bare_row = _TEX_RULES.sub("", row)
            if bare_row.strip():
                cells = _with_spreads(list(_tex_cells(bare_row, held)), spreads)
                rows.append((line + row[: len(row) - len(row.lstrip())].count("\n"), cells))
            line += row.count("\n")
        yield Grid(_tex(caption[1]) if caption else "", rows)


def _spreads(arguments: str) -> frozenset[int]:
    """Return the columns behind which the argument that describes columns puts ±, as the first of ``r@{±}l``."""
    while len(arguments) <= MAX_ARGUMENT_CHARACTERS and (repeated := _REPEATED.search(arguments)):
        several = repeated[2] * min(int(repeated[1]), MAX_REPEATED)
        arguments = arguments[: repeated.start()] + several + arguments[repeated.end() :]
    column, found = -1, set[int]()
    for part in _COLUMN.finditer(arguments):
        if part[1] is None:
            column += part[0][0].isalpha()
        elif "\\pm" in part[1] or "±" in part[1]:
            found.add(column)
    return frozenset(found)


def _with_spreads(cells: list[str], spreads: frozenset[int]) -> list[str]:
    """Return the cells of a row with spreads that stand in columns of their own put behind the scores."""
    for at in spreads:
        if at + 1 < len(cells) and numerals.is_number(cells[at]) and cells[at + 1]:
            cells[at], cells[at + 1] = f"{cells[at]} ± {cells[at + 1]}", ""
    return cells


def _flattened(text: str) -> str:
    """Return a text with tables that stand in a table's cells, for their lines, in one line."""
    parts, at, open_ones = [], 0, list[re.Match[str]]()
    for mark in _BEGIN_OR_END.finditer(text):
        if mark[1] == "begin":
            open_ones.append(mark)
        elif mark[1] and open_ones:
            begin = open_ones.pop()
            if len(open_ones) == 1:
                _, inner = _arguments(text[begin.end() : mark.start()])
                parts += [text[at : begin.start()], inner.replace("\\\\", " ")]
                at = mark.end()
    return "".join((*parts, text[at:]))


def _arguments(body: str) -> tuple[str, str]:
    """Return the last of an environment's arguments in brackets and braces, and its rows behind them."""
    last, rest = "", body.lstrip()
    while argument := re.match(r"\[[^\[\]]*\]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", rest):
        last, rest = argument[0], rest[argument.end() :]
    return last, rest


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
