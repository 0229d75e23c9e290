"""Model files: a subset model as JSON, to be kept, shared and used again.

Conventions
-----------
* One object; ``schema`` is `SCHEMA`. Fields are those of `SubsetModel` under their own names, ``references`` an object
  of pairs: the scores that are 0 % and 100 %. Unknown fields are refused, so that a misspelt one is not lost.
* What may be left out is what `SubsetModel` has a default for, ``intercept`` (0) and ``max_frames_per_episode`` (null).
* The typical error is ``relative_error`` where the transform is log10, else ``absolute_error``, in ``unit``.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from arcademark.errors import ArcadeMarkError
from arcademark.files import parse_json
from arcademark.scores.readers.base import refuse_hidden
from arcademark.subset.model import PERCENT_SIGN, SubsetModel
from arcademark.subset.spread import Spread
from arcademark.suite.subsets import Nested

SCHEMA = "arcademark.subset-model/1"

_TEXTS = ("name", "target", "citation")
_OPTIONAL: Mapping[str, Any] = MappingProxyType(
    {
        "intercept": 0.0,
        "max_frames_per_episode": None,
        "transform": "log10",
        "r_squared": None,
        "n": None,
        "references": {},
        "nested": None,
        "relative_error": None,
        "absolute_error": None,
        "summary": None,
        "unit": PERCENT_SIGN,
        "spread": None,
    }
)


def dumps(model: SubsetModel) -> str:
    """Write a model as JSON.

    Returns
    -------
    str
        Ends with a line break; `loads` gives the same model back.
    """
    document = {
        "schema": SCHEMA,
        "name": model.name,
        "target": model.target,
        "citation": model.citation,
        "tasks": list(model.tasks),
        "coefficients": list(model.coefficients),
        "intercept": model.intercept,
        "transform": model.transform,
        "relative_error": model.relative_error,
        "absolute_error": model.absolute_error,
        "summary": model.summary,
        "unit": model.unit,
        "r_squared": _finite(model.r_squared),
        "n": model.n,
        "max_frames_per_episode": model.max_frames_per_episode,
        "references": {task: list(pair) for task, pair in model.references.items()},
        "nested": None if model.nested is None else dataclasses.asdict(model.nested),
        "spread": None if model.spread is None else dataclasses.asdict(model.spread),
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def loads(text: str, place: str = "the model") -> SubsetModel:
    """Read a model.

    Parameters
    ----------
    text : str
        JSON.
    place : str, optional
        Where it is from, for errors.

    Raises
    ------
    ArcadeMarkError
        Where it is no JSON, of another schema, lacks a field, has one too many, or one of another type; and as
        `SubsetModel`.
    """
    found = _document(text, place)
    values = {name: _text(found, name, place) for name in _TEXTS}
    given = {**_OPTIONAL, **{name: found[name] for name in _OPTIONAL if name in found}}
    tasks = _list(found, "tasks", place)
    if not tasks or not all(isinstance(task, str) and task for task in tasks) or len(set(tasks)) < len(tasks):
        raise ArcadeMarkError(f"{place}: tasks is {tasks!r}, expected a list of different names")
    refuse_hidden(place, tasks)
    return SubsetModel(
        name=values["name"],
        tasks=tuple(tasks),
        coefficients=tuple(_number(value, "coefficients", place) for value in _list(found, "coefficients", place)),
        intercept=_number(given["intercept"], "intercept", place),
        relative_error=_error(given, "relative_error", place),
        target=values["target"],
        max_frames_per_episode=_whole(given["max_frames_per_episode"], "max_frames_per_episode", place),
        citation=values["citation"],
        transform=str(given["transform"]),
        r_squared=_r_squared(given["r_squared"], place),
        n=_whole(given["n"], "n", place),
        references=_references(given["references"], place),
        nested=_nested(given["nested"], place),
        spread=_spread(given["spread"], len(tasks), place),
        absolute_error=_error(given, "absolute_error", place),
        summary=None if given["summary"] is None else _text(given, "summary", place),
        unit=_text(given, "unit", place),
    )


def _error(given: Mapping[str, Any], name: str, place: str) -> float | None:
    """Return a typical error; that it goes with the transform `SubsetModel` checks."""
    if given[name] is not None and _number(given[name], name, place) < 0:
        raise ArcadeMarkError(f"{place}: {name} is {given[name]:g}, expected 0 or more")
    return None if given[name] is None else float(given[name])


def _document(text: str, place: str) -> dict[str, Any]:
    found = parse_json(text, place, "expected a file that 'subset search --out' wrote")
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        schema = found.get("schema") if isinstance(found, dict) else None
        raise ArcadeMarkError(f"{place}: the schema is {schema!r}, expected {SCHEMA!r}")
    required = {*_TEXTS, "tasks", "coefficients"}
    if lost := sorted(required - found.keys()):
        raise ArcadeMarkError(f"{place}: no field {', '.join(lost)}; a model has all of these")
    if unknown := sorted(found.keys() - required - _OPTIONAL.keys() - {"schema"}):
        raise ArcadeMarkError(
            f"{place}: unknown field {', '.join(unknown)}; known are {', '.join(_OPTIONAL)} and others"
        )
    return found


def _text(found: Mapping[str, Any], name: str, place: str) -> str:
    if not isinstance(found[name], str):
        raise ArcadeMarkError(f"{place}: {name} is {found[name]!r}, expected a text")
    refuse_hidden(place, [found[name]])
    return str(found[name])


def _list(found: Mapping[str, Any], name: str, place: str) -> list[Any]:
    if not isinstance(found[name], list):
        raise ArcadeMarkError(f"{place}: {name} is {found[name]!r}, expected a list")
    return list(found[name])


def _number(value: Any, name: str, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ArcadeMarkError(f"{place}: {name} is {value!r}, expected a finite number")
    return float(value)


def _whole(value: Any, name: str, place: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ArcadeMarkError(f"{place}: {name} is {value!r}, expected a whole number of at least 1, or null")
    return value


def _r_squared(value: Any, place: str) -> float | None:
    if value is not None and _number(value, "r_squared", place) > 1:
        raise ArcadeMarkError(f"{place}: r_squared is {value!r}, expected 1 or less, or null")
    return None if value is None else float(value)


def _references(value: Any, place: str) -> Mapping[str, tuple[float, float]]:
    if not isinstance(value, dict):
        raise ArcadeMarkError(f"{place}: references is {value!r}, expected an object of pairs")
    found = {}
    for task, pair in value.items():
        if not isinstance(pair, list) or len(pair) != 2:
            raise ArcadeMarkError(f"{place}: references of {task!r} are {pair!r}, expected two scores")
        low, high = (_number(score, f"reference of {task!r}", place) for score in pair)
        if low == high:
            raise ArcadeMarkError(f"{place}: both references of {task!r} are {low:g}; expected two different scores")
        found[task] = (low, high)
    return MappingProxyType(found)


def _nested(value: Any, place: str) -> Nested | None:
    if value is None:
        return None
    names = {field.name for field in dataclasses.fields(Nested)}
    if not isinstance(value, dict) or value.keys() != names:
        expected = f"an object of {', '.join(sorted(names))}, or null"
        raise ArcadeMarkError(f"{place}: nested is {value!r}, expected {expected}; search again with --nested")
    sizes = {name: _number(value[name], f"nested {name}", place) for name in names - {"n", "errors"}}
    n, errors = _whole(value["n"], "nested n", place), _errors(value["errors"], "nested", place)
    if n is None or n != sum(map(len, errors)) or min(*sizes.values(), *(min(group) for group in errors)) < 0:
        raise ArcadeMarkError(f"{place}: nested is {value!r}, expected errors of 0 or more, and n of them")
    return Nested(n=n, errors=errors, **sizes)


def _errors(value: Any, name: str, place: str) -> tuple[tuple[float, ...], ...]:
    """Return errors by paper: a list of lists, none empty."""
    if not isinstance(value, list) or not value or not all(value):
        raise ArcadeMarkError(f"{place}: errors of {name} are {value!r}, expected a list of errors for each paper")
    return tuple(_numbers(group, "errors", name, place) for group in value)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _spread(value: Any, tasks: int, place: str) -> Spread | None:
    if value is None:
        return None
    if not isinstance(value, dict) or value.keys() != {field.name for field in dataclasses.fields(Spread)}:
        raise ArcadeMarkError(f"{place}: spread is {value!r}, expected an object of covariance, errors, mean, or null")
    rows = _list(value, "covariance", place)
    mean = _numbers(value["mean"], "mean", "spread", place)
    if len(mean) != tasks:
        raise ArcadeMarkError(f"{place}: the mean of spread has {len(mean)} numbers, expected {tasks}, one a task")
    try:
        covariance = tuple(_numbers(row, "covariance", "spread", place) for row in rows)
        return Spread(mean, covariance, _errors(value["errors"], "spread", place))
    except ArcadeMarkError as error:
        raise ArcadeMarkError(f"{place}: {str(error).removeprefix(f'{place}: ')}") from None


def _numbers(value: Any, name: str, of: str, place: str) -> tuple[float, ...]:
    if not isinstance(value, list):
        raise ArcadeMarkError(f"{place}: {name} of {of} is {value!r}, expected numbers")
    return tuple(_number(item, f"{name} of {of}", place) for item in value)
