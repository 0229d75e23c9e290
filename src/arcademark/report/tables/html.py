"""What a table says, as one HTML file."""

from __future__ import annotations

from arcademark.report import pages
from arcademark.report.tables import words
from arcademark.report.tables.document import ScoreReport


def render_scores(report: ScoreReport) -> str:
    """Write the page of a table of scores.

    Returns
    -------
    str
        A whole HTML document. Everything that comes from users is escaped.
    """
    scores = {(item.name, score.game): score for item in report.algorithms for score in item.scores}
    return pages.render(
        "scores.html.jinja",
        report=report,
        words=words,
        metrics=words.uncapped(report),
        kinds=tuple(dict.fromkeys(kind for game in report.games for kind in game.references)),
        rows=[
            (game, item, scores[item.name, game.id])
            for game in report.games
            for item in report.algorithms
            if (item.name, game.id) in scores
        ],
    )
