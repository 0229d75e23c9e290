"""Parameters of an agent, read from the signature of its factory.

A factory is ``factory(env, *, name: type = default, …)``. Its first positional parameter receives the
`EnvironmentSpec`, unless that parameter has a default or is annotated with a type that can be set (a factory may take
no environment at all). Every other named parameter is declared: its annotation gives the accepted values, its default
makes it optional. Without an annotation the type of the default counts. Bounds are part of an annotation,
``Annotated[int, msgspec.Meta(ge=1)]``.

Values are stored as JSON: a run records the value of ``--set depth=2``, and a worker reads it back.
"""

from __future__ import annotations

import inspect
import json
import math
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, Union

import msgspec
import numpy as np
from msgspec import Meta

from arcademark.environments.base import EnvironmentSpec
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.importing import ENVIRONMENT_NAMES

MISSING = inspect.Parameter.empty
UNIONS = (Union, types.UnionType)
SEQUENCES = (list, tuple, Sequence)
MAPPINGS = (dict, Mapping)
SETTABLE = (Literal, *SEQUENCES, *MAPPINGS, None, types.NoneType, bool, int, float, str, Path, PurePath)
Positive = Annotated[int, Meta(ge=1)]
AboveZero = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
BOOLEANS = {"yes": True, "on": True, "no": False, "off": False}
"""Words for booleans in addition to msgspec's true, false, 1 and 0."""


@dataclass(frozen=True)
class Parameter:
    """Declared parameter of an agent.

    `annotation` is `MISSING` if any JSON value or text is accepted, `default` if a value is required.
    """

    name: str
    annotation: Any
    default: Any

    @property
    def required(self) -> bool:
        """True if it must be given."""
        return self.default is MISSING

    @property
    def expected(self) -> str:
        """Accepted values in words: "int", "float or None", "one of 'a', 'b'"."""
        return describe(self.annotation)

    def read(self, value: object) -> Any:
        """Return `value`, text or typed, as the JSON value to record; ValueError as in `coerce`."""
        read = coerce(value, self.annotation)
        try:
            return json.loads(json.dumps(read, default=_path_text, allow_nan=False))
        except TypeError as error:
            raise ValueError from error


def declared(factory: Callable[..., object]) -> tuple[tuple[Parameter, ...], bool]:
    """Return the parameters that a factory declares, and whether its first argument is the `EnvironmentSpec`.

    ArcadeMarkError if the signature cannot be read, or requires more than one positional-only argument.
    """
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError) as error:
        raise ArcadeMarkError(f"{factory!r}: its signature cannot be read ({error}); wrap it in a function") from None
    namespace = _namespace(factory)
    parameters = [one.replace(annotation=_evaluated(one.annotation, namespace)) for one in parameters]
    takes_environment = bool(parameters) and _is_environment(parameters[0])
    settable = []
    for one in parameters[1:] if takes_environment else parameters:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        if one.kind is one.POSITIONAL_ONLY:
            raise ArcadeMarkError(
                f"{getattr(factory, '__name__', factory)}: '{one.name}' can be passed by position only; "
                f"expected factory(env, *, {one.name}=…)"
            )
        untyped = one.annotation is MISSING and one.default is not MISSING and one.default is not None
        settable.append(Parameter(one.name, type(one.default) if untyped else one.annotation, one.default))
    return tuple(settable), takes_environment


def read_parameters(owner: str, parameters: Sequence[Parameter], settings: Mapping[str, object]) -> dict[str, Any]:
    """Return settings of an owner, "agent uct", as JSON values, without those equal to their default.

    ArcadeMarkError if a name is not declared, a value is not what is expected, or a required one is missing.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    chosen: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in by_name:
            if not by_name:
                raise ArcadeMarkError(f"{owner} has no parameters; remove {name}")
            raise UnknownNameError("parameter", name, by_name)
        parameter = by_name[name]
        try:
            read = parameter.read(value)
        except ValueError as error:
            expected = str(error) or parameter.expected
            raise ArcadeMarkError(f"{owner}: parameter '{name}' is {value!r}: expected {expected}") from None
        if parameter.required or coerce(read, parameter.annotation) != parameter.default:
            chosen[name] = read
    missing = [name for name, parameter in by_name.items() if parameter.required and name not in chosen]
    if missing:
        wanted = ", ".join(f"--set {name}=… ({by_name[name].expected})" for name in missing)
        raise ArcadeMarkError(f"{owner} needs {wanted}")
    return {name: chosen[name] for name in by_name if name in chosen}


def describe(annotation: Any) -> str:
    """Describe the values that an annotation accepts."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        kind, bounds = describe(arguments[0]), arguments[1]
        if bounds.ge is not None and bounds.le is not None:
            return f"{kind} from {bounds.ge:g} to {bounds.le:g}"
        words = (("at least", bounds.ge), ("more than", bounds.gt), ("at most", bounds.le))
        return f"{kind} of " + " and ".join(f"{word} {bound:g}" for word, bound in words if bound is not None)
    if origin is Literal:
        return "one of " + ", ".join(repr(value) for value in arguments)
    if origin in UNIONS:
        return " or ".join(describe(member) for member in arguments)
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return ", ".join(describe(member) for member in arguments) + " separated by commas"
    if origin in SEQUENCES and arguments:
        return f"{describe(arguments[0])} values separated by commas"
    if (origin or annotation) in MAPPINGS:
        return "a JSON object"
    if annotation is None or annotation is types.NoneType:
        return "None"
    if annotation is bool:
        return "true or false"
    if annotation is MISSING or annotation is Any:
        return "any value"
    return getattr(annotation, "__name__", str(annotation))


