"""How far predictions from any tasks are off for new kinds of algorithms, and how much wider intervals must be for it.

Conventions
-----------
* Every algorithm of the training scores is predicted by the distribution that was fitted without its group, from the
  tasks that are known of the new algorithm (those of them that it has).
* How far a truth lies outside the interval that draws give is its *miss*, in units of the extrapolation factor,
  negative inside. Intervals are widened by the quantile of the misses in which every group weighs the same and one
  more, the new one, counts as missed: split conformal prediction over groups (Romano, Patterson and Candès 2019,
  "Conformalized quantile regression"; Lee, Barber and Willett 2023, "Distribution-free inference with hierarchical
  data"). Were the new group drawn as those known, the interval would hold it about as often as it says; how often it
  does is measured by `Misses.coverage`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from arcademark.subset.predict.any_tasks import Quantity, Trained
from arcademark.subset.predict.joint import Joint
from arcademark.subset.problem import TRANSFORMS, Floats

DRAWS = 2000
FEWER = 4
"""By how much fewer draws do for misses: of many algorithms, which each need no such precision."""
TASKS = ""
"""Instead of a quantity's name: single tasks, whose misses are multiples of the interval's half."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws of one algorithm's m missing tasks, at these places.

    ``middle`` and ``spread``, shape (m,), are each one's expectation and standard deviation, and ``logs``, shape
    (draws, m), the draws, all transformed; ``summaries`` are by quantity, shape (draws,); ``extrapolation`` is as
    `Joint.extrapolation`.
    """

    missing: NDArray[np.int64]
    middle: Floats
    spread: Floats
    logs: Floats
    summaries: Mapping[str, Floats]
    extrapolation: float


@dataclass(frozen=True, eq=False)
class Misses:
    """Misses of algorithms whose group was not learnt from.

    Parameters
    ----------
    by : mapping of str to float array
        By quantity, and `TASKS`: misses.
    groups_of : mapping of str to tuple of str
        The group of each miss.
    errors : mapping of str to float array
        By quantity: predicted less true, transformed or in tasks.
    algorithms, groups : int
        How many took part.
    """

    by: Mapping[str, Floats]
    groups_of: Mapping[str, tuple[str, ...]]
    errors: Mapping[str, Floats]
    algorithms: int
    groups: int

    def widening(self, name: str, level: float, without: str | None = None) -> float:
        """Return by how much intervals of a quantity, or `TASKS`, are widened, 0 or more.

        Infinite where there are too few groups. Misses of the group ``without`` are left out.
        """
        groups = np.array(self.groups_of[name], dtype=object)
        kept = groups != without
        _, which, counts = np.unique(groups[kept], return_inverse=True, return_counts=True)
        order = np.argsort(self.by[name][kept], kind="stable")
        misses, cumulated = self.by[name][kept][order], np.cumsum(1.0 / counts[which.reshape(-1)][order])
        place = int(np.searchsorted(cumulated, level * (len(counts) + 1) - 1e-9))
        return max(0.0, float(misses[place])) if place < len(misses) else float("inf")

    def held(self, name: str, level: float, widened_by: Misses | None = None) -> list[bool]:
        """Tell which truths are within intervals that other groups' misses widen; those of ``widened_by``, if given."""
        source, least = widened_by or self, 1.0 if name == TASKS else 0.0
        wider = {group: max(least, source.widening(name, level, group)) for group in set(self.groups_of[name])}
        return [bool(value <= wider[group]) for value, group in zip(self.by[name], self.groups_of[name], strict=True)]

    def coverage(self, level: float) -> Mapping[str, float | None]:
        """Return, by quantity and `TASKS`, the share of truths that are held; None where there are none."""
        result = {name: self.held(name, level) for name in self.by}
        return MappingProxyType({name: float(np.mean(held)) if held else None for name, held in result.items()})


