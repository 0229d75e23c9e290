"""The catalogue as documents and as CSV: algorithms with their scores and human-normalised scores (HNS).

HNS is in percent, with the random and human scores of the suite "atari-57", and None on games that are not in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from arcademark import wording
from arcademark.analysis import measures
from arcademark.analysis.document import same_fields
from arcademark.analysis.settings import in_frames, of_entry
from arcademark.catalogue import collections
from arcademark.catalogue.errata import NOT_DECIDABLE
from arcademark.catalogue.model import AlgorithmKind, Entry, Erratum, Hand, Reported, SettingValue, Source
from arcademark.grouping import grouped
from arcademark.metrics.aggregate import mean, median
from arcademark.scores.formulas import as_csv
from arcademark.suite import anomalies, references, tasks
from arcademark.suite.anomalies import Anomaly
from arcademark.suite.settings import format_setting


@dataclass(frozen=True)
class PublishedScore:
    """One published score.

    score: The correct score, in game points.
    hns: Human-normalised score in percent.
    uncertainty: Uncertainty as published; `uncertainty_kind` names its kind.
    runs: Number of runs that the score is averaged over, where published.
    as_published: The source's score if it is incorrect.
    """

    game: str
    score: float
    hns: float | None
    uncertainty: float | None
    uncertainty_kind: str
    runs: int | None
    note: str
    as_published: float | None


@dataclass(frozen=True)
class Published:
    """One algorithm of one collection.

    name: Name, unique among those shown.
    same_as: Usual name of the algorithm, if the source uses another one.
    year: Year of first publication.
    published_by: None for references such as Human.
    table: Table of the source.
    citation: Publication of the scores and where they were read.
    hand: "first" if they were read in the source itself, "second" if in a copy, which `read_in` names.
    training_frames: Emulated frames; None where not known.
    reported: Phase or selection that the scores are of.
    assumed: Settings that the source assumed.
    unavailable: Reason why there are no scores.
    mean_hns, median_hns: In percent, over the games with reference scores.
    scores: In a suite's order; None in a list of algorithms.
    """

    name: str
    collection: str
    algorithm: str
    same_as: str | None
    kind: AlgorithmKind
    year: int
    published_by: Source | None
    source: Source
    table: str
    citation: str
    hand: Hand
    read_in: str
    training_frames: int | None
    protocol: str | None
    reported: Reported
    settings: Mapping[str, SettingValue]
    assumed: tuple[str, ...]
    games: int
    unavailable: str | None
    note: str
    mean_hns: float | None
    median_hns: float | None
    scores: tuple[PublishedScore, ...] | None

    REPORTED: ClassVar = {
        "training": "the average while training",
        "evaluation": "an evaluation apart from training",
        "best": "the best policy or run",
        "unknown": "not known",
    }

    @property
    def budget(self) -> str:
        """Training frames as papers write them: "200M", "10B", "none", "–"."""
        if not self.training_frames:
            return wording.MISSING if self.training_frames is None else "none"
        return wording.frames(self.training_frames)

    @property
    def readable_settings(self) -> Iterator[tuple[str, str]]:
        """Settings by the names that people read."""
        for name, value in of_entry(self.settings).items():
            yield name, format_setting(value) + " (assumed)" * (name in self.assumed)

    @property
    def uncertainties(self) -> tuple[str, ...]:
        """The kinds of uncertainty that the scores are published with."""
        return tuple(dict.fromkeys(score.uncertainty_kind for score in self.scores or () if score.uncertainty_kind))

    @property
    def marks(self) -> dict[str, int]:
        """The scores' notes, numbered."""
        notes = dict.fromkeys(score.note for score in self.scores or () if score.note)
        return {note: number for number, note in enumerate(notes, 1)}


@dataclass(frozen=True)
class Catalogue:
    """Algorithms of the catalogue, with or without scores."""

    SCHEMA: ClassVar[str] = "arcademark.catalogue/2"

    algorithms: tuple[Published, ...]

    CHECKED: ClassVar = anomalies.CHECKED

    @property
    def collections(self) -> dict[str, list[Published]]:
        """The algorithms of each collection."""
        return grouped((item.collection, item) for item in self.algorithms)

    @staticmethod
    def differing(items: Iterable[Published]) -> tuple[list[str], list[str]]:
        """Return the algorithms whose scores differ from today's emulator, and the games."""
        who, games = [], dict[str, None]()
        for item in items:
            papers = {item.source.key, item.published_by.key if item.published_by else ""}
            if not item.unavailable and (differing := anomalies.differing(papers)):
                who.append(item.algorithm)
                games |= dict.fromkeys(differing)
        return who, [tasks.game_name(game) for game in games]


