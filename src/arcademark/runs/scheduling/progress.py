"""Progress of a run, and the time left at the speed of the last minutes.

The expected length of an evaluation episode is the mean length of those played in the same trial, else in the game,
else in all games. For a learner's first one, and for training episodes if the budget is in episodes, it is the mean of
the last training episodes. Before a planner's or learner's first episode, which takes long, the protocol's cap is an
upper bound.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from arcademark.records.model import EpisodeResult, TrialRecord, Unfinished, scored_phase
from arcademark.runs.plan import SNAPSHOTS, Trial
from arcademark.runs.playing.events import (
    Failed,
    Learning,
    Lost,
    Opened,
    Planning,
    PlayedFrames,
    Progress,
    Snapshot,
    TrainedEpisode,
    TrainingBlock,
    TrialEvent,
)

RECENT_SECONDS = 120.0
POINT_SECONDS = 1.0
RECENT_EPISODES = 20  # training episodes whose mean score and length are reported


@dataclass
class TrialStanding:
    """Episodes and frames played of a trial."""

    trial: Trial
    episodes: int = 0  # recorded evaluation episodes, up to the requested number
    frames: int = 0  # of these episodes
    learns: bool = False
    trained: bool = False  # whether its training budget is spent
    training_frames: int = 0  # recorded
    training_episodes: int = 0  # recorded
    in_play: int = 0  # frames of episodes that are not recorded yet
    failed: bool = False
    plans: bool = False
    trains: bool = False  # whether its agent is a trainer, which has no snapshots
    kept: dict[int, int] = field(default_factory=dict)
    """Frames up to the checkpoint of each unfinished episode, by number."""
    unrecorded: int = 0  # training episodes since the last checkpoint
    recent: list[TrainedEpisode] = field(default_factory=list)
    """The last training episodes of this command, at most `RECENT_EPISODES`."""

    @classmethod
    def from_record(
        cls, trial: Trial, record: TrialRecord | None, frames: int, kept: Mapping[int, int] | None = None
    ) -> Self:
        """Return the standing of a trial by its record; `frames` are of its evaluation episodes."""
        begun = dict(kept or {})
        if record is None:
            return cls(trial)
        learning = bool(record.learns), record.trained, record.trained_frames, record.trained_episodes
        return cls(trial, record.evaluated, frames, *learning, in_play=sum(begun.values()), kept=begun)

    @property
    def episodes_left(self) -> int:
        """Evaluation episodes left to play."""
        return 0 if self._training_is_scored else max(0, self.trial.episodes - self.episodes)

    @property
    def episodes_done(self) -> int:
        """Recorded scored episodes; if training is scored, 0 until its end, then all."""
        if self._training_is_scored:
            return self.trial.episodes if self.trained else 0
        return self.trial.episodes - self.episodes_left

    @property
    def in_training(self) -> bool:
        """True if its training is not over."""
        return self.learns and not self.trained and not self.failed

    @property
    def _training_is_scored(self) -> bool:
        return scored_phase(self.trial.protocol, self.learns) == "training"

    @property
    def done(self) -> bool:
        """True if nothing is left to play."""
        return not self.failed and (self.trained or not self.learns) and not self.episodes_left

    @property
    def snapshot_episodes_left(self) -> int:
        """Episodes of evaluations within training left to play."""
        if not self.in_training or self.trains or self._training_is_scored:
            return 0
        played, budget = self.trial.spent(self.training_frames, self.training_episodes)
        due = {math.ceil(share * budget) for share in SNAPSHOTS}
        return self.trial.snapshot_episodes * sum(played < at < budget for at in due)

    def training_length(self) -> float | None:
        """Return the mean length of its last training episodes; None if there are none."""
        if self.recent:
            return sum(episode.frames for episode in self.recent) / len(self.recent)
        return self.training_frames / self.training_episodes if self.training_episodes else None

    def frames_left(self, length: float | None, training_length: float | None) -> float | None:
        """Estimate the remaining frames for given lengths of episodes; None if a length is missing."""
        training = 0.0
        if self.in_training:
            if self.trial.training_frames is not None:
                training = self.trial.training_frames - self.training_frames
            elif training_length is None:
                return None
            else:
                training = ((self.trial.training_episodes or 0) - self.training_episodes) * training_length
        episodes = self.episodes_left + self.snapshot_episodes_left
        if episodes and length is None:
            return None
        return max(0.0, training + episodes * (length or 0.0) - self.in_play)

    @property
    def over(self) -> bool:
        """True if it is done or failed."""
        return self.done or self.failed


def mean_lengths(amounts: Iterable[tuple[str, int, int]]) -> dict[str | None, float]:
    """Return the mean length of episodes by game, and of all as None, given games' frames and numbers of episodes."""
    frames, episodes = Counter[str | None](), Counter[str | None]()
    for game, some, count in amounts:
        for key in (game, None):
            frames[key] += some
            episodes[key] += count
    return {key: frames[key] / count for key, count in episodes.items() if count}


def _frames_left(standings: Sequence[TrialStanding]) -> tuple[float | None, bool]:
    """Estimate the remaining frames, None if unknown, and return whether they are a bound."""
    played = mean_lengths((one.trial.game, one.frames, one.episodes) for one in standings)
    trained = mean_lengths(
        (one.trial.game, sum(row.frames for row in one.recent), len(one.recent)) for one in standings
    )
    total, bound = 0.0, False
    for standing in standings:
        if standing.over:
            continue
        game, cap = standing.trial.game, standing.trial.protocol.cap(standing.trial.game)
        training = standing.training_length() or trained.get(game, trained.get(None))
        own = standing.frames / standing.episodes if standing.episodes else None
        length = own or (training if standing.learns else None) or played.get(game, played.get(None))
        in_episodes = standing.in_training and standing.trial.training_frames is None
        if (standing.plans or standing.learns) and (length is None or (in_episodes and training is None)):
            length, training, bound = length or cap, training or length or cap, True
        left = standing.frames_left(length, training)
        if left is None:
            return None, False
        total += left
    return total, bound


