"""Predict from whatever tasks are known: summaries and every other task, with intervals for new kinds of algorithms.

Conventions
-----------
* Summaries are taken of draws of the missing tasks beside the known scores. Draws are cut off below at what the
  transform makes of the worst score (0 percent).
* A value is the middle draw, moved as estimates of its size are off, and an interval is as
  `arcademark.subset.predict.calibration` says.
* A better score lowers no prediction (given the same generator): draws are sums of expectations, which no better score
  lowers, and of noise that does not depend on scores, quantities are weakly increasing, and so is what estimates are
  moved to. The ends of intervals do not always rise with it: scores that do not go together widen them
  (`arcademark.subset.predict.joint.Joint.extrapolation`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.subset.predict import calibration
from arcademark.subset.predict.any_tasks import MEAN, MEDIAN, Quantity, Trained
from arcademark.subset.predict.calibration import DRAWS, Covered, Drawn, Misses
from arcademark.subset.problem import TRANSFORMS, Floats
from arcademark.suite.subsets import LEVEL

AT_ONCE = 20
"""Algorithms that are drawn together."""
STEP = 0.1
"""Step of scores, in transformed units, by which a prediction's slope is measured."""


@dataclass(frozen=True)
class Range:
    """A prediction and its interval.

    Parameters
    ----------
    value : float or None
        Normalised score, or number of tasks. None where the interval of a summary reaches below all values that errors
        are known of: it is below ``high``, and no more is known.
    low, high : float or None
        None where there are too few groups to tell for the level.
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
        Expected root mean square uncertainty of the target that is left, as a share of today's.
    """

    task: str
    frames: float
    left: float

    @property
    def taken(self) -> float:
        """Share of the uncertainty taken away."""
        return 1.0 - self.left

    @property
    def gain(self) -> float:
        """Share of the uncertainty taken away per frame."""
        return self.taken / self.frames


@dataclass(frozen=True)
class Outlook:
    """Predictions from known scores.

    Parameters
    ----------
    known, unused : tuple of str
        Tasks that were used; those that the training scores do not include.
    summaries : mapping of str to Range
        By quantity.
    tasks : mapping of str to Range
        Every task without a score.
    outside : tuple of str
        Known tasks whose score is outside what the training scores reach: beyond it nothing is known to hold.
    plays : tuple of Next
        The missing tasks, the most worthwhile first: by `Next.gain`, ties as the tasks are ordered.
    level : float
        Coverage of the intervals.
    extrapolation : float
        Factor by which intervals are wider because the known scores do not fit together; 1 if they fit.
    algorithms, groups, weak : int
        On which intervals were calibrated; ``weak`` of the algorithms were not learnt from.
    coverage : mapping of str to Covered or None
        By quantity: the share of these algorithms' truths that such intervals held, each predicted and its interval
        widened without its group; None where there are none.
    tasks_coverage : Covered or None
        The same of single tasks.
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
    """Predict from whatever is known of an algorithm.

    Parameters
    ----------
    scores : mapping of task to float
        Its normalised scores; NaN counts as missing.
    target : str, optional
        The quantity whose uncertainty is to fall by playing.
    frames : mapping of task to float, optional
        Cost of playing each task; the same for all if None.
    without : str, optional
        The group that it is of, from which nothing is learnt then.
    misses : Misses, optional
        Those of the tasks that are known, by the same draws, where they were found before.

    Raises
    ------
    ArcadeMarkError
        If the target is none of the quantities, the level is no fraction, no task is known, a score is infinite, or
        a missing task has no frames above 0.
    """
    tasks = trained.joint.tasks
    if not 0 < level < 1:
        raise ArcadeMarkError(f"level {level:g}, expected a fraction between 0 and 1")
    if target not in (names := [quantity.name for quantity in quantities]):
        raise UnknownNameError("quantity", target, names)
    row = np.array([scores.get(task, np.nan) for task in tasks], dtype=np.float64)
    there = np.isfinite(row)
    if np.isinf(row).any() or not there.any():
        raise ArcadeMarkError("nothing can be predicted: no task of the training scores has a finite score")
    noise = calibration.noise_of(rng, len(tasks), draws)
    drawn = calibration.draw(trained, trained.but(without), row[np.newaxis], there, quantities, noise)
    misses = misses or calibration.misses(trained, there, quantities, noise)
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
    table = TRANSFORMS[trained.transform](trained.percent)
    logs = TRANSFORMS[trained.transform](row)
    low, high = np.nanmin(table, axis=0), np.nanmax(table, axis=0)
    outside = np.flatnonzero(there & ((logs < low) | (logs > high)))
    return Outlook(
        known=tuple(tasks[place] for place in np.flatnonzero(there)),
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
    """Order all tasks by how much one of them reduces the median's uncertainty while none is known.

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
    """Return an approximate lower bound of the median's `Range.error`, whatever the scores of the ``known`` tasks.

    The least of all estimates in reach, with the least scale of those of known algorithms.
    """
    there = np.isin(trained.joint.tasks, list(known))
    if there.all():
        return 0.0
    noise = rng.standard_normal((DRAWS, len(there)))
    errors = calibration.misses(trained, there, (MEDIAN,), noise).errors[MEDIAN.name]
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
    """Predict one quantity of n algorithms that have the same tasks, at once, as `predict` does.

    ``percent``, shape (n, tasks), are normalised scores, NaN where missing; ``misses``, of the same known tasks, make
    the intervals; ``noise``, shape (draws, tasks), is standard normal.
    """
    there, result = np.isfinite(percent[0]), []
    for first in range(0, len(percent), AT_ONCE):
        some = percent[first : first + AT_ONCE]
        drawn = calibration.draw(trained, trained.but(without), some, there, (quantity,), noise)
        result += _ranges(trained, quantity, drawn, some, misses, level, without)
    return tuple(result)


