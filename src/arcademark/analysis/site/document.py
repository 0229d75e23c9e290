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
    spellings: What its name may be in a file, letters and digits alone.
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
    of_means: Whether it places means over runs, and no single runs.
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
    suite: Whose references are taken; of a subset, the suite that it is of.
    games: Ids.
    coefficients: Of a subset's published model, one per game.
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
    known: Whether all of them are: only then may its algorithms be ranked with each other.
    """

    title: str
    settings: Mapping[str, str]
    known: bool


@dataclass(frozen=True)
class Standing:
    """An algorithm over the games of a view.

    games: How many of them it has.
    summaries: By metric and statistic, a number with its interval.
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
    algorithm, game: Whom and what it is of, where it is a cell of a table: a name as printed, and an id; else "".
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
    shown, frames: How many frames it shows, and how many the episode has.
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
    identity: Which algorithm it is, where several rows are of the same.
    kind: One of the catalogue's; "run" where it was played here, "table" of other tables.
    year: Of publication; None of runs.
    paper: The key of the paper that published it; "" of runs.
    source: Who published the scores, and where they were read; of runs the directory's name.
    source_paper: The key of the paper that they were read in.
    group: Which of the document's groups it is in.
    settings: Everything that is known of how it was played.
    assumed: The settings that the source assumed.
    reported: What its scores are of.
    fewest_runs, most_runs: Runs a game.
    pooled: As in `arcademark.analysis.tables.document.Algorithm`.
    scores: The scores of single runs, or one score, by the document's games.
    reaches: The ends of the scores' intervals, by the document's games.
    published: By game, what the source has in place of a score that does not hold.
    notes: By game, what is to be said of a score.
    precedence: Position among the results of its identity, by `arcademark.analysis.scoring.ranking`; 0 represents it.
    standings: By view.
    estimate: Of the median HNS over atari-57, where it has some of these games only.
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
    means: By distribution and game.
    precisions: By distribution, the lower triangle of the inverse covariance, row after row.
    percent: By algorithm learnt from and game; NaN where missing.
    groups: The group of each.
    named: Groups by names of algorithms in lower case.
    distributions: The group that each distribution but the first is without.
    noise: Standard normal draws, by draw and game; of which errors take one of so many as `fewer`.
    freedom: Degrees of freedom, by which intervals widen.
    bandwidth, shrink, least_scale, truths: As in `arcademark.subset.predict.calibration`.
    least_reach: How many scales an interval reaches at least.
    level: Of intervals.
    caution: What is to be said of scores whose frame cap is not known.
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

    collections: Of the catalogue; "all".
    told_apart: The settings by which groups are told apart, in order.
    papers: By key.
    notices: Of the first view.
    unit: What lengths are counted in; elsewhere they are called frames, and what is played games.
    model: By which the first view's median is estimated; None where it is not.
    predicted_from: The subset that rows' `predicted` is from; "" where there is none.
    aggregates: The statistics that sum scores up, in their order.
    nearly_all: Share of a view's games from which on a median counts as one of all.
    ranking: Medians of published algorithms in percent, best first, as in `arcademark.analysis.scoring.ranking`.
    beside: Names of a table's columns, in small letters, that may be no algorithms.
    rules: What names of columns say, as `arcademark.scores.readers.role_names` has it.
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
