"""What an agent declares: the parameters of its factory, read from the signature.

A factory is ``factory(env, *, name: type = default, …)``. Its first positional parameter receives the
`EnvironmentSpec`, unless that parameter has a default or is annotated with a type that can be set (a factory may take
no environment at all). Every other named parameter is declared: its annotation says what it accepts, its default
whether it may be left out. Without an annotation the type of the default counts.

Values are kept as JSON: what ``--set depth=2`` says is what a run records, and a worker reads it back.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path, PurePath
from typing import Any, Literal, Union

from arcademark.environments.base import EnvironmentSpec
from arcademark.errors import ArcadeMarkError, UnknownNameError

MISSING = inspect.Parameter.empty
UNIONS = (Union, types.UnionType)
SEQUENCES = (list, tuple, Sequence)
MAPPINGS = (dict, Mapping)
BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
ENVIRONMENT_NAMES = ("env", "environment", "spec", "env_spec")


@dataclass(frozen=True)
class Parameter:
    """One parameter that an agent declares.

    `annotation` is `MISSING` where any JSON value or text is taken, `default` where a value is required.
    """

    name: str
    annotation: Any
    default: Any

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is MISSING

    @property
    def expected(self) -> str:
        """What it takes, for people: "int", "float or None", "one of 'a', 'b'"."""
        return describe(self.annotation)

    def read(self, value: object) -> Any:
        """Return `value`, text or already typed, as the JSON value that is recorded; ValueError as of `coerce`."""
        return _to_json(coerce(value, self.annotation))


def declared(factory: Callable[..., object]) -> tuple[tuple[Parameter, ...], bool]:
    """Return the parameters that a factory declares, and whether its first argument is the `EnvironmentSpec`.

    ArcadeMarkError if the signature cannot be read, or asks for more than one positional-only argument.
    """
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError) as error:
        raise ArcadeMarkError(f"{factory!r}: its signature cannot be read ({error}); wrap it in a function") from None
    hints = _hints(factory)
    takes_environment = bool(parameters) and _is_environment(parameters[0], hints)
    found = []
    for parameter in parameters[1:] if takes_environment else parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise ArcadeMarkError(
                f"{getattr(factory, '__name__', factory)}: '{parameter.name}' can be passed by position only; "
                f"expected factory(env, *, {parameter.name}=…)"
            )
        annotation = hints.get(parameter.name, MISSING)
        if annotation is MISSING and parameter.default is not MISSING and parameter.default is not None:
            annotation = type(parameter.default)
        found.append(Parameter(parameter.name, annotation, parameter.default))
    return tuple(found), takes_environment


def read_parameters(agent: str, parameters: Sequence[Parameter], settings: Mapping[str, object]) -> dict[str, Any]:
    """Return settings as JSON values, without those equal to their default.

    ArcadeMarkError if a name is not declared, a value is not what is expected, or a required one is missing.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in by_name:
            if not by_name:
                raise ArcadeMarkError(f"agent {agent} has no parameters; remove --set {name}")
            raise UnknownNameError("parameter", name, by_name)
        parameter = by_name[name]
        try:
            read = parameter.read(value)
        except ValueError:
            expected = "a finite number" if _no_finite(value, parameter.annotation) else parameter.expected
            raise ArcadeMarkError(f"agent {agent}: parameter '{name}' is {value!r}: expected {expected}") from None
        if parameter.required or coerce(read, parameter.annotation) != parameter.default:
            found[name] = read
    missing = [name for name, parameter in by_name.items() if parameter.required and name not in found]
    if missing:
        wanted = ", ".join(f"--set {name}=… ({by_name[name].expected})" for name in missing)
        raise ArcadeMarkError(f"agent {agent} needs {wanted}")
    return {name: found[name] for name in by_name if name in found}


def _no_finite(value: object, annotation: Any) -> bool:
    """Say whether a value is NaN or infinite where a float is asked for."""
    try:
        number = float(value) if isinstance(value, (str, Real)) else 0.0
    except (ValueError, OverflowError):
        return False
    return float in (annotation, *typing.get_args(annotation)) and not math.isfinite(number)


