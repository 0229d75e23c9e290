"""Trials in worker processes, on this machine unless a subclass starts them elsewhere.

A worker plays some of an open trial's missing episodes at a time: a share of the rest that shrinks as the end nears, so
that idle workers help with the trials in play (guided self-scheduling). A learner stays with one worker; a planner's
long episodes are assigned one at a time. Workers report to the driver a few times per second and at the end of each
episode. A worker may die at any time: work that it had not reported is played again by another.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, deque
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, Protocol, assert_never

from arcademark.errors import ArcadeMarkError
from arcademark.records.model import EpisodeResult, Unfinished
from arcademark.runs.engines import processes, worker
from arcademark.runs.engines.base import Batch, Job, Memory, MissingEpisodes
from arcademark.runs.engines.processes import Blame, Ending, GarbledError, Incoming
from arcademark.runs.playing.events import (
    Begun,
    Failed,
    Lost,
    Opened,
    PlayedFrames,
    Snapshot,
    TrainedEpisode,
    TrainingBlock,
    TrialEvent,
    Used,
)
from arcademark.runs.store import provenance

WAIT_SECONDS = 0.2
FALSE_STARTS_ALLOWED = 3
MAKING = "making the agent"

DEATHS: Mapping[Blame, tuple[int, str]] = {
    "process": (
        3,
        "the process that plays it died {times} times in a row ({how}); does the agent end it, or does memory run out?",
    ),
    "node": (10, "the node that played it was lost {times} times in a row ({how}); are the nodes healthy?"),
    "memory": (1, "its node ran out of memory and ended it; a retry would need as much ({how})"),
}
"""Number of losses in a row that end a trial, and the message."""


class Link(Protocol):
    """Connection to a worker process; ``incoming`` has its messages."""

    incoming: Incoming

    def send(self, order: worker.Order) -> None:
        """Send an order; OSError if the worker is dead."""

    def arrived(self) -> Iterator[worker.Message]:
        """Yield received messages without waiting; EOFError or OSError after the last one, or a `GarbledError`."""

    def ended(self) -> bool:
        """Return True if the process is known to have ended; earlier messages may still arrive."""

    def kill(self) -> Ending:
        """End the process and all that it started; return how it ended."""

    def close(self) -> None:
        """Close the connection."""


@dataclass(eq=False)
class _Work:
    """A job in play: its pending episodes are not assigned; `players` workers play some of the others.

    `reached` is the furthest checkpoint of each unfinished episode: frames, and simulated frames.
    """

    job: Job
    opened: Opened | None = None
    players: int = 0
    deaths: Counter[Blame] = field(default_factory=Counter)
    over: bool = False
    reached: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.job.trial.id

    @property
    def pending(self) -> MissingEpisodes:
        return self.job.episodes

    def urgency(self) -> tuple[float, int]:
        """Return the priority for idle workers: long episodes first, so that the last ones are short."""
        return self.job.episode_frames, len(self.pending)

    @property
    def shareable(self) -> bool:
        """True if several workers may play it: it was opened and does not learn."""
        return self.opened is not None and not self.opened.learns

    @property
    def played(self) -> bool:
        """True if all episodes were played."""
        return self.shareable and not (self.pending or self.players)

    def take(self, opened: Opened, workers: int) -> list[int]:
        """Take the next share of the pending episodes: all of a learner, one of a planner, otherwise a fair share."""
        pending = len(self.pending)
        fair = pending if opened.learns else 1 if opened.plans else -(-pending // (2 * workers))
        return list(islice(self.pending, max(fair, opened.batch_size)))


@dataclass(eq=False)
class _Worker:
    """State of a worker process in the driver.

    `unkept`: whether training episodes ended since the last checkpoint (for a trainer: whether it trains); `fault`:
    an unexpected message that it sent.
    """

    link: Link
    state: Literal["starting", "idle", "opening", "playing"] = "starting"
    work: _Work | None = None
    outstanding: set[int] = field(default_factory=set)
    deadlines: dict[str, float] = field(default_factory=dict)
    unkept: bool = False
    fault: str = ""

    def send(self, order: worker.Order) -> None:
        """Send an order; a dead worker is noticed when events are read."""
        with contextlib.suppress(OSError):
            self.link.send(order)

    def kill(self) -> Ending:
        """End it, and return how it ended."""
        ending = self.link.kill()
        return Ending(self.fault) if self.fault else ending


class LocalEngine:
    """Engine that plays jobs in up to `workers` processes, one per core by default.

    `episode_seconds` limits the wall time of an episode, and of making an agent.
    """

    def __init__(self, workers: int | None = None, episode_seconds: float | None = None) -> None:
        self._limit = processes.available_cores() if workers is None else workers
        self._episode_seconds = episode_seconds
        self._versions = provenance.versions()
        self._workers: list[_Worker] = []
        self._fresh: deque[_Work] = deque()
        self._shared: dict[str, _Work] = {}
        self._left = 0
        self._false_starts = 0
        self._finishing = False
        self._given_up: list[tuple[str, TrialEvent]] = []  # as no order to open them could be made

    def start(self) -> Link:
        """Start a worker."""
        return processes.Process(worker.main, worker.MESSAGES)

    def heard(self, links: Sequence[Link], seconds: float) -> Collection[Link]:
        """Wait up to `seconds` for messages; return the connections with messages or with an overdue part of one."""
        heard = processes.heard(links, seconds)
        return [link for link in links if link in heard or link.incoming.broken_off]

    def opening(self, job: Job) -> worker.Open:
        """Return the order to make a job's agent."""
        return worker.Open(job.trial, job.emulator)

    def run(self, jobs: Sequence[Job], memory: Memory) -> Generator[Batch, None, None]:
        """Play all jobs, yielding batches of events."""
        self._fresh, self._left = deque(map(_Work, jobs)), len(jobs)
        self._memory = memory
        self._limit = min(self._limit, sum(max(1, len(job.episodes)) for job in jobs))
        try:
            while self._workers if self._finishing else self._left:
                self._dispatch()
                batch: list[tuple[str, TrialEvent]] = []
                dead = self._listen(batch)
                self._end_late(batch)
                self._end_kept(batch)
                batch += self._given_up
                self._given_up = []
                yield batch
                if dead:
                    yield [event for member in dead for event in self._bury(member)]
        finally:
            self.stop()

    def finish(self) -> Batch:
        """End all play except of learners with progress to checkpoint; return the events so far."""
        self._finishing = True
        batch: list[tuple[str, TrialEvent]] = []
        for member in self._workers:
            self._hear_some(member, batch)  # episodes may have ended since the last batch
        self._end_kept(batch)
        for member in self._workers:
            member.send(worker.Stop())
        return batch

    def stop(self) -> Batch:
        """End all play at once and return the events so far."""
        self._finishing = True
        batch: list[tuple[str, TrialEvent]] = []
        for member in list(self._workers):
            self._end(member, batch)
        return batch

    def _end(self, member: _Worker, batch: list[tuple[str, TrialEvent]]) -> None:
        self._workers.remove(member)
        member.kill()
        self._hear_some(member, batch)
        member.link.close()

    def _end_kept(self, batch: list[tuple[str, TrialEvent]]) -> None:
        """End the workers without progress to checkpoint, once the engine is finishing."""
        for member in list(self._workers):
            if self._finishing and not member.unkept:
                self._end(member, batch)

    # Orders

    def _dispatch(self) -> None:
        """Assign work to idle workers; start workers while more is left."""
        for member in self._workers:
            self._order(member)
        starting = sum(member.state == "starting" for member in self._workers)
        shares = 0 if self._finishing else len(self._fresh) + sum(len(work.pending) for work in self._shared.values())
        for _ in range(min(self._limit - len(self._workers), shares - starting)):
            self._workers.append(_Worker(self.start()))

    def _order(self, member: _Worker) -> None:
        while member.state == "idle" and (work := self._choose(member)):
            if member.work is work and work.opened and not work.opened.learns:
                self._play(member, work, work.opened)
                return
            if self._fresh and self._fresh[0] is work:
                self._fresh.popleft()
            try:
                order = self.opening(work.job)
            except ArcadeMarkError as error:  # its files cannot be read
                self._given_up += self._give_up(work, str(error))
                continue
            member.work, member.state = work, "opening"
            self._watch(member, MAKING)
            member.send(order)

    def _choose(self, member: _Worker) -> _Work | None:
        """Choose the trial that the worker has open, or one not begun, or the one with the longest episodes."""
        if self._finishing:
            return None
        if member.work and member.work.id in self._shared and member.work.pending:
            return member.work
        if self._fresh:
            return self._fresh[0]
        return max((work for work in self._shared.values() if work.pending), key=_Work.urgency, default=None)

    def _play(self, member: _Worker, work: _Work, opened: Opened) -> None:
        episodes = work.take(opened, self._limit)
        if work.over or not (episodes or opened.learns):
            member.state = "idle"
            self._settle(work)
            return
        member.state, member.outstanding = "playing", set(episodes)
        work.players += 1
        checkpoint = self._memory.checkpoint(work.id) if opened.learns or work.job.trial.learnt else None
        member.unkept = opened.trains and not (checkpoint and checkpoint.finished)
        unfinished = self._memory.unfinished(work.id, episodes) if opened.plans else ()
        member.send(worker.PlayEpisodes(episodes, checkpoint, unfinished))

    def _settle(self, work: _Work, over: bool = False) -> None:
        """Mark a trial as over if all its episodes were played, or it is given up (`over`)."""
        if not work.over and (over or work.played):
            work.over = True
            self._left -= 1
            self._shared.pop(work.id, None)

    # Events

    def _listen(self, batch: list[tuple[str, TrialEvent]]) -> list[_Worker]:
        """Wait for events, add them to the batch, and return the workers that have died or must be replaced."""
        ended = [member for member in self._workers if member.link.ended()]
        heard = set(self.heard([member.link for member in self._workers], 0.0 if ended else WAIT_SECONDS))
        dead = []
        for member in list(self._workers):
            if member in ended:
                member.kill()  # processes that the agent started may still run and keep the connection open
            if (member.link in heard and not self._hear_some(member, batch)) or member in ended:
                dead.append(member)
        return dead

    def _hear_some(self, member: _Worker, batch: list[tuple[str, TrialEvent]]) -> bool:
        """Handle a worker's messages; return False if no more will come."""
        try:
            for message in member.link.arrived():
                self._hear(member, message, batch)
        except (EOFError, OSError):
            return False
        except GarbledError as error:
            member.fault = f"ended, as it sent {error}"
        return not member.fault

    def _hear(self, member: _Worker, message: worker.Message, batch: list[tuple[str, TrialEvent]]) -> None:
        work = member.work
        if isinstance(message, worker.WorkerReady):
            self._compare(message.versions)
            member.state, self._false_starts = "idle", 0
            self._order(member)
            return
        if work is None:
            return
        match message:
            case Begun(phase, episode):
                self._watch(member, f"{phase} episode {episode}")
                return
            case worker.Idle():
                self._rest(member, work)
                self._settle(work, not work.shareable)
                if member in self._workers:
                    self._order(member)
                return
            case Opened():
                member.deadlines.clear()
                work.opened = message
                if work.shareable and not work.over:
                    self._shared[work.id] = work
                self._play(member, work, message)
            case Failed():
                self._rest(member, work)
                member.work = None
                batch += self._give_up(work, message.error)
                return
            case EpisodeResult(record):
                if record.trial_id != work.id or record.episode not in member.outstanding:
                    raise GarbledError("an episode that is not due")
                work.deaths.clear()
                member.outstanding.discard(record.episode)
                member.deadlines.pop(f"evaluation episode {record.episode}", None)
            case TrainingBlock(_, checkpoint):
                work.deaths.clear()
                member.unkept = bool(work.opened and work.opened.trains) and not checkpoint.finished
            case TrainedEpisode():
                member.unkept = True
            case Unfinished(episode, frames, simulated):
                if (frames, simulated) > work.reached.get(episode, (0, 0)):  # deaths on the way there do not count
                    work.reached[episode] = frames, simulated
                    work.deaths.clear()
            case PlayedFrames() | Snapshot() | Used():
                pass
            case _:
                assert_never(message)
        batch.append((work.id, message))

    def _compare(self, theirs: Mapping[str, str]) -> None:
        """Refuse workers of other versions: of another node, or of what was installed meanwhile."""
        if different := [
            f"{name} {ours} here, {theirs.get(name)} there"
            for name, ours in self._versions.items()
            if theirs.get(name) != ours
        ]:
            raise ArcadeMarkError(
                f"a worker has other versions than this command ({'; '.join(different)}); install the same everywhere, "
                "and change nothing during a run; then the same command continues it"
            )

    def _rest(self, member: _Worker, work: _Work) -> None:
        work.players -= member.state == "playing"
        member.state, member.unkept = "idle", False
        member.outstanding = set()
        member.deadlines.clear()

    # Failures

    def _watch(self, member: _Worker, what: str) -> None:
        """Set the deadline of an episode, or of making the agent; training episodes come one after the other."""
        if self._episode_seconds is not None:
            kept = {key: due for key, due in member.deadlines.items() if key.startswith("evaluation")}
            member.deadlines = kept | {what: time.monotonic() + self._episode_seconds}

    def _end_late(self, batch: list[tuple[str, TrialEvent]]) -> None:
        """Kill workers past their deadline, as they may hang, and give up their trials."""
        now = time.monotonic()
        for member in list(self._workers):
            late = [what for what, due in member.deadlines.items() if due < now]
            if late and member.work:
                work = member.work
                batch += self._give_up(work, f"{late[0]} took more than {self._episode_seconds:g} s, the limit")
                self._end(member, batch)

    def _bury(self, member: _Worker) -> list[tuple[str, TrialEvent]]:
        """Take back the work of a dead worker; give up a trial that only kills workers."""
        if member not in self._workers:
            return []
        self._workers.remove(member)
        ending, work, state = member.kill(), member.work, member.state
        member.link.close()
        self._false_starts += state == "starting" and ending.blame == "process"
        if self._false_starts >= FALSE_STARTS_ALLOWED:
            raise ArcadeMarkError(f"worker processes die as they start ({ending.how}); the message above may say why")
        if work is None or state == "idle" or self._finishing:
            return []
        work.pending.put_back(member.outstanding)
        self._rest(member, work)
        self._settle(work)
        work.deaths[ending.blame] += 1
        times, (allowed, message) = work.deaths[ending.blame], DEATHS[ending.blame]
        if times < allowed:
            if not (work.shareable or work.over):
                self._fresh.appendleft(work)
            return [(work.id, Lost(ending.how))]
        return [(work.id, Lost(ending.how)), *self._give_up(work, message.format(times=times, how=ending.how))]

    def _give_up(self, work: _Work, error: str) -> list[tuple[str, TrialEvent]]:
        if work.over:
            return []
        self._settle(work, over=True)
        return [(work.id, Failed(error))]
