"""Reads learning curves of several runs: DQN Zoo's results and Dopamine's baselines.

Conventions
-----------
* DQN Zoo writes ``results.csv``, a row an iteration of 1 million frames: ``iteration``, ``frame``,
  ``eval_episode_return``, …; its published results put such files together, with ``environment_name`` and ``seed``
  before. One file is one agent.
* Dopamine's baselines are a JSON list, or CSV, of ``Agent``, ``Iteration``, ``Value`` and, sometimes, ``Game``; without
  it a file is one game and named after it, and the network, where it names one, is part of the agent's name
  (``pong.json``, ``pong_CNN.json``). ``Value`` is the average over an iteration's training episodes; an iteration is a
  million frames. Runs are not numbered: they follow each other, or stand together at each iteration in the same order.
* The score is the last iteration's; `last` asks for the mean of more.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import Log, Options, gathered, score
from arcademark.scores.readers.sheet import Sheet

ZOO_RETURN = "eval_episode_return"
_ZOO_GAME = ("environment_name",)
_NETWORK = re.compile(r"(?P<game>.+)_(?P<network>CNN|Impala)")
_ITERATION = 1_000_000
"""Frames of one of Dopamine's iterations, unless configured otherwise."""


def is_zoo(sheet: Sheet) -> bool:
    """Whether a table is DQN Zoo's."""
    return sheet.find((ZOO_RETURN,)) is not None and sheet.find(("frame", "iteration")) is not None


def is_dopamine(names: Sequence[str]) -> bool:
    """Whether these are the fields of Dopamine's baselines."""
    return {"agent", "iteration", "value"} <= {name.lower() for name in names}


def read_zoo(sheet: Sheet, options: Options) -> list[Log]:
    """Read DQN Zoo's results."""
    column = sheet.find((options.tag or ZOO_RETURN,))
    order = sheet.find(("frame", "iteration"))
    if column is None or order is None:
        raise ArcadeMarkError(
            f"{sheet.path}, row 1: no column {options.tag or ZOO_RETURN!r}; expected DQN Zoo's results"
        )
    sheet.check_filled()
    sheet = sheet.among([column], [order, sheet.find(("seed",))])
    values, frames = sheet.scores(column), sheet.integers(order)
    game, seed, agent = sheet.find(_ZOO_GAME), sheet.find(("seed",)), sheet.find(("agent_name", "agent"))
    zeros = np.zeros(sheet.size, dtype=np.int64)
    games, game_names = (zeros, (None,)) if game is None else sheet.names(game)[:2]
    stem = None if sheet.path.stem.lower() in ("results", "result") else sheet.path.stem
    agents, agent_names = (zeros, (stem,)) if agent is None else sheet.names(agent)[:2]
    seeds = zeros if seed is None else sheet.integers(seed)
    by_run = np.lexsort((frames, seeds, games, agents))
    keys = np.stack([agents, games, seeds], axis=1)[by_run]
    bounds = [0, *(np.flatnonzero((keys[1:] != keys[:-1]).any(axis=1)) + 1).tolist(), sheet.size]
    logs = []
    for begin, end in pairwise(bounds):
        rows = by_run[begin:end]
        _refuse_repeated(sheet, rows, frames)
        a, g, s = keys[begin].tolist()
        finite = values[rows][~np.isnan(values[rows])]
        lost = len(rows) - len(finite)
        notes = (*_curve_notes(sheet.header[column], lost), *sheet.notes)
        run = None if seed is None else s
        logs.append(Log(sheet.path, finite, "average", agent_names[a], game_names[g], run, lost=lost, notes=notes))
    return logs


def _curve_notes(name: str, missing: int) -> tuple[str, ...]:
    left_out = (f"iterations in which {name} is missing are left out",) if missing else ()
    return (f"scores are {name} of an iteration, an average over its episodes", *left_out)


def _refuse_repeated(sheet: Sheet, rows: Any, frames: Any) -> None:
    same = np.flatnonzero(frames[rows][1:] == frames[rows][:-1])
    if len(same):
        first, second = int(rows[same[0]]), int(rows[same[0] + 1])
        raise ArcadeMarkError(
            f"{sheet.path}, row {sheet.line(second)}: a second score of the same run at frame or iteration "
            f"{frames[second]} (the first is in row {sheet.line(first)}); keep one, or add a column 'seed'"
        )


