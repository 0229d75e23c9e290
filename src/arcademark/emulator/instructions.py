"""What each instruction does, as the interpreter's own text of it (``native/opcodes.c``)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from arcademark.emulator.build import native


@dataclass(frozen=True)
class Operation:
    """An opcode: its text in C, the bytes of its operand, and its condition if it is a branch."""

    text: str
    bytes: int
    condition: str = ""


@functools.cache
def operations() -> dict[int, Operation]:
    """Return all opcodes but those that stop the processor."""
    text = re.sub(r"/\*.*?\*/", "", native("opcodes.c"), flags=re.DOTALL).replace("\\\n", "\n")
    patterns = {}
    for name in ("READING", "MODIFYING", "MODIFYING_MORE"):
        head, body = re.split(rf"#define {name}\(", text, maxsplit=1)[1].split(")", 1)
        patterns[name] = [part.strip() for part in head.split(",")], re.split(r"#define|\n\n", body)[0]
    table = text[text.index("\nREADING(A9") :]
    return dict(_expanded(table, patterns))


def _expanded(text: str, patterns: dict[str, tuple[list[str], str]]) -> Iterator[tuple[int, Operation]]:
    for name, words in _calls(text):
        if name in patterns:
            names, body = patterns[name]
            words = [*words[: len(names) - 1], ", ".join(words[len(names) - 1 :])]
            given = dict(zip(names, words, strict=True))
            yield from _expanded(re.sub(r"\b\w+\b", partial(_given, given), body), patterns)
        elif name == "BRANCH":
            yield int(words[0], 16), Operation("", 1, words[1])
        elif name == "OP":
            yield int(words[0], 16), _operation(words[1])
        else:
            words = [words[0], "2", "(void)0", words[1]] if name == "SIMPLE" else words
            yield int(words[0], 16), _operation(f"cycles += {words[1]}; {words[2]}; {', '.join(words[3:])};")


def _given(given: dict[str, str], match: re.Match[str]) -> str:
    return given.get(match[0], match[0])


def _operation(text: str) -> Operation:
    double = len(re.findall(r"\b(?:ABSOLUTE|INDEXED)\b", text))
    single = len(re.findall(r"\b(?:ZERO|ZERO_X|ZERO_Y|POINTER_X|POINTER_Y)\b|FETCH\(\)", text))
    return Operation(re.sub(r"\s+", " ", text), 2 * double + single)


def _calls(text: str) -> Iterator[tuple[str, list[str]]]:
    """Find the table's macros and their arguments; of a plain label, the text up to its end."""
    at = 0
    while match := re.compile(r"\b(READING|MODIFYING_MORE|MODIFYING|DO|SIMPLE|BRANCH|OP)\(").search(text, at):
        at, depth, words = match.end(), 1, [""]
        while depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            if depth == 1 and text[at] == ",":
                words.append("")
            elif depth:
                words[-1] += text[at]
            at += 1
        if match[1] == "OP":
            end = text.index("NEXT;", at)
            words.append(text[at:end].lstrip(" :"))
            at = end
        yield match[1], [word.strip() for word in words]
