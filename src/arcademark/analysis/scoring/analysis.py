"""Analysis of the scores of runs and tables: from a dataset to a report."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from arcademark import wording
from arcademark.analysis import estimates, measures, published
from arcademark.analysis.cells import PlayedAlgorithm, PlayedGame
from arcademark.analysis.citations import OF_NOTICES, OF_SUMMARIES, cited
from arcademark.analysis.document import GENERATOR, Notice, same_fields
from arcademark.analysis.estimates import Estimate
from arcademark.analysis.measures import Measure, Runs
from arcademark.analysis.published import Breakthrough
from arcademark.analysis.runs import directory, learning, methods
from arcademark.analysis.runs.learning import LearningCurve, SampleEfficiency
from arcademark.analysis.scoring import notices, ranking, similar, verdict
from arcademark.analysis.scoring.report import ScoreReport
from arcademark.analysis.subsets.models import ANY
from arcademark.analysis.tables import loading, protocols
from arcademark.analysis.tables.dataset import Dataset, ScoreKeywords, ScoreOptions, prepare
from arcademark.analysis.tables.document import (
    Algorithm,
    Coverage,
    Efficiency,
    Gain,
    Played,
    Rank,
    Score,
    ScoredGame,
    SingleRuns,
    Summary,
    Tolerance,
)
from arcademark.analysis.tables.loading import ScoreSource
from arcademark.analysis.uncertainty import Bootstrap, Statistic, statistic
from arcademark.errors import ArcadeMarkError
from arcademark.metrics import efficiency
from arcademark.metrics.uncertainty import intervals, tolerance
from arcademark.metrics.uncertainty.intervals import score_intervals
from arcademark.suite import references, subsets
from arcademark.suite.protocols import papers
from arcademark.suite.subsets import Subset
from arcademark.wording.prose import text

ALE = "bellemare-2013"
"""The paper of the ALE, on which our own runs are played."""

ESTIMATED = ("atari-57", "atari-100k")
"""Suites whose median is estimated where games are missing; published models are for the first."""

EFFICIENCY_POINTS, EFFICIENCY_DRAWS = 40, 1000
"""Number of frames at which sample efficiency is computed, and resamples for its interval at each."""

TOLERANCE = "patterson-2024"
"""Publication that recommends tolerance intervals of runs."""


def analyse(
    sources: Sequence[ScoreSource] | ScoreSource,
    options: ScoreOptions | None = None,
    /,
    **keywords: Unpack[ScoreKeywords],
) -> ScoreReport:
    """Analyse scores.

    Parameters
    ----------
    sources : path, ``"catalogue:review-2021"``, ScoreTable, mapping, or a sequence of these
        A path is a run's directory, or a file of any format that is read here; a mapping goes from algorithm to task to
        a score, or one per run: ``{"DQN": {"pong": [18.9, 19.3]}}``.
    options : ScoreOptions, optional
    **keywords : object
        Fields of `ScoreOptions`, used without ``options``: ``suite``, ``references``, ``algorithms``, ``games``, …

    Raises
    ------
    ArcadeMarkError
        If a named object does not exist, a file is malformed, or no scores are left to analyse.
    """
    wanted = options or ScoreOptions(**keywords)
    return of_dataset(prepare(sources, wanted), wanted)


def of_dataset(
    dataset: Dataset, options: ScoreOptions, follow: Callable[[int, int], None] | None = None
) -> ScoreReport:
    """Analyse a dataset; see `analyse`.

    ``follow`` is called after each algorithm with the number of algorithms done and the total.
    """
    chosen = dataset.benchmark.chosen(options.metrics or ())
    bootstrap = bootstrap_of(dataset, options)
    runs = dataset.scores.runs.runs if dataset.scores.runs else ()
    names = dataset.scores.runs.names if dataset.scores.runs else ()
    by_run = dict(zip((id(run.record) for run in runs), names, strict=True))
    model, view = estimates.published(options.model), dataset.benchmark.view
    if model is not None and view.name != ESTIMATED[0]:
        raise ArcadeMarkError(
            f"{model.name} estimates the median of {ESTIMATED[0]}; leave the model out, or the other benchmark"
        )
    estimated = options.model is not None and view.name in ESTIMATED
    algorithms = []
    for name in dataset.algorithms:
        played = dataset.scores.get(name).played
        more = _estimates(name, model, dataset, bootstrap) if estimated else {"estimate": None}
        more |= _of_run(played, by_run, dataset.scores.get(name).frames) if played else {}
        algorithms.append(_algorithm(name, dataset, chosen, bootstrap, **more))
        if follow is not None:
            follow(len(algorithms), len(dataset.algorithms))
    noticed = notices.of_scores(dataset, algorithms, bootstrap)
    views = tuple(map(directory.view, runs, names))
    title = wording.shortened(dataset.algorithms, most=4)
    models = dict.fromkeys(one.subset for item in algorithms for one in (item.estimate, item.published) if one)
    used = [subsets.subset(name).papers for name in models if name != ANY]
    beside = tuple(similar.budgets(dataset, algorithms))
    games, randoms = _games(dataset), published.random_players() if dataset.benchmark.atari else {}
    algorithms = [
        replace(item, verdict=verdict.judge(item, games, randoms, beside, _rank(item, dataset))) for item in algorithms
    ]
    papers = [item.paper for one in beside for item in one.published]
    own = [
        *((ALE,) if any(run.protocol.unit == "frame" for run in views) else ()),
        *((TOLERANCE,) if options.tolerance else ()),
    ]
    common = shared(title, dataset, chosen, bootstrap, noticed, own, papers, *used)
    curves = learning.curves(dataset.played)
    return ScoreReport(
        **common,
        algorithms=tuple(algorithms),
        learning=curves,
        sample_efficiency=sample_efficiency(curves, chosen[0], bootstrap, dataset.unit) if chosen else (),
        runs=views,
        methods=methods.paragraphs(algorithms, common["games"], views, common["scope"], common["intervals"])
        if views
        else (),
        similar=beside,
        tolerance=None if options.tolerance is None else _tolerance(dataset, options.tolerance),
    )


def _tolerance(dataset: Dataset, share: float) -> Tolerance:
    """Compute tolerance intervals of single runs for all algorithms on all games with several runs."""

    def rows() -> Iterator[SingleRuns]:
        for game in dataset.tasks:
            for name in dataset.algorithms:
                runs = dataset.runs(name).get(game, np.empty(0))
                if runs.size > 1:
                    yield SingleRuns(name, game, runs.size, **vars(tolerance.tolerance_interval(runs, share)))

    needed, of_bound = tolerance.runs_needed(share), tolerance.runs_needed(share, ends=1)
    return Tolerance(share, tolerance.CONFIDENCE, needed, of_bound, tuple(rows()))


def bootstrap_of(dataset: Dataset, options: ScoreOptions) -> Bootstrap:
    """Return the computation of a dataset's intervals."""
    runs = int(dataset.scores.table.runs_present().sum())
    bootstrap = Bootstrap.choose(options.seed, options.resamples, options.method, runs)
    episodes = {name: those for name in dataset.algorithms if (those := dataset.episodes(name))}
    untrained = (item for item in dataset.played if item.name in episodes)
    exact = frozenset(item.name for item in untrained if all(cell.exact for cell in item.cells.values()))
    return replace(bootstrap, title=dataset.benchmark.title, episodes=episodes, exact=exact)


