"""Columns of published scores, errata, and checks of the catalogue."""

from __future__ import annotations

from collections import Counter

from arcademark import wording
from arcademark.analysis.catalogue import Errata, Published, PublishedScore
from arcademark.catalogue.adding import CollectionOverlap
from arcademark.catalogue.check import CatalogueFinding, CollectionCount
from arcademark.catalogue.model import Erratum
from arcademark.pages.columns import Column, Columns
from arcademark.suite import references
from arcademark.suite.tasks import game_name

COUNTS: Columns[CollectionCount] = (
    Column("collection", lambda row: row.collection),
    Column("algorithms", lambda row: row.algorithms),
    Column("games", lambda row: row.games),
    Column("scores", lambda row: row.results),
    Column("lost", lambda row: row.lost),
)
FINDINGS: Columns[CatalogueFinding] = (
    Column("where", lambda row: row.where),
    Column("problem", lambda row: row.problem, kind="prose", style="bad"),
)
REMARKS: Columns[CatalogueFinding] = (
    Column("where", lambda row: row.where),
    Column("unusual scores", lambda row: row.problem, kind="prose", style="doubtful"),
)
COMPARED: Columns[CollectionOverlap] = (
    Column("algorithm", lambda row: row.algorithm),
    Column("beside", lambda row: row.other),
    Column("of", lambda row: row.collection),
    Column("games of both", lambda row: row.games),
    Column("equal scores", lambda row: row.equal),
)
SLIPS: Columns[Erratum] = (
    Column("where", lambda slip: slip.where, kind="prose", style="strong", below=lambda slip: slip.category),
    Column("printed", lambda slip: slip.printed, kind="prose"),
    Column("correct", lambda slip: slip.holds, kind="prose"),
    Column("reason", lambda slip: slip.why, kind="prose"),
)


def algorithms(summaries: bool) -> Columns[Published]:
    """Return the columns of algorithms, with summaries or with the protocol."""
    return (
        Column("algorithm", lambda row: row.algorithm, style="strong"),
        Column("kind", lambda row: row.kind, kind="name"),
        Column("year", lambda row: row.year, str),
        Column("frames", lambda row: row.budget),
        Column("games", lambda row: "missing" if row.unavailable else row.games),
        Column("mean HNS", lambda row: row.mean_hns, wording.percent) if summaries else None,
        Column("median HNS", lambda row: row.median_hns, wording.percent) if summaries else None,
        None if summaries else Column("protocol", lambda row: row.protocol, kind="name"),
        Column("published by", lambda row: row.published_by and row.published_by.short, kind="name", optional=True),
    )


def scores(it: Published) -> Columns[PublishedScore]:
    """Return the columns of each score."""
    marks, every = it.marks, it.scores or ()
    random, human = (references.scores(kind) for kind in ("random", "human"))
    return (
        Column("game", lambda row: f"{game_name(row.game)}{f' [{marks[row.note]}]' if row.note else ''}"),
        Column("score", lambda row: row.score, wording.reference, style="strong"),
        Column("±", lambda row: row.uncertainty, wording.reference) if it.uncertainties else None,
        Column("HNS", lambda row: row.hns, wording.percent),
        Column("runs", lambda row: row.runs) if any(one.runs is not None for one in every) else None,
        Column("random", lambda row: random.get(row.game), wording.reference, optional=True),
        Column("human", lambda row: human.get(row.game), wording.reference, optional=True),
    )


def categories(it: Errata) -> Columns[str, Counter[str]]:
    """Return the columns of each category of errata."""

    def paper(name: str) -> Column[str, Counter[str]]:
        return Column(name, lambda _, errata: errata[name] or None, optional=True)

    return (
        Column("category", lambda category, _: category),
        Column("errata", lambda _, errata: errata.total()),
        *map(paper, it.papers),
    )