def coerce(value: object, annotation: Any) -> Any:
    """Convert text, or a typed value, to an annotation's type.

    ValueError: it is not of that type; with a text if it is a number that is not finite.
    """
    plain = _unbounded(annotation)
    kind, members = typing.get_origin(plain) or plain, typing.get_args(plain)
    value = value.item() if isinstance(value, np.generic) else value
    if kind is MISSING or kind is Any:
        if not isinstance(value, str):
            return value
        kind, members = Union, (types.NoneType, int, float, bool, str)
    if kind in UNIONS:
        return _first(value, sorted(members, key=lambda member: member in (str, Path, PurePath)))
    if isinstance(value, str):
        if kind in SEQUENCES:
            value = [part.strip() for part in value.strip().strip("[]()").split(",") if part.strip()]
        elif kind is types.NoneType and value.lower() in ("none", "null"):
            value = None
        elif kind in (int, float):  # as Python reads them: "108_000", "+3"
            value = value.strip().replace("_", "").removeprefix("+")
        elif kind is bool:
            value = BOOLEANS.get(value.lower(), value.lower())
    elif kind is bool and not isinstance(value, bool):
        raise ValueError
    try:
        if kind in MAPPINGS and isinstance(value, str):
            value = msgspec.json.decode(value)
        read = msgspec.convert(value, annotation, strict=False, dec_hook=_path)
    except (msgspec.MsgspecError, TypeError) as error:
        raise ValueError from error
    if any(isinstance(one, float) and not math.isfinite(one) for one in (read if kind in SEQUENCES else [read])):
        raise ValueError("a finite number")
    return read


def _unbounded(annotation: Any) -> Any:
    return annotation.__origin__ if typing.get_origin(annotation) is Annotated else annotation


def _first(value: object, annotations: Sequence[Any]) -> Any:
    wrong = []
    for annotation in annotations:
        try:
            return coerce(value, annotation)
        except ValueError as error:
            wrong.append(str(error))
    raise ValueError(max(wrong))


def _path(kind: type, value: object) -> Path:
    if kind not in (Path, PurePath) or not isinstance(value, (str, PurePath)):
        raise ValueError
    return Path(value)


def _path_text(value: object) -> str:
    if not isinstance(value, PurePath):
        raise TypeError
    return str(value)


def _namespace(factory: Any) -> dict[str, Any]:
    """Return the names in a factory's annotations, for dataclasses also those of their bases' modules."""
    if not inspect.isclass(factory):
        return dict(getattr(inspect.unwrap(factory), "__globals__", {}))
    modules = [sys.modules.get(base.__module__) for base in reversed(inspect.getmro(factory))]
    return {name: value for module in modules for name, value in vars(module or object).items()}


def _evaluated(annotation: Any, namespace: dict[str, Any]) -> Any:
    """Return the value of an annotation's text, or the text if it cannot be evaluated."""
    try:
        return eval(annotation, namespace) if isinstance(annotation, str) else annotation  # noqa: S307 - of a module that was imported
    except Exception:  # any error, e.g. of a name imported for type checkers only
        return annotation


def _is_environment(parameter: inspect.Parameter) -> bool:
    if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
        return False
    annotation, required = parameter.annotation, parameter.default is MISSING
    if EnvironmentSpec in (annotation, *typing.get_args(annotation)):
        return True
    if isinstance(annotation, str) and "EnvironmentSpec" in annotation:  # imported for type checkers only
        return True
    if annotation is MISSING or annotation is Any:
        return required or parameter.name in ENVIRONMENT_NAMES
    return required and not _settable(annotation)


def _settable(annotation: Any) -> bool:
    annotation = _unbounded(annotation)
    kind = typing.get_origin(annotation) or annotation
    return all(map(_settable, typing.get_args(annotation))) if kind in UNIONS else kind in SETTABLE
