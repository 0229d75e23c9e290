"""The progress of a run, which can be read quickly at any time, with its driver's reports during play.

Recorded results are in the database. The trials in play, their speed and the remaining time are written by the driver
to ``live.json`` every few seconds; the file is valid while a process has the run's lock.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypedDict, get_args

from msgspec import Meta

from arcademark.errors import ArcadeMarkError
from arcademark.files import parse_json, read_as, read_text
from arcademark.records import combined, manifest
from arcademark.records.database import check_rows, no_writer
from arcademark.records.model import TrialRecord, scored_phase
from arcademark.records.reading import open_run, read_trials
from arcademark.records.rows import check_noted
from arcademark.suite.protocols import Protocol, from_json

FILE = "live.json"
MAX_BYTES = 2**20
MAX_PLAYING = 10_000  # trials that are named

State = Literal["pending", "started", "failed", "playing", "done"]
STATES: tuple[State, ...] = get_args(State)
"""In the order of progress: among copies of a trial the furthest one counts."""


Amount = Annotated[float, Meta(ge=0, le=1e12)]


class Live(TypedDict):
    """Progress that the driver reports."""

    trials: list[str]  # ids of those in play
    frames_per_second: Amount  # lately, with those that planners simulate
    seconds_left: Amount | None  # null while unknown
    at_most: bool  # whether that is an upper bound


@dataclass(frozen=True)
class TrialProgress:
    """One trial.

    state: "pending": nothing is recorded; "started": something is, and no process plays it now as far as is known.
    episodes: Recorded episodes of its score; if training is scored, all of them at its end.
    trained: Frames of training, or episodes where its budget is in these; None unless it learns.
    budget: Its training budget in the same unit; None unless it learns.
    error: Error that it failed with, in one line.
    unit: Unit of lengths.
    """

    id: str
    agent: str
    protocol: str
    game: str
    seed: int
    state: State
    episodes: int
    planned_episodes: int
    trained: int | None
    budget: int | None
    error: str
    unit: Literal["frame", "step"] = "frame"


@dataclass(frozen=True)
class RunProgress:
    """A run, its trials in the plan's order; `live` is None unless a process plays it."""

    directory: Path
    document: manifest.Document
    running: bool
    live: Live | None
    trials: tuple[TrialProgress, ...]


def write(directory: Path, live: Live) -> None:
    """Write the driver's report; errors are ignored."""
    draft = directory / f"{FILE}.draft"
    with contextlib.suppress(OSError):
        draft.unlink(missing_ok=True)
        with draft.open("x", encoding="ascii") as file:
            json.dump(live, file)
        draft.replace(directory / FILE)


def remove(directory: Path) -> None:
    """Remove the report, as nothing is played any more."""
    with contextlib.suppress(OSError):
        (directory / FILE).unlink(missing_ok=True)


def read_progress(directory: Path) -> RunProgress:
    """Read the progress of a run, without its episodes, of which only the number is checked.

    `arcademark.records.reading.read_run` checks their content. ArcadeMarkError if it cannot be read.
    """
    with no_writer(directory) as free:
        running = not free
    live = _read(directory / FILE) if running else None
    in_play = set(live["trials"]) if live else set()
    with open_run(directory, checked=False) as (database, document, protocol):
        check_rows(directory, database, indices=False)
        recorded = read_trials(directory, database, document, protocol)
        check_noted(directory, database, recorded, protocol)
    trials = tuple(_progress(trial, protocol, in_play) for trial in recorded)
    return RunProgress(directory, document, running, live, trials)


def planned(documents: Iterable[manifest.Document]) -> Iterator[TrialProgress]:
    """Yield the initial progress of the trials of every divided plan among these manifests."""
    for document in combined.plans(documents):
        protocol = from_json(document["protocol"])
        for trial in combined.planned(document, protocol):
            yield _progress(trial, protocol)


def _progress(trial: TrialRecord, protocol: Protocol, in_play: Collection[str] = ()) -> TrialProgress:
    state: State = "started" if trial.status == "running" else trial.status
    if trial.id in in_play and state in ("pending", "started"):
        state = "playing"
    done, in_frames = trial.evaluated, trial.training_frames is not None
    if scored_phase(protocol, bool(trial.learns)) == "training":
        done = trial.episodes if trial.status == "done" else 0
    return TrialProgress(
        *(trial.id, trial.agent, protocol.label, protocol.task_name(trial.game), trial.seed),
        *(state, done, trial.episodes),
        trained=(trial.trained_frames if in_frames else trial.trained_episodes) if trial.learns else None,
        budget=(trial.training_frames if in_frames else trial.training_episodes) if trial.learns else None,
        error=trial.error or "",
        unit=protocol.unit,
    )


def _read(path: Path) -> Live | None:
    with contextlib.suppress(ArcadeMarkError, FileNotFoundError):
        remedy = "it is rewritten every few seconds"
        return read_as(Live, parse_json(read_text(path, MAX_BYTES), path, remedy, finite=True), path, remedy)
    return None
