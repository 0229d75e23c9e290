"""What an agent declares: the parameters of its factory, read from the signature.

A factory is ``factory(env, *, name: type = default, …)``. Its first positional parameter receives the
`EnvironmentSpec`, unless that parameter has a default or is annotated with a type that can be set (a factory may take
no environment at all). Every other named parameter is declared: its annotation says what it accepts, its default
whether it may be left out. Without an annotation the type of the default counts.

Values are kept as JSON: what ``--set depth=2`` says is what a run records, and a worker reads it back.
"""

from __future__ import annotations

import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal, Union

from arcademark.environments.base import EnvironmentSpec
from arcademark.errors import ArcadeMarkError, UnknownNameError

MISSING = inspect.Parameter.empty
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
ENVIRONMENT_NAMES = ("env", "environment", "spec", "env_spec")


@dataclass(frozen=True)
class Parameter:
    """One parameter that an agent declares.

    Parameters
    ----------
    name : str
    annotation : object
        A type, or `MISSING` where any JSON value or text is taken.
    default : object
        `MISSING` where a value is required.
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
        """Return `value`, text or already typed, as the JSON value that is recorded.

        Raises
        ------
        ValueError
            If it is not what the annotation asks for.
        """
        return _from_text(value, self.annotation) if isinstance(value, str) else _from_value(value, self.annotation)


def declared(factory: Callable[..., object]) -> tuple[tuple[Parameter, ...], bool]:
    """Read what a factory declares.

    Returns
    -------
    parameters : tuple of Parameter
    takes_environment : bool
        Whether its first argument is the `EnvironmentSpec`.

    Raises
    ------
    ArcadeMarkError
        If the signature cannot be read, or asks for more than one positional-only argument.
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
    """Check settings against what the agent declares; those equal to their default are left out.

    Raises
    ------
    UnknownNameError
        If a name is not declared.
    ArcadeMarkError
        If a value is not what is expected, or a required one is missing.
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
            raise ArcadeMarkError(
                f"agent {agent}: parameter '{name}' is {value!r}: expected {parameter.expected}"
            ) from None
        if parameter.required or build(read, parameter.annotation) != parameter.default:
            found[name] = read
    missing = [name for name, parameter in by_name.items() if parameter.required and name not in found]
    if missing:
        wanted = ", ".join(f"--set {name}=… ({by_name[name].expected})" for name in missing)
        raise ArcadeMarkError(f"agent {agent} needs {wanted}")
    return {name: found[name] for name in by_name if name in found}


def describe(annotation: Any) -> str:
    """Say in words what an annotation accepts."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return "one of " + ", ".join(repr(value) for value in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(describe(member) for member in arguments)
    if origin in (list, tuple, Sequence) and arguments:
        return f"{describe(arguments[0])} values separated by commas"
    if annotation is None or annotation is types.NoneType:
        return "None"
    if annotation is bool:
        return "true or false"
    if annotation is MISSING or annotation is Any:
        return "any value"
    return getattr(annotation, "__name__", str(annotation))


