"""Keywords that functions take by a typed dictionary or a dataclass: known by name, and shown with their defaults."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_type_hints

from arcademark.errors import UnknownNameError

Function = TypeVar("Function", bound=Callable[..., Any])


def knowing(
    options: Any = None, defaults: Mapping[str, Any] | Any = None, *, checked: bool = True
) -> Callable[[Function], Function]:
    """Refuse unknown keywords with the closest known one, and have the signature show them all.

    Parameters
    ----------
    options : type, optional
        The typed dictionary or dataclass that lists the keywords of the function's ``**``; none if it has none.
    defaults : mapping or dataclass, optional
        Their defaults; by default those of ``options``, which are None in a typed dictionary.
    checked : bool, optional
        Whether unknown keywords are refused before the function is called; else it sees to that itself.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind != inspect.Parameter.VAR_KEYWORD]
        hints = get_type_hints(options) if options else {}
        known_defaults = _defaults(defaults or options)
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=known_defaults.get(name), annotation=hint)
            for name, hint in hints.items()
        ]
        known = [one.name for one in (*own, *more)]

        @functools.wraps(function)
        def call(*arguments: Any, **given: Any) -> Any:
            for name in given if checked else ():
                if name not in known:
                    raise UnknownNameError(f"parameter of {function.__name__}", name, known)
            return function(*arguments, **given)

        call.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

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
