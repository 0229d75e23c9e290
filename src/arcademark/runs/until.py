"""Play games one after the other, each chosen by what is known once those before it have ended."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from arcademark.records import manifest
from arcademark.records.model import RunRecord
from arcademark.records.reading import read_run
from arcademark.runs.plan import Plan
from arcademark.runs.scheduling.lengths import expected_frames

if TYPE_CHECKING:
    from arcademark.runs.playing.events import RunSummary


@dataclass(frozen=True)
class Turn:
    """What was played together, and what may be played next.

    games: Without those that were complete before; none in the first turn of a run that is complete.
    frames: That they took, in this command.
    failed: Whether a trial failed in this command.
    record: The run's; None where nothing is recorded.
    left: What is left of each game, in frames that are emulated.
    untried: Games of which nothing was played.
    """

    games: tuple[str, ...]
    frames: int
    failed: bool
    record: RunRecord | None
    left: Mapping[str, float]
    untried: Collection[str]


def play_in_turn(
    plan: Plan,
    directory: Path,
    first: Collection[str],
    play: Callable[[Plan], RunSummary],
    choose: Callable[[Turn], str | None],
) -> tuple[bool, bool]:
    """Play the games that are to be first and those that were begun, then one after the other.

    Parameters
    ----------
    plan : Plan
        Of all games that may be played.
    directory : path
        The run's, which need not exist. A game that is complete there is not played again.
    first : collection of str
    play : callable
        Plays what is missing of a plan, into the directory.
    choose : callable
        Returns what to play next; None to end.

    Returns
    -------
    interrupted, failed : bool
        Whether it was stopped, and whether a trial failed.
    """
    record, failed, frames = _recorded(directory), False, 0
    begun = {trial.game for trial in record.trials if record.by_trial[trial.id]} if record else set()
    untried = dict.fromkeys(trial.game for trial in plan.trials)
    playing = [game for game in untried if game in begun or game in first]
    left = expected_frames(plan.trials, record)
    games = tuple(game for game in playing if left[game])
    while True:
        if playing:
            trials = tuple(trial for trial in plan.trials if trial.game in playing)
            summary = play(replace(plan, trials=trials, games=tuple(playing), left_out=()))
            failed, frames = failed or bool(summary.failed), summary.frames
            if summary.interrupted:
                return True, failed
            untried = dict.fromkeys(game for game in untried if game not in playing)
        record = _recorded(directory)
        chosen = choose(Turn(games, frames, failed, record, expected_frames(plan.trials, record), untried))
        if chosen is None:
            return False, failed
        playing, games = [chosen], (chosen,)


def _recorded(directory: Path) -> RunRecord | None:
    return read_run(directory) if (directory / manifest.FILE).exists() else None
