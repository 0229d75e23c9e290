"""What every document's page is built of: one style, one frame (``templates/base.html.jinja``), one environment.

A page is one file: no request to anywhere, readable without scripts, light and dark.
"""

from __future__ import annotations

import re
from typing import Any

import jinja2
from markupsafe import Markup

from arcademark.errors import escaped
from arcademark.report import figures, wording


def render(template: str, **content: Any) -> str:
    """Write a page.

    Parameters
    ----------
    template : str
        A file in ``templates/`` that extends ``base.html.jinja``.
    **content : object
        What the template shows. ``report`` is the document, of which the frame takes the title and the generator.

    Returns
    -------
    str
        A whole HTML document. Everything in it that comes from users is escaped, what cannot be seen too.
    """
    return environment().get_template(template).render(palette=figures.PALETTE, **content)


def environment() -> jinja2.Environment:
    """Make what templates are rendered with: filters of `wording`, and everything escaped."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("arcademark.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: escaped(value, kept="\n") if type(value) is str else value,
    )
    made.filters.update(
        percent=wording.percent,
        reference=wording.reference,
        count=wording.count,
        listing=wording.listing,
        breakable=breakable,
        points=wording.score,
    )
    made.globals.update(plural=wording.plural, missing=wording.MISSING)
    return made


def breakable(name: str) -> Markup:
    """Let a long name break after punctuation rather than anywhere."""
    parts = re.split(r"(?<=[:(,/])", escaped(name))
    return Markup("<wbr>").join(parts)


def figure(svg: str, words: str) -> Markup:
    """Put a figure (whose texts are escaped) into the page: its colours the page's own, its content in words too."""
    label = Markup('<svg role="img" aria-label="{}" ').format(escaped(words))
    return Markup(figures.themed(svg).replace("<svg ", label, 1))