def _of_run(item: PlayedAlgorithm, names: Mapping[int, str], frames: int | None) -> dict[str, Any]:
    """Return the fields of an algorithm that only runs have."""
    trial = next((trial for trial in item.trials if trial.learns), item.trials[0])
    protocol, episodes = item.run.record.protocol, trial.training_episodes
    if (trial.training_frames, episodes) == (None, None):
        episodes = protocol.training_episodes
    return {
        "run": names[id(item.run.record)],
        "variants": item.variants,
        "frames_per_action": trial.frames_per_action or protocol.frame_skip,
        "training_episodes": episodes if trial.learns else None,
        "learns": bool(trial.learns),
        "pooled": "" if item.apart else "network" if item.trained else "untrained",
        "frames_of_files": frames is not None
        and not trial.learns
        and "trained_under" not in item.run.record.manifest
        and frames == loading.frames_of_files(item),
    }


def shared(
    title: str,
    dataset: Dataset,
    chosen: Sequence[Measure],
    bootstrap: Bootstrap,
    noticed: tuple[Notice, ...],
    *more: Sequence[str],
) -> dict[str, Any]:
    """Return the fields of `TableDocument`; `more` are keys of papers."""
    return {
        "title": title,
        "generator": GENERATOR,
        "sources": dataset.scores.sources,
        "scope": _scope(dataset),
        "benchmark": dataset.benchmark.view,
        "intervals": bootstrap.view(),
        "games": _games(dataset),
        "hard_exploration": published.hard_exploration({name: dataset.means(name) for name in dataset.algorithms})
        if dataset.benchmark.atari
        else None,
        "notices": noticed,
        "citations": cited(_papers(dataset, chosen, noticed).union(*more)),
    }


