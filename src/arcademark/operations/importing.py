"""Import logs of training made elsewhere as a run, with all assumptions and doubts recorded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError
from arcademark.records import manifest
from arcademark.records.imported import ImportedTrial
from arcademark.runs.store import importing, provenance
from arcademark.runs.store.recording import Recorder
from arcademark.scores.readers.base import Options, listed
from arcademark.scores.reading import read_logs
from arcademark.scores.training_logs import checksums, training_logs
from arcademark.suite import protocols, tasks
from arcademark.wording import plural


@dataclass(frozen=True)
class ImportResult:
    """Result of an import: the run's directory, its trials, and sentences on the files read and left out."""

    directory: Path
    trials: tuple[ImportedTrial, ...]
    notes: tuple[str, ...]


def import_logs(
    places: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str] | None = None,
    *,
    protocol: str | None = None,
    frames_per_step: int | None = None,
    format: str | None = None,
    **reading: Any,
) -> ImportResult:
    """Make a run from training logs.

    Parameters
    ----------
    places : sequence of path
        Files, or folders that are searched at any depth.
    out : path, optional
        The run's directory, new or empty; by default "runs/imported-" and the algorithm's name.
    protocol : str, optional
        Protocol of the training; by default "world-records", reported as an assumption. The logs determine which
        episodes make the score.
    frames_per_step : int, optional
        See `arcademark.scores.training_logs.training_logs`.
    format, **reading
        As in `arcademark.scores.reading.read_logs`.

    Raises
    ------
    ArcadeMarkError
        If there are no training logs, one cannot be read, or the directory is not empty.
    """
    rules = protocols.protocol(protocol or "world-records")
    reading = {**reading, "canonical_task": tasks.canonical_game}
    logs, notes = read_logs(list(places), format=format, **reading)
    trials, empty = training_logs(
        logs, Options(**reading), frame_skip=rules.frame_skip, frames_per_step=frames_per_step
    )
    # evaluation is reported if every log has it, else training
    if all(len(trial.evaluation) for trial in trials):
        rules = rules.override({"reported_episodes": "evaluation"})
    else:  # logs contain whole games if the game continues after a life
        whole = {"training_episode_end": rules.evaluation_episode_end}
        rules = rules.override({"reported_episodes": "training_last_k", **whole})
    assumed = dict.fromkeys(text for trial in trials for text in trial.assumed)
    source: manifest.Imported = {
        "formats": list(dict.fromkeys(file.format for _, file in logs)),
        "files": checksums(logs),
        "averages": list(dict.fromkeys(trial.label for trial in trials if trial.averages)),
        "assumed": [*([] if protocol else [f"the protocol is {rules.name}"]), *assumed],
        "doubts": list(dict.fromkeys((trial.label, trial.game, text) for trial in trials for text in trial.doubts)),
    }
    name = manifest.slug(trials[0].agent) or "logs"
    directory = Path(out) if out is not None else Path("runs") / f"imported-{name}"
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ArcadeMarkError(f"{directory}: already exists; name a new directory with --out")
    with Recorder(directory) as recorder:
        importing.write(recorder, trials, rules, source, {**provenance.versions(), "ale-py": None})
    if empty:
        notes = (*notes, f"{plural(len(empty), 'log')} without a score left out: {listed(empty)}")
    return ImportResult(directory, trials, notes)
