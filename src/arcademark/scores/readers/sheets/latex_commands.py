r"""Expands the commands that a LaTeX text defines: ``\best{20.7}`` of ``\newcommand{\best}[1]{\textbf{#1}}``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

MAX_COMMANDS = 200
"""Maximum number of definitions that are read."""
MAX_ARGUMENT = 1_000
"""Maximum number of characters of an argument or a definition."""
MAX_GROWTH = 1_000_000
"""Maximum number of characters by which a text grows."""
_NESTED = 4
"""Commands within each other that are expanded."""

_DEFINED = re.compile(
    r"\\(?:(?:re|provide)?newcommand|DeclareRobustCommand)\*?\s*\{?\s*\\([A-Za-z]+)\s*\}?\s*(?:\[(\d)\])?(?:\[([^\[\]]*)\])?"
    r"|\\def\s*\\([A-Za-z]+)\s*((?:#\d)*)"
)
_OPTIONAL = re.compile(r"\s*\[([^\[\]]*)\]")
_TOKEN = re.compile(r"\s*(\\[A-Za-z]+|\\?[^\s{}]|)")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


class _Command(NamedTuple):
    """A definition; `default` is that of an optional first argument, None without one."""

    arguments: int
    default: str | None
    body: str


def expanded(text: str) -> str:
    """Return a text in which the commands that it defines are replaced by what they stand for, on the same lines."""
    commands = {}
    for found in islice(_DEFINED.finditer(text), MAX_COMMANDS):
        number = int(found[2] or (found[5] or "0")[-1])
        body, _ = _argument(text, found.end())
        commands[found[1] or found[4]] = _Command(number, found[3], " ".join(body.split("\n")))
    if not commands:
        return text
    calls = re.compile(rf"\\({'|'.join(commands)})(?![A-Za-z])")
    result = text
    for _ in range(_NESTED):
        parts, size = [], 0
        for part in _replaced(result, calls, commands):
            parts.append(part)
            size += len(part)
            if size > len(text) + MAX_GROWTH:
                return text
        result = "".join(parts)
    return result


def _replaced(text: str, calls: re.Pattern[str], commands: dict[str, _Command]) -> Iterator[str]:
    at = 0
    while call := calls.search(text, at):
        yield text[at : call.start()]
        command, at = commands[call[1]], call.end()
        given = []
        if command.default is not None:
            stated = _OPTIONAL.match(text, at)
            given.append(stated[1] if stated else command.default)
            at = stated.end() if stated else at
        while len(given) < command.arguments:
            argument, at = _argument(text, at)
            given.append(argument)
        values = {f"#{number}": value for number, value in enumerate(given, 1)}
        yield re.sub(r"#\d", lambda place, values=values: values.get(place[0], ""), command.body)  # type: ignore[misc]
    yield text[at:]


def _argument(text: str, at: int) -> tuple[str, int]:
    """Return what an argument holds, in braces or as one character or command, and where it ends."""
    token = _TOKEN.match(text, at)
    start = token.end() if token else at
    if token is None or token[1] or not text.startswith("{", start):
        return (token[1] if token else ""), start
    depth = 0
    for brace in _BRACE.finditer(text, start, start + MAX_ARGUMENT):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if not depth:
            return text[start + 1 : brace.start()], brace.end()
    return "", start
