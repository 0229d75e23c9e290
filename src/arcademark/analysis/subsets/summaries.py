"""Summaries of an algorithm that can be predicted: their names, titles and units.

A summary is named as in ``--target``: one of `arcademark.subset.problem.SUMMARIES`, `RECORDS` on Atari, or a user's own
function, ``path/to/file.py:function`` or ``package.module:function``. Model files contain that name, but a function is
run only if the user names it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from arcademark.analysis.subsets.dataset import Normalised
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics import aggregate
from arcademark.subset.problem import SUMMARIES, Floats, Summary

METRICS = {"hns": "HNS", "normalised": "normalised score"}
"""Words for measures."""
RECORDS = "hwrns median"
"""The median of scores normalised by human world records."""
LEVEL_REACHED = "at human level"
_SHORT = {"iqm": "IQM", LEVEL_REACHED: "at 100 %", RECORDS: "median HWRNS"}
_LONG = {"median": "median", "mean": "mean", "iqm": "interquartile mean"}


def targets() -> tuple[str, ...]:
    """Return the names of targets."""
    return (*SUMMARIES, RECORDS)


def is_function(name: str) -> bool:
    """Return True if a summary is a user's own function."""
    return ":" in name


def title(name: str, metric: str, noun: str) -> str:
    """Name a summary in full, "median HNS", "number of games at human level"; ``metric`` is one of `METRICS`."""
    if name == RECORDS:
        return "median HWRNS"
    if name == LEVEL_REACHED:
        return f"number of {noun}s {'at human level' if metric == 'hns' else 'at 100 % or more'}"
    return f"{_LONG.get(name, short(name))}{' of' * is_function(name)} {METRICS[metric]}"


def short(name: str) -> str:
    """Name a summary in a word or two, for the head of a column."""
    return name.rpartition(":")[2] if is_function(name) else _SHORT.get(name, name)


def slug(name: str) -> str:
    """Return a summary's name as a part of a file's name."""
    return re.sub(r"[^0-9A-Za-z]+", "-", name.rpartition(":")[2]).strip("-").lower()


def unit(name: str, noun: str) -> str:
    """Return a summary's unit: percent, a count of tasks, or "" for a user's function."""
    if is_function(name):
        return ""
    return f"{noun}s" if name == LEVEL_REACHED else "%"


def truth(scores: Normalised, name: str) -> str | Summary | Floats:
    """Return the target in the form that `make_problem` takes: for HWRNS the values themselves."""
    if name == RECORDS:
        measure = scores.benchmark.measures.get("hwrns")
        if measure is None:
            raise ArcadeMarkError(f"--target {RECORDS!r}: this benchmark has no human world records")
        return np.asarray(aggregate.median(measure.normaliser(scores.raw.T, scores.tasks).T, missing="omit"))
    if is_function(name):
        from arcademark.importing import ImportingError, canonical_reference, load_factory

        try:
            function = load_factory(canonical_reference(name))
        except ImportingError as error:
            raise ArcadeMarkError(f"--target {name}: {error.reason}") from None
        return lambda values: _number(function, values, name)
    if name not in SUMMARIES:
        raise UnknownNameError("summary", name, targets())
    return name


def _number(function: Callable[[Floats], object], values: Floats, name: str) -> float:
    """Call a user's function; raise if it fails or does not return a finite number."""
    try:
        value = function(values)
    except Exception as error:
        raise ArcadeMarkError(f"--target {name}: the function raised {type(error).__name__}: {error}") from error
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not np.isfinite(float(value)):
        raise ArcadeMarkError(f"--target {name}: the function returned {value!r}, expected a finite number")
    return float(value)
