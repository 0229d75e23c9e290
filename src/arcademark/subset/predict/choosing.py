"""Choice of the most informative few tasks: those with the least residual variance of a summary.

Conventions
-----------
* The variance is that of a linear prediction, from a covariance of all tasks' transformed scores and the summary. The
  covariance is the mean of that of the distribution of all tasks (`arcademark.subset.predict.joint`), and that of the
  algorithms themselves, with missing scores imputed by that distribution. The first alone is too smooth, the second
  alone overfits; any weight from 30 to 60 % chooses about as well (``docs/research/estimates.md``).
* The weight of a group is the square root of its number of algorithms.
* Tasks are added one by one, the best each time, then exchanged, one or two at a time, while the subset improves.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, combinations, islice

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.subset.predict.any_tasks import MEDIAN, Quantity, Trained
from arcademark.subset.problem import Floats

SHARE = 0.5
"""Weight of the algorithms' own covariance."""
DRAWS = 4000
AT_ONCE = 10_000
"""Number of subsets that are compared at once."""
SEED = 1982


def choose(
    trained: Trained,
    size: int,
    quantity: Quantity = MEDIAN,
    without: str | None = None,
) -> tuple[str, ...]:
    """Choose the tasks that predict a quantity best, in the order of all tasks.

    The group ``without`` is left out of the training data.

    Raises
    ------
    ArcadeMarkError
        If ``size`` is not between 0 and the number of tasks.
    """
    tasks = trained.joint.tasks
    if not 0 < size < len(tasks):
        raise ArcadeMarkError(f"{size} tasks to choose of {len(tasks)}; expected at least one, and fewer than all")
    spread = covariance(trained, quantity, without)
    chosen: list[int] = []
    for _ in range(size):
        chosen = _best(spread, [[*chosen, place] for place in range(len(tasks)) if place not in chosen])
    for number in (1, 2):
        while (better := _exchanged(spread, chosen, number)) != chosen:
            chosen = better
    return tuple(tasks[place] for place in sorted(chosen))


def covariance(trained: Trained, quantity: Quantity = MEDIAN, without: str | None = None) -> Floats:
    """Return the covariance of transformed scores and, last, a quantity, shape (tasks + 1, tasks + 1)."""
    joint, transform = trained.but(without), trained.transformed
    noise = np.random.default_rng(SEED).standard_normal((DRAWS, len(joint.tasks)))
    drawn = joint.mean + noise @ np.linalg.cholesky(joint.covariance).T
    places = np.arange(len(joint.tasks))
    expected = _covariance(drawn, transform(quantity.of(trained.back(drawn), places)), np.ones(DRAWS))
    rows = [row for row, group in enumerate(trained.groups) if group != without and trained.fitted[row]]
    groups = [trained.groups[row] for row in rows]
    logs, truths = np.empty((len(rows), len(places))), np.empty(len(rows))
    for row, percent in enumerate(trained.percent[rows]):
        known = np.isfinite(percent)
        truths[row] = transform(quantity.of(percent[np.newaxis, known], np.flatnonzero(known)))[0]
        logs[row] = transform(percent)
        conditional = joint.conditional(known)
        logs[row, conditional.missing] = joint.expected(conditional, logs[row])
    observed = _covariance(logs, truths, np.array([groups.count(group) ** -0.5 for group in groups]))
    return (1 - SHARE) * expected + SHARE * observed


def _covariance(scores: Floats, targets: Floats, weights: Floats) -> Floats:
    both = np.column_stack([scores, targets])
    return np.asarray(np.cov(both, rowvar=False, aweights=weights, ddof=0))


def _exchanged(spread: Floats, chosen: list[int], number: int) -> list[int]:
    """Return the best of the chosen subset and of all that differ from it in ``number`` tasks."""
    others = [place for place in range(len(spread) - 1) if place not in chosen]
    kept = [list(some) for some in combinations(chosen, len(chosen) - number)] if number <= len(chosen) else []
    exchanged = ([*some, *new] for some in kept for new in combinations(others, number))
    return _best(spread, chain([chosen], exchanged))


def _best(spread: Floats, subsets: Iterable[list[int]]) -> list[int]:
    """Return the subset that explains most of the last variable's variance; among equals the first."""
    most, best, waiting = -np.inf, [], iter(subsets)
    while some := list(islice(waiting, AT_ONCE)):
        every = np.array(some)
        with_target = spread[every, -1]
        among = spread[every[:, :, np.newaxis], every[:, np.newaxis, :]]
        explained = np.einsum("ij,ij->i", with_target, np.linalg.solve(among, with_target[..., np.newaxis])[..., 0])
        if explained.max() > most:
            most, best = float(explained.max()), some[int(np.argmax(explained))]
    return best
