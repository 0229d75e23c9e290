"""Estimates for a whole suite from a few games: from any games, or by a published subset's model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from arcademark import wording
from arcademark.analysis import measures
from arcademark.analysis.subsets.models import ANY, short_title
from arcademark.metrics.uncertainty import intervals
from arcademark.subset.predict.calibration import Covered
from arcademark.subset.predict.model import FrameCap, frame_cap_warnings, from_subset
from arcademark.subset.problem import log10_score, log10_score_inverse
from arcademark.suite import subsets, tasks
from arcademark.suite.subsets import LEVEL, Subset

Seeds = Mapping[str, Sequence[NDArray[np.float64]]]
"""Arrays of episodes' scores, one per seed, by task."""

METHOD: intervals.Method = "symmetric"
"""Method of an estimate's interval over runs (`arcademark.metrics.uncertainty.intervals.interval`)."""

_model = cache(from_subset)


WIDEST = 20.0
"""Largest ratio of an interval's limits (in percent plus 1) for which an estimate is reported: 0 % (random play)
to 19 %, or 50 % to 1,000 %."""


@dataclass(frozen=True)
class Estimate:
    """Estimate for a whole suite from some of its games, or the reason for having none.

    subset, title: Source of the estimate: "any" and "5 games", or a published model, "atari-5" and "Atari-5".
    suite: "atari-57", or "atari-100k".
    value: Estimated median human-normalised score of the suite in percent; None if games are missing, or if the
        interval reaches below all medians for which errors are known (`below`).
    level: Coverage of the interval.
    low, high: The prediction interval for an algorithm of another paper, from errors on papers left out; None without.
    printed_log_error: Typical log error printed with a published model, a fraction, over the algorithms of its fit.
    sampling_low, sampling_high: 95 % bootstrap interval of the value over runs (episodes for a game with one run),
        without the prediction error.
    nested_log_error: Our measurement of the mean log error on papers left out when games were chosen, a fraction.
    covered: From any games: coverage of such intervals on published algorithms, each predicted without its paper.
    left_out: From any games: the paper left out of the training data, because this algorithm is from it; "" if none is.
    missing: Names of the subset's games without a score, the reason for having no value.
    warnings: Reasons not to rely on it; empty if there are none.
    """

    subset: str
    title: str
    suite: str
    value: float | None = None
    level: float = LEVEL
    low: float | None = None
    high: float | None = None
    printed_log_error: float | None = None
    sampling_low: float | None = None
    sampling_high: float | None = None
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    nested_log_error: float | None = None
    covered: Covered | None = None
    left_out: str = ""

    @property
    def below(self) -> bool:
        """True if the value is only known to lie below the upper end of its interval."""
        return self.value is None and self.high is not None

    @property
    def headline(self) -> str:
        """The value in words: "70.0 %", or "below 5.21 %"."""
        return f"below {wording.percent(self.high)}" if self.below else wording.percent(self.value)

    @property
    def telling(self) -> bool:
        """True if the estimate is informative: its interval is at most as wide as `WIDEST`."""
        if self.low is None or self.high is None:
            return self.value is not None and self.printed_log_error is not None
        return 1.0 + self.high <= WIDEST * (1.0 + self.low)

    @property
    def interval(self) -> str:
        """The prediction interval in words."""
        return wording.between(self.low, self.high)

    @property
    def errors(self) -> str:
        """The printed error and, after a comma, the error on papers that were left out when games were chosen."""
        if self.value is None or self.printed_log_error is None:
            return wording.MISSING
        errors = [self.printed_log_error, *([] if self.nested_log_error is None else [self.nested_log_error])]
        return ", ".join([*(wording.number(100 * each) for each in errors[:-1]), wording.share(errors[-1])])


def published(name: str | None) -> Subset | None:
    """Return the subset of a model's name, None for `ANY` or no name; raise for a subset without a model."""
    if name is None or name.lower() == ANY:
        return None
    found = subsets.subset(name)
    _model(found)
    return found


