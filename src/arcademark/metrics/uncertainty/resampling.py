"""Classical bootstrap intervals of any function of scores.

Conventions
-----------
* Scores have shape (runs, tasks, …), NaN where missing. Each task's runs are drawn with replacement, as many as it has,
  independently of other tasks'; a run is drawn with all its further axes, such as frames.
* A function takes a list of such arrays and returns a float array of at most one axis, (values,). It is called for each
  resample, unless it supports `Resamples`.
* `arcademark.metrics.uncertainty.bootstrap` resamples this package's own statistics, with intervals that are wider for
  few runs.

Efron and Tibshirani 1993, "An Introduction to the Bootstrap", ch. 13 and 14.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError, ArcadeMarkWarning, UnknownNameError
from arcademark.metrics.power import check_share
from arcademark.metrics.uncertainty.bootstrap import AT_ONCE

Floats: TypeAlias = NDArray[np.float64]
Index: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | None
Function: TypeAlias = Callable[[Sequence[Any]], Floats]

CORRECTED = ("bc", "debiased", "bias-corrected", "bca")
METHODS = ("percentile", "basic", *CORRECTED)


class Resamples:
    """Scores of many resamples, shape (resamples, runs, tasks, …), with the interface of a single resample's scores.

    Functions that support it return results with a last axis of resamples; any other operation raises. So a user's
    function that consists only of such functions can be called once, and any other one is detected.
    """

    __array_ufunc__ = None

    def __init__(self, scores: Floats) -> None:
        self.scores = scores
        self.shape, self.ndim = scores.shape[1:], scores.ndim - 1

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("many resamples are not an array")

    def __getitem__(self, key: Any) -> Resamples:
        parts = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(part, int | np.integer | slice | EllipsisType) for part in parts):
            raise TypeError("many resamples can only be indexed by integers and slices")
        return Resamples(self.scores[:, *parts])


def admit(scores: ArrayLike) -> Floats:
    """Return scores as an array; raise if they are not numbers of shape (runs, tasks, …), warn of missing ones."""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArcadeMarkError("expected an array of numbers, shape (runs, tasks, …)") from None
    if values.ndim < 2 or not values.size:
        raise ArcadeMarkError(f"expected scores of shape (runs, tasks, …), one or more, not {values.shape}")
    if absent := np.count_nonzero(np.isnan(values)):
        text = f"{absent} of {values.size} scores are missing (NaN): each task counts the runs that it has"
        warnings.warn(text, ArcadeMarkWarning, stacklevel=5)
    return values


def generator(given: Seed) -> np.random.Generator:
    """Return the given generator, or one that is seeded by an int, or by drawing from a RandomState.

    None draws from NumPy's global state, so that ``np.random.seed`` makes results repeatable. ArcadeMarkError: another
    type, or a negative int.
    """
    source: Any = np.random if given is None else given
    if given is None or isinstance(given, np.random.RandomState):
        source = source.randint(2**32, size=4, dtype=np.uint32)
    try:
        return np.random.default_rng(source)
    except (TypeError, ValueError):
        text = f"random_state {given!r}: expected an int of 0 or more, a Generator, a RandomState or None"
        raise ArcadeMarkError(text) from None


def draw(scores: Floats, resamples: int, rng: np.random.Generator, *, tasks_too: bool = False) -> Index:
    """Draw indices of runs, shape (resamples, runs, tasks), and of tasks, shape (resamples, 1, tasks).

    Each task occurs once unless `tasks_too`. Missing scores stay missing: for a task with three of five runs, three are
    drawn, followed by those without a score.
    """
    runs, tasks = scores.shape[:2]
    columns = np.broadcast_to(np.arange(tasks), (resamples, 1, tasks))
    if tasks_too:
        columns = rng.integers(tasks, size=(resamples, 1, tasks))
    known = ~np.isnan(scores).reshape(runs, tasks, -1).all(axis=-1)
    places = rng.random((resamples, runs, tasks))  # several times as fast as integers
    if known.all():
        return (places * runs).astype(np.int64), columns
    order, sizes, nth = np.argsort(~known, axis=0, kind="stable"), known.sum(axis=0)[columns], np.arange(runs)
    return order[np.where(nth[:, np.newaxis] < sizes, places * sizes, nth[:, np.newaxis]).astype(int), columns], columns


def resampled(
    function: Function, arrays: Sequence[Floats], indices: Callable[[int], Sequence[Index]], resamples: int
) -> Floats:
    """Return a function's values for ``resamples`` resamples, shape (values, resamples).

    `indices` draws a number of resamples for each array. For some resamples of each part, the function's result for all
    resamples at once is checked against that for the resample alone.
    """
    if resamples < 1:
        raise ArcadeMarkError(f"resamples {resamples}: expected 1 or more, preferably thousands")
    step, at_once, parts = max(1, AT_ONCE // sum(one.size for one in arrays)), True, []
    for done in range(0, resamples, step):
        drawn = [one[index] for one, index in zip(arrays, indices(min(step, resamples - done)), strict=True)]
        count, values = len(drawn[0]), _at_once(function, drawn) if at_once else None
        at_once = values is not None
        if values is None:
            values = np.stack([function([one[place] for one in drawn]) for place in range(count)], axis=-1)
        parts.append(values.reshape(-1, count))
    return np.concatenate(parts, axis=-1)


def _at_once(function: Function, drawn: Sequence[Floats]) -> Floats | None:
    """Return a function's values for all resamples from one call, or None if that fails or differs for some."""
    try:
        values = function([Resamples(one) for one in drawn])
    except Exception:  # the user's function does not support them
        return None
    for place in {0, len(drawn[0]) // 2, len(drawn[0]) - 1}:
        single = function([one[place] for one in drawn])
        if values.shape != (*single.shape, len(drawn[0])):
            return None
        if not np.allclose(values[..., place], single, rtol=1e-9, atol=0, equal_nan=True):
            return None
    return values


def limits(
    function: Function,
    arrays: Sequence[Floats],
    indices: Callable[[int], Sequence[Index]],
    resamples: int,
    method: str,
    level: float,
    *,
    paired: bool,
) -> Floats:
    """Return the lower and upper limits of a function's values, shape (2, values), from draws of `resampled`.

    Parameters
    ----------
    method : str
        "percentile": quantiles of the draws. "basic": the same, mirrored at the value. "bc", also called "debiased" and
        "bias-corrected": quantiles at levels shifted by the share of draws below the value. "bca": levels shifted also
        by the acceleration, which is computed by leaving out one run at a time.
    paired : bool
        True if `indices` draws the same runs of all arrays: "bca" then leaves the same run out of all arrays at once.

    Raises
    ------
    ArcadeMarkError
        If the method is unknown, the level is not between 0 and 1, or a value or a draw is NaN.
    """
    from scipy.special import ndtr, ndtri

    if method not in METHODS:
        raise UnknownNameError("interval method", method, METHODS)
    check_share("level", level)
    value, shares = function(arrays), np.array([(1 - level) / 2, (1 + level) / 2])
    if value.ndim > 1:
        raise ArcadeMarkError(f"the function returned shape {value.shape}; expected a number or an array of one axis")
    draws = resampled(function, arrays, indices, resamples)
    if np.isnan(value).any() or np.isnan(draws).any():
        absent = sum(np.count_nonzero(np.isnan(one)) for one in arrays)
        raise ArcadeMarkError(
            f"the function returned NaN; {absent} scores are missing (NaN), which it should leave out"
        )
    value = np.atleast_1d(value)
    if method in ("percentile", "basic"):
        found = np.quantile(draws, shares, axis=1)
        return np.asarray(found if method == "percentile" else 2 * value - found[::-1])
    below = np.mean(draws < value[:, np.newaxis], axis=1)
    bias = ndtri(np.clip(below, 0.5 / draws.shape[1], 1 - 0.5 / draws.shape[1]))[:, np.newaxis]
    acceleration = _acceleration(function, arrays, paired)[:, np.newaxis] if method == "bca" else 0.0
    levels = ndtr(bias + (bias + ndtri(shares)) / (1 - acceleration * (bias + ndtri(shares))))
    return np.array([np.quantile(row, at) for row, at in zip(draws, levels, strict=True)]).T


def _acceleration(function: Function, arrays: Sequence[Floats], paired: bool) -> Floats:
    """Return each value's acceleration, shape (values,), by leaving out one run at a time (if `paired` of all)."""
    runs = [len(one) for one in arrays]
    if min(runs) < 2:
        raise ArcadeMarkError('method "bca" leaves out one run at a time; expected 2 runs or more')
    sides = [tuple(range(len(runs)))] if paired else [(side,) for side in range(len(runs))]
    cubes, squares = 0.0, 0.0
    for side in sides:
        left = np.array([
            function([np.delete(one, run, axis=0) if at in side else one for at, one in enumerate(arrays)])
            for run in range(runs[side[0]])
        ])  # fmt: skip
        deviations = left.mean(axis=0) - left
        cubes, squares = cubes + np.sum(deviations**3, axis=0), squares + np.sum(deviations**2, axis=0)
    scale = np.atleast_1d(6 * squares**1.5)
    return np.asarray(np.divide(cubes, scale, out=np.zeros(scale.shape), where=scale > 0))
