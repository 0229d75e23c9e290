"""Sections that several documents share."""

from __future__ import annotations

from arcademark.reports import wording
from arcademark.reports.blocks import Cell, Column, Prose, Section, section, table
from arcademark.reports.document import HardExploration

MOST_ROWS = 60
"""Rows of a table of games above which it is a detail."""


def hard_exploration(found: HardExploration | None, *, detail: bool = False) -> Section:
    """Show the hard-exploration games by themselves; where a benchmark has none, nothing."""
    title = "Hard-exploration games"
    if found is None:
        return section(title)
    missing = wording.listing((game.name for game in found.games if game not in found.played), last="or")
    lacking = Prose(f"No score on {missing}: where exploration matters, play these too.", "weak") if missing else None
    several = len(found.games[0].scores) > 1
    who = Column("algorithm", "name") if several else None
    heads = ("score", "HNS", "random", "human", "best other", Column("published by", "prose", optional=True))
    rows = [
        (
            game.name,
            score.algorithm,
            Cell(wording.score(score.score), "strong", sort=score.score),
            wording.percent(score.hns),
            wording.reference(game.random),
            wording.reference(game.human),
            wording.reference(game.best),
            f"{game.best_algorithm}, {game.best_source}" if game.best_algorithm else wording.MISSING,
        )
        for game in found.played
        for score in game.scores
    ]
    return section(
        title, table(("game", who, *heads), rows, grouped=several), lacking, detail=detail or len(rows) > MOST_ROWS
    )
