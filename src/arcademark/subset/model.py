"""Models that predict a summary of all of a suite's tasks from a few of them.

Aitchison, Sweetser and Hutter, "Atari-5: Distilling the Arcade Learning Environment down to Five Games" (ICML 2023),
here "Atari-5". Scores go in, and the prediction comes out, in percent of the average human.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.suite.subsets import Subset

FrameCap: TypeAlias = int | Literal["unknown"] | None


@dataclass(frozen=True)
class Estimate:
    """What a model says of an algorithm.

    Parameters
    ----------
    model, target : str
        The model's name, and what it predicts.
    value : float
        The prediction, in percent of the average human.
    relative_error : float
        The model's printed typical error, a fraction: ln(10) × its mean absolute error in log₁₀ space (Atari-5, §5.2,
        Appendix G). An average over the algorithms it was fitted to, not a limit: many err by more.
    low, high : float
        The prediction less and plus that error, undone in log space where it was measured. How far the scores
        themselves are uncertain is apart from it: see `SubsetModel.predict` on resampled scores.
    warnings : tuple of str
        Why this prediction should not be relied on; empty if nothing speaks against it.
    notes : tuple of str
        How every prediction of this model is to be read.
    """

    model: str
    target: str
    value: float
    relative_error: float
    low: float
    high: float
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class SubsetModel:
    """A linear model in log space: 10^(intercept + Σ cᵢ·log₁₀(1 + max(0, sᵢ))) − 1.

    Parameters
    ----------
    name : str
        The subset's id.
    tasks : tuple of str
        What it needs, in the order of the coefficients.
    coefficients : tuple of float
        One a task. None is negative, so that a better score never predicts less (Atari-5, Proposition 2).
    intercept : float
        0 in the published models, so that random play predicts 0 (§4.3).
    relative_error : float
        Printed typical error, a fraction.
    target : str
        What is predicted, for people.
    max_frames_per_episode : int or None
        The frame cap of the scores that the model was fitted to; None where that is not known.
    citation : str
        Where the model was published.

    Raises
    ------
    ArcadeMarkError
        Where the coefficients do not fit the tasks, or one is negative.
    """

    name: str
    tasks: tuple[str, ...]
    coefficients: tuple[float, ...]
    intercept: float
    relative_error: float
    target: str
    max_frames_per_episode: int | None
    citation: str

    def __post_init__(self) -> None:
        if len(self.coefficients) != len(self.tasks):
            raise ArcadeMarkError(
                f"model {self.name!r}: {len(self.coefficients)} coefficients, expected {len(self.tasks)}, one a task"
            )
        for task, coefficient in zip(self.tasks, self.coefficients, strict=True):
            if not coefficient >= 0:
                raise ArcadeMarkError(
                    f"model {self.name!r}: the coefficient of {task!r} is {coefficient:g}, expected 0 or more"
                )

    def predict(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Apply the formula.

        Parameters
        ----------
        scores : float array, shape (..., len(tasks))
            Human-normalised scores in percent, in the order of `tasks`. Below 0 counts as 0.

        Returns
        -------
        float array, shape (...)
            In percent of the average human; NaN where a score is.
        """
        values = np.asarray(scores, dtype=np.float64)
        logs = np.log10(1.0 + np.maximum(0.0, values))
        return np.asarray(10.0 ** (self.intercept + logs @ np.array(self.coefficients)) - 1.0)

    def estimate(self, scores: Mapping[str, float], *, max_frames_per_episode: FrameCap) -> Estimate:
        """Predict for one algorithm, with everything that a reader must know beside it.

        Parameters
        ----------
        scores : mapping of task to float
            Human-normalised scores in percent, normalised by the references that the model was fitted with. Tasks that
            the model does not use are ignored.
        max_frames_per_episode : int, None or "unknown"
            The frame cap that the scores were made under; None for no cap.

        Raises
        ------
        ArcadeMarkError
            Where a task of the model has no score; all such are named.
        """
        missing = [task for task in self.tasks if not np.isfinite(scores.get(task, np.nan))]
        if missing:
            raise ArcadeMarkError(
                f"{self.name} needs all of its {len(self.tasks)} games, and there is no score on {', '.join(missing)}; "
                f"play into the same run with 'arcademark run AGENT --games {','.join(missing)} --out DIRECTORY'"
            )
        value = float(self.predict([scores[task] for task in self.tasks]))
        return Estimate(
            model=self.name,
            target=self.target,
            value=value,
            relative_error=self.relative_error,
            low=max(0.0, (1.0 + value) * float(np.exp(-self.relative_error)) - 1.0),
            high=(1.0 + value) * float(np.exp(self.relative_error)) - 1.0,
            warnings=self._frame_cap_warnings(max_frames_per_episode),
            notes=(
                f"Compare {self.name} estimates with {self.name} estimates only: they and true medians are biased "
                "differently (Aitchison et al. 2023, §8).",
            ),
        )

    def _frame_cap_warnings(self, frame_cap: FrameCap) -> tuple[str, ...]:
        fitted = self.max_frames_per_episode
        if fitted is None or frame_cap == fitted:
            return ()
        if frame_cap == "unknown":
            return (
                f"The frame cap of these scores is not known; {self.name} holds for episodes of at most {fitted:,} "
                "frames only (Aitchison et al. 2023, §5.3, §8.1).",
            )
        made = "without a frame cap" if frame_cap is None else f"with episodes of at most {frame_cap:,} frames"
        return (
            f"These scores were made {made}, the model's data with at most {fitted:,}. Another cap changes which play "
            f"is best and which scores can be reached, so {self.name} should not be used here (Aitchison et al. 2023, "
            "§5.3, §8.1).",
        )


def from_subset(subset: Subset) -> SubsetModel:
    """Make the published model of a subset.

    Raises
    ------
    ArcadeMarkError
        Where the subset has none.
    """
    if subset.coefficients is None or subset.relative_error is None:
        raise ArcadeMarkError(
            f"subset {subset.name!r} has no published model, so nothing can be predicted from it; "
            "'arcademark info subsets' shows which have"
        )
    return SubsetModel(
        name=subset.name,
        tasks=tuple(subset.tasks),
        coefficients=tuple(subset.coefficients),
        intercept=subset.intercept,
        relative_error=subset.relative_error,
        target=f"median human-normalised score over {subset.suite}",
        max_frames_per_episode=subset.max_frames_per_episode,
        citation=subset.citation,
    )
