"""What readers see of a report of scores, in every form."""

import io
import json

from arcademark.pages import presenter
from arcademark.pages.render import html, terminal
from arcademark.pages.render import json as as_json
from arcademark.pages.render.layout import Console


def page(report):
    return html.render(presenter.document(report))


def printed(analysis, width=80, template="", *, everything=False, colour=False, **values):
    """What a terminal shows of any analysis."""
    out = io.StringIO()
    colours = "truecolor" if colour else None
    console = Console(file=out, width=width, force_terminal=colour, color_system=colours)
    terminal.render(presenter.document(analysis, template, **values), console, everything=everything)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def values(report):
    return json.loads(json.dumps(as_json.render(report), allow_nan=False))


def text_of(report, kind):
    """The notices of a kind."""
    return " ".join(notice.text for notice in report.notices if notice.kind == kind)
