"""Cost of evaluations and of published algorithms' runs, as the Atari-5 paper assumes it (Appendix A).

A lower bound, without cooling, tests, tuning and failed runs. Prices are US dollars an hour, power is in watts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from arcademark.suite.tables import read_named

KILOGRAMS_PER_POUND = 0.45359237
POUNDS_PER_KWH = 0.92
"""Carbon dioxide of a kilowatt-hour in the United States in 2019, as the paper takes it from the EIA."""


@dataclass(frozen=True)
class Cost:
    """Cost of machine hours: US dollars, energy, and kilograms of carbon dioxide."""

    dollars: float
    kilowatt_hours: float
    carbon_kilograms: float


@dataclass(frozen=True)
class Running:
    """Resources of one run on one task: hours on one GPU and one machine, their prices and power.

    Preemptive prices are those where the provider may stop the machine. Watts are None where they are not known.
    `training_frames` are those of one task; `frames_per_second` is how fast it trains, of all actors together, where
    hours follow from that; `year` is that of the algorithm's publication.
    """

    name: str
    title: str
    year: int
    hours_per_task: float
    gpu_price: float
    machine_price: float
    gpu_price_preemptive: float
    machine_price_preemptive: float
    training_frames: int
    gpu_watts: float | None = None
    machine_watts: float | None = None
    frames_per_second: float | None = None


@cache
def runnings() -> Mapping[str, Running]:
    """Return what is known of published algorithms, by name: "rainbow" and "agent57"."""
    return read_named("costs.toml", Running, files("arcademark.reproduce") / "data")


def cost(hours: float, price: float, watts: float, pounds_per_kwh: float = POUNDS_PER_KWH) -> Cost:
    """Return what so many hours of a machine cost."""
    kilowatt_hours = hours * watts / 1000.0
    return Cost(hours * price, kilowatt_hours, kilowatt_hours * pounds_per_kwh * KILOGRAMS_PER_POUND)