def slopes(
    trained: Trained, percent: Floats, quantity: Quantity, noise: Floats, misses: Misses | None = None
) -> Floats:
    """Return by how much a prediction rises with each known score, both transformed, shape (known tasks,).

    Parameters are those of `estimates`, of one algorithm; without ``misses``, of the middle draw.
    """
    there = np.isfinite(percent)
    places = np.flatnonzero(there)
    logs = TRANSFORMS[trained.transform](percent)
    floor = float(TRANSFORMS[trained.transform](np.array(-np.inf)))
    steps = np.array([np.maximum(logs[places] - STEP, floor), logs[places] + STEP])
    moved = np.tile(percent, (2, len(places), 1))
    moved[:, np.arange(len(places)), places] = trained.back(steps)
    drawn = calibration.draw(trained, trained.joint, moved.reshape(-1, len(percent)), there, (quantity,), noise)
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
    """Return a quantity's predictions; a count is at least the known tasks' own, at most that plus all missing."""
    values, scales = drawn.estimates(trained, quantity)
    ends = np.column_stack([values, values])
    if len(drawn.missing):
        errors = misses.errors[quantity.name]
        ends, values = errors.interval(values, scales, level, without), errors.values(values, without)
        ends = np.column_stack([np.minimum(ends[:, 0], values), np.maximum(ends[:, 1], values)])
    if quantity.unit == "score":
        worst = float(TRANSFORMS[trained.transform](np.array(-np.inf)))
        unknown = np.isfinite(ends).all(axis=1) & (ends[:, 0] <= worst) & (len(drawn.missing) > 0)
        ranges = (_between(*trained.back(np.array(some))) for some in zip(values, *ends.T, strict=True))
        return [replace(one, value=None) if low else one for one, low in zip(ranges, unknown, strict=True)]
    known = np.setdiff1d(np.arange(percent.shape[1]), drawn.missing)
    least = np.asarray(quantity.of(percent[:, known], known), dtype=np.float64)
    most = least + len(drawn.missing)
    values, low, high = np.clip([values, np.floor(ends[:, 0]), np.ceil(ends[:, 1])], least, most).tolist()
    return [Range(*some, "count") for some in zip(values, low, high, strict=True)]


def _between(value: Any, low: Any, high: Any) -> Range:
    """Return a score's prediction; both ends are untold where one is infinite."""
    if not np.isfinite([low, high]).all():
        return Range(float(value), None, None)
    return Range(float(value), float(low), float(high))


def _plays(trained: Trained, drawn: Drawn, target: Quantity, frames: Mapping[str, float] | None) -> tuple[Next, ...]:
    """Order the missing tasks by how much of the target's variance knowing them would take: Var(S) − E Var(S | x).

    The share that a quadratic function of the task's drawn score explains of the drawn targets.
    """
    names = [trained.joint.tasks[place] for place in drawn.missing]
    wrong = [name for name in names if frames is not None and not frames.get(name, 0.0) > 0.0]
    if wrong:
        raise ArcadeMarkError(f"no frames above 0 for {', '.join(wrong)}; say what playing each task costs")
    values = drawn.summaries[target.name][0]
    about = TRANSFORMS[trained.transform](values) if target.unit == "score" else values
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
