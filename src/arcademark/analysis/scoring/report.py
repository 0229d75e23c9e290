"""The report of scores: frozen data, and what is shown of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from arcademark import wording
from arcademark.analysis.document import Breakthrough, Similar, grouped
from arcademark.analysis.record import PlanningCost, Run
from arcademark.analysis.runs.learning import LearningCurve, sparkline
from arcademark.analysis.tables.document import (
    CAPPED,
    KINDS,
    Algorithm,
    Coverage,
    Efficiency,
    Gain,
    Score,
    ScoredGame,
    Summary,
    TableDocument,
    Tolerance,
)
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.suite import subsets, tasks
from arcademark.wording.columns import Column
from arcademark.wording.prose import text

MAX_NAMED = 4
"""Algorithms of which a sentence each is said."""

SAME_GAMES = "interval of the median for playing the same games again, with other seeds or episodes"

TELLING = {"atari-57": (subsets.REPORTED, "atari-10", "atari-14"), "atari-100k": ("atari-100k-3", "atari-100k-5")}
"""By suite the subsets that tell most of all its games: what is missing of the first is what to play next."""


@dataclass(frozen=True)
class ScoreReport(TableDocument):
    """Everything that is said of the scores of runs and tables.

    learning: How learners' training went, or goes; games together.
    runs: The runs among what was read.
    methods: Of runs: paragraphs to paste into a paper, written from the settings in force.
    similar: The algorithms whose training frames are known beside published ones of a similar budget; on atari-57.
    tolerance: None where it was not asked for.
    """

    SCHEMA: ClassVar[str] = "arcademark.report/6"
    algorithms: tuple[Algorithm, ...]
    learning: tuple[LearningCurve, ...] = ()
    runs: tuple[Run, ...] = ()
    methods: tuple[str, ...] = ()
    similar: tuple[Similar, ...] = ()
    tolerance: Tolerance | None = None

    @property
    def unit(self) -> str:
        """What the runs' lengths are counted in."""
        return self.runs[0].protocol.unit if self.runs else "frame"

    @property
    def measured(self) -> str:
        """What was measured, in words: the games, and the protocol where there is one."""
        games = self.games[0].name if len(self.games) == 1 else wording.plural(len(self.games), self.benchmark.noun)
        names = {run.protocol.name for run in self.runs}
        return f"{games} under {names.pop()}" if len(names) == 1 else games

    @property
    def verdicts(self) -> tuple[tuple[str, str], ...]:
        """What a few algorithms' scores come to, each a sentence, and what places it among published ones, or ""."""
        items = self.algorithms if len(self.algorithms) <= MAX_NAMED else ()
        return tuple((_verdict(self, item), text("verdict", "basis", item=item)) for item in items if item.verdict)

    @property
    def untold(self) -> Mapping[tuple[str, ...], list[str]]:
        """The algorithms whose estimate says nothing, by the games that would tell most beside those that they have."""
        wide = (item for item in self.algorithms if item.estimate and not item.estimate.missing)
        return grouped((_wanted(item), item.name) for item in wide if not item.estimated)

    @property
    def brief(self) -> tuple[str, ...]:
        """Each algorithm's verdict, and its estimate or what is missing for one, in a line."""
        return tuple(text("scores", "brief", item=item, noun=self.benchmark.noun) for item in self.algorithms)

    @property
    def played_under(self) -> Mapping[tuple[str, str], list[str]]:
        """The runs' names by their protocol and by what emulated the games."""
        return grouped(((run.protocol.label, run.played_on), run.name) for run in self.runs)

    @property
    def fewer_averaged(self) -> bool:
        """Whether some training scores are of fewer episodes than they should be."""
        return any(seed.averaged < curve.k for curve in self.learning for seed in curve.seeds)

    @property
    def metric_meanings(self) -> tuple[Summary, ...]:
        """A summary of each metric."""
        return tuple({item.metric: item for _, item in self.summary_rows}.values())

    @property
    def statistic_meanings(self) -> tuple[tuple[str, str], ...]:
        """Titles and meanings of the statistics whose names do not say what they are."""
        told = [one for one in AGGREGATES.values() if one.name not in ("mean", "median")]
        return tuple(
            (one.title[0].upper() + one.title[1:], one.meaning.format(noun=self.benchmark.noun)) for one in told
        )

    @property
    def several(self) -> bool:
        """Whether there are several algorithms."""
        return len(self.algorithms) > 1

    @property
    def models(self) -> Mapping[str, str]:
        """The published models whose games some algorithms have exactly, by their subsets."""
        return {model.subset: f"{model.title}'s model" for item in self.algorithms if (model := item.published)}

    @property
    def headline_columns(self) -> tuple[Column | None, ...]:
        """What is shown of each algorithm at a glance: the median that is known or estimated, and facts beside it."""
        estimates = [item.estimate for item in self.algorithms if item.estimate]
        sure = wording.percentage(self.intervals.confidence)
        shown = [one for one in estimates if one.telling and one.low is not None]
        between = f"{wording.percentage(shown[0].level)} interval" if shown else ""
        bars = self.algorithms[0].breakthroughs if self.algorithms else ()
        printed = any(one.printed_log_error for one in estimates if not one.missing)
        return (
            Column("algorithm", "name", style="strong"),
            Column(
                "median of all" if self.benchmark.own else f"{self.benchmark.name} median{between and f', {between}'}",
                _shown_median,
                style=lambda item: item.estimate.style if item.estimate else _trust(item.coverage),
                sort=_median,
                below=lambda item: (one := item.estimated) and one.low is not None and not one.below and one.interval,
                meaning=f"median human-normalised score of {self.benchmark.name}{between and f' and its {between}'}"
                if bars
                else "",
            ),
            Column(
                "estimated from" if len(estimates) == len(self.algorithms) else "from",
                lambda item: _basis(item, self.benchmark.noun),
                kind="name",
            ),
            Column("runs", "runs_a_game") if any(item.most_runs > 1 for item in self.algorithms) else None,
            Column("log error, on other papers", "estimate.errors", optional=True) if printed else None,
            Column(f"same games again, {sure}", "estimated.sampling_interval", meaning=SAME_GAMES, optional=True),
            *(Column(title, by_published(subset)) for subset, title in self.models.items()),
            *(Column(bar.short, reached(place)) for place, bar in enumerate(bars)),
        )

    @property
    def summary_rows(self) -> tuple[tuple[Algorithm, Summary], ...]:
        """Each algorithm's summaries."""
        return tuple((item, summary) for item in self.algorithms for summary in item.summaries)

    @property
    def summary_columns(self) -> tuple[Column | None, ...]:
        """What is shown of a summary."""
        summaries = [summary for _, summary in self.summary_rows]
        counted = len({item.games for item in summaries}) > 1 or any(item.left_out for item in summaries)
        return (
            Column("algorithm", "0.name", style="strong"),
            Column("metric", "1.title"),
            *(
                Column(title, f"1.statistics.{name}.value", wording.percent, below=f"1.statistics.{name}.span")
                for name, title in ((one.name, one.title) for one in AGGREGATES.values())
            ),
            Column(f"{self.benchmark.noun}s", "1.games") if counted else None,
        )

    @property
    def score_rows(self) -> tuple[tuple[ScoredGame, Algorithm, Score], ...]:
        """Each game's scores."""
        scores = {(item.name, score.game): score for item in self.algorithms for score in item.scores}
        return tuple(
            (game, item, score)
            for game in self.games
            for item in self.algorithms
            if (score := scores.get((item.name, game.id)))
        )

    @property
    def score_columns(self) -> tuple[Column | None, ...]:
        """What is shown of a score; the best of a game that several have is marked."""
        titles = {item.metric: item.title for algorithm in self.algorithms for item in algorithm.summaries}
        metrics = {name: title for name, title in titles.items() if name not in CAPPED or len(titles) == 1}
        rows = self.score_rows if self.several else ()
        values = grouped((game.id, score.score.value) for game, _, score in rows if score.score.value is not None)
        best = {game: max(each) for game, each in values.items() if len(each) > 1}
        played = any(score.played for _, _, score in self.score_rows)
        return (
            Column(self.benchmark.noun, "0.name"),
            Column("algorithm", _variant, kind="name") if self.several else None,
            Column(
                "score",
                "2.score.value",
                wording.score,
                style=lambda row: "best" if row[2].score.value == best.get(row[0].id, math.nan) else "strong",
            ),
            Column(f"{100 * self.intervals.confidence:g} % interval", "2.interval", sort="2.score.low"),
            EPISODES if played else Column("runs", "2.runs"),
            *(Column(title, f"2.normalised.{name}.value", wording.percent) for name, title in metrics.items()),
            *(
                Column(KINDS[kind], f"0.references.{kind}", wording.reference, style="weak", optional=True)
                for kind in dict.fromkeys(kind for game in self.games for kind in game.references)
            ),
        )

    @property
    def tolerance_columns(self) -> tuple[Column, ...]:
        """What is shown of single runs."""
        share = self.tolerance.share if self.tolerance else 0.0
        return (
            Column(self.benchmark.noun, lambda row: self.game(row.game).name),
            Column("algorithm", "algorithm", kind="name"),
            Column("runs", "runs"),
            Column("from … to", lambda row: wording.span(row.low, row.high, wording.decimals(row.high)), sort="low"),
            Column("holds at least", "share", wording.share, style=lambda row: "doubtful" if row.share < share else ""),
            Column(f"{100 * share:g} % reach", "at_least", wording.score),
        )

    @property
    def training_columns(self) -> tuple[Column | None, ...]:
        """What is shown of a learning curve."""
        evaluated = any(curve.evaluation is not None for curve in self.learning)
        return (
            Column(self.benchmark.noun, lambda curve: self.game(curve.game).name),
            Column("algorithm", "algorithm", kind="name") if self.several else None,
            Column("episodes", "episodes"),
            Column(f"{self.unit}s", "frames"),
            Column("first", "first", wording.score),
            Column("last", "training_score", wording.score, style="strong", below=_reach),
            Column("evaluation", "evaluation", wording.score) if evaluated else None,
            Column("", _drawn, str, kind="name", optional=True),
        )

    @property
    def planning_rows(self) -> tuple[tuple[str, str, PlanningCost], ...]:
        """The game, the algorithm and what the decisions of each planner cost."""
        rows = [
            (game.name, item.name, score.played.planning)
            for game, item, score in self.score_rows
            if score.played and score.played.planning
        ]
        return tuple(sorted(rows, key=lambda row: row[:2]))

    @property
    def planning_columns(self) -> tuple[Column | None, ...]:
        """What is shown of a planner's decisions."""
        return (
            Column(self.benchmark.noun, 0),
            Column("algorithm", 1, kind="name") if self.several else None,
            Column("decisions", "2.decisions"),
            Column(f"simulated {self.unit}s", "2.simulated_frames"),
            Column("a decision", lambda row: round(row[2].frames_per_decision)),
        )

    RECORDS: ClassVar = (
        Column("algorithm", "0.name", style="strong"),
        Column("broken", "1.reached", kind="prose"),
        Column("a billion frames", lambda row: (one := row[0].efficiency) and one.records and 1e9 * one.records),
        Column("by nobody else in the catalogue", "1.unprecedented", kind="prose"),
    )

    @property
    def record_rows(self) -> tuple[tuple[Algorithm, Breakthrough], ...]:
        """The algorithms that broke human world records."""
        bars = ((item, bar) for item in self.algorithms for bar in item.breakthroughs)
        return tuple((item, bar) for item, bar in bars if bar.metric == "hwrb" and bar.reached)

    @property
    def efficiency_rows(self) -> tuple[tuple[Algorithm, Efficiency, Gain], ...]:
        """What training gained, by algorithm and metric."""
        known = ((item, item.efficiency) for item in self.algorithms if item.efficiency)
        return tuple((item, efficiency, gain) for item, efficiency in known for gain in efficiency.gains)

    @property
    def efficiency_columns(self) -> tuple[Column | None, ...]:
        """What is shown of these."""
        return (
            Column("algorithm", "0.name", style="strong"),
            Column("training frames", "1.training_frames"),
            Column("game time", lambda row: None if self.benchmark.own else wording.days(row[1].game_time_days)),
            Column("metric", "2.title", kind="name"),
            Column("mean a million frames", "2.mean", wording.a_million),
            Column("median a million frames", "2.median", wording.a_million),
        )


