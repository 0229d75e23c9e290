"""A report as one HTML file: no request to anywhere, readable without scripts, light and dark."""

from __future__ import annotations

import re

import jinja2
from markupsafe import Markup

from arcademark.report import figures, wording
from arcademark.report.document import Game, GameScore, Report

TEMPLATE = "page.html.jinja"


def render(report: Report) -> str:
    """Write the page.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        A whole HTML document. Everything that comes from users (names of agents, directories, errors) is escaped.
    """
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            report=report,
            standing=_figure(figures.standing(report), _standing_in_words(report)),
            distribution=_figure(
                figures.distribution(report), "Every episode's score; the table has means and intervals."
            ),
            legend=figures.legend(report.algorithms),
            most_dots=figures.MOST_DOTS,
            palette=figures.PALETTE,
            rows=[
                (report.game(score.game), algorithm, score)
                for game in report.games
                for algorithm in report.algorithms
                for score in algorithm.scores
                if score.game == game.id
            ],
        )
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("arcademark.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        percent=wording.percent,
        reference=wording.reference,
        count=wording.count,
        listing=wording.listing,
        breakable=_breakable,
        score=_score,
        span=_span,
    )
    environment.globals.update(plural=wording.plural, missing=wording.MISSING)
    return environment


def _breakable(name: str) -> Markup:
    """Let a long name break after punctuation rather than anywhere."""
    parts = re.split(r"(?<=[:(,/])", name)
    return Markup("<wbr>").join(parts)


def _score(item: GameScore) -> str:
    return wording.score(item.score)


def _span(item: GameScore) -> str:
    if item.interval is None or item.score is None:
        return wording.MISSING
    return wording.span(item.interval.low, item.interval.high, wording.decimals(item.score))


def _figure(svg: str, words: str) -> Markup:
    """Put a figure (whose texts are escaped) into the page: its colours the page's own, its content in words too."""
    label = Markup('<svg role="img" aria-label="{}" ').format(words)
    return Markup(figures.themed(svg).replace("<svg ", label, 1))


def _standing_in_words(report: Report) -> str:
    def one(game: Game, name: str, score: GameScore) -> str:
        return f"{game.name}, {name}: {wording.percent(score.hns)}"

    scores = (
        one(report.game(score.game), algorithm.name, score)
        for algorithm in report.algorithms
        for score in algorithm.scores
    )
    return f"Human-normalised scores. {'; '.join(scores)}."
