"""Checks arguments of public functions: the names of keywords, and the types of values by their annotations."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import numbers
import operator
import os
import reprlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from itertools import islice
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from arcademark.errors import ArcadeMarkError, UnknownNameError

Function = TypeVar("Function", bound=Callable[..., Any])

Names: TypeAlias = Annotated[Sequence[str], "a name, or several"]
"""A collection of names; a single text is one name."""

MAX_ITEMS = 1_000_001
"""Largest number of items of a collection: one more than the most trials of a run, which has its own message."""

MAX_BITS = 1_000
"""Largest number of bits of a whole number, which is still finite in double precision."""

_WORDS: Mapping[Any, str] = {
    NoneType: "None",
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "text",
    os.PathLike: "a path",
    Path: "a path",
    Mapping: "a dictionary",
    Callable: "a function",
}


def knowing(
    options: Any = None, defaults: Mapping[str, Any] | Any = None, *, checked: bool = True
) -> Callable[[Function], Function]:
    """Decorate a function to refuse unknown keywords and values of wrong types, and to show all keywords.

    `taken` converts values by their annotations. For a dataclass, ``__init__`` is decorated.

    Parameters
    ----------
    options : type, optional
        The typed dictionary or dataclass with the keywords of the function's ``**``, if it has any.
    defaults : mapping or dataclass, optional
        Their defaults; by default those of ``options``, which are None in a typed dictionary.
    checked : bool, optional
        Check keywords and values before the function is called; otherwise the function does so itself.
    """

    def decorate(function: Any) -> Any:
        if inspect.isclass(function):
            function.__init__ = decorate(function.__init__)  # type: ignore[method-assign]
            return function
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind != inspect.Parameter.VAR_KEYWORD]
        hints = get_type_hints(options) if options else {}
        known_defaults = _defaults(defaults or options)
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=known_defaults.get(name), annotation=hint)
            for name, hint in hints.items()
        ]
        known = [one.name for one in (*own, *more)]
        open_ended = not options and len(own) < len(signature.parameters)
        positional = [one.name for one in own if one.kind != inspect.Parameter.KEYWORD_ONLY]
        repeated = [one.name for one in own if one.kind == inspect.Parameter.VAR_POSITIONAL]
        title = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

        @functools.cache
        def kinds() -> Mapping[str, Any]:
            written = {one.name: one.annotation for one in own if one.annotation is not one.empty}
            parameters = SimpleNamespace(__annotations__=written)
            extras = get_type_hints(options, include_extras=True) if options else {}
            return {**get_type_hints(parameters, function.__globals__, include_extras=True), **extras}

        @functools.wraps(function)
        def call(*arguments: Any, **given: Any) -> Any:
            if checked:
                for name in () if open_ended else given:
                    if name not in known:
                        raise UnknownNameError(f"parameter of {title}", name, known)
                of, names = kinds(), [*positional, *repeated * len(arguments)]
                kept = arguments[len(names) :]  # too many: Python raises
                read = [taken(value, of.get(name, Any), name) for name, value in zip(names, arguments, strict=False)]
                arguments = (*read, *kept)
                given = {name: taken(value, of.get(name, Any), name) for name, value in given.items()}
            return function(*arguments, **given)

        call.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        return call

    return decorate


def _defaults(options: Any) -> Mapping[str, Any]:
    if isinstance(options, Mapping):
        return options
    if not dataclasses.is_dataclass(options):
        return {}
    made = {
        one.name: one.default if one.default_factory is dataclasses.MISSING else one.default_factory()
        for one in dataclasses.fields(options)
    }
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in made.items()}


def taken(value: Any, kind: Any, place: str) -> Any:
    """Return an argument converted to an annotation's type; ArcadeMarkError if it is of another type.

    Numbers and texts of NumPy, PyTorch and enumerations become Python's, and collections become tuples, with all their
    items; a single value becomes a collection of one. NaN is not a number. The text of an `Annotated` type describes
    the expected value in the message.
    """
    try:
        return _read(value, kind, place)
    except (TypeError, ValueError, OverflowError):
        raise ArcadeMarkError(f"{place} {quoted(value)}: expected {_expected(kind)}") from None


def _read(value: Any, kind: Any, place: str) -> Any:
    """Return a value converted to a type; TypeError, ValueError or OverflowError if it is of another."""
    origin, parts = _origin(kind), get_args(kind)
    if origin in (Any, object):
        return value
    if origin is Annotated:
        return _read(value, parts[0], place)
    if origin in (Union, UnionType):
        return _first(value, parts, place)
    if origin in _READ:
        return _READ[origin](plain(value), parts, place)
    if isinstance(value, origin):
        return value
    raise TypeError


def quoted(value: Any) -> str:
    """Return a short text of any value, for a message."""
    try:
        return reprlib.repr(value)
    except Exception:  # an object's own method may raise anything
        return f"of type {type(value).__name__}"


def plain(value: Any) -> Any:
    """Return a number or text of NumPy, PyTorch or an enumeration as Python's, and an array as a list."""
    if isinstance(value, Enum):
        value = value.value
    listed = getattr(value, "tolist", None)
    return listed() if callable(listed) else value


