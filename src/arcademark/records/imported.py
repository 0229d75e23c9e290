"""Runs that were not played here: scores of logs made elsewhere, in a run's directory, marked and without actions.

A row of training is an episode that the log has or, where it has only averages, one of these; the manifest says which.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.records import manifest
from arcademark.records.model import (
    RunRecord,
)

MARK = " [imported]"
"""Suffix of the label of every imported agent, so that no table can leave it out."""

JUDGED = "arcademark.judge"
"""The format, in the manifest, of scores of a training that was judged here; its evaluations are runs of their own."""


@dataclass(frozen=True, eq=False)
class LoggedRows:
    """Episodes, or averages, in their order: arrays of shape (rows,).

    Parameters
    ----------
    scores : float array
    frames : int array
        Emulated frames of each; of averages, those since the one before.
    steps : int array
        Actions of each; 0 where the log does not say.
    """

    scores: NDArray[np.float64]
    frames: NDArray[np.int64]
    steps: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, eq=False)
class ImportedTrial:
    """Log of one agent's training on one game with one seed.

    Parameters
    ----------
    agent, game : str
        The name without `MARK`; the game's id.
    seed : int
    training, evaluation : Rows
    episodes : int
        Number of rows that the score averages: the last of training, or all of evaluation.
    mark : str
        Suffix of the label.
    """

    agent: str
    game: str
    seed: int
    training: LoggedRows
    evaluation: LoggedRows
    episodes: int
    mark: str = field(default=MARK, kw_only=True)

    @property
    def label(self) -> str:
        """The agent's name in reports."""
        return f"{self.agent}{self.mark}"


def origin(record: RunRecord) -> manifest.Imported | None:
    """Return where an imported run's scores come from; None of a run that was played."""
    found: manifest.Imported | None = record.manifest.get("imported")
    return found


def refuse(record: RunRecord) -> None:
    """Refuse an imported run, which has no recorded actions."""
    if origin(record) is not None:
        raise ArcadeMarkError(
            f"{record.directory}: was imported from logs: it cannot be replayed or verified, because it has no "
            "actions; play the agent itself with 'arcademark run'"
        )
