"""``arcademark info``: what there is, with its sources."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from rich.table import Table

from arcademark.agents import docstrings
from arcademark.agents.importing import canonical_reference, load_factory
from arcademark.agents.loading import BuiltinAgent, builtin_agents, kind_of
from arcademark.agents.parameters import declared
from arcademark.cli import messages, options
from arcademark.errors import UnknownNameError
from arcademark.report.layout import Console, lines
from arcademark.suite import protocols, references, subsets, tasks

Row = tuple[str, ...]

VALUES = ("value", "score", "default")


def _game(name: str) -> dict[str, Any]:
    game = tasks.games()[tasks.canonical_game(name)]
    groups = {name: suite.tasks for name, suite in tasks.suites().items()}
    groups |= {name: subset.tasks for name, subset in subsets.subsets().items()}
    return {
        **dataclasses.asdict(game),
        "genre and category": "our own reading: the papers print no list",
        "in": [name for name, members in groups.items() if game.id in members],
        "references": {
            f"{kind.replace('_', ' ')} ({suite.name})": _without_nothing(
                references.references(kind, suite.name)[game.id]
            )
            for suite in tasks.suites().values()
            for kind in suite.references
            if game.id in suite.tasks
        },
    }


def _without_nothing(reference: references.Reference) -> dict[str, Any]:
    fields = dataclasses.asdict(reference)
    return {key: value for key, value in fields.items() if value and key not in ("task", "kind")} | {
        "score": reference.score
    }


def _suite(name: str) -> dict[str, Any]:
    return dataclasses.asdict(tasks.suite(name))


def _subset(name: str) -> dict[str, Any]:
    return dataclasses.asdict(subsets.subset(name))


def _protocol(name: str) -> dict[str, Any]:
    protocol = protocols.protocol(name)
    values = protocol.to_json()["settings"]
    return {
        "name": protocol.name,
        "title": protocol.title,
        "citation": protocol.citation,
        "settings": {
            setting: {"value": value, **dataclasses.asdict(protocol.provenance[setting])}
            for setting, value in values.items()
        },
    }


def _agent(name: str) -> dict[str, Any]:
    agents = builtin_agents()
    if name not in agents and (":" in name or name.endswith(".py")):
        return _own_agent(canonical_reference(name))
    if name not in agents:
        raise UnknownNameError("agent", name, [*agents, "path/to/file.py:factory", "package.module:factory"])
    agent = agents[name]
    return {
        "name": agent.name,
        "kind": agent.kind,
        "summary": agent.summary,
        "citation": agent.citation,
        "members": list(agent.members),
        "parameters": _parameters(agent.factory),
    }


def _own_agent(reference: str) -> dict[str, Any]:
    factory = load_factory(reference)
    return {
        "name": reference,
        "kind": kind_of(factory, reference),
        "summary": docstrings.summary(factory),
        "parameters": _parameters(factory),
    }


def _feature_set(name: str) -> dict[str, Any]:
    from arcademark.features.registry import feature_set
    from arcademark.report.features.renderers import set_document

    return set_document(feature_set(name))


def _schema(name: str) -> dict[str, Any]:
    from arcademark.report.render import json

    if name not in (known := json.documents()):
        raise UnknownNameError("schema", name, known)
    return json.schema(known[name])


def _parameters(factory: Callable[..., object] | None) -> dict[str, Any]:
    """Return default, type and meaning of what ``--set`` accepts."""
    notes = {} if factory is None else docstrings.parameter_notes(factory)
    return {
        parameter.name: {
            "default": "required" if parameter.required else parameter.default,
            "type": parameter.expected,
            "meaning": notes.get(parameter.name, ""),
        }
        for parameter in (() if factory is None else declared(factory)[0])
    }


def _game_rows() -> list[Row]:
    in_suites = {game: [s.name for s in tasks.suites().values() if game in s.tasks] for game in tasks.games()}
    return [(g.id, g.name, g.genre, ", ".join(in_suites[g.id])) for g in tasks.games().values()]


def _suite_rows() -> list[Row]:
    return [(s.name, s.title, str(len(s.tasks)), s.citation) for s in tasks.suites().values()]


def _subset_rows() -> list[Row]:
    return [
        (s.name, str(len(s.tasks)), _share(s.relative_error), _share(s.nested.mean if s.nested else None), s.advice)
        for s in subsets.subsets().values()
    ]


def _share(error: float | None) -> str:
    return f"{100 * error:.1f}\N{NO-BREAK SPACE}%" if error else "–"


def _protocol_rows() -> list[Row]:
    return [(p.name, p.title, "" if p.runnable else "catalogue only") for p in protocols.protocols().values()]


def _agent_rows() -> list[Row]:
    return [(a.name, a.kind, a.summary, _parameter_names(a)) for a in builtin_agents().values()]


def _feature_rows() -> list[Row]:
    from arcademark.features.registry import feature_sets
    from arcademark.report.features.renderers import length

    return [(item.name, length(item), item.summary) for item in feature_sets().values()]


def _schema_rows() -> list[Row]:
    from arcademark.report.render import json

    return [(name, docstrings.summary(kind)) for name, kind in json.documents().items()]


def _parameter_names(agent: BuiltinAgent) -> str:
    return ", ".join(parameter.name for parameter in agent.parameters) or "–"


Headings = Sequence[str | tuple[str, ...]]
"""Of a table's columns: a line, or several."""

TOPICS: Mapping[str, tuple[Headings, Callable[[], list[Row]], Callable[[str], dict[str, Any]]]] = {
    "games": (("id", "name", "genre", "suites"), _game_rows, _game),
    "suites": (("name", "title", "games", "source"), _suite_rows, _suite),
    "subsets": (("name", "games", ("printed", "error"), ("on other", "papers"), "what for"), _subset_rows, _subset),
    "protocols": (("name", "title", ""), _protocol_rows, _protocol),
    "agents": (("name", "kind", "what it does", "parameters"), _agent_rows, _agent),
    "features": (("name", "features", "what they are"), _feature_rows, _feature_set),
    "schemas": (("name", "what such JSON holds"), _schema_rows, _schema),
}


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
