"""Contract of an engine: it plays jobs and returns their events in batches.

A batch is recorded before the next one is requested, so that state read back after a worker died (a
learner's checkpoint, a planner's episode) is never older than the events returned.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from arcademark.environments.registry import EmulatorName
from arcademark.records.model import Checkpoint, Unfinished
from arcademark.runs.plan import Trial
from arcademark.runs.playing.events import TrialEvent


class MissingEpisodes(Iterator[int]):
    """Numbers of missing episodes: those below `wanted` that are not in `played`; lazy, as there may be many.

    Iterating removes them, in order.
    """

    def __init__(self, wanted: int, played: Iterable[int] = ()) -> None:
        known = set(played)
        self._numbers = (number for number in range(wanted) if number not in known)
        self._returned: deque[int] = deque()
        self._left = wanted - len(known)

    def __len__(self) -> int:
        return self._left

    def __next__(self) -> int:
        number = self._returned.popleft() if self._returned else next(self._numbers)
        self._left -= 1
        return number

    def put_back(self, numbers: Collection[int]) -> None:
        """Put removed numbers back before the others."""
        self._returned.extendleft(sorted(numbers, reverse=True))
        self._left += len(numbers)


@dataclass(frozen=True)
class Job:
    """Remaining work of a trial."""

    trial: Trial
    episodes: MissingEpisodes  # the evaluation episodes that are missing
    emulator: EmulatorName | None = "ale"  # what plays the game
    episode_frames: float = 1.0  # how long an episode is expected to be


Batch = Sequence[tuple[str, TrialEvent]]  # events of trials, by their ids, in order


class Memory(Protocol):
    """Recorded state of work that was begun."""

    def checkpoint(self, trial_id: str) -> Checkpoint | None:
        """Return a learner's last checkpoint, or that of its training in another run."""

    def unfinished(self, trial_id: str, episodes: Iterable[int]) -> tuple[Unfinished, ...]:
        """Return the kept states of those of these episodes that are unfinished."""


class Engine(Protocol):
    """Plays the jobs of a run."""

    def run(self, jobs: Sequence[Job], memory: Memory) -> Generator[Batch, None, None]:
        """Play all jobs, yielding batches of events at least twice per second; a batch may be empty."""

    def finish(self) -> Batch:
        """End play at once, except of trainers, and of learners with training episodes that are in no checkpoint.

        Events so far are returned; `run` continues until these learners have ended the episode in play, and all have
        returned a checkpoint.
        """

    def stop(self) -> Batch:
        """End all play at once and return the events so far."""


MakeEngine = Callable[..., Engine]
"""Makes an engine of the number of workers (None: the engine's choice), the wall seconds that an episode may take
(None: any), and the address and GPUs of the workers."""
