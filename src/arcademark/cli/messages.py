"""Printing: answers to standard output, messages to standard error.

Invisible and control characters are escaped here or in `arcademark.pages.render.layout`. A terminal's lines break
between words; elsewhere a message is one line.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from arcademark.errors import escaped

if TYPE_CHECKING:
    from arcademark.pages.render.layout import Console

Part = str | tuple[str, str]
"""Some text, or a text and its style."""


def open_console(stderr: bool = True) -> Console:
    """Open standard error, or standard output."""
    from arcademark.pages.render.layout import Console

    console = Console(stderr=stderr)
    console.soft_wrap = not console.is_terminal
    return console


def say(*parts: Part, console: Console | None = None) -> None:
    """Print a message, one line, to standard error."""
    from arcademark.pages.render.layout import Text

    (console or open_console()).print(Text.assemble(*parts))


def tell(line: str) -> None:
    """Print a line of the answer without breaking it, so that paths can be copied."""
    write(f"{escaped(line)}\n")


def write(text: str) -> None:
    """Print a text of many lines: help, CSV, LaTeX, JSON."""
    sys.stdout.write(escaped(text, kept="\n"))


def print_json(document: Any) -> None:
    """Print a document, a dataclass or its values."""
    from arcademark.pages.render import json

    write(json.text(document if isinstance(document, Mapping) else json.render(document)))
