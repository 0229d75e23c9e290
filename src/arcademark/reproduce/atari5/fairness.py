"""Fairness of a model: relative errors of low, middle and high scorers (Atari-5, §5.4)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GROUPS = 3
LEVEL = 0.05

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LevelGroup:
    """Algorithms of about the same true value: their number, and mean, mean absolute and RMS relative error."""

    size: int
    bias: float
    absolute: float
    rms: float


@dataclass(frozen=True)
class Fairness:
    """Relative errors by groups of true value, lowest first; earlier ones are larger by one where they cannot be equal.

    P-values are of Welch's two-sided t-test for each pair of groups, (0, 1), (0, 2), (1, 2): of relative errors, of
    their sizes, of their squares.
    """

    groups: tuple[LevelGroup, ...]
    bias_p: tuple[float, ...]
    absolute_p: tuple[float, ...]
    square_p: tuple[float, ...]

    def differ(self) -> bool:
        """Tell whether any pair differs in bias or in accuracy."""
        return min(*self.bias_p, *self.absolute_p, *self.square_p) < LEVEL


def fairness(true: Floats, predicted: Floats) -> Fairness:
    """Compare the accuracy and the bias of predictions between three groups of algorithms by true value, above 0."""
    from scipy import stats

    parts = np.array_split(((predicted - true) / true)[np.argsort(true, kind="stable")], GROUPS)
    groups = (LevelGroup(len(part), part.mean(), np.abs(part).mean(), math.sqrt(np.mean(part**2))) for part in parts)
    of_pairs = (
        tuple(
            float(stats.ttest_ind(size(a), size(b), equal_var=False).pvalue)
            for a, b in itertools.combinations(parts, 2)
        )
        for size in (np.asarray, np.abs, np.square)
    )
    return Fairness(tuple(groups), *of_pairs)
