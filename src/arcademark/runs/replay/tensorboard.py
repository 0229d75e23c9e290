"""Scores of runs as TensorBoard's event files, one folder per trial, after or during play."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.importing import needing
from arcademark.records.database import clear_errors
from arcademark.records.model import Episodes, Phase, RunRecord

Point = tuple[float, int, Mapping[str, float]]
"""A time in seconds, a step, and scalars by their tags."""


def write(records: Sequence[RunRecord], folder: Path) -> int:
    """Write each trial's scores and return how many trials there are.

    ``training/score`` and ``training/frames`` of each training episode are at the frames trained up to its end, those
    of ``evaluation`` at the number of the episode. Times are seconds of play.

    Raises
    ------
    ArcadeMarkError
        If the folder is not empty, no run is given, TensorBoard is not installed, or a file cannot be written.
    """
    check_installed()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ArcadeMarkError(f"--tensorboard {folder}: already exists; name a new folder")
    trials = [(record, trial) for record in records for trial in record.trials]
    if not trials:
        raise ArcadeMarkError(f"--tensorboard {folder}: expected a run, with single episodes; none was given")
    with clear_errors(folder):
        for number, (record, trial) in enumerate(trials):
            place = folder / trial.id
            place = place if not place.exists() else folder / f"{trial.id}-{number}"  # of another run
            file = place / f"events.out.tfevents.{number}"
            training, evaluation = record.training(trial), record.evaluation(trial)
            add(file, _points("training", training, np.cumsum(training.frames)))
            add(file, _points("evaluation", evaluation, evaluation.episode))
    return len(trials)


def add(path: Path, points: Iterable[Point]) -> None:
    """Add scalars to an event file, which is made with its folder if missing."""
    event, summary, writer_of = check_installed()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        writer = writer_of(file)
        if not file.tell():
            writer.write(event(file_version="brain.Event:2").SerializeToString())
        for seconds, step, values in points:
            scalars = summary(value=[summary.Value(tag=tag, simple_value=value) for tag, value in values.items()])
            writer.write(event(wall_time=seconds, step=step, summary=scalars).SerializeToString())


def check_installed() -> tuple[Any, Any, Any]:
    """Return TensorBoard's classes of events, summaries and files; an ArcadeMarkError if it is not installed."""
    with needing("--tensorboard needs TensorBoard", "readers"):
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.record_writer import RecordWriter
    return Event, Summary, RecordWriter


def _points(phase: Phase, rows: Episodes, steps: NDArray[np.int64]) -> Iterator[Point]:
    seconds = np.cumsum(rows.wall_seconds).tolist()
    columns = (seconds, steps.tolist(), rows.score.tolist(), rows.frames.tolist())
    for time, step, score, frames in zip(*columns, strict=True):
        yield time, step, {f"{phase}/score": score, f"{phase}/frames": frames}
