"""A report of runs as one HTML file."""

from __future__ import annotations

from markupsafe import Markup

from arcademark.report import pages, wording
from arcademark.report.runs import directory, figures
from arcademark.report.runs.document import Game, GameScore, Report

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
    return pages.render(
        TEMPLATE,
        report=report,
        standing=pages.figure(figures.standing(report), _standing_in_words(report)),
        distribution=pages.figure(
            figures.distribution(report), "Every episode's score; the table has means and intervals."
        ),
        learning=_learning(report),
        legend=figures.legend(report.algorithms),
        most_dots=figures.MOST_DOTS,
        span=_span,
        frames_used=directory.frames_used,
        played_on=directory.played_on,
        rows=[
            (report.game(score.game), algorithm, score)
            for game in report.games
            for algorithm in report.algorithms
            for score in algorithm.scores
            if score.game == game.id
        ],
    )


def _learning(report: Report) -> list[Markup]:
    if not report.learning:
        return []
    from arcademark.report.runs import figure_learning

    return [pages.figure(svg, words) for svg, words in figure_learning.panels(report)]


def _span(item: GameScore) -> str:
    if item.interval is None or item.score is None:
        return wording.MISSING
    return wording.span(item.interval.low, item.interval.high, wording.decimals(item.score))


def _standing_in_words(report: Report) -> str:
    def one(game: Game, name: str, score: GameScore) -> str:
        return f"{game.name}, {name}: {wording.percent(score.hns)}"

    scores = (
        one(report.game(score.game), algorithm.name, score)
        for algorithm in report.algorithms
        for score in algorithm.scores
    )
    return f"Human-normalised scores. {'; '.join(scores)}."
