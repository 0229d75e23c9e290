"""Errors that users see.

Every error that a user can cause is an `ArcadeMarkError`. Its message is one line with the place, what was expected and
how to correct it; the command line prints it without a traceback and exits with code 2.
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
"""Largest number of known names that an error lists if none is close to the unknown one."""


MAX_COMPARED = 100
"""Largest number of characters of an unknown name that are shown, and compared with known ones."""

MAX_QUOTED_CHARS = 1_000
"""Largest number of characters shown of a text from elsewhere."""

MAX_MESSAGE_CHARS = 2_000
"""Largest number of characters of an error's message."""

MAX_WORD_CHARS = 300
"""Largest number of characters of a word in an error's message: most paths are shorter, malicious names longer."""


def escaped(text: str, kept: str = "") -> str:
    r"""Replace characters that are invisible or control a terminal by escapes such as ``\x1b``, except those in `kept`.

    These are control characters, line breaks, marks without width or for the direction of writing, and surrogates.
    """
    if text.isprintable():
        return text
    unseen = (char for char in set(text) if not (char.isprintable() or char in kept or category(char) == "Zs"))
    return text.translate({ord(char): repr(char)[1:-1] for char in unseen})


def one_line(text: str, most: int = MAX_QUOTED_CHARS) -> str:
    """Return a text from elsewhere as one line, `escaped`, and cut after `most` characters, with a note."""
    shown = escaped(text[:most])
    return shown if len(text) <= most else f"{shown}… ({len(text) - most:,} characters more)"


class ArcadeMarkError(Exception):
    """An error that the user can correct; the message names the place and the remedy.

    Whatever texts it quotes, the message is one line without control characters, of bounded length; long parts are
    shortened in the middle. The same holds for notes.
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
    """Return a text, shortened after its first `most` // 2 characters, with a note, if it is longer than `most`."""
    if len(text) <= most:
        return text
    head, tail = most // 2, most // 4
    return f"{text[:head]}… ({len(text) - head - tail:,} characters more) …{text[-tail:]}"


class ArcadeMarkWarning(UserWarning):
    """A warning about something that works, but not fully; the message names the place and the remedy."""


class UnknownNameError(ArcadeMarkError):
    """An unknown name of some `kind` ("game", "protocol", "agent", …); the message suggests the closest known names.

    Names are close by their letters or by their words in any order. `also` maps further names to known ones. The
    closest names are searched for only when the message is read, so that testing names stays cheap.
    """

    def __init__(
        self, kind: str, name: str, known: Iterable[str], also: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        super().__init__("")
        self.kind = kind
        self.name = name = str(name)  # a dictionary's key may be of any type
        self.args = (kind, name, tuple(known), dict(also))

    def __str__(self) -> str:
        return _short_line(self._message(*self.args))

    @staticmethod
    def _message(kind: str, name: str, names: tuple[str, ...], also: Mapping[str, str]) -> str:
        targets = {other.lower(): one for other, one in also.items()} | {one.lower(): one for one in names}
        close = _closest(name, targets, 0.5)
        if close:
            hint = f"did you mean {' or '.join(repr(match) for match in close)}?"
        elif len(names) <= MAX_NAMED:
            hint = f"known: {', '.join(names)}"
        elif kind in LISTED:
            hint = f"'arcademark info {kind}s' lists them"
        else:
            near = ", ".join(map(repr, _closest(name, targets, 0.0)))
            hint = f"the closest of the {len(names)} known ones are {near}"
        return f"unknown {kind} '{one_line(name, MAX_COMPARED)}'; {hint}"


def _closest(name: str, targets: Mapping[str, str], cutoff: float) -> list[str]:
    """Return the targets of the names, at most three, of which at least a share `cutoff` agrees, the closest first."""
    wanted = name[:MAX_COMPARED].lower()
    words = _words(wanted)

    def of_words(other: str) -> float:
        theirs = _words(other)
        return 2 * len(words & theirs) / max(1, len(words) + len(theirs))

    alike = heapq.nlargest(3, (other for other in targets if of_words(other) >= max(cutoff, 0.5)), key=of_words)
    letters = difflib.SequenceMatcher(b=wanted)

    def closeness(other: str) -> float:
        letters.set_seq1(other)
        return max(letters.ratio(), of_words(other))

    candidates = dict.fromkeys([*difflib.get_close_matches(wanted, targets, n=3, cutoff=cutoff), *alike])
    ordered = sorted(candidates, key=closeness, reverse=True)
    return list(dict.fromkeys(targets[other] for other in ordered))[:3]


def _words(text: str) -> set[str]:
    """Return the beginnings of a name's words, which "frame" and "frames" have in common."""
    return {word[:4] for word in re.findall(r"[a-z]+|\d+", text)}
