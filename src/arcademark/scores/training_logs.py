"""Training logs made elsewhere, merged by algorithm, game and run, with the frames that they took.

Conventions
-----------
* Averages and means of evaluations are not episodes: `TrainingLog.averages` is True.
* A log counts the agent's steps, or the steps of each episode in the environment. A step of the agent has as many
  frames as the protocol's frame skip. Stable-Baselines3's Monitor and CleanRL's episode statistics are the innermost
  wrappers: below them, a step of a ``…NoFrameskip-v4`` environment is one frame. `frames_per_step` overrides this.
* Training often clips rewards to their signs, or ends an episode with each life. `TrainingLog.doubts` marks such logs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arcademark import files
from arcademark.errors import ArcadeMarkError
from arcademark.records.imported import ImportedTrial, LoggedRows
from arcademark.scores.readers.base import DEFAULT_LAST, Log, Options, refuse_improper
from arcademark.scores.readers.formats import Recognised
from arcademark.scores.readers.logs.base import by_run, merge
from arcademark.scores.readers.logs.naming import as_written
from arcademark.suite.references import scores as references
from arcademark.suite.settings import MAX_FRAMES
from arcademark.suite.tasks import game_name, games

MAX_POINTS_READ = 100
"""Largest number of episodes at the beginning of training that are compared with random play."""

FEWEST_HEARD = 20
"""Smallest number of episodes or averages that are compared with random play."""

UNTRAINED = 0.6
"""Share of random play's score that whole games reach at first; a single life is worth at most half of a game."""

LENGTH = "an episode has length"

_NAMED = re.compile(r"clip|(?<![a-z])(?:lives?|episodic_life|one_life)(?![a-z])", re.IGNORECASE)

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TrainingLog(ImportedTrial):
    """One run's training on one game.

    Its evaluation consists of the episodes of its last evaluations, and is empty if there were none. Its score is the
    mean of the evaluation, or else of the last values of training.

    Parameters
    ----------
    averages : bool
        True if each value of training is an average that the tool logged, not an episode.
    assumed, doubts : tuple of str
        Assumptions about facts that the log lacks; reasons to doubt that its values are raw scores of whole games.
    """

    averages: bool
    assumed: tuple[str, ...]
    doubts: tuple[str, ...]


def training_logs(
    logs: Sequence[tuple[Log, Recognised]], options: Options, *, frame_skip: int, frames_per_step: int | None = None
) -> tuple[tuple[TrainingLog, ...], tuple[str, ...]]:
    """Merge logs by run; return those with scores, and the places of those without.

    Parameters
    ----------
    logs : sequence of (Log, Recognised)
        Each with its file, as `arcademark.scores.reading.read_logs` returns them.
    options : Options
        Options with which they were read.
    frame_skip : int
        Frames per step of the agent.
    frames_per_step : int, optional
        Frames per step of those that an episode's length counts; derived from the environment's id by default.

    Raises
    ------
    ArcadeMarkError
        If a log's algorithm, game or run is unknown, two logs are of the same run, one has neither steps nor lengths,
        or none has scores.
    """
    kinds = {id(log): file.format for log, file in logs}
    unnamed = replace(options, task=None)  # a game that the caller names is not an environment's id
    written = {id(log): log.task or as_written(log, file.relative, unnamed).task or "" for log, file in logs}
    runs = by_run([(log, file.relative) for log, file in logs], options)
    clock = _Clock(frame_skip, frames_per_step)
    placed = [
        (parts[0].place, _merged(key, parts, kinds, written, options, clock)) for key, parts in sorted(runs.items())
    ]
    whole = tuple(log for _, log in placed if log)
    empty = tuple(place for place, log in placed if not log)
    if not whole:
        raise ArcadeMarkError(f"{empty[0]}: no score in the log (no episode finished, or all are NaN); leave it out")
    return whole, empty


def checksums(logs: Sequence[tuple[Log, Recognised]]) -> dict[str, str]:
    """Return the SHA-256 of each file by its path relative to the named folder."""
    paths = {file.relative.as_posix(): file.path for _, file in logs}
    return {name: hashlib.sha256(files.read_bytes(path)).hexdigest() for name, path in paths.items()}


@dataclass(frozen=True)
class _Clock:
    frame_skip: int
    frames_per_step: int | None

    def of_lengths(self, environment: str) -> tuple[int, str]:
        """Return the frames per step of those that lengths count, and the assumption made, or ""."""
        if self.frames_per_step is not None:
            return self.frames_per_step, ""
        if "noframeskip" in environment.lower():
            return 1, "an episode's length is counted in frames, as NoFrameskip in the environment's id says"
        return self.frame_skip, f"an episode's length is counted in steps of {self.frame_skip} frames"


