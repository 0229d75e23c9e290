"""Fits behind predictions from any tasks: a distribution of all tasks, and one without each group of algorithms.

A group is a set of similar algorithms, on Atari those of a paper. Predictions of a group by the distribution fitted
without it measure how well new kinds of algorithms are predicted (`arcademark.subset.predict.calibration`). Scores are
normalised, on Atari in percent of the average human.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics import aggregate
from arcademark.subset.predict.joint import Joint, fit_joint
from arcademark.subset.predict.model import INVERSES
from arcademark.subset.problem import TRANSFORMS, Floats

FEWEST_ALGORITHMS = 5
"""Least number of algorithms with a score on a task for the task to be predicted."""


@dataclass(frozen=True)
class Quantity:
    """A summary to be predicted.

    Parameters
    ----------
    of : callable
        Function of normalised scores, shape (draws, k), and the k tasks' places that returns the quantity, shape
        (draws,); weakly increasing in every score.
    unit : {"score", "count"}
        A score, whose interval is computed in transformed units, or a number of tasks.
    """

    name: str
    of: Callable[[Floats, NDArray[np.int64]], Floats]
    unit: Literal["score", "count"] = "score"


def reached(name: str, bars: Sequence[float]) -> Quantity:
    """Return the quantity that counts tasks whose score is at or above a bar, one per task."""
    marks = np.asarray(bars, dtype=np.float64)
    return Quantity(name, lambda values, places: np.sum(values >= marks[places], axis=1).astype(float), "count")


MEDIAN = Quantity("median", lambda values, _: np.asarray(aggregate.median(values)))
MEAN = Quantity("mean", lambda values, _: np.asarray(aggregate.mean(values)))


@dataclass(frozen=True)
class Calibration:
    """Rules for computing intervals from errors; the defaults are for tables of unmeasured coverage.

    Parameters
    ----------
    guaranteed : bool
        True to count one more group, the new one, as missed, which guarantees the coverage of exchangeable groups.
    least_share : float
        Least width of an interval as a share of that of a normal distribution with the error's scale; tasks that were
        chosen for small errors on some algorithms have larger ones on others.
    """

    guaranteed: bool = True
    least_share: float = 0.8


@dataclass(frozen=True, eq=False)
class Trained:
    """A distribution of all tasks, and those fitted without one group each.

    Parameters
    ----------
    joint : Joint
        Distribution fitted to all algorithms.
    percent : float array, shape (algorithms, tasks)
        Normalised scores; NaN where missing.
    groups : tuple of str
        Group of each algorithm.
    without : mapping of str to Joint
        Distributions fitted without a group, by group.
    transform : str
        One of `problem.TRANSFORMS`.
    left_out : tuple of str
        Tasks that too few algorithms have, or on which all score the same.
    fitted : bool array, shape (algorithms,)
        True for algorithms to which the distributions were fitted; the others only add to the measured errors.
    calibration : Calibration
        Calibration of the intervals.
    """

    joint: Joint
    percent: Floats
    algorithms: tuple[str, ...]
    groups: tuple[str, ...]
    without: Mapping[str, Joint]
    transform: str
    left_out: tuple[str, ...]
    fitted: NDArray[np.bool_]
    calibration: Calibration = Calibration()

    def only(self, rows: NDArray[np.bool_]) -> Trained:
        """Return a copy with only some of the algorithms to be predicted."""
        kept = np.flatnonzero(rows)
        names, groups = (tuple(of[row] for row in kept) for of in (self.algorithms, self.groups))
        return replace(self, percent=self.percent[kept], algorithms=names, groups=groups, fitted=self.fitted[kept])

    def apart(self, rows: NDArray[np.bool_]) -> tuple[Trained, Trained]:
        """Return a fit to the algorithms other than ``rows``, and the algorithms ``rows`` to be predicted from it."""
        rest, held = self.only(~rows), self.only(rows)
        fit = train(
            rest.percent, rest.algorithms, self.joint.tasks, rest.groups, transform=self.transform, fitted=rest.fitted
        )
        columns = [self.joint.tasks.index(task) for task in fit.joint.tasks]
        return replace(fit, calibration=self.calibration), replace(
            held,
            joint=fit.joint,
            percent=held.percent[:, columns],
            without=dict.fromkeys(held.groups, fit.joint),
            left_out=fit.left_out,
        )

    def but(self, group: str | None) -> Joint:
        """Return the distribution without a group; that of all for None, or a group that it was not fitted to."""
        return self.joint if group is None else self.without.get(group, self.joint)

    def transformed(self, percent: Floats) -> Floats:
        """Transform normalised scores."""
        return TRANSFORMS[self.transform](percent)

    @property
    def worst(self) -> float:
        """The transformed worst score; -inf if there is none."""
        return float(self.transformed(np.array(-np.inf)))

    def back(self, values: Floats) -> Floats:
        """Invert the transform of draws, clipped at the worst score."""
        return np.asarray(INVERSES[self.transform](np.maximum(values, self.worst)))


def train(
    percent: Floats,
    algorithms: Sequence[str],
    tasks: Sequence[str],
    groups: Sequence[str] | None = None,
    *,
    transform: str = "log10",
    fitted: NDArray[np.bool_] | None = None,
) -> Trained:
    """Fit the distribution to normalised scores, shape (algorithms, tasks), and also without each group.

    ``groups`` has the group of each algorithm; if None, each is its own. ``fitted`` is as in `Trained`, all if None.

    Raises
    ------
    UnknownNameError
        If the transform is unknown.
    ArcadeMarkError
        If there are fewer than two groups, or too few tasks can be fitted.
    """
    if transform not in TRANSFORMS:
        raise UnknownNameError("transform", transform, TRANSFORMS)
    owners = tuple(groups if groups is not None else algorithms)
    scores = np.asarray(percent, dtype=np.float64)
    learnt = np.ones(len(scores), bool) if fitted is None else fitted
    kinds = tuple(dict.fromkeys(owner for owner, one in zip(owners, learnt, strict=True) if one))
    if len(kinds) < 2:
        raise ArcadeMarkError(
            "all algorithms are of one group; at least two are needed to measure how well others are predicted"
        )
    table = TRANSFORMS[transform](scores)
    rows = {kind: learnt & np.array([owner != kind for owner in owners]) for kind in kinds}
    keep = [column for column in range(len(tasks)) if _informative(table[:, column], rows.values())]
    if len(keep) < 2:
        raise ArcadeMarkError(
            f"{len(keep)} of {len(tasks)} tasks have {FEWEST_ALGORITHMS} algorithms with different scores without any "
            "one group, and at least two such tasks are needed to learn from; add scores"
        )
    names, table = tuple(tasks[column] for column in keep), table[:, keep]
    scored = learnt & np.isfinite(table).any(axis=1)
    whole = fit_joint(table[scored], names)
    without = {kind: fit_joint(table[others & scored], names, whole) for kind, others in rows.items()}
    left_out = tuple(task for task in tasks if task not in names)
    return Trained(whole, scores[:, keep], tuple(algorithms), owners, without, transform, left_out, learnt)


def _informative(column: Floats, rows: Iterable[NDArray[np.bool_]]) -> bool:
    """Return True if enough algorithms have different scores on a task without any one group."""
    return all(
        np.isfinite(column[some]).sum() >= FEWEST_ALGORITHMS and np.nanmin(column[some]) < np.nanmax(column[some])
        for some in rows
    )
