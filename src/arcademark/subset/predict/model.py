"""Models that predict a summary of all of a suite's tasks from a few of them.

Aitchison, Sweetser and Hutter, "Atari-5: Distilling the Arcade Learning Environment down to Five Games" (ICML 2023),
here "Atari-5". Scores are in percent of the average human, or between a user's own two references; predictions are in
the model's unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from msgspec import Meta
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.subset.predict.spread import Spread, conformal_half_width, highest_level
from arcademark.subset.problem import TRANSFORMS, log10_score_inverse, unchanged
from arcademark.subset.search.search import Candidate
from arcademark.suite.subsets import LEVEL, Nested, Subset, subsets

Error: TypeAlias = Annotated[float, Meta(ge=0)]
Count: TypeAlias = Annotated[int, Meta(ge=1)]
FrameCap: TypeAlias = int | Literal["unknown"] | None

PERCENT_SIGN = "%"
NOTABLE = 1.05
"""Least ratio of an interval's width to the usual one that a note mentions."""

INVERSES = {"log10": log10_score_inverse, "none": unchanged}
"""Inverses of the transforms of a target."""


@dataclass(frozen=True)
class ModelEstimate:
    """A model's estimate of an algorithm.

    Parameters
    ----------
    model, target : str
        The model's name, and the predicted quantity.
    value : float
        The prediction, in the model's unit.
    log_error : float or None
        The model's typical error, a fraction: ln(10) × its mean absolute error in log₁₀ space (Atari-5, §5.2, Appendix
        G), averaged over the algorithms it was fitted to. None for a model without a transform.
    level : float
        Coverage of the interval.
    low, high : float or None
        The prediction interval for an algorithm of another paper, with scores assumed to be exact; None if `nested` is
        None, or has too few papers for the level.
    nested : Nested or None
        Errors on papers left out when the model was chosen, which determine the interval; None if not measured.
    absolute_error : float or None
        Mean absolute error in the model's unit, for a model without a transform; otherwise None.
    unit : str
        Unit of the value: "%", "games", or "" for a plain number.
    published : bool
        True for a published model.
    warnings : tuple of str
        Reasons not to rely on this prediction; empty if there are none.
    notes : tuple of str
        Remarks that apply to every prediction of this model.
    """

    model: str
    target: str
    value: float
    log_error: float | None
    level: float
    low: float | None
    high: float | None
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    nested: Nested | None = None
    absolute_error: float | None = None
    unit: str = PERCENT_SIGN
    published: bool = True


