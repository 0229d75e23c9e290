r"""Finds tables in LaTeX; takes off type (``\textbf{DQN}``), rules, citations and footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arcademark.scores.readers.sheets.grid import Grid
from arcademark.scores.readers.sheets.latex_commands import expanded

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
