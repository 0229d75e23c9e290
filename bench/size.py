"""What large runs and tables cost: each part prints what was measured beside the target it must keep.

Times are CPU seconds of a process of its own (children included where it starts any), memory its largest resident size;
medians over rounds.

    python bench/size.py [--parts driver,report] [--rounds 3]
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """One figure of a round: what it is of, its value, and the most it may be, in the same unit."""

    what: str
    value: float
    most: float
    unit: str


PARTS: dict[str, Callable[[], Iterator[Measured]]] = {}


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
