"""The one analysis of a table of scores: from scores to everything that a document shows.

::

    files, runs, catalogue ─ loading.py ─→ table ─ options.py ─→ Dataset ─ metrics, subset ─→ document.ScoreReport

Renderers compute nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark._version import __version__
from arcademark.metrics import efficiency
from arcademark.report import bars, estimates, hard, wording
from arcademark.report.cells import Cell
from arcademark.report.citations import cited_in
from arcademark.report.document import Estimate, HardExploration, Notice
from arcademark.report.measures import Measure
from arcademark.report.runs import directory
from arcademark.report.tables import notices, protocols, uncertainty
from arcademark.report.tables.dataset import Dataset, ScoreOptions, prepare
from arcademark.report.tables.document import (
    Algorithm,
    Coverage,
    Efficiency,
    Gain,
    Game,
    Score,
    ScoreReport,
    Statistic,
    Summary,
)
from arcademark.report.tables.loading import ScoreSource
from arcademark.report.tables.uncertainty import Bootstrap, Runs
from arcademark.suite.subsets import Subset

Seeds = Mapping[str, tuple[NDArray[np.float64], ...]]
"""By task, what its interval stands on; see `Dataset.seeds`."""

SUITE_OF_MODELS = "atari-57"
"""The suite whose median the published subset models estimate."""


def score_table(
    places: Sequence[ScoreSource] | ScoreSource, options: ScoreOptions | None = None, /, **asked: Any
) -> ScoreReport:
    """Work out everything that is to be said of a table of scores.

    Parameters
    ----------
    places : path, ``"catalogue:review-2021"``, ScoreTable, mapping, or a sequence of these
        A path is a file of any format that is read here, or a run's directory; a mapping goes from algorithm to task to
        a score, or one a run: ``{"DQN": {"pong": [18.9, 19.3]}}``.
    options : ScoreOptions, optional
    **asked : object
        Its fields, where none is given: ``suite``, ``references``, ``algorithms``, ``games``, ``metrics``, …

    Raises
    ------
    ArcadeMarkError
        Where something named is not there, a file is not what it should be, or nothing is left to judge.
    """
    wanted = options or ScoreOptions(**asked)
    dataset = prepare(places, wanted)
    measures = dataset.benchmark.chosen(wanted.metrics)
    bootstrap = Bootstrap.of(
        wanted.seed, wanted.resamples, wanted.method, int(dataset.scores.table.runs_present().sum())
    )
    models = _models(dataset)
    algorithms = tuple(
        _algorithm(name, dataset, measures, bootstrap, model)
        for name, model in zip(dataset.algorithms, models, strict=True)
    )
    told = notices.collect(dataset, algorithms, bootstrap)
    title, sources = wording.shortened(dataset.algorithms, most=4), [item.source for item in algorithms]
    return ScoreReport(**shared(title, dataset, measures, bootstrap, told, sources), algorithms=algorithms)


def shared(
    title: str,
    dataset: Dataset,
    measures: Sequence[Measure],
    bootstrap: Bootstrap,
    told: tuple[Notice, ...],
    cited: Sequence[str],
) -> dict[str, Any]:
    """Return the fields of `arcademark.report.tables.document.TableDocument`; cited are texts that name papers."""
    return {
        "title": title,
        "generator": f"ArcadeMark {__version__}",
        "sources": dataset.scores.sources,
        "scope": scope(dataset),
        "benchmark": dataset.benchmark.view,
        "intervals": bootstrap.view(),
        "games": games(dataset),
        "hard_exploration": hard_exploration(dataset),
        "notices": told,
        "citations": cited_in(
            [
                *(notice.text for notice in told),
                *(measure.meaning for measure in measures),
                *dataset.benchmark.cited,
                *cited,
            ]
        ),
    }


def games(dataset: Dataset) -> tuple[Game, ...]:
    """Show the games of a table."""
    benchmark = dataset.benchmark
    return tuple(
        Game(
            id=task,
            name=benchmark.title(task),
            references=MappingProxyType({kind: known.get(task) for kind, known in benchmark.references.items()}),
            in_benchmark=task in benchmark.tasks,
            hard_exploration=benchmark.atari and task in hard.games(),
        )
        for task in dataset.tasks
    )


def scope(dataset: Dataset) -> str:
    """Say which games the summaries are over."""
    benchmark, names = dataset.benchmark, dataset.tasks
    if benchmark.atari and (known := directory.known_set(names)):
        return known
    if set(names) == set(benchmark.tasks):
        return f"the {wording.plural(len(names), benchmark.noun)} of {benchmark.view.title}"
    inside = sum(task in benchmark.tasks for task in names)
    if inside == len(benchmark.tasks) and not benchmark.atari:
        return f"the {wording.plural(inside, benchmark.noun)} of {benchmark.view.name}"
    return f"{inside} of the {wording.plural(len(benchmark.tasks), benchmark.noun)} of {benchmark.view.name}"


def hard_exploration(dataset: Dataset) -> HardExploration | None:
    """Set the hard-exploration games apart; None where the benchmark has no such games."""
    if not dataset.benchmark.atari:
        return None
    return hard.section([(name, dataset.means(name)) for name in dataset.algorithms])


def _models(dataset: Dataset) -> tuple[Subset | None, ...]:
    """Choose each algorithm's subset model; none where the benchmark is not the models' own."""
    if dataset.benchmark.view.name != SUITE_OF_MODELS:
        return (None,) * len(dataset.algorithms)
    return estimates.choose_together([_cells(name, dataset.seeds(name)) for name in dataset.algorithms])


def _cells(name: str, seeds: Seeds) -> dict[str, Cell]:
    return {task: Cell(name, scores, (), 0) for task, scores in seeds.items()}


def _algorithm(
    name: str, dataset: Dataset, measures: Sequence[Measure], bootstrap: Bootstrap, model: Subset | None
) -> Algorithm:
    played, means, seeds = dataset.runs(name), dataset.means(name), dataset.seeds(name)
    counts = [row.size for row in played.values()]
    found = bootstrap.summaries(name, measures, played)
    summaries = tuple(_summary(*both, played, dataset) for both in zip(measures, found, strict=True))
    frames = dataset.scores.frames.get(name)
    normalised = {measure.metric: measure.of_tasks(means) for measure in measures}
    return Algorithm(
        name=name,
        source=dataset.source(name),
        protocol=dataset.play(name).label,
        training_frames=frames,
        fewest_runs=min(counts, default=0),
        most_runs=max(counts, default=0),
        coverage=_coverage(means, dataset, summaries),
        scores=tuple(
            Score(
                task,
                uncertainty.score(scores),
                len(scores),
                MappingProxyType({metric: values[task] for metric, values in normalised.items()}),
            )
            for task, scores in seeds.items()
        ),
        summaries=summaries,
        breakthroughs=bars.breakthroughs(means, name) if "human" in dataset.benchmark.references else (),
        efficiency=_efficiency(frames, summaries),
        estimate=None if model is None else _estimate(name, model, dataset, seeds, bootstrap),
    )


def _summary(measure: Measure, found: Mapping[str, Statistic], played: Runs, dataset: Dataset) -> Summary:
    unknown = tuple(dataset.benchmark.title(task) for task in played if task not in measure.known)
    return Summary(
        measure.metric,
        measure.title,
        measure.meaning,
        found["mean"],
        found["median"],
        found["iqm"],
        found["optimality_gap"],
        len(played) - len(unknown),
        unknown,
    )


def _coverage(means: Mapping[str, float], dataset: Dataset, summaries: Sequence[Summary]) -> Coverage:
    benchmark, first = dataset.benchmark, summaries[0]
    missing = [task for task in benchmark.tasks if task not in means]
    inside = len(benchmark.tasks) - len(missing)
    if not missing:
        others = first.games - inside
        if others <= 0:
            return Coverage(inside, len(benchmark.tasks), (), first.median.value, "")
        return Coverage(
            inside, len(benchmark.tasks), (), None, f"{wording.plural(others, benchmark.noun)} of other suites"
        )
    names = tuple(benchmark.title(task) for task in missing)
    lacking = wording.plural(len(names), benchmark.noun)
    why = f"{lacking} of {benchmark.view.name} {'has' if len(names) == 1 else 'have'} no score"
    return Coverage(inside, len(benchmark.tasks), names, None, why)


def _efficiency(frames: int | None, summaries: Sequence[Summary]) -> Efficiency | None:
    """Divide by training frames what the uncapped or capped summaries reach (Fan 2021, Eq. 7)."""
    if not frames:
        return None

    def gain(percent: float | None) -> float | None:
        return None if percent is None else float(efficiency.learning_efficiency(percent / 100, frames))

    return Efficiency(
        frames,
        float(efficiency.game_time_days(frames)),
        float(efficiency.game_time_days_review(frames)),
        tuple(Gain(item.metric, item.title, gain(item.mean.value), gain(item.median.value)) for item in summaries),
    )


def _estimate(name: str, model: Subset, dataset: Dataset, seeds: Seeds, bootstrap: Bootstrap) -> Estimate:
    cap = protocols.frame_cap(dataset.play(name))
    played = _cells(name, {task: seeds[task] for task in model.tasks if task in seeds})
    return estimates.estimate(model, played, cap, bootstrap.seed)
