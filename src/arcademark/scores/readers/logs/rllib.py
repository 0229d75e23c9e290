"""Reads RLlib's ``result.json``: one JSON object per training iteration.

Conventions
-----------
* Averages stand under ``episode_reward_mean`` (old stack), ``env_runners/episode_reward_mean`` or
  ``sampler_results/episode_reward_mean`` (between), or ``env_runners/episode_return_mean`` (new stack).
* Where ``hist_stats/episode_reward`` lists episodes, the list is a window over the last ones: those of this iteration
  (``episodes_this_iter``) and, where these are few, earlier ones. Each episode is counted once.
* The game and the seed stand in ``config``; the algorithm begins the name of the trial's folder,
  ``PPO_ALE_Pong-v5_1a2b3_00000_…``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.arrays import json_records
from arcademark.scores.readers.base import OPTION, Log, Options, Unit, score
from arcademark.scores.readers.words.log_names import LOGS
from arcademark.wording import plural

AVERAGES, _STEPS = (tuple(tuple(name.split("/")) for name in LOGS["rllib"][kind]) for kind in ("averages", "steps"))
"""Places of an iteration's average, and of its number of steps so far."""
_PLACES: tuple[tuple[str, ...], ...] = (("env_runners",), ("sampler_results",), ())
_WINDOW, _NEW = ("hist_stats", "episode_reward"), ("episodes_this_iter",)
_LENGTHS = ("hist_stats", "episode_lengths")
_UNKNOWN = -1.0
_ENVIRONMENT, _SEED = ("config", "env"), ("config", "seed")

_Result = Mapping[tuple[str, ...], Any]
"""Values that are kept of an iteration's result, by their places in it."""


def is_result(content: Any) -> bool:
    """Return whether a JSON object is one iteration's result."""
    return isinstance(content, dict) and (
        "training_iteration" in content or any(_at(content, path) is not None for path in AVERAGES)
    )


def read_result(path: Path, options: Options) -> list[Log]:
    """Read a trial's results."""
    results = list(_results(path, options))
    environment, seed = (results[-1][1][place] for place in (_ENVIRONMENT, _SEED))
    task = environment if isinstance(environment, str) else None
    run = seed if isinstance(seed, int) and not isinstance(seed, bool) else None
    episodes = _episodes(path, results) if options.tag is None else None
    unit: Unit = "average" if episodes is None else "episode"
    steps = lengths = None
    if episodes is None:
        values, steps, series, notes = _averages(path, results, options)
    else:
        values, series, notes = episodes[:, 0], "/".join(_WINDOW), ()
        lengths = None if (episodes[:, 1] == _UNKNOWN).any() else episodes[:, 1]
    notes = (f"{plural(len(results), 'training iteration')} in the file", *notes)
    known = _algorithm(path, task), task, run
    return [Log(path, values, unit, *known, notes=notes, steps=steps, lengths=lengths, series=series)]


def _results(path: Path, options: Options) -> Iterator[tuple[int, _Result]]:
    windows = ((*place, *name) for place in _PLACES for name in (_WINDOW, _LENGTHS, _NEW))
    wanted = [*_tags(options), *windows, *_STEPS, _ENVIRONMENT, _SEED]
    row = 0
    for row, result in json_records(path):
        if not isinstance(result, dict):
            raise ArcadeMarkError(f"{path}, row {row}: expected a JSON object, one training iteration's result")
        yield row, {place: _at(result, place) for place in wanted}
    if not row:
        raise ArcadeMarkError(f"{path}: the file is empty; expected a JSON object per training iteration")


def _tags(options: Options) -> tuple[tuple[str, ...], ...]:
    return AVERAGES if options.tag is None else (tuple(options.tag.split("/")),)


def _at(result: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = result
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _algorithm(path: Path, task: str | None) -> str | None:
    """Read the algorithm off the folder's name, where it stands before the environment."""
    if task is None:
        return None
    before, separator, _ = path.parent.name.partition("_" + task.replace("/", "_"))
    return before if separator and before else None


def _episodes(path: Path, results: list[tuple[int, _Result]]) -> NDArray[np.float64] | None:
    """Return every episode's score and length once, in order; None where a result has no list of them."""
    episodes: list[tuple[float, float]] = []
    for row, result in results:
        window = _window(path, row, result)
        if window is None:
            return None
        values, new = window
        old = len(values) - new
        first = bool(old) and values[:old] != episodes[-old:] and values[new:] == episodes[-old:]
        episodes += values[:new] if first else values[old:]
    return np.array(episodes, dtype=np.float64).reshape(-1, 2)


def _window(path: Path, row: int, result: _Result) -> tuple[list[tuple[float, float]], int] | None:
    for place in _PLACES:
        values, new = result[*place, *_WINDOW], result[*place, *_NEW]
        if isinstance(values, list) and isinstance(new, int) and new >= 0:
            where = f"{path}, row {row}, hist_stats/episode_reward"
            numbers = [score(where, value) for value in values]
            if any(map(math.isnan, numbers)):
                raise ArcadeMarkError(f"{where}: an episode's score is NaN; correct it")
            lengths = result[*place, *_LENGTHS]
            if not isinstance(lengths, list) or len(lengths) != len(numbers):
                lengths = [_UNKNOWN] * len(numbers)
            known = (float(length) if isinstance(length, int) and length > 0 else _UNKNOWN for length in lengths)
            return list(zip(numbers, known, strict=True)), min(new, len(numbers))
    return None


def _averages(
    path: Path, results: list[tuple[int, _Result]], options: Options
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, str, tuple[str, ...]]:
    """Return the averages, the steps before each where the results say them, the series and notes."""
    tags = _tags(options)
    logged = [tag for rows in (results[-1:], results) for tag in tags if any(row[tag] is not None for _, row in rows)]
    if not logged:
        known = ", ".join("/".join(names) for names in tags)
        raise ArcadeMarkError(
            f"{path}, row {results[-1][0]}: no {known} in the results; name another value with {OPTION['tag']}"
        )
    tag = logged[0]
    name = "/".join(tag)
    there = [(row, result) for row, result in results if result[tag] is not None]
    values = np.array([score(f"{path}, row {row}, {name}", result[tag]) for row, result in there], dtype=np.float64)
    finite = values[~np.isnan(values)]
    taken = [next((result[at] for at in _STEPS if isinstance(result[at], int | float)), -1) for _, result in there]
    steps = np.array(taken, dtype=np.float64)[~np.isnan(values)]
    notes = [f"scores are {name}, an average that RLlib made over its last episodes (100 unless set otherwise)"]
    if len(finite) < len(results):
        notes.append(f"{name} is missing in {len(results) - len(finite)} of {plural(len(results), 'iteration')}")
    return finite, steps if len(steps) and (steps >= 0).all() else None, name, tuple(notes)
