"""Result types of score analyses: frozen and fully computed.

* Normalised scores and summaries are in percent, scores in the task's own unit, lengths in emulated frames.
* What could not be computed is None (never NaN), and a `Notice` or a reason beside it says why.
* Order is the order to show: algorithms as the table has them, games as the benchmark has them.
* Tasks are called games, as on Atari, also where a user's own benchmark has other tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from arcademark import wording
from arcademark.analysis.cells import PlanningCost, planning_cost
from arcademark.analysis.citations import Citation
from arcademark.analysis.document import CAVEATS, Notice, Peer
from arcademark.analysis.estimates import Estimate
from arcademark.analysis.published import Breakthrough, HardExploration
from arcademark.analysis.tables.benchmarks import BenchmarkView
from arcademark.analysis.uncertainty import Intervals, Statistic
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.metrics.uncertainty.intervals import FEWEST

KINDS = {"random": "random", "human": "human", "human_world_record": "record", "low": "low", "high": "high"}
"""Kinds of references, as the headings of narrow columns."""

Standing = Literal["random", "worse", "better", "open", "unknown"]
Pooled = Literal["", "untrained", "network"]


MAX_LEVEL = 2
"""Algorithms that a verdict names as level with one."""


@dataclass(frozen=True)
class ScoredGame:
    """A game with scores in the table.

    id, name: "battle_zone", "Battle Zone".
    references: Its reference scores by kind ("random", "human", "human_world_record"; "low", "high"), None where there
        is none.
    in_benchmark: True if the benchmark includes it; no summary includes other games.
    record_hns: The world record's human-normalised score in percent; None where there is none.
    """

    id: str
    name: str
    references: Mapping[str, float | None]
    in_benchmark: bool
    hard_exploration: bool
    record_hns: float | None


@dataclass(frozen=True)
class Played:
    """The episodes whose mean is the score of a run.

    planned: Requested episodes, over all seeds.
    episodes: Every episode's score, by seed, then episode: of evaluation, or a learner's last of training where the
        protocol reports training.
    truncated: True for each episode that the frame cap ended; same order.
    variant: Name of the agent that scored best on this game, if the best of several is shown. Else "".
    planning: Cost of a planner's decisions; None for other agents.
    different: Number of distinct episodes: those of the same start and actions count once where nothing else is random.
    possible: Number of distinct episodes that exist if the agent is deterministic, too; None if it is not known.
    exact: True if all of these were played, each equally often, so that the score has no interval over episodes.
    """

    planned: int
    episodes: tuple[float, ...]
    truncated: tuple[bool, ...]
    variant: str
    planning: PlanningCost | None
    different: int
    possible: int | None
    exact: bool

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the mean of the distinct episodes."""
        return self.different - 1


@dataclass(frozen=True)
class Score:
    """One algorithm on one game.

    game: The game's id.
    score: Mean over runs, in points; its interval is over runs or, for a single run with known episodes, over episodes.
    runs: Runs with a score: one per seed if each seed was trained separately; else all seeds are one run.
    normalised: Normalised scores by metric, in percent.
    played: Its episodes, if it was played in a run.
    """

    game: str
    score: Statistic
    runs: int
    normalised: Mapping[str, Statistic]
    played: Played | None = None

    @property
    def interval(self) -> str:
        """The interval in points, "1,200 … 1,450"; where there is none, a dash or why: "too few runs"."""
        score = self.score
        if score.low is not None and score.high is not None and score.value is not None:
            return wording.span(score.low, score.high, wording.decimals(score.value))
        if self.played and self.played.exact:
            return "exact"
        if score.value is not None and 1 < self.runs < FEWEST:
            return "too few runs"
        return "too few episodes" if self.played and self.runs == 1 and len(self.played.episodes) < FEWEST else ""


@dataclass(frozen=True)
class Summary:
    """One metric summarised over the games that an algorithm has.

    metric, title, meaning: As in `arcademark.metrics.normalise.Metric`.
    statistics: In percent, by the names of `arcademark.metrics.aggregate.AGGREGATES`, in their order; each is an
        attribute, too: `median`.
    games: Number of games included.
    left_out: Names of the games with a score but without the references that the metric needs.
    """

    metric: str
    title: str
    meaning: str
    statistics: Mapping[str, Statistic]
    games: int
    left_out: tuple[str, ...]

    def __getattr__(self, name: str) -> Statistic:
        """Return a statistic by its name."""
        if name in AGGREGATES:
            return self.statistics[name]
        raise AttributeError(f"a summary has no {name!r}")


