"""The manifest of a plan, with which a run is begun or continued."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from arcademark.agents.loading import AgentSpec, CommandSpec, MadeSpec, all_parameters, names_seed
from arcademark.environments.registry import version_of
from arcademark.errors import ArcadeMarkError
from arcademark.records import manifest
from arcademark.records.database import clear_errors
from arcademark.records.ledger import LedgerEntry, make_entries
from arcademark.runs.plan import Plan
from arcademark.runs.playing import networks
from arcademark.runs.store import provenance
from arcademark.runs.store.recording import Recorder


def describe(plan: Plan, command: str) -> manifest.Document:
    """Return the manifest of a run of a plan that begins now."""
    known: dict[str, str | None] = {}
    learnt = next((trial.learnt for trial in plan.trials if trial.learnt), None)
    return {
        "schema": manifest.SCHEMA_VERSION,
        "created": now(),
        "command": command,
        "protocol": plan.protocol.to_json(),
        "agents": [_agent(spec, plan, known) for spec in plan.agents],
        "games": {game: version_of(game, plan.protocol) for game in plan.games},
        "seeds": list(plan.seeds),
        "episodes": plan.episodes,
        "training_frames": plan.frames,
        "training_episodes": plan.training_episodes,
        "left_out": [[item.agent, item.game, item.reason] for item in plan.left_out],
        **({"shard": list(plan.shard)} if plan.shard else {}),
        "versions": provenance.versions(),
        "emulator": plan.emulator,
        "emulators": {},
        "machine": provenance.machine(),
        "continued": [],
        **({"trained_under": learnt.protocol.to_json()} if learnt else {}),
    }


def ledger_entries(plan: Plan, directory: Path) -> Iterator[LedgerEntry]:
    """Yield the entries that a plan adds to the ledger: agents on games, without commands yet."""
    trials = ((trial.record, trial.episodes) for trial in plan.trials)
    for entry in make_entries(directory, describe(plan, ""), plan.protocol, trials, ()):
        yield dataclasses.replace(entry, begun="", commands=())


def _agent(spec: AgentSpec, plan: Plan, known: dict[str, str | None]) -> dict[str, Any]:
    files = all_parameters(spec) | (spec.command.files if isinstance(spec, CommandSpec) else {}) if spec.own else {}
    every = [trial for trial in (*plan.trials, *plan.elsewhere) if trial.agent.label == spec.label and trial.checkpoint]
    return {
        "label": spec.label,
        "reference": f"{spec.ref}, made in Python: it has no file" if isinstance(spec, MadeSpec) else spec.ref,
        "parameters": dict(spec.parameters),
        "source": provenance.code_of(spec),
        "files": provenance.files_of(files, known),
        **({"by_seed": True} if spec.own and names_seed(spec) else {}),
        "checkpoints": {manifest.game_and_seed(trial.game, trial.seed): trial.checkpoint for trial in every},
    }


def enter(recorder: Recorder, plan: Plan, document: manifest.Document) -> int:
    """Begin the run, or continue it if nothing that changes a score has changed; return its number of commands.

    ArcadeMarkError: the directory is another run's, or the result of training in another run has changed.
    """
    directory = recorder.directory
    before = manifest.read(directory) if (directory / manifest.FILE).exists() else None
    changes = []
    if before is not None:
        if "imported" in before:
            raise ArcadeMarkError(
                f"{directory}: was imported from logs made elsewhere and cannot be continued; choose another directory"
            )
        manifest.protocol_of(directory, before)
        manifest.trained_under(directory, before)
        changes = manifest.differences(before, document)
    if changes and recorder.any_episode():
        raise ArcadeMarkError(
            f"{directory}: another run: {'; '.join(changes)}. Choose another directory (--out), or give its settings"
        )
    if before and not changes:
        document = manifest.grown(before, document, now())
    with recorder.transaction():
        if changes or before is None:
            recorder.forget_trials()
        recorder.check_trials(document)
        recorder.add_trials(trial.record for trial in plan.trials)
        for trial in plan.trials:
            if not trial.learnt:
                continue
            if (kept := recorder.checkpoint(trial.id)) is None:
                recorder.add_training(trial.id, (), networks.brought(trial.learnt))
            elif networks.digest(kept) != trial.learnt.sha256:
                origin = f"the training result of {trial.learnt.run}"
                raise ArcadeMarkError(f"{directory}: trial {trial.id} differs from {origin}; restore it from a copy")
        with clear_errors(directory):
            manifest.write(directory, document)  # before the database, as it lists all its trials
    recorder.copy_home()
    return 1 + len(document["continued"])


def begin(plan: Plan, directory: Path) -> None:
    """Record a plan in a directory, without playing; errors as in `enter`."""
    with Recorder(directory) as recorder:
        enter(recorder, plan, describe(plan, provenance.command()))


def now() -> str:
    """Return the time, ISO 8601 with the zone."""
    return datetime.now().astimezone().isoformat(timespec="seconds")
