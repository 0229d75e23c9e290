"""What an engine is: something that plays jobs and hands back what happened, in batches.

A batch is recorded before the engine is asked for the next one, so that what it reads back after a worker died (a
learner's checkpoint, a planner's episode) is never older than what was handed out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol

from msgspec import Meta

from arcademark.environments.registry import Emulator
from arcademark.records.model import Checkpoint, EpisodeResult, Unfinished
from arcademark.runs.plan import Trial
from arcademark.runs.playing.slot import PlayedFrames, TrainedEpisode, TrainingBlock
from arcademark.suite.settings import MAX_FRAMES_PER_ACTION

Count = Annotated[int, Meta(ge=1)]
Interval = Annotated[int, Meta(ge=1, le=MAX_FRAMES_PER_ACTION)]


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
    """What is left to do of a trial."""

    trial: Trial
    episodes: MissingEpisodes  # the evaluation episodes that are missing
    emulator: Emulator | None = "ale"  # what plays the game
    episode_frames: float = 1.0  # how long an episode is expected to be


@dataclass(frozen=True)
class Opened:
    """A trial's agent was made."""

    frames_per_action: Interval | None  # what the agent asks for instead of the protocol's ``frame_skip``
    learns: bool
    batch_size: Count  # how many episodes the agent plays at once
    plans: bool = False  # whether the agent is a planner
    trains: bool = False  # whether it is a trainer: it learns, and may be kept at any moment
    trained_frames: Count | None = None  # what a network was trained for, as its file says
    libraries: tuple[str, ...] = ()  # modules of `arcademark.runs.store.provenance.libraries`
    draws: bool | None = None  # whether the agent draws random numbers, if it says so


@dataclass(frozen=True)
class Failed:
    """A trial was given up, and why, in one line."""

    error: str


@dataclass(frozen=True)
class Lost:
    """The process that played a trial died; what it had not handed over is played again."""

    reason: str


TrialEvent = Opened | PlayedFrames | EpisodeResult | TrainedEpisode | TrainingBlock | Unfinished | Failed | Lost
Batch = Sequence[tuple[str, TrialEvent]]  # events of trials, by their ids, in order


class Memory(Protocol):
    """What is recorded of work that was begun."""

    def checkpoint(self, trial_id: str) -> Checkpoint | None:
        """Return a learner's last checkpoint, or what an agent had learnt in another run."""

    def unfinished(self, trial_id: str, episodes: Iterable[int]) -> tuple[Unfinished, ...]:
        """Return what was kept of those of these episodes that are unfinished."""


class Engine(Protocol):
    """Where trials run."""

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
