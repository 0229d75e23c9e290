"""How far a run is, and how long the rest will take.

What is left is counted in frames to be played. An evaluation episode is expected to be as long as the mean of those
played so far, of the same trial if there are any, else of the same game, else of all; before a learner's first, as long
as the last ones of its training, and so are those of training where the budget is counted in episodes. Episodes of
planners and learners take so long that, before the first has ended, they are expected to be as long as the protocol
lets them be; what is then said is a bound. How long the rest takes follows from the speed of the last minutes.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from arcademark.runs.engines.base import Failed, Lost, News, Opened
from arcademark.runs.events import Learning, Planning, Progress
from arcademark.runs.lane import Played, Trained, TrainingBlock
from arcademark.runs.plan import Trial
from arcademark.runs.store import EpisodeResult, Unfinished, scored_phase

RECENT_SECONDS = 120.0
POINT_SECONDS = 1.0
RECENT_EPISODES = 20
"""Training episodes whose mean score and length are told."""


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
    training_frames, training_episodes : int
        Recorded training.
    in_play : int
        Frames played of episodes that are not yet recorded.
    failed : bool
    plans : bool
        Whether the agent is a planner.
    kept : dict of int to int
        Frames up to where each of its unfinished episodes is recorded, by number.
    unrecorded : int
        Training episodes since the last checkpoint.
    recent : deque of Trained
        The last training episodes that this command played.
    """

    trial: Trial
    episodes: int = 0
    frames: int = 0
    learns: bool = False
    trained: bool = False
    training_frames: int = 0
    training_episodes: int = 0
    in_play: int = 0
    failed: bool = False
    plans: bool = False
    kept: dict[int, int] = field(default_factory=dict)
    unrecorded: int = 0
    recent: deque[Trained] = field(default_factory=lambda: deque(maxlen=RECENT_EPISODES))

    @property
    def episodes_left(self) -> int:
        """Evaluation episodes that are still to be played."""
        return 0 if self._training_is_scored else max(0, self.trial.episodes - self.episodes)

    @property
    def episodes_done(self) -> int:
        """Episodes of its score that are recorded, where training is scored all of them at its end."""
        if self._training_is_scored:
            return self.trial.episodes if self.trained else 0
        return self.trial.episodes - self.episodes_left

    @property
    def in_training(self) -> bool:
        """Whether it learns, and goes on with it."""
        return self.learns and not self.trained and not self.failed

    @property
    def _training_is_scored(self) -> bool:
        return scored_phase(self.trial.protocol, self.learns) == "training"

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return not self.failed and (self.trained or not self.learns) and not self.episodes_left

    @property
    def budget(self) -> tuple[int | None, int | None]:
        """A learner's training in frames and in episodes, one of them None."""
        return self.trial.training_frames, self.trial.training_episodes

    def training_length(self) -> float | None:
        """Return how long its last training episodes were; None if there are none."""
        if self.recent:
            return sum(episode.frames for episode in self.recent) / len(self.recent)
        return self.training_frames / self.training_episodes if self.training_episodes else None

    def frames_left(self, length: float | None, training_length: float | None) -> float | None:
        """Guess the frames that are left if episodes have these lengths; None if nothing tells."""
        training = 0.0
        if self.in_training:
            frames, episodes = self.budget
            if frames is not None:
                training = frames - self.training_frames
            elif training_length is None:
                return None
            else:
                training = ((episodes or 0) - self.training_episodes) * training_length
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

    @property
    def unkept(self) -> int:
        """Training episodes that have ended, and that no checkpoint holds."""
        return sum(standing.unrecorded for standing in self._standings.values() if not standing.failed)

    def hear(self, trial_id: str, news: News) -> None:
        """Count one piece of news."""
        standing = self._standings[trial_id]
        match news:
            case Opened(learns=learns, plans=plans):
                standing.learns, standing.plans = learns, plans
                for other in self._standings.values() if learns else ():
                    other.learns |= other.trial.agent == standing.trial.agent
            case Played(frames):
                self.played += news
                standing.in_play += frames
            case Trained():
                standing.recent.append(news)
                standing.unrecorded += 1
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
                for _ in range(min(standing.unrecorded, len(standing.recent))):
                    standing.recent.pop()
                standing.unrecorded = 0
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
            episodes_done=sum(standing.episodes_done for standing in standings),
            episodes=sum(standing.trial.episodes for standing in standings),
            trials_done=self.done,
            trials=len(standings),
            frames=frames,
            frames_per_second=rate,
            fraction=fraction,
            seconds_left=left / rate_lately if left is not None and rate_lately else None,
            at_most=bound,
            planning=self._planning(lately.simulated_frames / span if span > 0 else 0.0),
            learning=self._learning(),
        )

    def _learning(self) -> Learning | None:
        learners = [standing for standing in self._standings.values() if standing.learns and not standing.failed]
        if not any(standing.in_training for standing in learners):
            return None
        frames, episodes = zip(*(standing.budget for standing in learners), strict=True)
        recent = defaultdict[str, list[float]](list)
        for standing in learners:
            if standing.in_training and standing.recent:
                mean = sum(episode.score for episode in standing.recent) / len(standing.recent)
                recent[standing.trial.game].append(mean)
        return Learning(
            episodes=sum(standing.training_episodes + standing.unrecorded for standing in learners),
            frames=sum(
                standing.training_frames + (standing.in_play if standing.in_training else 0) for standing in learners
            ),
            wanted_episodes=None if None in episodes else sum(episodes),
            wanted_frames=None if None in frames else sum(frames),
            recent=tuple((game, sum(means) / len(means)) for game, means in recent.items()),
        )

    def _planning(self, rate: float) -> Planning | None:
        if not any(standing.plans and not standing.failed for standing in self._standings.values()):
            return None
        return Planning(self.played.decisions, self.played.simulated_frames, rate)

    def _frames_left(self) -> tuple[float | None, bool]:
        """Guess the frames that are left, None if nothing tells, and say whether it is a bound."""
        standings = [standing for standing in self._standings.values() if not standing.failed]
        played = _Lengths([(item.trial.game, item.frames, item.episodes) for item in standings])
        trained = _Lengths(
            [(item.trial.game, sum(one.frames for one in item.recent), len(item.recent)) for item in standings]
        )
        left, bound = 0.0, False
        for standing in standings:
            if standing.done:
                continue
            game, cap = standing.trial.game, standing.trial.protocol.max_frames_per_episode
            training = standing.training_length() or trained.of(game)
            own = standing.frames / standing.episodes if standing.episodes else None
            length = own or (training if standing.learns else None) or played.of(game)
            unknown = length is None or (standing.in_training and standing.budget[0] is None and training is None)
            if unknown and (standing.plans or standing.learns):
                length, training, bound = length or cap, training or length or cap, True
            guess = standing.frames_left(length, training)
            if guess is None:
                return None, False
            left += guess
        return left, bound


class _Lengths:
    """Mean lengths of episodes: of a game's, or of all where it has none."""

    def __init__(self, played: Sequence[tuple[str, int, int]]) -> None:
        self._totals: defaultdict[str | None, list[int]] = defaultdict(lambda: [0, 0])
        for game, frames, episodes in played:
            for total in (self._totals[game], self._totals[None]):
                total[0] += frames
                total[1] += episodes

    def of(self, game: str) -> float | None:
        """Return the mean length in frames; None if nothing was played."""
        found = (self._totals[key] for key in (game, None))
        return next((frames / episodes for frames, episodes in found if episodes), None)


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
