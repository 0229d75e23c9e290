"""Predict summaries and all other tasks from any known tasks, with intervals for new kinds of algorithms.

Conventions
-----------
* Summaries are computed from draws of the missing tasks together with the known scores. Draws are clipped at the
  transformed worst score (0 percent).
* A value is the median draw, corrected by the bias of similar estimates, with an interval by
  `arcademark.subset.predict.calibration`.
* A better score lowers no prediction (with the same generator): draws are sums of expectations, which no better score
  lowers, and of noise that does not depend on scores; quantities and the correction are weakly increasing. The ends of
  intervals may fall, because unusual combinations of scores widen them
  (`arcademark.subset.predict.joint.Joint.extrapolation`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics.power import check_share
from arcademark.subset.predict import calibration
from arcademark.subset.predict.any_tasks import MEAN, MEDIAN, Quantity, Trained
from arcademark.subset.predict.calibration import DRAWS, Covered, Drawn, Misses
from arcademark.subset.problem import Floats
from arcademark.suite.subsets import LEVEL

AT_ONCE = 20
"""Number of algorithms that are drawn at once."""
STEP = 0.1
"""Step of scores, in transformed units, by which a prediction's slope is measured."""


@dataclass(frozen=True)
class Range:
    """A prediction and its interval.

    Parameters
    ----------
    value : float or None
        Normalised score, or number of tasks. None if the interval of a summary reaches below all values with known
        errors: then it is only known to be below ``high``.
    low, high : float or None
        None if there are too few groups for the level.
    unit : {"score", "count"}
        Unit of the quantity, as in `arcademark.subset.predict.any_tasks.Quantity`.
    """

    value: float | None
    low: float | None
    high: float | None
    unit: Literal["score", "count"] = "score"

    @property
    def error(self) -> float:
        """The distance of the farther end of the interval, as a share of the value.

        Relative to the value plus one (0 percent is a value, too), or to the lower end if there is no value. Infinite
        without an interval.
        """
        if self.low is None or self.high is None:
            return float("inf")
        value = self.low if self.value is None else self.value
        return max(self.high - value, value - self.low) / (1.0 + value) if value > -1 else float("inf")


@dataclass(frozen=True)
class Next:
    """Effect of playing one more task.

    Parameters
    ----------
    frames : float
        Cost of playing it.
    left : float
        Expected remaining root mean square uncertainty of the target, as a share of the present one.
    """

    task: str
    frames: float
    left: float

    @property
    def taken(self) -> float:
        """The share of the uncertainty removed."""
        return 1.0 - self.left

    @property
    def gain(self) -> float:
        """The share of the uncertainty removed per frame."""
        return self.taken / self.frames


@dataclass(frozen=True)
class Outlook:
    """Predictions from known scores.

    Parameters
    ----------
    known, unused : tuple of str
        Tasks that were used, and those that the training scores do not include.
    summaries : mapping of str to Range
        Predictions by quantity.
    tasks : mapping of str to Range
        Predictions of all tasks without a score.
    outside : tuple of str
        Known tasks whose score is outside the range of the training scores, where accuracy is unknown.
    plays : tuple of Next
        The missing tasks by `Next.gain`, the largest first; ties are in the order of the tasks.
    level : float
        Coverage of the intervals.
    extrapolation : float
        Factor by which intervals are wider because of an unusual combination of known scores; else 1.
    algorithms, groups, weak : int
        Numbers of algorithms and groups on which intervals were calibrated, and of algorithms among these that the
        distribution was not fitted to.
    coverage : mapping of str to Covered or None
        Coverage of such intervals by quantity, each algorithm predicted, and its interval calibrated, without its
        group; None if there are none.
    tasks_coverage : Covered or None
        Coverage of intervals of single tasks.
    """

    known: tuple[str, ...]
    unused: tuple[str, ...]
    summaries: Mapping[str, Range]
    tasks: Mapping[str, Range]
    outside: tuple[str, ...]
    plays: tuple[Next, ...]
    level: float
    extrapolation: float
    algorithms: int
    groups: int
    coverage: Mapping[str, Covered | None]
    tasks_coverage: Covered | None
    weak: int = 0


