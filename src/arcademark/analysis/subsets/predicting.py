"""Results of ``arcademark subset predict``: the median of all games, and every game, from a few games' scores.

* `arcademark.subset.predict.outlook` predicts from any games unless a model is named: a published one or a file.
  The paper of a predicted algorithm is left out of the training data.
* A model needs exactly its games.
* Values are human-normalised scores in percent, or in the unit of a model file.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from arcademark import wording
from arcademark.analysis import estimates, published
from arcademark.analysis.subsets import models, predictors
from arcademark.analysis.subsets.models import ANY
from arcademark.analysis.subsets.predictors import TRAINING, Predictor, between
from arcademark.analysis.tables import loading
from arcademark.analysis.tables.loading import ScoreSource
from arcademark.analysis.tables.protocols import PlayConditions, frame_cap
from arcademark.catalogue import collections
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.subset.predict.any_tasks import MEDIAN
from arcademark.subset.predict.model import ModelEstimate, SubsetModel, frame_cap_warnings
from arcademark.subset.predict.outlook import Outlook, Range
from arcademark.suite import protocols as suite_protocols
from arcademark.suite import references
from arcademark.suite.subsets import LEVEL, subsets
from arcademark.suite.tasks import canonical_game, game_name, games, suite
from arcademark.wording import prose

Frames = Mapping[str, float] | None
"""Cost of playing each task; the same for all if None."""


@dataclass(frozen=True)
class Prediction:
    """Prediction for one algorithm.

    estimate: None where games are missing.
    missing: Names of the model's games without a score.
    outside: Games whose score is outside the range of the training table, where a model's accuracy is unknown.
    forecast: Prediction for all games from those that have scores; in percent, and counts of games.
    warnings: Reasons not to rely on the forecast; empty if there are none.
    truth: True values of the predicted quantities, by name, if the algorithm has a score on every game.
    left_out: The paper left out of the training data, because this algorithm is from it; "" if none is.
    """

    algorithm: str
    estimate: ModelEstimate | None
    missing: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    forecast: Outlook | None = None
    warnings: tuple[str, ...] = ()
    truth: Mapping[str, float] = field(default_factory=dict)
    left_out: str = ""

    def off(self, of: Range) -> float | None:
        """Return the error of the forecast median relative to the true one; None where either is not known."""
        truth = self.truth.get(MEDIAN.name)
        return None if of.value is None or not truth else of.value / truth - 1


@dataclass(frozen=True)
class Predicted:
    """Predictions for one or several algorithms.

    level: Coverage of every interval.
    sources, remarks: Sources of the scores, and remarks on them; reasons against a prediction are part of it.
    noun, groups: Nouns for a task, and for the groups on which intervals are calibrated: "game" and "papers".
    """

    SCHEMA: ClassVar[str] = "arcademark.subset-prediction/7"
    level: float
    predictions: tuple[Prediction, ...]
    sources: tuple[str, ...]
    remarks: tuple[str, ...]
    noun: str = "game"
    groups: str = "papers"

    @property
    def alone(self) -> bool:
        """True if there is one algorithm."""
        return len(self.predictions) == 1

    @property
    def estimated(self) -> tuple[tuple[Prediction, ModelEstimate], ...]:
        """Predictions with an estimate by a model."""
        return tuple((item, item.estimate) for item in self.predictions if item.estimate is not None)

    @property
    def model(self) -> str:
        """The name of the model if all estimates are by one; else ""."""
        names = {estimate.model for _, estimate in self.estimated}
        return names.pop() if len(names) == 1 else ""

    @property
    def unpredicted(self) -> tuple[str, ...]:
        """Algorithms without any prediction."""
        return tuple(item.algorithm for item in self.predictions if item.estimate is None and item.forecast is None)

    @property
    def doubts(self) -> dict[str, list[str]]:
        """Reasons for doubt, each with the algorithms concerned."""
        concerned: dict[str, list[str]] = {}
        for item in self.predictions:
            outside = prose.text("prediction", "outside", names=item.outside) if item.outside else ""
            for text in filter(None, (*(item.estimate or item).warnings, outside)):
                concerned.setdefault(text, []).append(item.algorithm)
        return concerned

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on how to read the numbers, each once."""
        sentences: list[str] = []
        for item in self.predictions:
            sentences += item.estimate.notes if item.estimate else ()
            if item.forecast and item.forecast.tasks:
                sentences += prose.paragraphs("intervals", it=self, outlook=item.forecast)
        return tuple(dict.fromkeys(sentences))

    def title(self, task: str) -> str:
        """Name a task for people."""
        return game_name(task) if self.noun == "game" else task

    @property
    def forecasts(self) -> tuple[tuple[Prediction, Range], ...]:
        """Predictions with a forecast, each with the forecast of the median."""
        return tuple((item, item.forecast.summaries[MEDIAN.name]) for item in self.predictions if item.forecast)

    @property
    def judged(self) -> tuple[tuple[float, Range], ...]:
        """True medians with their forecasts, where both are known."""
        return tuple((item.truth[MEDIAN.name], of) for item, of in self.forecasts if item.truth)

    @property
    def errors(self) -> list[float]:
        """Absolute relative errors of the median; forecasts that are only an upper bound are left out."""
        return [abs(off) for item, of in self.forecasts if (off := item.off(of)) is not None]

    @property
    def mean_error(self) -> float:
        """The mean of `errors`."""
        return statistics.fmean(self.errors)

    @property
    def covered(self) -> int:
        """The number of true medians covered by their interval."""
        return sum(of.low is not None and of.low <= truth <= (of.high or 0) for truth, of in self.judged)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Algorithms that were predicted without their paper."""
        return tuple(item.algorithm for item in self.predictions if item.left_out)


def predicted(
    places: Sequence[ScoreSource],
    name: str = ANY,
    *,
    games: str = "",
    algorithms: Sequence[str] = (),
    protocol: str | None = None,
    level: float = LEVEL,
    frames: Frames = None,
    training: Predictor | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Predicted:
    """Predict from any scores; raise for an unknown name, or if no algorithm has a model's games.

    ``name`` is `ANY`, a published model or a model file; `ANY` predicts only from ``games`` if any are named, and for
    a subset the median of its suite. ``protocol`` is that of scores whose protocol the table does not state. With
    ``training``, used instead of Atari's published scores, ``name`` must be `ANY`.
    """
    any_games = name.lower() == ANY
    if (training is not None or games) and not any_games:
        other = "a training table" if training else f"--games {games}"
        raise ArcadeMarkError(f"model {name} and {other} are two ways to predict; leave one out")
    wanted = None if any_games else models.model(name)
    read = loading.load(list(places), _canonical(wanted) if training is None else training.canonical, **(reading or {}))
    for algorithm in algorithms:
        if algorithm not in read.table.algorithms:
            raise UnknownNameError("algorithm", algorithm, read.table.algorithms)
    declared = loading.declare(read, None if protocol is None else suite_protocols.protocol(protocol), {})
    wished = [name for name in declared.table.algorithms if not algorithms or name in algorithms]
    named = subsets().get(games.lower())
    predictor = training or (predictors.atari(named.suite if named else predictors.ATARI) if any_games else None)
    only = predictor.chosen(games) if predictor and games else ()
    predictions = []
    for row, algorithm in enumerate(declared.table.algorithms):
        if algorithm not in wished:
            continue
        scores, of = predictors.known(declared.table, row), declared.get(algorithm)
        play = of.play
        if predictor:
            used = {task: scores[task] for task in only if task in scores} if games else scores
            made = _from_any(algorithm, used, predictor, play, level, frames, predictor.group(algorithm, of.paper))
            truth = predictor.truths(scores) if made.forecast and made.forecast.tasks else {}
            predictions.append(replace(made, truth=truth))
        elif wanted:
            predictions.append(_by_model(algorithm, scores, wanted, play, level))
    if not any(item.estimate or item.forecast for item in predictions):
        raise ArcadeMarkError(f"nothing can be predicted: {_needed(predictions, wanted)}")
    if training is None:
        noun = "task" if wanted is not None and not _of_atari(wanted) else "game"
        return Predicted(level, tuple(predictions), declared.sources, declared.remarks, noun)
    sources, remarks = (*declared.sources, *training.sources), (*training.remarks, *declared.remarks)
    return Predicted(level, tuple(predictions), sources, remarks, training.noun, training.groups)


def _needed(predictions: Sequence[Prediction], wanted: SubsetModel | None) -> str:
    if wanted is None:
        known = predictions[0].missing if predictions else ()
        return f"no score on any of {wording.shortened(known)}; name a table with scores on at least one"
    lists = [item.missing for item in predictions] or [tuple(map(game_name, wanted.tasks))]
    fewest = sorted((len(names), names) for names in lists)[0][1]
    return f"{models.title(wanted)} needs scores on {wording.listing(fewest)}, too"


def _of_atari(model: SubsetModel) -> bool:
    return all(task in games() for task in model.tasks)


def _canonical(model: SubsetModel | None) -> Callable[[str], str]:
    if model is None or _of_atari(model):
        return _game
    by_lower = {task.lower(): task for task in model.tasks}
    return lambda name: by_lower.get(name.strip().lower(), name.strip())


def _game(name: str) -> str:
    try:
        return canonical_game(name)
    except UnknownNameError as error:
        message = str(error).rstrip("?")
        raise ArcadeMarkError(
            f"{message}; for another benchmark name a model file, or a table to learn from with --training"
        ) from None


def _by_model(
    algorithm: str, scores: Mapping[str, float], model: SubsetModel, play: PlayConditions, level: float
) -> Prediction:
    missing = tuple(game_name(task) for task in model.tasks if task not in scores)
    if missing:
        return Prediction(algorithm, None, missing)
    percent = _percent(model, scores)
    estimate = model.estimate(percent, max_frames_per_episode=frame_cap(play), level=level)
    known = [percent[task] for task in suite("atari-57").tasks if task in percent]
    whole = model.published and not published.why_untrue(percent)
    truth = {MEDIAN.name: float(np.median(known))} if whole else {}
    reach = _known_range() if model.published else {}
    outside = [task for task in model.tasks if task in reach and not reach[task][0] <= scores[task] <= reach[task][1]]
    return Prediction(algorithm, estimate, truth=truth, outside=tuple(map(game_name, outside)))


def _from_any(
    algorithm: str,
    scores: Mapping[str, float],
    predictor: Predictor,
    play: PlayConditions,
    level: float,
    frames: Frames,
    group: str | None,
) -> Prediction:
    """Predict from any tasks, and also by the published model of exactly these tasks if there is one."""
    outlook = predictor.predict(scores, level=level, frames=frames, without=group)
    if outlook is None:
        return Prediction(algorithm, None, tuple(map(predictor.title, predictor.tasks)))
    warnings: list[str] = []
    if outlook.plays:
        cap = predictor.max_frames_per_episode
        warnings += frame_cap_warnings(cap, frame_cap(play))
    if unknown := [predictor.title(task) for task in scores if task not in predictor.tasks]:
        names = wording.shortened(unknown)
        warnings.append(f"Not used, because the training scores do not include them: {names}.")
    same = estimates.exactly(scores) if predictor is predictors.atari() else None
    return Prediction(
        algorithm,
        _by_model(algorithm, scores, models.model(same.name), play, level).estimate if same else None,
        outside=tuple(map(predictor.title, outlook.outside)),
        forecast=outlook,
        warnings=tuple(warnings),
        left_out=group or "",
    )


def _percent(model: SubsetModel, scores: Mapping[str, float]) -> Mapping[str, float]:
    """Normalise by the model's own references, or by those of atari-57; tasks without any are left out."""
    if not model.references:
        return between(scores, references.scores("random"), references.scores("human"))
    low, high = ({task: pair[end] for task, pair in model.references.items()} for end in (0, 1))
    return between(scores, low, high)


@cache
def _known_range() -> Mapping[str, tuple[float, float]]:
    """Return the lowest and the highest score of each game in the published models' training table."""
    table = collections.load(TRAINING, as_published=True)
    means = table.mean_over_runs()
    return dict(zip(table.tasks, zip(np.nanmin(means, axis=0), np.nanmax(means, axis=0), strict=True), strict=True))