def build(value: Any, annotation: Any) -> Any:
    """Turn a recorded JSON value into what the factory is called with (tuples and paths are not JSON)."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (Union, types.UnionType):
        for member in arguments:
            if value is None or _accepts(value, member):
                return value if value is None else build(value, member)
    if isinstance(value, str) and isinstance(annotation, type) and issubclass(annotation, PurePath):
        return annotation(value)
    if isinstance(value, list) and (origin or annotation) in (list, tuple, Sequence):
        items = [build(item, arguments[0] if arguments else MISSING) for item in value]
        return tuple(items) if (origin or annotation) is tuple else items
    return value


def _accepts(value: object, annotation: Any) -> bool:
    try:
        _from_value(value, annotation)
    except ValueError:
        return False
    return True


def _hints(factory: Callable[..., object]) -> dict[str, Any]:
    """Annotations by name, those that cannot be evaluated as their text."""
    target = factory.__init__ if inspect.isclass(factory) else factory
    raw = {
        name: p.annotation for name, p in inspect.signature(factory).parameters.items() if p.annotation is not MISSING
    }
    namespace = getattr(inspect.unwrap(target), "__globals__", {})
    hints = {}
    for name, annotation in raw.items():
        hints[name] = annotation
        if isinstance(annotation, str):
            try:
                hints[name] = eval(annotation, dict(namespace))
            except Exception:  # whatever an annotation raises, e.g. a name imported for type checkers only
                continue
    return hints


def _is_environment(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> bool:
    if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
        return False
    annotation = hints.get(parameter.name, MISSING)
    if annotation is EnvironmentSpec or (isinstance(annotation, str) and annotation.endswith("EnvironmentSpec")):
        return True
    if annotation is MISSING or annotation is Any:
        return parameter.default is MISSING or parameter.name in ENVIRONMENT_NAMES
    return parameter.default is MISSING and not _settable(annotation)


def _settable(annotation: Any) -> bool:
    origin = typing.get_origin(annotation)
    if origin in (Union, types.UnionType):
        return all(_settable(member) for member in typing.get_args(annotation))
    kinds = (bool, int, float, str, list, tuple, dict, Sequence, types.NoneType, None, Literal, Path, PurePath)
    return (origin or annotation) in kinds


def _from_text(text: str, annotation: Any) -> Any:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (Union, types.UnionType):
        return _first_that_reads(text, sorted(arguments, key=_specific_first))
    if origin is Literal:
        return _first_that_reads(text, [type(value) for value in arguments], arguments)
    if annotation is None or annotation is types.NoneType:
        return _none(text)
    if annotation is bool:
        return _bool(text)
    if annotation is int:
        return int(text)
    if annotation is float:
        return float(text)
    if (origin or annotation) in (list, tuple, Sequence):
        return _sequence(text, arguments)
    if annotation is MISSING or annotation is Any or (origin or annotation) in (dict, Mapping):
        return _json(text, strict=annotation is not MISSING and annotation is not Any)
    return text


def _specific_first(annotation: Any) -> int:
    return 1 if annotation is str or (isinstance(annotation, type) and issubclass(annotation, PurePath)) else 0


def _first_that_reads(text: str, annotations: Sequence[Any], allowed: Sequence[Any] | None = None) -> Any:
    for annotation in annotations:
        try:
            value = _from_text(text, annotation)
        except ValueError:
            continue
        if allowed is None or value in allowed:
            return value
    raise ValueError(text)


def _none(text: str) -> None:
    if text.lower() not in ("none", "null"):
        raise ValueError(text)


def _bool(text: str) -> bool:
    if text.lower() not in TRUE + FALSE:
        raise ValueError(text)
    return text.lower() in TRUE


def _json(text: str, *, strict: bool) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        if strict:
            raise
        return text


def _sequence(text: str, arguments: tuple[Any, ...]) -> list[Any]:
    texts = [part.strip() for part in text.strip().strip("[]()").split(",") if part.strip()]
    if not arguments or arguments[-1] is Ellipsis or len(arguments) == 1:
        return [_from_text(part, arguments[0] if arguments else MISSING) for part in texts]
    if len(texts) != len(arguments):
        raise ValueError(text)
    return [_from_text(part, kind) for part, kind in zip(texts, arguments, strict=True)]


def _from_value(value: Any, annotation: Any) -> Any:
    """Check a value that is no text; NumPy's scalars and paths become plain ones."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, PurePath):
        value = str(value)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (Union, types.UnionType):
        return (
            next(_from_value(value, member) for member in arguments if _accepts(value, member))
            if any(_accepts(value, member) for member in arguments)
            else _refuse(value)
        )
    if origin is Literal:
        return value if value in arguments else _refuse(value)
    if annotation is None or annotation is types.NoneType:
        return None if value is None else _refuse(value)
    if (origin or annotation) in (list, tuple, Sequence):
        items = list(value) if isinstance(value, (list, tuple)) else _refuse(value)
        return [_from_value(item, arguments[0] if arguments else MISSING) for item in items]
    if annotation is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(annotation, type) and issubclass(annotation, PurePath):
        return value if isinstance(value, str) else _refuse(value)
    if annotation in (bool, int, float, str) and type(value) is not annotation:
        return _refuse(value)
    return _check_json(value)


def _check_json(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except TypeError:
        raise ValueError(value) from None


def _refuse(value: object) -> Any:
    raise ValueError(value)
