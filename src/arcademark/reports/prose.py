"""Prose from templates: sentences and paragraphs of ``templates/prose``, and the environment of all text templates.

In templates every public function of `arcademark.reports.wording` is a filter.
"""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar
from functools import cache
from typing import Any

import jinja2

from arcademark.reports import wording
from arcademark.reports.columns import plain


def text(template: str, name: str, /, **values: Any) -> str:
    """Return the sentences that a macro of ``templates/prose/TEMPLATE`` makes, on one line."""
    return " ".join(str(getattr(_template(f"prose/{template}").module, name)(**values)).split())


def paragraphs(template: str, /, **values: Any) -> tuple[str, ...]:
    """Return the paragraphs of ``templates/prose/TEMPLATE``, which empty lines part, each on one line."""
    parts = re.split(r"\n\s*\n", _template(f"prose/{template}").render(values))
    return tuple(" ".join(part.split()) for part in parts if part.strip())


def rendered(name: str, pieces: Pieces, /, **values: Any) -> str:
    """Return the text of a template in which tokens stand for what it interpolates, which is kept among the pieces."""
    token = _PIECES.set(pieces)
    try:
        return _template(name).render(values)
    finally:
        _PIECES.reset(token)


class Pieces(list[Any]):
    """What a template interpolates: texts, and blocks; in the text that is read, tokens stand for them.

    No text can hold a token that it was not given: each document's are its own.
    """

    def __init__(self) -> None:
        self._mark = f"\ue000{secrets.token_hex(8)}"
        self.token = re.compile(f"{self._mark}(\\d+)\ue001")

    def keep(self, piece: Any) -> str:
        """Return the token of a piece."""
        self.append(piece)
        return f"{self._mark}{len(self) - 1}\ue001"

    def filled(self, text: str) -> str:
        """Put texts in the places of their tokens, and in those of tokens within them."""
        return self.token.sub(lambda token: self.filled(str(self[int(token[1])])), text)


_PIECES: ContextVar[Pieces | None] = ContextVar("pieces", default=None)


@jinja2.pass_context
def _interpolated(_: object, value: Any) -> str:
    """Keep a value as one piece of a document's text; in prose, which is not read again, it stands as it is."""
    pieces = _PIECES.get()
    if pieces is None or (isinstance(value, str) and (not value or pieces.token.fullmatch(value))):
        return plain(value) if not isinstance(value, str) else value
    return pieces.keep(value if isinstance(value, str) else plain(value))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("arcademark.reports"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_interpolated,
    )
    environment.filters.update(
        {name: value for name, value in vars(wording).items() if callable(value) and not name.startswith("_")}
    )
    return environment


def _template(name: str) -> jinja2.Template:
    return _environment().get_template(f"{name}.jinja")
