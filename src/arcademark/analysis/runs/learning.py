"""Learning curves: smoothed scores of training episodes over training frames.

A point of a curve is the mean of `window` consecutive training episodes, at the training frame at which the last of
them ended (`arcademark.metrics.training`). All seeds of an algorithm on a game have the same window: a tenth of the
largest number of episodes of a seed, but at most `WIDEST`; a seed with fewer has one point, the mean of all. At most
`MAX_POINTS` are kept for drawing.

The training score is the mean of the last k episodes of training (Machado et al. 2018; Fan 2021, "Reporting
performance"), or of all if there are fewer. If the protocol reports training, k is the number that the run averages,
and the training score is the score; else k is `USUAL_K`, and the score is that of evaluation.

Evaluated weights depend on when training ended. Snapshots are weights frozen at several times late in training; their
scores in the same episodes show how much a score depends on that time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.analysis.cells import PlayedAlgorithm, names_by_label
from arcademark.analysis.uncertainty import statistic
from arcademark.metrics.training import CommonCurves, MeanCurve, common_curves, mean_curve, training_score
from arcademark.metrics.uncertainty.intervals import score_intervals
from arcademark.records import imported
from arcademark.records.manifest import agents_of, game_and_seed
from arcademark.records.model import RunRecord, TrialRecord, scored_phase
from arcademark.scores import formulas
from arcademark.scores.runs import RunCollection
from arcademark.suite.tasks import score_bounds

WIDEST = 100
MAX_POINTS = 200
USUAL_K = 100

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SeedCurve:
    """One trial's training."""

    seed: int
    episodes: int  # training episodes so far
    frames: int  # training frames so far
    finished: bool  # True if its budget is spent
    end_frames: tuple[int, ...]  # training frames of the points, ascending
    scores: tuple[float, ...]  # mean scores of the `window` episodes that end at these frames
    training_score: float  # mean of its last training episodes
    averaged: int  # number of these: `LearningCurve.k`, or all if there are fewer
    evaluation: float | None  # mean of its evaluation episodes; None if it has none
    snapshots: tuple[float, ...] = ()
    """Mean scores over the same `snapshot_episodes` of weights frozen late in training, the final weights last."""
    snapshot_episodes: int = 0


@dataclass(frozen=True)
class LearningCurve:
    """One algorithm's training on one game."""

    game: str  # the game's id
    algorithm: str  # name in the report
    window: int  # number of episodes averaged for a point
    first: float  # mean over seeds of the first window's score
    last: float  # mean over seeds of the last window's score
    seeds: tuple[SeedCurve, ...]  # seeds with a finished training episode, in order
    k: int  # number of last training episodes averaged for the training score
    training_score: float  # mean over seeds
    training_low: float | None  # ends of its interval, Student's t over seeds; None for a single seed
    training_high: float | None
    evaluation: float | None  # mean over the seeds with evaluation episodes; None if there are none

    @property
    def episodes(self) -> int:
        """Training episodes of all seeds."""
        return sum(seed.episodes for seed in self.seeds)

    @property
    def frames(self) -> int:
        """Training frames of all seeds."""
        return sum(seed.frames for seed in self.seeds)

    @property
    def finished(self) -> bool:
        """True if every seed's training budget is spent."""
        return all(seed.finished for seed in self.seeds)

    @property
    def snapshots(self) -> tuple[float, float] | None:
        """Mean over seeds of their snapshots' mean scores, and the pooled standard deviation within seeds.

        None if a seed has fewer than two snapshots.
        """
        scores = [np.array(seed.snapshots) for seed in self.seeds]
        if min(map(len, scores)) < 2:
            return None
        mean, variance = np.mean([(one.mean(), one.var(ddof=1)) for one in scores], axis=0).tolist()
        return mean, math.sqrt(variance)

    def mean(self, points: int = MAX_POINTS) -> MeanCurve:
        """Average the seeds' curves over the frames that all of them cover."""
        return mean_curve(self.points, points)

    def common(self, points: int = MAX_POINTS) -> CommonCurves:
        """Return the seeds' curves over the frames that all of them cover, in the order of `seeds`."""
        return common_curves(self.points, points)

    @property
    def points(self) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
        """Each seed's frames and scores."""
        return [(seed.end_frames, seed.scores) for seed in self.seeds]


@dataclass(frozen=True)
class SampleEfficiency:
    """An algorithm's interquartile mean over the frames of training (Agarwal et al. 2021, §4.3).

    games: Number of games, which all algorithms share.
    seeds: The fewest seeds of a game.
    metric, title: Metric that normalises the scores.
    frames: Ascending, from the first frame at which all seeds have a point to the end of the shortest.
    unit: Unit of `frames`.
    iqm, low, high: IQM over all games' seeds at these frames, in percent, with its intervals; their ends are None if
        nothing varies, or every game has a single seed.
    """

    algorithm: str
    games: int
    seeds: int
    metric: str
    title: str
    frames: tuple[float, ...]
    iqm: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    unit: str = "frame"


def at_common_frames(curves: Sequence[LearningCurve], points: int) -> tuple[list[float], list[dict[str, Floats]]]:
    """Return frames at which all seeds of several games have scores, and each game's scores at these, one per seed."""
    common = common_curves([pair for curve in curves for pair in curve.points], points)
    ends = np.cumsum([len(curve.seeds) for curve in curves])[:-1]
    games = [curve.game for curve in curves]
    return common.frames.tolist(), [dict(zip(games, np.split(column, ends), strict=True)) for column in common.scores.T]