def _merged(
    key: tuple[str, str, int],
    parts: Sequence[Log],
    kinds: Mapping[int, str],
    written: Mapping[int, str],
    options: Options,
    clock: _Clock,
) -> TrainingLog | None:
    algorithm, task, run = key
    refuse_improper(parts[0].place, [algorithm])
    trained = [log for log in parts if log.evaluations is None]
    evaluated = [log for log in parts if log.evaluations is not None]
    first = trained[0] if trained else evaluated[0]
    log = merge(key, trained or evaluated)
    environment = next((written[id(part)] for part in (*trained, *evaluated) if written[id(part)]), "")
    assumed: list[str] = []
    nothing = LoggedRows(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
    evaluation = nothing
    if evaluated:
        separate = merge(key, evaluated)
        if separate.unit == "episode":
            evaluation = _episodes(separate, environment, clock, assumed)
    if log.evaluations is not None:
        steps, means = log.evaluations
        log = replace(log, values=means, unit="average", steps=steps, lengths=None)
    training = _trained(log, environment, clock, assumed)
    if not len(training.scores):
        return None
    last = len(evaluation.scores) or min(options.last or DEFAULT_LAST[log.unit], len(training.scores))
    return TrainingLog(
        algorithm,
        task,
        run,
        training,
        evaluation,
        last,
        log.unit == "average",
        tuple(dict.fromkeys(assumed)),
        tuple(_doubts(task, log, evaluation.scores, kinds[id(first)])),
    )


def _episodes(log: Log, environment: str, clock: _Clock, assumed: list[str]) -> LoggedRows:
    """Return the episodes of a log, with their frames and steps, which are 0 if it has no lengths."""
    steps = np.zeros(len(log.values), np.int64) if log.lengths is None else _whole(log, log.lengths, LENGTH, 1)
    frames, assumption = clock.of_lengths(environment)
    if assumption and log.lengths is not None:
        assumed.append(assumption)
    return LoggedRows(log.values, steps * frames, steps)


def _trained(log: Log, environment: str, clock: _Clock, assumed: list[str]) -> LoggedRows:
    """Return the values of training; if the log counts training's steps, their frames add up to these."""
    if log.steps is None and log.lengths is None:
        raise ArcadeMarkError(
            f"{log.place}: has neither the steps of training nor episodes' lengths, so there is no learning curve; "
            "'arcademark report' reads its scores"
        )
    if log.steps is None:
        return _episodes(log, environment, clock, assumed)
    ends = np.maximum.accumulate(_whole(log, log.steps, "a value is after step", 0)) * clock.frame_skip
    frames = np.diff(ends, prepend=0)
    assumed.append(f"a step of training is {clock.frame_skip} frames")
    steps = np.zeros(len(frames), np.int64) if log.lengths is None else _whole(log, log.lengths, LENGTH, 1)
    return LoggedRows(log.values, frames, steps)


def _whole(log: Log, values: _Floats, what: str, least: int) -> _Ints:
    wrong = ~((values >= least) & (values <= MAX_FRAMES) & (values == np.floor(values)))  # of NaN, too
    if wrong.any():
        raise ArcadeMarkError(
            f"{log.place}: {what} {values[wrong][0]:.12g}; expected whole numbers of at least {least}; correct it"
        )
    return values.astype(np.int64)


def _doubts(task: str, log: Log, evaluation: _Floats, format: str) -> Iterator[str]:
    """Yield reasons to doubt that values are raw scores of whole games: their names, then the scores themselves."""
    if log.series and (named := _NAMED.search(log.series)):
        yield f"the series is named {log.series!r} ({named[0]})"
    of_episodes = np.concatenate([log.values if log.unit == "episode" else np.empty(0), evaluation])
    step = games()[task].score_step
    if (of_episodes != np.round(of_episodes)).any():
        yield "some episodes' scores are not whole numbers, as every game's are: rewards were scaled or shaped"
    elif len(of_episodes) and (off := np.count_nonzero(of_episodes % step)):
        yield (
            f"{off:,} of {len(of_episodes):,} episodes' scores are not multiples of {step:,}, as every score of "
            f"{game_name(task)} is: rewards were clipped to their signs or scaled"
        )
    if format == "sb3-evaluations":  # the agent may act greedily from the start
        return
    random = references("random").get(task, 0.0)
    if random < 1 or len(log.values) < FEWEST_HEARD:
        return
    if log.unit == "average":  # the first ones average few games, and short games end first
        level = float(log.values[:FEWEST_HEARD].max())
        seen = f"its first {FEWEST_HEARD} averages are {level:.3g} at most"
    else:
        begun = log.values[: max(FEWEST_HEARD, min(MAX_POINTS_READ, len(log.values) // 2))]
        level = float(begun.mean() + 3 * begun.std(ddof=1) / len(begun) ** 0.5)
        seen = f"its first {len(begun)} episodes are {begun.mean():.3g} on average"
    if level < UNTRAINED * random:
        lives = " or one life was counted as a game" if games()[task].lives > 1 else ""
        yield f"{seen}, where random play has {random:,.6g}: rewards were clipped to their signs{lives}"