@dataclass(frozen=True)
class Coverage:
    """Part of the benchmark that an algorithm covers, and the consequence for its median.

    games, of: Number of the benchmark's games with a score, and of all its games.
    missing: Names of the games without a score.
    median: The median over the whole benchmark of its first metric, in percent; None if refused.
    refused: Reason why there is no median; "" if there is one.
    """

    games: int
    of: int
    missing: tuple[str, ...]
    median: float | None
    refused: str


@dataclass(frozen=True)
class Gain:
    """Learning efficiency by one metric: mean and median per training frame, as fractions (1e-9, not percent)."""

    metric: str
    title: str
    mean: float | None
    median: float | None


@dataclass(frozen=True)
class Efficiency:
    """Length of an algorithm's training, and the gain per frame.

    training_frames: Emulated frames; of a run whose training is counted in episodes, the average per game and seed.
    game_time_days: Duration of the training at 60 frames per second, in days.
    review_days: The duration as Fan 2021, Eq. 6, computes it.
    gains: One per metric.
    records: Human world records broken per frame; None on a benchmark without human references.
    """

    training_frames: int
    game_time_days: float
    review_days: float
    gains: tuple[Gain, ...]
    records: float | None = None


@dataclass(frozen=True)
class Place:
    """Place of an algorithm's median human-normalised score among published ones of a similar budget.

    below, above: The nearest algorithms with medians outside the interval of its own; empty where there is none.
    level: Algorithms with medians inside the interval.
    of: Number of published algorithms of a similar budget.
    """

    below: tuple[Peer, ...]
    level: tuple[Peer, ...]
    above: tuple[Peer, ...]
    of: int

    @property
    def named(self) -> tuple[Peer, ...]:
        """The algorithms that a sentence names."""
        return (*self.below, *self.above, *self.level[:MAX_LEVEL])


@dataclass(frozen=True, kw_only=True)
class Rank:
    """Rank of an algorithm's median over the 57 games among published ones, whatever their protocols; 1 is the best.

    best, worst: Ranks of the ends of the median's interval; None without an interval.
    of: Number of published algorithms with a median, plus this one.
    lowest: The lowest published median, in percent; ranks below it are unknown.
    """

    value: int
    best: int | None
    worst: int | None
    of: int
    lowest: float


@dataclass(frozen=True)
class Verdict:
    """Verdict on an algorithm's scores, by the rules of `arcademark.analysis.scoring.verdict`.

    standing: "random", "worse" or "better" than random play on some games, "open" where intervals do not decide, or
        "unknown" where there are too few.
    games, of: Number of games counted, and of all with references and a score.
    above_random, below_random, above_human, below_human: Numbers of the counted games.
    single: True if single scores were counted, for lack of any interval.
    place: None where frames, neighbours or an interval are not known, or the interval is too wide.
    rank: None where the median over the 57 games is neither known nor estimated.
    """

    standing: Standing
    games: int
    of: int
    above_random: int
    below_random: int
    above_human: int
    below_human: int
    single: bool
    place: Place | None
    rank: Rank | None

    @property
    def uncounted(self) -> int:
        """Games that were not counted."""
        return self.of - self.games


@dataclass(frozen=True)
class Side:
    """An algorithm, as every document on a table has it.

    name: Name, unique in the document.
    source: The file, run or collection that its scores come from.
    protocol: The label of the protocol, "" where it is not known.
    training_frames: None where they are not known.
    fewest_runs, most_runs: Least and greatest number of runs per game; 0 and 0 if it has no score.
    """

    name: str
    source: str
    protocol: str
    training_frames: int | None
    fewest_runs: int
    most_runs: int

    @property
    def runs_a_game(self) -> str:
        """The number of runs per game: "5", "3–5"."""
        return "–".join(map(wording.count, sorted({self.fewest_runs, self.most_runs})))


