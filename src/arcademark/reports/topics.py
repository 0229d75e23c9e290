"""What there is, with its sources: rows of each topic, and all that is known of one as JSON values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arcademark.agents import docstrings
from arcademark.agents.importing import canonical_reference, load_factory
from arcademark.agents.loading import builtin_agents, kind_of
from arcademark.agents.parameters import declared
from arcademark.agents.trainers import algorithms
from arcademark.errors import UnknownNameError
from arcademark.suite import anomalies, modifications, protocols, references, subsets, task_suites, tasks

Row = tuple[str, ...]


def _game(name: str) -> dict[str, Any]:
    game = tasks.games()[tasks.canonical_game(name)]
    groups = {name: suite.tasks for name, suite in tasks.suites().items()}
    groups |= {name: subset.tasks for name, subset in subsets.subsets().items()}
    return {
        **dataclasses.asdict(game),
        "genre and category": "our own reading: the papers print no list",
        **({"anomalies": _anomalies(game.id)} if game.id in anomalies.anomalies() else {}),
        **({"modifications": _modifications(game.id)} if game.id in modifications.modifications() else {}),
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


def _anomalies(game: str) -> dict[str, Any]:
    return {
        one.kind: {"value": "" if one.value is None else one.value, "source": one.source, "note": one.note}
        for one in anomalies.anomalies()[game]
    }


def _modifications(game: str) -> dict[str, Any]:
    known = modifications.modifications()[game].values()
    return {one.name: {"value": one.what, "source": one.source} for one in known}


def _without_nothing(reference: references.Reference) -> dict[str, Any]:
    fields = dataclasses.asdict(reference)
    return {key: value for key, value in fields.items() if value and key not in ("task", "kind")} | {
        "score": reference.score
    }


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
    from arcademark.reports.features.documents import set_document

    return set_document(feature_set(name))


def _schema(name: str) -> dict[str, Any]:
    from arcademark.reports.render import json

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


def _subset_rows() -> list[Row]:
    return [
        (s.name, str(len(s.tasks)), _share(s.relative_error), _share(s.nested.mean if s.nested else None), s.advice)
        for s in subsets.subsets().values()
    ]


def _share(error: float | None) -> str:
    return f"{100 * error:.1f}\N{NO-BREAK SPACE}%" if error else "–"


def _agent_rows() -> list[Row]:
    return [(agent.name, agent.kind, agent.summary) for agent in builtin_agents().values()]


def _algorithm_rows() -> list[Row]:
    return [
        (one.name, one.citation, "yes" if one.in_review else "no", algorithms.here(one))
        for one in algorithms.ALGORITHMS
    ]


def _algorithm(name: str) -> dict[str, Any]:
    known = {one.name.lower(): one for one in algorithms.ALGORITHMS}
    if name.lower() not in known:
        raise UnknownNameError("algorithm", name, [one.name for one in algorithms.ALGORITHMS])
    return known[name.lower()]._asdict()


def _suite(name: str) -> dict[str, Any]:
    others = task_suites.task_suites()
    if name.lower() in tasks.suites() or name.lower() not in others:
        return dataclasses.asdict(tasks.suite(name))
    found = others[name.lower()].to_json()
    return found | {"tasks": list(found["tasks"])}


def _feature_rows() -> list[Row]:
    from arcademark.features.registry import feature_sets
    from arcademark.reports.features.documents import length

    return [(item.name, length(item), item.summary) for item in feature_sets().values()]


def _schema_rows() -> list[Row]:
    from arcademark.reports.render import json

    return [(name, docstrings.summary(kind)) for name, kind in json.documents().items()]


TOPICS: Mapping[str, tuple[Sequence[str], Callable[[], list[Row]], Callable[[str], dict[str, Any]]]] = {
    "games": (("id", "name", "genre", "suites"), _game_rows, _game),
    "suites": (
        ("name", "title", "games", "source"),
        lambda: [
            *((it.name, it.title, str(len(it.tasks)), it.citation) for it in tasks.suites().values()),
            *((it.name, it.title, str(len(it.tasks)), it.citation) for it in task_suites.task_suites().values()),
        ],
        _suite,
    ),
    "subsets": (
        ("name", "games", "printed error", "on other papers", "what for"),
        _subset_rows,
        lambda name: dataclasses.asdict(subsets.subset(name)),
    ),
    "protocols": (
        ("name", "title", ""),
        lambda: [(it.name, it.title, "" if it.runnable else "catalogue only") for it in protocols.protocols().values()],
        _protocol,
    ),
    "agents": (("name", "kind", "what it does"), _agent_rows, _agent),
    "algorithms": (("name", "paper", "in the review", "here"), _algorithm_rows, _algorithm),
    "features": (("name", "features", "what they are"), _feature_rows, _feature_set),
    "schemas": (("name", "what such JSON holds"), _schema_rows, _schema),
}
