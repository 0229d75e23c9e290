"""What a table says, as one HTML file."""

from __future__ import annotations

from itertools import groupby

from arcademark.report import pages
from arcademark.report.tables import figures, words
from arcademark.report.tables.comparison import Comparison

MOST_PAIRS = 15
"""Pairs of which a page shows each game."""


def render_comparison(found: Comparison) -> str:
    """Write the page of a comparison.

    Returns
    -------
    str
        A whole HTML document. Everything that comes from users is escaped.
    """
    return pages.render(
        "comparison.html.jinja",
        report=found,
        words=words,
        profiles=pages.figure(figures.profiles(found), figures.in_words(found)) if found.profiles else "",
        legend=figures.legend(found),
        shades=any(item.low is not None for item in found.profiles),
        groups=[list(group) for _, group in groupby(found.pairs[0].summaries, key=lambda item: item.metric)],
        most_pairs=MOST_PAIRS,
    )
