"""Data model of the catalogue: sources, entries, results, printed cells and errata.

A *source* is a paper. A *collection* contains the data read from one: its *entries*, one per algorithm, and their
*results*, one correct score each. `PrintedCell` is the printed form of a cell, and `Erratum` explains an incorrect one.
Games have the ids of `arcademark.suite.tasks`; frames are emulated; scores are raw game points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, TypeAlias, get_args

from msgspec import Meta

Text = Annotated[str, Meta(pattern=r"\S")]
"""Text that is not blank."""

AlgorithmKind = Literal[
    "value-based",
    "policy-based",
    "model-based",
    "planning",
    "exploration",
    "linear",
    "evolutionary",
    "baseline",
    "reference",
]
ALGORITHM_KINDS: tuple[AlgorithmKind, ...] = get_args(AlgorithmKind)
MODEL_FREE: tuple[AlgorithmKind, ...] = ("value-based", "policy-based")
"""Kinds that a filter calls "model-free"."""

Reported = Literal["training", "evaluation", "best", "unknown"]
REPORTED: tuple[Reported, ...] = get_args(Reported)

Hand = Literal["first", "second"]


@dataclass(frozen=True)
class Source:
    """A paper.

    Parameters
    ----------
    key : str
        First author's family name and year, "fan-2021"; with a letter if two would share it.
    authors, title, venue : str
        As cited; authors beyond the first may be "et al.".
    year : int
        Year of publication.
    """

    key: str
    authors: str
    title: str
    venue: str
    year: int

    @property
    def short(self) -> str:
        """The short citation: "Fan 2021", "Aitchison et al. 2023", "Badia et al. 2020a"."""
        return f"{self.authors} {self.year}{self.key.partition(str(self.year))[2]}"


SettingValue: TypeAlias = str | int | float | bool


@dataclass(frozen=True)
class Entry:
    """One algorithm of one collection.

    Parameters
    ----------
    collection, algorithm : str
        The collection, "review-2021", and the algorithm's name, unique in the collection.
    kind : str
        One of `ALGORITHM_KINDS`; actor-critics are "policy-based".
    paper : Source or None
        Publication of the scores; None for references such as Human.
    source, table : Source, str
        Publication and table from which the collection has them.
    training_frames : int or None
        0 without training, None if not known.
    protocol : str
        A named protocol of `arcademark.suite.protocols`, or "" if none is known to match.
    reported : {"training", "evaluation", "best", "unknown"}
        Phase or selection that the score is of.
    hand, read_in : {"first", "second"}, str
        "first" if the scores were read in `source` itself, "second" if in a copy, and the name of the copy.
    settings : mapping of str to str, number or bool
        Known settings of play, e.g. "max episode length": "30 min", "frame stack": 4.
    assumed : tuple of str
        Names in `settings` whose values the source assumed, because the original does not state them.
    unavailable : str
        Reason why the source's scores could not be read; "" if they could.
    note : str
    same_as : str
        Algorithm that this is, or is a variant or another implementation of, if the source gives it another name:
        "GDI-H3" for "GDI-H3(200M frames)", "Rainbow" for "Rainbow (Dopamine)".
    """

    collection: str
    algorithm: str
    kind: AlgorithmKind
    paper: Source | None
    source: Source
    table: str
    training_frames: int | None
    protocol: str
    reported: Reported
    hand: Hand
    settings: Mapping[str, SettingValue] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    read_in: str = ""
    unavailable: str = ""
    note: str = ""
    same_as: str = ""

    @property
    def identity(self) -> str:
        """The algorithm's name across collections; entries with the same identity are the same algorithm."""
        return self.same_as or self.algorithm

    @property
    def qualified(self) -> str:
        """The name that distinguishes it from others of its name: "Agent57 (Fan 2021)"."""
        return f"{self.algorithm} ({self.source.short})"

    @property
    def origin(self) -> Source:
        """The first publication of the scores: the paper or, if none is named, the source."""
        return self.paper or self.source

    @property
    def year(self) -> int:
        """The year of first publication."""
        return self.origin.year


@dataclass(frozen=True)
class Result:
    """One published score.

    Parameters
    ----------
    entry, task : Entry, str
        Entry and game of the score.
    score : float
        The correct score, in game points.
    uncertainty, uncertainty_kind : float or None, str
        As published: "standard deviation over 30 trials".
    runs : int or None
        Number of runs that the score is averaged over, where published.
    note : str
        Source of this score, if it is not the entry's; doubts about it.
    as_published : float or None
        The source's incorrect score; None if `score` is the source's.
    per_run : tuple of float
        The scores of single runs, where published; `score` is their mean.
    """

    entry: Entry
    task: str
    score: float
    uncertainty: float | None = None
    uncertainty_kind: str = ""
    runs: int | None = None
    note: str = ""
    as_published: float | None = None
    per_run: tuple[float, ...] = ()

    @property
    def published(self) -> Result:
        """The result with the source's score, which may be incorrect."""
        return self if self.as_published is None else replace(self, score=self.as_published, as_published=None)


@dataclass(frozen=True)
class PublishedCheckpoint:
    """Scores of an algorithm in the middle of its training, which are not part of tables of scores.

    Parameters
    ----------
    entry : Entry
        Entry of the algorithm.
    training_frames : int
        Training frames so far.
    scores : mapping of str to float
        Raw scores by game: the mean over runs of training episodes.
    """

    entry: Entry
    training_frames: int
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Location:
    """A cell of a printed table.

    Parameters
    ----------
    table : int
    row : str
        A game's id; or "training frames", "mean", "mean efficiency", "median", "median efficiency", "hwrb".
    algorithm : str
        As entries name it.
    quantity : str
        "score", "hns", "hwrns" or "saber"; rows below the games are in the column of the table's percentage.
    """

    table: Annotated[int, Meta(ge=1)]
    row: str
    algorithm: Text
    quantity: Annotated[str, Meta(pattern="^(score|hns|hwrns|saber)$")]


@dataclass(frozen=True)
class PrintedCell:
    """A printed cell of a paper, character by character."""

    place: Location
    printed: Text


@dataclass(frozen=True)
class Erratum:
    """An incorrect printed value, or two printed values that contradict each other.

    Parameters
    ----------
    paper : str
        The source's key.
    where, place : str, Location or None
        Place in words, "Table 3, Rainbow, James Bond, HNS", and as a cell if it is one of the review's Tables 3–14.
    printed, holds : str
        The printed value, or both if two places disagree; the correct value, or "not decidable".
    category : str
        "lost factor", "shifted column", "other reference", "copied cell", "unit", "texts disagree", …
    why : str
        Evidence.
    """

    paper: str
    where: Text
    place: Location | None
    printed: Text
    holds: Text
    category: Text
    why: Text
