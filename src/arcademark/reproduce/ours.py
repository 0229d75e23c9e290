"""Scores of our own runs: per study a CSV file and one of learning curves, written by ``results/collect.py``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from arcademark.suite.tables import read_records


@dataclass(frozen=True)
class TrialResult:
    """A trial's score.

    episodes: That it is the mean of: of evaluation, or the last of training where that is the score.
    least, mean, most: Raw game points.
    low, high, standard_error: Of the mean, at 95 %; None of fewer than three episodes, or where none differs.
    frames: Of all episodes, training included.
    seconds: That playing them took, and learning between them.
    versions: Of what played, and of the emulator.
    checksum: Of all episodes' numbers, scores, frames and actions, training first: SHA-256, 16 digits.
    budget: Training frames asked for; 0 of what does not train, or trains for a number of episodes. A trial with fewer
        `frames` was cut off.
    simulated_frames: Emulated while planning, beyond `frames`.
    learning: Parameters of a learner beside those of `agent`, "alpha=0.5" and so on.
    snapshots: Mean scores of weights frozen before the end of training and, last, at it, over the same episodes.
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
    budget: int = 0
    simulated_frames: int = 0
    learning: tuple[str, ...] = ()
    snapshots: tuple[float, ...] = ()

    @property
    def whole(self) -> bool:
        """True if it was played to its end."""
        return self.frames >= self.budget


@dataclass(frozen=True)
class CurvePoint:
    """A trial's training so far: mean scores of the last 5, 10, … episodes, or of all where there are fewer.

    frames: Of training by the end of the last of them.
    episodes: That have ended.
    """

    agent: str
    game: str
    seed: int
    frames: int
    episodes: int
    last_5: float
    last_10: float
    last_20: float
    last_50: float
    last_100: float
    last_200: float
    last_500: float
    last_1000: float

    def last(self, k: int) -> float:
        """Return the mean of the last k episodes, one of `LAST`."""
        return float(getattr(self, f"last_{k}"))


@dataclass(frozen=True)
class Forecast:
    """Forecast of `plan` for an agent's episode.

    frames: Until the frame cap.
    simulated_frames: Emulated while planning.
    core_hours: On the machine that played it then.
    """

    agent: str
    game: str
    frames: float
    simulated_frames: float
    core_hours: float


LAST = (5, 10, 20, 50, 100, 200, 500, 1000)


@cache
def results(study: str) -> tuple[TrialResult, ...]:
    """Return a study's trials."""
    return read_records(f"{study}.csv", TrialResult, files("arcademark.reproduce") / "data")


@cache
def curves(study: str) -> tuple[CurvePoint, ...]:
    """Return a study's learning curves, ten points a trial, the last its end."""
    return read_records(f"{study}-curves.csv", CurvePoint, files("arcademark.reproduce") / "data")


@cache
def forecasts(study: str) -> tuple[Forecast, ...]:
    """Return what a study's trials were expected to take."""
    return read_records(f"{study}-forecasts.csv", Forecast, files("arcademark.reproduce") / "data")
