"""Reads docstrings: the first paragraph, and the description of each parameter or field of a dataclass."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

_SECTION = re.compile(r"^(?P<title>\S.*)\n-{3,}\n", flags=re.MULTILINE)
_FIELD = re.compile(r"^(?P<names>\w[\w, ]*): (?P<note>.*(?:\n[ \t]+\S.*)*)$", flags=re.MULTILINE)
_ENTRY = re.compile(r"^(?P<names>[*\w][*\w, ]*?)[ \t]*(?::[^\n]*)?$", flags=re.MULTILINE)


def summary(factory: Callable[..., object]) -> str:
    """Return the first paragraph of a factory's docstring as one line, "" if it has none."""
    return _line(_docstrings(factory)[0].partition("\n\n")[0])


def parameter_notes(factory: Callable[..., object]) -> dict[str, str]:
    """Return the descriptions of a class's or function's parameters in its docstring, each as one line.

    Entries are those of a numpydoc section "Parameters"; for a dataclass, also lines "field, other: Description." For a
    class, its own docstring is read, then that of ``__init__``, then those of the dataclasses whose fields it inherits.
    All names of an entry have its description.
    """
    result: dict[str, str] = {}
    bases = inspect.getmro(factory) if inspect.isclass(factory) else ()
    documented: list[Callable[..., object]] = [base for base in bases if dataclasses.is_dataclass(base)]
    for one in documented or [factory]:
        for text in _docstrings(one):
            for names, note in (
                *_entries(_parameters(text)),
                *(_fields(one, _SECTION.split(text)[0]) if documented else ()),
            ):
                result |= {name: note for name in names if note and name not in result}
    return result


def _docstrings(factory: Callable[..., object]) -> list[str]:
    own = factory.__dict__.get("__doc__") if inspect.isclass(factory) else getattr(factory, "__doc__", None)
    init = getattr(factory.__init__, "__doc__", None) if inspect.isclass(factory) else None
    return [inspect.cleandoc(text) if isinstance(text, str) else "" for text in (own, init)]


def _parameters(text: str) -> str:
    """Return the text below the heading "Parameters"."""
    wanted = ("Parameters", "Other Parameters")
    return "".join(body for section, body in _pieces(_SECTION, text) if section["title"].strip() in wanted)


def _entries(text: str) -> list[tuple[list[str], str]]:
    return [
        ([name.strip(" *") for name in entry["names"].split(",")], _line(body)) for entry, body in _pieces(_ENTRY, text)
    ]


def _fields(kind: Any, text: str) -> list[tuple[list[str], str]]:
    known = {field.name for field in dataclasses.fields(kind)}
    entries = [(entry["names"].split(", "), _line(entry["note"])) for entry in _FIELD.finditer(text)]
    return [entry for entry in entries if known.issuperset(entry[0])]


def _pieces(heading: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each heading with the text between it and the next."""
    matches = list(heading.finditer(text))
    for number, match in enumerate(matches, start=1):
        yield match, text[match.end() : matches[number].start() if number < len(matches) else len(text)]


def _line(text: str) -> str:
    return " ".join(text.replace("``", "").split())
