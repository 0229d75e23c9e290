"""Computation of the leaderboard: the analysis of scores for each view, with further facts."""

from __future__ import annotations

import base64
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arcademark.analysis import measures, published
from arcademark.analysis.cells import PlayedAlgorithm
from arcademark.analysis.document import GENERATOR
from arcademark.analysis.scoring import analysis, ranking
from arcademark.analysis.scoring.report import ScoreReport
from arcademark.analysis.site import document
from arcademark.analysis.subsets import predictors
from arcademark.analysis.subsets.predictors import Predictor
from arcademark.analysis.tables import plausible, protocols
from arcademark.analysis.tables.dataset import Dataset, ScoreOptions, prepare
from arcademark.analysis.tables.document import Algorithm, ScoredGame
from arcademark.analysis.tables.loading import CATALOGUE, EVERYTHING, ScoreSource, published_entries, suites_of
from arcademark.analysis.tables.protocols import UNKNOWN, PlayConditions
from arcademark.analysis.uncertainty import Statistic
from arcademark.catalogue import collections, reading
from arcademark.catalogue import errata as slips
from arcademark.catalogue.model import Entry
from arcademark.errors import ArcadeMarkError
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.records import imported
from arcademark.records.model import scored_phase
from arcademark.records.replayed import Verification
from arcademark.scores.readers.words.role_names import RULES
from arcademark.subset.predict import calibration
from arcademark.subset.predict.model import frame_cap_warnings
from arcademark.subset.predict.spread import FREEDOM
from arcademark.suite import anomalies, references, subsets, tasks
from arcademark.suite.protocols import StepProtocol
from arcademark.suite.subsets import LEVEL, REPORTED
from arcademark.suite.tables import read_rows

VIEWS: tuple[tuple[str, str], ...] = (
    ("atari-57", ""),
    ("ale-55", ""),
    ("atari-100k", ""),
    ("atari-57", REPORTED),
)
"""Suite of each view and, if it has only some of its games, the subset."""

TOLD_APART: Mapping[str, Mapping[str, str]] = {
    "sticky actions": {"0.0": "no sticky actions"},
    "max episode length": {"none": "episodes without a cap"},
    "start": {"reset": "start at the reset", "no-ops": "no-op starts", "human": "human starts"},
}
"""The settings that distinguish groups, with labels for some of their values."""

PLANS = "plans on the emulator"
"""Label of groups of algorithms that simulate actions on the emulator before they take one."""

CURVE_POINTS = 60
SAME = ("identity", "kind", "year", "collection", "note", "assumed", "training_frames", "reported")
"""Fields of rows that are copied from the catalogue's entries."""


