"""Whether a model is fair: how its relative errors differ between low, middle and high scorers (Atari-5, §5.4)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError

GROUPS = 3
LEVEL = 0.05

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """Algorithms of about the same true value, lowest first, and mean, mean absolute and RMS relative error."""

    places: tuple[int, ...]
    bias: float
    absolute: float
    rms: float


@dataclass(frozen=True)
class Fairness:
    """Relative errors by groups of true value, lowest first; earlier ones are larger by one where they cannot be equal.

    P-values are of Welch's two-sided t-test for each pair of groups, (0, 1), (0, 2), (1, 2), …: of relative errors, of
    their sizes, of their squares.
    """

    groups: tuple[Group, ...]
    bias_p: tuple[float, ...]
    absolute_p: tuple[float, ...]
    square_p: tuple[float, ...]

    def differ(self, level: float = LEVEL) -> bool:
        """Tell whether any pair differs in bias or in accuracy."""
        return min(*self.bias_p, *self.absolute_p, *self.square_p) < level


def fairness(true: ArrayLike, predicted: ArrayLike, groups: int = GROUPS) -> Fairness:
    """Compare the accuracy and the bias of predictions between groups (the paper's three) of algorithms by true value.

    Raises
    ------
    ArcadeMarkError
        Where shapes differ, a value is missing, a true value is not above 0, or a group would have fewer than two.
    """
    values, guesses = np.asarray(true, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if values.ndim != 1 or values.shape != guesses.shape:
        raise ArcadeMarkError(
            f"true values of shape {values.shape} and predictions of shape {guesses.shape} do not pair"
        )
    if not (np.isfinite(values) & np.isfinite(guesses) & (values > 0)).all():
        raise ArcadeMarkError("relative errors need a prediction and a true value above 0 of every algorithm")
    if groups < 2 or len(values) < 2 * groups:
        raise ArcadeMarkError(f"{len(values)} algorithms do not make {groups} groups of at least two")
    errors = (guesses - values) / values
    places = np.array_split(np.argsort(values, kind="stable"), groups)
    pairs = tuple(itertools.combinations([errors[part] for part in places], 2))
    return Fairness(
        groups=tuple(_group(part.tolist(), errors[part]) for part in places),
        bias_p=tuple(_welch(a, b) for a, b in pairs),
        absolute_p=tuple(_welch(np.abs(a), np.abs(b)) for a, b in pairs),
        square_p=tuple(_welch(a**2, b**2) for a, b in pairs),
    )


def _group(places: list[int], errors: Floats) -> Group:
    rms = math.sqrt(float(np.mean(errors**2)))
    return Group(tuple(places), float(np.mean(errors)), float(np.mean(np.abs(errors))), rms)


def _welch(a: Floats, b: Floats) -> float:
    from scipy import stats

    if np.ptp(a) == 0 == np.ptp(b):
        return 1.0 if a[0] == b[0] else 0.0
    return float(stats.ttest_ind(a, b, equal_var=False).pvalue)
