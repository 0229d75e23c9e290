"""Data model of the catalogue: sources, entries, results, printed cells and errata.

A *source* is a paper, a *collection* what was read from one: its *entries*, one an algorithm, and their *results*, a
score each as it holds. What a paper prints stands in `PrintedCell`, and why it does not hold in `Erratum`. Games go by
the ids of `arcademark.suite.tasks`; frames are emulated; scores are raw game points.
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
        First author's family name and year, "fan-2021"; with a letter where two would share it.
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
    """One algorithm as one collection has it.

    Parameters
    ----------
    collection, algorithm : str
        "review-2021"; the name, unique in the collection.
    kind : str
        One of `ALGORITHM_KINDS`; actor-critics are "policy-based".
    paper : Source or None
        Publication of the scores; None for references such as Human.
    source, table : Source, str
        Publication and table that the collection has them from.
    training_frames : int or None
        0 for what does not train, None where not known.
    protocol : str
        A named protocol of `arcademark.suite.protocols`, or "" where none is known to fit.
    reported : {"training", "evaluation", "best", "unknown"}
        Phase or selection that the score is of.
    hand, read_in : {"first", "second"}, str
        "first" if the scores were read in `source` itself, "second" if in a copy, and which copy.
    settings : mapping of str to str, number or bool
        Known settings of play, e.g. "max episode length": "30 min", "frame stack": 4.
    assumed : tuple of str
        Names in `settings` that the source did not find in the original and assumed.
    unavailable : str
        Reason why results of the source could not be read, if it has any.
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
        """The algorithm's name across collections; entries with the same identity are no competitors."""
        return self.same_as or self.algorithm

    @property
    def qualified(self) -> str:
        """The name that distinguishes it from others of its name: "Agent57 (Fan 2021)"."""
        return f"{self.algorithm} ({self.source.short})"

    @property
    def origin(self) -> Source:
        """The first publication of the scores: the paper or, where none is named, the source."""
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
        Number of runs that the score is the mean of, where published.
    note : str
        Source of this score, if another than the entry's; doubts about it.
    as_published : float or None
        Score that the source has in place of `score`; None if it is the same.
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
        """The result as its source has it, which need not hold."""
        return self if self.as_published is None else replace(self, score=self.as_published, as_published=None)


@dataclass(frozen=True)
class PublishedCheckpoint:
    """Scores of an algorithm in the middle of its training; part of no table of scores.

    Parameters
    ----------
    entry : Entry
        Whose.
    training_frames : int
        Till then.
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
        "score", "hns", "hwrns" or "saber"; rows below the games stand in the column of the table's percentage.
    """

    table: Annotated[int, Meta(ge=1)]
    row: str
    algorithm: Text
    quantity: Annotated[str, Meta(pattern="^(score|hns|hwrns|saber)$")]


@dataclass(frozen=True)
class PrintedCell:
    """A paper's print at one place, character by character."""

    place: Location
    printed: Text


@dataclass(frozen=True)
class Erratum:
    """Something printed that does not hold, or two printed things that cannot both hold.

    Parameters
    ----------
    paper : str
        The source's key.
    where, place : str, Location or None
        In words, "Table 3, Rainbow, James Bond, HNS", and as the cell of the review's Tables 3–14, where it is one.
    printed, holds : str
        Printed value, both if two places disagree; correct value, or "not decidable".
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
