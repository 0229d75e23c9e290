"""Anomalies of games: ends of counters, different rewards or starts of older emulators, and endless play.

A score is the sum of an episode's rewards. If rewards are the differences of a counter with a number of digits, no
episode can score more than the counter shows: passing its end takes all points back, or the counter stops.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from arcademark.grouping import grouped
from arcademark.suite.tables import read_records
from arcademark.suite.tasks import score_bounds

Kind = Literal["counter", "factor", "endless", "differs"]

CHECKED = "0.12.1"
"""The version of ale-py whose counters these are."""


@dataclass(frozen=True)
class Anomaly:
    """An anomaly of a game, with its source.

    `kind` is "counter" (`value` is the highest score that the counter can show), "factor" (older emulators gave `value`
    times the points), "endless" (play can last forever; `value` is None), or "differs": the scores of `paper`, its key
    in the catalogue's ``sources.toml``, are not comparable with today's emulator; `value` is None, and `note` has the
    numbers.
    """

    task: str
    kind: Kind
    value: int | None = None
    source: str = ""
    note: str = ""
    paper: str = ""


@cache
def anomalies() -> Mapping[str, tuple[Anomaly, ...]]:
    """Return the anomalies of each game that has any."""
    by_task = grouped((one.task, one) for one in read_records("anomalies.csv", Anomaly))
    return {task: tuple(those) for task, those in by_task.items()}


def highest(task: str) -> int | None:
    """Return the highest score that a game's counter can show; None if there is no such limit, or none is known."""
    return _value(task, "counter")


def score_range(task: str) -> tuple[float, float] | None:
    """Return the lowest and the highest score of a game, at most its counter's; None if either is not known."""
    low, high = score_bounds(task)
    end = highest(task) if high is None else high
    return None if low is None or end is None else (low, float(end))


def factor(task: str) -> int | None:
    """Return the ratio of older emulators' points to today's; None if none is known."""
    return _value(task, "factor")


def differing(papers: Collection[str]) -> Mapping[str, Anomaly]:
    """Return by game the anomalies that make these papers' scores not comparable with today's emulator."""
    every = (one for of_task in anomalies().values() for one in of_task)
    return {one.task: one for one in every if one.kind == "differs" and one.paper in papers}


def counter_passed(task: str, reward: float) -> int:
    """Return the points that a reward takes away because the counter passed its end; 0 if it did not."""
    end = highest(task)
    period = 10 ** len(str(end)) if end else 0
    return period if period and reward < -period / 2 else 0


def endless(task: str) -> bool:
    """Return True if episodes that never end are known."""
    return any(one.kind == "endless" for one in anomalies().get(task, ()))


def _value(task: str, kind: Kind) -> int | None:
    return next((one.value for one in anomalies().get(task, ()) if one.kind == kind), None)
