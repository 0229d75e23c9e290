"""What an evaluation costs: hours, money, energy and carbon (Atari-5, Appendix A).

Every assumption is a parameter. It is a lower bound, without cooling, tests, tuning and failed runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from arcademark.errors import ArcadeMarkError
from arcademark.suite.costs import Running

HOURS_PER_DAY, SECONDS_PER_HOUR = 24, 3600
KILOGRAMS_PER_POUND = 0.45359237
POUNDS_PER_SHORT_TON = 2000.0
POUNDS_PER_KWH = 0.92
"""Carbon dioxide of a kilowatt-hour in the United States in 2019, as the paper takes it from the EIA."""


@dataclass(frozen=True)
class Cost:
    """What an evaluation takes.

    Parameters
    ----------
    tasks, runs : int
        Tasks, and runs (seeds) of each.
    gpu_hours : float
        Of all runs together.
    standard : float
        US dollars at the standard price.
    preemptive : float or None
        US dollars where the provider may stop the machine; None where no such price is known.
    kilowatt_hours, carbon_kilograms : float or None
        Energy, and carbon dioxide; None where the power is not known.
    """

    tasks: int
    runs: int
    gpu_hours: float
    standard: float
    preemptive: float | None
    kilowatt_hours: float | None
    carbon_kilograms: float | None


def hours(frames: float, frames_per_second: float) -> float:
    """Return how long training takes; frames a second are of all actors (Agent57's 256 × 260 are 66,560)."""
    _positive("frames", frames)
    _positive("frames a second", frames_per_second)
    return frames / frames_per_second / SECONDS_PER_HOUR


def cost(running: Running, tasks: int, *, runs: int = 1, pounds_per_kwh: float = POUNDS_PER_KWH) -> Cost:
    """Estimate what it costs to run an algorithm on so many tasks, ``runs`` times each.

    Raises
    ------
    ArcadeMarkError
        Where there are no tasks or runs, or a price, a power, a duration is no number from 0 upwards.
    """
    if tasks < 1 or runs < 1:
        raise ArcadeMarkError(f"{tasks} tasks of {runs} runs cost nothing; ask for at least one of each")
    _positive("hours a task", running.hours_per_task)
    prices = ("gpu_price", "machine_price", "gpu_price_preemptive", "machine_price_preemptive")
    for field in (*prices, "gpu_watts", "machine_watts"):
        _not_negative(field.replace("_", " "), getattr(running, field))
    _not_negative("pounds a kilowatt-hour", pounds_per_kwh)
    spent = running.hours_per_task * tasks * runs
    preemptive = _sum(running.gpu_price_preemptive, running.machine_price_preemptive)
    watts = _sum(running.gpu_watts, running.machine_watts)
    energy = None if watts is None else watts * spent / 1000.0
    return Cost(
        tasks=tasks,
        runs=runs,
        gpu_hours=spent,
        standard=spent * (running.gpu_price + running.machine_price),
        preemptive=None if preemptive is None else spent * preemptive,
        kilowatt_hours=energy,
        carbon_kilograms=None if energy is None else energy * pounds_per_kwh * KILOGRAMS_PER_POUND,
    )


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def _positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ArcadeMarkError(f"{name}: {value:g}, expected a number above 0")


def _not_negative(name: str, value: float | None) -> None:
    if value is not None and not (math.isfinite(value) and value >= 0):
        raise ArcadeMarkError(f"{name}: {value:g}, expected 0 or more")
