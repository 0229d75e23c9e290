"""Normalised scores: raw scores on a scale between two reference scores.

Conventions
-----------
* Every metric is an entry of `METRICS`, in display order; reports, comparisons, pages and the leaderboard read this
  registry. `register` adds a metric.
* ``scores`` have shape (..., tasks), with the names in ``tasks``, as `ScoreTable.mean_over_runs` returns them.
* References are mappings of task to raw score; those of other tasks are ignored.
* Metrics with a name from the literature are in percent: 100 is the human average or the world record.
* NaN stays NaN, element by element: a missing score does not affect others.
* If two references of a task are equal, its scores cannot be normalised. ``zero_range="refuse"`` raises and names the
  tasks; ``zero_range="omit"`` returns NaN for them, and `arcademark.metrics.ranges.zero_ranges` names them.
* Capping does not commute with averaging: the papers cap each task's score after it has been averaged over runs.
* `ArcadeMarkError` is raised if a task has no or refused equal references, or a shape does not match the names.

Equations are those of the review of Atari benchmarks by human world records: Fan, "A Review for Deep Reinforcement
Learning in Atari: Benchmarks, Challenges, and Solutions", 2021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, repeat
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics import registry

ZeroRange: TypeAlias = Literal["refuse", "omit"]
Floats: TypeAlias = NDArray[np.float64]
Scores: TypeAlias = Mapping[str, float]
"""Reference scores by task."""

PERCENT = 100.0


def normalise(
    scores: ArrayLike,
    low: Scores,
    high: Scores,
    tasks: Sequence[str],
    *,
    zero_range: ZeroRange = "refuse",
) -> Floats:
    """Normalise scores by two references, as fractions (score − low) / (high − low) (review, Eq. 3).

    ``high`` may be the smaller one if less is better. Shapes, ``zero_range`` and errors: see the conventions.
    """
    values = np.asarray(scores, dtype=np.float64)
    if not values.ndim or values.shape[-1] != len(tasks):
        raise ArcadeMarkError(f"expected scores of shape (..., {len(tasks)}), the tasks last, not {values.shape}")
    lows, highs = _reference(low, "low", tasks), _reference(high, "high", tasks)
    flat = highs == lows
    if flat.any() and zero_range != "omit":
        equal = ", ".join(f"{task} ({low:g})" for task, low in zip(np.array(tasks)[flat], lows[flat], strict=True))
        raise ArcadeMarkError(
            f"both references are equal on {equal}, so scores cannot be normalised; leave such tasks out, or choose "
            'NaN for them with zero_range="omit"'
        )
    return (values - lows) / np.where(flat, np.nan, highs - lows)


@dataclass(frozen=True)
class Metric:
    """A way to normalise scores, in percent of the range from one reference score to another.

    name: Its stable name, as in JSON: "hns".
    title: Name in print.
    meaning: One line that defines it.
    low, high: Kinds of the references of 0 % and of 100 %: "random", "human" or "human_world_record" for Atari's
        suites, "low" or "high" for other benchmarks; "" for a range that is computed from the scores themselves.
    bounds: The lowest and the highest percentage, if it is capped.
    of_means: True if it normalises means over runs, not single runs: its references are the lowest and the highest of
        the means, so that means lie between 0 and 100 %, but runs may not.
    papers: Catalogue keys of the papers that define it, besides those of its references.
    """

    name: str
    title: str
    meaning: str
    low: str = ""
    high: str = ""
    bounds: tuple[float, float] | None = None
    of_means: bool = False
    papers: tuple[str, ...] = ()

    def place(self, scores: ArrayLike, low: Scores, high: Scores, tasks: Sequence[str]) -> Floats:
        """Normalise scores, shape (..., tasks), in percent, without capping (review, Eq. 3)."""
        return PERCENT * normalise(scores, low, high, tasks)

    def cap(self, percent: Floats) -> Floats:
        """Cap normalised scores, if the metric caps."""
        return percent if self.bounds is None else np.clip(percent, *self.bounds)

    def __call__(self, scores: ArrayLike, low: Scores, high: Scores, tasks: Sequence[str]) -> Floats:
        """Normalise scores, shape (..., tasks), in percent."""
        return self.cap(self.place(scores, low, high, tasks))


_HUMAN, _RECORD = ("random", "human"), ("random", "human_world_record")
METRICS: dict[str, Metric] = {
    one.name: one
    for one in (
        Metric("hns", "HNS", "human-normalised score, 0 % is random play and 100 % the human average", *_HUMAN),
        Metric("capped_hns", "capped HNS", "HNS clipped to 0 to 100 %", *_HUMAN, (0.0, PERCENT)),
        Metric(
            "hwrns",
            "HWRNS",
            "score normalised by the human world record, 0 % is random play and 100 % the record",
            *_RECORD,
        ),
        Metric(
            *("saber", "SABER", "HWRNS clipped to 0 to 200 %", *_RECORD, (0.0, 2 * PERCENT)),
            papers=("toromanoff-2019",),
        ),
        Metric("normalised", "normalised", "0 % is low, 100 % high", "low", "high"),
        Metric("capped", "capped", "normalised, clipped to 0 to 100 %", "low", "high", (0.0, PERCENT)),
    )
}
"""Every metric of two kinds of references by its name, in the order in which they are shown."""


def register(metric: Metric) -> Metric:
    """Add a metric to `METRICS`, for all benchmarks with references of its two kinds; return it.

    Raises
    ------
    ArcadeMarkError
        If another one has its name or title, its name is not an identifier, or its bounds are not in order.
    """
    if metric.bounds is not None and not metric.bounds[0] < metric.bounds[1]:
        raise ArcadeMarkError(f"metric {metric.name!r}: expected bounds in ascending order, not {metric.bounds}")
    return registry.add(METRICS, metric, "metric")


def hns(scores: ArrayLike, random: Scores, human: Scores, tasks: Sequence[str]) -> Floats:
    """Return the human-normalised score in percent: 0 is random play, 100 the average human (review, Eq. 4)."""
    return METRICS["hns"](scores, random, human, tasks)


def hwrns(scores: ArrayLike, random: Scores, record: Scores, tasks: Sequence[str]) -> Floats:
    """Return the score normalised by the human world record, in percent: 100 equals the record (review, Eq. 5)."""
    return METRICS["hwrns"](scores, random, record, tasks)


def saber(scores: ArrayLike, random: Scores, record: Scores, tasks: Sequence[str]) -> Floats:
    """Return `hwrns` clipped to 0 to 200 percent (Toromanoff et al. 2019; review, "Capped HWRNS")."""
    return METRICS["saber"](scores, random, record, tasks)


def reaching(percent: ArrayLike, tasks: Sequence[str]) -> tuple[str, ...]:
    """Return the tasks on which an algorithm's mean scores in percent, shape (tasks,), are at least 100 %.

    An `hns` of 100 % is the average human's level (review, "Normalized Scores"); an `hwrns` of at least 100 % breaks a
    record, by the review's ≥ ("Human World Record Breakthrough"). Tasks with a missing score (NaN) are not returned.
    """
    values = np.asarray(percent, dtype=np.float64)
    if values.shape != (len(tasks),):
        raise ArcadeMarkError(f"expected a score for each of {len(tasks)} tasks, not an array of shape {values.shape}")
    return tuple(compress(tasks, values >= PERCENT))


def _reference(scores: Scores, which: str, tasks: Sequence[str]) -> Floats:
    values = np.fromiter(map(scores.get, tasks, repeat(np.nan)), np.float64, len(tasks))
    if not np.isfinite(values).all():
        absent = [task for task, score in zip(tasks, values.tolist(), strict=True) if not np.isfinite(score)]
        raise ArcadeMarkError(f"no {which} reference score for {', '.join(absent)}; leave such tasks out, or add one")
    return values
