"""Facts by topic, with their sources: a document for each topic, and the rows of its list."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, make_dataclass
from operator import attrgetter
from pathlib import Path
from pkgutil import resolve_name
from types import GenericAlias
from typing import Any, Literal, TypeAlias, get_args

from arcademark import docstrings, wording
from arcademark.agents.loading import Kind, builtin_agents, kind_of, own_reference
from arcademark.agents.parameters import declared
from arcademark.agents.trainers import algorithms
from arcademark.analysis.document import same_fields
from arcademark.analysis.settings import Value
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.importing import load_factory
from arcademark.pages.columns import AnyColumns, Column, Columns
from arcademark.suite import anomalies, modifications, protocols, references, subsets, task_suites, tasks
from arcademark.wording import plain

NAMES, VALUES = ("name", "kind"), ("value", "what", "score", "default")
HIDDEN = ("task", "suite", "required")
"""Fields that are shown elsewhere in a row, or not at all."""
GENRES = "our own reading: the papers print no list"


@dataclass(frozen=True, kw_only=True)
class SuiteReference(references.Reference):
    """A game's reference score in a suite."""

    suite: str


@dataclass(frozen=True)
class NamedModification:
    """A modified game, with its effect and the source."""

    name: str
    what: str
    source: str


@dataclass(frozen=True, kw_only=True)
class GameView(tasks.Game):
    """A game with all its facts; fields of `arcademark.suite.tasks.Game`.

    genre_and_category: Source of these two.
    suites, subsets: Suites and subsets with the game.
    """

    genre_and_category: str
    suites: tuple[str, ...]
    subsets: tuple[str, ...]
    anomalies: tuple[anomalies.Anomaly, ...]
    modifications: tuple[NamedModification, ...]
    references: tuple[SuiteReference, ...]


@dataclass(frozen=True)
class OwnGameView:
    """A user-defined game; fields of `arcademark.suite.cartridges.Cartridge`.

    rom: Its file.
    emulators: Emulators that can play it here.
    problem: Why it cannot be played here; "" if it can.
    known_as: The game of ale-py with its ROM; "" if ale-py does not know it, or the ROM is missing.
    starting_actions: "FIRE for 3 frames".
    """

    name: str
    rom: str
    sha256: str
    emulators: tuple[str, ...]
    problem: str
    known_as: str
    score: str
    lives: str
    end: str
    score_wraps_at: int
    minimal_actions: tuple[str, ...]
    starting_actions: tuple[str, ...]
    kind: str | None
    controller: str | None
    television: str
    screen_rows: int


@dataclass(frozen=True)
class SuiteView(tasks.Suite):
    """An ordered set of tasks; fields of `arcademark.suite.tasks.Suite`.

    subsets: From a name to ids.
    settings: Settings of the suite's own protocol; empty for Atari's suites, which named protocols play.
    """

    subsets: Mapping[str, tuple[str, ...]]
    settings: Mapping[str, Value]


@dataclass(frozen=True)
class NamedSetting:
    """A protocol's setting, with its place in the source, or the reason of our choice."""

    value: Value
    status: Literal["cited", "choice"]
    note: str


@dataclass(frozen=True)
class NamedProtocol:
    """A protocol.

    runnable: Whether it can be played; otherwise it occurs only in published scores.
    """

    name: str
    title: str
    citation: str
    runnable: bool
    settings: Mapping[str, NamedSetting]


Default: TypeAlias = str | int | float | bool | list[Any] | dict[str, Any] | None


@dataclass(frozen=True)
class ParameterView:
    """A parameter of an agent or a feature set.

    default: None if it is required, too; as text if JSON has no such value.
    required: Whether it must be given.
    type: Expected values.
    meaning: Its documentation; "" if there is none.
    """

    default: Default
    required: bool
    type: str
    meaning: str


@dataclass(frozen=True)
class SetView:
    """A feature set.

    features: Number of features; None if it depends on the game.
    observed: Its observations: "palette" or "ram".
    citation: Its publication.
    """

    name: str
    features: int | None
    summary: str
    observed: str
    citation: str
    parameters: Mapping[str, ParameterView]