def predict(
    trained: Trained,
    scores: Mapping[str, float],
    quantities: Sequence[Quantity] = (MEDIAN, MEAN),
    *,
    rng: np.random.Generator,
    level: float = LEVEL,
    target: str = "median",
    frames: Mapping[str, float] | None = None,
    draws: int = DRAWS,
    without: str | None = None,
    misses: Misses | None = None,
) -> Outlook:
    """Predict from an algorithm's known scores.

    Parameters
    ----------
    scores : mapping of task to float
        Its normalised scores; NaN counts as missing.
    target : str, optional
        The quantity whose uncertainty playing further tasks should reduce.
    frames : mapping of task to float, optional
        Cost of playing each task; the same for all if None.
    without : str, optional
        The algorithm's group, which is left out of the training data.
    misses : Misses, optional
        Errors of predictions from the same known tasks with the same draws, if already computed.

    Raises
    ------
    ArcadeMarkError
        If the target is not one of the quantities, the level is not between 0 and 1, no task is known, a score is
        infinite, or a missing task has no frames above 0.
    """
    tasks = trained.joint.tasks
    check_share("level", level)
    if target not in (names := [quantity.name for quantity in quantities]):
        raise UnknownNameError("quantity", target, names)
    row = np.array([scores.get(task, np.nan) for task in tasks], dtype=np.float64)
    known = np.isfinite(row)
    if np.isinf(row).any() or not known.any():
        raise ArcadeMarkError("nothing can be predicted: no task of the training scores has a finite score")
    noise = calibration.noise_of(rng, len(tasks), draws)
    drawn = calibration.draw(trained, trained.but(without), row[np.newaxis], known, quantities, noise)
    misses = misses or calibration.misses(trained, known, quantities, noise)
    summaries = {
        quantity.name: _ranges(trained, quantity, drawn, row[np.newaxis], misses, level, without)[0]
        for quantity in quantities
    }
    (middle,), (extrapolation,) = drawn.middle, drawn.extrapolation
    half_width = (misses.widening(level, without) if len(drawn.missing) else 0.0) * extrapolation * drawn.spread
    lines = (trained.back(ends) for ends in (middle, middle - half_width, middle + half_width))
    every = {
        tasks[place]: _between(value, low, high) for place, value, low, high in zip(drawn.missing, *lines, strict=True)
    }
    table, logs = trained.transformed(trained.percent), trained.transformed(row)
    low, high = np.nanmin(table, axis=0), np.nanmax(table, axis=0)
    outside = np.flatnonzero(known & ((logs < low) | (logs > high)))
    return Outlook(
        known=tuple(tasks[place] for place in np.flatnonzero(known)),
        unused=tuple(task for task, value in scores.items() if task not in tasks and np.isfinite(value)),
        summaries=summaries,
        tasks=every,
        outside=tuple(tasks[place] for place in outside),
        plays=_plays(trained, drawn, quantities[names.index(target)], frames),
        level=level,
        extrapolation=float(extrapolation),
        algorithms=len(misses.fitted),
        groups=len(set(misses.tasks_groups)),
        weak=int(np.sum(~misses.fitted)),
        coverage={name: misses.covered(name, level) for name in names},
        tasks_coverage=misses.covered(calibration.TASKS, level),
    )


def first_plays(
    trained: Trained,
    *,
    rng: np.random.Generator,
    frames: Mapping[str, float] | None = None,
) -> tuple[Next, ...]:
    """Order all tasks by the reduction of the median's uncertainty by one of them while none is known.

    Parameters and errors are those of `predict`.
    """
    joint = trained.joint
    logs = joint.mean + rng.standard_normal((DRAWS, len(joint.tasks))) @ np.linalg.cholesky(joint.covariance).T
    places = np.arange(len(joint.tasks))
    result = np.asarray(MEDIAN.of(trained.back(logs), places))
    every, one = (array[np.newaxis] for array in (logs, joint.mean))
    spread = np.sqrt(np.diag(joint.covariance))
    drawn = Drawn(places, one, spread, every, {MEDIAN.name: result[np.newaxis]}, np.ones(1))
    return _plays(trained, drawn, MEDIAN, frames)


def least_error(trained: Trained, known: Collection[str], *, rng: np.random.Generator) -> float:
    """Return an approximate lower bound of the median's `Range.error`, for any scores of the ``known`` tasks.

    It is the least error over the range of estimates, with the least scale of the training algorithms.
    """
    mask = np.isin(trained.joint.tasks, list(known))
    if mask.all():
        return 0.0
    noise = rng.standard_normal((DRAWS, len(mask)))
    errors = calibration.misses(trained, mask, (MEDIAN,), noise).errors[MEDIAN.name]
    if not len(errors.scales):
        return float("inf")
    estimates = np.linspace(errors.estimates.min(), errors.estimates.max(), 100)
    ends = errors.interval(estimates, np.full(100, errors.scales.min()), LEVEL)
    ranges = (_between(*trained.back(np.array(some))) for some in zip(errors.values(estimates), *ends.T, strict=True))
    return min(one.error for one in ranges)


