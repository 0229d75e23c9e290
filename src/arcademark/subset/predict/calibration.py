"""Errors of predictions from any tasks for new kinds of algorithms, and the resulting intervals.

Conventions
-----------
* Every algorithm is predicted by the distribution that was fitted without its group, from the known tasks of the new
  algorithm (those of them on which it has a score). Its error is in units of its *scale*: the standard deviation of the
  draws, times the extrapolation factor.
* Bias and size of errors depend on the level: weak algorithms are overestimated, strong ones underestimated. Both are
  averages of the errors of algorithms of a similar level, weighted by a normal kernel. A level is halfway between
  estimate and truth, so that neither weak algorithms that look stronger nor strong ones that look weaker count as
  average ones. A group has the same weight at every level at which it has algorithms, for any number of similar ones.
* An interval contains the truths that are consistent with the estimate: those whose error, less the bias at that level,
  is at most the quantile of all errors, each relative to the mean size at its level. All groups have the same weight in
  the quantile, and one more, the new one, counts as larger: it is conformal over groups (Lee, Barber and Willett 2023,
  "Distribution-free inference with hierarchical data"; Romano, Patterson and Candès 2019, "Conformalized quantile
  regression"). If coverage was measured on groups left out, and exceeds the level, no such group is counted
  (`arcademark.subset.predict.any_tasks.Calibration`).
* An interval that reaches below all truths ends at the worst score, because no errors are known there. No interval is
  narrower than a share of the draws' spread. Those of single tasks have one factor at all levels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from arcademark.grouping import grouped
from arcademark.subset.predict.any_tasks import Calibration, Quantity, Trained
from arcademark.subset.predict.joint import Joint
from arcademark.subset.problem import Floats

DRAWS = 2000
FEWER = 4
"""Divisor of the number of draws for measuring errors, where each of many algorithms needs less precision."""
UNMEASURED = Calibration()
TASKS = ""
"""Name, in place of a quantity's, for single tasks."""
BANDWIDTH = 0.4
"""Bandwidth of the kernel: a share of the standard deviation of all truths."""
SHRINK = 1.0
"""Weight of the average over all levels at each level, in groups."""
LEAST_SCALE = 0.01
"""Least scale of an error: a share of the same standard deviation."""
TRUTHS = np.linspace(-12.0, 12.0, 241)
"""Truths that are tested for an interval, by their distance from the estimate in scales."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws of n algorithms' m missing tasks, whose places are ``missing``.

    ``middle``, shape (n, m), and ``spread``, shape (m,), are their expectations and standard deviations, and ``logs``,
    shape (n, draws, m), the draws, all transformed; ``summaries`` are by quantity, shape (n, draws);
    ``extrapolation``, shape (n,), is from `Joint.extrapolation`.
    """

    missing: NDArray[np.int64]
    middle: Floats
    spread: Floats
    logs: Floats
    summaries: Mapping[str, Floats]
    extrapolation: Floats

    def estimates(self, trained: Trained, quantity: Quantity) -> tuple[Floats, Floats]:
        """Return the median draw and the scale of its error, transformed or in tasks, both of shape (n,)."""
        drawn = self.summaries[quantity.name]
        if quantity.unit == "score":
            drawn = trained.transformed(drawn)
        return np.median(drawn, axis=1), np.std(drawn, axis=1) * self.extrapolation


