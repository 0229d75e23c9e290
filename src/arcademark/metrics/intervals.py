"""How far scores are uncertain because only so many episodes and seeds were played.

Conventions
-----------
* The data of one task is a sequence of float arrays, one a seed, each holding that seed's episode scores, shape
  (episodes,). Seeds may differ in their number of episodes. A task's score is the mean over seeds of each seed's mean.
* Resampling follows how the data came about: seeds are drawn with replacement, then episodes within each drawn seed.
  With many seeds this is cautious, since a seed's mean already carries its episodes' spread; with one seed it is the
  spread of episodes alone, and every interval then says that the variation between seeds is not in it.
* Tasks are resampled independently of each other.
* A percentile interval of any statistic: resample, recompute, take the quantiles (Efron and Tibshirani 1993, ch. 13).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError

LEVEL = 0.95
RESAMPLES = 2000
FEW_EPISODES = 10


@dataclass(frozen=True)
class Interval:
    """A statistic and how far sampling leaves it uncertain.

    Parameters
    ----------
    value : float
        The statistic of the scores themselves.
    low, high : float or None
        Limits of the percentile interval; None where the scores cannot tell.
    level : float
        Share of resamples between the limits, 0.95 for 95 %.
    standard_error : float or None
        Standard deviation of the resampled statistic; None where the scores cannot tell.
    notes : tuple of str
        What the interval leaves out or cannot know.
    """

    value: float
    low: float | None
    high: float | None
    level: float
    standard_error: float | None
    notes: tuple[str, ...]


def score(seeds: Sequence[ArrayLike]) -> float:
    """Average one task's episodes: within each seed, then over seeds.

    Parameters
    ----------
    seeds : sequence of float array, shape (episodes,)
        One array a seed.

    Raises
    ------
    ArcadeMarkError
        Where there is no seed, a seed without episodes, or a score that is not finite.
    """
    return float(np.mean([np.mean(scores) for scores in _admit(seeds)]))


def resampled_scores(
    tasks: Sequence[Sequence[ArrayLike]], rng: np.random.Generator, *, resamples: int = RESAMPLES
) -> NDArray[np.float64]:
    """Draw what else the tasks' scores might have been.

    Parameters
    ----------
    tasks : sequence of (sequence of float array, shape (episodes,))
        For each task one array a seed.
    rng : numpy.random.Generator
        Where the draws come from.
    resamples : int, optional
        How many to draw.

    Returns
    -------
    float array, shape (resamples, tasks)
        Each task's `score` of resampled seeds and episodes.

    Raises
    ------
    ArcadeMarkError
        As `score`.
    """
    return np.stack([_resampled_task(_admit(seeds), rng, resamples) for seeds in tasks], axis=-1)


def interval(
    tasks: Mapping[str, Sequence[ArrayLike]],
    statistic: Callable[[NDArray[np.float64]], ArrayLike],
    rng: np.random.Generator,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """Find the percentile bootstrap interval of any statistic of the tasks' scores.

    Parameters
    ----------
    tasks : mapping of str to (sequence of float array, shape (episodes,))
        For each task one array a seed.
    statistic : callable
        From raw scores, shape (..., tasks) in the order of the mapping, to the statistic, shape (...): a mean of
        normalised scores, say, or a model's prediction.
    rng : numpy.random.Generator
        Where the draws come from.
    level : float, optional
        Share of resamples between the limits, between 0 and 1.
    resamples : int, optional
        How many to draw.

    Raises
    ------
    ArcadeMarkError
        As `score`, or where ``level`` is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ArcadeMarkError(f"level {level:g}: expected a share between 0 and 1, such as 0.95")
    value = float(np.asarray(statistic(np.array([score(seeds) for seeds in tasks.values()]))))
    lone = [task for task, seeds in tasks.items() if _episodes(seeds) == 1]
    if lone:
        note = f"one episode on {', '.join(lone)}: how much scores vary there is not known; play more"
        return Interval(value, None, None, level, None, (note,))
    draws = np.asarray(statistic(resampled_scores(tuple(tasks.values()), rng, resamples=resamples)), dtype=np.float64)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value, float(low), float(high), level, float(np.std(draws, ddof=1)), _notes(tasks))


def score_interval(
    seeds: Sequence[ArrayLike], rng: np.random.Generator, *, level: float = LEVEL, resamples: int = RESAMPLES
) -> Interval:
    """Find the interval of one task's `score`, in the task's own unit; the rest is as in `interval`."""
    return interval({"this task": seeds}, lambda scores: scores[..., 0], rng, level=level, resamples=resamples)


def _admit(seeds: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
    arrays = [np.atleast_1d(np.asarray(scores, dtype=np.float64)) for scores in seeds]
    if not arrays or any(scores.ndim != 1 or not scores.size for scores in arrays):
        raise ArcadeMarkError("no episodes to average; expected one array of episode scores for each seed")
    if not all(np.isfinite(scores).all() for scores in arrays):
        raise ArcadeMarkError("an episode's score is missing or infinite; leave out episodes that were not played")
    return arrays


def _resampled_task(
    seeds: Sequence[NDArray[np.float64]], rng: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    drawn = rng.integers(len(seeds), size=(resamples, len(seeds)))
    means = np.empty(drawn.shape)
    for seed, scores in enumerate(seeds):
        places = drawn == seed
        picks = rng.integers(scores.size, size=(np.count_nonzero(places), scores.size))
        means[places] = scores[picks].mean(axis=1)
    return np.asarray(means.mean(axis=1))


def _episodes(seeds: Sequence[ArrayLike]) -> int:
    return sum(np.size(scores) for scores in seeds)


def _notes(tasks: Mapping[str, Sequence[ArrayLike]]) -> tuple[str, ...]:
    single = [task for task, seeds in tasks.items() if len(seeds) == 1]
    few = min(_episodes(seeds) for seeds in tasks.values())
    constant = [task for task, seeds in tasks.items() if np.ptp(np.concatenate([np.ravel(s) for s in seeds])) == 0]
    notes = []
    if single:
        where = "" if len(single) == len(tasks) else f" on {', '.join(single)}"
        notes.append(f"one seed{where}: the variation from seed to seed is not included")
    if few < FEW_EPISODES:
        notes.append(f"only {few} episodes a game: intervals from so few are too narrow")
    if constant:
        notes.append(f"every episode scored the same on {', '.join(constant)}: no variation was seen there")
    return tuple(notes)
