"""The score table: algorithm × task × run, with what is missing left missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ScoreTable:
    """Raw scores of algorithms on tasks.

    Parameters
    ----------
    algorithms : tuple of str
        Names along axis 0, unique.
    tasks : tuple of str
        Names along axis 1, unique.
    scores : float array, shape (len(algorithms), len(tasks), runs)
        One score a run (on Atari: the mean over a trial's episodes), in the task's own unit; NaN where missing.
        Ragged runs are padded with NaN.
    protocols : tuple of str
        The label of the protocol each algorithm was scored under, "" if unknown.
    sources : tuple of str
        Where each algorithm's scores come from: a run directory, a file, a paper.
    """

    algorithms: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: NDArray[np.float64]
    protocols: tuple[str, ...]
    sources: tuple[str, ...]