class Errors:
    """Errors of one quantity, of n algorithms predicted without their group.

    Parameters
    ----------
    estimates, scales, truths : float array, shape (n,)
        Transformed or in tasks.
    groups : sequence of str
    worst : float
        The least possible truth; -inf if there is none.
    calibration : Calibration
    """

    def __init__(
        self,
        estimates: Floats,
        scales: Floats,
        truths: Floats,
        groups: Sequence[str],
        worst: float = -np.inf,
        calibration: Calibration = UNMEASURED,
    ) -> None:
        self.estimates, self.truths, self._worst, self._calibration = estimates, truths, worst, calibration
        self.groups = np.array(groups, dtype=object)
        typical = float(np.std(truths)) if len(truths) else 0.0
        self._bandwidth, self._least = max(BANDWIDTH * typical, 1e-9), max(LEAST_SCALE * typical, 1e-12)
        self.scales = scales
        self._errors = self._scaled(self)
        self._levels = (estimates + truths) / 2
        names, which = np.unique(self.groups.astype(str), return_inverse=True)
        self._own = which[:, np.newaxis] == which
        self._kernel = self._near(self._levels, self._levels)
        self._weights = 1.0 / np.sum(self._kernel * self._own, axis=1)
        self._weights *= len(names) / max(1.0, float(self._weights.sum()))

    def values(self, estimates: Floats, without: str | None = None) -> Floats:
        """Return estimates of any shape, corrected by the errors of similar estimates; monotone in the estimate."""
        weights = self._weights * (self.groups != without)
        if not weights.any():
            return estimates
        reach = 3 * self._bandwidth
        grid = np.linspace(self.estimates.min() - reach, self.estimates.max() + reach, 200)
        near = self._near(grid, self.estimates) * weights
        moved = np.maximum.accumulate(grid + near @ (self.truths - self.estimates) / (near.sum(axis=1) + SHRINK))
        return np.asarray(estimates + np.interp(estimates, grid, moved - grid))

    def interval(self, estimates: Floats, scales: Floats, level: float, without: str | None = None) -> Floats:
        """Return the intervals of estimates, shape (k,), with scales from `Drawn.estimates`, as shape (k, 2).

        Errors of the group ``without`` are left out; intervals are infinite if there are too few groups.
        """
        if not np.isfinite((bound := self._bound(level, without)).most):
            return np.tile([-np.inf, np.inf], (len(estimates), 1))
        scales = scales + self._least
        truths = estimates[:, np.newaxis] + scales[:, np.newaxis] * TRUTHS
        over = self._over(-TRUTHS, (estimates[:, np.newaxis] + truths) / 2, bound)
        inside = over <= np.maximum(0.0, over.min(axis=1))[:, np.newaxis]
        rows, last = np.arange(len(over)), len(TRUTHS) - 1
        ends = []
        for place, step in ((inside.argmax(axis=1), -1), (last - inside[:, ::-1].argmax(axis=1), 1)):
            inner, outer = over[rows, place], over[rows, np.clip(place + step, 0, last)]
            share = np.divide(inner, inner - outer, out=np.zeros(len(over)), where=(inner < 0) & (outer > 0))
            ends.append(estimates + scales * (TRUTHS[place] + step * share * (TRUTHS[1] - TRUTHS[0])))
        if np.isfinite(self._worst):
            ends[0][ends[0] < self.truths.min()] = self._worst
        return np.column_stack(ends)

    def held(self, level: float, by: Errors) -> NDArray[np.bool_]:
        """Return True for each truth within the interval from the errors ``by`` of other groups."""
        result = np.empty(len(self.truths), dtype=bool)
        for group in dict.fromkeys(self.groups):
            rows = self.groups == group
            result[rows] = by._over(by._scaled(self)[rows], self._levels[rows], by._bound(level, group)) <= 0
        return result

    def _scaled(self, others: Errors) -> Floats:
        return (others.estimates - others.truths) / (others.scales + self._least)

    def _near(self, some: Floats, others: Floats) -> Floats:
        return np.asarray(np.exp(-0.5 * ((some[..., np.newaxis] - others) / self._bandwidth) ** 2))

    def _over(self, errors: Floats, levels: Floats, bound: _Bound) -> Floats:
        """Return the excess over the allowed size of errors, less the bias of their level."""
        near = self._near(levels, self._levels) * bound.weights
        mass = near.sum(axis=-1) + SHRINK
        allowed = bound.most * (near @ bound.sizes + SHRINK * bound.usual) / mass
        return np.asarray(np.abs(errors - near @ self._errors / mass) - np.maximum(allowed, bound.least))

    def _bound(self, level: float, without: str | None) -> _Bound:
        """Return the allowed errors, with each algorithm's relative to other groups' errors, and without one group."""
        kept = self.groups != without
        weights = self._weights * kept
        near = self._kernel * weights * ~self._own
        mass = near.sum(axis=1) + SHRINK
        sizes = np.abs(self._errors - near @ self._errors / mass)
        usual = float(weights @ sizes) / max(float(weights.sum()), 1e-12)
        ratios = sizes * mass / np.maximum(near @ sizes + SHRINK * usual, 1e-12)
        most = _quantile(ratios[kept], weights[kept], level, len(set(self.groups[kept])), self._calibration)
        return _Bound(weights, sizes, usual, most, self._calibration.least_share * normal_half_width(level))


