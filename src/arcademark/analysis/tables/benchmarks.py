"""Benchmarks of score tables: a suite of this project, or a user's own reference scores.

Every measure is a line through two scores of each task (Bellemare et al. 2013, §4.1; Fan 2021, Eq. 3).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from numpy.typing import ArrayLike

from arcademark import wording
from arcademark.analysis import measures
from arcademark.analysis.measures import Measure
from arcademark.catalogue import collections
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.grouping import grouped
from arcademark.metrics import ranges
from arcademark.metrics.normalise import Metric
from arcademark.metrics.ranges import Limits
from arcademark.scores.references import read_references
from arcademark.suite import anomalies, references, tasks
from arcademark.suite.task_suites import TaskSuite

KINDS = {
    "random": "random play",
    "human": "human average",
    "human_world_record": "human world record",
    "low": "low (0 %)",
    "high": "high (100 %)",
}
"""Kinds of references, in words."""

USUAL = "atari-57"
"""The suite that scores are measured by unless another one is requested."""

BASELINES = ("baselines-2013", "ale-2013")
"""Collections of the catalogue with the baselines of 2013: all 37 agents, else the three published ones."""

_PAPERS = ("bellemare-2013",)
RANDOM = Metric(
    *("random_normalised", "random-normalised"),
    "score divided by the absolute value of random play's (Bellemare et al. 2013, §4.1.1)",
    papers=_PAPERS,
)
BASELINE = Metric(
    *("baseline", "baseline", "0 % is the worst baseline, 100 % the best (Bellemare et al. 2013, §4.1.2)"),
    papers=_PAPERS,
)
INTER_ALGORITHM = Metric(
    *("inter_algorithm", "inter-algorithm"),
    "0 % is the worst of these algorithms on a task, 100 % the best (Bellemare et al. 2013, §4.1.3)",
    of_means=True,
    papers=_PAPERS,
)
MIN_MAX = Metric(
    *("min_max", "min-max", "0 % is the lowest possible score of a game, 100 % the highest (Fan 2021, below Eq. 3)")
)
OTHER_SOURCES = Metric("hns_other_sources", "HNS, other sources", "HNS with the references that other sources print")
FROM_SCORES = {one.name: one for one in (RANDOM, BASELINE, INTER_ALGORITHM, MIN_MAX, OTHER_SOURCES)}
"""Metrics that are not in `arcademark.metrics.normalise.METRICS`, because their ranges depend on scores or games."""


@dataclass(frozen=True)
class ReferenceKind:
    """One kind of reference scores, "random play", with its source."""

    title: str
    source: str


@dataclass(frozen=True)
class BenchmarkView:
    """Benchmark of the scores, as documents show it.

    name, title: "atari-57", or the file of references of a user's own benchmark.
    own: True if it is a user's own.
    games: Number of its games.
    """

    name: str
    title: str
    own: bool
    games: int
    references: tuple[ReferenceKind, ...]

    @property
    def noun(self) -> str:
        """The noun for its tasks: "game" on Atari, else "task"."""
        return "task" if self.own else "game"


@dataclass(frozen=True)
class Benchmark:
    """A benchmark with its reference scores and measures.

    references: Reference scores by kind.
    measures: Measures by metric, those shown by default first.
    shown: The metrics shown by default.
    remarks: Remarks on the measures that a reader must know.
    papers: Keys of the papers that references and measures are from.
    groups: Named groups of tasks of a suite beyond Atari.
    """

    view: BenchmarkView
    tasks: tuple[str, ...]
    references: Mapping[str, Mapping[str, float]]
    measures: Mapping[str, Measure]
    shown: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def noun(self) -> str:
        """The noun for a task: "game" on Atari, else "task"."""
        return self.view.noun

    @property
    def atari(self) -> bool:
        """True if its tasks are Atari games."""
        return not self.view.own

    def canonical(self, name: str) -> str:
        """Return a task's canonical name; raise for an unknown game if the benchmark is of Atari."""
        if self.atari:
            try:
                return tasks.canonical_game(name)
            except UnknownNameError as error:
                message = str(error).rstrip("?")
                hint = "of another benchmark, give reference scores with --references"
                raise ArcadeMarkError(f"{message}; {hint}") from None
        by_lower = {task.lower(): task for task in self.tasks}
        return by_lower.get(name.strip().lower(), name.strip())

    def title(self, task: str) -> str:
        """Name a task for people."""
        return tasks.game_name(task) if self.atari else task

    def score_bounds(self, task: str) -> tuple[float | None, float | None]:
        """Return the lowest and the highest score that a task can have, each None where that is not known."""
        return tasks.score_bounds(task) if self.atari else (None, None)

    def chosen(self, metrics: Sequence[str]) -> tuple[Measure, ...]:
        """Return the measures to show, by default the usual ones; raise for an unknown metric."""
        for metric in metrics:
            if metric not in self.measures:
                raise UnknownNameError("metric", metric, self.measures)
        return tuple(self.measures[metric] for metric in metrics or self.shown)

    def beside(self, algorithms: Sequence[str], names: Sequence[str], scores: ArrayLike) -> Benchmark:
        """Add the inter-algorithm measure of several algorithms' scores, shape (algorithms, tasks).

        It is shown by default only where no measure but the random-normalised one is available.
        """
        if len(algorithms) < 2:
            return self
        limits = ranges.algorithm_limits(scores, names)
        others = self.measures and RANDOM.name not in self.measures
        return replace(
            self,
            measures={**self.measures, INTER_ALGORITHM.name: _placed(INTER_ALGORITHM, limits)},
            shown=self.shown if others else (*self.shown, INTER_ALGORITHM.name),
        )