@dataclass(frozen=True)
class AgentView:
    """An agent, ours or the reader's own, or a set of the agents `members`.

    citation: Its publication; "" for the reader's own.
    parameters: Parameters that ``--set`` accepts, by name.
    """

    name: str
    kind: Kind | Literal["set"]
    summary: str
    citation: str
    members: tuple[str, ...]
    parameters: Mapping[str, ParameterView]


@dataclass(frozen=True)
class SchemaView:
    """A schema of JSON documents, with a summary."""

    name: str
    summary: str


@dataclass(frozen=True)
class Topic:
    """Topic of facts.

    document: Dataclass of a document with a list of facts.
    every, one: Functions that return all facts, and the one of a name.
    columns: Columns of the list.
    """

    document: type[Any]
    every: Callable[[], Iterable[Any]]
    one: Callable[[str], Any]
    columns: AnyColumns


def _game(name: str) -> GameView:
    game = tasks.games()[tasks.canonical_game(name)]
    suites = {name: suite for name, suite in tasks.suites().items() if game.id in suite.tasks}
    known = modifications.modifications().get(game.id, {}).values()
    return GameView(
        **vars(game),
        genre_and_category=GENRES,
        suites=tuple(suites),
        subsets=tuple(name for name, subset in subsets.subsets().items() if game.id in subset.tasks),
        anomalies=anomalies.anomalies().get(game.id, ()),
        modifications=tuple(NamedModification(**same_fields(NamedModification, one)) for one in known),
        references=tuple(
            SuiteReference(**vars(references.references(kind, name)[game.id]), suite=name)
            for name, suite in suites.items()
            for kind in suite.references
        ),
    )


def own_games(path: str) -> Iterator[OwnGameView]:
    """Yield the user-defined games of a file."""
    from arcademark.emulator.games import known_as
    from arcademark.environments.registry import EmulatorName, environment_spec, open_environment

    suite = task_suites.load_suite(path)
    if not suite.of_games:
        raise ArcadeMarkError(f"{path}: describes no game of your own; expected a table cartridge (docs/own-games.md)")
    rules = protocols.suite_protocol(suite)
    for name in suite.tasks:
        one = suite.cartridge(name)
        emulators, problems, known = [], [], ""
        try:
            known = known_as(suite.read_rom(name))
            spec = environment_spec(name, rules)
            for emulator in get_args(EmulatorName):
                try:
                    open_environment(spec, emulator=emulator).close()
                    emulators.append(emulator)
                except ArcadeMarkError as error:
                    problems.append(str(error))
        except ArcadeMarkError as error:
            problems.append(str(error))
        known_here = {
            "name": name,
            "rom": str(Path(suite.folder, one.rom)),
            "emulators": tuple(emulators),
            "problem": "" if emulators else "; ".join(dict.fromkeys(problems if known else problems[-1:])),
            "known_as": known,
            "starting_actions": tuple(f"{action} for {frames} frames" for action, frames in one.starting_actions or ()),
        }
        yield OwnGameView(**same_fields(OwnGameView, one) | known_here)


def _suite(name: str) -> SuiteView:
    others = task_suites.task_suites()
    if name.lower() not in tasks.suites() and (name.lower() in others or task_suites.is_file(name)):
        other = task_suites.load_suite(name)
        kinds = tuple(end for end in ("low", "high") if any(getattr(task, end) for task in other.tasks.values()))
        more = {"tasks": tuple(other.tasks), "references": kinds, "settings": other.protocol}
        return SuiteView(**same_fields(SuiteView, other) | more)
    suite = tasks.suite(name)
    of_suite = {one.name: one.tasks for one in subsets.subsets().values() if one.suite == suite.name}
    return SuiteView(**vars(suite), subsets=of_suite, settings={})


def _protocol(name: str) -> NamedProtocol:
    protocol = protocols.protocol(name)
    settings = {
        setting: NamedSetting(value, **vars(protocol.provenance[setting]))
        for setting, value in protocol.settings().items()
    }
    return NamedProtocol(**same_fields(NamedProtocol, protocol) | {"settings": settings})


def _agent(name: str) -> AgentView:
    if (agent := builtin_agents().get(name)) is not None:
        parameters = {} if agent.factory is None else _parameters(agent.factory)
        return AgentView(**same_fields(AgentView, agent) | {"parameters": parameters})
    reference = own_reference(name)
    factory = load_factory(reference)
    return AgentView(reference, kind_of(factory, reference), docstrings.summary(factory), "", (), _parameters(factory))


