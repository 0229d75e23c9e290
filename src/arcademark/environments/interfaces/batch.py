"""Steps of several games or tasks at once: games on our emulator in C, in several threads, others in turn.

The games' records are in one array, so that a field of all of them is written and read at once. Each game has its own
record and emulator, so results do not depend on which thread plays it.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arcademark.emulator.forking import InTurn
from arcademark.environments.base import Step
from arcademark.environments.emulation.contract import StepRecord
from arcademark.environments.native import address_of
from arcademark.environments.play import GameEnvironment

if TYPE_CHECKING:
    from arcademark.environments.tasks import TaskEnvironment

_ENDED = attrgetter("ended")

GAMES_A_THREAD = 4
"""Fewer games are played faster than a thread is woken."""


def default_threads(games: int, least: int = GAMES_A_THREAD) -> int:
    """Return the number of threads for a number of games: at most one per core, each for at least `least` games."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, games // least))


def make_batch(played: Sequence[GameEnvironment | TaskEnvironment], threads: int) -> Batch:
    """Return a batch of games, or tasks, with equal actions and observations, none of which is in an episode.

    Games on our emulator are played in `threads` threads, including the caller's.
    """
    games = [game for game in played if isinstance(game, GameEnvironment) and game.batch is not None]
    return GameBatch(games, threads) if len(games) == len(played) else Batch(played)