def describe(annotation: Any) -> str:
    """Say in words what an annotation accepts."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
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
    """Read text, or a value that is already typed, as what an annotation asks for; ValueError if it is not that."""
    kind, arguments = typing.get_origin(annotation) or annotation, typing.get_args(annotation)
    if kind is MISSING or kind is Any:
        return _first(value, (types.NoneType, int, float, bool, str)) if isinstance(value, str) else value
    if kind in UNIONS:
        return _first(value, sorted(arguments, key=lambda member: member in (str, Path, PurePath)))
    if kind is Literal:
        read = _first(value, dict.fromkeys(type(choice) for choice in arguments))
        return read if read in arguments else _refuse(value)
    if kind in SEQUENCES:
        return _sequence(value, kind, arguments)
    if kind in MAPPINGS:
        mapping = json.loads(value) if isinstance(value, str) else value
        return mapping if isinstance(mapping, dict) else _refuse(value)
    return _LEAVES[kind](value) if kind in _LEAVES else _refuse(value)


def _hints(factory: Callable[..., object]) -> dict[str, Any]:
    """Annotations by name, those that cannot be evaluated as their text."""
    raw = {
        name: p.annotation for name, p in inspect.signature(factory).parameters.items() if p.annotation is not MISSING
    }
    if dataclasses.is_dataclass(factory):  # a field is annotated where its class stands
        modules = [sys.modules.get(base.__module__) for base in reversed(inspect.getmro(factory))]
        namespace = {name: value for module in modules for name, value in vars(module or object).items()}
    else:
        target = factory.__init__ if inspect.isclass(factory) else factory
        namespace = getattr(inspect.unwrap(target), "__globals__", {})
    hints = {}
    for name, annotation in raw.items():
        hints[name] = annotation
        if isinstance(annotation, str):
            try:
                hints[name] = eval(annotation, dict(namespace))  # noqa: S307 - of a module that was imported
            except Exception:  # whatever an annotation raises, e.g. a name imported for type checkers only
                continue
    return hints


def _is_environment(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> bool:
    if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
        return False
    annotation = hints.get(parameter.name, MISSING)
    if EnvironmentSpec in (annotation, *typing.get_args(annotation)):
        return True
    if isinstance(annotation, str) and "EnvironmentSpec" in annotation:  # imported for type checkers only
        return True
    if annotation is MISSING or annotation is Any:
        return parameter.default is MISSING or parameter.name in ENVIRONMENT_NAMES
    return parameter.default is MISSING and not _settable(annotation)


def _settable(annotation: Any) -> bool:
    kind = typing.get_origin(annotation) or annotation
    if kind in UNIONS:
        return all(_settable(member) for member in typing.get_args(annotation))
    return kind is Literal or kind in SEQUENCES or kind in MAPPINGS or kind in _LEAVES


def _first(value: object, annotations: Iterable[Any]) -> Any:
    for annotation in annotations:
        try:
            return coerce(value, annotation)
        except ValueError:
            continue
    return _refuse(value)


def _sequence(value: object, kind: Any, arguments: tuple[Any, ...]) -> Any:
    if isinstance(value, str):
        value = [part.strip() for part in value.strip().strip("[]()").split(",") if part.strip()]
    if not isinstance(value, (list, tuple)):
        return _refuse(value)
    if kind is tuple and arguments and arguments[-1] is not Ellipsis:
        if len(value) != len(arguments):
            return _refuse(value)
        return tuple(coerce(item, argument) for item, argument in zip(value, arguments, strict=True))
    items = [coerce(item, arguments[0] if arguments else MISSING) for item in value]
    return tuple(items) if kind is tuple else items


def _none(value: object) -> None:
    if value is not None and str(value).lower() not in ("none", "null"):
        _refuse(value)


def _bool(value: object) -> Any:
    read = BOOLEANS.get(value.lower()) if isinstance(value, str) else value
    return read if isinstance(read, bool) else _refuse(value)


def _int(value: object) -> int:
    if isinstance(value, str) and value.lstrip("+-").isdecimal():
        return int(value)
    number = _float(value)
    if not number.is_integer():
        _refuse(value)
    return int(value) if isinstance(value, Integral) else int(number)


def _float(value: object) -> Any:
    number = _refuse(value) if isinstance(value, bool) or not isinstance(value, (str, Real)) else float(value)
    return number if math.isfinite(number) else _refuse(value)


def _str(value: object) -> Any:
    return value if isinstance(value, str) else _refuse(value)


def _path(value: object) -> Any:
    return Path(value) if isinstance(value, (str, PurePath)) else _refuse(value)


def _refuse(value: object) -> Any:
    raise ValueError(value)


def _to_json(value: Any) -> Any:
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_to_json(item) for item in value]
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except TypeError:
        return _refuse(value)


_LEAVES: dict[Any, Callable[[object], Any]] = {
    None: _none,
    types.NoneType: _none,
    bool: _bool,
    int: _int,
    float: _float,
    str: _str,
    Path: _path,
    PurePath: _path,
}