def analyse(
    places: Sequence[ScoreSource],
    replays: Mapping[str, Verification] | None = None,
    films: Mapping[tuple[str, str], Sequence[document.Film]] | None = None,
    collection: Sequence[str] = (EVERYTHING,),
    follow: Callable[[int, int], None] | None = None,
) -> document.Site:
    """Compute the leaderboard of the catalogue's collections, all or the named ones, and of runs.

    Runs on other tasks than Atari games are ranked among themselves, by their suite's reference scores. Raises
    ArcadeMarkError if no task has reference scores.

    Parameters
    ----------
    places : sequence of score source
        Runs, as records or by their directories, and tables of scores; each is read once.
    replays : mapping, optional
        Results of verification by the run's directory.
    films : mapping, optional
        Animations by the run's directory and the agent's label.
    collection : sequence of str, optional
        Names of collections; all by default.
    follow : callable, optional
        Called after each algorithm of each view with the number done and the total.
    """
    published = f"{CATALOGUE}{','.join(collection)}"
    of_tasks = bool(places) and any(suites_of(places).values())
    views = (("", ""),) if of_tasks else VIEWS
    # The first view also includes games beyond its suite, which no summary includes.
    options = [ScoreOptions()] + [
        ScoreOptions(suite=suite, games=games or suite, model=None) for suite, games in views[1:]
    ]
    datasets = [prepare(places if of_tasks else [published, *places], options[0])]
    datasets += [prepare(datasets[0].scores, one) for one in options[1:]]
    if not datasets[0].benchmark.measures:
        raise ArcadeMarkError(
            f"{datasets[0].benchmark.view.title}: no task has the low and the high reference score that ranking needs"
        )
    reports = _reports(datasets, options, follow)
    whole, report = datasets[0], reports[0]
    kinds = {name: _group(whole.play(name)) for name in whole.algorithms}
    sizes = Counter(group.title for group in kinds.values())
    groups = {group.title: group for group in kinds.values()}
    nobody = {title for title, group in groups.items() if group.settings.get("start") == "human"}  # can play so today
    order = sorted(groups, key=lambda title: (not groups[title].known, title in nobody, -sizes[title]))
    entries = _entries(whole, published)
    names = [games or dataset.benchmark.view.name for dataset, (_, games) in zip(datasets, views, strict=True)]
    standings: dict[str, dict[str, document.Standing]] = {}
    for name, one_report in zip(names, reports, strict=True):
        for item in one_report.algorithms:
            if item.coverage.games:
                standings.setdefault(item.name, {})[name] = _standing(item)
    rows = []
    for item in report.algorithms:
        row = _row(item, whole, standings.get(item.name, {}), order.index(kinds[item.name].title))
        if item.name in entries:
            known = _published(entries[item.name], row)
        else:
            row = row if of_tasks else replace(row, badges=("yours", *row.badges))
            known = {"source": Path(row.source).name, "curves": tuple(_curves(report, item.name))}
            if played := whole.scores.get(item.name).played:
                known |= _played(row, played, replays or {}, films or {})
        rows.append(replace(row, **known))
    return document.Site(
        generator=GENERATOR,
        collections=tuple(collection),
        intervals=report.intervals,
        games=tuple(_task(game) if of_tasks else _game(game.id) for game in report.games),
        views=tuple(_view(dataset, games) for dataset, (_, games) in zip(datasets, views, strict=True)),
        told_apart=(*TOLD_APART, PLANS),
        groups=tuple(groups[title] for title in order),
        algorithms=tuple(rows),
        papers=_papers(),
        errata=() if of_tasks else tuple(_errata()),
        notices=report.notices,
        unit="step" if of_tasks else "frame",
        model=None if of_tasks else _model(predictors.atari()),
        predicted_from="" if of_tasks else REPORTED,
        aggregates=tuple(AGGREGATES.values()),
        ranking=() if of_tasks else tuple(ranking.medians().values()),
        beside=tuple(sorted(plausible.REFERENCES)),
        rules=RULES,
    )


def _reports(
    datasets: Sequence[Dataset], options: Sequence[ScoreOptions], follow: Callable[[int, int], None] | None
) -> list[ScoreReport]:
    """Analyse datasets in parallel; if one fails, the others are stopped."""
    steps, total = itertools.count(1), sum(len(dataset.algorithms) for dataset in datasets)
    stopped = threading.Event()

    def counted(_: int, __: int) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        if follow is not None:
            follow(next(steps), total)

    with ThreadPoolExecutor(2) as pool:  # NumPy sorts and multiplies arrays in parallel
        try:
            return list(pool.map(lambda dataset, one: analysis.of_dataset(dataset, one, counted), datasets, options))
        except BaseException:
            stopped.set()  # stops the other thread, too
            raise


def _model(predictor: Predictor) -> document.Model:
    """Return the data with which the browser predicts medians as `Predictor.median` does."""
    trained = predictor.trained
    joints = (trained.joint, *trained.without.values())
    triangle = np.tril_indices(len(predictor.tasks))
    return document.Model(
        tasks=predictor.tasks,
        low=tuple(float(predictor.low[task]) for task in predictor.tasks),
        high=tuple(float(predictor.high[task]) for task in predictor.tasks),
        means=_packed([joint.mean for joint in joints]),
        precisions=_packed([joint.precision[triangle] for joint in joints]),
        percent=_packed(trained.percent),
        groups=trained.groups,
        named=predictor.named,
        distributions=tuple(trained.without),
        noise=_packed(predictors.noise(len(predictor.tasks)), "<f4"),
        fewer=calibration.FEWER,
        bandwidth=calibration.BANDWIDTH,
        shrink=calibration.SHRINK,
        least_scale=calibration.LEAST_SCALE,
        least_reach=trained.calibration.least_share * calibration.normal_half_width(LEVEL),
        truths=tuple(calibration.TRUTHS.tolist()),
        freedom=FREEDOM,
        level=LEVEL,
        caution=" ".join(frame_cap_warnings(predictor.max_frames_per_episode, "unknown")),
    )


