"""How far a run is, and how long the rest will take at the speed of the last minutes.

An evaluation episode is expected to be as long as the mean of those played, of the same trial, else of the game, else
of all; before a learner's first, as the last ones of its training, and so are those of training where the budget is in
episodes. Before the first episode of a planner or learner, which take long, the protocol's cap gives a bound.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from arcademark.agents.loading import AgentSpec
from arcademark.runs.engines.base import Failed, Lost, Opened, TrialEvent
from arcademark.runs.plan import Trial
from arcademark.runs.playing.events import Learning, Planning, Progress
from arcademark.runs.playing.slot import Played, Trained, TrainingBlock
from arcademark.runs.store.reading import EpisodeResult, Unfinished, scored_phase

RECENT_SECONDS = 120.0
POINT_SECONDS = 1.0
RECENT_EPISODES = 20  # training episodes whose mean score and length are told


@dataclass
class Standing:
    """One trial: what was played of it."""

    trial: Trial
    episodes: int = 0  # recorded evaluation, of the episodes that the trial asks for
    frames: int = 0  # of these episodes
    learns: bool = False
    trained: bool = False  # its training budget is spent
    training_frames: int = 0  # recorded
    training_episodes: int = 0  # recorded
    in_play: int = 0  # frames played of episodes that are not yet recorded
    failed: bool = False
    plans: bool = False
    kept: dict[int, int] = field(default_factory=dict)
    """Frames up to where each of its unfinished episodes is recorded, by number."""
    unrecorded: int = 0  # training episodes since the last checkpoint
    recent: list[Trained] = field(default_factory=list)
    """The last training episodes that this command played, `RECENT_EPISODES` at most."""

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

    @property
    def over(self) -> bool:
        """Whether no more is played of it."""
        return self.done or self.failed

    def guess(self, totals: _Totals) -> tuple[float | None, bool]:
        """Guess the frames that are left, None if nothing tells, and say whether it is a bound."""
        if self.over:
            return 0.0, False
        game, cap = self.trial.game, self.trial.protocol.cap(self.trial.game)
        training = self.training_length() or totals.length("trained", game)
        own = self.frames / self.episodes if self.episodes else None
        length = own or (training if self.learns else None) or totals.length("played", game)
        unknown = length is None or (self.in_training and self.budget[0] is None and training is None)
        bound = unknown and (self.plans or self.learns)
        if bound:
            length, training = length or cap, training or length or cap
        left = self.frames_left(length, training)
        return left, bound and left is not None

    def amounts(self) -> Iterator[tuple[Hashable, int]]:
        """Yield what it adds to the totals, by name; lengths by game, and for all games."""
        yield "episodes", self.trial.episodes
        yield "episodes done", self.episodes_done
        yield "done", self.done
        if self.failed:
            return
        for game in (self.trial.game, None):
            yield ("played", game, "frames"), self.frames
            yield ("played", game, "episodes"), self.episodes
            if self.recent:
                yield ("trained", game, "frames"), sum(one.frames for one in self.recent)
                yield ("trained", game, "episodes"), len(self.recent)
        yield "planners", self.plans
        if self.learns:
            yield "learners in training", self.in_training
            yield "unkept", self.unrecorded
            yield "training episodes", self.training_episodes + self.unrecorded
            yield "kept training frames", self.training_frames
            yield "training frames", self.training_frames + (self.in_play if self.in_training else 0)
            for what, wanted in zip(("frames", "episodes"), self.budget, strict=True):
                yield f"wanted {what}", wanted or 0
                yield f"no wanted {what}", wanted is None


class _Totals(defaultdict[Hashable, int]):
    """Sums over trials, see `Standing.amounts`."""

    def __init__(self, standings: Iterable[Standing]) -> None:
        super().__init__(int)
        for standing in standings:
            for name, amount in standing.amounts():
                self[name] += amount

    def length(self, what: str, game: str) -> float | None:
        """Return the mean length in frames of the game's episodes, of all where it has none; None if nothing tells."""
        found = ((self.get((what, key, "frames"), 0), self.get((what, key, "episodes"), 0)) for key in (game, None))
        return next((frames / episodes for frames, episodes in found if episodes), None)


