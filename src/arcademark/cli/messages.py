"""What a command says beside its answer. A terminal's lines break between words; elsewhere a message is one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

Part = str | tuple[str, str]
"""Some text, or a text and its style."""


def open_console(stderr: bool = True) -> Console:
    """Open standard error, or standard output."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False, markup=False)
    console.soft_wrap = not console.is_terminal
    return console


def say(*parts: Part, console: Console | None = None) -> None:
    """Print a message as it is: nothing in it is markup."""
    from rich.text import Text

    (console or open_console()).print(Text.assemble(*parts))