@dataclass(frozen=True)
class Errata:
    """Errors in papers, with the correct values."""

    SCHEMA: ClassVar[str] = "arcademark.errata/1"

    errata: tuple[Erratum, ...]

    NOT_DECIDABLE: ClassVar = NOT_DECIDABLE

    @property
    def sources(self) -> Mapping[str, Source]:
        """Papers by key."""
        return collections.sources()

    @property
    def papers(self) -> dict[str, list[Erratum]]:
        """The errata of each paper."""
        return grouped((slip.paper, slip) for slip in self.errata)

    @property
    def categories(self) -> list[tuple[str, Counter[str]]]:
        """Categories, the most frequent first, each with the number of errata by paper."""
        papers = grouped((slip.category, slip.paper) for slip in self.errata)
        counts = [(category, Counter(of)) for category, of in papers.items()]
        return sorted(counts, key=lambda row: (-row[1].total(), row[0]))


def catalogue(entries: Mapping[str, Entry], *, scores: bool = True) -> Catalogue:
    """Return entries of `arcademark.catalogue.collections.select` as a catalogue, with their scores or without."""
    every = (_published(name, entry) for name, entry in entries.items())
    return Catalogue(tuple(item if scores else replace(item, scores=None) for item in every))


def _published(name: str, entry: Entry) -> Published:
    results = collections.scores_of(entry)
    order = collections.in_order(results)
    anchored = [game for game in order if game in references.scores("random")]
    values = measures.hns([results[game].score for game in anchored], anchored)
    normalised = dict(zip(anchored, values.tolist(), strict=True))
    known = same_fields(Published, entry)
    differing = anomalies.differing([paper.key for paper in (entry.source, entry.paper) if paper])
    missing = {field: known[field] or None for field in ("same_as", "protocol", "unavailable")}
    return Published(
        **{**known, **missing, "settings": in_frames(entry.settings)},
        name=name,
        published_by=entry.paper,
        citation=collections.citation(entry),
        games=len(results),
        mean_hns=float(mean(values)) if anchored else None,
        median_hns=float(median(values)) if anchored else None,
        scores=tuple(
            PublishedScore(
                **same_fields(PublishedScore, results[game])
                | {"note": _noted(results[game].note, differing.get(game))},
                game=game,
                hns=normalised.get(game),
            )
            for game in order
        ),
    )


def _noted(note: str, differs: Anomaly | None) -> str:
    """Add to a score's note that it is not comparable with those of today's emulator, with the details."""
    more = f"Not comparable with scores of today's emulator: {differs.note}" if differs else ""
    return " ".join(filter(None, (note, more)))


def long_csv(algorithms: Iterable[Published]) -> str:
    """Return the scores as CSV with a row per score, which the readers of score tables understand."""
    rows = [_row(item, score) for item in algorithms for score in item.scores or ()]
    return as_csv([LONG_COLUMNS, *([_text(row[column]) for column in LONG_COLUMNS] for row in rows)])


LONG_COLUMNS = (
    *("algorithm", "game", "score", "uncertainty", "uncertainty_kind", "runs", "note"),
    *("collection", "kind", "training_frames", "protocol", "reported", "published_by", "year", "source", "table"),
    *("hand", "read_in", "same_as", "as_published"),
)


def _row(item: Published, score: PublishedScore) -> dict[str, object]:
    papers = {"source": item.source.short, "published_by": item.published_by.short if item.published_by else ""}
    return {**vars(item), **vars(score), **papers, "algorithm": item.name}


def wide_csv(algorithms: Iterable[Published]) -> str:
    """Return the scores as CSV with a row per game and a column per algorithm; empty where there is no score."""
    by_name = {item.name: {score.game: score.score for score in item.scores} for item in algorithms if item.scores}
    games = collections.in_order({game for scores in by_name.values() for game in scores})
    rows = [[game, *(_text(scores.get(game)) for scores in by_name.values())] for game in games]
    return as_csv([["game", *by_name], *rows])


def _text(value: object) -> str:
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return "" if value is None else str(value)
