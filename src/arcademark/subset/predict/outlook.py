"""Predict from whatever tasks are known: summaries and every other task, with intervals for new kinds of algorithms.

Conventions
-----------
* Summaries are taken of draws of the missing tasks beside the known scores. Draws are cut off below at what the
  transform makes of the worst score (0 percent).
* An interval is what the draws give, widened as `arcademark.subset.predict.calibration` says; it is never made
  narrower.
* A better score lowers no prediction (given the same generator): draws are sums of expectations, which no better score
  lowers, and of noise that does not depend on scores, and quantities are weakly increasing. The ends of intervals do
  not always rise with it: scores that do not go together widen them
  (`arcademark.subset.predict.joint.Joint.extrapolation`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.subset.predict import calibration
from arcademark.subset.predict.any_tasks import MEAN, MEDIAN, Quantity, Trained
from arcademark.subset.predict.calibration import DRAWS, Drawn, Misses
from arcademark.subset.problem import TRANSFORMS, Floats
from arcademark.suite.subsets import LEVEL

STEP = 0.1
"""By how much scores are moved, in transformed units, to see how a prediction rises with them."""


@dataclass(frozen=True)
class Range:
    """A prediction and its interval.

    Parameters
    ----------
    value : float
        Normalised score, or number of tasks.
    low, high : float or None
        None where there are too few groups to tell for the level.
    unit : {"score", "count"}
        Of what it is, as in `arcademark.subset.predict.any_tasks.Quantity`.
    """

    value: float
    low: float | None
    high: float | None
    unit: Literal["score", "count"] = "score"

    @property
    def error(self) -> float:
        """How far the interval reaches, as a share of the value: that of the end which is farther off.

        Of the value plus one, as models measure errors (0 percent is a value, too). Infinite where there is no end.
        """
        if self.low is None or self.high is None:
            return float("inf")
        middle = 1.0 + self.value
        return max(self.high - self.value, self.value - self.low) / middle if middle > 0 else float("inf")


@dataclass(frozen=True)
class Next:
    """What playing one more task would do.

    Parameters
    ----------
    frames : float
        What it costs.
    left : float
        Expected root mean square uncertainty of the target that is left, as a share of today's.
    """

    task: str
    frames: float
    left: float

    @property
    def gain(self) -> float:
        """Share of the uncertainty taken away per frame."""
        return (1.0 - self.left) / self.frames


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
        Of the intervals.
    extrapolation : float
        How much wider intervals are as the known scores do not go together; 1 is not at all.
    algorithms, groups : int
        On which intervals were calibrated.
    coverage : mapping of str to float or None
        By quantity: the share of these algorithms' truths that such intervals held, each predicted and its interval
        widened without its group; None where there are none.
    tasks_coverage : float or None
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
    coverage: Mapping[str, float | None]
    tasks_coverage: float | None


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
) -> Outlook:
    """Predict from whatever is known of an algorithm.

    Parameters
    ----------
    scores : mapping of task to float
        Its normalised scores; NaN counts as missing.
    target : str, optional
        The quantity whose uncertainty is to fall by playing.
    frames : mapping of task to float, optional
        What playing each task costs; the same for all if None.
    without : str, optional
        The group that it is of, from which nothing is learnt then.

    Raises
    ------
    ArcadeMarkError
        Where the target is none of the quantities, the level is no fraction, no task is known, a score is infinite, or
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
    joint = trained.joint if without is None else trained.without[without]
    drawn = calibration.draw(trained, joint, row, there, quantities, noise)
    misses = calibration.misses(trained, there, quantities, noise, level)
    coverage = misses.coverage(level)
    wider = {
        name: misses.widening(name, level, without) if len(drawn.missing) else 0.0
        for name in (*names, calibration.TASKS)
    }
    summaries = {
        quantity.name: _range(trained, quantity, drawn, row, wider[quantity.name], level) for quantity in quantities
    }
    factor = max(1.0, wider[calibration.TASKS])
    half_width = calibration.normal_half_width(level) * factor * drawn.extrapolation * drawn.spread
    lines = (trained.back(ends) for ends in (drawn.middle, drawn.middle - half_width, drawn.middle + half_width))
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
        summaries=MappingProxyType(summaries),
        tasks=MappingProxyType(every),
        outside=tuple(tasks[place] for place in outside),
        plays=_plays(trained, drawn, quantities[names.index(target)], frames),
        level=level,
        extrapolation=drawn.extrapolation,
        algorithms=misses.algorithms,
        groups=misses.groups,
        coverage=MappingProxyType({name: coverage[name] for name in names}),
        tasks_coverage=coverage[calibration.TASKS],
    )