EPISODES = Column(
    "episodes",
    lambda row: row[2].played and wording.done(len(row[2].played.episodes), row[2].played.planned),
    style=lambda row: "doubtful" if row[2].played and len(row[2].played.episodes) < row[2].played.planned else "",
    below=lambda row: f"{cut:,} cut" if row[2].played and (cut := sum(row[2].played.truncated)) else "",
    sort=lambda row: row[2].played and len(row[2].played.episodes),
)
"""The episodes behind a score, of those asked for, and those that the frame cap ended."""


def refusable(value: float | None) -> str:
    """Show a percentage that is refused where there is none."""
    return "refused" if value is None else wording.percent(value)


def _median(item: Algorithm) -> float | None:
    if item.estimate is None:
        return item.coverage.median
    return (item.estimated.low if item.estimated.below else item.estimated.value) if item.estimated else None


def _shown_median(item: Algorithm) -> str | None:
    if item.estimated:
        return item.estimated.headline
    if item.estimate and not item.estimate.missing:
        return "too uncertain"
    return refusable(_median(item)) if item.most_runs or item.estimate else None


def _verdict(report: ScoreReport, item: Algorithm) -> str:
    sentence = text("verdict", "sentence", item=item, noun=report.benchmark.noun)
    return f"{item.name}: {sentence}." if report.several else f"{sentence[0].upper()}{sentence[1:]}."