def noise_of(rng: np.random.Generator, tasks: int, draws: int = DRAWS) -> Floats:
    """Return standard normal draws, shape (draws, tasks), to 32 bits, which pages have, too."""
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
    """Draw the missing tasks of one algorithm by ``joint``: `Trained.joint`, or one without a group.

    ``percent``, normalised scores, and ``known``, which of them may be used, have shape (tasks,), as ``among``, the
    tasks that quantities are over, all if None. ``noise``, shape (draws, tasks), is standard normal.
    """
    conditional = joint.conditional(known)
    values = TRANSFORMS[trained.transform](percent)
    middle = joint.expected(conditional, values)
    logs = middle + noise[:, : len(conditional.missing)] @ conditional.spread.T
    spread = np.sqrt(np.sum(conditional.spread**2, axis=1))
    chosen = np.ones(len(conditional.missing), bool) if among is None else among[conditional.missing]
    whole = np.repeat(percent[np.newaxis], len(noise), axis=0)
    whole[:, conditional.missing] = trained.back(logs)
    over = np.flatnonzero(known if among is None else known & among)
    places = np.sort(np.concatenate([over, conditional.missing[chosen]]))
    columns = whole[:, places]
    summaries = {quantity.name: np.asarray(quantity.of(columns, places)) for quantity in quantities}
    return Drawn(
        conditional.missing[chosen],
        middle[chosen],
        spread[chosen],
        logs[:, chosen],
        MappingProxyType(summaries),
        joint.extrapolation(known, values),
    )


def ends(trained: Trained, quantity: Quantity, drawn: Drawn, level: float) -> Floats:
    """Return the interval before widening, and its middle between the ends, transformed or in tasks, shape (3,).

    What draws give, its ends moved away from the middle by the extrapolation.
    """
    result = np.quantile(drawn.summaries[quantity.name], [(1 - level) / 2, 0.5, (1 + level) / 2])
    if quantity.unit == "score":
        result = TRANSFORMS[trained.transform](result)
    return np.asarray(result[1] + drawn.extrapolation * (result - result[1]))


def normal_half_width(level: float) -> float:
    """Return how many standard deviations to either side hold that share of normal draws."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def misses(
    trained: Trained, known: NDArray[np.bool_], quantities: Sequence[Quantity], noise: Floats, level: float
) -> Misses:
    """Predict every algorithm that has some of the known tasks, and some others, without its group.

    ``known`` has shape (tasks,), ``noise``, standard normal, (draws, tasks), of which every `FEWER`-th is used.
    """
    noise = noise[::FEWER]
    names = [quantity.name for quantity in quantities]
    result: dict[str, list[float]] = {name: [] for name in (*names, TASKS)}
    owners: dict[str, list[str]] = {name: [] for name in result}
    errors: dict[str, list[float]] = {name: [] for name in names}
    took_part: list[str] = []
    for row, group in zip(trained.percent, trained.groups, strict=True):
        there = np.isfinite(row)
        if not (there & known).any() or not (there & ~known).any():
            continue
        took_part.append(group)
        drawn = draw(trained, trained.without[group], row, there & known, quantities, noise, there)
        for quantity in quantities:
            truth = np.array(quantity.of(row[np.newaxis, there], np.flatnonzero(there))[0], dtype=np.float64)
            truth = TRANSFORMS[trained.transform](truth) if quantity.unit == "score" else truth
            low, middle, high = ends(trained, quantity, drawn, level)
            result[quantity.name].append(float(max(low - truth, truth - high)) / drawn.extrapolation)
            owners[quantity.name].append(group)
            errors[quantity.name].append(float(middle - truth))
        off = np.abs(TRANSFORMS[trained.transform](row[drawn.missing]) - drawn.middle)
        result[TASKS] += (off / (drawn.extrapolation * normal_half_width(level) * drawn.spread)).tolist()
        owners[TASKS] += [group] * len(off)
    return Misses(
        MappingProxyType({name: np.array(result[name]) for name in result}),
        MappingProxyType({name: tuple(owners[name]) for name in owners}),
        MappingProxyType({name: np.array(values) for name, values in errors.items()}),
        len(took_part),
        len(set(took_part)),
    )
