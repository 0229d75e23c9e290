"""How fast an agent plays on this machine: some of a trial in a process of its own; nothing is kept of it.

What plays at one pace is told by some seconds. A planner is told by whole decisions, before which it may plan for
seconds: by the first of an episode, which finds nothing planned, and by those that follow. What they cost depends on
where the game stands, so they are sampled all along an episode of random play::

    random play ──┬──────────┬──────────┬──→ …
                  first      first      first
                  └ later …  └ later …  └ later …      each from where the one before led

A planner's seconds are those in which its process had a core or waited for anything but one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from arcademark.agents.adapters import CheckedPlanner
from arcademark.environments.registry import Emulator
from arcademark.errors import ArcadeMarkError
from arcademark.runs.engines import processes
from arcademark.runs.engines.base import Failed, Opened
from arcademark.runs.engines.worker import failure, opened
from arcademark.runs.plan import Trial
from arcademark.runs.playing.slot import Played, episode_rng
from arcademark.runs.playing.trial import Player
from arcademark.runs.store.reading import Amount, Seconds

if TYPE_CHECKING:
    from arcademark.environments.emulation.generative import GenerativeModel, State

SECONDS = 2.0  # of play
PATIENCE_SECONDS = 60.0  # for an agent to be made, and to play anything
MOST_PLAYED = 10_000  # episodes, of which the seconds hold fewer

PLANNED_SECONDS = 600.0  # of all games' decisions together, after which no other is sampled
LEAST_SECONDS, MOST_SECONDS = 10.0, 60.0  # of one game's
PLANNER_PATIENCE_SECONDS = 1800.0
RANDOM_SECONDS = 2.0  # of random play
EIGHTHS = (4, 2, 6, 1, 5, 3, 7)
"""In which parts of the random episode decisions are sampled, in this order."""
SHARE = 0.25  # of the seconds that are spent at one place at most
LATER = 250  # decisions that follow the first at one place, at most


@dataclass(frozen=True)
class Decisions:
    """Decisions of a planner, all together."""

    count: Amount = 0
    frames: Amount = 0  # that their actions were played for
    simulated_frames: Amount = 0
    seconds: Seconds = 0.0

    def __add__(self, other: Decisions) -> Decisions:
        return Decisions(
            self.count + other.count,
            self.frames + other.frames,
            self.simulated_frames + other.simulated_frames,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True)
class Sampled:
    """What decisions took: the first of episodes, and those that followed at each place, by place.

    A place counts as much as another, however many decisions it took to tell. Where no episode went on these are the
    first ones.
    """

    first: Decisions
    later: tuple[Decisions, ...]


@dataclass(frozen=True)
class Speed:
    """What an agent did in some seconds.

    opened: What is known of the agent, once it was made.
    starting_seconds: Until the process had started and the agent was made; but for planners, until it began to play.
    seconds: Of play after that.
    played: In these.
    sampled: Decisions, of a planner, whose seconds and what it played are theirs.
    """

    opened: Opened
    starting_seconds: float
    seconds: float
    played: Played
    sampled: Sampled | None = None


MESSAGES: tuple[type, ...] = (Opened, Failed, Played, Sampled)


def measure(
    asked: Sequence[tuple[Trial, Emulator | None]],
    workers: int = 1,
    follow: Callable[[int, int], None] = lambda *_: None,
) -> list[Speed]:
    """Measure trials, in training if their agents learn, each in a process of its own, so many at once.

    Parameters
    ----------
    asked : sequence of (Trial, Emulator or None)
    workers : int
    follow : callable
        Is told how many are measured, and of how many.

    Raises
    ------
    ArcadeMarkError
        If a trial fails, or plays nothing in `PATIENCE_SECONDS`; a planner nothing in `PLANNER_PATIENCE_SECONDS`.
    """
    seconds = min(MOST_SECONDS, max(LEAST_SECONDS, PLANNED_SECONDS / len(asked)))
    waiting, playing, found = deque(enumerate(asked)), dict[int, _Process](), dict[int, Speed]()
    try:
        while len(found) < len(asked):
            while waiting and len(playing) < workers:
                number, one = waiting.popleft()
                playing[number] = _Process(*one, seconds)
            processes.heard([process.channel for process in playing.values()], 0.1)
            for number, process in [*playing.items()]:
                if speed := process.speed():
                    found[number] = speed
                    playing.pop(number).end()
                    follow(len(found), len(asked))
    finally:
        for process in playing.values():
            process.end()
    return [speed for _, speed in sorted(found.items())]


class _Process:
    """A process that is measured."""

    def __init__(self, trial: Trial, emulator: Emulator | None, seconds: float) -> None:
        self._where = f"{trial.agent.label} on {trial.game}"
        self._began = time.perf_counter()
        self._patience = PATIENCE_SECONDS
        self._opened: tuple[float, Opened] | None = None
        self._told: list[tuple[float, Played]] = []
        self._process, self.channel = processes.start(serve, MESSAGES)
        with suppress(OSError):  # that it died is noticed below
            self.channel.send((trial, emulator, seconds))

    def end(self) -> None:
        """End the process."""
        processes.kill(self._process)
        self.channel.close()

    def speed(self) -> Speed | None:
        """Return how fast it is, once that can be told; ArcadeMarkError if it cannot."""
        try:
            for message in self.channel.arrived():
                match message:
                    case Opened(plans=plans):
                        self._opened = time.perf_counter(), message
                        self._patience = PLANNER_PATIENCE_SECONDS if plans else PATIENCE_SECONDS
                    case Failed(error):
                        raise ArcadeMarkError(f"{self._where} cannot be measured: {error}")
                    case Played():
                        self._told.append((time.perf_counter(), message))
                    case Sampled(first, later) if self._opened:
                        then, known = self._opened
                        every = sum(later, first)
                        played = Played(every.frames, every.simulated_frames, every.count)
                        return Speed(known, then - self._began, every.seconds, played, message)
        except (EOFError, OSError, processes.GarbledError):
            raise ArcadeMarkError(f"{self._where} cannot be measured: the process that played it died") from None
        return self._over_some_seconds()

    def _over_some_seconds(self) -> Speed | None:
        now, began = time.perf_counter(), self._told[0][0] if self._told else self._began
        if now - began < (SECONDS if len(self._told) > 1 else self._patience):
            return None
        played = sum((event for _, event in self._told[1:]), Played(0))
        if self._opened is None or not played.frames:
            raise ArcadeMarkError(
                f"{self._where}: too little is played in {self._patience:g} s to tell how fast; give --assume rate=N"
            )
        return Speed(self._opened[1], began - self._began, self._told[-1][0] - began, played)


def serve(descriptor: int) -> None:
    """Play the trial that comes in at a socket, and tell what is done: a process of `measure`."""
    channel = processes.serving(descriptor, MESSAGES)
    with suppress(EOFError, ConnectionError):  # nobody asks any longer
        try:
            trial, emulator, seconds = channel.receive()
            player = Player(trial, emulator)
            channel.send(opened(player))
            if player.plans:
                channel.send(sample(player, seconds))
            for event in player.play(range(MOST_PLAYED)) if not player.plans else ():
                if isinstance(event, Played):
                    channel.send(event)
        except (Exception, SystemExit) as error:
            channel.send(failure(error))


def sample(player: Player, seconds: float) -> Sampled:
    """Have a planner decide here and there in an episode, for so many seconds where it takes long."""
    planner, model = cast(CheckedPlanner, player.agent), player.model
    assert model is not None
    rng = episode_rng(player.trial.seed, "evaluation", 0, "agent")
    first, later, spent = Decisions(), list[Decisions](), 0.0
    for place in _places(player, rng):
        if later and spent > seconds:
            break
        decision, state = _decide(planner, model, place, True, rng)
        first, here = first + decision, Decisions()
        while state is not None and here.count < LATER:
            if here.count and decision.seconds + here.seconds > SHARE * seconds:
                break
            another, state = _decide(planner, model, state, False, rng)
            here += another
        later += [here] if here.count else []
        spent += decision.seconds + here.seconds
    return Sampled(first, tuple(later) or (first,))


def _places(player: Player, rng: np.random.Generator) -> Iterator[State]:
    """Play at random, and yield where the game stood at several times."""
    from arcademark.environments.emulation.generative import snapshot

    environment = player.open()
    environment.reset(episode_rng(player.trial.seed, "evaluation", 0, "environment"))
    kept: list[State] = []
    steps, every, ended = 0, 1, False
    until = _seconds() + RANDOM_SECONDS
    while not ended and _seconds() < until:
        if steps % every == 0:
            kept.append(snapshot(environment))
        if len(kept) == 16:
            kept, every = kept[::2], 2 * every
        step = environment.step(int(rng.integers(environment.spec.num_actions)))
        steps, ended = steps + 1, step.terminated or step.truncated
    for number in dict.fromkeys(len(kept) * eighth // 8 for eighth in EIGHTHS):
        yield kept[number]


def _decide(
    planner: CheckedPlanner, model: GenerativeModel, state: State, first: bool, rng: np.random.Generator
) -> tuple[Decisions, State | None]:
    """Have a planner decide, and play what it chose; return what that took, and where it led unless it ended."""
    planning = planner.plan(model, state, first, rng)
    model.use(rng)
    model.restore(state)
    before, began = model.frames, _seconds()
    while True:
        try:
            next(planning)
        except StopIteration as end:
            action = int(end.value)
            break
    simulated = model.frames - before
    model.restore(state)
    step = model.step(action)
    then = model.save()
    seconds = max(1e-9, _seconds() - began)  # of two clocks
    taken = Decisions(1, then.frames - state.frames, simulated, seconds)
    return taken, None if step.terminated or step.truncated else then


def _seconds() -> float:
    """Return a time that stands still, where the system tells of that, while this thread waits for a core."""
    waited = 0
    with suppress(OSError, ValueError, IndexError):
        waited = int(Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()[1])
    return time.perf_counter() - waited / 1e9
