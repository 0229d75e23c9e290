"""Runs that were not played here: scores of logs made elsewhere, in a run's directory, marked and without actions.

A row of training is an episode of the log or, if it has only averages, one of these; the manifest records which.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.records import manifest
from arcademark.records.model import RunRecord

MARK = " [imported]"
"""Suffix of the label of every imported agent, so that no table can leave it out."""

JUDGED = "arcademark.judge"
"""Format, in the manifest, of the scores of a training judged here; its evaluations are runs of their own."""


@dataclass(frozen=True, eq=False)
class LoggedRows:
    """Episodes, or averages, in order: arrays of shape (rows,).

    Parameters
    ----------
    scores : float array
    frames : int array
        Emulated frames of each episode; for averages, those since the previous one.
    steps : int array
        Actions of each; 0 if unknown.
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
    training, evaluation : LoggedRows
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
    """Return the source of an imported run's scores; None for a run that was played here."""
    source: manifest.Imported | None = record.manifest.get("imported")
    return source


def refuse(record: RunRecord) -> None:
    """Refuse an imported run, which has no recorded actions."""
    if origin(record) is not None:
        raise ArcadeMarkError(
            f"{record.directory}: was imported from logs: it cannot be replayed or verified, because it has no "
            "actions; play the agent itself with 'arcademark run'"
        )
