"""Engine in this process, for agents that were made in it and so cannot be loaded from a file; one trial at a time.

An episode has no time limit, and the libraries of this process may use several threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence

from arcademark.environments.registry import EmulatorName
from arcademark.errors import ArcadeMarkError
from arcademark.runs.engines.base import Batch, Job, Memory
from arcademark.runs.engines.worker import failure, forget_peak, opened, peak_bytes
from arcademark.runs.plan import Trial
from arcademark.runs.playing.events import Begun, TrainedEpisode, TrainingBlock, TrialEvent, Used
from arcademark.runs.playing.trial import TrialPlayer

BATCH_SECONDS = 0.2


class InProcessEngine:
    """Plays jobs in this process; an `arcademark.runs.engines.base.Engine`."""

    def __init__(
        self,
        workers: int | None = None,
        episode_seconds: float | None = None,
        make_player: Callable[[Trial, EmulatorName | None], TrialPlayer] = TrialPlayer,
    ) -> None:
        if episode_seconds is not None:
            raise ArcadeMarkError("an agent that was made in this process has no time limit; leave it out")
        self._make_player = make_player
        self._finishing = self._unkept = False

    def run(self, jobs: Sequence[Job], memory: Memory) -> Generator[Batch, None, None]:
        """Play all jobs, yielding batches of events."""
        for job in jobs:
            batch: list[tuple[str, TrialEvent]] = []
            due = time.monotonic() + BATCH_SECONDS
            for event in self._events(job, memory):
                if not isinstance(event, Begun):
                    batch.append((job.trial.id, event))
                if time.monotonic() >= due:
                    yield batch
                    batch, due = [], time.monotonic() + BATCH_SECONDS
                    if self._finishing and not self._unkept:
                        return
            yield batch
            if self._finishing:
                return

    def finish(self) -> Batch:
        """End play, after the training episode of a learner that has progress to checkpoint."""
        self._finishing = True
        return ()

    def stop(self) -> Batch:
        """Return nothing: play ends with `run`."""
        return ()

    def _events(self, job: Job, memory: Memory) -> Iterator[TrialEvent | Begun]:
        try:
            forget_peak()
            player = self._make_player(job.trial, job.emulator)
            yield opened(player)
            checkpoint = memory.checkpoint(job.trial.id) if player.learns or job.trial.learnt else None
            self._unkept = player.trains and not (checkpoint and checkpoint.finished)
            episodes = list(job.episodes)
            unfinished = memory.unfinished(job.trial.id, episodes) if player.plans else ()
            for event in player.play(episodes, checkpoint, unfinished, lambda: self._finishing):
                if isinstance(event, TrainingBlock):
                    self._unkept = player.trains and not event.checkpoint.finished
                elif isinstance(event, TrainedEpisode):
                    self._unkept = True
                yield event
            yield Used(peak_bytes())
        except (Exception, SystemExit) as error:
            self._unkept = False
            yield failure(error)