def _first(value: Any, kinds: Sequence[Any], place: str) -> Any:
    """Return a value converted to the first type that it fits; text and collections, which fit much, are tried last."""
    for kind in sorted(kinds, key=lambda one: [str, *_COLLECTIONS].count(_origin(one))):
        with suppress(TypeError, ValueError, OverflowError):
            return _read(value, kind, place)
    raise TypeError


def _origin(kind: Any) -> Any:
    return get_origin(kind) or kind


def _expected(kind: Any) -> str:
    origin, parts = _origin(kind), get_args(kind)
    if origin is Annotated:
        return str(parts[1])
    if origin is Literal:
        return " or ".join(map(repr, parts))
    if origin in (Union, UnionType):
        *most, last = dict.fromkeys(map(_expected, parts))
        return f"{', '.join(most)} or {last}" if most else last
    if origin in _COLLECTIONS:
        return f"a sequence of {f'{len(parts)}, ' * (len(parts) > 1)}{_expected(parts[0])}"
    return _WORDS.get(origin, getattr(origin, "__name__", str(origin)))


def _whole(value: Any, *_: Any) -> int:
    number = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    if isinstance(value, bool) or number.bit_length() > MAX_BITS:
        raise TypeError
    return number


def _number(value: Any, *_: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or math.isnan(value):
        raise TypeError
    return float(value)


def _truth(value: Any, *_: Any) -> bool:
    if not isinstance(value, int) or value not in (0, 1):
        raise TypeError
    return bool(value)


def _text(value: Any, *_: Any) -> str:
    text = str.__str__(os.fspath(value))
    if b"\0" in os.fsencode(text):  # impossible in a file's name
        raise ValueError
    return text


def _path(value: Any, *_: Any) -> Path:
    return Path(_text(value))


def _path_like(value: Any, *_: Any) -> Path:
    if isinstance(value, str):  # a text may name something else than a path
        raise TypeError
    return _path(value)


def _nothing(value: Any, *_: Any) -> None:
    if value is not None:
        raise TypeError


def _literal(value: Any, choices: Sequence[Any], _: str) -> Any:
    (choice,) = (one for one in choices if type(one) is type(value) and one == value)
    return choice


def _called(value: Any, *_: Any) -> Any:
    if not callable(value):
        raise TypeError
    return value


def _mapping(value: Any, kinds: Sequence[Any], place: str) -> Any:
    if not isinstance(value, Mapping):
        raise TypeError
    if not kinds or get_origin(kinds[1]) is Mapping:  # a table, which is checked elsewhere
        return value
    return {
        taken(key, kinds[0], f"{place}, key"): taken(of, kinds[1], f"{place}[{quoted(key)}]")
        for key, of in value.items()
    }


def _several(value: Any, kinds: Sequence[Any], place: str) -> tuple[Any, ...]:
    if isinstance(value, bytes | bytearray | memoryview):
        raise TypeError
    if isinstance(value, str) or not isinstance(value, Iterable):
        value = (value,)
    items = sorted(value, key=str) if isinstance(value, set | frozenset) else [*islice(value, MAX_ITEMS + 1)]
    if len(items) > MAX_ITEMS:
        raise ArcadeMarkError(f"{place}: expected at most {MAX_ITEMS:,} in a sequence")
    kind, *others = kinds or (Any,)
    if others and Ellipsis not in others and len(items) != len(kinds):
        raise TypeError
    return tuple(_read(one, kind, place) for one in items)


_COLLECTIONS: tuple[Any, ...] = (Sequence, Collection, Iterable, tuple)
_READ: Mapping[Any, Callable[[Any, Sequence[Any], str], Any]] = {
    NoneType: _nothing,
    bool: _truth,
    int: _whole,
    float: _number,
    str: _text,
    os.PathLike: _path_like,
    Path: _path,
    Literal: _literal,
    Mapping: _mapping,
    Callable: _called,
    **dict.fromkeys(_COLLECTIONS, _several),
}
"""Readers of values by kind."""