def read_dopamine_sheet(sheet: Sheet, options: Options) -> list[Log]:  # noqa: ARG001
    """Read Dopamine's baselines from CSV."""
    at = {name: sheet.find((name,)) for name in ("agent", "iteration", "value", "game")}
    columns = {name: sheet.columns[column] for name, column in at.items() if column is not None}
    value, iteration = at["value"], at["iteration"]
    if value is None or iteration is None:
        raise ArcadeMarkError(f"{sheet.path}, row 1: expected the columns Agent, Iteration, Value")
    sheet = sheet.among([value], [iteration])
    values, iterations = sheet.scores(value).tolist(), sheet.integers(iteration).tolist()
    games = map(sheet.text, columns["game"]) if "game" in columns else [None] * sheet.size
    points = list(zip(map(sheet.text, columns["agent"]), games, iterations, values, strict=True))
    return _dopamine(sheet.path, points, sheet.notes)


def read_dopamine_list(path: Path, content: Sequence[Any]) -> list[Log]:
    """Read Dopamine's baselines from a JSON list."""
    points = []
    for number, item in enumerate(content):
        place = f"{path}, element {number}"
        if not isinstance(item, dict) or not is_dopamine([str(name) for name in item]):
            raise ArcadeMarkError(f"{place}: expected an object with Agent, Iteration and Value")
        fields: Mapping[str, Any] = {str(name).lower(): value for name, value in item.items()}
        iteration = fields["iteration"]
        value = math.nan if fields["value"] is None else score(f"{place}, Value", fields["value"])
        if isinstance(iteration, bool) or not isinstance(iteration, int | float) or iteration != int(iteration):
            raise ArcadeMarkError(f"{place}, Iteration: {iteration!r} is no whole number")
        game = fields.get("game")
        points.append((str(fields["agent"]), None if game is None else str(game), int(iteration), value))
    return _dopamine(path, points)


_Point = tuple[str, str | None, int, float]


def _dopamine(path: Path, points: Sequence[_Point], more: Sequence[str] = ()) -> list[Log]:
    if not points:
        raise ArcadeMarkError(f"{path}: the file is empty; expected scores")
    curves = gathered(((agent, game), (iteration, value)) for agent, game, iteration, value in points)
    stem = path.name.split(".")[0]
    named = _NETWORK.fullmatch(stem)
    logs = []
    for (agent, game), curve in curves.items():
        runs, ragged = _runs(curve)
        said = [*more, "runs are not numbered in the file: they are numbered in their order"]
        if ragged:
            said.append("iterations that not all runs have are left out: it is not known whose their values are")
        for number, run in enumerate(runs):
            ordered = np.array(sorted(run, key=lambda point: point[0]), dtype=np.float64)
            iterations, values = ordered[~np.isnan(ordered[:, 1])].T
            missing = len(ordered) - len(values)
            notes, lost = (*_curve_notes("Value", missing), *said), missing + (0 if number else ragged)
            task = game if game is not None else named["game"] if named else stem
            name = f"{agent} ({named['network']})" if game is None and named else agent
            frames = (iterations + 1) * _ITERATION
            log = Log(path, values, "average", name, task, number, lost=lost, notes=notes)
            logs.append(replace(log, steps=frames, counts_frames=True))
    return logs


def _runs(curve: Sequence[tuple[int, float]]) -> tuple[list[list[tuple[int, float]]], int]:
    """Tell runs apart: those that follow each other, or those that stand together at each iteration.

    Also says how many values stand at iterations that more or fewer runs have than most, where runs stand together.
    """
    together = any(a[0] == b[0] for a, b in pairwise(curve))
    runs: list[list[tuple[int, float]]] = []
    if not together:
        for point in curve:
            if not runs or point[0] < runs[-1][-1][0]:
                runs.append([])
            runs[-1].append(point)
        return runs, 0
    at = gathered((point[0], point) for point in curve)
    runs_at = Counter(map(len, at.values()))
    usual = max(runs_at, key=lambda number: (runs_at[number], number))
    whole = [points for points in at.values() if len(points) == usual]
    return [list(run) for run in zip(*whole, strict=True)], len(curve) - usual * len(whole)
