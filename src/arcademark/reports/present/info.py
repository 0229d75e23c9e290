"""What there is: a topic's list, and all that is known of one thing with where each value comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from arcademark.reports.blocks import Column, Document, Facts, Table, section, table

NAMES, VALUES = ("name", "kind"), ("value", "what", "score", "default")
UNSAID = ("task", "suite", "required")
"""Fields that stand elsewhere in a row, or need no words."""


def listing(topic: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Document:
    """Show a topic's list."""
    last = len(headings) - 1
    columns = (Column(heading, "prose" if index == last else "name") for index, heading in enumerate(headings))
    return Document(topic.capitalize(), "info", "", (section("", table(columns, rows)),))


def details(known: Mapping[str, Any]) -> Document:
    """Show all that is known of one thing, as JSON values."""
    listed = {key: list(_entries(value)) for key, value in known.items()}
    plain = ((key.replace("_", " "), _text(value)) for key, value in known.items() if not listed[key])
    listings = (section("", _listing(key, entries)) for key, entries in listed.items() if entries)
    return Document(str(known["name"]), "info", "", (section("", Facts(tuple(plain))), *listings))


def _entries(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects that a value holds, by name or in a list, with what each is called."""
    if isinstance(value, Mapping) and any(isinstance(entry, Mapping) for entry in value.values()):
        yield from value.items()
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, Mapping):
            name = next(entry[key] for key in NAMES if key in entry).replace("_", " ")
            yield f"{name} ({entry['suite']})" if "suite" in entry else name, entry


def _listing(title: str, entries: Iterable[tuple[str, Mapping[str, Any]]]) -> Table:
    """Lay out named values with where each comes from."""
    rows, heads = [], ("value", "source")
    for name, entry in entries:
        value = next(key for key in VALUES if key in entry)
        heads = ("default", "type and meaning") if value == "default" else heads
        found = "required" if entry.get("required") else _text(entry[value])
        rest = [_source(key, entry[key]) for key in entry if key not in (*NAMES, *UNSAID, value) and entry[key]]
        rows.append((name, found, " ".join(line for line in rest if line)))
    return table((Column(title, "name"), Column(heads[0], "name"), Column(heads[1], "prose")), rows)


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