@dataclass(frozen=True)
class SubsetModel:
    """A linear model in log space, 10^(intercept + Σ cᵢ·log₁₀(1 + max(0, sᵢ))) − 1, or of scores as they are.

    Parameters
    ----------
    name : str
        The subset's id.
    tasks : tuple of str
        Tasks whose scores it takes, in the order of the coefficients.
    coefficients : tuple of float
        One per task, none negative, so that a better score never lowers the prediction (Atari-5, Proposition 2).
    intercept : float
        0 in the published models, so that random play predicts 0 (§4.3).
    log_error : float or None
        Typical error, a fraction; None for a model without a transform.
    target : str
        Name of the predicted quantity, for people.
    max_frames_per_episode : int or None
        The frame cap of the scores that the model was fitted to; None if it is not known.
    citation : str
        Publication of the model, or the search that found it.
    transform : {"log10", "none"}
        Transform of scores and target; "none" is a linear model of untransformed scores.
    r_squared : float or None
        Cross-validated R² of the transformed target; None if it is not known.
    n : int or None
        Number of algorithms that it was fitted to.
    references : mapping of str to (float, float)
        The raw scores that are 0 % and 100 % of each of its tasks; empty for the published models, which use their
        suite's.
    nested : Nested or None
        Errors on papers left out when it was chosen; None if they were not measured.
    absolute_error : float or None
        Typical error of a model without a transform, in its unit; None for others.
    summary : str or None
        Name of the predicted quantity as ``--target`` takes it: "median"; None if it is not known.
    unit : str
        Unit of the predicted quantity: "%", "games", or "" for a plain number.
    spread : Spread or None
        Distribution of the scores that it was fitted to, by which intervals are wider for scores that extrapolate. None
        for the published models, whose intervals all have the same width.

    Raises
    ------
    UnknownNameError
        If the transform is unknown.
    ArcadeMarkError
        If tasks, coefficients, references or spread do not match, a coefficient is negative, or the typical error is
        not of the kind that the transform requires.
    """

    name: str
    tasks: Annotated[tuple[str, ...], Meta(min_length=1)]
    coefficients: tuple[float, ...]
    intercept: float
    log_error: Error | None
    target: str
    max_frames_per_episode: Count | None
    citation: str
    transform: str = "log10"
    r_squared: Annotated[float, Meta(le=1)] | None = None
    n: Count | None = None
    references: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)
    nested: Nested | None = None
    absolute_error: Error | None = None
    summary: str | None = None
    unit: str = PERCENT_SIGN
    spread: Spread | None = None

    def __post_init__(self) -> None:
        if self.transform not in INVERSES:
            raise UnknownNameError("transform", self.transform, INVERSES)
        if fault := next(self._faults(), None):
            raise ArcadeMarkError(f"model {self.name!r}: {fault}")

    def _faults(self) -> Iterator[str]:
        plain, tasks = self.transform == "none", len(self.tasks)
        if (self.log_error is None) != plain or (self.absolute_error is None) == plain:
            expected = "absolute_error, in the unit of the prediction" if plain else "log_error, a fraction"
            yield f"with transform {self.transform!r} the typical error is {expected}; give only that one"
        if self.references and (lost := [task for task in self.tasks if task not in self.references]):
            yield f"no references of {', '.join(lost)}; give two for every task"
        if same := [task for task, (low, high) in self.references.items() if low == high]:
            yield f"both references of {same[0]!r} are the same; give two scores"
        if "" in self.tasks or len(set(self.tasks)) < tasks:
            yield f"tasks is {self.tasks!r}, expected a list of different names"
        if self.spread is not None and len(self.spread.mean) != tasks:
            yield f"the mean of spread has {len(self.spread.mean)} numbers, expected {tasks}, one per task"
        if len(self.coefficients) != tasks:
            yield f"{len(self.coefficients)} coefficients, expected {tasks}, one per task"
        for task, coefficient in zip(self.tasks, self.coefficients, strict=True):
            if not coefficient >= 0:
                yield f"the coefficient of {task!r} is {coefficient:g}, expected 0 or more"

    @property
    def published(self) -> bool:
        """True if this is a published model of Atari games."""
        return not self.references and self.name in subsets()

    def predict(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Predict from normalised scores, shape (..., tasks), in percent; scores below 0 count as 0 after log10."""
        transformed = TRANSFORMS[self.transform](np.asarray(scores, dtype=np.float64))
        return INVERSES[self.transform](self.intercept + transformed @ np.array(self.coefficients))

    def estimate(
        self, scores: Mapping[str, float], *, max_frames_per_episode: FrameCap, level: float = LEVEL
    ) -> ModelEstimate:
        """Predict for one algorithm, with interval, warnings and notes.

        ``scores`` are normalised, in percent, by the references that the model was fitted with; those of other tasks
        are ignored. They are from episodes under the frame cap ``max_frames_per_episode``, None for no cap. ``level``
        is the coverage of the interval.

        Raises
        ------
        ArcadeMarkError
            If tasks of the model have no score (all are named), or the level is not between 0 and 1.
        """
        missing = [task for task in self.tasks if not np.isfinite(scores.get(task, np.nan))]
        if missing:
            raise ArcadeMarkError(
                f"{self.name} needs all of its {len(self.tasks)} games, and there is no score on {', '.join(missing)}; "
                f"play into the same run with 'arcademark run AGENT --games {','.join(missing)} --out DIRECTORY'"
            )
        inputs = [scores[task] for task in self.tasks]
        with np.errstate(over="ignore"):
            value = float(self.predict(inputs))
        if not np.isfinite(value):
            raise ArcadeMarkError(
                f"{self.name} does not predict a finite number from these scores; check them, and the coefficients"
            )
        half_width = self._half_width(inputs, level)
        return ModelEstimate(
            model=self.name,
            target=self.target,
            value=value,
            log_error=self.log_error,
            level=level,
            low=self._moved(value, -half_width),
            high=self._moved(value, half_width),
            warnings=frame_cap_warnings(self.max_frames_per_episode, max_frames_per_episode),
            notes=(self._compare(), *self._nested_notes(inputs, level)),
            nested=self.nested,
            absolute_error=self.absolute_error,
            unit=self.unit,
            published=self.published,
        )

    def _compare(self) -> str:
        text = f"Compare {self.name} estimates with {self.name} estimates only"
        if self.published:
            return f"{text}: they and true medians are biased differently (Aitchison et al. 2023, §8)."
        return f"{text}: they may be biased where true values are not."

    def _half_width(self, scores: Sequence[float], level: float) -> float:
        """Return the half-width of the interval for an algorithm of another paper, in transformed units."""
        if self.nested is None or self.spread is None:
            return conformal_half_width(self.nested.every if self.nested else (), level)
        return conformal_half_width(self.spread.errors, level) * self._extrapolation(scores)

    def _extrapolation(self, scores: Sequence[float]) -> float:
        return 1.0 if self.spread is None else self.spread.extrapolation(TRANSFORMS[self.transform](np.array(scores)))

    def _nested_notes(self, scores: Sequence[float], level: float) -> tuple[str, ...]:
        if self.nested is None:
            return (f"The errors of {self.name} on other papers were not measured, so there is no interval.",)
        half_width = self._half_width(scores, level)
        if self.log_error is None and np.isfinite(half_width):
            return ()
        text = explained(self.name, self.log_error, self.nested, level, half_width)
        if not np.isfinite(half_width) or (factor := self._extrapolation(scores)) < NOTABLE:
            return (text,)
        return (
            f"{text} That is {factor:.1f} times as wide as usual, because these scores are unlike those of the "
            "algorithms that the model was fitted to.",
        )

    def _moved(self, value: float, by: float) -> float | None:
        """Return the value moved by a distance in transformed units; None if the distance is infinite."""
        if not np.isfinite(by):
            return None
        transformed = TRANSFORMS[self.transform](np.array(value))
        moved = float(INVERSES[self.transform](transformed + by))
        moved = moved if self.transform == "none" else max(0.0, moved)
        return min(value, moved) if by < 0 else moved  # transformed units cannot represent values below 0


def frame_cap_warnings(fitted: int | None, frame_cap: FrameCap) -> tuple[str, ...]:
    """Return warnings of a model fitted to scores under one frame cap for scores under another; None is no cap.

    ``fitted`` is None if the model's cap is not known; then there are no warnings.
    """
    if fitted is None or frame_cap == fitted:
        return ()
    if frame_cap == "unknown":
        return (
            "The frame cap of these scores is not known; estimates from them are valid only for episodes of at most "
            f"{fitted:,} frames (Aitchison et al. 2023, §5.3, §8.1).",
        )
    length = "without a frame cap" if frame_cap is None else f"of at most {frame_cap:,} frames"
    return (
        f"These scores are from episodes {length}, the model's data from episodes of at most {fitted:,}. Another cap "
        "changes the best strategy and the attainable scores, so do not rely on such an estimate (Aitchison et al. "
        "2023, §5.3, §8.1).",
    )


def explained(title: str, printed: float | None, nested: Nested, level: float, half_width: float) -> str:
    """Describe the errors of estimates of the model ``title`` on papers left out when it was chosen.

    ``printed`` is its typical error, a fraction; None for a model without a transform, whose errors are not described.
    ``half_width`` is the interval's in transformed units, infinite if there are too few papers for the level.
    """
    papers = len(nested.every)
    interval = (
        f"{papers} papers are too few for a {100 * level:g} % interval; they allow one of up to "
        f"{math.floor(100 * highest_level(papers))} %."
    )
    if printed is None:
        return interval
    if math.isfinite(half_width):
        interval = (
            f"The {100 * level:g} % interval for an algorithm of another paper is the estimate divided and multiplied "
            f"by {10**half_width:.2f}."
        )
    mean, median, worst, error = (f"{100 * size:.1f}" for size in (nested.mean, nested.median, nested.worst, printed))
    return (
        f"The log error of {title}, {error} % on average, is of algorithms that its games were chosen with. If games "
        f"are chosen again without a paper, the error on that paper's algorithms is {mean} % on average (median "
        f"{median} %, worst {worst} %).{_elsewhere(nested)} {interval}"
    )


def _elsewhere(nested: Nested) -> str:
    sizes = [size for sizes in nested.other_papers for size in sizes]
    if not sizes:
        return ""
    mean, median = (100 * math.log(10) * float(of(sizes)) for of in (np.mean, np.median))
    papers = len(nested.other_papers)
    return (
        f" For {len(sizes)} algorithms of {papers} papers that are not in its table, it is {mean:.1f} % (median "
        f"{median:.1f} %)."
    )


def from_subset(subset: Subset) -> SubsetModel:
    """Return the published model of a subset; raise if it has none."""
    if subset.coefficients is None or subset.log_error is None:
        raise ArcadeMarkError(
            f"subset {subset.name!r} has no published model; leave --estimator out to predict from any games, or see "
            "'arcademark info subsets' for subsets with one"
        )
    return SubsetModel(
        name=subset.name,
        tasks=tuple(subset.tasks),
        coefficients=tuple(subset.coefficients),
        intercept=0.0,
        log_error=subset.log_error,
        target=f"median human-normalised score over {subset.suite}",
        max_frames_per_episode=subset.max_frames_per_episode,
        citation=subset.citation,
        r_squared=subset.r_squared,
        nested=subset.nested,
        summary="median",
    )


def from_candidate(
    candidate: Candidate,
    name: str,
    *,
    transform: str = "log10",
    references: Mapping[str, tuple[float, float]] | None = None,
    max_frames_per_episode: int | None = None,
    **fields: Any,
) -> SubsetModel:
    """Make the model of a subset from a search; ``fields`` and errors are those of `SubsetModel`."""
    plain = transform == "none"
    return SubsetModel(
        name=name,
        tasks=candidate.tasks,
        coefficients=candidate.coefficients,
        intercept=0.0,
        log_error=None if plain else candidate.log_error,
        absolute_error=candidate.cv_mae if plain else None,
        max_frames_per_episode=max_frames_per_episode,
        transform=transform,
        r_squared=candidate.r2,
        n=candidate.n,
        references={task: references[task] for task in candidate.tasks} if references else {},
        **fields,
    )
