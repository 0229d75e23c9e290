"""Kinds of notices: caveats that a reader needs to interpret a number, most important first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arcademark.analysis.document import Level, Notice
from arcademark.wording import prose

_LEVELS: dict[str, Level] = {"warnings": "warning", "notes": "note"}
KINDS = {kind: level for name, level in _LEVELS.items() for kind in prose.variable("notices", name).split()}


def notice(name: str, /, **values: Any) -> Notice:
    """Make a notice by a macro of ``templates/prose/notices``.

    Its kind is the macro's name, up to ``__``; its level is that of its kind.
    """
    kind = name.partition("__")[0]
    text, _, hint = prose.text("notices", name, **values).partition(f" {prose.HINT} ")
    return Notice(kind, KINDS[kind], text, hint)


def plain(kind: str, text: str) -> Notice:
    """Make a notice of text that needs no macro."""
    return Notice(kind, KINDS[kind], text)


def sort(notices: Sequence[Notice]) -> tuple[Notice, ...]:
    """Sort notices, warnings first, each text once."""
    order = {kind: place for place, kind in enumerate(KINDS)}
    return tuple(sorted(dict.fromkeys(notices), key=lambda item: order[item.kind]))
