"""Episodes of a planner, which decides in a model of the game; its decisions are played in the real game.

An episode can take hours. A checkpoint is reported every ``checkpoint_seconds``, between two decisions or where the
planner yields True; on other tasks than games only between two decisions of built-in planners, whose searches begin
anew there. An episode continued from a checkpoint has the same random draws: wherever a checkpoint is possible, the
model is set to the state and its drawn numbers are dropped, whether or not a checkpoint is taken. Frames that the
planner plays in the model are counted; setting it to a state takes none.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Generator, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from arcademark.agents.adapters import CheckedPlanner
from arcademark.records.model import MAX_CHECKPOINT_BYTES, Unfinished
from arcademark.runs.plan import Trial
from arcademark.runs.playing.events import Begun, PlayEvent
from arcademark.runs.playing.slot import Meter, Slot

if TYPE_CHECKING:
    from arcademark.environments.generative import GenerativeModel, State

MAX_TIME_SHARE = 0.05  # maximum share of the time that checkpoints take


def plan_episodes(
    trial: Trial,
    planner: CheckedPlanner,
    slot: Slot,
    model: GenerativeModel,
    episodes: Collection[int],
    unfinished: Sequence[Unfinished] = (),
    time_share: float | None = None,
) -> Iterator[PlayEvent]:
    """Play evaluation episodes one after the other; checkpoints take up to `time_share` of the time, 5 % by default."""
    kept = {item.episode: item for item in unfinished}
    player = _PlannerPlayer(trial, planner, slot, model, MAX_TIME_SHARE if time_share is None else time_share)
    for episode in episodes:
        yield Begun("evaluation", episode)
        yield from player.play(episode, kept.get(episode))
    yield player.meter.tick(())


class _PlannerPlayer:
    """Plays single episodes, with checkpoints."""

    def __init__(
        self, trial: Trial, planner: CheckedPlanner, slot: Slot, model: GenerativeModel, time_share: float
    ) -> None:
        from arcademark.environments.generative import snapshot

        self.meter = Meter()
        self._time_share = time_share
        self._trial, self._planner, self._slot, self._model = trial, planner, slot, model
        self._snapshot = snapshot
        self._counted = model.frames
        self._keep_at = time.perf_counter() + planner.checkpoint_seconds

    def play(self, episode: int, kept: Unfinished | None) -> Iterator[PlayEvent]:
        """Play one episode, from its beginning or from a checkpoint."""
        slot = self._slot
        if kept is None:
            rng = slot.begin(self._trial.seed, "evaluation", episode)
        else:
            rng = slot.resume(self._trial.seed, kept)
            self._planner.restore(kept.checkpoint)
        first, terminated, truncated = kept is None, False, False
        while not (terminated or truncated):
            if not first and (self._model.keeps or self._planner.searches_anew):
                yield from self._keep(rng)
            action = yield from self._decide(first, rng)
            _, terminated, truncated = slot.step(action)
            first = False
            if time.perf_counter() > self.meter.due:
                yield self.meter.tick((slot,))
        self.meter.ended(slot)
        yield slot.result(self._trial.id, terminated)

    def _decide(self, first: bool, rng: np.random.Generator) -> Generator[PlayEvent, None, int]:
        """Let the planner choose an action, and yield events meanwhile."""
        state = self._snapshot(self._slot.environment)
        planning = self._planner.plan(self._model, state, first, rng)
        self._put(state, rng)
        meter = self.meter
        while True:
            try:
                resumable = next(planning)
            except StopIteration as end:
                self._count()
                return int(end.value)
            if resumable and self._model.keeps:
                self._count()
                yield from self._keep(rng)
                self._put(state, rng)
            if time.perf_counter() > meter.due:
                self._count()
                yield meter.tick((self._slot,))

    def _put(self, state: State, rng: np.random.Generator) -> None:
        """Set the model to the real game's state, and drop its drawn numbers."""
        self._model.use(rng)
        self._model.restore(state)
        self._counted = self._model.frames

    def _count(self) -> None:
        frames = self._model.frames
        self._slot.simulated_frames += frames - self._counted
        self._counted = frames

    def _keep(self, rng: np.random.Generator) -> Iterator[Unfinished]:
        """Yield a checkpoint if one is due, unless it is too large."""
        began = time.perf_counter()
        if began < self._keep_at:
            return
        checkpoint = self._planner.checkpoint()
        if len(checkpoint) <= MAX_CHECKPOINT_BYTES:
            yield self._slot.unfinished(rng, checkpoint)
        now = time.perf_counter()
        self._keep_at = now + max(self._planner.checkpoint_seconds, (now - began) / self._time_share)
