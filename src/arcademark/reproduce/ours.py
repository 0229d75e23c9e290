"""What our own runs of the papers' agents scored: a CSV file a study, written by ``results/collect.py``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from arcademark.suite.tables import read_records


@dataclass(frozen=True)
class TrialResult:
    """A trial's evaluation.

    least, mean, most: Raw game points.
    low, high, standard_error: Of the mean, at 95 %; None of fewer than three episodes, or where none differs.
    frames: Of all episodes.
    seconds: That playing them took.
    versions: Of what played, and of the emulator.
    checksum: Of all episodes' numbers, scores, frames and actions: SHA-256, 16 digits.
    """

    agent: str
    game: str
    seed: int
    episodes: int
    least: float
    mean: float
    most: float
    low: float | None = None
    high: float | None = None
    standard_error: float | None = None
    frames: int = 0
    seconds: float = 0.0
    versions: str = ""
    checksum: str = ""


@cache
def results(study: str) -> tuple[TrialResult, ...]:
    """Return a study's trials."""
    return read_records(f"{study}.csv", TrialResult, files("arcademark.reproduce") / "data")
