"""Contract of an engine: it plays jobs and returns their events in batches.

A batch is recorded before the engine is asked for the next one, so that what it reads back after a worker died (a
learner's checkpoint, a planner's episode) is never older than what was handed out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from arcademark.environments.registry import Emulator
from arcademark.records.model import Checkpoint, Unfinished
from arcademark.runs.plan import Trial
from arcademark.runs.playing.events import TrialEvent


class MissingEpisodes(Iterator[int]):
    """Numbers of episodes that are yet to be played, those below `wanted` but for those that are there, however many.

    Iterating takes them away, in order.
    """

    def __init__(self, wanted: int, there: Iterable[int] = ()) -> None:
        played = set(there)
        self._numbers = (number for number in range(wanted) if number not in played)
        self._returned: deque[int] = deque()
        self._left = wanted - len(played)

    def __len__(self) -> int:
        return self._left

    def __next__(self) -> int:
        number = self._returned.popleft() if self._returned else next(self._numbers)
        self._left -= 1
        return number

    def put_back(self, numbers: Collection[int]) -> None:
        """Put some that were taken before the others."""
        self._returned.extendleft(sorted(numbers, reverse=True))
        self._left += len(numbers)


@dataclass(frozen=True)
class Job:
    """Remaining work of a trial."""

    trial: Trial
    episodes: MissingEpisodes  # the evaluation episodes that are missing
    emulator: Emulator | None = "ale"  # what plays the game
    episode_frames: float = 1.0  # how long an episode is expected to be


Batch = Sequence[tuple[str, TrialEvent]]  # events of trials, by their ids, in order


class Memory(Protocol):
    """Recorded state of work that was begun."""

    def checkpoint(self, trial_id: str) -> Checkpoint | None:
        """Return a learner's last checkpoint, or what an agent had learnt in another run."""

    def unfinished(self, trial_id: str, episodes: Iterable[int]) -> tuple[Unfinished, ...]:
        """Return what was kept of those of these episodes that are unfinished."""


class Engine(Protocol):
    """Plays the jobs of a run."""

    def run(self, jobs: Sequence[Job], memory: Memory) -> Generator[Batch, None, None]:
        """Play all jobs, yielding what happened; a batch may be empty, and comes at least twice a second."""

    def finish(self) -> Batch:
        """End play at once, but for trainers, and learners with training episodes that no checkpoint holds.

        What had finished is returned; `run` goes on until learners have ended the episode in play, and all of these
        have handed over what they learnt.
        """

    def stop(self) -> Batch:
        """End all play at once and return what had finished by then."""


MakeEngine = Callable[..., Engine]
"""From the number of workers (None: the engine's choice), the wall seconds an episode may take (None: any), and where
the workers are to be, to an engine."""
