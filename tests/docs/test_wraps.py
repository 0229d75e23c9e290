"""Docstrings are wrapped where their lines are full: a line that was cut before has lost or won words since."""

import ast
import itertools
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "arcademark"
WIDTH, ROOM = 120, 12
"""Of lines; what the next line's first word may have left over where a line was broken before it."""

BEGINS = re.compile(r"[\w`*]([\w, `*./]*[\w`*])? ?: ?\S|[*-] |\d+\. |\w+ ?:?$|[\w, *`]+$")
"""What begins something of its own: a field, an item of a list, a name of an error or parameters above their text."""

DRAWN = re.compile(
    r"\S {2,}\S|[│─┌└├←→═]|>>>|^\s*\||[=+-]{3,}|::$|\w\(|^\s*(from|import) |[\])]$| [-+]?= |^\s*\[|:$|}}"
)
"""What is no prose: diagrams, tables, code."""


QUOTES = '"""'


def docstrings(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for one in node.body:
                if (
                    isinstance(one, ast.Expr)
                    and isinstance(one.value, ast.Constant)
                    and isinstance(one.value.value, str)
                ):
                    yield one.value


def broken(lines):
    """The lines of a docstring, of paragraphs of prose, that end long before they are full."""
    for line, after in itertools.pairwise(lines):
        words, indents = after.split(), [len(one) - len(one.lstrip()) for one in (line, after)]
        if not line.strip() or not words or words == [QUOTES] or BEGINS.match(after.strip()):
            continue
        if DRAWN.search(line) or DRAWN.search(after):
            continue
        if indents[0] == indents[1] and len(line) + 1 + len(words[0]) <= WIDTH - ROOM and len(line.split()) > 1:
            yield line.strip()


def test_lines_are_broken_where_they_are_full():
    found = [
        f"{path.relative_to(SOURCE)}: {line}"
        for path in SOURCE.rglob("*.py")
        for lines in [path.read_text("utf-8").splitlines()]
        for text in docstrings(path)
        for line in broken(lines[text.lineno - 1 : text.end_lineno])
    ]
    assert found == []


def test_a_line_that_ends_early_is_found():
    cut = [
        "A learner's training plays one episode at a time; training's last is",
        "played to",
        "its end. A trainer has a",
    ]
    assert [*broken(cut)]
    assert not [*broken(["Raises", "------", "ArcadeMarkError", "    If it cannot be read."])]
