"""``arcademark info``: what there is, with its sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from rich.table import Table

from arcademark.cli import messages, options
from arcademark.errors import UnknownNameError
from arcademark.report.layout import Console, lines
from arcademark.report.topics import TOPICS

VALUES = ("value", "score", "default")


@click.command("info")
@click.argument("topic", metavar="|".join(TOPICS))
@click.argument("name", required=False)
@options.as_json
def command(topic: str, name: str | None, as_json: bool) -> None:
    """List games, suites, subsets, protocols, agents, features or JSON schemas; with NAME, all that is known of one."""
    topic = topic if topic in TOPICS or f"{topic}s" not in TOPICS else f"{topic}s"
    if topic not in TOPICS:
        raise UnknownNameError("topic", topic, TOPICS)
    headings, rows, details = TOPICS[topic]
    if name is not None:
        document = details(name)
        messages.print_json(document) if as_json or topic == "schemas" else _print_details(document)
    elif as_json:
        keys = [" ".join(heading) if isinstance(heading, tuple) else heading for heading in headings]
        messages.print_json([dict(zip(keys, row, strict=True)) for row in rows()])
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in headings:
            table.add_column(lines(*heading) if isinstance(heading, tuple) else heading, overflow="fold")
        for row in rows():
            table.add_row(*row)
        Console().print(table)


def _print_details(document: Mapping[str, Any]) -> None:
    console = Console()
    plain = {key: value for key, value in document.items() if not _is_listing(value)}
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in plain.items():
        table.add_row(key.replace("_", " "), _text(value))
    console.print(table)
    for key in [key for key in document if key not in plain]:
        console.print()
        console.print(_listing(key, document[key]))


def _is_listing(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(item, Mapping) for item in value.values())


def _listing(title: str, entries: Mapping[str, Mapping[str, Any]]) -> Table:
    """Lay out named values with where each comes from."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(title, no_wrap=True)
    parameters = any("default" in entry for entry in entries.values())
    table.add_column("default" if parameters else "value", overflow="fold")
    table.add_column("type and meaning" if parameters else "source", overflow="fold")
    for name, entry in entries.items():
        value = next(_text(entry[key]) for key in VALUES if key in entry)
        rest = [_source(key, item) for key, item in entry.items() if key not in VALUES and item != ""]
        table.add_row(name, value, " ".join(line for line in rest if line))
    return table


def _source(key: str, value: Any) -> str:
    if key == "status":
        return "our choice:" if value == "choice" else ""
    if key == "alternatives":
        return " ".join(f"Elsewhere: {_text(other['score'])} ({other['source']}). {other['note']}" for other in value)
    text = _text(value)
    if key == "type":
        return f"{text}:"
    return text if text.endswith((".", ":")) or key == "note" else f"{text}."


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in value) or "–"
    if isinstance(value, Mapping) and value:
        return ", ".join(f"{name.replace('_', ' ')} {_text(item)}" for name, item in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:,.12g}"
    return "–" if value is None or value == "" or value == {} else str(value)