@dataclass(frozen=True)
class Algorithm(Side):
    """One algorithm's result.

    scores: One per game with a score, in the document's order of games.
    breakthroughs: Empty on a benchmark without human references.
    estimate: None on another benchmark than atari-57.
    run: Name of the run that it was played in; "" for others.
    variants: 1, or the number of agents of which each game shows the best ("best const").
    frames_per_action: Emulated frames between two actions; None where it is not known.
    training_episodes: A learner's budget on each game, where it is counted in episodes.
    learns: True if it was trained in its run.
    pooled: Reason why all seeds count as one run: it was never trained ("untrained"), or one network played all of them
        ("network"); "" if each seed is a run.
    frames_of_files: True if its training frames are those in its networks' files, averaged over games and seeds.
    published: Beside an estimate from any games, that of the published model whose games are exactly those it has.
    verdict: None where no game has references of random play and a human.
    """

    coverage: Coverage = field(repr=False)
    scores: tuple[Score, ...] = field(repr=False)
    summaries: tuple[Summary, ...] = field(repr=False)
    breakthroughs: tuple[Breakthrough, ...] = field(repr=False)
    efficiency: Efficiency | None = field(repr=False)
    estimate: Estimate | None = field(repr=False)
    run: str = ""
    variants: int = 1
    frames_per_action: int | None = None
    training_episodes: int | None = None
    learns: bool = False
    pooled: Pooled = ""
    frames_of_files: bool = False
    published: Estimate | None = None
    verdict: Verdict | None = None

    @property
    def estimated(self) -> Estimate | None:
        """Its estimate, if the interval is narrow enough to report."""
        return self.estimate if self.estimate and self.estimate.telling else None

    @property
    def planning(self) -> PlanningCost | None:
        """The cost of its decisions on all games; None for agents that do not plan."""
        costs = [score.played.planning for score in self.scores if score.played and score.played.planning]
        return planning_cost(sum(cost.decisions for cost in costs), sum(cost.simulated_frames for cost in costs))


@dataclass(frozen=True)
class SingleRuns:
    """Tolerance interval of an algorithm's single runs on a game, in points.

    low, high: Ends of the interval, which are runs' scores; the lowest and the highest score if runs are too few.
    share: Share of runs that it covers at least: less than requested if there are too few runs.
    at_least: The score that the requested share of runs reaches; None where runs are too few.
    """

    algorithm: str
    game: str
    runs: int
    low: float
    high: float
    share: float
    at_least: float | None


@dataclass(frozen=True)
class Tolerance:
    """Tolerance intervals: they cover a share of single runs, also of future ones (Patterson et al. 2024).

    share, confidence: Requested share and confidence, fractions.
    runs_needed: The fewest runs that such an interval requires.
    runs_of_bound: The fewest runs that a score reached by the share requires.
    rows: One per algorithm and game with at least two runs.
    """

    share: float
    confidence: float
    runs_needed: int
    runs_of_bound: int
    rows: tuple[SingleRuns, ...]

    @property
    def short(self) -> int:
        """The number of rows with fewer runs than an interval requires."""
        return sum(row.runs < self.runs_needed for row in self.rows)


@dataclass(frozen=True)
class TableDocument:
    """Fields that every document on a table has.

    title: The algorithms' names.
    generator: "ArcadeMark 1.0.0".
    sources: Sources of the scores, in words.
    scope: Games that the summaries include, in words.
    hard_exploration: None on a benchmark that has no such games.
    notices: Warnings first.
    """

    title: str
    generator: str
    sources: tuple[str, ...]
    scope: str
    benchmark: BenchmarkView
    intervals: Intervals
    games: tuple[ScoredGame, ...]
    hard_exploration: HardExploration | None
    notices: tuple[Notice, ...]
    citations: tuple[Citation, ...]

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """Notices that put a number in doubt."""
        return tuple(notice for notice in self.notices if notice.level == "warning")

    @property
    def notes(self) -> tuple[Notice, ...]:
        """Notices that explain a number."""
        return tuple(notice for notice in self.notices if notice.level == "note")

    @property
    def caveats(self) -> tuple[Notice, ...]:
        """Notes on what a number measures."""
        return tuple(notice for notice in self.notes if notice.kind in CAVEATS)

    @property
    def explanations(self) -> tuple[Notice, ...]:
        """Notes on how a number is computed."""
        return tuple(notice for notice in self.notes if notice.kind not in CAVEATS)

    def game(self, task: str) -> ScoredGame:
        """Return the game with this id; raise KeyError if the document does not have it."""
        return {game.id: game for game in self.games}[task]

    @property
    def statistic_meanings(self) -> tuple[tuple[str, str], ...]:
        """Titles and meanings of the statistics with technical names."""
        technical = [one for one in AGGREGATES.values() if one.name not in ("mean", "median")]
        return tuple(
            (one.title[0].upper() + one.title[1:], one.meaning.format(noun=self.benchmark.noun)) for one in technical
        )
