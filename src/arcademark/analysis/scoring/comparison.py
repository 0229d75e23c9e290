"""Result types of a comparison of algorithms: frozen data.

Conventions are those of `arcademark.analysis.tables.document`. A difference is always the first algorithm's less the
second's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from arcademark.analysis.runs.learning import SampleEfficiency
from arcademark.analysis.tables.benchmarks import FROM_SCORES
from arcademark.analysis.tables.document import Side, Summary, TableDocument
from arcademark.analysis.uncertainty import Profile, Statistic, SummaryDifference
from arcademark.grouping import grouped
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.metrics.normalise import METRICS, Metric
from arcademark.metrics.ranking import Flip
from arcademark.metrics.sequential import SequentialPair, SequentialStep

Verdict = Literal["better", "worse", "undecided", "untested"]

MAX_DETAILED = 45
"""Pairs of which each game is shown: those of ten algorithms."""


@dataclass(frozen=True)
class ComparedSide(Side):
    """One of the algorithms compared.

    summary: Its own summary by the comparison's metric, over the games that all have and the metric knows; None where
        there is no such game.
    """

    summary: Summary | None = None


@dataclass(frozen=True)
class GameDifference:
    """Two algorithms on one game.

    game: Its id.
    first, second: Their scores, means over runs.
    difference: In points.
    normalised: The difference by the comparison's metric, in percent.
    p: p-value of a two-tailed Welch's t-test; None if it cannot be made.
    corrected_p: p-value by Holm's method over all such tests of the comparison, of every game and pair.
    verdict: Verdict on the first, at the tests' confidence.
    why: Reason why it is untested.
    improvement: Probability that a run of the first beats one of the second; a tie is half a win.
    seeds_needed: Runs of each with which such a test would find the difference seen, four times in five; None where the
        spread is not known, or there is no difference.
    """

    game: str
    first: float
    second: float
    difference: float
    normalised: float | None
    p: float | None
    corrected_p: float | None
    verdict: Verdict
    why: str
    improvement: float
    seeds_needed: int | None


@dataclass(frozen=True)
class Power:
    """Number of runs needed to detect the observed differences, if they are true.

    games: Games of which it can be told.
    enough: Number of these that have enough runs already.
    median_seeds: Middle number of runs that a game needs.
    metric, statistic: The summary that `seeds` is of.
    seeds: Runs a game with which the interval of the summary's difference would leave out 0, four times in five.
    """

    games: int
    enough: int
    median_seeds: float | None
    metric: str
    statistic: str
    seeds: int | None

    @property
    def title(self) -> str:
        """The title of its summary."""
        return AGGREGATES[self.statistic].title


@dataclass(frozen=True)
class Pair:
    """Two algorithms against each other.

    first, second: Their names.
    games: Games that both have.
    left_out: Names of the games that only one of them has.
    better, worse, undecided, untested: Games by the first's verdict: Bellemare et al. 2013, Table 3.
    improvement: Probability that a run of the first beats one of the second on a random game (Agarwal et al.
        2021).
    power: None where one of them has a single run.
    """

    first: str
    second: str
    games: tuple[GameDifference, ...]
    left_out: tuple[str, ...]
    better: int
    worse: int
    undecided: int
    untested: int
    improvement: Statistic
    summaries: tuple[SummaryDifference, ...]
    power: Power | None

    @property
    def median(self) -> Statistic | None:
        """The difference of medians by the first metric."""
        return self._difference("median")

    @property
    def iqm(self) -> Statistic | None:
        """The difference of interquartile means by the first metric."""
        return self._difference("iqm")

    def _difference(self, statistic: str) -> Statistic | None:
        return next((item.difference for item in self.summaries if item.statistic == statistic), None)

    @property
    def decided(self) -> int:
        """Games on which one is better."""
        return self.better + self.worse

    @property
    def tested(self) -> bool:
        """True if at least one game could be tested."""
        return self.untested < len(self.games)

    @property
    def ordered(self) -> list[GameDifference]:
        """The games, those with a decided difference first."""
        return sorted(self.games, key=lambda game: game.verdict not in ("better", "worse"))

    @property
    def higher(self) -> int:
        """Games on which the first's score is higher."""
        return sum(game.difference > 0 for game in self.games)

    @property
    def lower(self) -> int:
        """Games on which it is lower."""
        return sum(game.difference < 0 for game in self.games)

    def stand(self, alpha: float) -> int:
        """Count the differences that stand when corrected for the number of tests."""
        return sum(game.corrected_p is not None and game.corrected_p < alpha for game in self.games)


@dataclass(frozen=True)
class SequentialRuns:
    """The runs that an algorithm has, and those that it lacks.

    runs: On each of the games, in the order of the table.
    used: Number of these that were tested.
    more: Number of runs to make next; 0 if none of its pairs is open.
    """

    algorithm: str
    runs: int
    used: int
    more: int


