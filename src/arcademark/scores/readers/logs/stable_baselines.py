"""Reads what Stable-Baselines3 leaves of a run: ``monitor.csv`` and ``evaluations.npz``.

Conventions
-----------
* A monitor file begins with a line ``#`` and JSON (start of the clock, the environment's id), then columns ``r`` (the
  episode's score), ``l`` (its length), ``t`` (seconds since the start). Where environments ran in parallel, each has a
  file in the same folder; together they are one run.
* ``evaluations.npz`` holds ``timesteps`` (evaluations,), ``results`` and ``ep_lengths``, both (evaluations, episodes).
  The score is the mean over the episodes of the last evaluation; `last` asks for more evaluations.
"""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.arrays import load_npz, parse_json
from arcademark.scores.readers.base import Log, Options, Unit
from arcademark.scores.readers.content import MAX_TEXT_BYTES, decode, read_bytes
from arcademark.scores.readers.sheets.delimited import parse_sheet
from arcademark.wording import plural


def read_monitor(path: Path, options: Options) -> list[Log]:  # noqa: ARG001
    """Read a monitor file's episodes."""
    content = read_bytes(path, MAX_TEXT_BYTES)
    environment, start = _header(path, decode(path, content).partition("\n")[0])
    sheet = parse_sheet(path, content, skip=1)
    score, time = sheet.find(("r",)), sheet.find(("t",))
    if score is None or time is None:
        raise ArcadeMarkError(f"{path}, row 2: expected the columns r, l, t, not {', '.join(sheet.header)!r}")
    values, times = sheet.scores(score), sheet.scores(time)
    missing = np.isnan(values) | np.isnan(times)
    if missing.any():
        row = int(np.argmax(missing))
        raise ArcadeMarkError(
            f"{sheet.place(row, score)}: an episode without a score or a time; correct or remove the row"
        )
    column = sheet.find(("l",))
    lengths = None if column is None else sheet.scores(column)
    return [Log(path, values, "episode", task=environment, times=times + start, lengths=lengths)]


class _Head(msgspec.Struct):
    t_start: float = 0.0
    env_id: str | None = None


def _header(path: Path, line: str) -> tuple[str | None, float]:
    """Return the environment's id and the start of the clock."""
    try:
        head = msgspec.convert(parse_json(path, line.removeprefix("#"), 1), _Head)
    except (ArcadeMarkError, msgspec.ValidationError):
        head = _Head(math.nan)
    if not line.startswith("#") or not math.isfinite(head.t_start):
        raise ArcadeMarkError(
            f'{path}, row 1: expected a monitor\'s first line, # and JSON such as {{"t_start": 0.0, "env_id": "…"}}'
        )
    return None if head.env_id in ("", "None") else head.env_id, head.t_start


def read_evaluations(path: Path, options: Options) -> list[Log]:
    """Read the last evaluations of an evaluation callback's file."""
    arrays = load_npz(path)
    steps, results = (arrays.get(name, np.empty(0, dtype="S1")) for name in ("timesteps", "results"))
    numbers = {steps.dtype.kind, results.dtype.kind} <= {*"fiu"}
    if results.ndim not in (1, 2) or steps.shape != results.shape[:1] or not numbers:
        raise ArcadeMarkError(
            f"{path}: 'results' has shape {results.shape} and 'timesteps' {steps.shape}; expected numbers of shape "
            "(evaluations, episodes) and (evaluations,)"
        )
    if not results.size:
        raise ArcadeMarkError(f"{path}: there is no evaluation; expected at least one")
    scores = np.asarray(results, dtype=np.float64).reshape(len(results), -1)
    for evaluation, episode in np.argwhere(~np.isfinite(scores)):
        raise ArcadeMarkError(
            f"{path}, results[{evaluation}, {episode}]: {scores[evaluation, episode]} is no score; evaluate again, or "
            "remove that evaluation"
        )
    k = min(options.last or 1, len(scores))
    order = np.argsort(steps, kind="stable")
    kept = scores[order][-k:]
    lengths = np.asarray(arrays.get("ep_lengths", np.empty(0)), dtype=np.float64)
    evaluations = "evaluation, at" if k == 1 else f"{k} evaluations, to"
    notes = (
        f"scores are of the last {evaluations} {np.max(steps):,.0f} steps",
        f"{plural(len(scores), 'evaluation')} in the file",
    )
    unit: Unit = "episode" if results.ndim == 2 else "average"
    return [
        Log(
            path,
            kept.ravel(),
            unit,
            earlier=scores.size - kept.size,
            notes=notes,
            lengths=lengths[order][-k:].ravel() if lengths.shape == results.shape else None,
            evaluations=(np.asarray(steps[order], dtype=np.float64), scores[order].mean(axis=1)),
        )
    ]
