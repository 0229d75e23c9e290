"""Play the most informative games first, until the median of all is known well.

* The error is that of the median over the games of atari-57, predicted from any games: how far the 90 % interval
  reaches, as a share of the estimate (`arcademark.subset.predict.outlook.Range.error`). Scores count as exact: what
  more episodes or seeds would change is apart from it.
* The next game is the one expected to take most off that uncertainty per frame. A game costs its missing episodes, each
  as long as `arcademark.runs.playing.scheduling.Lengths` expects; a learner its training, too.
* What is in the run's directory counts. A game that was begun is finished first; none is played twice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.reports import wording
from arcademark.reports.subsets import predictors
from arcademark.reports.subsets.predicting import Predicted
from arcademark.reports.tables.document import ScoreReport
from arcademark.runs.plan import Plan, Trial
from arcademark.runs.playing.scheduling import expected_frames
from arcademark.runs.request import Request
from arcademark.runs.store import manifest
from arcademark.runs.store.reading import RunRecord, read_run
from arcademark.scores.runs import score_run
from arcademark.subset.predict import outlook
from arcademark.suite.subsets import LEVEL

if TYPE_CHECKING:
    from arcademark.runs.playing.events import Summary

MEDIAN = "median"


@dataclass(frozen=True)
class Step:
    """Games that were played together, and what was known then.

    games: None in the first step of a run that is continued.
    frames: That they took, in this command.
    known: Games that the median was predicted from.
    median: None where nothing is known.
    error: None where the interval has no upper end.
    """

    games: tuple[str, ...]
    frames: int
    known: int
    median: outlook.Range | None
    error: float | None


@dataclass(frozen=True)
class Outcome:
    """How it ended: the errors asked for and reached, and whether that is enough, it was stopped, or a trial failed."""

    asked_error: float
    error: float | None
    reached: bool
    interrupted: bool
    failed: bool
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class PlayedUntil(Outcome):
    """How playing until the median is known ended, and what is known then.

    asked_error, error: Of the median, fractions; the second None where its interval has no upper end.
    reached, interrupted, failed: Whether that is enough, it was stopped, or a trial failed.
    level: Of the interval that the error is of.
    report: Of the run.
    prediction: None where no game is known.
    """

    SCHEMA: ClassVar[str] = "arcademark.run-until/1"

    level: float
    report: ScoreReport
    prediction: Predicted | None


@dataclass
class UntilError:
    """Plays games until the median of all is known as well as is asked for; raises where that cannot be reached.

    error: At which to stop, a fraction.
    request: Of one agent.
    games: Those to play first.
    play, say: Plays what is missing of a plan; is given what is known, a line at a time.
    """

    error: float
    request: Request
    games: tuple[str, ...]
    play: Callable[[Plan], Summary]
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        agents = [spec.label for spec in self.request.agents]
        if self.request.options.get("shard"):
            raise ArcadeMarkError("--shard and --until-error: games that are chosen one by one cannot be dealt out")
        if len(agents) > 1:
            raise ArcadeMarkError(
                f"--until-error is for one agent, and {len(agents)} are named: {agents[0]}, {agents[1]}, …; choose one"
            )
        (self.agent,), self.directory = agents, self.request.directory
        self._trained = predictors.atari().trained
        self._trials: dict[str, list[Trial]] = {}
        self._plan = plan = self.request.plan(list(dict.fromkeys([*self.games, *self._trained.joint.tasks])))
        for trial in plan.trials:
            self._trials.setdefault(trial.game, []).append(trial)
        for left in plan.left_out:
            if left.game in self.games:
                self.say(f"left out  {left.agent} on {left.game}: {left.reason}")
        self._tried: set[str] = set()
        self._steps: list[Step] = []
        self._failed = self._interrupted = False
        self._check_possible()

    def _check_possible(self) -> None:
        playable = [task for task in self._trained.joint.tasks if task in self._trials]
        if not playable:
            raise ArcadeMarkError(
                f"--until-error: {self.agent} plays none of the games of atari-57, which the median is of"
            )
        least = outlook.least_error(self._trained, playable, rng=np.random.default_rng(predictors.SEED))
        if least > self.error:
            raise ArcadeMarkError(
                f"--until-error {wording.share(self.error)} cannot be reached: {self.agent} plays {len(playable)} of "
                f"the {len(self._trained.joint.tasks)} games, and the interval is ±{wording.share(least)} at least "
                "when all are played; ask for that or more"
            )

    def run(self) -> Outcome:
        """Play until the error is reached, nothing is left, or it is stopped."""
        record = self._record()
        there = {trial.game for trial in record.trials if record.by_trial[trial.id]} if record else set()
        first = [game for game in self._trials if game in there or game in self.games]
        games = tuple(game for game in first if game not in self._done(record))
        frames = self._play(first) if first else 0
        while not self._interrupted and (following := self._look(games, frames)):
            frames, games = self._play(following), tuple(following)
        last = self._steps[-1].error if self._steps else None
        reached = last is not None and last <= self.error
        return Outcome(self.error, last, reached, self._interrupted, self._failed, tuple(self._steps))

    def _record(self) -> RunRecord | None:
        return read_run(self.directory) if (self.directory / manifest.FILE).exists() else None

    def _done(self, record: RunRecord | None) -> set[str]:
        """Return the games that were complete in a record."""
        episodes = {trial.id: trial.episodes for trial in record.trials if trial.status == "done"} if record else {}
        return {
            game
            for game, trials in self._trials.items()
            if all(episodes.get(trial.id, 0) >= trial.episodes for trial in trials)
        }

    def _play(self, games: Sequence[str]) -> int:
        """Play what is missing of games, and return the frames that it took."""
        self._tried |= set(games)
        trials = tuple(trial for trial in self._plan.trials if trial.game in games)
        summary = self.play(dataclasses.replace(self._plan, trials=trials, games=tuple(games), left_out=()))
        self._interrupted, self._failed = summary.interrupted, self._failed or bool(summary.failed)
        return summary.frames

    def _look(self, games: tuple[str, ...], frames: int) -> list[str]:
        """Note what is known now, say it, and return what to play next; nothing where it is enough, or all there is."""
        record = self._record()
        costs = self._costs(record)
        table = score_run(record).table.select(algorithms=[self.agent]) if record else None
        scores = predictors.known(table, 0) if table is not None else {}
        told = predictors.atari().predict(scores, level=LEVEL, frames=costs)
        if told is None:
            plays = outlook.first_plays(self._trained, rng=np.random.default_rng(predictors.SEED), frames=costs)
            self._steps.append(Step(games, frames, 0, None, None))
        else:
            plays, median = told.plays, told.summaries[MEDIAN]
            error = median.error if np.isfinite(median.error) else None
            self._steps.append(Step(games, frames, len(told.known), median, error))
        step = self._steps[-1]
        if self._failed and not step.known:
            self.say("every game so far failed; correct the agent, and the same command continues")
            return []
        open_plays = [play for play in plays if play.task in self._trials and play.task not in self._tried]
        enough = step.error is not None and step.error <= self.error
        following = [] if enough else open_plays[:1]
        self.say(_standing(step, following, enough=enough, asked=self.error))
        return [play.task for play in following]

    def _costs(self, record: RunRecord | None) -> Mapping[str, float]:
        """Return what each game costs in frames."""
        left = expected_frames(self._plan.trials, record)
        return {task: max(1.0, left.get(task, 0.0)) for task in self._trained.joint.tasks}


def _standing(step: Step, following: Sequence[outlook.Next], *, enough: bool, asked: float) -> str:
    title = predictors.atari().title
    if step.median is None:
        told = "nothing is known yet"
    else:
        low, high = (wording.percent(end) for end in (step.median.low, step.median.high))
        error = "unknown" if step.error is None else wording.share(step.error)
        told = (
            f"{wording.plural(step.known, 'game')}: median {wording.percent(step.median.value)}, 90 % from {low} to "
            f"{high}, ±{error}"
        )
    if enough:
        return f"{told}: within ±{wording.share(asked)}, as asked"
    return f"{told}; next {title(following[0].task)}" if following else told