def _papers(dataset: Dataset, chosen: Sequence[Measure], noticed: Sequence[Notice]) -> set[str]:
    """Return the keys of the papers that a document of a dataset cites."""
    plays = [dataset.play(name) for name in dataset.algorithms]
    return {OF_SUMMARIES, *dataset.benchmark.papers}.union(
        *(OF_NOTICES.get(notice.kind, ()) for notice in noticed),
        *(measure.metric.papers for measure in chosen),
        *(play.papers for play in plays),
        *(papers(play.protocol) for play in plays if play.protocol),
    )


def _games(dataset: Dataset) -> tuple[ScoredGame, ...]:
    benchmark, hns = dataset.benchmark, measures.atari()["hns"]
    records = references.scores("human_world_record")
    return tuple(
        ScoredGame(
            id=task,
            name=benchmark.title(task),
            references={kind: known.get(task) for kind, known in benchmark.references.items()},
            in_benchmark=task in benchmark.tasks,
            hard_exploration=benchmark.atari and task in published.hard_games(),
            record_hns=hns.normalise(task, records.get(task)) if benchmark.atari else None,
        )
        for task in dataset.tasks
    )


def _scope(dataset: Dataset) -> str:
    """Name the games that the summaries are over."""
    benchmark, names = dataset.benchmark, dataset.tasks
    if benchmark.atari and benchmark.view.name != ESTIMATED[0]:
        names = tuple(task for task in names if task in benchmark.tasks)
    if benchmark.atari and (known := directory.known_set(names)):
        return known
    if set(names) == set(benchmark.tasks):
        return f"the {wording.plural(len(names), benchmark.noun)} of {benchmark.view.title}"
    inside = sum(task in benchmark.tasks for task in names)
    if inside == len(benchmark.tasks) and not benchmark.atari:
        return f"the {wording.plural(inside, benchmark.noun)} of {benchmark.view.name}"
    return f"{inside} of the {wording.plural(len(benchmark.tasks), benchmark.noun)} of {benchmark.view.name}"


def sample_efficiency(
    curves: Sequence[LearningCurve], measure: Measure, bootstrap: Bootstrap, unit: str
) -> tuple[SampleEfficiency, ...]:
    """Aggregate each learner's smoothed training scores at common frames, over the games of all learners."""
    learners = dict.fromkeys(curve.algorithm for curve in curves)
    games = {curve.game for curve in curves if curve.game in measure.known}
    for name in learners:
        games &= {curve.game for curve in curves if curve.algorithm == name}
    # A copy, because intervals at many frames are not to be recorded as the document's.
    drawn = replace(bootstrap, resamples=min(bootstrap.resamples, EFFICIENCY_DRAWS), episodes={})
    metric = measure.metric
    found = []
    for name in learners if games else ():
        own = [curve for curve in curves if curve.algorithm == name and curve.game in games]
        frames, scores = learning.at_common_frames(own, EFFICIENCY_POINTS)
        iqm = [drawn.summaries(name, [measure], runs)[0]["iqm"] for runs in scores]
        if frames and all(one.value is not None for one in iqm):
            found.append(
                SampleEfficiency(
                    algorithm=name,
                    games=len(games),
                    seeds=min(len(curve.seeds) for curve in own),
                    metric=metric.name,
                    title=metric.title,
                    frames=tuple(frames),
                    iqm=tuple(one.value or 0.0 for one in iqm),
                    low=tuple(one.low for one in iqm),
                    high=tuple(one.high for one in iqm),
                    unit=unit,
                )
            )
    return tuple(found)


