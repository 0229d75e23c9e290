"""Stratified bootstrap intervals and performance profiles by rliable's names (Agarwal et al. 2021, §4).

Conventions
-----------
* Scores have shape (runs, tasks, …); `arcademark.metrics.uncertainty.resampling` describes how they are drawn.
* Draws come from `random_state`, or `seed`, which is an alias: an int, a Generator or a RandomState, which is advanced;
  by default NumPy's global state, so that ``np.random.seed`` has an effect.
* A function that uses only `arcademark.rliable.metrics` is computed for many resamples at once; any other for each.
* An `ArcadeMarkError` is raised if scores have no axis of tasks, the method is unknown, a number is out of bounds, or a
  function returns NaN.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError, ArcadeMarkWarning
from arcademark.metrics.uncertainty import resampling
from arcademark.metrics.uncertainty.resampling import Floats, Index, Seed
from arcademark.rliable import metrics
from arcademark.rliable.metrics import Scores

Array: TypeAlias = NDArray[Any]


class StratifiedBootstrap:
    """Resamples of the runs of every task, with the same runs for all arrays, which have equal numbers of both.

    Arrays passed by name are attributes. They and `data`, `pos_data`, `kw_data` and `index` are those of the last
    resample of `bootstrap`.

    Parameters
    ----------
    *args, **kwargs : array, shape (runs, tasks, …)
    random_state, seed : int, Generator or RandomState, optional
    task_bootstrap : bool, optional
        True to draw tasks, too.
    """

    _paired = True

    def __init__(
        self, *args: Array, random_state: Seed = None, task_bootstrap: bool = False, seed: Seed = None, **kwargs: Array
    ) -> None:
        self._rng = _one_of(random_state, seed)
        self._tasks_too, self._names = task_bootstrap, tuple(kwargs)
        self._arrays, self.index = [resampling.admit(one) for one in (*args, *kwargs.values())], None
        if not self._arrays or {*dir(self), "data", "pos_data", "kw_data"} & {*kwargs}:
            raise ArcadeMarkError("expected arrays of scores, none of them named like an attribute")
        self._hold(self._arrays)

    def update_indices(self) -> Any:
        """Draw one resample's indices: runs, shape (runs, tasks), and tasks, shape (1, tasks)."""
        self._indices = [(runs[0], tasks[0]) for runs, tasks in self._draw(1)]
        return self._indices[0]

    def bootstrap(self, reps: int) -> Iterator[tuple[tuple[Floats, ...], dict[str, Floats]]]:
        """Yield ``reps`` resamples: the positional arrays, and those passed by name."""
        for _ in range(reps):
            self.index = self.update_indices()
            yield self._hold([one[index] for one, index in zip(self._arrays, self._indices, strict=True)])

    def apply(self, func: Callable[..., Any], reps: int = 1000) -> Floats:
        """Return a function's values for ``reps`` resamples, shape (reps, values)."""
        return resampling.resampled(self._caller(func), self._arrays, self._draw, reps).T

    def conf_int(self, func: Callable[..., Any], reps: int = 1000, method: str = "basic", size: float = 0.95) -> Floats:
        """Return the limits of a function's values, shape (2, values), by `resampling.limits`."""
        return resampling.limits(self._caller(func), self._arrays, self._draw, reps, method, size, paired=self._paired)

    def _draw(self, count: int) -> list[Index]:
        return [resampling.draw(self._arrays[0], count, self._rng, tasks_too=self._tasks_too)] * len(self._arrays)

    def _caller(self, func: Callable[..., Any]) -> resampling.Function:
        def call(arrays: Sequence[Any]) -> Floats:
            placed, named = self._split(arrays)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ArcadeMarkWarning)  # the constructor warned of missing scores
                return np.asarray(func(*placed, **named), np.float64)

        return call

    def _split(self, parts: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        placed = len(parts) - len(self._names)
        return tuple(parts[:placed]), dict(zip(self._names, parts[placed:], strict=True))

    def _hold(self, arrays: Sequence[Floats]) -> tuple[tuple[Floats, ...], dict[str, Floats]]:
        self.data = self.pos_data, self.kw_data = self._split(arrays)
        self.__dict__.update(self.kw_data)
        return self.data


class StratifiedIndependentBootstrap(StratifiedBootstrap):
    """Independent resamples of several arrays, which may have different numbers of runs.

    `index` has the indices of the positional arrays, and of those passed by name.
    """

    _paired = False

    def update_indices(self) -> Any:
        """Draw one resample's indices of every array."""
        super().update_indices()
        return self._split(self._indices)

    def _draw(self, count: int) -> list[Index]:
        if self._tasks_too:
            raise ArcadeMarkError("task_bootstrap draws the tasks of one array, not of several")
        return [resampling.draw(one, count, self._rng) for one in self._arrays]


def get_interval_estimates(
    score_dict: Mapping[str, Array] | Mapping[str, Sequence[Array]], func: Callable[..., Any],
    method: str = "percentile", task_bootstrap: bool = False, reps: int = 50000,
    confidence_interval_size: float = 0.95, random_state: Seed = None, seed: Seed = None,
) -> tuple[dict[str, Any], dict[str, Floats]]:  # fmt: skip
    """Return a function's value for each algorithm's scores, and its stratified bootstrap interval.

    Parameters
    ----------
    score_dict : mapping of str to array, shape (runs, tasks, …), or to a sequence of such arrays
        Arrays of a sequence are resampled independently, and are the function's arguments.
    func : callable
        Function of scores that returns a number or an array of one axis, shape (values,).
    method : {"percentile", "basic", "bc", "bca"}, optional
        As for `arcademark.metrics.uncertainty.resampling.limits`.
    task_bootstrap : bool, optional
        True to draw tasks, too; not for sequences.

    Returns
    -------
    point_estimates : dict of str to the function's value
    interval_estimates : dict of str to float array, shape (2, values)
    """
    points, intervals, rng = {}, {}, _one_of(random_state, seed)
    for name, scores in score_dict.items():
        several = not isinstance(scores, np.ndarray)
        kind, arrays = (StratifiedIndependentBootstrap, scores) if several else (StratifiedBootstrap, (scores,))
        drawn = kind(*arrays, random_state=rng, task_bootstrap=task_bootstrap)
        intervals[name] = drawn.conf_int(func, reps, method, confidence_interval_size)
        points[name] = func(*drawn.pos_data)
    return points, intervals


def run_score_deviation(scores: Scores, tau: ArrayLike) -> Any:
    """Return the fraction of all runs above each threshold, in the shape of ``tau``."""
    return metrics.profile(scores, tau, average=False)


def mean_score_deviation(scores: Scores, tau: ArrayLike) -> Any:
    """Return the fraction of tasks whose mean over runs is above each threshold, in the shape of ``tau``."""
    return metrics.profile(scores, tau, average=True)


score_distributions, average_score_distributions = run_score_deviation, mean_score_deviation


def create_performance_profile(
    score_dict: Mapping[str, Array], tau_list: ArrayLike, use_score_distribution: bool = True,
    custom_profile_func: Callable[..., Any] | None = None, method: str = "percentile", task_bootstrap: bool = False,
    reps: int = 2000, confidence_interval_size: float = 0.95, random_state: Seed = None, seed: Seed = None,
) -> tuple[dict[str, Any], dict[str, Floats]]:  # fmt: skip
    """Return each algorithm's performance profile, and its interval at every threshold.

    Parameters
    ----------
    score_dict : mapping of str to array, shape (runs, tasks, …)
    tau_list : array, shape (thresholds,)
    use_score_distribution : bool, optional
        True to count runs, False to count tasks by their means over runs.
    custom_profile_func : callable, optional
        Function of scores and thresholds that returns another profile, shape (thresholds,).

    Returns
    -------
    profiles : dict of str to float array, shape (thresholds,)
    profile_cis : dict of str to float array, shape (2, thresholds)
    """
    counted = score_distributions if use_score_distribution else average_score_distributions
    profile = custom_profile_func or counted
    how = (method, task_bootstrap, reps, confidence_interval_size, random_state, seed)
    return get_interval_estimates(score_dict, lambda scores: profile(scores, tau_list), *how)


def _one_of(random_state: Seed, seed: Seed) -> np.random.Generator:
    if random_state is not None and seed is not None:
        raise ArcadeMarkError("random_state and seed are aliases; pass only one of them")
    return resampling.generator(seed if random_state is None else random_state)
