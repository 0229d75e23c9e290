"""What many workers, many machines and many episodes cost: each part prints what was measured beside its target.

Medians over rounds; targets that are shares compare two ways of doing the same in the same round.

    python bench/scale.py [--parts plan,merge] [--rounds 3]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass


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


PARTS: dict[str, Callable[[], Iterator[Figure]]] = {"plan": plan}


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
