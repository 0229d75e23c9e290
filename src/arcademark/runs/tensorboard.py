"""Scores of runs as TensorBoard's event files, a folder a trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.runs.database import clear_errors
from arcademark.runs.store import Episodes, RunRecord


def write(records: Sequence[RunRecord], folder: Path) -> int:
    """Write each trial's scores and return how many trials there are.

    ``training/score`` and ``training/frames`` of each episode of training stand at the frames that were trained by its
    end, those of ``evaluation`` at the number of the episode. Times are seconds of play.

    Raises
    ------
    ArcadeMarkError
        If the folder holds anything, there is no run, TensorBoard is not installed, or a file cannot be written.
    """
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.record_writer import RecordWriter
    except ImportError:
        raise ArcadeMarkError("--tensorboard needs TensorBoard: pip install '.[readers]'") from None
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ArcadeMarkError(f"--tensorboard {folder}: is there already; name a new folder")
    trials = [(record, trial) for record in records for trial in record.trials]
    if not trials:
        raise ArcadeMarkError(f"--tensorboard {folder}: expected a run, whose episodes are known; there is none here")
    with clear_errors(folder):
        for number, (record, trial) in enumerate(trials):
            place = folder / trial.id
            place = place if not place.exists() else folder / f"{trial.id}-{number}"  # of another run
            place.mkdir(parents=True)
            with (place / f"events.out.tfevents.{number}").open("xb") as file:
                writer = RecordWriter(file)
                writer.write(Event(file_version="brain.Event:2").SerializeToString())
                training, evaluation = record.training(trial), record.evaluation(trial)
                for phase, rows, steps in (
                    ("training", training, np.cumsum(training.frames)),
                    ("evaluation", evaluation, evaluation.episode),
                ):
                    for score, frames, step, seconds in _points(rows, steps):
                        values = ((f"{phase}/score", score), (f"{phase}/frames", frames))
                        told = Summary(value=[Summary.Value(tag=tag, simple_value=value) for tag, value in values])
                        writer.write(Event(wall_time=seconds, step=step, summary=told).SerializeToString())
    return len(trials)


def _points(rows: Episodes, steps: NDArray[np.int64]) -> Iterator[tuple[float, int, int, float]]:
    seconds = np.cumsum(rows.wall_seconds).tolist()
    return zip(rows.score.tolist(), rows.frames.tolist(), steps.tolist(), seconds, strict=True)
