"""Measurement of an agent's speed on this machine: part of a trial in a process of its own, not recorded.

Policies and learners are measured over some seconds. A planner may search for seconds before it decides, and the cost
of a decision depends on the state of the game, so whole decisions are sampled along an episode of random play: at each
sampled state a first decision, without an earlier search, and some that follow it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal, cast

from msgspec import Meta

from arcademark.agents.adapters import CheckedPlanner
from arcademark.environments.registry import EmulatorName
from arcademark.errors import ArcadeMarkError
from arcademark.records.database import MAX_NUMBER
from arcademark.records.model import Amount, Seconds
from arcademark.records.randomness import episode_rng
from arcademark.runs.engines import processes
from arcademark.runs.engines.worker import failure, opened
from arcademark.runs.plan import Trial
from arcademark.runs.playing.events import Failed, Opened, PlayedFrames
from arcademark.runs.playing.trial import TrialPlayer

if TYPE_CHECKING:
    import numpy as np

    from arcademark.environments.generative import GenerativeModel, State

SECONDS = 2.0  # of play
PATIENCE_SECONDS = 60.0  # maximum time to make an agent, and to play the first frames
MAX_PLAYED = 10_000  # episodes; more than can be played in `SECONDS`

PLANNED_SECONDS = 600.0  # maximum time of sampling decisions, over all games
LEAST_SECONDS, MAX_SECONDS = 10.0, 60.0  # limits per game
PLANNER_PATIENCE_SECONDS = 1800.0
RANDOM_SECONDS = 2.0  # of random play
EIGHTHS = (4, 2, 6, 1, 5, 3, 7)
"""Places in the random episode at which decisions are sampled, in this order."""
LATER = 250  # maximum number of decisions after the first one at a place


Rate = Annotated[float, Meta(ge=0, le=MAX_NUMBER)]


@dataclass(frozen=True)
class Pace:
    """Speed of agents of one kind on one core; planners are measured game by game.

    kind: Kind of the agents: planners, learners, or others.
    measured: Agents and games measured on this machine; empty if the speed was given.
    decisions: Measured decisions of a planner; 0 for others.
    frames_per_second: Frames played per second.
    simulated_frames_per_second: Frames that planners simulate per second, in addition.
    starting_seconds: Time until a process has started and made its agent; except for planners, until it plays.
    batch_size: Episodes played at once.
    first_frames, first_simulated_frames, first_seconds: Amounts of the first decision of an episode, before which a
    planner has not searched; the other amounts are of later decisions. 0 for others.
    """

    kind: Literal["policy", "learner", "planner"]
    measured: tuple[tuple[str, str], ...]
    frames_per_second: Rate
    simulated_frames_per_second: Rate = 0.0
    starting_seconds: Seconds = 0.0
    batch_size: int = 1
    decisions: Amount = 0
    first_frames: Rate = 0.0
    first_simulated_frames: Rate = 0.0
    first_seconds: Seconds = 0.0

    def episode(self, frames: float) -> tuple[float, float]:
        """Return the seconds and the simulated frames of an episode of this length."""
        later = max(frames - self.first_frames, 0.0) / self.frames_per_second
        return self.first_seconds + later, self.first_simulated_frames + later * self.simulated_frames_per_second


MESSAGES: tuple[type, ...] = (Opened, Failed, PlayedFrames, Pace)


def measure(
    trials: Sequence[tuple[Trial, EmulatorName | None]],
    workers: int = 1,
    follow: Callable[[int, int], None] = lambda *_: None,
) -> list[Pace]:
    """Measure trials, in training if their agents learn, each in a process of its own, `workers` at once.

    Parameters
    ----------
    trials : sequence of (Trial, Emulator or None)
    workers : int
    follow : callable
        Called with the numbers of measured and of all trials.

    Raises
    ------
    ArcadeMarkError
        If a trial fails, or plays nothing within `PATIENCE_SECONDS`, a planner within `PLANNER_PATIENCE_SECONDS`.
    """
    seconds = min(MAX_SECONDS, max(LEAST_SECONDS, PLANNED_SECONDS / len(trials)))
    waiting, playing, paces = deque(enumerate(trials)), dict[int, _Measured](), dict[int, Pace]()
    try:
        while len(paces) < len(trials):
            while waiting and len(playing) < workers:
                number, one = waiting.popleft()
                playing[number] = _Measured(*one, seconds)
            processes.heard(playing.values(), 0.1)
            for number, process in [*playing.items()]:
                if pace := process.pace():
                    paces[number] = pace
                    playing.pop(number).end()
                    follow(len(paces), len(trials))
    finally:
        for process in playing.values():
            process.end()
    return [pace for _, pace in sorted(paces.items())]


class _Measured(processes.Process):
    """Process whose play is measured."""

    def __init__(self, trial: Trial, emulator: EmulatorName | None, seconds: float) -> None:
        self._where = f"{trial.agent.label} on {trial.game}"
        self._measured = ((trial.agent.label, trial.protocol.task_name(trial.game)),)
        self._began = time.perf_counter()
        self._patience = PATIENCE_SECONDS
        self._opened: tuple[float, Opened] | None = None
        self._played: list[tuple[float, PlayedFrames]] = []
        super().__init__(serve, MESSAGES)
        with suppress(OSError):  # its death is noticed below
            self.send((trial, emulator, seconds))

    def end(self) -> None:
        """End the process."""
        self.kill()
        self.close()

    def pace(self) -> Pace | None:
        """Return the speed, once it is known; ArcadeMarkError if it cannot be measured."""
        try:
            for message in self.arrived():
                match message:
                    case Opened(plans=plans):
                        self._opened = time.perf_counter(), message
                        self._patience = PLANNER_PATIENCE_SECONDS if plans else PATIENCE_SECONDS
                    case Failed(error):
                        raise ArcadeMarkError(f"{self._where} cannot be measured: {error}")
                    case PlayedFrames():
                        self._played.append((time.perf_counter(), message))
                    case Pace() if self._opened:
                        starting = self._opened[0] - self._began
                        return replace(message, measured=self._measured, starting_seconds=starting)
        except (EOFError, OSError, processes.GarbledError):
            raise ArcadeMarkError(f"{self._where} cannot be measured: the process that played it died") from None
        return self._over_some_seconds()

    def _over_some_seconds(self) -> Pace | None:
        now, began = time.perf_counter(), self._played[0][0] if self._played else self._began
        if now - began < (SECONDS if len(self._played) > 1 else self._patience):
            return None
        frames = sum(event.frames for _, event in self._played[1:])
        if self._opened is None or not frames:
            raise ArcadeMarkError(
                f"{self._where}: played too little in {self._patience:g} s to measure its speed; give --assume rate=N"
            )
        kind: Literal["learner", "policy"] = "learner" if self._opened[1].learns else "policy"
        rate, starting = frames / (self._played[-1][0] - began), began - self._began
        return Pace(kind, self._measured, rate, starting_seconds=starting, batch_size=self._opened[1].batch_size)


def serve(descriptor: int) -> None:
    """Play the trial received at a socket, and report its events, in a process of `measure`."""
    channel = processes.serving(descriptor, MESSAGES)
    with suppress(EOFError, ConnectionError):  # the measuring process is gone
        try:
            trial, emulator, seconds = channel.receive()
            player = TrialPlayer(trial, emulator)
            channel.send(opened(player))
            if player.plans:
                channel.send(sample(player, seconds))
            for event in player.play(range(MAX_PLAYED)) if not player.plans else ():
                if isinstance(event, PlayedFrames):
                    channel.send(event)
        except (Exception, SystemExit) as error:
            channel.send(failure(error))


def sample(player: TrialPlayer, seconds: float) -> Pace:
    """Measure a planner's decisions at several places of an episode, for about `seconds`."""
    planner, model = cast(CheckedPlanner, player.agent), player.model
    assert model is not None
    rng = episode_rng(player.trial.seed, "evaluation", 0, "agent")
    played, spent = [PlayedFrames(0), PlayedFrames(0)], [0.0, 0.0]  # of first and of later decisions
    began = time.perf_counter()
    for place in _places(player, rng):
        state: State | None = place
        here = time.perf_counter()
        for number in range(1 + LATER):
            if state is None or (number > 1 and time.perf_counter() - here > seconds / len(EIGHTHS)):
                break
            then = time.perf_counter()
            amount, state = _decide(planner, model, state, number == 0, rng)
            played[number > 0] += amount
            spent[number > 0] += max(1e-9, time.perf_counter() - then)
        if played[1].decisions and time.perf_counter() - began > seconds:
            break
    if not played[1].decisions:  # every episode ended with its first decision
        played[1], spent[1] = played[0], spent[0]
    (first, later), count = played, played[0].decisions
    return Pace(
        kind="planner",
        measured=(),
        frames_per_second=later.frames / spent[1],
        simulated_frames_per_second=later.simulated_frames / spent[1],
        decisions=count + later.decisions,
        first_frames=first.frames / count,
        first_simulated_frames=first.simulated_frames / count,
        first_seconds=spent[0] / count,
    )