def first_plays(
    trained: Trained,
    *,
    rng: np.random.Generator,
    frames: Mapping[str, float] | None = None,
) -> tuple[Next, ...]:
    """Order all tasks by what knowing one of them would take off the median's uncertainty, where nothing is known yet.

    Parameters and errors are those of `predict`.
    """
    joint = trained.joint
    logs = joint.mean + rng.standard_normal((DRAWS, len(joint.tasks))) @ np.linalg.cholesky(joint.covariance).T
    places = np.arange(len(joint.tasks))
    result = np.asarray(MEDIAN.of(trained.back(logs), places))
    drawn = Drawn(places, joint.mean, np.sqrt(np.diag(joint.covariance)), logs, {MEDIAN.name: result}, 1.0)
    return _plays(trained, drawn, MEDIAN, frames)


def least_error(trained: Trained, known: Collection[str], *, rng: np.random.Generator) -> float:
    """Return what `Range.error` of the median is at least, whatever the scores of the ``known`` tasks will be.

    Intervals are widened by what other groups' misses from the same tasks ask for; scores can only widen them more.
    """
    there = np.isin(trained.joint.tasks, list(known))
    if there.all():
        return 0.0
    noise = rng.standard_normal((DRAWS, len(there)))
    widened = calibration.misses(trained, there, (MEDIAN,), noise, LEVEL).widening(MEDIAN.name, LEVEL)
    if trained.transform == "none":
        return 0.0 if np.isfinite(widened) else float("inf")
    return float(10.0**widened - 1.0)


def estimate(
    trained: Trained,
    percent: Floats,
    quantity: Quantity,
    misses: Misses,
    noise: Floats,
    level: float,
    without: str | None = None,
) -> Range:
    """Predict one quantity of scores as `predict` does.

    ``percent``, shape (tasks,), are normalised scores, NaN where missing; ``misses``, of the same known tasks, widen
    the interval; ``noise``, shape (draws, tasks), is standard normal.
    """
    joint = trained.joint if without is None else trained.without[without]
    drawn = calibration.draw(trained, joint, percent, np.isfinite(percent), (quantity,), noise)
    return _range(trained, quantity, drawn, percent, misses.widening(quantity.name, level, without), level)


def slopes(trained: Trained, percent: Floats, quantity: Quantity, noise: Floats) -> Floats:
    """Return by how much a prediction rises with each known score, both transformed, shape (known tasks,).

    Parameters are those of `estimate`.
    """
    there = np.isfinite(percent)
    logs = TRANSFORMS[trained.transform](percent)
    floor = float(TRANSFORMS[trained.transform](np.array(-np.inf)))
    result = []
    for place in np.flatnonzero(there):
        ends = []
        steps = [max(logs[place] - STEP, floor), logs[place] + STEP]
        for at in steps:
            moved = percent.copy()
            moved[place] = trained.back(at)
            drawn = calibration.draw(trained, trained.joint, moved, there, (quantity,), noise)
            ends.append(calibration.ends(trained, quantity, drawn, LEVEL)[1])
        result.append((ends[1] - ends[0]) / (steps[1] - steps[0]))
    return np.array(result)


def _range(trained: Trained, quantity: Quantity, drawn: Drawn, percent: Floats, widened: float, level: float) -> Range:
    """Return a quantity's prediction; a count stays between what is reached already and all that is left."""
    more = widened * drawn.extrapolation
    low, middle, high = calibration.ends(trained, quantity, drawn, level) + np.array([-more, 0.0, more])
    if quantity.unit == "score":
        return _between(*(trained.back(np.array(end)) for end in (middle, low, high)))
    known = np.flatnonzero(np.isfinite(percent))
    least = float(quantity.of(percent[np.newaxis, known], known)[0])
    most = least + len(drawn.missing)
    return Range(float(middle), float(max(least, np.floor(low))), float(min(most, np.ceil(high))), "count")


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
    values = drawn.summaries[target.name]
    about = TRANSFORMS[trained.transform](values) if target.unit == "score" else values
    about = about - about.mean()
    total = float(about @ about)
    result = []
    for name, column in zip(names, drawn.logs.T, strict=True):
        scale = column.std()
        z = (column - column.mean()) / scale if scale > 0 else column * 0.0
        design = np.column_stack([np.ones_like(z), z, z * z])
        fitted = design @ np.linalg.lstsq(design, about, rcond=None)[0]
        share = float(fitted @ fitted) / total if total > 0 else 0.0
        result.append(Next(name, 1.0 if frames is None else float(frames[name]), float(np.sqrt(max(0.0, 1.0 - share)))))
    return tuple(sorted(result, key=lambda step: -step.gain))
