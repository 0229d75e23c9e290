"""AdaStop: a group sequential permutation test of all pairs, to decide whether more runs are needed.

Conventions
-----------
* Scores are one array per algorithm, shape (runs,), in the order in which the runs were made. They are tested in groups
  of N runs of each algorithm, at most K groups; N, K and the level must be chosen before the runs are made.
* After group k, a pair's statistic is the absolute difference of its two sums over N k runs. Its distribution under
  equality comes from permuting the 2 N scores of each group separately, with the same permutations for all pairs.
* The boundary of group k is the least value such that the permutations in which the largest statistic of all open pairs
  exceeds it, plus those that exceeded an earlier boundary, are at most a share k alpha / K of all.
* Step-down: if the largest statistic exceeds the boundary, its pair is decided, and the others are tested again without
  it. Pairs that are open after the last group count as equal.
* Two algorithms with equal distributions are decided with a probability of at most alpha. For several pairs, the
  probability of any such decision is about alpha, but not proven to be at most alpha: the common permutations do not
  reproduce the dependence between pairs.

Mathieu et al. 2024, "AdaStop: adaptive statistical testing for sound comparisons of Deep RL agents".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.keywords import knowing
from arcademark.metrics.power import check_count, check_share

Floats: TypeAlias = NDArray[np.float64]
Decision: TypeAlias = Literal["larger", "smaller", "equal", "undecided"]

MAX_NUMBERS = 20_000_000
"""Maximum number of statistics, or permuted scores, over all permutations (160 MB; 640 MB during computation)."""

_EQUAL = 1e-9
"""Differences of two sums up to this share of the scores' range count as rounding."""


@knowing()
@dataclass(frozen=True)
class SequentialPlan:
    """Design of a sequential test, chosen before runs are made; the paper's by default.

    group: Number of runs of each algorithm in a group, N.
    groups: Maximum number of groups, K.
    alpha: Accepted probability that any pair is decided wrongly.
    permutations: Number of random permutations if more exist; else all are used.

    Raises an `ArcadeMarkError` if a number is out of bounds, or no scores could lead to a decision.
    """

    group: int = 5
    groups: int = 5
    alpha: float = 0.05
    permutations: int = 10_000

    def __post_init__(self) -> None:
        check_count("group", self.group)
        check_count("groups", self.groups)
        check_count("permutations", self.permutations)
        check_share("alpha", self.alpha)
        if self.permutations * 2 * self.group > MAX_NUMBERS:
            raise ArcadeMarkError(
                f"{self.permutations:,} permutations of groups of {self.group:,} runs are too many; choose fewer"
            )
        if self.alpha * min(self.permutations, self.ways(self.groups)) < 2:
            raise ArcadeMarkError(
                f"{self.groups} x {self.group} runs and {self.permutations:,} permutations decide nothing at alpha "
                f"{self.alpha:g} for any scores; choose larger or more groups, or more permutations"
            )

    def ways(self, groups: int) -> int:
        """Return the number of ways to assign the scores of ``groups`` groups to two algorithms, exact up to 2⁶⁴."""
        one, result = math.comb(2 * self.group, self.group), 1
        for _ in range(groups):
            result *= one
            if result > 2**64:
                break
        return result


@dataclass(frozen=True)
class SequentialStep:
    """Test of a pair after a group.

    runs: Runs of each algorithm so far.
    difference: The first's mean over these runs less the second's.
    boundary: Threshold that the absolute difference must exceed for a decision.
    """

    runs: int
    difference: float
    boundary: float
    decision: Decision


@dataclass(frozen=True)
class SequentialPair:
    """Two algorithms, group by group.

    first, second: Their names.
    decision: Decision on the first, after the last group that both could be tested on.
    steps: One per group until the pair is decided; differences and boundaries are in the unit of the scores.
    """

    first: str
    second: str
    decision: Decision
    steps: tuple[SequentialStep, ...]


