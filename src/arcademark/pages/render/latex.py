"""A document's tables in LaTeX with booktabs, and its cited papers as BibTeX in comments."""

from __future__ import annotations

from arcademark import errors
from arcademark.analysis.document import GENERATOR
from arcademark.pages.render import blocks
from arcademark.pages.render.blocks import Cell, Document, Notices, References, Section, Table

_ESCAPED = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": r"{[}",
        "]": r"{]}",
        '"': r"\textquotedbl{}",
        "\N{NO-BREAK SPACE}": r"\,",
        "−": r"$-$",
        "–": "--",
        "…": r"--",
        "×": r"$\times$",
        "≥": r"$\geq$",
        "±": r"$\pm$",
        "²": r"$^2$",
        "\n": " ",
    }
)


def render(document: Document, *, everything: bool = False) -> str:
    """Return a ``table`` environment for each table, with ``everything`` also for details.

    The first caption contains the warnings.
    """
    cautions = [item.text for block in blocks.flat(document.blocks, everything) if isinstance(block, Notices)
                for item in block.notices if item.level == "warning"]  # fmt: skip
    parts = [f"% {_comment(document.title)}\n% {_comment(GENERATOR)}; needs \\usepackage{{booktabs}}"]
    title = document.title
    for block in blocks.flat(document.blocks, everything):
        if isinstance(block, Section):
            title = f"{document.title}: {block.title}" if block.title else title
        elif isinstance(block, Table):
            parts.append(_table(block, title, " ".join(cautions)))
            cautions = []
        elif isinstance(block, References):
            parts += ["\n".join(f"% {line}" for line in item.bibtex.splitlines()) for item in block.citations]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Escape LaTeX's special characters."""
    return errors.escaped(text, kept="\n").translate(_ESCAPED)


def _comment(text: str) -> str:
    return errors.escaped(" ".join(text.split()))


def _table(shown: Table, title: str, cautions: str) -> str:
    # Optional columns without a heading are curves drawn with block characters, which LaTeX's fonts lack.
    kept = [index for index, column in enumerate(shown.columns) if column.heading or not column.optional]
    shown = blocks.of_columns(shown, kept)
    where = "".join("r" if column.kind == "number" else "l" for column in shown.columns)
    captions = " ".join(part if part.endswith(".") else f"{part}." for part in (title, shown.caption, cautions) if part)
    headings, body = list[str](), list[str]()
    if any(column.heading for column in shown.columns):
        headings = [" & ".join(escaped(column.heading) for column in shown.columns) + r" \\", r"\midrule"]
    for rows in blocks.groups(shown):
        for number, row in enumerate(rows):
            cells = [Cell("") if shown.grouped and number and not index else cell for index, cell in enumerate(row)]
            body.append(" & ".join(map(_text, cells)) + r" \\")
            if any(cell.below for cell in cells):
                body.append(" & ".join(_below(cell) for cell in cells) + r" \\")
        body += [r"\addlinespace"] if len(rows) > 1 else []
    if body and body[-1] == r"\addlinespace":
        body.pop()
    return "\n".join(
        (
            r"\begin{table}",
            r"\centering",
            *([rf"\caption{{{escaped(captions)}}}"] if captions else []),
            rf"\begin{{tabular}}{{{where}}}",
            r"\toprule",
            *headings,
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        )
    )


def _text(cell: Cell) -> str:
    shown = escaped(cell.text)
    return rf"\textbf{{{shown}}}" if cell.style == "best" and shown else shown


def _below(cell: Cell) -> str:
    return rf"{{\scriptsize {escaped(cell.below)}}}" if cell.below else ""
