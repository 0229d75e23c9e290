"""The one family of errors that users see.

Every error that a user can cause is an `ArcadeMarkError`. Its message is one line that names the place, what was
expected and what to do; the command line prints it without a traceback and exits with code 2.
"""

from __future__ import annotations

import difflib
import heapq
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from unicodedata import category

LISTED = frozenset({"game", "suite", "subset", "protocol", "agent"})
"""Kinds of names that ``arcademark info`` lists."""

MAX_NAMED = 12
"""Names that are all listed where none is close to what was asked for."""


MAX_COMPARED = 100
"""Characters of an unknown name that are shown, and held against known ones."""

MAX_QUOTED_CHARS = 1_000
"""Characters shown of a text of somebody else."""

MAX_MESSAGE_CHARS = 2_000
"""Characters of an error's message."""

MAX_WORD_CHARS = 300
"""Characters of a word in an error's message: longer paths than most, shorter than names that are meant to be long."""


def escaped(text: str, kept: str = "") -> str:
    r"""Write what cannot be seen, or steers a terminal, as escapes such as ``\x1b``, but for what is to be kept.

    That is: control characters and line breaks, marks without width or that turn the direction of writing, surrogates.
    """
    if text.isprintable():
        return text
    unseen = (char for char in set(text) if not (char.isprintable() or char in kept or category(char) == "Zs"))
    return text.translate({ord(char): repr(char)[1:-1] for char in unseen})


def one_line(text: str, most: int = MAX_QUOTED_CHARS) -> str:
    """Write another's text as one line, `escaped`; what is longer than `most` is cut, and says so."""
    shown = escaped(text[:most])
    return shown if len(text) <= most else f"{shown}… ({len(text) - most:,} characters more)"


class ArcadeMarkError(Exception):
    """An error that the user can correct; the message names the place and the remedy.

    Whatever texts of others it holds, the message is one line without control characters, of bounded length, in which
    what is long is shortened in the middle. So are notes.
    """

    def __init__(self, message: object) -> None:
        super().__init__(_short_line(str(message)))

    def add_note(self, note: str) -> None:
        """Add a line that is shown below the message."""
        super().add_note(_short_line(note))


def _short_line(text: str) -> str:
    text = re.sub(rf"\S{{{MAX_WORD_CHARS + 1},}}", lambda word: _shortened(word[0], MAX_WORD_CHARS), escaped(text))
    return _shortened(text, MAX_MESSAGE_CHARS)


def _shortened(text: str, most: int) -> str:
    """Cut a text in its last third, where it is too long, so that the note of it fits, too."""
    if len(text) <= most:
        return text
    head, tail = most // 2, most // 4
    return f"{text[:head]}… ({len(text) - head - tail:,} characters more) …{text[-tail:]}"


class ArcadeMarkWarning(UserWarning):
    """Something that works, but not as it could: the message says where and how."""


class UnknownNameError(ArcadeMarkError):
    """A name of some kind ("game", "protocol", "agent", …) that is not known, with the closest names that are.

    Names are close by their letters or by their words in any order. `also` maps other names of what is known to it.
    They are sought once the message is read: who tries whether a name is known pays nothing for it.
    """

    def __init__(
        self, kind: str, name: str, known: Iterable[str], also: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        super().__init__("")
        self.kind = kind
        self.name = name = str(name)  # keys of a dictionary may be anything
        self.args = (kind, name, tuple(known), dict(also))

    def __str__(self) -> str:
        return _short_line(self._message(*self.args))

    @staticmethod
    def _message(kind: str, name: str, names: tuple[str, ...], also: Mapping[str, str]) -> str:
        meant = {other.lower(): one for other, one in also.items()} | {one.lower(): one for one in names}
        close = _closest(name, meant, 0.5)
        if close:
            hint = f"did you mean {' or '.join(repr(match) for match in close)}?"
        elif len(names) <= MAX_NAMED:
            hint = f"known: {', '.join(names)}"
        elif kind in LISTED:
            hint = f"'arcademark info {kind}s' lists them"
        else:
            near = ", ".join(map(repr, _closest(name, meant, 0.0)))
            hint = f"the closest of the {len(names)} that are known are {near}"
        return f"unknown {kind} '{one_line(name, MAX_COMPARED)}'; {hint}"


def _closest(name: str, meant: Mapping[str, str], cutoff: float) -> list[str]:
    """Return what at most three names mean, the closest first, of which letters or words agree to a share."""
    wanted = name[:MAX_COMPARED].lower()
    words = _words(wanted)

    def of_words(other: str) -> float:
        theirs = _words(other)
        return 2 * len(words & theirs) / max(1, len(words) + len(theirs))

    alike = heapq.nlargest(3, (other for other in meant if of_words(other) >= max(cutoff, 0.5)), key=of_words)
    letters = difflib.SequenceMatcher(b=wanted)

    def closeness(other: str) -> float:
        letters.set_seq1(other)
        return max(letters.ratio(), of_words(other))

    candidates = dict.fromkeys([*difflib.get_close_matches(wanted, meant, n=3, cutoff=cutoff), *alike])
    ordered = sorted(candidates, key=closeness, reverse=True)
    return list(dict.fromkeys(meant[other] for other in ordered))[:3]


def _words(text: str) -> set[str]:
    """Return the beginnings of a name's words, which "frame" and "frames" have in common."""
    return {word[:4] for word in re.findall(r"[a-z]+|\d+", text)}