def estimates(
    trained: Trained,
    percent: Floats,
    quantity: Quantity,
    misses: Misses,
    noise: Floats,
    level: float,
    without: str | None = None,
) -> tuple[Range, ...]:
    """Predict one quantity of n algorithms with the same tasks at once, as `predict` does.

    ``percent``, shape (n, tasks), are normalised scores, NaN where missing; ``misses``, for the same known tasks,
    determine the intervals; ``noise``, shape (draws, tasks), is standard normal.
    """
    known, result = np.isfinite(percent[0]), []
    for first in range(0, len(percent), AT_ONCE):
        some = percent[first : first + AT_ONCE]
        drawn = calibration.draw(trained, trained.but(without), some, known, (quantity,), noise)
        result += _ranges(trained, quantity, drawn, some, misses, level, without)
    return tuple(result)


def slopes(
    trained: Trained, percent: Floats, quantity: Quantity, noise: Floats, misses: Misses | None = None
) -> Floats:
    """Return the slope of a prediction by each known score, both transformed, shape (known tasks,).

    Parameters are those of `estimates`, for one algorithm; without ``misses``, the prediction is the median draw.
    """
    known = np.isfinite(percent)
    places = np.flatnonzero(known)
    logs = trained.transformed(percent[places])
    steps = np.array([np.maximum(logs - STEP, trained.worst), logs + STEP])
    moved = np.tile(percent, (2, len(places), 1))
    moved[:, np.arange(len(places)), places] = trained.back(steps)
    drawn = calibration.draw(trained, trained.joint, moved.reshape(-1, len(percent)), known, (quantity,), noise)
    values, _ = drawn.estimates(trained, quantity)
    if misses is not None:
        values = misses.errors[quantity.name].values(values)
    low, high = values.reshape(2, -1)
    return np.asarray((high - low) / (steps[1] - steps[0]))


def _ranges(
    trained: Trained,
    quantity: Quantity,
    drawn: Drawn,
    percent: Floats,
    misses: Misses,
    level: float,
    without: str | None,
) -> list[Range]:
    """Return a quantity's predictions; a count is at least that of known tasks, at most that plus all missing ones."""
    values, scales = drawn.estimates(trained, quantity)
    ends = np.column_stack([values, values])
    if len(drawn.missing):
        errors = misses.errors[quantity.name]
        ends, values = errors.interval(values, scales, level, without), errors.values(values, without)
        ends = np.column_stack([np.minimum(ends[:, 0], values), np.maximum(ends[:, 1], values)])
    if quantity.unit == "score":
        unknown = np.isfinite(ends).all(axis=1) & (ends[:, 0] <= trained.worst) & (len(drawn.missing) > 0)
        ranges = (_between(*trained.back(np.array(some))) for some in zip(values, *ends.T, strict=True))
        return [replace(one, value=None) if low else one for one, low in zip(ranges, unknown, strict=True)]
    known = np.setdiff1d(np.arange(percent.shape[1]), drawn.missing)
    least = np.asarray(quantity.of(percent[:, known], known), dtype=np.float64)
    most = least + len(drawn.missing)
    values, low, high = np.clip([values, np.floor(ends[:, 0]), np.ceil(ends[:, 1])], least, most).tolist()
    return [Range(*some, "count") for some in zip(values, low, high, strict=True)]


def _between(value: Any, low: Any, high: Any) -> Range:
    """Return a score's prediction; both ends are None if one is infinite."""
    if not np.isfinite([low, high]).all():
        return Range(float(value), None, None)
    return Range(float(value), float(low), float(high))


def _plays(trained: Trained, drawn: Drawn, target: Quantity, frames: Mapping[str, float] | None) -> tuple[Next, ...]:
    """Order the missing tasks by the reduction of the target's variance by knowing them: Var(S) − E Var(S | x).

    It is estimated by the share of the drawn targets that a quadratic function of the task's drawn score explains.
    """
    names = [trained.joint.tasks[place] for place in drawn.missing]
    wrong = [name for name in names if frames is not None and not frames.get(name, 0.0) > 0.0]
    if wrong:
        raise ArcadeMarkError(f"no frames above 0 for {', '.join(wrong)}; give the cost of playing each task")
    values = drawn.summaries[target.name][0]
    about = trained.transformed(values) if target.unit == "score" else values
    about = about - about.mean()
    total = float(about @ about)
    result = []
    for name, column in zip(names, drawn.logs[0].T, strict=True):
        scale = column.std()
        z = (column - column.mean()) / scale if scale > 0 else column * 0.0
        design = np.column_stack([np.ones_like(z), z, z * z])
        fitted = design @ np.linalg.lstsq(design, about, rcond=None)[0]
        share = float(fitted @ fitted) / total if total > 0 else 0.0
        result.append(Next(name, 1.0 if frames is None else float(frames[name]), float(np.sqrt(max(0.0, 1.0 - share)))))
    return tuple(sorted(result, key=lambda step: -step.gain))