def _parameters(factory: Callable[..., object]) -> dict[str, ParameterView]:
    """Return the parameters that a factory declares, by name."""
    notes = docstrings.parameter_notes(factory)
    return {
        one.name: ParameterView(
            None if one.required else _default(one.default), one.required, one.expected, notes.get(one.name, "")
        )
        for one in declared(factory)[0]
    }


def _default(value: Any) -> Default:
    try:
        return json.loads(json.dumps(value, allow_nan=False))  # type: ignore[no-any-return]
    except (TypeError, ValueError):
        return str(value)


def _feature_set(name: str) -> SetView:
    from arcademark.classic.features.registry import feature_set

    item = feature_set(name)
    return SetView(**same_fields(SetView, item), parameters=_parameters(item.factory))


def _feature_sets() -> Iterable[SetView]:
    from arcademark.classic.features.registry import feature_sets

    return map(_feature_set, feature_sets())


def _algorithm(name: str) -> algorithms.ReviewedAlgorithm:
    known = {one.name.lower(): one for one in algorithms.ALGORITHMS}
    if name.lower() not in known:
        raise UnknownNameError("algorithm", name, [one.name for one in algorithms.ALGORITHMS])
    return known[name.lower()]


def _schemas() -> Iterable[SchemaView]:
    return (SchemaView(name, docstrings.summary(kind)) for name, kind in documents().items())


def schema(name: str) -> dict[str, Any]:
    """Return the schema of a document; `UnknownNameError` if there is none."""
    from arcademark.pages.render.json import schema

    if name not in (known := documents()):
        raise UnknownNameError("schema", name, known)
    return schema(known[name])


def _document(schema: str, field: str, kind: type[Any], meaning: str) -> type[Any]:
    """Make the dataclass of a document that lists facts of a kind."""
    namespace = {"SCHEMA": f"arcademark.{schema}/1", "__doc__": meaning}
    return make_dataclass(
        f"{kind.__name__}s", [(field, GenericAlias(tuple, (kind, ...)))], frozen=True, namespace=namespace
    )


def _listed(columns: Mapping[str, str | Callable[[Any], object]]) -> AnyColumns:
    """Return the columns of a list of facts, from headings to fields or functions; the last one is prose."""
    last = [*columns][-1]
    return tuple(
        Column(
            heading, attrgetter(value) if isinstance(value, str) else value, str, "prose" if heading == last else "name"
        )
        for heading, value in columns.items()
    )


OWN_GAMES = Topic(
    _document("own-games", "games", OwnGameView, "Your own games, described by a file."),
    tuple,
    own_games,
    _listed(
        {
            **{name: name for name in ("name", "score", "lives", "end")},
            "played by": lambda game: ", ".join(game.emulators) or game.problem,
        }
    ),
)
TOPICS: Mapping[str, Topic] = {
    "games": Topic(
        _document("games", "games", GameView, "Games of the emulator."),
        lambda: map(_game, tasks.games()),
        _game,
        _listed({"id": "id", "name": "name", "genre": "genre", "suites": lambda game: ", ".join(game.suites)}),
    ),
    "suites": Topic(
        _document("suites", "suites", SuiteView, "Suites of tasks."),
        lambda: map(_suite, [*tasks.suites(), *task_suites.task_suites()]),
        _suite,
        _listed({"name": "name", "title": "title", "games": lambda suite: len(suite.tasks), "source": "citation"}),
    ),
    "subsets": Topic(
        _document("subsets", "subsets", subsets.Subset, "Subsets of suites, with published models."),
        lambda: subsets.subsets().values(),
        subsets.subset,
        _listed(
            {
                "name": "name",
                "games": lambda subset: len(subset.tasks),
                "printed log error": lambda subset: wording.share(subset.log_error),
                "on other papers": lambda subset: wording.share(subset.nested and subset.nested.mean),
                "use": "advice",
            }
        ),
    ),
    "protocols": Topic(
        _document("protocols", "protocols", NamedProtocol, "Named protocols."),
        lambda: map(_protocol, protocols.protocols()),
        _protocol,
        _listed({"name": "name", "title": "title", "": lambda one: "" if one.runnable else "catalogue only"}),
    ),
    "agents": Topic(
        _document("agents", "agents", AgentView, "Agents that can be played."),
        lambda: map(_agent, builtin_agents()),
        _agent,
        _listed({"name": "name", "kind": "kind", "description": "summary"}),
    ),
    "algorithms": Topic(
        _document("algorithms", "algorithms", algorithms.ReviewedAlgorithm, "Published algorithms."),
        lambda: algorithms.ALGORITHMS,
        _algorithm,
        _listed(
            {
                "name": "name",
                "paper": "citation",
                "in the review": lambda item: plain(item.in_review),
                "here": algorithms.here,
            }
        ),
    ),
    "features": Topic(
        _document("feature-sets", "sets", SetView, "The feature sets of linear learners."),
        _feature_sets,
        _feature_set,
        _listed({"name": "name", "features": lambda item: plain(item.features or "by game"), "description": "summary"}),
    ),
    "schemas": Topic(
        _document("schemas", "schemas", SchemaView, "The schemas of all documents."),
        _schemas,
        schema,
        _listed({"name": "name", "content": "summary"}),
    ),
}


