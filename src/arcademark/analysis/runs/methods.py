"""Paragraphs for a paper's methods section, written from the settings in effect."""

from __future__ import annotations

from collections.abc import Sequence

from arcademark import wording
from arcademark.analysis.runs.directory import Run, known_set
from arcademark.analysis.subsets import predictors
from arcademark.analysis.subsets.models import ANY
from arcademark.analysis.tables.document import Algorithm, ScoredGame
from arcademark.analysis.uncertainty import Intervals
from arcademark.grouping import grouped
from arcademark.suite import subsets
from arcademark.wording import prose

MAX_NAMES = 10
"""Maximum number of games that are listed by name although they are a suite or subset."""


def paragraphs(
    algorithms: Sequence[Algorithm], games: Sequence[ScoredGame], runs: Sequence[Run], scope: str, intervals: Intervals
) -> tuple[str, ...]:
    """Return paragraphs on the origin of the scores, run by run, and on the computed values."""
    from_any = [item for item in algorithms if item.estimated and item.estimated.subset == ANY]
    models = grouped(
        (one.subset, (item.name, one))
        for item in algorithms
        for one in (item.estimate, item.published)
        if one is not None and one.telling and one.subset != ANY
    )
    titles = {game.id: game.name for game in games}
    repeated = [
        (item.name, titles[score.game], score.played)
        for item in algorithms
        for score in item.scores
        if (cell := score.played) and score.score.low is not None and cell.different < len(cell.episodes)
    ]
    counts = [summary.games for item in algorithms for summary in item.summaries]
    return prose.paragraphs(
        "methods",
        algorithms=algorithms,
        games=games,
        runs=runs,
        scope=scope,
        names={run.name: _names(run, games) for run in runs},
        intervals=intervals,
        repeated=repeated,
        anchors={kind for game in games for kind, score in game.references.items() if score is not None},
        counts=counts,
        partial=any(count < len(games) for count in counts),
        from_any=from_any,
        trained=predictors.atari(from_any[0].estimate.suite).trained if from_any and from_any[0].estimate else None,
        by_model=[(subsets.subset(name), pairs) for name, pairs in models.items()],
    )


def _names(run: Run, games: Sequence[ScoredGame]) -> str:
    known = known_set([game.id for game in games if game.name in run.games]) if run.protocol.unit == "frame" else ""
    return known if known and len(run.games) > MAX_NAMES else wording.listing(run.games)