def _algorithm(name: str, dataset: Dataset, chosen: Sequence[Measure], bootstrap: Bootstrap, **more: Any) -> Algorithm:
    played, means = dataset.runs(name), dataset.means(name)
    values = bootstrap.summaries(name, chosen, played)
    summaries = tuple(_summary(*both, played, dataset) for both in zip(chosen, values, strict=True))
    frames, run = dataset.scores.get(name).frames, dataset.scores.get(name).played
    inside = {task: value for task, value in means.items() if task in dataset.benchmark.tasks}
    bars_reached = published.bars(inside, name) if "human" in dataset.benchmark.references else ()
    spent = frames or (learning.frames_used(run) if run else None)
    if run and run.run.record.protocol.unit == "step":
        spent = None  # steps have no duration
    return Algorithm(
        **identity(name, dataset),
        coverage=_coverage(means, dataset, summaries),
        scores=tuple(_scores(name, chosen, dataset, bootstrap)),
        summaries=summaries,
        breakthroughs=bars_reached,
        efficiency=_efficiency(spent, summaries, bars_reached),
        **more,
    )


def identity(name: str, dataset: Dataset) -> dict[str, Any]:
    """Return the fields that a `Side` has."""
    counts = [row.size for row in dataset.runs(name).values()]
    return {
        "name": name,
        "source": dataset.source(name),
        "protocol": dataset.play(name).label,
        "training_frames": dataset.scores.get(name).frames,
        "fewest_runs": min(counts, default=0),
        "most_runs": max(counts, default=0),
    }


def _scores(name: str, chosen: Sequence[Measure], dataset: Dataset, bootstrap: Bootstrap) -> Iterator[Score]:
    """Yield each game's score with its interval, in points and normalised; also a run's games not yet played."""
    runs, varying, played = dataset.runs(name), dataset.varying(name), dataset.scores.get(name).played
    units = {task: values for task, (_, values) in varying.items()}
    ends = score_intervals(list(units.values()), list(map(dataset.benchmark.score_bounds, units)))[:, :3]
    by_unit = dict(zip(units, starmap(statistic, ends.tolist()), strict=True))
    normalised = {item.metric.name: _normalised(item, list(units), ends) for item in chosen}
    unknown = Statistic(None)
    for task in dataset.tasks:
        cell = played.cells.get(task) if played else None
        if task in by_unit and by_unit[task].low is not None:
            bootstrap.record("score", "student", varying[task][0], name, task)
        if task in by_unit or cell:
            yield Score(
                task,
                by_unit.get(task, unknown),
                runs[task].size if task in runs else 0,
                {metric: values.get(task, unknown) for metric, values in normalised.items()},
                _played(cell) if cell else None,
            )


def _normalised(measure: Measure, tasks: Sequence[str], ends: NDArray[np.float64]) -> dict[str, Statistic]:
    """Normalise the scores of known tasks, and the ends of their intervals."""
    known = [place for place, task in enumerate(tasks) if task in measure.known]
    names = [tasks[place] for place in known]
    rows = measure.normaliser(ends[known], names).tolist()
    return {
        task: Statistic(value) if math.isnan(low) else Statistic(value, low, high)
        for task, (value, low, high) in zip(names, rows, strict=True)
    }


def _played(cell: PlayedGame) -> Played:
    scores, places = np.unique(np.concatenate([*cell.runs, []]), return_inverse=True)
    shared = scores.tolist()  # one object per distinct score, not per episode: there may be many
    return Played(**same_fields(Played, cell), episodes=tuple([shared[place] for place in places.tolist()]))


