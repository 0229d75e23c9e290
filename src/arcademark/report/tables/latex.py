"""What a table says, as LaTeX tables to paste into a paper: with booktabs and graphicx.

Names are escaped; numbers stand right-aligned in plain columns, with intervals below them in small print.
"""

from __future__ import annotations

from itertools import groupby

import jinja2

from arcademark import errors
from arcademark.report import wording
from arcademark.report.tables import words
from arcademark.report.tables.comparison import Comparison
from arcademark.report.tables.document import Statistic, TableDocument

IN_CAPTION = frozenset({"partial_suite", "protocols_differ", "protocol_unknown", "training_differs"})
"""Kinds of warnings without which the table is misread, which stand in its caption."""

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
        "\n": " ",
    }
)


def render_comparison(found: Comparison, *, everything: bool = False) -> str:
    """Write the differences of two algorithms and their games, or of several each against each.

    Parameters
    ----------
    found : Comparison
    everything : bool, optional
        Whether to add the games of every pair, where there are several.
    """
    return (
        environment()
        .get_template("comparison.tex.jinja")
        .render(
            report=found,
            groups=[list(group) for _, group in groupby(found.pairs[0].summaries, key=lambda item: item.metric)],
            everything=everything,
            cautions=_cautions(found),
            words=words,
        )
    )


def _cautions(report: TableDocument) -> str:
    """Return the warnings that belong into a paper."""
    return " ".join(item.text for item in report.warnings if item.kind in IN_CAPTION)


def environment() -> jinja2.Environment:
    """Make what LaTeX templates are rendered with; their own marks leave braces and percent signs alone."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("arcademark.report"),
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        undefined=jinja2.StrictUndefined,
    )
    made.filters.update(comment=_one_line, tex=escaped, percent=number, span=span, points=points)
    return made


def escaped(text: str) -> str:
    """Escape what has a meaning in LaTeX."""
    return errors.escaped(text, kept="\n").translate(_ESCAPED)


def _one_line(text: str) -> str:
    return errors.escaped(" ".join(text.split()))


def number(value: float | None) -> str:
    """Show a percentage without its sign, which stands in the heading."""
    return escaped(wording.percent(value).removesuffix("%").strip())


def points(value: float | None) -> str:
    """Show a score."""
    return escaped(wording.score(value))


def span(found: Statistic) -> str:
    """Show an interval of percentages, as a second line; "" where there is none."""
    if found.low is None or found.high is None:
        return ""
    return rf"[{number(found.low)}, {number(found.high)}]"