class Tracker:
    """Counts what happens to the trials of a plan, from where they stand now."""

    def __init__(self, standings: Sequence[Standing]) -> None:
        self._standings = {standing.trial.id: standing for standing in standings}
        self._started = time.perf_counter()
        self._recent = _Recent()
        self._learners: set[str] = set()
        self.playing: dict[str, None] = {}
        """The ids of trials of which this command heard, and which are not over."""
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
        return self._totals()["unkept"]

    @property
    def kept(self) -> tuple[int, int] | None:
        """Frames of training that checkpoints hold, and those of all budgets; None unless these are left in frames."""
        totals = self._totals()
        if not totals["learners in training"] or totals["no wanted frames"]:
            return None
        return totals["kept training frames"], totals["wanted frames"]

    def hear(self, trial_id: str, event: TrialEvent) -> None:
        """Count one event."""
        standing = self._standings[trial_id]
        self.playing[trial_id] = None
        if isinstance(event, Opened) and event.learns:
            self._learn(standing.trial.agent)
        self._change(standing, event)
        if standing.over:
            del self.playing[trial_id]

    def _change(self, standing: Standing, event: TrialEvent) -> None:
        match event:
            case Opened(learns=learns, plans=plans):
                standing.learns, standing.plans = learns, plans
            case Played(frames):
                self.played += event
                standing.in_play += frames
            case Trained():
                standing.recent = [*standing.recent, event][-RECENT_EPISODES:]
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
                standing.recent = standing.recent[: max(0, len(standing.recent) - standing.unrecorded)]
                standing.unrecorded = 0
            case Failed():
                standing.failed = True

    def _learn(self, agent: AgentSpec) -> None:
        """Take note, once, that all trials of an agent are a learner's."""
        if agent.label not in self._learners:
            self._learners.add(agent.label)
            for standing in self._standings.values():
                standing.learns |= standing.trial.agent == agent

    def _totals(self) -> _Totals:
        return _Totals(self._standings.values())

    def progress(self) -> Progress:
        """Say how far the run is."""
        totals = self._totals()
        frames, seconds = self.played.frames, self.seconds
        left, bound = self._frames_left(totals)
        rate = frames / seconds if seconds > 0 else 0.0
        fraction = None
        if left is not None:
            fraction = frames / (frames + left) if left else 1.0
        lately, span = self._recent.since(seconds, self.played)
        simulated = lately.simulated_frames / span if span > 0 else 0.0
        rate_lately = lately.frames / span if lately.frames and span > 0 else rate
        return Progress(
            episodes_done=totals["episodes done"],
            episodes=totals["episodes"],
            trials_done=totals["done"],
            trials=len(self._standings),
            frames=frames,
            frames_per_second=rate,
            fraction=fraction,
            seconds_left=left / rate_lately if left is not None and rate_lately else None,
            at_most=bound,
            planning=Planning(self.played.decisions, self.played.simulated_frames, simulated)
            if totals["planners"]
            else None,
            learning=self._learning(totals) if totals["learners in training"] else None,
        )

    def _learning(self, totals: _Totals) -> Learning:
        recent = defaultdict[str, list[float]](list)
        for standing in self._standings.values():
            if standing.in_training and standing.recent:
                mean = sum(episode.score for episode in standing.recent) / len(standing.recent)
                recent[standing.trial.game].append(mean)
        return Learning(
            episodes=totals["training episodes"],
            frames=totals["training frames"],
            wanted_episodes=None if totals["no wanted episodes"] else totals["wanted episodes"],
            wanted_frames=None if totals["no wanted frames"] else totals["wanted frames"],
            recent=tuple((game, sum(means) / len(means)) for game, means in recent.items()),
        )

    def _frames_left(self, totals: _Totals) -> tuple[float | None, bool]:
        """Guess the frames that are left, None if nothing tells, and say whether it is a bound."""
        left, bound = 0.0, False
        for standing in self._standings.values():
            guess, at_most = standing.guess(totals)
            if guess is None:
                return None, False
            left += guess
            bound |= at_most
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
