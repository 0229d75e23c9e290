"""Data of the leaderboard: frozen, written once; the browser draws every page from it.

* What is long is kept in arrays: an algorithm's scores stand in the order of the document's games, and a number with
  its interval is a list of one number, or of three: value, low end, high end. Empty lists are scores not there.
* Normalised scores and summaries are in percent, scores in points, lengths in emulated frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from arcademark.analysis.document import Notice
from arcademark.analysis.estimates import Estimate
from arcademark.analysis.scoring import ranking
from arcademark.analysis.tables.document import Pooled
from arcademark.analysis.uncertainty import Intervals
from arcademark.catalogue.model import Source
from arcademark.metrics.aggregate import Aggregate
from arcademark.suite.anomalies import Anomaly

Badge = Literal["yours", "replayed", "differs", "imported", "per-seed", "as-published", "errata"]
"""Given beside the catalogue; replayed and confirmed, or not; scores of logs made elsewhere; of single runs; as
printed; with slips in print."""

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class SiteGame:
    """A game that anybody has a score of.

    id, name: "battle_zone", "Battle Zone".
    references: Reference scores of atari-57 by kind, where there are any.
    spellings: Possible names in a file, letters and digits alone.
    """

    id: str
    name: str
    genre: str
    hard_exploration: bool
    references: Mapping[str, float]
    anomalies: tuple[Anomaly, ...]
    spellings: tuple[str, ...]


@dataclass(frozen=True)
class SiteMeasure:
    """A way to normalise scores.

    low, high: The scores of 0 % and of 100 % by game.
    bounds: Within which it is held, in percent; empty where it is not.
    of_means: True if it places means over runs, and no single runs.
    """

    metric: str
    title: str
    meaning: str
    low: Mapping[str, float]
    high: Mapping[str, float]
    bounds: Numbers
    of_means: bool


@dataclass(frozen=True)
class View:
    """Games that summaries are over, and their measures.

    name: "atari-57".
    suite: Suite whose references are taken; for a subset, the suite that it is of.
    games: Ids.
    coefficients: Coefficients of a subset's published model, one per game.
    """

    name: str
    title: str
    suite: str
    games: tuple[str, ...]
    measures: tuple[SiteMeasure, ...]
    coefficients: tuple[float, ...] = ()


@dataclass(frozen=True)
class Group:
    """Algorithms that were played alike, as far as is known.

    settings: The values of the settings that tell groups apart, in order; "not known" where they are not.
    known: True if all of them are: only then may its algorithms be ranked with each other.
    """

    title: str
    settings: Mapping[str, str]
    known: bool


@dataclass(frozen=True)
class Standing:
    """An algorithm over the games of a view.

    games: Number of them that it has.
    summaries: Numbers with their intervals, by metric and statistic.
    records, human_level: Human world records broken, and games at human level; of how many games that can be told.
    """

    games: int
    summaries: Mapping[str, Mapping[str, Numbers]]
    records: int | None
    human_level: int | None
    of: int


@dataclass(frozen=True)
class SiteErratum:
    """Something printed that does not hold.

    paper: Its key.
    algorithm, game: Algorithm and game of a cell of a table: a name as printed, and an id; else "".
    """

    paper: str
    where: str
    algorithm: str
    game: str
    printed: str
    holds: str
    why: str


@dataclass(frozen=True)
class Curve:
    """Training on a game: mean scores over seeds, and the training frames of each."""

    game: str
    frames: Numbers
    scores: Numbers


@dataclass(frozen=True)
class Film:
    """The beginning of an episode as a moving picture.

    file: Its path below the folder of the pages.
    shown, frames: Numbers of frames that it shows, and that the episode has.
    """

    game: str
    file: str
    seed: int
    episode: int
    score: float
    shown: int
    frames: int


@dataclass(frozen=True)
class Replay:
    """Result of replaying a run's episodes."""

    episodes: int
    confirmed: int
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """One algorithm.

    name: Unique among all.
    identity: Algorithm that it is, if several rows are of the same.
    kind: One of the catalogue's; "run" where it was played here, "table" of other tables.
    year: Year of publication; None for runs.
    paper: The key of the paper that published it; "" of runs.
    source: Publication of the scores, and where they were read; for runs the directory's name.
    source_paper: The key of the paper that they were read in.
    group: The one of the document's groups that it is in.
    settings: Everything that is known of how it was played.
    assumed: The settings that the source assumed.
    reported: Phase or selection that its scores are of.
    fewest_runs, most_runs: Runs a game.
    pooled: As in `arcademark.analysis.tables.document.Algorithm`.
    scores: The scores of single runs, or one score, by the document's games.
    reaches: The ends of the scores' intervals, by the document's games.
    published: The source's own scores that are incorrect, by game.
    notes: Remarks on scores, by game.
    precedence: Position among the results of its identity, by `arcademark.analysis.scoring.ranking`; 0 represents it.
    standings: Standings by view.
    estimate: Estimate of the median HNS over atari-57, if it has some of these games only.
    predicted: Estimate of that median in percent from the games of `Site.predicted_from`, with its interval, by a model
        fitted without its paper; only where all games are known.
    """

    name: str
    identity: str
    source: str
    group: int
    settings: Mapping[str, str]
    training_frames: int | None
    fewest_runs: int
    most_runs: int
    badges: tuple[Badge, ...]
    scores: tuple[Numbers, ...]
    reaches: tuple[Numbers, ...]
    standings: Mapping[str, Standing]
    estimate: Estimate | None
    predicted: Numbers = ()
    pooled: Pooled = ""
    kind: str = "table"
    year: int | None = None
    paper: str = ""
    source_paper: str = ""
    collection: str = ""
    note: str = ""
    assumed: tuple[str, ...] = ()
    reported: str = "unknown"
    precedence: int = 0
    published: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    replay: Replay | None = None
    curves: tuple[Curve, ...] = ()
    films: tuple[Film, ...] = ()