def _packed(values: ArrayLike, kind: str = "<f8") -> str:
    return base64.b64encode(np.asarray(values, dtype=kind).tobytes()).decode("ascii")


def _entries(dataset: Dataset, place: str) -> Mapping[str, Entry]:
    """Return the entries of a ``catalogue:`` place by their names in a dataset."""
    known = published_entries(place)
    named = {**{entry.qualified: entry for entry in known.values()}, **known}
    return {name: named[name] for name in dataset.algorithms if dataset.scores.get(name).qualified and name in named}


def _group(play: PlayConditions) -> document.Group:
    facts = protocols.settings_of(play)
    if isinstance(play.protocol, StepProtocol):
        return document.Group(play.label, facts, known=True)
    values = {name: facts.get(name, UNKNOWN) for name in TOLD_APART}
    labels = [TOLD_APART[name].get(value, f"{name} {value}") for name, value in values.items()]
    if play.plans:
        labels.append(PLANS)
    title = ", ".join(labels)
    settings = values | {PLANS: "yes" if play.plans else "no"}
    return document.Group(title[0].upper() + title[1:], settings, UNKNOWN not in values.values())


def _view(dataset: Dataset, games: str) -> document.View:
    benchmark = dataset.benchmark
    named = subsets.subset(games) if games else None
    chosen = named.tasks if named else benchmark.tasks
    title = named.title.partition(":")[0] if named else benchmark.view.title
    measures = tuple(_measure(item, chosen) for item in benchmark.chosen(()))
    coefficients = named.coefficients if named and named.coefficients else ()
    return document.View(
        games or benchmark.view.name, title, benchmark.view.name, tuple(chosen), measures, coefficients
    )


def _measure(item: measures.Measure, games: Sequence[str]) -> document.SiteMeasure:
    known = [task for task in games if task in item.known]
    low, high = ({task: ends[task] for task in known} for ends in (item.low, item.high))
    metric = item.metric
    return document.SiteMeasure(
        metric.name, metric.title, metric.meaning, low, high, metric.bounds or (), metric.of_means
    )


def _game(task: str) -> document.SiteGame:
    game = tasks.games()[task]
    kinds: tuple[references.Kind, ...] = ("random", "human", "human_world_record")
    known = {kind: references.scores(kind).get(task) for kind in kinds}
    aliases = (row["alias"] for row in read_rows("aliases.csv") if row["task"] == task)
    spellings = dict.fromkeys(map(tasks.normalised, (task, game.name, *aliases)))
    return document.SiteGame(
        task,
        game.name,
        game.genre,
        task in published.hard_games(),
        {kind: score for kind, score in known.items() if score is not None},
        anomalies.anomalies().get(task, ()),
        tuple(spellings),
    )


def _task(task: ScoredGame) -> document.SiteGame:
    """Return the leaderboard's entry of a task that is not an Atari game."""
    known = {kind: score for kind, score in task.references.items() if score is not None}
    return document.SiteGame(task.id, task.name, "", False, known, (), (tasks.normalised(task.id),))


def _row(item: Algorithm, dataset: Dataset, standings: Mapping[str, document.Standing], group: int) -> document.Row:
    runs = dataset.runs(item.name)
    reaches = {score.game: _numbers(score.score)[1:] for score in item.scores}
    return document.Row(
        name=item.name,
        identity=item.name,
        source=item.source,
        group=group,
        settings=protocols.settings_of(dataset.play(item.name)),
        training_frames=item.efficiency.training_frames if item.efficiency else item.training_frames,
        fewest_runs=item.fewest_runs,
        most_runs=item.most_runs,
        pooled=item.pooled,
        badges=("per-seed",) if item.most_runs > 1 else (),
        scores=tuple(tuple(runs[task].tolist()) if task in runs else () for task in dataset.tasks),
        reaches=tuple(reaches.get(task, ()) for task in dataset.tasks),
        standings=standings,
        estimate=item.estimate if item.coverage.missing and item.estimate and not item.estimate.missing else None,
        predicted=_predicted(item, dataset) if not item.coverage.missing else (),
    )


