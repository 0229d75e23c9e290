"""Play the most informative games first, until the median over all games is estimated within a given error.

* The error is that of the median over the games of atari-57, predicted from any games: the distance to the end of the
  90 % interval, as a share of the estimate (`arcademark.subset.predict.outlook.Range.error`). Scores count as exact:
  the error leaves out what more episodes or seeds would change.
* The next game is the one expected to reduce that uncertainty most per frame. The cost of a game is its missing
  episodes, each of the length that `arcademark.runs.scheduling.lengths.Lengths` expects, and a learner's training.
* Games in the run's directory count. A game that was begun is finished first; no game is played twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from arcademark import wording
from arcademark.analysis.scoring.report import ScoreReport
from arcademark.analysis.subsets import predictors
from arcademark.analysis.subsets.predicting import Predicted
from arcademark.errors import ArcadeMarkError
from arcademark.records import manifest
from arcademark.records.model import RunRecord
from arcademark.records.reading import read_run
from arcademark.runs.scheduling.lengths import expected_frames
from arcademark.scores.runs import score_run
from arcademark.subset.predict import outlook
from arcademark.suite.subsets import LEVEL
from arcademark.wording import prose

if TYPE_CHECKING:
    from arcademark.runs.plan import Plan
    from arcademark.runs.playing.events import RunSummary
    from arcademark.runs.request import Request

MEDIAN = "median"


@dataclass(frozen=True)
class PlayedTogether:
    """Games that were played together, and the estimate after them.

    games: Empty in the first step of a run that is continued.
    frames: Played in this command.
    known: Number of games from which the median was predicted.
    median: None where no game has a score.
    error: None where the interval has no upper end.
    """

    games: tuple[str, ...]
    frames: int
    known: int
    median: outlook.Range | None
    error: float | None


@dataclass(frozen=True)
class PlayedUntil:
    """Result of playing until the median is estimated within an error.

    asked_error, error: Requested and reached error of the median, fractions; the second None where its interval has no
        upper end.
    reached, interrupted, failed: True if the error was reached, the run was stopped, or a trial failed.
    level: Coverage of the interval that defines the error.
    report: Report on the run.
    prediction: None where no game has a score.
    """

    SCHEMA: ClassVar[str] = "arcademark.run-until/1"

    asked_error: float
    error: float | None
    reached: bool
    interrupted: bool
    failed: bool
    steps: tuple[PlayedTogether, ...]
    level: float
    report: ScoreReport
    prediction: Predicted | None


@dataclass
class InformativePlay:
    """Plays the most informative games first, until the median of all is estimated within an error.

    ArcadeMarkError: the error cannot be reached, or the request is of several agents, a shard or another suite.

    error: Error at which to stop, a fraction.
    request: Request of one agent.
    games: Games to play first.
    play, say: Called with a plan to play its missing episodes, and with a line for the estimate after each game.
    """

    error: float
    request: Request
    games: tuple[str, ...]
    play: Callable[[Plan], RunSummary]
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        agents = [spec.label for spec in self.request.agents]
        if self.request.protocol.suite:
            raise ArcadeMarkError("--until-error applies to the median over atari-57; leave --suite out")
        if self.request.options.get("shard"):
            raise ArcadeMarkError(
                "--engine shard=… and --until-error: games that are chosen one by one cannot be divided"
            )
        if len(agents) > 1:
            raise ArcadeMarkError(
                f"--until-error is for one agent, and {len(agents)} are named: {agents[0]}, {agents[1]}, …; choose one"
            )
        (self.agent,) = agents
        self.steps: list[PlayedTogether] = []
        self._trained = predictors.atari().trained
        tasks = self._trained.joint.tasks
        self._plan = self.request.plan(list(dict.fromkeys([*self.games, *tasks])))
        for left in self._plan.left_out:
            if left.game in self.games:
                self.say(f"left out  {left.agent} on {left.game}: {left.reason}")
        planned = {trial.game for trial in self._plan.trials}
        playable = [task for task in tasks if task in planned]
        if not playable:
            raise ArcadeMarkError(
                f"--until-error: {self.agent} plays none of the games of atari-57, whose median is estimated"
            )
        least = outlook.least_error(self._trained, playable, rng=np.random.default_rng(predictors.SEED))
        if least > self.error:
            raise ArcadeMarkError(
                f"--until-error {wording.share(self.error)} cannot be reached: {self.agent} plays {len(playable)} of "
                f"the {len(tasks)} games, and the interval is ±{wording.share(least)} at least "
                "when all are played; choose at least that"
            )

    @property
    def reached(self) -> bool:
        """True if the last estimate is within the error."""
        last = self.steps[-1].error
        return last is not None and last <= self.error

    def run(self) -> tuple[bool, bool]:
        """Play until the error is reached, or no game is left; return whether it was interrupted, and a trial failed.

        The games to play first and those that were begun are played together, then the others one after the other.
        """
        trials, record, failed, frames = self._plan.trials, self._recorded(), False, 0
        begun = {trial.game for trial in record.trials if record.by_trial[trial.id]} if record else set()
        untried = list(dict.fromkeys(trial.game for trial in trials))
        playing = [game for game in untried if game in begun or game in self.games]
        left = expected_frames(trials, record)
        played = tuple(game for game in playing if left[game])
        while True:
            if playing:
                mine = tuple(trial for trial in trials if trial.game in playing)
                summary = self.play(replace(self._plan, trials=mine, games=tuple(playing), left_out=()))
                failed, frames = failed or bool(summary.failed), summary.frames
                if summary.interrupted:
                    return True, failed
                untried = [game for game in untried if game not in playing]
            chosen = self._choose(played, frames, untried, failed=failed)
            if chosen is None:
                return False, failed
            playing, played = [chosen], (chosen,)

    def _recorded(self) -> RunRecord | None:
        directory = self.request.directory
        return read_run(directory) if (directory / manifest.FILE).exists() else None

    def _choose(self, played: tuple[str, ...], frames: int, untried: Iterable[str], *, failed: bool) -> str | None:
        """Record the estimate after the games played, and return the next game; None to end."""
        record = self._recorded()
        left: Mapping[str, float] = expected_frames(self._plan.trials, record)
        costs = {task: max(1.0, left.get(task, 0.0)) for task in self._trained.joint.tasks}
        table = score_run(record).table.select(algorithms=[self.agent]) if record else None
        scores = predictors.known(table, 0) if table is not None else {}
        prediction = predictors.atari().predict(scores, level=LEVEL, frames=costs)
        if prediction is None:
            plays = outlook.first_plays(self._trained, rng=np.random.default_rng(predictors.SEED), frames=costs)
            step = PlayedTogether(played, frames, 0, None, None)
        else:
            plays, median = prediction.plays, prediction.summaries[MEDIAN]
            error = median.error if np.isfinite(median.error) else None
            step = PlayedTogether(played, frames, len(prediction.known), median, error)
        self.steps.append(step)
        if failed and not step.known:
            self.say("every game so far failed; correct the agent, and the same command continues")
            return None
        chosen = None if self.reached else next((play.task for play in plays if play.task in untried), None)
        following = chosen and predictors.atari().title(chosen)
        self.say(prose.text("until", "standing", step=step, reached=self.reached, error=self.error, next=following))
        return chosen
