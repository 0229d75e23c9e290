"""The one analysis: from runs to everything that a report shows.

::

    runs ─ cells.py ─→ algorithm × game ─ metrics, subset ─→ document.Report ─→ terminal, page, JSON

Renderers compute nothing: a new metric is one line here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from arcademark._version import __version__
from arcademark.metrics import intervals
from arcademark.report import bars, estimates, hard, measures, wording
from arcademark.report.cells import Cell, PlayedAlgorithm, played_algorithms, run_names
from arcademark.report.citations import cited_in
from arcademark.report.measures import Measure
from arcademark.report.runs import directory, learning, methods, notices
from arcademark.report.runs.document import Algorithm, Game, GameScore, Interval, Report, Summary
from arcademark.scores.runs import RunCollection, load_runs
from arcademark.suite import references, tasks
from arcademark.suite.subsets import Subset


def analyse(
    directories: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | RunCollection,
    *,
    every_variant: bool = False,
    seed: int = 0,
) -> Report:
    """Work out everything that is to be said about some runs.

    Parameters
    ----------
    directories : path, sequence of path, or RunCollection
        The run, or several in the order to show them.
    every_variant : bool, optional
        Show each of the Const and Perturb baselines, and not just the best of each game.
    seed : int, optional
        Of the bootstrap behind the estimates' intervals.

    Raises
    ------
    ArcadeMarkError
        As `arcademark.scores.runs.load_runs`.
    """
    collection = directories if isinstance(directories, RunCollection) else load_runs(directories)
    shown = played_algorithms(collection, every_variant=every_variant)
    names = dict(zip((id(run) for run in collection.runs), run_names(collection), strict=True))
    games = tuple(_game(task) for task in dict.fromkeys(task for algorithm in shown for task in algorithm.cells))
    models = estimates.choose_together([algorithm.played for algorithm in shown])
    algorithms = tuple(
        _algorithm(algorithm, names[id(algorithm.run)], model, seed)
        for algorithm, model in zip(shown, models, strict=True)
    )
    views = tuple(directory.view(run, names[id(run)]) for run in collection.runs)
    scope = _scope([game.id for game in games])
    told = notices.collect(collection, shown, algorithms, games, names=tuple(names.values()))
    paragraphs = methods.paragraphs(algorithms, games, views, scope)
    sources = (note for view in views for setting in view.protocol.settings for note in (setting.note,))
    return Report(
        title=wording.shortened((algorithm.name for algorithm in algorithms), most=4),
        generator=f"ArcadeMark {__version__}",
        scope=scope,
        algorithms=algorithms,
        games=games,
        learning=learning.curves(shown),
        hard_exploration=hard.section([(algorithm.name, _means(algorithm.played)) for algorithm in shown]),
        runs=views,
        notices=told,
        methods=paragraphs,
        citations=cited_in([*paragraphs, *(notice.text for notice in told), *sources]),
    )


def _algorithm(algorithm: PlayedAlgorithm, run: str, model: Subset, seed: int) -> Algorithm:
    protocol = algorithm.run.record.protocol
    trial = next((item for item in algorithm.trials if item.learns), algorithm.trials[0])
    frames, episodes = trial.training_frames, trial.training_episodes
    if (frames, episodes) == (None, None):
        frames, episodes = protocol.training_frames, protocol.training_episodes
    return Algorithm(
        name=algorithm.name,
        run=run,
        protocol=protocol.label,
        variants=algorithm.variants,
        frames_per_action=trial.frames_per_action or protocol.frame_skip,
        training_frames=frames if trial.learns else None,
        training_episodes=episodes if trial.learns else None,
        scores=tuple(_game_score(task, cell) for task, cell in algorithm.cells.items()),
        summaries=_summaries(algorithm.played),
        breakthroughs=bars.breakthroughs(_means(algorithm.played), algorithm.name),
        estimate=estimates.estimate(model, algorithm.played, protocol.max_frames_per_episode, seed),
    )


def _game(task: str) -> Game:
    random, human, record = (references.scores(kind).get(task) for kind in ("random", "human", "human_world_record"))
    return Game(
        id=task,
        name=tasks.game_name(task),
        random=random,
        human=human,
        record=record,
        record_hns=measures.atari()["hns"].of(task, record),
        hard_exploration=task in hard.games(),
    )


def _game_score(task: str, cell: Cell) -> GameScore:
    value = intervals.score(cell.seeds) if cell.seeds else None
    return GameScore(
        game=task,
        score=value,
        interval=_interval(task, cell),
        hns=measures.atari()["hns"].of(task, value),
        hwrns=measures.atari()["hwrns"].of(task, value),
        episodes=sum(len(scores) for scores in cell.seeds),
        planned_episodes=cell.planned,
        seeds=len(cell.seeds),
        truncated=sum(cell.truncated),
        episode_scores=tuple(score for scores in cell.seeds for score in scores.tolist()),
        episode_truncated=cell.truncated,
        variant=cell.variant,
        planning=cell.planning,
    )


def _interval(task: str, cell: Cell) -> Interval | None:
    if not cell.seeds:
        return None
    found = intervals.score_interval(cell.seeds)
    if found.low is None or found.high is None:
        return None
    hns = measures.atari()["hns"]
    return Interval(found.low, found.high, found.level, hns.of(task, found.low), hns.of(task, found.high))


def _means(played: Mapping[str, Cell]) -> dict[str, float]:
    return {task: intervals.score(cell.seeds) for task, cell in played.items()}


def _summaries(played: Mapping[str, Cell]) -> tuple[Summary, ...]:
    runs_of_tasks = {task: [float(np.mean(scores)) for scores in cell.seeds] for task, cell in played.items()}
    return tuple(_summary(measure, runs_of_tasks) for measure in measures.atari().values())


def _summary(measure: Measure, runs_of_tasks: Mapping[str, Sequence[float]]) -> Summary:
    names = [task for task in runs_of_tasks if task in measure.known]
    if not names:
        return Summary(measure.metric, measure.title, measure.meaning, None, None, None, 0)
    mean, median, iqm, _ = map(float, measure.aggregates(runs_of_tasks))
    return Summary(measure.metric, measure.title, measure.meaning, mean, median, iqm, len(names))


def _scope(names: Sequence[str]) -> str:
    """Say which games the summaries are over."""
    return directory.known_set(names) or ("1 game" if len(names) == 1 else f"these {len(names)} games")
