"""What ``arcademark subset predict`` shows: the median of all games and every game, from a few games' scores.

Conventions
-----------
* A published model needs exactly its games; of several the largest whose games are there is taken.
* Single games are predicted by the models that Tables 10 and 11 of the Atari-5 paper print, fitted anew to its training
  table, with intervals at `arcademark.subset.every_task.LEVEL`. A game that was played keeps its own score.
* Whatever games there are tell of all others, and of the summaries of all, by `arcademark.subset.outlook`: of one
  algorithm beside a published model, of several with the model `ANY` or where no published model's games are there.
* Values are in percent of the average human, or what a model file says.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from arcademark.catalogue import collections
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics import normalise
from arcademark.metrics.normalise import PERCENT
from arcademark.report import wording
from arcademark.report.subsets import models
from arcademark.report.tables import loading
from arcademark.report.tables.loading import Place
from arcademark.report.tables.protocols import Play, frame_cap
from arcademark.subset import outlook
from arcademark.subset.any_tasks import MEAN, MEDIAN, Quantity, Trained, reached, train
from arcademark.subset.every_task import LEVEL, TaskModel, fit_every_task
from arcademark.subset.model import Estimate, SubsetModel
from arcademark.subset.outlook import Outlook
from arcademark.subset.problem import Floats, log10_score, log10_score_inverse
from arcademark.suite import protocols as suite_protocols
from arcademark.suite import references
from arcademark.suite.tasks import canonical_game, games, suite

SCHEMA = "arcademark.subset-prediction/1"
TRAINING = "atari-5-training"
EVERY_GAME = ("atari-5", "atari-10")
"""Models whose paper predicts every game, too (Tables 10 and 11)."""
ANY = "any"
"""What stands for whatever games there are, instead of a model's name."""
SEED = 1982
"""Of the draws behind a forecast: the same scores give the same answer."""
UPGRADES = ("atari-1", "atari-3", "atari-5", "atari-10")


@dataclass(frozen=True)
class Game:
    """One game's score, known or predicted, in percent.

    Parameters
    ----------
    task, name : str
    value : float
    low, high : float or None
        The prediction interval; None of a game that was played, and where too few algorithms give no upper end.
    r_squared : float or None
        Of the game's model, in sample; None of a game that was played.
    """

    task: str
    name: str
    value: float
    low: float | None
    high: float | None
    r_squared: float | None


@dataclass(frozen=True)
class Upgrade:
    """What to play next: the games that the next larger model needs.

    Parameters
    ----------
    model : str
    games : tuple of str
        Names of those that are missing.
    relative_error : float
        The larger model's typical error, as published.
    """

    model: str
    games: tuple[str, ...]
    relative_error: float


@dataclass(frozen=True)
class Prediction:
    """What is predicted of one algorithm.

    Parameters
    ----------
    algorithm : str
    estimate : Estimate or None
        None where games are missing.
    missing : tuple of str
        Names of the model's games without a score.
    games : tuple of Game
        Every game, where the model's paper predicts them; those that were played first.
    at_human_level : int or None
        Games at 100 % or more, played or predicted.
    outside : tuple of str
        Games whose score is outside what the training table has: beyond it a model is not known to hold.
    upgrade : Upgrade or None
        What would narrow the estimate next.
    forecast : Outlook or None
        What the games that there are say of all, whichever they are; in percent, and counts of games.
    """

    algorithm: str
    estimate: Estimate | None
    missing: tuple[str, ...]
    games: tuple[Game, ...]
    at_human_level: int | None
    outside: tuple[str, ...]
    upgrade: Upgrade | None
    forecast: Outlook | None = None


@dataclass(frozen=True)
class Predicted:
    """Predictions, as every renderer shows them.

    Parameters
    ----------
    level : float
        Of the games' intervals.
    predictions : tuple of Prediction
    sources, remarks : tuple of str
    """

    level: float
    predictions: tuple[Prediction, ...]
    sources: tuple[str, ...]
    remarks: tuple[str, ...]