def _wanted(item: Algorithm) -> tuple[str, ...]:
    """Return the titles of the games that tell most of all beside an algorithm's own."""
    played = {score.game for score in item.scores}
    known = TELLING[item.estimate.suite] if item.estimate else ()
    missing = ([task for task in subsets.subset(name).tasks if task not in played] for name in known)
    return tuple(map(tasks.game_name, next(filter(None, missing), ())))


def _trust(coverage: Coverage) -> str:
    return "doubtful" if coverage.refused else "good"


def _basis(item: Algorithm, noun: str) -> str:
    """Say what an algorithm's median is made from."""
    if item.estimate is None:
        games = wording.plural(item.coverage.of, noun)
        return f"{item.coverage.games} of {games}" if item.coverage.missing else f"all {games}"
    needed = f", also needs {wording.listing(item.estimate.missing)}" if item.estimate.missing else ""
    return f"{item.estimate.title}{needed}"


def by_published(subset: str) -> Any:
    """Return what shows an algorithm's estimate by a published model."""
    return lambda item: (
        ((one := item.published) and one.subset == subset and one.telling and wording.percent(one.value)) or None
    )


def reached(place: int) -> Any:
    """Return what shows one of an algorithm's human bars."""
    return lambda item: f"{len(item.breakthroughs[place].reached)} of {item.breakthroughs[place].games}"


def _reach(curve: LearningCurve) -> str:
    if curve.training_low is None or curve.training_high is None:
        return ""
    return wording.span(curve.training_low, curve.training_high, wording.decimals(curve.training_score))


def _drawn(curve: LearningCurve) -> str:
    return sparkline(curve.mean().mean, 12) + ("" if curve.finished else " …")


def _variant(row: tuple[ScoredGame, Algorithm, Score]) -> str:
    _, item, score = row
    return f"{item.name}: {score.played.variant}" if score.played and score.played.variant else item.name
