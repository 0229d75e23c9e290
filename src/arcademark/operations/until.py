"""Play the most informative games first, until the median of all is known well.

* The error is that of the median over the games of atari-57, predicted from any games: how far the 90 % interval
  reaches, as a share of the estimate (`arcademark.subset.predict.outlook.Range.error`). Scores count as exact: what
  more episodes or seeds would change is apart from it.
* The next game is the one expected to take most off that uncertainty per frame. A game costs its missing episodes, each
  as long as `arcademark.runs.scheduling.lengths.Lengths` expects; a learner its training, too.
* What is in the run's directory counts. A game that was begun is finished first; none is played twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from arcademark import wording
from arcademark.analysis.scoring.report import ScoreReport
from arcademark.analysis.subsets import predictors
from arcademark.analysis.subsets.predicting import Predicted
from arcademark.errors import ArcadeMarkError
from arcademark.runs.until import Turn, play_in_turn
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
class PlayedUntil:
    """How playing until the median is known ended, and what is known then.

    asked_error, error: Of the median, fractions; the second None where its interval has no upper end.
    reached, interrupted, failed: Whether that is enough, it was stopped, or a trial failed.
    level: Of the interval that the error is of.
    report: Of the run.
    prediction: None where no game is known.
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
class UntilError:
    """Plays games until the median of all is known as well as is requested.

    error: At which to stop, a fraction.
    request: Of one agent; raises where the error cannot be reached.
    games: Those to play first.
    play, say: Plays what is missing of a plan; is given what is known, a line at a time.
    """

    error: float
    request: Request
    games: tuple[str, ...]
    play: Callable[[Plan], RunSummary]
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        agents = [spec.label for spec in self.request.agents]
        if self.request.protocol.suite:
            raise ArcadeMarkError("--until-error is of the median over atari-57; leave --suite out")
        if self.request.options.get("shard"):
            raise ArcadeMarkError(
                "--engine shard=… and --until-error: games that are chosen one by one cannot be dealt out"
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
                f"--until-error: {self.agent} plays none of the games of atari-57, which the median is of"
            )
        least = outlook.least_error(self._trained, playable, rng=np.random.default_rng(predictors.SEED))
        if least > self.error:
            raise ArcadeMarkError(
                f"--until-error {wording.share(self.error)} cannot be reached: {self.agent} plays {len(playable)} of "
                f"the {len(tasks)} games, and the interval is ±{wording.share(least)} at least "
                "when all are played; choose that or more"
            )

    @property
    def reached(self) -> bool:
        """Whether what is known is enough."""
        last = self.steps[-1].error
        return last is not None and last <= self.error

    def run(self) -> tuple[bool, bool]:
        """Play until it is known, or nothing is left; return whether it was stopped, and whether a trial failed."""
        return play_in_turn(self._plan, self.request.directory, self.games, self.play, self._choose)

    def _choose(self, turn: Turn) -> str | None:
        """Note what is known now, say it, and return what to play next; None where it is enough, or all there is."""
        costs = {task: max(1.0, turn.left.get(task, 0.0)) for task in self._trained.joint.tasks}
        table = score_run(turn.record).table.select(algorithms=[self.agent]) if turn.record else None
        scores = predictors.known(table, 0) if table is not None else {}
        prediction = predictors.atari().predict(scores, level=LEVEL, frames=costs)
        if prediction is None:
            plays = outlook.first_plays(self._trained, rng=np.random.default_rng(predictors.SEED), frames=costs)
            step = PlayedTogether(turn.games, turn.frames, 0, None, None)
        else:
            plays, median = prediction.plays, prediction.summaries[MEDIAN]
            error = median.error if np.isfinite(median.error) else None
            step = PlayedTogether(turn.games, turn.frames, len(prediction.known), median, error)
        self.steps.append(step)
        if turn.failed and not step.known:
            self.say("every game so far failed; correct the agent, and the same command continues")
            return None
        chosen = None if self.reached else next((play.task for play in plays if play.task in turn.untried), None)
        following = chosen and predictors.atari().title(chosen)
        self.say(prose.text("until", "standing", step=step, reached=self.reached, error=self.error, next=following))
        return chosen