def _summary(measure: Measure, statistics: Mapping[str, Statistic], played: Runs, dataset: Dataset) -> Summary:
    unknown = tuple(dataset.benchmark.title(task) for task in played if task not in measure.known)
    games = len(played) - len(unknown)
    metric = measure.metric
    return Summary(metric.name, metric.title, metric.meaning, statistics, games, unknown)


def _coverage(means: Mapping[str, float], dataset: Dataset, summaries: Sequence[Summary]) -> Coverage:
    benchmark = dataset.benchmark
    missing = [task for task in benchmark.tasks if task not in means]
    inside = len(benchmark.tasks) - len(missing)
    if not summaries:  # a suite without references
        return Coverage(len(means), len(benchmark.tasks), (), None, "its suite has no reference scores")
    unplaced = set(summaries[0].left_out) & set(map(benchmark.title, benchmark.tasks))
    refused = text(
        *("scores", "refused"),
        missing=len(missing),
        unplaced=len(unplaced),
        others=summaries[0].games - inside,
        noun=benchmark.noun,
        suite=benchmark.view.name,
        references="reference scores" if benchmark.view.own else f"{summaries[0].title} score",
    )
    names = tuple(map(benchmark.title, missing))
    median = None if refused else summaries[0].statistics["median"].value
    return Coverage(inside, len(benchmark.tasks), names, median, refused)


def _rank(item: Algorithm, dataset: Dataset) -> Rank | None:
    """Rank an algorithm by its median over the 57 games, or by the estimate; None without either."""
    if dataset.benchmark.view.name != ranking.SUITE:
        return None
    median = None
    if item.coverage.games >= ranking.NEARLY_ALL * item.coverage.of:
        median = next((one.statistics["median"] for one in item.summaries if one.metric == "hns"), None)
    elif item.estimated:
        median = Statistic(item.estimated.value, item.estimated.low, item.estimated.high)
    if median is None or median.value is None:
        return None
    return ranking.rank(median, item.name if dataset.scores.get(item.name).qualified else "")


def _efficiency(frames: int | None, summaries: Sequence[Summary], bars: Sequence[Breakthrough]) -> Efficiency | None:
    """Divide summaries and the number of records broken by training frames (Fan 2021, Eq. 7)."""
    if not frames:
        return None

    def gain(percent: float | None) -> float | None:
        return None if percent is None else float(efficiency.learning_efficiency(percent / 100, frames))

    broken = next((len(bar.reached) for bar in bars if bar.metric == "hwrb"), None)

    return Efficiency(
        frames,
        float(efficiency.game_time_days(frames)),
        float(efficiency.game_time_days_review(frames)),
        tuple(
            Gain(item.metric, item.title, *(gain(item.statistics[name].value) for name in ("mean", "median")))
            for item in summaries
        ),
        None if broken is None else float(efficiency.learning_efficiency(broken, frames)),
    )


def _estimates(name: str, model: Subset | None, dataset: Dataset, bootstrap: Bootstrap) -> dict[str, Any]:
    """Estimate by the requested model or, without one, from any games and by the published model of exactly these."""
    varying = dataset.varying(name)
    seeds = {
        task: tuple(values[:, np.newaxis]) if over == "runs" and values.size > 1 else (values,)
        for task, (over, values) in varying.items()
    }
    frame_cap = protocols.frame_cap(dataset.play(name))
    suite = dataset.benchmark.view.name
    games = [task for task in seeds if task in dataset.benchmark.tasks]
    if model is not None:
        found: dict[str, Estimate | None] = {"estimate": estimates.from_model(model, seeds, frame_cap, bootstrap.seed)}
    else:
        known = estimates.exactly(games) if suite == ESTIMATED[0] else None
        paper = dataset.scores.get(name).paper
        found = {
            "estimate": estimates.from_any(name, paper, suite, seeds, frame_cap, bootstrap.seed),
            "published": None if known is None else estimates.from_model(known, seeds, frame_cap, bootstrap.seed),
        }
    if any(one and one.sampling_low is not None for one in found.values()):
        for task in model.tasks if model else games:
            bootstrap.record("estimate", estimates.METHOD, varying[task][0], name, task, draws=intervals.RESAMPLES)
    return found
