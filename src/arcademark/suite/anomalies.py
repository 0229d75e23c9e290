"""Anomalies of games: where counters end, what older emulators paid or began otherwise, and play that need not end.

A score is the sum of an episode's rewards. Where rewards are the differences of a counter of so many digits, no episode
can score more than it shows: passing its end pays all of it back, or the counter stays where it is.
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

    `kind` is "counter" (`value` is the highest score that the counter can show), "factor" (older emulators paid `value`
    times the points), "endless" (play can go on for ever; None), or "differs": the scores of `paper`, its key in the
    catalogue's ``sources.toml``, are not to be set beside those of today's emulator; None, and `note` has the figures.
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
    """Return the highest score that a game's counter can show; None where there is no such end, or none is known."""
    return _value(task, "counter")


def score_range(task: str) -> tuple[float, float] | None:
    """Return the lowest and the highest score of a game, at most its counter's; None for one that is not known."""
    low, high = score_bounds(task)
    end = highest(task) if high is None else high
    return None if low is None or end is None else (low, float(end))


def factor(task: str) -> int | None:
    """Return how many times today's points older emulators paid; None where they did not, as far as is known."""
    return _value(task, "factor")


def differing(papers: Collection[str]) -> Mapping[str, Anomaly]:
    """Return, by game, where the scores of these papers are not those of today's emulator."""
    every = (one for of_task in anomalies().values() for one in of_task)
    return {one.task: one for one in every if one.kind == "differs" and one.paper in papers}


def counter_passed(task: str, reward: float) -> int:
    """Return the points that a reward takes away because the counter passed its end; 0 where it did not."""
    end = highest(task)
    period = 10 ** len(str(end)) if end else 0
    return period if period and reward < -period / 2 else 0


def endless(task: str) -> bool:
    """Return whether episodes are known that never end."""
    return any(one.kind == "endless" for one in anomalies().get(task, ()))


def _value(task: str, kind: Kind) -> int | None:
    return next((one.value for one in anomalies().get(task, ()) if one.kind == kind), None)