def details(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of one object, JSON values, for a document: its name, facts and listings."""
    listed = {key: list(_entries(value)) for key, value in known.items()}
    facts = [(key.replace("_", " "), _text(value)) for key, value in known.items() if not listed[key]]
    listings = [_listing(key, entries) for key, entries in listed.items() if entries]
    return {"name": str(known["name"]), "facts": facts, "listings": listings}


def _entries(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects in a value, by name or in a list, with their names."""
    if isinstance(value, Mapping) and any(isinstance(entry, Mapping) for entry in value.values()):
        yield from value.items()
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, Mapping):
            name = next(entry[key] for key in NAMES if key in entry).replace("_", " ")
            yield f"{name} ({entry['suite']})" if "suite" in entry else name, entry


def _listing(
    title: str, entries: Iterable[tuple[str, Mapping[str, Any]]]
) -> tuple[list[tuple[str, str, str]], Columns[str, str, str]]:
    """Return rows and columns of named values with their sources."""
    rows, heads = [], ("value", "source")
    for name, entry in entries:
        value = next(key for key in VALUES if key in entry)
        heads = ("default", "type and meaning") if value == "default" else heads
        shown = "required" if entry.get("required") else _text(entry[value])
        rest = [_source(key, entry[key]) for key in entry if key not in (*NAMES, *HIDDEN, value) and entry[key]]
        rows.append((name, shown, " ".join(line for line in rest if line)))
    columns: Columns[str, str, str] = (
        Column(title, lambda name, *_: name),
        Column(heads[0], lambda _, shown, __: shown, kind="name"),
        Column(heads[1], lambda _, __, source: source, str, kind="prose"),
    )
    return rows, columns


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


_DOCUMENTS = (  # besides those that list facts
    "operations.seen:FeaturesSeen",
    "analysis.catalogue:Catalogue",
    "analysis.catalogue:Errata",
    "catalogue.adding:Addition",
    "catalogue.check:Check",
    "analysis.runs.ledger:LedgerView",
    "analysis.runs.listing:RunList",
    "operations.planned:Planned",
    "operations.robustness:Robustness",
    "analysis.runs.status:Status",
    "runs.replay.suite_check:SuiteCheck",
    "analysis.runs.tuning:Tuned",
    "runs.store.salvage:Checked",
    "operations.verification:Verified",
    "emulator.prove:Here",
    "emulator.watching:WatchedMemory",
    "analysis.scoring.report:ScoreReport",
    "analysis.scoring.comparison:Comparison",
    "analysis.subsets.searching:Searched",
    "analysis.subsets.searching:EverySize",
    "analysis.subsets.studying:Studied",
    "analysis.subsets.predicting:Predicted",
    "analysis.subsets.covering:CoverageStudy",
    "operations.until:PlayedUntil",
    "analysis.reproductions.analysis:Reproduced",
    "analysis.site.document:Site",
    "operations.submission:SubmittedRun",
)


def documents() -> dict[str, type[Any]]:
    """Return the dataclass of each document, by the name and version of its schema."""
    lists = [topic.document for topic in (*TOPICS.values(), OWN_GAMES)]
    return {kind.SCHEMA: kind for kind in (*lists, *(resolve_name(f"arcademark.{name}") for name in _DOCUMENTS))}