def curves(algorithms: Sequence[PlayedAlgorithm]) -> tuple[LearningCurve, ...]:
    """Return the learning curve of every learner on every game, game by game, in the report's order."""
    games = dict.fromkeys(task for algorithm in algorithms for task in algorithm.cells)
    every = ((game, algorithm) for game in games for algorithm in algorithms if game in algorithm.cells)
    return tuple(curve for game, algorithm in every if (curve := _curve(algorithm, game)))


def _curve(algorithm: PlayedAlgorithm, game: str) -> LearningCurve | None:
    record = algorithm.run.record
    trials = sorted((trial for trial in algorithm.trials if trial.game == game), key=lambda trial: trial.seed)
    training = {trial: rows for trial in trials if trial.learns and (rows := record.training(trial))}
    if not training:
        return None
    window = max(1, min(WIDEST, max(map(len, training.values())) // 10))
    reported = scored_phase(record.protocol, learns=True) == "training"
    k = max(trial.episodes for trial in training) if reported else USUAL_K
    source = imported.origin(record)
    if source is not None and any(trial.agent in source["averages"] for trial in training):
        window = k = 1
    seeds = tuple(_seed(record, trial, window, k) for trial in training)
    scores = np.array([(seed.scores[0], seed.scores[-1], seed.training_score) for seed in seeds])
    first, last, score = scores.mean(axis=0).tolist()
    reach = statistic(*score_intervals([scores[:, 2]], [score_bounds(game)])[0, :3].tolist())
    evaluated = [seed.evaluation for seed in seeds if seed.evaluation is not None]
    evaluation = float(np.mean(evaluated)) if evaluated else None
    return LearningCurve(game, algorithm.name, window, first, last, seeds, k, score, reach.low, reach.high, evaluation)


def _seed(record: RunRecord, trial: TrialRecord, window: int, k: int) -> SeedCurve:
    rows, evaluation = record.training(trial), record.evaluation(trial).score
    frames = np.cumsum(rows.frames)
    smoothed = training_score(rows.score, frames, window)
    score = training_score(rows.score, frames, k)
    count = len(smoothed.curve)
    kept = np.unique(np.round(np.linspace(0, count - 1, min(count, MAX_POINTS))).astype(np.int64))
    return SeedCurve(
        trial.seed,
        len(rows),
        int(frames[-1]),
        finished(trial, record),
        tuple(smoothed.end_frames[kept].tolist()),
        tuple(smoothed.curve[kept].tolist()),
        score.end,
        score.episodes,
        float(evaluation.mean()) if evaluation.size else None,
        *_snapshots(record, trial),
    )


def _snapshots(record: RunRecord, trial: TrialRecord) -> tuple[tuple[float, ...], int]:
    """Return the scores of a learner's snapshots and the number of their episodes; () and 0 if any is missing."""
    early = agents_of(record.manifest)[trial.agent].get("snapshots", {}).get(game_and_seed(trial.game, trial.seed), [])
    played, evaluation = {count for _, _, count in early}, record.evaluation(trial)
    if len(played) != 1:
        return (), 0
    (count,) = played
    last = evaluation.score[evaluation.episode < count]
    if len(last) < count:
        return (), 0
    return (*(score for _, score, _ in early), float(last.mean())), count


def frames_used(algorithm: PlayedAlgorithm) -> int | None:
    """Return the training frames behind an algorithm's scores, averaged over games and seeds; None without training."""
    record = algorithm.run.record
    scored = (trial for trial in algorithm.trials if trial.learns and len(record.scored_episodes(trial)))
    used = [int(record.training(trial).frames.sum()) for trial in scored]
    return round(float(np.mean(used))) or None if used else None


def finished(trial: TrialRecord, record: RunRecord) -> bool:
    """Return True if a learner's training budget is spent; imported logs do not state it and count as complete."""
    if imported.origin(record) is not None:
        return True
    rows = record.training(trial)
    if trial.training_frames is not None:
        return int(rows.frames.sum()) >= trial.training_frames
    return trial.status == "done" if trial.training_episodes is None else len(rows) >= trial.training_episodes


def episodes(collection: RunCollection) -> Iterator[tuple[str, str, int, int, int, int, float]]:
    """Yield every training episode: algorithm, game, seed, episode, its frames, the frame of its end, its score."""
    for run in collection.runs:
        names = names_by_label(run)
        for trial in run.record.trials:
            rows = run.record.training(trial)
            columns = (rows.episode, rows.frames, np.cumsum(rows.frames), rows.score)
            for row in zip(*(column.tolist() for column in columns), strict=True):
                yield names[trial.agent], trial.game, trial.seed, *row


def as_csv(collection: RunCollection) -> str:
    """Return every training episode as CSV, one per line, below a heading."""
    heading = ("algorithm", "game", "seed", "episode", "frames", "end_frame", "score")
    return formulas.as_csv([heading, *episodes(collection)])


def sparkline(values: ArrayLike, width: int) -> str:
    """Draw a curve as a line of text of at most `width` blocks, whose heights span the range of the values."""
    chosen = np.asarray(values, dtype=np.float64)
    if chosen.size > width:
        chosen = np.array([part.mean() for part in np.array_split(chosen, width)])
    if not chosen.size:
        return ""
    low, high = chosen.min(), chosen.max()
    steps = np.zeros(chosen.size) if high == low else (chosen - low) / (high - low)
    return "".join("▁▂▃▄▅▆▇█"[round(7 * float(step))] for step in steps)
