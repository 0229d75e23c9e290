"""Sentences and paragraphs from the templates of ``templates/prose``, and the environment of all text templates.

Every public function of `arcademark.wording` is a filter in templates.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from arcademark import wording
from arcademark.suite.settings import duration
from arcademark.wording import plain

_HERE = "arcademark.wording"
HINT = f"\ue000{secrets.token_hex(8)}"
"""Mark before a notice's hint: ``{{ hint }}`` in its macro."""


def text(template: str, name: str, /, **values: Any) -> str:
    """Return the text of a macro of ``templates/prose/TEMPLATE``, on one line."""
    with _kept(None):
        return _line(getattr(_template(f"prose/{template}").module, name)(**values))


def variable(template: str, name: str, /) -> str:
    """Return a variable of ``templates/prose/TEMPLATE``."""
    return _line(getattr(_template(f"prose/{template}").module, name))


def paragraphs(template: str, /, **values: Any) -> tuple[str, ...]:
    """Return the paragraphs of ``templates/prose/TEMPLATE``, which empty lines separate, each on one line."""
    with _kept(None):
        parts = re.split(r"\n\s*\n", _template(f"prose/{template}").render(values))
    return tuple(_line(part) for part in parts if part.strip())


def _line(text: str) -> str:
    return re.sub(r"[ \n]+", " ", str(text)).strip(" ")


def rendered(package: str, name: str, pieces: Pieces, /, **values: Any) -> str:
    """Return the text of a package's template, with a token for each interpolated value, which is added to pieces."""
    with _kept(pieces):
        return _template(name, package).render(values)


@contextmanager
def _kept(pieces: Pieces | None) -> Iterator[None]:
    """Collect interpolated values of templates as pieces; None writes them into the text, also within a document."""
    token = _PIECES.set(pieces)
    try:
        yield
    finally:
        _PIECES.reset(token)


class Pieces(list[Any]):
    """Texts and blocks that a template interpolates, represented by tokens in its output.

    Tokens are random for each document, so that no text can contain one by accident or design.
    """

    def __init__(self) -> None:
        self._mark = f"\ue000{secrets.token_hex(8)}"
        self.token = re.compile(f"{self._mark}(\\d+)\ue001")

    def keep(self, piece: Any) -> str:
        """Add a piece; return its token."""
        self.append(piece)
        return f"{self._mark}{len(self) - 1}\ue001"

    def filled(self, text: str) -> str:
        """Replace tokens by their texts, in which tokens are replaced, too."""
        return self.token.sub(lambda token: self.filled(str(self[int(token[1])])), text)


_PIECES: ContextVar[Pieces | None] = ContextVar("pieces", default=None)


@jinja2.pass_context
def _interpolated(_: object, value: Any) -> Markup:
    """Replace a value by the token of a new piece of a document's text, or by its text in prose.

    The output of macros and blocks is part of the template and stays unchanged.
    """
    if isinstance(value, Markup):
        return value
    pieces, words = _PIECES.get(), value if isinstance(value, str) else plain(value)
    return Markup(words if pieces is None or not words else pieces.keep(words))


def environment(*packages: str, **how: Any) -> jinja2.Environment:
    """Make the environment of packages' templates: values are escaped, and undefined names are errors."""
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in packages]),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        **how,
    )


@cache
def _environment(*packages: str) -> jinja2.Environment:
    made = environment(_HERE, *packages, finalize=_interpolated)  # escaping distinguishes macros' output from texts
    made.filters.update(
        {name: value for name, value in vars(wording).items() if callable(value) and not name.startswith("_")},
        duration=duration,
    )
    made.filters["line"] = lambda text: Markup(_line(text))
    made.globals["hint"] = Markup(HINT)
    return made


def _template(name: str, *packages: str) -> jinja2.Template:
    return _environment(*packages).get_template(f"{name}.jinja")
