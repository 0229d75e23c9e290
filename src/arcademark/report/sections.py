"""Parts of the terminal view that several documents share."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding

from arcademark.report import wording
from arcademark.report.document import HardExploration, HardGame
from arcademark.report.layout import Text, prose, section, table

MOST_ALGORITHMS = 8
"""Algorithms whose scores on the hard-exploration games are shown, unless all are asked for."""


def hard_exploration(found: HardExploration, *, everyone: bool = False) -> Iterator[RenderableType]:
    """Yield the section on hard-exploration games.

    Parameters
    ----------
    found : HardExploration
    everyone : bool, optional
        Whether to show more than the first few algorithms.
    """
    title = "Hard exploration, of which small subsets say little"
    if not found.played:
        names = wording.listing((game.name for game in found.games), last="or")
        yield from section(title, Text(f"No score on {names}: where exploration matters, play these too."))
        return
    several = len(found.games[0].scores) > 1
    made = prose(table("game", "score", "HNS", "random", "human", "best other", "published by"))
    made.columns[-1].min_width = 12
    for game in found.games:
        anchors = _anchors(game)
        if not several:
            score = game.scores[0]
            made.add_row(Text(game.name), *_score(score.score, score.hns), *anchors)
            continue
        made.add_row(Text(game.name, style="bold"), "", "", *anchors)
        if game not in found.played:
            continue
        for score in game.scores if everyone else game.scores[:MOST_ALGORITHMS]:
            who = Padding(Text(score.algorithm), (0, 0, 0, 2))
            made.add_row(who, *_score(score.score, score.hns), "", "", "", "")
    more = len(found.games[0].scores) - MOST_ALGORITHMS
    rest = [] if everyone or more < 1 else [Text(f"and {wording.plural(more, 'algorithm')} more: --all shows them")]
    yield from section(title, made, *rest)


def _score(score: float | None, hns: float | None) -> tuple[RenderableType, ...]:
    return Text(wording.score(score), style="bold"), wording.percent(hns)


def _anchors(game: HardGame) -> tuple[str, ...]:
    by = f"{game.best_algorithm}, {game.best_source}" if game.best_algorithm else wording.MISSING
    return wording.reference(game.random), wording.reference(game.human), wording.reference(game.best), by