@dataclass(frozen=True)
class _Bound:
    """Weights and sizes of errors, their mean, the allowed multiple of a level's mean, and the least allowed size."""

    weights: Floats
    sizes: Floats
    usual: float
    most: float
    least: float


def normal_half_width(level: float) -> float:
    """Return the half-width, in standard deviations, of the central interval of a normal distribution."""
    return NormalDist().inv_cdf((1 + level) / 2)


def _quantile(values: Floats, weights: Floats, level: float, groups: int, calibration: Calibration) -> float:
    """Return the weighted quantile of values; infinite if there are too few groups for a conformal one."""
    wanted = level * (1 + 1 / max(groups, 1))
    if wanted > 1 + 1e-12:
        return float("inf")
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weights[order]) / max(float(weights.sum()), 1e-12)
    place = int(np.searchsorted(cumulated, (wanted if calibration.guaranteed else level) - 1e-9))
    return float(values[order][min(place, len(values) - 1)])


@dataclass(frozen=True, eq=False)
class Misses:
    """Errors of algorithms predicted without their group.

    Parameters
    ----------
    errors : mapping of str to Errors
        Errors by quantity.
    tasks : float array
        Absolute errors of single tasks, in standard deviations times the extrapolation factor, ascending.
    tasks_groups : tuple of str
        The group of each of these errors.
    fitted : bool array, shape (n,)
        True for those of the n algorithms of `errors` to which the distribution of all was fitted.
    calibration : Calibration
    """

    errors: Mapping[str, Errors]
    tasks: Floats
    tasks_groups: tuple[str, ...]
    fitted: NDArray[np.bool_]
    calibration: Calibration = UNMEASURED

    def widening(self, level: float, without: str | None = None) -> float:
        """Return the half-width of single tasks' intervals in standard deviations; infinite if groups are too few.

        Errors of the group ``without`` are left out.
        """
        groups, weights = self._tasks_weights
        kept = groups != without
        groups_kept = len({*self.tasks_groups} - {without})
        return _quantile(self.tasks[kept], weights[kept], level, groups_kept, self.calibration)

    @cached_property
    def _tasks_weights(self) -> tuple[NDArray[np.object_], Floats]:
        counts = Counter(self.tasks_groups)
        return np.array(self.tasks_groups, dtype=object), np.array([1.0 / counts[one] for one in self.tasks_groups])

    def held(self, name: str, level: float, by: Misses | None = None) -> list[bool]:
        """Return True for each truth of a quantity, or `TASKS`, within an interval from other groups' errors.

        The errors are those of ``by`` if given.
        """
        source = by or self
        if name != TASKS:
            return [bool(one) for one in self.errors[name].held(level, source.errors[name])]
        wide = {group: source.widening(level, group) for group in set(self.tasks_groups)}
        return [bool(size <= wide[group]) for size, group in zip(self.tasks, self.tasks_groups, strict=True)]

    def covered(self, name: str, level: float) -> Covered | None:
        """Return the coverage of intervals of a quantity, or `TASKS`; None if there are no truths.

        For a quantity, only algorithms that the distribution was fitted to are counted.
        """
        return _covered(self, name, level)


@dataclass(frozen=True)
class Covered:
    """Number of true values that intervals cover, the total number, and the mean share over groups."""

    count: int
    total: int
    by_group: float

    @property
    def share(self) -> float:
        """The share of true values."""
        return self.count / self.total


@lru_cache(maxsize=64)
def _covered(misses: Misses, name: str, level: float) -> Covered | None:
    held = np.array(misses.held(name, level), dtype=bool)
    groups = np.array(misses.tasks_groups if name == TASKS else misses.errors[name].groups, dtype=str)
    if name != TASKS:
        held, groups = held[misses.fitted], groups[misses.fitted]
    shares = [np.mean(held[groups == group]) for group in np.unique(groups)]
    return Covered(int(held.sum()), len(held), float(np.mean(shares))) if len(held) else None


def noise_of(rng: np.random.Generator, tasks: int, draws: int = DRAWS) -> Floats:
    """Return standard normal draws, shape (draws, tasks), rounded to 32 bits, as pages have them."""
    return rng.standard_normal((draws, tasks)).astype(np.float32).astype(np.float64)


