"""``arcademark info``: what there is, with its sources."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from arcademark.agents.loading import BuiltinAgent, builtin_agents
from arcademark.cli import options
from arcademark.errors import UnknownNameError
from arcademark.suite import protocols, references, subsets, tasks

Row = tuple[str, ...]


def _game(name: str) -> dict[str, Any]:
    game = tasks.games()[tasks.canonical_game(name)]
    belongs = [
        group.name for group in (*tasks.suites().values(), *subsets.subsets().values()) if game.id in group.tasks
    ]
    scores = {kind: _reference(kind, game.id) for kind in references.KINDS}
    return {**dataclasses.asdict(game), "suites and subsets": belongs, **{k: v for k, v in scores.items() if v}}


def _reference(kind: str, game: str) -> dict[str, Any] | None:
    found = references.references(kind).get(game)
    return dataclasses.asdict(found) if found else None


def _suite(name: str) -> dict[str, Any]:
    return dataclasses.asdict(tasks.suite(name))


def _subset(name: str) -> dict[str, Any]:
    return dataclasses.asdict(subsets.subset(name))


def _protocol(name: str) -> dict[str, Any]:
    protocol = protocols.protocol(name)
    document = protocol.to_json()
    document.pop("overrides", None)
    settings = {
        setting: {"value": document.pop(setting), "status": source.status, "source": source.note}
        for setting, source in protocol.provenance.items()
        if setting in document
    }
    return {**document, "settings": settings}


def _agent(name: str) -> dict[str, Any]:
    agents = builtin_agents()
    if name not in agents:
        raise UnknownNameError("agent", name, agents)
    agent = agents[name]
    return {
        "name": agent.name,
        "summary": agent.summary,
        "citation": agent.citation,
        "members": list(agent.members),
        "parameters": {parameter.name: str(parameter) for parameter in agent.parameters},
    }


def _game_rows() -> list[Row]:
    in_suites = {game: [s.name for s in tasks.suites().values() if game in s.tasks] for game in tasks.games()}
    return [(g.id, g.name, g.genre, ", ".join(in_suites[g.id])) for g in tasks.games().values()]


def _suite_rows() -> list[Row]:
    return [(s.name, s.title, str(len(s.tasks)), s.citation) for s in tasks.suites().values()]


def _subset_rows() -> list[Row]:
    return [
        (s.name, str(len(s.tasks)), f"{100 * s.relative_error:.1f} %" if s.relative_error else "–", s.advice)
        for s in subsets.subsets().values()
    ]


def _protocol_rows() -> list[Row]:
    return [(p.name, p.title, "" if p.runnable else "catalogue only") for p in protocols.protocols().values()]


def _agent_rows() -> list[Row]:
    return [(a.name, a.summary, _parameter_names(a)) for a in builtin_agents().values()]


def _parameter_names(agent: BuiltinAgent) -> str:
    return ", ".join(parameter.name for parameter in agent.parameters) or "–"


TOPICS: Mapping[str, tuple[Sequence[str], Callable[[], list[Row]], Callable[[str], dict[str, Any]]]] = {
    "games": (("id", "name", "genre", "suites"), _game_rows, _game),
    "suites": (("name", "title", "games", "source"), _suite_rows, _suite),
    "subsets": (("name", "games", "error", "what for"), _subset_rows, _subset),
    "protocols": (("name", "title", ""), _protocol_rows, _protocol),
    "agents": (("name", "what it does", "parameters"), _agent_rows, _agent),
}


@click.command("info", short_help="List games, suites, subsets, protocols or agents.")
@click.argument("topic", metavar="|".join(TOPICS))
@click.argument("name", required=False)
@options.as_json
def command(topic: str, name: str | None, as_json: bool) -> None:
    """List games, suites, subsets, protocols or agents; with NAME, all that is known of one, with its sources."""
    topic = topic if topic in TOPICS or f"{topic}s" not in TOPICS else f"{topic}s"
    if topic not in TOPICS:
        raise UnknownNameError("topic", topic, TOPICS)
    headings, rows, details = TOPICS[topic]
    if name is not None:
        document = details(name)
        options.print_json(document) if as_json else _print_details(document)
    elif as_json:
        options.print_json([dict(zip(headings, row, strict=True)) for row in rows()])
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for row in rows():
            table.add_row(*row)
        Console().print(table)


def _print_details(document: Mapping[str, Any]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in document.items():
        table.add_row(key.replace("_", " "), _text(value))
    Console().print(table)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{key.replace('_', ' ')}: {_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in value) or "–"
    return "–" if value is None or value == "" else str(value)
