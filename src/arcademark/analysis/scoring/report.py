"""Result type of a report of scores: frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from arcademark import wording
from arcademark.analysis.cells import PlanningCost
from arcademark.analysis.document import Similar
from arcademark.analysis.published import Breakthrough
from arcademark.analysis.runs.directory import Run
from arcademark.analysis.runs.learning import LearningCurve, SampleEfficiency
from arcademark.analysis.tables.document import (
    Algorithm,
    Efficiency,
    Gain,
    Score,
    ScoredGame,
    Summary,
    TableDocument,
    Tolerance,
)
from arcademark.grouping import grouped
from arcademark.suite import subsets, tasks
from arcademark.wording.prose import text

MAX_NAMED = 4
"""Maximum number of algorithms that have a sentence each."""


TELLING = {"atari-57": (subsets.REPORTED, "atari-10", "atari-14"), "atari-100k": ("atari-100k-3", "atari-100k-5")}
"""Subsets that predict all games well, by suite; missing games of the first incomplete one are the next to play."""


@dataclass(frozen=True)
class ScoreReport(TableDocument):
    """A report of the scores of runs and tables.

    learning: Learners' training so far, game by game.
    runs: The runs among the sources.
    methods: Paragraphs on runs for a paper's methods section, written from the settings in effect.
    similar: Algorithms with known training frames beside published ones of a similar budget; only on atari-57.
    tolerance: None if not requested.
    sample_efficiency: Sample efficiency of learners, by the first metric.
    """

    SCHEMA: ClassVar[str] = "arcademark.report/6"
    algorithms: tuple[Algorithm, ...]
    learning: tuple[LearningCurve, ...] = ()
    runs: tuple[Run, ...] = ()
    methods: tuple[str, ...] = ()
    similar: tuple[Similar, ...] = ()
    tolerance: Tolerance | None = None
    sample_efficiency: tuple[SampleEfficiency, ...] = ()

    @property
    def unit(self) -> str:
        """The unit of the runs' lengths, "frame" or "step"."""
        return self.runs[0].protocol.unit if self.runs else "frame"

    @property
    def measured(self) -> str:
        """The number of games, or the name of a single one, and the protocol if all runs share it, as text."""
        games = self.games[0].name if len(self.games) == 1 else wording.plural(len(self.games), self.benchmark.noun)
        names = {run.protocol.name for run in self.runs}
        return f"{games} under {names.pop()}" if len(names) == 1 else games

    @property
    def verdicts(self) -> tuple[tuple[str, str], ...]:
        """Sentences on a few algorithms' results, each with its basis among published ones, or ""."""
        items = self.algorithms if len(self.algorithms) <= MAX_NAMED else ()
        return tuple((_verdict(self, item), text("verdict", "basis", item=item)) for item in items if item.verdict)

    @property
    def untold(self) -> Mapping[tuple[str, ...], list[str]]:
        """Algorithms without an informative estimate, by the games that would help most."""
        wide = (item for item in self.algorithms if item.estimate and not item.estimate.missing)
        return grouped((_wanted(item), item.name) for item in wide if not item.estimated)

    @property
    def brief(self) -> tuple[str, ...]:
        """One line per algorithm: its verdict, and its estimate or the games missing for one."""
        return tuple(text("scores", "brief", item=item, noun=self.benchmark.noun) for item in self.algorithms)

    @property
    def played_under(self) -> Mapping[tuple[str, str], list[str]]:
        """Names of runs by protocol and emulator."""
        return grouped(((run.protocol.label, run.played_on), run.name) for run in self.runs)

    @property
    def fewer_averaged(self) -> bool:
        """True if some training scores average fewer episodes than intended."""
        return any(seed.averaged < curve.k for curve in self.learning for seed in curve.seeds)

    @property
    def snapshots(self) -> tuple[int, ...]:
        """Numbers of evaluation episodes of learners' snapshots, ascending."""
        return tuple(
            sorted({seed.snapshot_episodes for curve in self.learning if curve.snapshots for seed in curve.seeds})
        )

    @property
    def learnt_once(self) -> bool:
        """True if every learning curve has a single seed."""
        return all(len(curve.seeds) == 1 for curve in self.learning)

    @property
    def metric_meanings(self) -> tuple[Summary, ...]:
        """One summary per metric."""
        return tuple({item.metric: item for _, item in self.summary_rows}.values())

    @property
    def several(self) -> bool:
        """True if there are several algorithms."""
        return len(self.algorithms) > 1

    @property
    def models(self) -> Mapping[str, str]:
        """Titles of published models whose games some algorithms have exactly, by subset."""
        return {model.subset: f"{model.title}'s model" for item in self.algorithms if (model := item.published)}

    @property
    def summary_rows(self) -> tuple[tuple[Algorithm, Summary], ...]:
        """Algorithms with each of their summaries."""
        return tuple((item, summary) for item in self.algorithms for summary in item.summaries)

    @property
    def first_summaries(self) -> tuple[tuple[str, Summary], ...]:
        """Names of algorithms, each with its summary by the first metric."""
        return tuple((item.name, item.summaries[0]) for item in self.algorithms if item.summaries)

    @property
    def score_rows(self) -> tuple[tuple[ScoredGame, Algorithm, Score], ...]:
        """Games with each algorithm's score."""
        scores = {(item.name, score.game): score for item in self.algorithms for score in item.scores}
        return tuple(
            (game, item, score)
            for game in self.games
            for item in self.algorithms
            if (score := scores.get((item.name, game.id)))
        )

    @property
    def planning_rows(self) -> tuple[tuple[str, str, PlanningCost], ...]:
        """Game, algorithm and cost of each planner's decisions."""
        rows = [
            (game.name, item.name, score.played.planning)
            for game, item, score in self.score_rows
            if score.played and score.played.planning
        ]
        return tuple(sorted(rows, key=lambda row: row[:2]))

    @property
    def record_rows(self) -> tuple[tuple[Algorithm, Breakthrough], ...]:
        """Algorithms that broke human world records, each with these records."""
        bars = ((item, bar) for item in self.algorithms for bar in item.breakthroughs)
        return tuple((item, bar) for item, bar in bars if bar.metric == "hwrb" and bar.reached)

    @property
    def efficiency_rows(self) -> tuple[tuple[Algorithm, Efficiency, Gain], ...]:
        """Learning efficiency by algorithm and metric."""
        known = ((item, item.efficiency) for item in self.algorithms if item.efficiency)
        return tuple((item, efficiency, gain) for item, efficiency in known for gain in efficiency.gains)

    def rows(self) -> list[dict[str, object]]:
        """Return one row per algorithm and game, with the score in points and normalised scores in percent."""
        return [
            {
                "algorithm": item.name,
                "game": score.game,
                "score": score.score.value,
                "low": score.score.low,
                "high": score.score.high,
                "runs": score.runs,
                **{metric: estimate.value for metric, estimate in score.normalised.items()},
            }
            for item in self.algorithms
            for score in item.scores
        ]


def _verdict(report: ScoreReport, item: Algorithm) -> str:
    sentence = text("verdict", "sentence", item=item, noun=report.benchmark.noun)
    return f"{item.name}: {sentence}." if report.several else f"{sentence[0].upper()}{sentence[1:]}."


def _wanted(item: Algorithm) -> tuple[str, ...]:
    """Return the titles of the games whose scores would improve an algorithm's estimate most."""
    played = {score.game for score in item.scores}
    known = TELLING[item.estimate.suite] if item.estimate else ()
    missing = ([task for task in subsets.subset(name).tasks if task not in played] for name in known)
    return tuple(map(tasks.game_name, next(filter(None, missing), ())))
