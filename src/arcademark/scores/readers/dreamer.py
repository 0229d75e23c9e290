"""Reads learning curves of DreamerV2 and DreamerV3: the score files that they publish, and DreamerV3's own log.

Conventions
-----------
* A score file is a JSON list of runs, each with ``task`` (``atari_pong``), ``method``, ``seed``, ``xs`` and ``ys``: up
  to so many frames, the average of the episodes since the point before; null where none ended.
* ``scores.jsonl`` is a JSON object a training episode, of nothing but ``step``, the frames so far, and
  ``episode/score``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.arrays import parse_json
from arcademark.scores.readers.base import Log, count, score
from arcademark.scores.readers.rllib import json_lines

LOG = "scores.jsonl"
"""What DreamerV3 calls its log of scores."""

_SCORE = "episode/score"
_WHOLE = 0.9
_RUN = frozenset({"task", "method", "seed", "xs", "ys"})


def is_runs(content: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a JSON list of objects is a score file."""
    return content[0].keys() >= _RUN


def is_episode(content: Any) -> bool:
    """Whether a JSON object is a line of ``scores.jsonl``."""
    return isinstance(content, dict) and content.keys() == {"step", _SCORE}


def read_runs(path: Path, content: Sequence[Any]) -> list[Log]:
    """Read a score file; of runs that end well before the others a note says so."""
    logs = [_run(path, f"{path}, element {number}", item) for number, item in enumerate(content)]
    ends = [0.0 if log.steps is None or not len(log.steps) else float(log.steps[-1]) for log in logs]
    early = f"ends at less than {_WHOLE:.0%} of the {max(ends):,.0f} frames that others of the file have"
    return [
        replace(log, notes=(*log.notes, f"{log.label} {early}")) if end < _WHOLE * max(ends) else log
        for log, end in zip(logs, ends, strict=True)
    ]


def read_log(path: Path) -> list[Log]:
    """Read ``scores.jsonl``."""
    points = []
    for row, line, _ in json_lines(path):
        item = parse_json(path, line, row)
        if not is_episode(item):
            raise ArcadeMarkError(f"{path}, row {row}: expected an object of step and {_SCORE}, a training episode's")
        place = f"{path}, row {row}"
        points.append((_frames(place, item["step"]), score(f"{place}, {_SCORE}", item[_SCORE])))
    steps, values = np.array(sorted(points, key=lambda point: point[0]), dtype=np.float64).T
    known = ~np.isnan(values)
    lost = len(values) - int(known.sum())
    notes = (f"{count(lost, 'episode')} without a score left out",) if lost else ()
    return [
        Log(
            path,
            values[known],
            "episode",
            lost=lost,
            notes=notes,
            steps=steps[known],
            counts_frames=True,
            series=_SCORE,
        )
    ]


def _run(path: Path, place: str, item: Any) -> Log:
    if not isinstance(item, dict) or not item.keys() >= _RUN:
        raise ArcadeMarkError(f"{place}: expected an object with task, method, seed, xs and ys")
    task, method, seed, xs, ys = (item[name] for name in ("task", "method", "seed", "xs", "ys"))
    if not isinstance(task, str) or not isinstance(method, str):
        raise ArcadeMarkError(f"{place}: task and method are {task!r} and {method!r}, expected names")
    if not isinstance(xs, list) or not isinstance(ys, list) or len(xs) != len(ys):
        raise ArcadeMarkError(f"{place}: xs and ys are no two lists of one length; correct them")
    frames = [_frames(f"{place}, xs", x) for x in xs]
    if any(later <= earlier for earlier, later in pairwise(frames)):
        raise ArcadeMarkError(f"{place}, xs: frames do not increase; put the points in their order")
    values = np.array([math.nan if y is None else score(f"{place}, ys", y) for y in ys], dtype=np.float64)
    known = ~np.isnan(values)
    lost = len(values) - int(known.sum())
    left_out = ("points before which no episode ended are left out",) if lost else ()
    notes = ("scores are points of the curve, averages over episodes", *left_out)
    return Log(
        path,
        values[known],
        "average",
        method,
        task,
        int(seed) if _is_number(seed) else None,
        f"{method} on {task}, seed {seed}",
        lost=lost,
        notes=notes,
        steps=np.array(frames, dtype=np.float64)[known],
        counts_frames=True,
    )


def _is_number(seed: Any) -> bool:
    return str(seed).isdecimal() and len(str(seed)) <= 18


def _frames(place: str, value: Any) -> float:
    frames = score(place, value)
    if not frames >= 0:
        raise ArcadeMarkError(f"{place}: {value!r} is no number of frames; expected 0 or more")
    return frames