def _places(player: TrialPlayer, rng: np.random.Generator) -> Iterator[State]:
    """Play at random, and yield states from several places of the episode."""
    from arcademark.environments.generative import snapshot

    environment = player.open()
    environment.reset(episode_rng(player.trial.seed, "evaluation", 0, "environment"))
    states: list[State] = []
    steps, every, ended = 0, 1, False
    until = time.perf_counter() + RANDOM_SECONDS
    while not ended and time.perf_counter() < until:
        if steps % every == 0:
            states.append(snapshot(environment))
        if len(states) == 16:
            states, every = states[::2], 2 * every
        step = environment.step(int(rng.integers(environment.spec.num_actions)))
        steps, ended = steps + 1, step.terminated or step.truncated
    for number in dict.fromkeys(len(states) * eighth // 8 for eighth in EIGHTHS):
        yield states[number]


def _decide(
    planner: CheckedPlanner, model: GenerativeModel, state: State, first: bool, rng: np.random.Generator
) -> tuple[PlayedFrames, State | None]:
    """Let a planner decide, and play its action; return the amounts played, and the next state, None at the end."""
    planning = planner.plan(model, state, first, rng)
    model.use(rng)
    model.restore(state)
    before = model.frames
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
    return PlayedFrames(then.frames - state.frames, simulated, 1), None if step.terminated or step.truncated else then
