"""Write runs read from training logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.records import manifest
from arcademark.records.database import MAX_NUMBER, MAX_STORED
from arcademark.records.imported import ImportedTrial, LoggedRows
from arcademark.records.model import (
    Checkpoint,
    EpisodeRecord,
    EpisodeResult,
    Phase,
    TrialRecord,
    encode_actions,
)
from arcademark.runs.store import provenance
from arcademark.runs.store.entering import now
from arcademark.runs.store.recording import Recorder
from arcademark.suite.protocols import Protocol
from arcademark.suite.settings import MAX_EPISODES, MAX_FRAMES


def write(
    recorder: Recorder,
    trials: Sequence[ImportedTrial],
    protocol: Protocol,
    source: manifest.Imported,
    versions: Mapping[str, str | None],
) -> None:
    """Write a run of trials read from logs, into a recorder's empty directory.

    Raises
    ------
    ArcadeMarkError
        If a trial has too many rows, or a number out of range.
    """
    most = {trial.agent: 0 for trial in trials}
    for trial in trials:
        _check(trial)
        most[trial.agent] = max(most[trial.agent], int(trial.training.frames.sum()))
    labels = tuple(dict.fromkeys(trial.label for trial in trials))
    document: manifest.Document = {
        "schema": manifest.SCHEMA_VERSION,
        "created": now(),
        "command": provenance.command(),
        "protocol": protocol.to_json(),
        "agents": [{"label": label, "parameters": {}} for label in labels],
        "games": dict.fromkeys((trial.game for trial in trials), ""),
        "seeds": sorted({trial.seed for trial in trials}),
        "episodes": max(trial.episodes for trial in trials),
        "training_frames": None,
        "training_episodes": None,
        "left_out": [],
        "versions": dict(versions),
        "emulator": None,
        "emulators": {},
        "continued": [],
        "imported": source,
    }
    with recorder.transaction():
        known = [(_record(trial, protocol, most[trial.agent]), trial) for trial in trials]
        recorder.add_trials(record for record, _ in known)
        for record, trial in known:
            recorder.begin_trial(record.id, None, learns=True)
            finished = Checkpoint(len(trial.training), int(trial.training.frames.sum()), True, b"")
            recorder.add_training(record.id, _results(record.id, "training", trial.training), finished)
            recorder.add_episodes(_results(record.id, "evaluation", trial.evaluation))
    manifest.write(recorder.directory, document)


def _check(trial: ImportedTrial) -> None:
    where = f"{trial.agent!r} on {trial.game}, run {trial.seed}"
    if not 0 <= trial.seed <= MAX_STORED:
        raise ArcadeMarkError(f"{where}: expected a run from 0 to {MAX_STORED}; name it with --read run=N or pattern=…")
    if not 1 <= trial.episodes <= MAX_EPISODES or len(trial.evaluation) > MAX_EPISODES:
        raise ArcadeMarkError(f"{where}: expected 1 to {MAX_EPISODES:,} episodes of a score")
    for rows in (trial.training, trial.evaluation):
        for values, most in ((rows.frames, MAX_FRAMES), (rows.steps, MAX_FRAMES), (rows.scores, MAX_NUMBER)):
            if len(values) and not np.abs(values).max() <= most:
                raise ArcadeMarkError(f"{where}: {np.abs(values).max():,} exceeds {most:,}, the maximum of a row")


def _record(trial: ImportedTrial, protocol: Protocol, most: int) -> TrialRecord:
    name = manifest.imported_id(trial.label, trial.game, protocol.to_json()["settings"], trial.seed)
    return TrialRecord(name, trial.label, trial.game, trial.seed, trial.episodes, most)


def _results(trial: str, phase: Phase, rows: LoggedRows) -> Iterator[EpisodeResult]:
    nothing = encode_actions(())
    for number, (score, frames, steps) in enumerate(
        zip(rows.scores.tolist(), rows.frames.tolist(), rows.steps.tolist(), strict=True)
    ):
        yield EpisodeResult(EpisodeRecord(trial, phase, number, score, frames, steps, "terminated", 0.0), nothing)