def sequential_test(
    scores: Mapping[str, ArrayLike], rng: np.random.Generator, plan: SequentialPlan | None = None
) -> tuple[tuple[SequentialPair, ...], list[int]]:
    """Test all pairs of algorithms, group by group, until all pairs are decided or runs are lacking.

    Parameters
    ----------
    scores : mapping of str to float array, shape (runs,)
        Scores of two algorithms or more; runs beyond the required ones are not used.
    rng : numpy.random.Generator
        Generator of random permutations if there are too many to use all; those of a group do not depend on later runs.
    plan : SequentialPlan, optional

    Returns
    -------
    (pairs, wanted)
        All pairs, and the number of runs that each algorithm needs next: 0 if none of its pairs is open.

    Raises
    ------
    ArcadeMarkError
        If scores are missing or infinite, or there are too many pairs for their permutations to fit into memory.
    """
    plan = plan or SequentialPlan()
    runs = [np.asarray(row, dtype=np.float64) for row in scores.values()]
    if any(row.ndim != 1 or not np.isfinite(row).all() for row in runs):
        raise ArcadeMarkError("a run's score is missing or infinite; pass one finite score per run")
    pairs = list(itertools.combinations(range(len(runs)), 2))
    if len(pairs) * plan.permutations > MAX_NUMBERS:
        raise ArcadeMarkError(
            f"{len(pairs):,} pairs with {plan.permutations:,} permutations are too many; name fewer algorithms"
        )
    steps: dict[tuple[int, int], list[SequentialStep]] = {pair: [] for pair in pairs}
    centre = next((row[0] for row in runs if row.size), 0.0)
    permuted = _Permuted([row[: plan.group * plan.groups] - centre for row in runs], pairs, rng, plan)
    open_pairs = np.arange(len(pairs))
    wanted = [0] * len(runs)
    for done in range(plan.groups):
        if not open_pairs.size:
            break
        needed, active = plan.group * (done + 1), {side for place in open_pairs.tolist() for side in pairs[place]}
        if any(runs[side].size < needed for side in active):
            wanted = [needed if side in active else 0 for side in range(len(runs))]
            break
        boundaries, kept = permuted.step(open_pairs)
        still = set(kept.tolist())
        for place, boundary in zip(open_pairs.tolist(), boundaries.tolist(), strict=True):
            first, second = (runs[side][:needed] for side in pairs[place])
            difference = float(np.mean(first) - np.mean(second))
            outcome: Decision = "larger" if difference > 0 else "smaller"
            if place in still:
                outcome = "equal" if done + 1 == plan.groups else "undecided"
            steps[pairs[place]].append(SequentialStep(needed, difference, boundary / needed, outcome))
        open_pairs = kept
    names = list(scores)
    tested = (
        SequentialPair(names[first], names[second], result[-1].decision if result else "undecided", tuple(result))
        for (first, second), result in steps.items()
    )
    return tuple(tested), wanted