def draw(
    trained: Trained,
    joint: Joint,
    percent: Floats,
    known: NDArray[np.bool_],
    quantities: Sequence[Quantity],
    noise: Floats,
    among: NDArray[np.bool_] | None = None,
) -> Drawn:
    """Draw the missing tasks of n algorithms from ``joint``: `Trained.joint`, or one without a group.

    ``percent`` are normalised scores, shape (n, tasks); ``known``, a bool array of shape (tasks,), marks the scores to
    use, and ``among``, the tasks of quantities, all if None. ``noise``, (draws, tasks), is standard normal.
    """
    conditional = joint.conditional(known)
    values = trained.transformed(percent)
    chosen = np.ones(len(conditional.missing), bool) if among is None else among[conditional.missing]
    missing, root = conditional.missing[chosen], conditional.spread[chosen]
    middle = joint.expected(conditional, values)[:, chosen]
    logs = middle[:, np.newaxis] + noise[:, : root.shape[1]] @ root.T
    over = np.flatnonzero(known if among is None else known & among)
    given = np.broadcast_to(percent[:, np.newaxis, over], (*logs.shape[:2], len(over)))
    columns = np.concatenate([given, trained.back(logs)], axis=-1).reshape(-1, len(over) + len(missing))
    places = np.concatenate([over, missing])
    summaries = {item.name: np.asarray(item.of(columns, places)).reshape(logs.shape[:2]) for item in quantities}
    spread = np.sqrt(np.sum(root**2, axis=1))
    return Drawn(missing, middle, spread, logs, summaries, joint.extrapolation(known, values))


def misses(trained: Trained, known: NDArray[np.bool_], quantities: Sequence[Quantity], noise: Floats) -> Misses:
    """Predict every algorithm that has scores on known tasks and on others, without its group.

    ``known`` is a bool array of shape (tasks,); ``noise``, shape (draws, tasks), is standard normal, of which every
    `FEWER`-th draw is used.
    """
    columns: dict[str, list[Floats]] = {quantity.name: [] for quantity in quantities}
    owners: list[str] = []
    sizes: list[Floats] = [np.empty(0)]
    tasks_groups: list[str] = []
    fitted: list[bool] = []
    for group, scored, rows in _alike(trained):
        if not (scored & known).any() or not (scored & ~known).any():
            continue
        owners += [group] * len(rows)
        fitted += trained.fitted[rows].tolist()
        percent, joint = trained.percent[rows], trained.but(group)
        drawn = draw(trained, joint, percent, scored & known, quantities, noise[::FEWER], scored)
        places = np.flatnonzero(scored)
        for quantity in quantities:
            truths = np.asarray(quantity.of(percent[:, places], places), dtype=np.float64)
            truths = trained.transformed(truths) if quantity.unit == "score" else truths
            columns[quantity.name].append(np.array([*drawn.estimates(trained, quantity), truths]))
        off = np.abs(trained.transformed(percent[:, drawn.missing]) - drawn.middle)
        sizes.append((off / (drawn.extrapolation[:, np.newaxis] * drawn.spread)).reshape(-1))
        tasks_groups += [group] * off.size
    errors = {}
    for quantity in quantities:
        values, scales, truths = np.concatenate([np.empty((3, 0)), *columns[quantity.name]], axis=1)
        worst = trained.worst if quantity.unit == "score" else -np.inf
        errors[quantity.name] = Errors(values, scales, truths, owners, worst, trained.calibration)
    tasks = np.concatenate(sizes)
    order = np.argsort(tasks, kind="stable")  # once, because each group's quantile sorts sorted values faster
    sorted_groups = tuple(tasks_groups[place] for place in order)
    return Misses(errors, tasks[order], sorted_groups, np.array(fitted, bool), trained.calibration)


def _alike(trained: Trained) -> Iterator[tuple[str, NDArray[np.bool_], NDArray[np.int64]]]:
    """Yield each group's algorithms with scores on the same tasks: the group, these tasks, and their rows."""
    scored = np.isfinite(trained.percent)
    alike = grouped(((group, scored[row].tobytes()), row) for row, group in enumerate(trained.groups))
    for (group, _), rows in alike.items():
        yield group, scored[rows[0]], np.array(rows)
