"""What many workers, many machines and many episodes cost: each part prints what was measured beside its target.

Medians over rounds; targets that are shares compare two ways of doing the same in the same round.

    python bench/scale.py [--parts plan,merge] [--rounds 3]
"""

from __future__ import annotations

import argparse
import functools
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from size import record, spent

TRIAL_SECONDS = 60.0


@dataclass(frozen=True)
class Figure:
    """One figure of a round: what it is of, its value, and the target that it must keep, in the same unit."""

    what: str
    value: float
    unit: str
    target: float
    at_least: bool = False  # whether the target is the least it may be, not the most

    def kept(self, value: float) -> bool:
        """Tell whether a value of it keeps the target."""
        return value >= self.target if self.at_least else value <= self.target


def plan() -> Iterator[Figure]:
    """Measure planning 10^5 trials, with their ids."""
    from arcademark.runs.plan import make_plan

    began = time.perf_counter()
    trials = make_plan("random", "atari-57", seeds=1755).trials
    assert len({trial.id for trial in trials}) == len(trials)
    yield Figure(f"plan of {len(trials):,} trials with their ids", time.perf_counter() - began, "s", 2.0)


def timed(*arguments: object) -> tuple[float, float]:
    """Return the seconds that an ``arcademark`` command takes and the megabytes that it holds at most."""
    began = time.perf_counter()
    megabytes = spent(*arguments)[1]
    return time.perf_counter() - began, megabytes


@functools.cache
def recorded(games: int, seeds: tuple[int, ...], episodes: int, steps: int = 10) -> Path:
    """Write a run of made-up scores once for all rounds."""
    record(directory := Path(FOLDER.name, str(hash((games, seeds, episodes, steps)))), games, seeds, episodes, steps)
    return directory


def merge() -> Iterator[Figure]:
    """Merge four runs of 250,000 episodes, of 10 random actions each (18 bytes) and of 1,000 (590 bytes)."""
    for steps in (10, 1000):
        parts = [recorded(50, tuple(range(first, first + 5)), 1000, steps) for first in (0, 5, 10, 15)]
        with tempfile.TemporaryDirectory(dir=FOLDER.name) as folder:
            seconds, _ = timed("merge", Path(folder, "out"), *parts)
        yield Figure(f"merge of 1,000,000 episodes of {steps:,} actions", 1e6 / seconds, "rows/s", 1e5, at_least=True)


def report() -> Iterator[Figure]:
    """Show ten million episodes."""
    large = recorded(57, (0, 1, 2, 3, 4), 35_088)
    seconds, megabytes = timed("report", large)
    yield Figure("report on 10,000,080 episodes", seconds, "s", 20.0)
    yield Figure("report on 10,000,080 episodes: memory", megabytes, "MB", 1024.0)


def export() -> Iterator[Figure]:
    """Write ten million episodes as Parquet."""
    large = recorded(57, (0, 1, 2, 3, 4), 35_088)
    with tempfile.TemporaryDirectory(dir=FOLDER.name) as folder:
        seconds, megabytes = timed("export", large, "--out", Path(folder, "episodes.parquet"))
    yield Figure("export of 10,000,080 episodes", seconds, "s", 120.0)
    yield Figure("export of 10,000,080 episodes: memory", megabytes, "MB", 512.0)


def ray() -> Iterator[Figure]:
    """Measure two trials of a minute on Ray beside the same on the local engine, each with two workers."""
    from arcademark.runs.events import Event, Progress
    from arcademark.runs.execution import execute
    from arcademark.runs.plan import make_plan

    def seconds(engine: str, seeds: int, episodes: int) -> tuple[float, float]:
        """Return the seconds of a run, and those of its play, which begins with the first frames."""
        begun: list[float] = []

        def listen(event: Event) -> None:
            if isinstance(event, Progress) and event.frames and not begun:
                begun.append(time.perf_counter())

        with tempfile.TemporaryDirectory() as folder:
            before = time.perf_counter()
            made = make_plan("random", "pong", seeds=seeds, episodes=episodes)
            assert execute(made, Path(folder) / "run", engine=engine, workers=seeds, on_event=listen).complete
            after = time.perf_counter()
        return after - before, after - begun[0]

    episodes = round(TRIAL_SECONDS / (seconds("local", 1, 100)[1] / 100))
    local, local_play = seconds("local", 2, episodes)
    there, play = seconds("ray", 2, episodes)
    what = f"two trials of {local_play:.0f} s on Ray, of the local engine's speed"
    yield Figure(what, local_play / play, "times", 0.97, at_least=True)
    yield Figure("Ray's start and end, beside the local engine's", there - play - (local - local_play), "s", 20.0)


FOLDER = tempfile.TemporaryDirectory(prefix="scale-")
PARTS: dict[str, Callable[[], Iterator[Figure]]] = {
    "plan": plan,
    "merge": merge,
    "report": report,
    "export": export,
    "ray": ray,
}


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
            target = f"at {'least' if first.at_least else 'most'} {first.target:g}"
            kept = "kept" if first.kept(value) else "NOT KEPT"
            print(f"{part:10} {first.what:60} {value:12.3f} {first.unit:9} {target}: {kept}", flush=True)


if __name__ == "__main__":
    main()
