"""The one family of errors that users see.

Every error that a user can cause is an `ArcadeMarkError`. Its message is one line that names the place, what was
expected and what to do; the command line prints it without a traceback and exits with code 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LISTED = frozenset({"game", "suite", "subset", "protocol", "agent"})
"""Kinds of names that ``arcademark info`` lists."""

MOST_NAMED = 12
"""Names that are all told where none is close to what was asked for."""


class ArcadeMarkError(Exception):
    """Something the user can mend: the message says where and how."""


class UnknownNameError(ArcadeMarkError):
    """A name that is in no list, with the closest names that are.

    Parameters
    ----------
    kind : str
        What was looked for: "game", "protocol", "agent", …
    name : str
        What was asked for.
    known : iterable of str
        The names that would have been accepted.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        names = list(known)
        by_lower = {candidate.lower(): candidate for candidate in names}
        close = [by_lower[match] for match in difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)]
        if close:
            hint = f"did you mean {' or '.join(repr(match) for match in close)}?"
        elif len(names) <= MOST_NAMED:
            hint = f"known: {', '.join(names)}"
        elif kind in LISTED:
            hint = f"'arcademark info {kind}s' lists them"
        else:
            near = [by_lower[match] for match in difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.0)]
            hint = f"the closest of the {len(names)} that are known are {', '.join(map(repr, near))}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")