def predicted(
    places: Sequence[Place],
    name: str | None = None,
    *,
    algorithms: Sequence[str] = (),
    protocol: str | None = None,
    level: float = LEVEL,
    frames: Mapping[str, float] | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Predicted:
    """Predict from whatever scores there are.

    Parameters
    ----------
    places : sequence of path, ``catalogue:`` and a collection's name, or ScoreTable
    name : str or None, optional
        A published model, a model file, or `ANY`; None for the largest published one whose games are there, or `ANY` if
        there is none.
    algorithms : sequence of str, optional
        Only these.
    protocol : str or None, optional
        How the scores were made, where the table does not say.
    level : float, optional
        Of the games' intervals.
    frames : mapping of game to float, optional
        What playing each game costs, for what to play next; the same for all if None.
    reading : mapping, optional
        Options of the reader.

    Raises
    ------
    UnknownNameError
        Where the model, an algorithm or the protocol is unknown.
    ArcadeMarkError
        Where scores cannot be read, or no algorithm has the games of any model.
    """
    whatever = name == ANY
    wanted = None if name is None or whatever else models.model(name)
    read = loading.load(list(places), _canonical(wanted), **(reading or {}))
    for algorithm in algorithms:
        if algorithm not in read.table.algorithms:
            raise UnknownNameError("algorithm", algorithm, read.table.algorithms)
    declared = loading.declare(read, None if protocol is None else suite_protocols.protocol(protocol), {})
    means = declared.table.mean_over_runs()
    wished = [name for name in declared.table.algorithms if not algorithms or name in algorithms]
    found = []
    for row, algorithm in enumerate(declared.table.algorithms):
        if algorithm not in wished:
            continue
        scores = {
            task: float(value)
            for task, value in zip(declared.table.tasks, means[row], strict=True)
            if np.isfinite(value)
        }
        play = declared.plays.get(algorithm, Play())
        told = None if whatever else _prediction(algorithm, scores, wanted, play, level)
        if told is None or (wanted is None and told.estimate is None):
            told = _from_any(algorithm, scores, level, frames)
        elif wanted is None and len(wished) == 1:
            told = replace(told, forecast=_from_any(algorithm, scores, level, frames).forecast)
        found.append(told)
    if not any(item.estimate or item.forecast for item in found):
        needed = wanted or models.model("atari-5")
        missing = wording.listing(found[0].missing if found else map(_name, needed.tasks))
        raise ArcadeMarkError(f"nothing can be predicted: {models.title(needed)} needs scores on {missing}, too")
    return Predicted(level, tuple(found), declared.sources, (*declared.remarks, *_remarks(found)))


def read_frames(path: Path) -> Mapping[str, float]:
    """Read what playing each game costs: a CSV file with the columns game and frames.

    Raises
    ------
    ArcadeMarkError
        Where it cannot be read, a game is named twice or has no frames above 0.
    UnknownNameError
        Where there is no such game.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ArcadeMarkError(f"{path}: cannot read the frames ({error}); name a CSV file") from None
    found: dict[str, float] = {}
    for line, row in enumerate(rows, start=2):
        if not {"game", "frames"} <= row.keys():
            raise ArcadeMarkError(f"{path}: expected the columns game and frames")
        game = canonical_game(row["game"] or "")
        try:
            frames = float(row["frames"] or "")
        except ValueError:
            frames = 0.0
        if game in found or not 0 < frames < float("inf"):
            raise ArcadeMarkError(f"{path}, line {line}: expected each game once, with a number of frames above 0")
        found[game] = frames
    return found


def _canonical(model: SubsetModel | None) -> Any:
    if model is None or all(task in games() for task in model.tasks):
        return canonical_game
    by_lower = {task.lower(): task for task in model.tasks}
    return lambda name: by_lower.get(name.strip().lower(), name.strip())


def _prediction(
    algorithm: str, scores: Mapping[str, float], wanted: SubsetModel | None, play: Play, level: float
) -> Prediction:
    model = wanted or _largest(scores)
    missing = tuple(_name(task) for task in model.tasks if task not in scores)
    if missing:
        return Prediction(algorithm, None, missing, (), None, (), None)
    percent = _percent(model, scores)
    estimate = model.estimate(percent, max_frames_per_episode=frame_cap(play))
    if model.name not in EVERY_GAME or model.references:
        return Prediction(algorithm, estimate, (), (), None, (), _upgrade(model, scores))
    every = _every_game(model.name)
    inputs = log10_score([percent[task] for task in model.tasks])
    shown = tuple(_games(every, inputs, percent, level))
    outside = next(iter(every.values())).extrapolates(inputs.tolist())
    return Prediction(
        algorithm,
        estimate,
        (),
        shown,
        sum(game.value >= PERCENT for game in shown),
        tuple(_name(model.tasks[place]) for place in outside),
        _upgrade(model, scores),
    )


def _from_any(
    algorithm: str, scores: Mapping[str, float], level: float, frames: Mapping[str, float] | None
) -> Prediction:
    """Predict from whatever games there are."""
    trained = trained_on_all()
    tasks = trained.joint.tasks
    percent = {task: value for task, value in _atari(scores).items() if task in tasks}
    if not percent:
        return Prediction(algorithm, None, tuple(map(_name, tasks)), (), None, (), None)
    found = outlook.predict(
        trained, percent, quantities(tasks), rng=np.random.default_rng(SEED), level=level, frames=frames
    )
    return Prediction(algorithm, None, (), (), None, tuple(map(_name, found.outside)), None, found)


@cache
def trained_on_all() -> Trained:
    """Learn from the training table all games at once, and without each paper."""
    tasks, _ = _training()
    table = collections.load(TRAINING).select(tasks=tasks)
    percent = normalise.hns(table.mean_over_runs(), references.scores("random"), references.scores("human"), tasks)
    papers = {entry.algorithm: entry.paper for entry in collections.entries(TRAINING)}
    owners = [paper.key if (paper := papers[name]) is not None else name for name in table.algorithms]
    return train(percent, table.algorithms, tasks, owners)


def quantities(tasks: Sequence[str]) -> tuple[Quantity, ...]:
    """Return what is told of all games: median, mean, games at human level, human world records broken."""
    records = normalise.hns(
        [references.scores("human_world_record")[task] for task in tasks],
        references.scores("random"),
        references.scores("human"),
        tasks,
    )
    return MEDIAN, MEAN, reached("at human level", [PERCENT] * len(tasks)), reached("records broken", records.tolist())


def _largest(scores: Mapping[str, float]) -> SubsetModel:
    """Return the largest published model whose games are there, one for evaluation before one for tuning."""
    known = [models.model(name) for name in models.published()]
    whole = [model for model in known if set(model.tasks) <= scores.keys()]
    if not whole:
        return models.model("atari-5")
    return max(whole, key=lambda model: (not model.name.endswith("val"), len(model.tasks)))


def _percent(model: SubsetModel, scores: Mapping[str, float]) -> Mapping[str, float]:
    """Normalise by the model's own references, or by those of atari-57; tasks without any are left out."""
    if not model.references:
        return _atari(scores)
    low = {task: pair[0] for task, pair in model.references.items()}
    high = {task: pair[1] for task, pair in model.references.items()}
    return _between(scores, low, high)


def _atari(scores: Mapping[str, float]) -> Mapping[str, float]:
    return _between(scores, references.scores("random"), references.scores("human"))


def _between(scores: Mapping[str, float], low: Mapping[str, float], high: Mapping[str, float]) -> Mapping[str, float]:
    names = [task for task in scores if task in low]
    values = PERCENT * normalise.normalise([scores[task] for task in names], low, high, names)
    return dict(zip(names, values.tolist(), strict=True))


@cache
def _training() -> tuple[tuple[str, ...], Floats]:
    """Return the games and transformed scores of the training table as its source has it, for the paper's models."""
    table = collections.load(TRAINING, as_published=True).select(tasks=suite("atari-57").tasks)
    raw = table.mean_over_runs()
    percent = normalise.hns(raw, references.scores("random"), references.scores("human"), table.tasks)
    return table.tasks, log10_score(percent)


@cache
def _every_game(name: str) -> Mapping[str, TaskModel]:
    tasks, logs = _training()
    return fit_every_task(logs, tasks, models.model(name).tasks)


def _games(every: Mapping[str, TaskModel], inputs: Floats, percent: Mapping[str, float], level: float) -> list[Game]:
    played = [Game(task, _name(task), percent[task], None, None, None) for task in every if task in percent]
    others = []
    for task, model in every.items():
        if task in percent:
            continue
        middle, reach = float(model.fit.predict(inputs)), model.reach(level)
        low, value, high = (_percent_of(middle + side * reach) for side in (-1, 0, 1))
        others.append(Game(task, _name(task), value, low, high if np.isfinite(high) else None, model.fit.r2))
    return [*played, *others]


def _percent_of(log: float) -> float:
    return max(0.0, float(log10_score_inverse(log)))


def _upgrade(model: SubsetModel, scores: Mapping[str, float]) -> Upgrade | None:
    if model.name not in UPGRADES[:-1]:
        return None
    larger = models.model(UPGRADES[UPGRADES.index(model.name) + 1])
    missing = tuple(_name(task) for task in larger.tasks if task not in scores)
    return Upgrade(models.title(larger), missing, larger.relative_error)


def _remarks(found: Sequence[Prediction]) -> list[str]:
    told: dict[str, list[str]] = {}
    for item in found:
        for text in (*item.estimate.warnings, *item.estimate.notes) if item.estimate else ():
            told.setdefault(text, []).append(item.algorithm)
    left = [item.algorithm for item in found if item.estimate is None and item.forecast is None]
    several = len(found) > 1
    remarks = [f"{wording.shortened(names)}: {text}" if several else text for text, names in told.items()]
    if left:
        remarks.append(f"No estimate, for games are missing: {wording.shortened(left)}.")
    return remarks


def _name(task: str) -> str:
    return games()[task].name if task in games() else task
