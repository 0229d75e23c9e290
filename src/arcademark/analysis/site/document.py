"""Data of the leaderboard: frozen, written once; the browser draws every page from it.

* Long data are arrays: an algorithm's scores are in the order of the document's games, and a number with its interval
  is a list of one number, or of three: value, low end, high end. Empty lists are missing scores.
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
"""The user's own; replayed and confirmed, or not; imported from logs; with scores of single runs; scores as published;
with errors in print."""

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class SiteGame:
    """A game on which at least one algorithm has a score.

    id, name: "battle_zone", "Battle Zone".
    references: Reference scores of atari-57 by kind, where there are any.
    spellings: Possible names in a file, reduced to letters and digits.
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
    bounds: Limits to which scores are clipped, in percent; empty without limits.
    of_means: True if it normalises means over runs, not single runs.
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

    name: Name of the suite or subset, "atari-57".
    suite: Suite whose references are used; for a subset, the suite of the subset.
    games: Ids of the games.
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
    """Algorithms that were played under the same settings, as far as is known.

    settings: The values of the settings that distinguish groups, in order, or "not known".
    known: True if all of them are known; only then may its algorithms be ranked with each other.
    """

    title: str
    settings: Mapping[str, str]
    known: bool


@dataclass(frozen=True)
class Standing:
    """Summary of an algorithm over the games of a view.

    games: Number of these games with a score.
    summaries: Numbers with their intervals, by metric and statistic.
    records, human_level, of: Numbers of human world records broken, of games at human level, and of games with the
        references that these need.
    """

    games: int
    summaries: Mapping[str, Mapping[str, Numbers]]
    records: int | None
    human_level: int | None
    of: int


@dataclass(frozen=True)
class SiteErratum:
    """An erratum of a paper.

    paper: The paper's key.
    algorithm, game: Algorithm, as printed, and id of the game of a table's cell; else "".
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
    """An animation of the beginning of an episode.

    file: Path below the folder of the pages.
    shown, frames: Numbers of frames in the animation, and in the episode.
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

    name: Name, unique among all rows.
    identity: Name of the algorithm, which several rows may share.
    kind: One of the catalogue's kinds; "run" for runs, "table" for other tables.
    year: Year of publication; None for runs.
    paper: The key of the paper that published it; "" for runs.
    source: Publication of the scores, and where they were read; for runs the directory's name.
    source_paper: The key of the paper that they were read in.
    group: Index of its group in the document.
    settings: All known settings under which it was played.
    assumed: The settings that the source assumed.
    reported: Phase or selection that its scores are of.
    fewest_runs, most_runs: Least and greatest number of runs per game.
    pooled: As in `arcademark.analysis.tables.document.Algorithm`.
    scores: The scores of single runs, or one score, by the document's games.
    reaches: The ends of the scores' intervals, by the document's games.
    published: Incorrect scores as the source has them, by game.
    notes: Remarks on scores, by game.
    precedence: Position among the results of its identity, by `arcademark.analysis.scoring.ranking`; 0 represents it.
    standings: Standings by view.
    estimate: Estimate of the median HNS over atari-57, if games are missing.
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
    """A paper, and its address, "" if it is not known."""

    source: Source
    short: str
    url: str


@dataclass(frozen=True)
class Model:
    """Model by which the browser predicts the median: `arcademark.analysis.subsets.predictors.Predictor`.

    Arrays are little-endian 64-bit (noise: 32-bit) floats in base 64. The first distribution is fitted to all
    algorithms, each other one to all without a group.

    tasks: Games, in the order of arrays.
    low, high: The scores of 0 % and 100 %, by game.
    means: Means by distribution and game.
    precisions: Lower triangles of the inverse covariances by distribution, row after row.
    percent: Scores by training algorithm and game; NaN where missing.
    groups: The group of each training algorithm.
    named: Groups by names of algorithms in lower case.
    distributions: The group left out of each distribution but the first.
    noise: Standard normal draws, by draw and game; errors use every `fewer`-th draw.
    freedom: Degrees of freedom, by which intervals widen.
    bandwidth, shrink, least_scale, truths: As in `arcademark.subset.predict.calibration`.
    least_reach: Least half-width of an interval, in scales.
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

    collections: Names of the catalogue's collections, or "all".
    told_apart: The settings that distinguish groups, in order.
    papers: Papers by key.
    notices: Notices of the first view.
    unit: Unit of lengths, which fields call frames, as they call tasks games.
    model: Model that estimates the first view's median; None if it is not estimated.
    predicted_from: The subset that rows' `predicted` is estimated from; "" if there is none.
    aggregates: The statistics that summarise scores, in order.
    nearly_all: Least share of a view's games whose median counts as that of all.
    ranking: Medians of published algorithms in percent, best first, as in `arcademark.analysis.scoring.ranking`.
    beside: Names, in lower case, of columns of a table that may not be algorithms.
    rules: Meaning of columns' names, as in `arcademark.scores.readers.words.role_names`.
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