def _predicted(item: Algorithm, dataset: Dataset) -> document.Numbers:
    """Return the median estimated from the games of `REPORTED` alone by a model fitted without the algorithm's paper.

    Empty where only an upper bound is known, and for other suites than atari-57.
    """
    if dataset.benchmark.view.name != predictors.ATARI:
        return ()
    predictor, means = predictors.atari(), dataset.means(item.name)
    few = {task: means[task] for task in subsets.subset(REPORTED).tasks}
    median, _ = predictor.median(few, LEVEL, predictor.group(item.name, dataset.scores.get(item.name).paper))
    return _numbers(Statistic(median.value, median.low, median.high))


def _numbers(number: Statistic) -> document.Numbers:
    if number.value is None:
        return ()
    return (number.value,) if number.low is None or number.high is None else (number.value, number.low, number.high)


def _standing(item: Algorithm) -> document.Standing:
    reached = {bar.metric: bar for bar in item.breakthroughs}
    return document.Standing(
        item.coverage.games,
        {
            summary.metric: {name: _numbers(number) for name, number in summary.statistics.items()}
            for summary in item.summaries
        },
        len(reached["hwrb"].reached) if "hwrb" in reached else None,
        len(reached["human_level"].reached) if "human_level" in reached else None,
        max((bar.games for bar in item.breakthroughs), default=0),
    )


def _published(entry: Entry, row: document.Row) -> dict[str, Any]:
    """Return the fields of a row that only catalogue entries have."""
    results = collections.scores_of(entry)
    printed_otherwise = {task: item.as_published for task, item in results.items() if item.as_published is not None}
    printed = {(slip.paper, slip.place.algorithm) for slip in slips.errata() if slip.place}
    doubted = printed_otherwise or (entry.source.key, entry.algorithm) in printed
    return {
        **{name: getattr(entry, name) for name in SAME},
        "precedence": ranking.precedence(row.name, entry.identity),
        "paper": entry.origin.key,
        "source_paper": entry.source.key,
        "badges": (*(row.badges or ("as-published",)), *(["errata"] if doubted else [])),
        "published": printed_otherwise,
        "notes": {task: item.note for task, item in results.items() if item.note},
    }


def _played(
    row: document.Row,
    item: PlayedAlgorithm,
    replays: Mapping[str, Verification],
    films: Mapping[tuple[str, str], Sequence[document.Film]],
) -> dict[str, Any]:
    """Return the fields of a row that only runs have."""
    record = item.run.record
    directories = [str(place) for place in record.parts or (record.directory,)]
    verified = [replays[place] for place in directories if place in replays]
    agents = dict.fromkeys(trial.agent for trial in item.trials)
    trials = {trial.id for trial in item.trials}
    findings = [finding for one in verified for finding in one.findings if finding.trial_id in trials]
    confirmed = sum(finding.outcome == "confirmed" for finding in findings)
    badges: list[document.Badge] = list(row.badges)
    if imported.origin(record) is not None:
        badges.append("imported")
    elif findings and len(verified) == len(directories):
        badges.append("replayed" if confirmed == len(findings) else "differs")
    warnings = tuple(dict.fromkeys(warning for one in verified for warning in one.warnings))
    return {
        "kind": "run",
        "source": f"played in {record.directory.name}",
        "reported": scored_phase(record.protocol, any(trial.learns for trial in item.trials)),
        "badges": tuple(badges),
        "replay": document.Replay(len(findings), confirmed, warnings) if findings else None,
        "films": tuple(film for place in directories for agent in agents for film in films.get((place, agent), ())),
    }


def _curves(report: ScoreReport, name: str) -> Iterator[document.Curve]:
    """Average a learner's curves over seeds."""
    for curve in report.learning:
        if curve.algorithm == name:
            mean = curve.mean(CURVE_POINTS)
            yield document.Curve(curve.game, tuple(mean.frames.tolist()), tuple(mean.mean.tolist()))


def _papers() -> dict[str, document.SitePaper]:
    addresses = reading.read_bibtex()
    return {
        key: document.SitePaper(source, source.short, addresses.get(key, ("",))[0])
        for key, source in collections.sources().items()
    }


def _errata() -> Iterator[document.SiteErratum]:
    for slip in slips.errata():
        place = slip.place
        game = place.row if place and place.row in tasks.games() else ""
        algorithm = place.algorithm if place else ""
        yield document.SiteErratum(slip.paper, slip.where, algorithm, game, slip.printed, slip.holds, slip.why)
