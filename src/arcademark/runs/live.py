"""How far a run is, read in a moment also while it is played, and what its driver says meanwhile.

The store tells what is recorded. What is in play, how fast, and for how long, the driver says every few seconds in
``live.json``; it holds as long as somebody holds the run's lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.files import parse_json, read_as, read_text
from arcademark.runs import manifest
from arcademark.runs.checks import check_rows
from arcademark.runs.database import LOCK, check_version, open_for_reading
from arcademark.runs.store import MOST_SAID, scored_phase

FILE = "live.json"
MOST_BYTES = 2**20
MOST_PLAYING = 10_000  # trials that are named

State = Literal["done", "playing", "begun", "failed", "left"]


class Live(TypedDict):
    """What the driver says."""

    trials: list[str]  # ids of those in play
    frames_per_second: float  # lately, with those that planners simulate
    seconds_left: float | None  # null while it cannot be told
    at_most: bool  # whether that is a bound


@dataclass(frozen=True)
class TrialLook:
    """How far one trial is.

    state: "begun": something is recorded, and nobody plays it now as far as is known.
    episodes: Of its score that are recorded; where training is scored, all of them at its end.
    trained: Frames of training, or episodes where its budget is in these; None unless it learns.
    budget: The same of its budget.
    error: Why it failed, in one line.
    """

    id: str
    agent: str
    game: str
    seed: int
    state: State
    episodes: int
    planned_episodes: int
    trained: int | None
    budget: int | None
    error: str


@dataclass(frozen=True)
class Look:
    """How far a run is, its trials in the plan's order; `live` is None unless a process plays it."""

    directory: Path
    protocol: str
    played: bool
    live: Live | None
    trials: tuple[TrialLook, ...]


def write(directory: Path, live: Live) -> None:
    """Say how it goes; that it cannot be said stops nothing."""
    draft = directory / f"{FILE}.draft"
    with contextlib.suppress(OSError):
        draft.unlink(missing_ok=True)
        with draft.open("x", encoding="ascii") as file:
            json.dump(live, file)
        draft.replace(directory / FILE)


def remove(directory: Path) -> None:
    """Take back what was said, as nothing is played any more."""
    with contextlib.suppress(OSError):
        (directory / FILE).unlink(missing_ok=True)


def look(directory: Path) -> Look:
    """Look at a run, without reading its episodes.

    How many there are is what each command noted; whether they are, `arcademark.runs.store.read_run` checks.
    """
    document = manifest.read(directory)
    protocol = manifest.protocol_of(directory, document)
    played = _held(directory / LOCK)
    live = _read(directory / FILE) if played else None
    in_play = set(live["trials"]) if live else set()
    with open_for_reading(directory, checked=False) as database:
        check_rows(directory, database, check_version(directory, database), pages=False)
        rows = database.execute(_LOOK).fetchall()
    trials = []
    for identity, agent, game, seed, episodes, frames, wanted, learns, error, evaluated, *trained, begun in rows:
        checkpointed, trained_frames, finished = trained
        scored = scored_phase(protocol, bool(learns)) == "training"
        done = (episodes if finished else 0) if scored else min(evaluated, episodes)
        budget = wanted if wanted is not None else protocol.training_episodes
        state: State = "begun" if evaluated or checkpointed or begun else "left"
        if error is not None:
            state = "failed"
        elif done >= episodes and (finished or not learns):
            state = "done"
        elif identity in in_play:
            state = "playing"
        trials.append(
            TrialLook(
                *(identity, agent, game, seed, state, done, episodes),
                trained=(checkpointed if frames is None else trained_frames) or 0 if learns else None,
                budget=(budget if frames is None else frames) if learns else None,
                error=one_line(error or "", MOST_SAID),
            )
        )
    return Look(directory, protocol.label, played, live, tuple(trials))


_LOOK = """
SELECT id, agent, game, seed, trial.episodes, training_frames, training_episodes, learns, substr(error, 1, 5000),
    coalesce(
        (SELECT iif(min(command) = 0, sum(evaluation.episodes), NULL) FROM evaluation WHERE trial = id),
        (SELECT count(*) FROM episode WHERE trial = id AND phase = 'evaluation' AND episode < trial.episodes)
    ),
    checkpoint.episodes, checkpoint.frames, checkpoint.finished, EXISTS (SELECT 1 FROM unfinished WHERE trial = id)
FROM trial LEFT JOIN checkpoint ON checkpoint.trial = id ORDER BY position
"""
"""What was noted of evaluations counts, unless commands of older versions noted nothing."""


def _held(path: Path) -> bool:
    """Tell whether a process holds a run's lock, which it does as long as it plays."""
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if stat.S_ISREG(os.fstat(file).st_mode):
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(file)
    return False


def _read(path: Path) -> Live | None:
    with contextlib.suppress(ArcadeMarkError, FileNotFoundError):
        remedy = "it is written anew in some seconds"
        return read_as(Live, parse_json(read_text(path, MOST_BYTES), path, remedy), path, remedy)
    return None
