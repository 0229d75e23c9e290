"""What a run of a published algorithm takes: hours, hardware, prices and power, each as a paper assumes it.

Hours are those that one task keeps one GPU and one machine busy. Prices are US dollars an hour, power is in watts.
Nothing is a measurement: what the paper guessed stands in `Running.assumed`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any

from arcademark.errors import UnknownNameError
from arcademark.suite.tables import read_tables


@dataclass(frozen=True)
class Assumed:
    """What was guessed, in a sentence, and the fields of `Running` that rest on it.

    Once one of them is replaced it says nothing any more.
    """

    of: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class Running:
    """What one run on one task takes.

    Preemptive prices are those where the provider may stop the machine. None is not known. `training_frames` are those
    of one task; `frames_per_second` is how fast it trains, where hours follow from that; `year` that of the algorithm's
    publication, and `citation` says who says so.
    """

    name: str
    title: str
    hours_per_task: float
    gpu_price: float
    machine_price: float
    gpu_price_preemptive: float | None = None
    machine_price_preemptive: float | None = None
    gpu_watts: float | None = None
    machine_watts: float | None = None
    gpu: str = ""
    machine: str = ""
    training_frames: int | None = None
    frames_per_second: float | None = None
    year: int | None = None
    citation: str = ""
    assumed: tuple[Assumed, ...] = ()

    def replaced(self, **fields: Any) -> Running:
        """Return the same with other fields, without what was guessed of these."""
        kept = tuple(item for item in self.assumed if not fields.keys() & set(item.of))
        return replace(self, **fields, assumed=kept)


@cache
def runnings() -> Mapping[str, Running]:
    """Return what is known of published algorithms, by name."""
    return MappingProxyType({name: _running(name, **entry) for name, entry in read_tables("costs.toml").items()})


def _running(name: str, *, assumed: Sequence[Mapping[str, Any]], **entry: Any) -> Running:
    guesses = tuple(Assumed(tuple(item["of"]), item["note"]) for item in assumed)
    return Running(name=name, assumed=guesses, **entry)


def running(name: str) -> Running:
    """Return what an algorithm's run takes, "Agent-57" or "agent57"; an `UnknownNameError` where it is not known."""
    key = name.lower().replace("-", "").replace(" ", "").removesuffix("dqn")
    if key not in runnings():
        raise UnknownNameError("algorithm with known costs", name, runnings())
    return runnings()[key]
