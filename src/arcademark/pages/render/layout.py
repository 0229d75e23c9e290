"""Text and console that replace rich's: names are not read as markup, control codes or further lines."""

from __future__ import annotations

from typing import Any, Self

import rich.console
import rich.text
from rich.style import Style

from arcademark.errors import escaped


class Text(rich.text.Text):
    """One line of text with a style; invisible characters and line breaks are escaped. `lines` joins several."""

    def __init__(self, text: str = "", style: str | Style = "", **how: Any) -> None:
        super().__init__(escaped(text), style, **how)

    def append(self, text: rich.text.Text | str, style: str | Style | None = None) -> Self:
        """Add a string, escaped, or a text, unchanged."""
        super().append(escaped(text) if isinstance(text, str) else text, style)
        return self

    def __add__(self, other: Any) -> rich.text.Text:
        return super().__add__(Text(other) if isinstance(other, str) else other)


class Console(rich.console.Console):
    """Console of all output: a string is one line of text, never markup or a name of an emoji."""

    def __init__(self, **how: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, force_jupyter=False, **how)

    def render_str(self, text: str, *, style: str | Style = "", **how: Any) -> rich.text.Text:
        """Return a string as text, without markup."""
        return Text(text, style, justify=how.get("justify"), overflow=how.get("overflow"))


def lines(*parts: str | rich.text.Text) -> Text:
    """Join texts as lines."""
    made = Text()
    for index, part in enumerate(parts):
        made.append(rich.text.Text("\n" if index else "")).append(part)
    return made
