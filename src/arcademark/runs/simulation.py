"""How long work would take with so many workers: the decisions of the engines, on a clock of its own.

As in `arcademark.runs.engines.pool`, a worker stays with the trial that it has open, else begins the next one in the
order given, else helps with that of the longest episodes, and takes as many as `arcademark.runs.engines.base.share`
says. A worker that fails loses what it had in play, and another comes back some time later; what it lost is played
again. Failures are simulated by ``bench/scale.py`` only.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

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
    lost: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.mean = float(np.mean(self.episodes)) if len(self.episodes) else 0.0

    @property
    def pending(self) -> int:
        """Episodes that nobody plays yet."""
        return len(self.episodes) - self.begun + len(self.lost)

    def take(self, workers: int) -> list[int]:
        """Take the next share away."""
        most = share(self.pending, workers, self.batch_size, learns=self.learns, plans=self.plans)
        again, self.lost = self.lost[:most], self.lost[most:]
        first, self.begun = self.begun, self.begun + most - len(again)
        return [*again, *range(first, self.begun)]


@dataclass(frozen=True)
class Simulated:
    """How work went.

    seconds: From the start to the end of the last episode.
    efficiency: What the work alone takes, over what all workers together could have done in that time.
    failures: Of workers.
    """

    seconds: float
    efficiency: float
    failures: int


@dataclass(eq=False)
class _Worker:
    load: Load | None = None
    share: list[tuple[float, int]] = field(default_factory=list)
    """When each episode that it plays ends, and its number."""
    turn: int = 0  # how often it was given something, or failed: what was due in an earlier turn is void
    training_ends: float = 0.0


def simulate(
    loads: Sequence[Load],
    workers: int,
    *,
    starting_seconds: float = 0.0,
    failures_per_hour: float = 0.0,
    away_seconds: float = 0.0,
    rng: np.random.Generator | None = None,
) -> Simulated:
    """Play loads, once, in the order given.

    Parameters
    ----------
    loads : sequence of Load
    workers : int
    starting_seconds : float
        What a worker takes until it plays.
    failures_per_hour : float
        Of all workers together, as a Poisson process; needs `rng`.
    away_seconds : float
        Until there is another in the place of a worker that failed.
    """
    return _Simulation(loads, workers, starting_seconds, away_seconds).run(failures_per_hour / HOUR, rng)


class _Simulation:
    def __init__(self, loads: Sequence[Load], workers: int, starting: float, away: float) -> None:
        work = sum(load.training + float(np.sum(load.episodes)) for load in loads)
        self._limit = min(workers, sum(max(1, len(load.episodes)) for load in loads))
        self._work, self._workers = work, workers
        self._fresh, self._shared = [*reversed(loads)], dict[int, Load]()
        self._away = away + starting
        self._all = [_Worker() for _ in range(self._limit)]
        self._due = [(starting, number, 0) for number in range(self._limit)]
        self._idle: list[int] = []
        self._playing = 0
        self._ended = 0.0

    def run(self, rate: float, rng: np.random.Generator | None) -> Simulated:
        failures = 0
        failing = inf if rng is None or not rate else rng.exponential(1 / rate)
        while self._due and (self._playing or self._fresh or any(load.pending for load in self._shared.values())):
            if rng is not None and failing < self._due[0][0]:
                self._fail(int(rng.integers(self._limit)), failing)
                failures += 1
                failing += rng.exponential(1 / rate)
            else:
                now, number, turn = heapq.heappop(self._due)
                if turn == self._all[number].turn:
                    self._free(number, now)
                    self._order([number, *self._idle], now)
        most = self._workers * self._ended
        return Simulated(self._ended, self._work / most if most else 1.0, failures)

    def _free(self, number: int, now: float) -> None:
        worker = self._all[number]
        if worker.share or worker.training_ends:
            self._playing -= 1
            self._ended = max(self._ended, now)
        worker.share, worker.training_ends = [], 0.0

    def _fail(self, number: int, now: float) -> None:
        """Put back what a worker had not handed over; a learner's training goes on from where it was."""
        worker = self._all[number]
        if worker.load and (worker.share or worker.training_ends):
            self._playing -= 1
            load = worker.load
            load.lost += [episode for end, episode in worker.share if end > now]
            if load.learns:
                load.training = max(0.0, worker.training_ends - now)
                self._fresh.append(load)
            else:
                self._shared[id(load)] = load
        if number in self._idle:
            self._idle.remove(number)
        worker.load, worker.share, worker.training_ends = None, [], 0.0
        worker.turn += 1
        heapq.heappush(self._due, (now + self._away, number, worker.turn))
        self._order(self._idle, now)

    def _order(self, numbers: Sequence[int], now: float) -> None:
        """Give workers something to do; the others are idle."""
        self._idle = [number for number in dict.fromkeys(numbers) if not self._begin(number, now)]

    def _begin(self, number: int, now: float) -> bool:
        worker = self._all[number]
        load = self._choose(worker)
        if load is None:
            return False
        worker.load, worker.turn = load, worker.turn + 1
        if self._fresh and self._fresh[-1] is load:
            self._fresh.pop()
            if not load.learns:
                self._shared[id(load)] = load
        trained = now + load.training
        worker.training_ends = trained if load.training else 0.0
        slots = [trained] * load.batch_size
        for episode in load.take(self._limit):
            end = heapq.heappop(slots) + load.episodes[episode] * load.batch_size
            heapq.heappush(slots, end)
            worker.share.append((end, episode))
        if load.begun == len(load.episodes) and not load.lost:
            self._shared.pop(id(load), None)
        self._playing += 1
        heapq.heappush(self._due, (max(slots), number, worker.turn))
        return True

    def _choose(self, worker: _Worker) -> Load | None:
        if worker.load and worker.load.pending and id(worker.load) in self._shared:
            return worker.load
        if self._fresh:
            return self._fresh[-1]
        return max(self._shared.values(), key=lambda load: (load.mean, load.pending), default=None)
