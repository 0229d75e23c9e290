"""What there is: a topic's list, and all that is known of one thing with where each value comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from arcademark.reports.blocks import Column, Document, Facts, Table, section, table

VALUES = ("value", "score", "default")


def listing(topic: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Document:
    """Show a topic's list."""
    last = len(headings) - 1
    columns = (Column(heading, "prose" if index == last else "name") for index, heading in enumerate(headings))
    return Document(topic.capitalize(), "info", "", (section("", table(columns, rows)),))


def details(name: str, known: Mapping[str, Any]) -> Document:
    """Show all that is known of one thing."""
    plain = {
        key: value
        for key, value in known.items()
        if not (isinstance(value, Mapping) and any(isinstance(item, Mapping) for item in value.values()))
    }
    facts = Facts(tuple((key.replace("_", " "), _text(value)) for key, value in plain.items()))
    listings = (section("", _listing(key, known[key])) for key in known if key not in plain)
    return Document(name, "info", "", (section("", facts), *listings))


def _listing(title: str, entries: Mapping[str, Mapping[str, Any]]) -> Table:
    """Lay out named values with where each comes from."""
    parameters = any("default" in entry for entry in entries.values())
    value, source = ("default", "type and meaning") if parameters else ("value", "source")
    rows = []
    for name, entry in entries.items():
        rest = [_source(key, item) for key, item in entry.items() if key not in VALUES and item != ""]
        found = next(_text(entry[key]) for key in VALUES if key in entry)
        rows.append((name, found, " ".join(line for line in rest if line)))
    return table((Column(title, "name"), Column(value, "name"), Column(source, "prose")), rows)


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