class _Permuted:
    """Differences of sums by permutation, for permutations that have not exceeded a boundary; the first is observed.

    `sums` has shape (permutations, pairs), with current values in the columns of open pairs; `total` is the initial
    number of permutations, and `passed` lists the pairs that were open after each group, with the group's boundary.
    """

    def __init__(
        self, scores: Sequence[Floats], pairs: Sequence[tuple[int, int]], rng: np.random.Generator, plan: SequentialPlan
    ) -> None:
        self.scores, self.pairs, self.rng, self.plan = scores, pairs, rng, plan
        self.sums, self.total, self.spent = np.zeros((1, len(pairs))), 1, 0.0
        self.drawn: NDArray[np.int64] | None = None
        self.passed: list[tuple[NDArray[np.int64], float]] = []
        self.rounding = _EQUAL * max((float(np.max(np.abs(row))) for row in scores if row.size), default=0.0)

    def step(self, open_pairs: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
        """Add a group and test the open pairs; return their boundaries, and the pairs that are still open."""
        group = len(self.passed)
        self._permute(group, open_pairs)
        allowed = self.plan.alpha * (group + 1) / self.plan.groups - self.spent
        sizes = np.abs(self.sums[:, open_pairs])
        order = np.argsort(np.round(sizes[0] / (self.rounding or 1.0))[::-1], kind="stable")
        order = order.size - 1 - order  # of tied pairs the first comes last, so that it is decided first
        largest = np.maximum.accumulate(sizes[:, order], axis=1)
        boundaries = np.empty(order.size)
        for kept in range(order.size, 0, -1):
            values = largest[:, kept - 1]
            boundary = self._boundary(values, allowed)
            boundaries[order[:kept]] = boundary
            exceeding = values > boundary + self.rounding
            if not exceeding[0]:
                break
        else:
            kept = 0
        self.spent += np.count_nonzero(exceeding) / self.total
        still = np.sort(open_pairs[order[:kept]])
        self.passed.append((still, boundary))
        self._keep(still, boundary)
        return boundaries, still

    def _boundary(self, values: Floats, allowed: float) -> float:
        """Return the least of the values that at most a share `allowed` of all permutations exceeds."""
        place = values.size - 1 - min(max(int(allowed * self.total + _EQUAL), 0), values.size - 1)
        return float(np.partition(values, place)[place])

    def _keep(self, open_pairs: NDArray[np.int64], boundary: float) -> None:
        """Leave out the permutations that exceed a boundary."""
        kept = (np.abs(self.sums[:, open_pairs]) <= boundary + self.rounding).all(axis=1)
        self.sums = self.sums[kept]
        if self.drawn is not None:
            self.drawn = self.drawn[kept]

    def _permute(self, group: int, open_pairs: NDArray[np.int64]) -> None:
        """Add a group to every permutation: to all possible ones if these are few enough, else to random ones."""
        if self.plan.ways(group + 1) <= self.plan.permutations:
            block = self._every_sign() @ self._group(group, open_pairs)
            before, ways = len(self.sums), len(block)
            self.sums, self.total = np.repeat(self.sums, ways, axis=0), self.total * ways
            self.sums[:, open_pairs] += np.tile(block, (before, 1))
            return
        if self.drawn is None:
            self.total = self.plan.permutations
            self.drawn, self.sums = np.arange(self.total), np.zeros((self.total, len(self.pairs)))
            for earlier, (pairs, boundary) in enumerate(self.passed):
                self._draw(earlier, pairs)
                self._keep(pairs, boundary)
        self._draw(group, open_pairs)

    def _draw(self, group: int, pairs: NDArray[np.int64]) -> None:
        size = self.plan.group
        signs = np.full((self.plan.permutations, 2 * size), -1.0)
        firsts = np.argsort(self.rng.random(signs.shape), axis=1)[:, :size]
        firsts[0] = np.arange(size)
        np.put_along_axis(signs, firsts, 1.0, axis=1)
        self.sums[:, pairs] += signs[self.drawn] @ self._group(group, pairs)

    def _every_sign(self) -> Floats:
        """Return all assignments of a group, shape (ways, 2 runs): 1 for scores assigned to the first, else -1."""
        firsts = np.array(list(itertools.combinations(range(2 * self.plan.group), self.plan.group)))
        signs = np.full((len(firsts), 2 * self.plan.group), -1.0)
        np.put_along_axis(signs, firsts, 1.0, axis=1)
        return signs

    def _group(self, group: int, pairs: NDArray[np.int64]) -> Floats:
        """Return both algorithms' scores of a group, shape (2 runs, pairs)."""
        at = slice(group * self.plan.group, (group + 1) * self.plan.group)
        return np.array(
            [np.concatenate([self.scores[side][at] for side in self.pairs[place]]) for place in pairs.tolist()]
        ).T