def load_benchmark(
    suite: str = USUAL, own: str | os.PathLike[str] | None = None, decimal: str | None = None
) -> Benchmark:
    """Make the benchmark of a suite, or of a file of references (see `arcademark.scores.references`)."""
    if own is not None:
        if suite != USUAL:
            raise ArcadeMarkError(f"{suite} and the references of {os.fspath(own)} are two benchmarks; leave one out")
        return _own(own, decimal)
    known = tasks.suite(suite)
    anchors = {kind: references.scores(kind, known.name) for kind in known.references}
    entries = {kind: references.references(kind, known.name).values() for kind in known.references}
    kinds = tuple(
        ReferenceKind(KINDS[kind], "; ".join(dict.fromkeys(entry.source for entry in entries[kind])))
        for kind in entries
    )
    view = BenchmarkView(known.name, known.title, False, len(known.tasks), kinds)
    if "human" in anchors:
        made = measures.measures(anchors)
        benchmark = Benchmark(view, known.tasks, anchors, made, tuple(made))
    else:
        benchmark = _ale(view, known.tasks, anchors)
    scaled = _min_max(known.tasks)
    benchmark = replace(benchmark, measures={**benchmark.measures, scaled.metric.name: scaled})
    papers = dict.fromkeys(key for those in entries.values() for entry in those for key in entry.papers)
    return replace(benchmark, papers=tuple(papers))


def _min_max(names: Sequence[str]) -> Measure:
    """Make the measure of the range of possible scores, which is shown only on request."""
    limits = {game: limits for game in names if (limits := anomalies.score_range(game))}
    others = wording.listing(tasks.game_name(game) for game in names if game not in limits)
    return _placed(replace(MIN_MAX, meaning=f"{MIN_MAX.meaning}; unknown for {others}"), limits)


def _own(path: str | os.PathLike[str], decimal: str | None) -> Benchmark:
    known = read_references(path, decimal=decimal)
    source = known.source
    return _anchored(source, source, tuple(known.low), {"low": known.low, "high": known.high}, (source, source))


def of_tasks(suite: TaskSuite) -> Benchmark:
    """Make the benchmark of a suite beyond Atari; tasks without both references have no normalised score."""
    ends = [(task.id, task.low, task.high) for task in suite.tasks.values() if task.low and task.high]
    scores = {"low": {task: low.score for task, low, _ in ends}, "high": {task: high.score for task, _, high in ends}}
    sources = [low.source for _, low, _ in ends], [high.source for _, _, high in ends]
    texts = tuple("; ".join(dict.fromkeys(those)) for those in sources)
    made = _anchored(suite.name, suite.title, tuple(suite.tasks), scores, texts)
    return replace(made, groups=suite.groups)


def _anchored(
    name: str, title: str, names: tuple[str, ...], ends: Mapping[str, Mapping[str, float]], sources: tuple[str, ...]
) -> Benchmark:
    """Make a benchmark of low and high scores; without any, it has no measures."""
    made = measures.measures(ends)
    kinds = tuple(ReferenceKind(KINDS[end], source) for end, source in zip(ends, sources, strict=True))
    view = BenchmarkView(name, title, True, len(names), kinds if made else ())
    return Benchmark(view, names, ends, made, tuple(made))


def _ale(view: BenchmarkView, names: tuple[str, ...], anchors: Mapping[str, Mapping[str, float]]) -> Benchmark:
    limits = ranges.random_limits(anchors["random"], names)
    made = {RANDOM.name: _placed(RANDOM, limits)}
    remarks = []
    if flat := ranges.zero_ranges(limits, names):
        remarks.append(
            f"Random play scores 0 on {wording.listing(map(tasks.game_name, flat))}: no random-normalised score there."
        )
    baselines, remark = _baselines()
    if baselines.keys() >= set(names):
        made[BASELINE.name] = _placed(BASELINE, ranges.baseline_limits(baselines, tuple(baselines)))
        remarks.append(remark)
    return Benchmark(view, names, anchors, made, tuple(made), tuple(remarks))


def _baselines() -> tuple[dict[str, list[float]], str]:
    """Return the baselines' scores by game, and a remark that names the baselines."""
    for collection in (name for name in BASELINES if name in collections.collections()):
        results = [item for item in collections.results(collection) if item.entry.kind == "baseline"]
        by_task = grouped((item.task, item.score) for item in results)
        agents = list(dict.fromkeys(item.entry.algorithm for item in results))
        few = "" if len(agents) >= 37 else f" and not all 37, of which {collection} has these only"
        return by_task, f"The baseline scores' range is that of {wording.shortened(agents)}{few}."
    return {}, ""


def _placed(metric: Metric, limits: Limits) -> Measure:
    """Make the measure of a range; tasks with an empty range are left out."""
    low, high = ({task: pair[end] for task, pair in limits.items()} for end in (0, 1))
    return measures.between(metric, low, high)