class Tracker:
    """Counts the events of a plan's trials, from their standings."""

    def __init__(self, standings: Sequence[TrialStanding]) -> None:
        self._standings = {standing.trial.id: standing for standing in standings}
        self._started = time.perf_counter()
        self._points = deque([(0.0, PlayedFrames(0))])  # of the last minutes: times, with the amounts played until then
        self.playing: dict[str, None] = {}
        """Ids of trials with events of this command that are not over."""
        self.played = PlayedFrames(0)
        self.episodes = 0

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.perf_counter() - self._started

    @property
    def done(self) -> int:
        """Number of complete trials."""
        return sum(standing.done for standing in self._standings.values())

    @property
    def unkept(self) -> int:
        """Number of training episodes since the last checkpoints."""
        return sum(standing.unrecorded for standing in self._learners())

    @property
    def kept(self) -> tuple[int, int] | None:
        """Frames of training in checkpoints, and of all budgets; None unless training by frames is left."""
        learners = self._learners()
        budgets = [one.trial.training_frames for one in learners if one.trial.training_frames is not None]
        if len(budgets) < len(learners) or not any(one.in_training for one in learners):
            return None
        return sum(one.training_frames for one in learners), sum(budgets)

    def hear(self, trial_id: str, event: TrialEvent) -> None:
        """Count one event."""
        standing = self._standings[trial_id]
        self.playing[trial_id] = None
        match event:
            case Opened(learns=learns, plans=plans, trains=trains):
                if learns and not standing.learns:  # as do all trials of the agent
                    for other in self._standings.values():
                        other.learns |= other.trial.agent.label == standing.trial.agent.label
                standing.learns, standing.plans, standing.trains = learns, plans, trains
            case PlayedFrames(frames):
                self.played += event
                standing.in_play += frames
            case TrainedEpisode():
                standing.recent = [*standing.recent, event][-RECENT_EPISODES:]
                standing.unrecorded += 1
            case Snapshot(frames=frames):
                standing.in_play -= frames
            case Unfinished(episode, frames):
                standing.kept[episode] = frames
            case EpisodeResult(record):
                self.episodes += 1
                standing.episodes += 1
                standing.frames += record.frames
                standing.in_play -= record.frames
                standing.kept.pop(record.episode, None)
            case TrainingBlock(results, checkpoint):
                self.episodes += len(results)
                standing.in_play -= checkpoint.frames - standing.training_frames
                standing.training_frames, standing.trained = checkpoint.frames, checkpoint.finished
                standing.training_episodes, standing.unrecorded = checkpoint.episodes, 0
            case Lost():
                standing.in_play = sum(standing.kept.values())
                standing.recent = standing.recent[: max(0, len(standing.recent) - standing.unrecorded)]
                standing.unrecorded = 0
            case Failed():
                standing.failed = True
        if standing.over:
            del self.playing[trial_id]

    def progress(self) -> Progress:
        """Return the progress of the run."""
        every = [*self._standings.values()]
        frames, seconds = self.played.frames, self.seconds
        left, bound = _frames_left([one for one in every if not one.failed])
        rate = frames / seconds if seconds > 0 else 0.0
        lately, span = self._lately(seconds)
        rate_lately = lately.frames / span if lately.frames else rate
        simulated = lately.simulated_frames / span if span else 0.0
        planning = Planning(self.played.decisions, self.played.simulated_frames, simulated)
        return Progress(
            episodes_done=sum(one.episodes_done for one in every),
            episodes=sum(one.trial.episodes for one in every),
            trials_done=self.done,
            trials=len(every),
            frames=frames,
            frames_per_second=rate,
            fraction=None if left is None else frames / (frames + left) if left else 1.0,
            seconds_left=left / rate_lately if left is not None and rate_lately else None,
            at_most=bound,
            planning=planning if any(one.plans and not one.failed for one in every) else None,
            learning=self._learning(),
        )

    def _learners(self) -> list[TrialStanding]:
        return [standing for standing in self._standings.values() if standing.learns and not standing.failed]

    def _learning(self) -> Learning | None:
        learners = self._learners()
        if not any(one.in_training for one in learners):
            return None
        recent = defaultdict[str, list[float]](list)
        for one in learners:
            if one.in_training and one.recent:
                recent[one.trial.game].append(sum(row.score for row in one.recent) / len(one.recent))
        budgets = [(one.trial.training_episodes, one.trial.training_frames) for one in learners]
        episodes, frames = (
            None if None in amounts else sum(filter(None, amounts)) for amounts in zip(*budgets, strict=True)
        )
        return Learning(
            episodes=sum(one.training_episodes + one.unrecorded for one in learners),
            frames=sum(one.training_frames + (one.in_play if one.in_training else 0) for one in learners),
            wanted_episodes=episodes,
            wanted_frames=frames,
            recent=tuple((game, sum(means) / len(means)) for game, means in recent.items()),
        )

    def _lately(self, seconds: float) -> tuple[PlayedFrames, float]:
        """Return the amounts played in the last minutes, and the seconds."""
        points = self._points
        if seconds - points[-1][0] >= POINT_SECONDS:
            points.append((seconds, self.played))
        while len(points) > 1 and points[1][0] <= seconds - RECENT_SECONDS:
            points.popleft()
        then, before = points[0]
        return self.played - before, seconds - then