@dataclass(frozen=True)
class Sequential:
    """Decision whether more runs are needed, by AdaStop (Mathieu et al. 2024).

    group, groups, alpha, permutations: As in `arcademark.metrics.sequential.SequentialPlan`.
    games: Games that all algorithms have. A run's score is in points where there is one, else a summary of all.
    metric, statistic: Metric and statistic of that summary, in percent; both "" if scores are in points.
    """

    group: int
    groups: int
    alpha: float
    permutations: int
    games: tuple[str, ...]
    metric: str
    statistic: str
    algorithms: tuple[SequentialRuns, ...]
    pairs: tuple[SequentialPair, ...]

    @property
    def title(self) -> str:
        """The title of its summary."""
        return AGGREGATES[self.statistic].title

    @property
    def lacking(self) -> Mapping[int, list[str]]:
        """The algorithms by how many runs more they need."""
        return grouped((side.more, side.algorithm) for side in self.algorithms if side.more)

    @property
    def needed(self) -> int:
        """The number of runs that these algorithms then have."""
        return max((side.runs + side.more for side in self.algorithms if side.more), default=0)

    @property
    def needed_group(self) -> int:
        """The number of the group of runs that is then complete."""
        return self.needed // self.group

    @property
    def rows(self) -> tuple[tuple[SequentialPair, SequentialStep | None], ...]:
        """The steps of a single pair, of several the last."""
        last = slice(-1 if len(self.pairs) > 1 else 0, None)
        return tuple((pair, step) for pair in self.pairs for step in (pair.steps[last] or (None,)))


@dataclass(frozen=True)
class Ranking:
    """The algorithms in the order that one measure gives.

    metric, title: Normalisation: HNS has the human average for its reference, HWRNS the world record, …
    statistic: Summary statistic.
    values: In percent, in the document's order of algorithms, over the games that all have.
    ranks: 1 is best; equal values share a rank.
    inversions: Pairs that stand in the opposite order to the first metric's median (Aitchison et al. 2023, §7).
    kendall_tau: Rank correlation with it; None where one of the two has no order.
    """

    metric: str
    title: str
    statistic: str
    values: tuple[float, ...]
    ranks: tuple[int, ...]
    inversions: int
    kendall_tau: float | None


@dataclass(frozen=True)
class Sensitivity:
    """Sensitivity of the order to the reference set and the metric.

    flips: No flips: no measure contradicts another.
    """

    rankings: tuple[Ranking, ...]
    flips: tuple[Flip, ...]

    @property
    def rows(self) -> tuple[tuple[str, Mapping[str, Ranking]], ...]:
        """The metrics by title, each with its rankings by statistic."""
        by_title = grouped((item.title, (item.statistic, item)) for item in self.rankings)
        return tuple((title, dict(pairs)) for title, pairs in by_title.items())


@dataclass(frozen=True)
class Ranks:
    """The distribution of an algorithm's ranks over games and resampled runs (Agarwal et al. 2021, §4.2).

    shares: Shares of the first rank, the second, …, as fractions; algorithms with equal scores share their ranks.
    mean: Mean rank; 1 is best.
    """

    algorithm: str
    shares: tuple[float, ...]
    mean: float


@dataclass(frozen=True)
class Comparison(TableDocument):
    """A comparison of algorithms.

    games: Games that at least two algorithms have.
    metric, metric_title, metric_meaning: What normalises where one metric is enough: in the games, the profiles and the
        power.
    confidence: Confidence of the tests, a fraction: 0.99.
    pairs: Each with each, in the algorithms' order.
    sensitivity: None where no game is common to all.
    sequential: None where it was not asked for.
    ranks: Ranks of all algorithms, in their order; empty if no game is common to all.
    sample_efficiency: Sample efficiency of those that learnt, by the first metric.
    """

    SCHEMA: ClassVar[str] = "arcademark.comparison/1"
    metric: str
    metric_title: str
    metric_meaning: str
    confidence: float
    algorithms: tuple[ComparedSide, ...]
    pairs: tuple[Pair, ...]
    sensitivity: Sensitivity | None
    profiles: tuple[Profile, ...]
    sequential: Sequential | None = None
    ranks: tuple[Ranks, ...] = ()
    sample_efficiency: tuple[SampleEfficiency, ...] = ()

    @property
    def summaries(self) -> tuple[tuple[str, Summary], ...]:
        """The algorithms' own summaries by their names."""
        return tuple((item.name, item.summary) for item in self.algorithms if item.summary)

    @property
    def metric_meanings(self) -> tuple[Metric, ...]:
        """The metrics of summaries and orders."""
        rankings = self.sensitivity.rankings if self.sensitivity else ()
        known = {**METRICS, **FROM_SCORES}
        names = dict.fromkeys([self.metric, *(row.metric for row in rankings)])
        return tuple(known[name] for name in names if name in known)

    @property
    def summed_intervals(self) -> bool:
        """True if at least one of these has an interval."""
        return any(one.low is not None for _, item in self.summaries for one in item.statistics.values())

    def rows(self) -> list[dict[str, object]]:
        """Return the difference of each pair on each game: a row each."""
        return [
            {"algorithm": pair.first, "other": pair.second, **vars(game)} for pair in self.pairs for game in pair.games
        ]

    @property
    def alpha(self) -> float:
        """The tests' level of significance."""
        return 1 - self.confidence

    @property
    def detailed(self) -> tuple[Pair, ...]:
        """The pairs of which each game is shown."""
        return self.pairs[:MAX_DETAILED]

    @property
    def undetailed(self) -> int:
        """The number of further pairs."""
        return len(self.pairs) - len(self.detailed)

    @property
    def duels(self) -> int:
        """The number of pairs of algorithms, whether or not they share a game."""
        return math.comb(len(self.algorithms), 2)

    @property
    def sources_known(self) -> tuple[ComparedSide, ...]:
        """The algorithms whose scores have a known source."""
        return tuple(item for item in self.algorithms if item.source)

    @property
    def banded(self) -> bool:
        """True if profiles have intervals."""
        return any(item.low is not None for item in self.profiles)

    @property
    def with_intervals(self) -> bool:
        """True if differences have intervals."""
        return any(pair.improvement.low is not None for pair in self.pairs)
