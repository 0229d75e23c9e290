"""How long work would take with so many workers: the decisions of the engines, on a clock of its own.

As in `arcademark.runs.engines.pool`, a worker stays with the trial that it has open, else begins the next one in the
order given, else helps with that of the longest episodes, and takes as many as `arcademark.runs.engines.base.share`
says.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from arcademark.runs.engines.base import share

HOUR = 3600.0


@dataclass(eq=False)
class Load:
    """A trial: how many seconds a worker needs for its training, and for each of its episodes."""

    episodes: Sequence[float] | NDArray[np.float64]
    training: float = 0.0
    learns: bool = False
    plans: bool = False
    batch_size: int = 1
    mean: float = field(init=False)
    begun: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.mean = float(np.mean(self.episodes)) if len(self.episodes) else 0.0

    @property
    def pending(self) -> int:
        """Episodes that nobody plays yet."""
        return len(self.episodes) - self.begun

    def take(self, workers: int) -> range:
        """Take the next share away."""
        first = self.begun
        self.begun += share(self.pending, workers, self.batch_size, learns=self.learns, plans=self.plans)
        return range(first, self.begun)


@dataclass(frozen=True)
class Simulated:
    """How work went.

    seconds: From the start to the end of the last episode.
    efficiency: What the work alone takes, over what all workers together could have done in that time.
    """

    seconds: float
    efficiency: float


def simulate(loads: Sequence[Load], workers: int, *, starting_seconds: float = 0.0) -> Simulated:
    """Play loads, once, in the order given.

    Parameters
    ----------
    loads : sequence of Load
    workers : int
    starting_seconds : float
        What a worker takes until it plays.
    """
    work = sum(load.training + float(np.sum(load.episodes)) for load in loads)
    limit = min(workers, sum(max(1, len(load.episodes)) for load in loads))
    fresh, shared, opened = [*reversed(loads)], dict[int, Load](), dict[int, Load]()
    due, ended = [(starting_seconds, number) for number in range(limit)], 0.0
    while due:
        now, number = heapq.heappop(due)
        load = opened.get(number)
        if load is None or id(load) not in shared:
            if fresh:
                load = fresh.pop()
                if not load.learns:
                    shared[id(load)] = load
            else:
                load = max(shared.values(), key=lambda load: (load.mean, load.pending), default=None)
        if load is None:
            continue
        opened[number] = load
        slots = [now + load.training] * load.batch_size
        for episode in load.take(limit):
            heapq.heapreplace(slots, slots[0] + load.episodes[episode] * load.batch_size)
        if not load.pending:
            shared.pop(id(load), None)
        heapq.heappush(due, (max(slots), number))
        if max(slots) > now:
            ended = max(ended, max(slots))
    most = workers * ended
    return Simulated(ended, work / most if most else 1.0)
