"""Result types of a comparison of algorithms: frozen data.

Conventions are those of `arcademark.analysis.tables.document`. Differences are the first algorithm's less the second's.
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
"""Maximum number of pairs whose games are shown: those of ten algorithms."""


@dataclass(frozen=True)
class ComparedSide(Side):
    """One of the compared algorithms.

    summary: Its summary by the comparison's metric, over the common games with the metric's references, or None.
    """

    summary: Summary | None = None


@dataclass(frozen=True)
class GameDifference:
    """Two algorithms on one game.

    game: The game's id.
    first, second: Their scores, means over runs, in points.
    difference: The first score less the second, in points.
    normalised: The difference by the comparison's metric, in percent.
    p: p-value of a two-tailed Welch's t-test; None if it cannot be computed.
    corrected_p: p-value by Holm's method over all such tests of the comparison, of every game and pair.
    verdict: Verdict on the first, at the tests' confidence.
    why: Reason why it is untested.
    improvement: Probability that a run of the first beats one of the second; a tie is half a win.
    seeds_needed: Runs per algorithm needed for 80 % power of such a test to detect the observed difference; None if the
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

    games: Number of games for which it is known.
    enough: Number of these that have enough runs already.
    median_seeds: Median over games of the needed runs.
    metric, statistic: The summary for `seeds`.
    seeds: Runs per game with which the interval of the summary's difference excludes 0 with 80 % power.
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
    """Comparison of two algorithms.

    first, second: Their names.
    games: Their common games.
    left_out: Names of the games that only one of them has.
    better, worse, undecided, untested: Numbers of games by verdict on the first (Bellemare et al. 2013, Table 3).
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
        """The number of games on which one is better."""
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
        """The number of games on which the first's score is higher."""
        return sum(game.difference > 0 for game in self.games)

    @property
    def lower(self) -> int:
        """The number of games on which the first's score is lower."""
        return sum(game.difference < 0 for game in self.games)

    def stand(self, alpha: float) -> int:
        """Count the differences that remain significant when corrected for the number of tests."""
        return sum(game.corrected_p is not None and game.corrected_p < alpha for game in self.games)


@dataclass(frozen=True)
class SequentialRuns:
    """Numbers of an algorithm's runs in a sequential test.

    runs: Runs on each of the games.
    used: Number of these that were tested.
    more: Number of runs to add next; 0 if none of its pairs is open.
    """

    algorithm: str
    runs: int
    used: int
    more: int


@dataclass(frozen=True)
class Sequential:
    """Decision whether more runs are needed, by AdaStop (Mathieu et al. 2024).

    group, groups, alpha, permutations: As in `arcademark.metrics.sequential.SequentialPlan`.
    games: Games that all algorithms have. A run's score is in points for a single game, else a summary over games.
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
        """The algorithms by the number of further runs that they need."""
        return grouped((side.more, side.algorithm) for side in self.algorithms if side.more)

    @property
    def needed(self) -> int:
        """The number of runs that these algorithms need in total."""
        return max((side.runs + side.more for side in self.algorithms if side.more), default=0)

    @property
    def needed_group(self) -> int:
        """The number of the group of runs that is complete with these."""
        return self.needed // self.group

    @property
    def rows(self) -> tuple[tuple[SequentialPair, SequentialStep | None], ...]:
        """All steps of a single pair, or the last step of each of several pairs."""
        last = slice(-1 if len(self.pairs) > 1 else 0, None)
        return tuple((pair, step) for pair in self.pairs for step in (pair.steps[last] or (None,)))


@dataclass(frozen=True)
class Ranking:
    """Order of the algorithms by one summary of one metric.

    metric, title: Metric that normalises scores.
    statistic: Summary statistic.
    values: Summaries in percent over the common games, in the document's order of algorithms.
    ranks: Ranks, 1 for the best; equal values share a rank.
    inversions: Number of pairs in the opposite order to that by the first metric's median (Aitchison et al. 2023, §7).
    kendall_tau: Rank correlation with that order; None where one of the two has only ties.
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

    flips: Contradictions between measures; empty if there is none.
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
    metric, metric_title, metric_meaning: Metric of games, profiles and power.
    confidence: Confidence of the tests, a fraction: 0.99.
    pairs: All pairs, in the algorithms' order.
    sensitivity: None if no game is common to all.
    sequential: None if not requested.
    ranks: Ranks of all algorithms, in their order; empty if no game is common to all.
    sample_efficiency: Sample efficiency of learners, by the first metric.
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
        """The algorithms' names with their summaries."""
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
        """Return one row per pair and game, with the difference."""
        return [
            {"algorithm": pair.first, "other": pair.second, **vars(game)} for pair in self.pairs for game in pair.games
        ]

    @property
    def alpha(self) -> float:
        """The tests' significance level."""
        return 1 - self.confidence

    @property
    def detailed(self) -> tuple[Pair, ...]:
        """The pairs whose games are shown."""
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