@dataclass(frozen=True)
class SitePaper:
    """A paper, and where it is; "" where no address is known."""

    source: Source
    short: str
    url: str


@dataclass(frozen=True)
class Model:
    """Model by which the browser predicts the median: `arcademark.analysis.subsets.predictors.Predictor`.

    Arrays are the bytes of numbers of 64 bits, of noise of 32, little end first, in base 64. The first distribution is
    of all algorithms, each other one of all without a group.

    tasks: Games, in the order of arrays.
    low, high: The scores of 0 % and 100 %, by game.
    means: Means by distribution and game.
    precisions: Lower triangles of the inverse covariances by distribution, row after row.
    percent: Scores by algorithm learnt from and game; NaN where missing.
    groups: The group of each.
    named: Groups by names of algorithms in lower case.
    distributions: The group that each distribution but the first is without.
    noise: Standard normal draws, by draw and game; of which errors take one of so many as `fewer`.
    freedom: Degrees of freedom, by which intervals widen.
    bandwidth, shrink, least_scale, truths: As in `arcademark.subset.predict.calibration`.
    least_reach: Number of scales that an interval reaches at least.
    level: Coverage of intervals.
    caution: Remark on scores whose frame cap is not known.
    """

    tasks: tuple[str, ...]
    low: Numbers
    high: Numbers
    means: str
    precisions: str
    percent: str
    groups: tuple[str, ...]
    named: Mapping[str, str]
    distributions: tuple[str, ...]
    noise: str
    fewer: int
    freedom: float
    bandwidth: float
    shrink: float
    least_scale: float
    least_reach: float
    truths: Numbers
    level: float
    caution: str


@dataclass(frozen=True)
class Site:
    """The leaderboard.

    collections: Collections of the catalogue; "all".
    told_apart: The settings by which groups are told apart, in order.
    papers: Papers by key.
    notices: Notices of the first view.
    unit: Unit of lengths; elsewhere they are called frames, and what is played games.
    model: Model that estimates the first view's median; None if it is not estimated.
    predicted_from: The subset that rows' `predicted` is from; "" where there is none.
    aggregates: The statistics that sum scores up, in their order.
    nearly_all: Share of a view's games from which on a median counts as one of all.
    ranking: Medians of published algorithms in percent, best first, as in `arcademark.analysis.scoring.ranking`.
    beside: Names of a table's columns, in small letters, that may be no algorithms.
    rules: Meaning of columns' names, as `arcademark.scores.readers.role_names` has it.
    """

    SCHEMA: ClassVar[str] = "arcademark.site/1"

    generator: str
    collections: tuple[str, ...]
    intervals: Intervals
    games: tuple[SiteGame, ...]
    views: tuple[View, ...]
    told_apart: tuple[str, ...]
    groups: tuple[Group, ...]
    algorithms: tuple[Row, ...]
    papers: Mapping[str, SitePaper]
    errata: tuple[SiteErratum, ...]
    notices: tuple[Notice, ...]
    unit: Literal["frame", "step"] = "frame"
    model: Model | None = None
    predicted_from: str = ""
    aggregates: tuple[Aggregate, ...] = ()
    nearly_all: float = ranking.NEARLY_ALL
    ranking: Numbers = ()
    beside: tuple[str, ...] = ()
    rules: Mapping[str, Any] = field(default_factory=dict)
