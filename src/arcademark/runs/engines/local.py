"""Trials in processes of this machine.

A worker opens a trial and plays some of its missing episodes at a time: of what is left, a share that shrinks as the
end nears, so that workers which have nothing else to do help with the trials still in play (guided self-scheduling). A
learner is one worker's from its first training frame to its last episode; a planner's long episodes are given out one
at a time.

The driver hears from workers a few times a second and at the end of each episode, never at each step. A worker may die
at any moment: what it had handed over is kept; what it had not is played again, by another.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, assert_never

from arcademark.errors import ArcadeMarkError
from arcademark.runs import processes
from arcademark.runs.engines import worker
from arcademark.runs.engines.base import Batch, Failed, Job, Lost, Memory, News, Opened
from arcademark.runs.lane import Begun, Played, Trained, TrainingBlock
from arcademark.runs.store import EpisodeResult, Unfinished

WAIT_SECONDS = 0.2
MESSAGES_AT_ONCE = 256
DEATHS_ALLOWED = 3
MAKING = "making the agent"


@dataclass(eq=False)
class _Work:
    """A job on its way: `pending` episodes are nobody's yet, `players` workers have some of the others.

    `reached` tells how far unfinished episodes were ever kept: frames, and simulated frames.
    """

    job: Job
    pending: deque[int]
    opened: bool = False
    learns: bool = False
    plans: bool = False
    shareable: bool = False
    batch_size: int = 1
    players: int = 0
    deaths: int = 0
    over: bool = False
    reached: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.job.trial.id

    def note(self, kept: Unfinished) -> None:
        """Notice that an episode got further than ever before: deaths on the way there do not count."""
        now = kept.frames, kept.simulated_frames
        if now > self.reached.get(kept.episode, (0, 0)):
            self.reached[kept.episode] = now
            self.deaths = 0

    def settle(self) -> None:
        """Notice that all episodes were played."""
        self.over |= self.shareable and not (self.pending or self.players)

    def take(self, workers: int) -> tuple[int, ...]:
        """Take the next share of what is pending; a learner takes all, a planner one episode."""
        share = 1 if self.plans else math.ceil(len(self.pending) / (2 * workers))
        share = len(self.pending) if self.learns else share
        return tuple(self.pending.popleft() for _ in range(min(max(share, self.batch_size), len(self.pending))))


@dataclass(eq=False)
class _Worker:
    """A worker process as the driver sees it; `unkept`: whether training episodes ended since the last checkpoint."""

    process: subprocess.Popen[bytes]
    connection: Connection[Any, Any]
    state: Literal["idle", "opening", "playing"] = "idle"
    greeted: bool = False
    work: _Work | None = None
    outstanding: set[int] = field(default_factory=set)
    deadlines: dict[str, float] = field(default_factory=dict)
    unkept: bool = False

    def send(self, order: worker.Order) -> None:
        """Send an order; that the worker is dead will be noticed where news is read."""
        with contextlib.suppress(OSError):
            self.connection.send(order)

    def kill(self) -> str:
        """End the process with all that it started, and say how it ended."""
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        code = self.process.wait()
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


class LocalEngine:
    """Plays jobs in worker processes; an `arcademark.runs.engines.base.Engine`.

    Parameters
    ----------
    workers : int
        At most so many processes.
    episode_seconds : float or None
        Wall time that an episode, or making an agent, may take.
    """

    def __init__(self, workers: int, episode_seconds: float | None = None) -> None:
        self._limit = workers
        self._episode_seconds = episode_seconds
        self._workers: list[_Worker] = []
        self._works: list[_Work] = []
        self._false_starts = 0
        self._finishing = False

    def run(self, jobs: Sequence[Job], memory: Memory) -> Generator[Batch, None, None]:
        """Play all jobs, yielding what happened.

        Raises
        ------
        ArcadeMarkError
            If worker processes cannot be started.
        """
        self._works = [_Work(job, deque(job.episodes)) for job in jobs]
        self._memory = memory
        self._limit = min(self._limit, sum(max(1, len(job.episodes)) for job in jobs))
        try:
            while self._workers if self._finishing else not all(work.over for work in self._works):
                self._dispatch()
                batch: list[tuple[str, News]] = []
                dead = self._listen(batch)
                self._end_late(batch)
                self._end_kept(batch)
                yield batch
                if dead:
                    yield [news for member in dead for news in self._bury(member)]
        finally:
            self.stop()

    def finish(self) -> Batch:
        """End all play but that of learners which have something to hand over; return what had finished."""
        self._finishing = True
        batch: list[tuple[str, News]] = []
        for member in self._workers:
            self._hear_some(member, batch)  # episodes may have ended since the last batch
        self._end_kept(batch)
        for member in self._workers:
            member.send(worker.Stop())
        return batch

    def stop(self) -> Batch:
        """End all play at once and return what had finished by then."""
        self._finishing = True
        batch: list[tuple[str, News]] = []
        for member in list(self._workers):
            self._end(member, batch)
        return batch

    def _end(self, member: _Worker, batch: list[tuple[str, News]]) -> None:
        self._workers.remove(member)
        member.kill()
        self._hear_all(member, batch)
        member.connection.close()

    def _end_kept(self, batch: list[tuple[str, News]]) -> None:
        """Once it is to finish, end the workers that have nothing to hand over."""
        for member in list(self._workers):
            if self._finishing and not member.unkept:
                self._end(member, batch)

    # Orders

    def _dispatch(self) -> None:
        """Give idle workers something to do; start workers while there is more."""
        for member in self._workers:
            self._order(member)
        while len(self._workers) < self._limit and self._choose(None):
            self._workers.append(_start())
            self._order(self._workers[-1])

    def _order(self, member: _Worker) -> None:
        work = self._choose(member) if member.state == "idle" else None
        if work is None:
            return
        if member.work is work and not work.learns:
            self._play(member, work)
        else:
            member.work, member.state, work.opened = work, "opening", True
            if member.greeted:
                self._watch(member, MAKING)
            member.send(worker.Open(work.job.trial))

    def _choose(self, member: _Worker | None) -> _Work | None:
        """Choose the trial that the worker has open, else one that nobody has begun, else that with most left."""
        if self._finishing:
            return None
        shared = [work for work in self._works if work.shareable and work.pending and not work.over]
        if member and member.work in shared:
            return member.work
        fresh = next((work for work in self._works if not work.opened and not work.over), None)
        return fresh or max(shared, key=lambda work: len(work.pending), default=None)

    def _play(self, member: _Worker, work: _Work) -> None:
        episodes = work.take(self._limit)
        if work.over or not (episodes or work.learns):
            member.state = "idle"
            work.settle()
            return
        member.state, member.outstanding = "playing", set(episodes)
        work.players += 1
        checkpoint = self._memory.checkpoint(work.id) if work.learns else None
        unfinished = self._memory.unfinished(work.id, episodes) if work.plans else ()
        member.send(worker.Play(episodes, checkpoint, unfinished))

    # News

    def _listen(self, batch: list[tuple[str, News]]) -> list[_Worker]:
        """Wait for news, add it to the batch, and return the workers that have died."""
        for member in self._workers:
            if member.process.poll() is not None:
                member.kill()  # what the agent started would keep the connection open for ever
        ready = wait([member.connection for member in self._workers], WAIT_SECONDS)
        members = [member for member in self._workers if member.connection in ready]
        return [member for member in members if not self._hear_some(member, batch)]

    def _hear_some(self, member: _Worker, batch: list[tuple[str, News]]) -> bool:
        """Take over what a worker has sent; False once it is dead and all is taken over."""
        try:
            for _ in range(MESSAGES_AT_ONCE):
                if not member.connection.poll():
                    break
                self._hear(member, member.connection.recv(), batch)
        except (EOFError, OSError):
            return False
        return True

    def _hear_all(self, member: _Worker, batch: list[tuple[str, News]]) -> None:
        while self._hear_some(member, batch):
            pass

    def _hear(self, member: _Worker, message: worker.Message, batch: list[tuple[str, News]]) -> None:
        member.greeted, self._false_starts = True, 0
        work = member.work
        if isinstance(message, worker.Ready):
            self._watch(member, MAKING)
            return
        if work is None:
            return
        match message:
            case Begun(phase, episode):
                self._watch(member, f"{phase} episode {episode}")
                return
            case worker.Idle():
                self._rest(member, work)
                work.over |= work.learns
                work.settle()
                if member in self._workers:
                    self._order(member)
                return
            case Opened():
                self._opened(member, work, message)
            case Failed():
                self._rest(member, work)
                member.work = None
                batch += self._give_up(work, message.error)
                return
            case EpisodeResult(record):
                work.deaths = 0
                member.outstanding.discard(record.episode)
                member.deadlines.pop(f"evaluation episode {record.episode}", None)
            case TrainingBlock():
                work.deaths, member.unkept = 0, False
            case Trained():
                member.unkept = True
            case Unfinished():
                work.note(message)
            case Played():
                pass
            case _:
                assert_never(message)
        batch.append((work.id, message))

    def _opened(self, member: _Worker, work: _Work, message: Opened) -> None:
        member.deadlines.clear()
        work.learns, work.plans, work.batch_size = message.learns, message.plans, message.batch_size
        work.shareable = not message.learns
        self._play(member, work)

    def _rest(self, member: _Worker, work: _Work) -> None:
        work.players -= member.state == "playing"
        member.state, member.unkept = "idle", False
        member.outstanding.clear()
        member.deadlines.clear()

    # Failures

    def _watch(self, member: _Worker, what: str) -> None:
        """Set the time by which something must be done; training episodes come one after the other."""
        if self._episode_seconds is not None:
            kept = {key: due for key, due in member.deadlines.items() if key.startswith("evaluation")}
            member.deadlines = kept | {what: time.monotonic() + self._episode_seconds}

    def _end_late(self, batch: list[tuple[str, News]]) -> None:
        """Kill workers that take too long, for they may hang where no exception reaches, and give their trials up."""
        now = time.monotonic()
        for member in list(self._workers):
            late = [what for what, due in member.deadlines.items() if due < now]
            if late and member.work:
                work = member.work
                batch += self._give_up(work, f"{late[0]} took more than {self._episode_seconds:g} s, the limit")
                self._end(member, batch)

    def _bury(self, member: _Worker) -> list[tuple[str, News]]:
        """Take back what a dead worker had not done; a trial that only kills workers is given up."""
        if member not in self._workers:
            return []
        self._workers.remove(member)
        how, work, state = member.kill(), member.work, member.state
        member.connection.close()
        if not member.greeted:
            self._false_starts += 1
        if self._false_starts >= DEATHS_ALLOWED:
            raise ArcadeMarkError(f"worker processes die as they start ({how}); the message above may say why")
        if work is None or state == "idle" or self._finishing:
            return []
        work.pending.extendleft(sorted(member.outstanding, reverse=True))
        self._rest(member, work)
        work.opened = work.shareable
        work.settle()
        work.deaths += member.greeted
        if work.deaths < DEATHS_ALLOWED:
            return [(work.id, Lost(how))]
        error = f"the process that plays it died {work.deaths} times in a row ({how}); does the agent end it?"
        return [(work.id, Lost(how)), *self._give_up(work, error)]

    def _give_up(self, work: _Work, error: str) -> list[tuple[str, News]]:
        if work.over:
            return []
        work.over = True
        return [(work.id, Failed(error))]


def _start() -> _Worker:
    return _Worker(*processes.start(worker.main))