class Batch:
    """Games or tasks that take their steps together, each in turn."""

    def __init__(self, played: Sequence[GameEnvironment | TaskEnvironment]) -> None:
        self._played = played

    def step(
        self, actions: Sequence[Any], idle: NDArray[np.bool_], out: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Play a step in each that is not `idle`, and write all observations into `out`, shape (N, ...), contiguous.

        Returns rewards, terminated and truncated, shape (N,) each. `actions` has one for each, ignored for idle ones.
        ArcadeMarkError: an action is invalid, or an episode has ended, and no step was played; or a task's environment
        raised.
        """
        playing = np.flatnonzero(~idle).tolist()
        for i in playing:
            self._played[i].prepare(actions[i])
        rewards = np.zeros(len(idle))
        terminated, truncated = np.zeros(len(idle), np.bool_), np.zeros(len(idle), np.bool_)
        for i in playing:
            rewards[i], terminated[i], truncated[i] = self._played[i].play()
        for i, each in enumerate(self._played):
            each.observe(out[i, ...])
        return rewards, terminated, truncated

    @property
    def lives(self) -> NDArray[np.int64]:
        """Lives left in each game."""
        return np.array([each.lives for each in self._played])

    @property
    def frames(self) -> NDArray[np.int64]:
        """Frames, or steps, of each episode."""
        return np.array([each.episode_frames for each in self._played])

    def close(self) -> None:
        """End the threads."""


class GameBatch(Batch):
    """Games on our emulator that take their steps together, in several threads, including the caller's."""

    def __init__(self, games: Sequence[GameEnvironment], threads: int) -> None:
        self._games = games
        array = (StepRecord * len(self._games))()
        records: NDArray[Any] = np.frombuffer(memoryview(array).cast("B"), np.dtype(StepRecord))
        self._columns = {name: records[name] for name in records.dtype.names or ()}
        for game, record in zip(self._games, (array[i] for i in range(len(array))), strict=True):
            game.move_to(record)
        self._actions = np.array([game.console_actions for game in self._games])
        self._rows = np.arange(len(self._games), dtype=np.int64)
        self._minds_lives = any(game.minds_lives for game in self._games)
        self._observed = all(game.observed for game in self._games)
        core, size = games[0].batch, ctypes.sizeof(StepRecord)
        assert core is not None
        self._crew = Crew(core, min(threads, len(games)), ctypes.addressof(array), size, len(games))

    def step(
        self, actions: Sequence[Any], idle: NDArray[np.bool_], out: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Play a step in each game that is not `idle`, as `Batch.step`."""
        games, records = self._games, self._columns
        self._choose(actions, idle)
        records["out"][:] = address_of(out) + self._rows * out.strides[0] if self._observed else 0
        lives = self.lives if self._minds_lives else None
        some_idle = True in idle.tolist()
        self._crew.play(np.flatnonzero(~idle) if some_idle else self._rows)
        rewards = records["reward"].astype(np.float64)
        terminated, truncated = records["terminated"] != 0, records["truncated"] != 0
        if some_idle:
            rewards[idle] = terminated[idle] = truncated[idle] = 0
        looked_at = (idle | terminated | truncated).nonzero()[0] if self._observed else self._rows
        for i in looked_at.tolist():
            if not idle[i]:
                games[i].finish()
            games[i].observe(out[i])
        if lives is not None:
            for i in ((records["lives"] < lives) & ~idle).nonzero()[0].tolist():
                step = Step(float(rewards[i]), bool(terminated[i]), bool(truncated[i]))
                rewards[i], terminated[i], truncated[i] = games[i].mind_lives(int(lives[i]), step)
                games[i].observe(out[i])
        return rewards, terminated, truncated

    def _choose(self, actions: Sequence[Any], idle: NDArray[np.bool_]) -> None:
        """Prepare the steps, all at once if no action is refused and no random number is drawn."""
        records, count = self._columns, self._actions.shape[1]
        numbers = np.asarray(actions)
        usual = numbers.dtype.kind in "iu" and numbers.ndim == 1 and min(actions) >= 0 and max(actions) < count
        if not usual:
            due = ~idle
        else:
            records["chosen"][:] = self._actions[self._rows, numbers]
            due = np.fromiter(map(_ENDED, self._games), np.bool_, len(self._games))
            if self._games[0].sticky:
                due |= records["next_repeat"] + records["frame_skip"] > records["repeat_count"]
            due &= ~idle
        for i in due.nonzero()[0].tolist():
            self._games[i].prepare(actions[i])

    @property
    def lives(self) -> NDArray[np.int64]:
        """Lives left in each game."""
        return self._columns["lives"].astype(np.int64)

    @property
    def frames(self) -> NDArray[np.int64]:
        """Frames of each episode."""
        return self._columns["frames"].copy()

    def close(self) -> None:
        """End the threads."""
        self._crew.close()


class Crew(InTurn):
    """Threads in C, including the caller's, that play the steps of an array of records in order.

    `records` is the address of the array, `size` the bytes per record, and `count` their number. `kept` must live until
    the threads have ended. Before the process is forked, the threads play all steps that they were given; the forked
    process has its own threads, which continue to count.
    """

    def __init__(
        self, core: ctypes.CDLL, threads: int, records: int, size: int, count: int, kept: object = None
    ) -> None:
        super().__init__()
        self._core, self._array, self._kept = core, (records, size), kept
        self._threads, self._count = threads, count
        self._earlier = self._settled = 0  # steps of the process that this one was forked from
        self._begin()

    def _begin(self) -> None:
        self._crew = self._core.console_crew(self._threads, self._count)
        if not self._crew:
            raise MemoryError(f"no memory for the steps of {self._count} games")
        self._process = os.getpid()
        weakref.finalize(self, _end, self._core, self._crew, self._process, self._kept)

    def _before_fork(self) -> None:
        self._settled = self.settle()

    def _begin_in_child(self) -> None:
        self._earlier, self._crew = self._settled, None

    def _started(self) -> Any:
        """Return the crew in C, made anew in a forked process."""
        if self._crew is None:
            self._begin()
        return self._crew

    def give(self, batch: ctypes.Structure, which: NDArray[np.int64], actions: int, strengths: int) -> None:
        """Hand over players by number, to be played into a batch with actions at an address, 0 for none."""
        at = self._array[0], address_of(which)
        with self._turns:
            self._core.console_vector_give(self._started(), ctypes.byref(batch), *at, len(which), actions, strengths)

    def hand_over(self, which: NDArray[np.int64]) -> None:
        """Hand over records by number, to be played."""
        with self._turns:
            self._core.console_crew_give(self._started(), *self._array, address_of(which), len(which))

    def wait(self, end: int, count: int) -> None:
        """Wait for the `count` handed over before number `end`, in their order; the caller plays, too."""
        with self._turns:
            if end > self._earlier:
                self._core.console_crew_wait(self._started(), end - self._earlier, count)

    def settle(self) -> int:
        """Wait for all that were handed over; return their number."""
        with self._turns:
            given: int = 0 if self._crew is None else self._core.console_crew_settle(self._crew)
            return self._earlier + given

    def play(self, which: NDArray[np.int64]) -> None:
        """Play records by number; an interrupt is raised once they are played."""
        with self._turns:
            self._core.console_crew_play(self._started(), *self._array, address_of(which), len(which))

    def close(self) -> None:
        """End the threads; callers that wait play alone from now on."""
        self._threads = 1
        if self._crew is not None and os.getpid() == self._process:
            self._core.console_crew_rest(self._crew)


def _end(core: ctypes.CDLL, crew: int, process: int, _kept: object) -> None:
    """End threads before their records are released; a forked process has none."""
    if os.getpid() == process:
        core.console_crew_end(crew)
