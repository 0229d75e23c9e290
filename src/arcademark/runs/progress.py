"""How far a run is, and how long the rest will take.

What is left is counted in frames to be played: a learner's budget is, and an evaluation episode is expected to be as
long as the mean of those played so far, of the same trial if there are any, else of the same game, else of all. A
planner's take so long that, before the first has ended, they are expected to be as long as the protocol lets them be;
what is then said is a bound. How long the rest takes follows from the speed of the last minutes.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from arcademark.runs.engines.base import Failed, Lost, News, Opened
from arcademark.runs.events import Planning, Progress
from arcademark.runs.lane import Played, TrainingBlock
from arcademark.runs.plan import Trial
from arcademark.runs.store import EpisodeResult, Unfinished, scored_phase

RECENT_SECONDS = 120.0
POINT_SECONDS = 1.0


@dataclass
class Standing:
    """One trial: what was played of it.

    Parameters
    ----------
    trial : Trial
    episodes, frames : int
        Recorded evaluation, of the episodes that the trial asks for.
    learns, trained : bool
        Whether the agent is a learner, and its budget spent.
    training_frames : int
        Recorded training.
    in_play : int
        Frames played of episodes that are not yet recorded.
    failed : bool
    plans : bool
        Whether the agent is a planner.
    kept : dict of int to int
        Frames up to where each of its unfinished episodes is recorded, by number.
    """

    trial: Trial
    episodes: int = 0
    frames: int = 0
    learns: bool = False
    trained: bool = False
    training_frames: int = 0
    in_play: int = 0
    failed: bool = False
    plans: bool = False
    kept: dict[int, int] = field(default_factory=dict)

    @property
    def episodes_left(self) -> int:
        """Evaluation episodes that are still to be played."""
        training_is_scored = scored_phase(self.trial.protocol, self.learns) == "training"
        return 0 if training_is_scored else max(0, self.trial.episodes - self.episodes)

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return not self.failed and (self.trained or not self.learns) and not self.episodes_left

    def frames_left(self, length: float | None) -> float | None:
        """Guess the frames that are left if an episode has `length`; None if nothing tells."""
        training = 0
        if self.learns and not self.trained:
            if self.trial.training_frames is None:
                return None
            training = self.trial.training_frames - self.training_frames
        if self.episodes_left and length is None:
            return None
        return max(0.0, training + self.episodes_left * (length or 0.0) - self.in_play)


class Tracker:
    """Counts what happens to the trials of a plan, from where they stand now."""

    def __init__(self, standings: Sequence[Standing]) -> None:
        self._standings = {standing.trial.id: standing for standing in standings}
        self._started = time.perf_counter()
        self._recent = _Recent()
        self.played = Played(0)
        self.episodes = 0

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.perf_counter() - self._started

    @property
    def done(self) -> int:
        """Number of complete trials."""
        return sum(standing.done for standing in self._standings.values())

    def hear(self, trial_id: str, news: News) -> None:
        """Count one piece of news."""
        standing = self._standings[trial_id]
        match news:
            case Opened(learns=learns, plans=plans):
                standing.learns, standing.plans = learns, plans
            case Played(frames):
                self.played += news
                standing.in_play += frames
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
            case Lost():
                standing.in_play = sum(standing.kept.values())
            case Failed():
                standing.failed = True

    def progress(self) -> Progress:
        """Say how far the run is."""
        standings = self._standings.values()
        frames, seconds = self.played.frames, self.seconds
        left, bound = self._frames_left()
        rate = frames / seconds if seconds > 0 else 0.0
        fraction = None
        if left is not None:
            fraction = frames / (frames + left) if left else 1.0
        lately, span = self._recent.since(seconds, self.played)
        rate_lately = lately.frames / span if lately.frames and span > 0 else rate
        return Progress(
            episodes_done=sum(standing.trial.episodes - standing.episodes_left for standing in standings),
            episodes=sum(standing.trial.episodes for standing in standings),
            trials_done=self.done,
            trials=len(standings),
            frames=frames,
            frames_per_second=rate,
            fraction=fraction,
            seconds_left=left / rate_lately if left is not None and rate_lately else None,
            at_most=bound,
            planning=self._planning(lately.simulated_frames / span if span > 0 else 0.0),
        )

    def _planning(self, rate: float) -> Planning | None:
        if not any(standing.plans and not standing.failed for standing in self._standings.values()):
            return None
        return Planning(self.played.decisions, self.played.simulated_frames, rate)

    def _frames_left(self) -> tuple[float | None, bool]:
        """Guess the frames that are left, None if nothing tells, and say whether it is a bound."""
        by_game: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        overall = [0, 0]
        for standing in self._standings.values():
            for total in (by_game[standing.trial.game], overall):
                total[0] += standing.frames
                total[1] += standing.episodes
        left, bound = 0.0, False
        for standing in self._standings.values():
            if standing.failed or standing.done:
                continue
            totals = ([standing.frames, standing.episodes], by_game[standing.trial.game], overall)
            length = next((frames / episodes for frames, episodes in totals if episodes), None)
            if length is None and standing.plans:
                length, bound = standing.trial.protocol.max_frames_per_episode, True
            guess = standing.frames_left(length)
            if guess is None:
                return None, False
            left += guess
        return left, bound


class _Recent:
    """What was played in the last minutes."""

    def __init__(self) -> None:
        self._points = deque([(0.0, Played(0))])

    def since(self, seconds: float, played: Played) -> tuple[Played, float]:
        """Take note of what was played so far, and return what was played lately, and in how many seconds."""
        if seconds - self._points[-1][0] >= POINT_SECONDS:
            self._points.append((seconds, played))
        while len(self._points) > 1 and self._points[1][0] <= seconds - RECENT_SECONDS:
            self._points.popleft()
        then, before = self._points[0]
        return played - before, seconds - then
