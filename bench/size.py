"""What large runs and tables cost: each part prints what was measured beside the target it must keep.

Times are CPU seconds of a process of its own (children included where it starts any), memory its largest resident size;
medians over rounds.

    python bench/size.py [--parts driver,report] [--rounds 3]
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """One figure of a round: what it is of, its value, and the most it may be, in the same unit."""

    what: str
    value: float
    most: float
    unit: str


def driver() -> Iterator[Measured]:
    """Measure what a run's own process costs an episode, with few trials planned and with many."""
    for trials in (500, 20_000, 100_000):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
            first, cost = apart.submit(_drive, trials).result()
        yield Measured(f"driver, {trials:,} trials: wall time to the first episode", first, 5.0, "s")
        yield Measured(f"driver, {trials:,} trials: an episode", 1000 * cost, 1.0, "ms")


class _EnoughError(Exception):
    pass


def _drive(trials: int, episodes: int = 1000) -> tuple[float, float]:
    """Return the wall seconds to the first of some short episodes, and the CPU seconds that each further one took."""
    from arcademark.runs.events import EpisodeDone, Event
    from arcademark.runs.execution import execute
    from arcademark.runs.plan import make_plan
    from arcademark.suite.protocols import protocol

    began, ended = time.perf_counter(), list[tuple[float, float]]()

    def hear(event: Event) -> None:
        if isinstance(event, EpisodeDone):
            ended.append((time.perf_counter(), time.process_time()))
            if len(ended) > episodes:
                raise _EnoughError

    rules = protocol("world-records").override({"max_frames_per_episode": 40})
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(_EnoughError):
        execute(make_plan("random", ["toy"], rules, range(trials), episodes=3), folder, on_event=hear)
    return ended[0][0] - began, (ended[-1][1] - ended[0][1]) / (len(ended) - 1)


PARTS: dict[str, Callable[[], Iterator[Measured]]] = {"driver": driver}


def main() -> None:
    """Measure the parts asked for and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="some of: %(default)s")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    for part in asked.parts.split(","):
        rounds = [list(PARTS[part]()) for _ in range(asked.rounds)]
        for figures in zip(*rounds, strict=True):
            first, value = figures[0], statistics.median(figure.value for figure in figures)
            kept = "kept" if value <= first.most else "NOT KEPT"
            print(f"{part:8} {first.what:60} {value:10.3f} {first.unit:4} at most {first.most:g}: {kept}", flush=True)


if __name__ == "__main__":
    main()
