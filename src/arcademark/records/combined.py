"""Combine runs of the same agents under the same protocol: their manifest, and their trials in order."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.records import manifest
from arcademark.records.database import MAX_TRIALS
from arcademark.records.model import Episodes, RunRecord, TrialRecord, scored_phase
from arcademark.suite.protocols import Protocol


def commands_of(document: manifest.Document) -> list[Mapping[str, Any]]:
    """Return the commands that began and continued a run, as entries of the manifest's ``continued``."""
    kept = ("command", "versions", "machine", "emulator")
    first = {"started": document.get("created", "")} | {key: document[key] for key in kept if key in document}
    return [first, *document.get("continued", [])]


def together(records: Sequence[RunRecord]) -> tuple[RunRecord, ...]:
    """Combine runs of the same agents under the same protocol, each combination at the place of its first run.

    The result is that of `merge`, with the trials of missing shards, but stays in memory. Runs that share a trial are
    not combined.
    """
    groups: list[list[RunRecord]] = []
    for record in records:
        mine = {trial.id for trial in record.trials}
        for group in groups:
            shared = any(mine & {trial.id for trial in other.trials} for other in group)
            if not shared and not differences(group[0].manifest, record.manifest):
                group.append(record)
                break
        else:
            groups.append([record])
    return tuple(_one(group) if len(group) > 1 or "shard" in group[0].manifest else group[0] for group in groups)


def plans(documents: Iterable[manifest.Document]) -> list[manifest.Document]:
    """Return one shard's manifest for each divided plan."""
    known: dict[str, manifest.Document] = {}
    for document in documents:
        if "shard" in document:
            known.setdefault(plan_of(document), document)
    return list(known.values())


def plan_of(document: manifest.Document) -> str:
    """Return a key that identifies a manifest's plan."""
    fields = ("protocol", "games", "seeds", "episodes", "left_out", "training_frames", "training_episodes")
    agents = [(agent["label"], agent.get("checkpoints")) for agent in document["agents"]]
    return _text({"agents": agents} | {field: document.get(field) for field in fields})


def planned(document: manifest.Document, protocol: Protocol) -> Iterator[TrialRecord]:
    """Yield the initial record of each of a manifest's trials, from at most `MAX_TRIALS` combinations."""
    left_out = {(agent, game) for agent, game, _ in document["left_out"]}
    frames, episodes = manifest.budget_of(document, protocol)
    every = itertools.product(document["seeds"], document["games"], document["agents"])
    for seed, game, agent in itertools.islice(every, MAX_TRIALS):
        name = manifest.trial_of(document, protocol, agent, game, seed)
        if name is not None and (agent["label"], game) not in left_out:
            known = (agent["label"], game, seed, document["episodes"], frames)
            yield TrialRecord(name, *known, training_episodes=episodes)


def differences(first: manifest.Document, second: manifest.Document) -> list[str]:
    """Name the differences besides games, seeds and episodes; a file may be known to only one of the runs."""
    if "imported" in first or "imported" in second:
        return ["logs made elsewhere"]
    return manifest.differences(first, second, growing=False) or manifest.differences(second, first, growing=False)


def all_commands(documents: Iterable[manifest.Document]) -> list[Mapping[str, Any]]:
    """Return the distinct commands of several runs, in the order of their start."""
    by_text = {_text(command): command for document in documents for command in commands_of(document)}
    return [by_text[text] for text in sorted(by_text, key=lambda text: (by_text[text]["started"], text))]


def joined(documents: Sequence[manifest.Document], commands: Sequence[Mapping[str, Any]]) -> manifest.Document:
    """Return the combined manifest."""
    whole, *rest = sorted(documents, key=lambda one: (one.get("created", ""), _text(one)))
    for document in rest:
        whole = manifest.joined(whole, document)
    first, *later = commands
    began = {"created" if key == "started" else key: value for key, value in first.items()}
    whole = whole | began | {"seeds": sorted(whole["seeds"]), "continued": later}
    return {key: value for key, value in whole.items() if key != "shard"}


def in_order(document: manifest.Document, trials: Iterable[TrialRecord]) -> tuple[TrialRecord, ...]:
    """Return trials in the order of a plan of all: seed by seed, game by game, agent by agent."""
    games, agents = [*document["games"]], [agent["label"] for agent in document["agents"]]
    places = {name: place for names in (games, agents) for place, name in enumerate(names)}

    def key(trial: TrialRecord) -> tuple[int, int, int, str]:
        return trial.seed, places.get(trial.game, len(places)), places.get(trial.agent, len(places)), trial.id

    return tuple(sorted(trials, key=key))


def _one(records: Sequence[RunRecord]) -> RunRecord:
    documents = [record.manifest for record in records]
    commands = all_commands(documents)
    document = joined(documents, commands)
    trials = {trial.id: trial for record in records for trial in record.trials}
    protocol = records[0].protocol
    for trial in (trial for plan in plans(documents) for trial in planned(plan, protocol)):
        known = trials.setdefault(trial.id, trial)
        if known.episodes < trial.episodes:
            trials[trial.id] = _lengthened(known, trial.episodes, protocol)
    order = in_order(document, trials.values())
    place = {trial.id: number for number, trial in enumerate(order)}
    columns: dict[str, list[NDArray[Any]]] = {}
    for record in records:
        new = np.array([place[trial.id] for trial in record.trials], np.int32)
        for name, column in record.episodes.columns().items():
            columns.setdefault(name, []).append(new[column] if name == "trial" else column)
    whole = {name: np.concatenate(parts) for name, parts in columns.items()}
    rows = np.lexsort((whole["episode"], ~whole["training"], whole["trial"]))
    evaluations = []
    for record in records:
        numbers = [commands.index(command) for command in commands_of(record.manifest)]
        evaluations += [
            replace(noted, command=numbers[min(noted.command, len(numbers) - 1)]) for noted in record.evaluations
        ]
    return replace(
        records[0],
        manifest=document,
        trials=order,
        episodes=Episodes(tuple(place), **{name: column[rows] for name, column in whole.items()}),
        evaluations=tuple(sorted(evaluations, key=lambda noted: (place[noted.trial_id], noted.command))),
        parts=tuple(record.directory for record in records) if len(records) > 1 else (),
    )


def _lengthened(trial: TrialRecord, episodes: int, protocol: Protocol) -> TrialRecord:
    """Return a trial with more episodes to evaluate, which is not done then, unless its training is scored."""
    unfinished = trial.status == "done" and scored_phase(protocol, bool(trial.learns)) == "evaluation"
    return replace(trial, episodes=episodes, status="running" if unfinished else trial.status)


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, sort_keys=True)
