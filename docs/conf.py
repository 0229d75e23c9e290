"""How Sphinx makes the site of these pages: `make docs`, without a network."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator

import click
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from arcademark import __version__
from arcademark.cli.main import cli
from arcademark.suite.protocols import AtariProtocol, protocols

project = "ArcadeMark"
author = "The ArcadeMark authors"
copyright = author  # Sphinx's name of it
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["myst.strikethrough"]

autodoc_typehints = "none"  # docstrings say them
autodoc_member_order = "bysource"
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_use_ivar = True

nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 300
os.environ.setdefault("ARCADEMARK_CACHE", os.path.abspath("../build/cache"))  # Sphinx reads this file in its folder

html_theme = "furo"
html_title = f"{project} {version}"
html_show_sphinx = False
html_copy_source = False
html_domain_indices = False
smartquotes = False
copybutton_selector = "div:not(.output) > div.highlight pre"


SHOWN = ("max_frames_per_episode", "repeat_action_probability", "action_set", "start", "training_episode_end")


def protocols_table() -> str:
    """Return a Markdown table of every protocol's most telling settings."""
    declared = AtariProtocol.declarations()
    rows = [["Protocol", *(declared[name].title for name in SHOWN)], ["---"] * (1 + len(SHOWN))]
    for title, rules in protocols().items():
        rows.append([f"`{title}`", *(declared[name].in_words(getattr(rules, name)) for name in SHOWN)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def plain(text: str) -> str:
    """Return text so that Markdown reads nothing in it."""
    return re.sub(r"([\\`*_<>\[\]{}|#])", r"\\\1", text)


def help_of(command: click.Command, context: click.Context, level: int = 2) -> Iterator[str]:
    """Yield the help of a command and of those below it, as Markdown."""
    yield f"{'#' * level} {context.command_path}"
    yield plain(inspect.cleandoc(command.help or ""))
    yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```"
    options = [param.get_help_record(context) for param in command.params if isinstance(param, click.Option)]
    rows = [f"| `{named.replace('|', chr(92) + '|')}` | {plain(meaning)} |" for named, meaning in filter(None, options)]
    if rows:
        yield "\n".join(["| option | meaning |", "|---|---|", *rows])
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            yield from help_of(below, click.Context(below, parent=context, info_name=name), level + 1)


def commands() -> str:
    """Return the help of every command, as Markdown."""
    top = click.Context(cli, info_name="arcademark", max_content_width=100, terminal_width=100, show_default=True)
    named = ((name, cli.get_command(top, name)) for name in cli.list_commands(top))
    return "\n\n".join(
        part for name, found in named for part in help_of(found, click.Context(found, parent=top, info_name=name))
    )


PARTS = {"<!-- table of protocols -->": protocols_table, "<!-- commands -->": commands}


def put_parts(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Put what is made of the code where a page asks for it."""
    for mark, made in PARTS.items():
        if mark in source[0]:
            source[0] = source[0].replace(mark, made())


def mark_fields(_app: Sphinx, what: str, _name: str, item: object, _options: object, lines: list[str]) -> None:
    """Read `field: What it means.` of a dataclass's docstring as a field, and stars as such."""
    fields = set(getattr(item, "__annotations__", ())) | set(getattr(item, "__dataclass_fields__", ()))
    for at, line in enumerate(lines):
        names, colon, _ = line.partition(": ")
        if what == "class" and colon and fields.issuperset(names.split(", ")):
            line = f":ivar {line}"
        lines[at] = line.replace("(N, *", r"(N, \*")


def setup(app: Sphinx) -> None:
    """Have pages and docstrings made ready as they are read."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", put_parts)
    app.connect("autodoc-process-docstring", mark_fields, priority=400)