def exactly(games: Collection[str]) -> Subset | None:
    """Return the subset of exactly these games that has a published model; None if there is none."""
    models = (subset for subset in subsets.subsets().values() if subset.coefficients is not None)
    return next((subset for subset in models if set(subset.tasks) == set(games)), None)


def from_any(algorithm: str, paper: str, suite: str, played: Seeds, frame_cap: FrameCap, seed: int) -> Estimate | None:
    """Estimate a suite's median human-normalised score from the played games, resampling runs with this seed.

    The algorithm's paper, or that of an algorithm with its name, is left out of the training data. Returns None if no
    game is missing, or all are. ``frame_cap`` is that of the protocol; None for no cap. The interval over runs
    linearises log estimates in log scores about the played scores.
    """
    from arcademark.analysis.subsets import predictors

    predictor = predictors.atari(suite)
    seeds = {task: played[task] for task in predictor.tasks if task in played}
    if not seeds or len(seeds) == len(predictor.tasks):
        return None
    scores = {task: intervals.score(runs) for task, runs in seeds.items()}
    left_out = predictor.group(algorithm, paper)
    median, covered = predictor.median(scores, LEVEL, left_out)
    low, high = None, None
    if median.value is not None and all(sum(map(len, runs)) > 1 for runs in seeds.values()):
        slopes, middle = predictor.slopes(scores), float(log10_score(median.value))
        logs = log10_score(measures.hns(list(scores.values()), list(seeds)))

        def predict(percent: NDArray[np.float64]) -> NDArray[np.float64]:
            return log10_score_inverse(middle + (log10_score(percent) - logs) @ slopes)

        low, high = _sampled(seeds, predict, seed)
    warnings = frame_cap_warnings(predictor.max_frames_per_episode, frame_cap)
    return Estimate(
        ANY,
        wording.plural(len(seeds), "game"),
        suite,
        median.value,
        low=median.low,
        high=median.high,
        sampling_low=low,
        sampling_high=high,
        warnings=warnings,
        covered=covered,
        left_out=left_out or "",
    )


def from_model(subset: Subset, played: Seeds, frame_cap: FrameCap, seed: int) -> Estimate:
    """Estimate the suite's median human-normalised score by a subset's model, resampling runs with this seed.

    If games of the subset are missing, the estimate has no value and names them. ``frame_cap`` is as for `from_any`.
    """
    title, suite = short_title(subset), tasks.suite(subset.suite).name
    missing = tuple(tasks.games()[task].name for task in subset.tasks if task not in played)
    if missing:
        nested = subset.nested.mean if subset.nested else None
        return Estimate(
            subset.name, title, suite, printed_log_error=subset.log_error, missing=missing, nested_log_error=nested
        )
    model = _model(subset)
    seeds = {task: played[task] for task in model.tasks}
    scores = measures.hns([intervals.score(runs) for runs in seeds.values()], model.tasks)
    estimate = model.estimate(dict(zip(model.tasks, scores, strict=True)), max_frames_per_episode=frame_cap)
    low, high = _sampled(seeds, model.predict, seed)
    return Estimate(
        subset.name,
        title,
        suite,
        estimate.value,
        low=estimate.low,
        high=estimate.high,
        printed_log_error=estimate.log_error,
        sampling_low=low,
        sampling_high=high,
        warnings=estimate.warnings,
        nested_log_error=estimate.nested.mean if estimate.nested else None,
    )


def _sampled(
    seeds: Seeds, predict: Callable[[NDArray[np.float64]], NDArray[np.float64]], seed: int
) -> tuple[float | None, float | None]:
    """Return the interval over runs of a prediction from scores in percent, shape (..., tasks), clipped at 0.

    Its ends are None if nothing varied.
    """

    def statistic(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return predict(measures.hns(scores, list(seeds)))

    found = intervals.interval(seeds, statistic, np.random.default_rng(seed), method=METHOD)
    if found.low is None or found.low == found.high:
        return None, None
    return max(0.0, found.low), found.high
