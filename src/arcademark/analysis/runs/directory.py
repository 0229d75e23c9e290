"""A run directory in words: what was asked for, with what, and how it went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from arcademark import wording
from arcademark.analysis import settings
from arcademark.analysis.record import ImportedSource, Person, Run, TrialEntry
from arcademark.metrics.efficiency import FRAMES_PER_SECOND
from arcademark.records import imported
from arcademark.records import manifest as manifests
from arcademark.records.manifest import HUMAN
from arcademark.records.model import RunRecord
from arcademark.scores.runs import RunScores
from arcademark.suite import subsets, tasks
from arcademark.suite.task_suites import TaskSuite
from arcademark.suite.tasks import game_name


def known_set(names: Sequence[str], suite: TaskSuite | None = None) -> str:
    """Say which suite or subset these games, or tasks of a suite, are, "the 57 games of atari-57"; "" if none."""
    if suite:
        groups, noun = suite.groups, "task"
        sets = {suite.name if name == "all" else f"{suite.name}'s {name}": groups[name] for name in groups}
    else:
        noun = "game"
        sets = {name: one.tasks for known in (tasks.suites(), subsets.subsets()) for name, one in known.items()}
    same = (name for name, those in sets.items() if set(names) == set(those))
    return next((f"the {wording.plural(len(names), noun)} of {name}" for name in same), "")


def view(run: RunScores, name: str) -> Run:
    """Show one run."""
    record, manifest = run.record, run.record.manifest
    titled, versions = record.protocol.task_name, dict(manifests.versions(manifest))
    if record.protocol.unit == "step":
        versions.pop("ale-py", None)  # which plays none of its tasks
    frames, simulated = int(record.episodes.frames.sum()), int(record.episodes.simulated_frames.sum())
    return Run(
        name=name,
        directory=str(record.directory),
        protocol=settings.view(record.protocol),
        agents=tuple(dict.fromkeys(trial.agent for trial in record.trials)),
        games=tuple(dict.fromkeys(titled(trial.game) for trial in record.trials)),
        seeds=tuple(sorted({trial.seed for trial in record.trials})),
        episodes=tuple(sorted({trial.episodes for trial in record.trials})),
        frames=frames,
        simulated_frames=simulated,
        counted_frames=frames + simulated if record.protocol.counted_frames == "emulated" else frames,
        trials=_trials(run),
        commands=_commands(manifest),
        versions=versions,
        machine={key: value for key, value in (manifest.get("machine") or {}).items() if value is not None},
        roms={titled(task): md5 for task, md5 in manifest.get("games", {}).items() if md5},
        emulators={titled(task): tuple(used) for task, used in manifests.emulators(manifest).items()},
        imported=_imported(imported.origin(record)),
        parts=tuple(map(str, record.parts)),
        people=tuple(people(record)),
    )


def people(record: RunRecord) -> Iterator[Person]:
    """Yield the people who played a run."""
    for agent in record.manifest["agents"]:
        if agent.get("reference") == HUMAN:
            trials = [trial for trial in record.trials if trial.agent == agent["label"]]
            rows = [record.evaluation(trial) for trial in trials]
            yield Person(
                agent=agent["label"],
                stepped=bool((agent.get("parameters") or {}).get("stepped")),
                episodes=sum(map(len, rows)),
                seconds=float(sum(some.wall_seconds.sum() for some in rows)),
                game_seconds=float(sum(some.frames.sum() for some in rows)) / FRAMES_PER_SECOND,
            )


def _imported(source: manifests.Imported | None) -> ImportedSource | None:
    if source is None:
        return None
    return ImportedSource(
        formats=tuple(source["formats"]),
        files=dict(source["files"]),
        averages=tuple(source["averages"]),
        assumed=tuple(source["assumed"]),
        doubts=tuple((agent, game_name(task), why) for agent, task, why in source["doubts"]),
    )


def _trials(run: RunScores) -> tuple[TrialEntry, ...]:
    agents = dict.fromkeys(trial.agent for trial in run.record.trials)
    labels = dict(zip(agents, run.table.algorithms, strict=True))
    short = {(trial.algorithm, trial.task, trial.seed): trial.played for trial in run.incomplete}
    return tuple(
        TrialEntry(
            id=trial.id,
            agent=trial.agent,
            game=run.record.protocol.task_name(trial.game),
            seed=trial.seed,
            status=trial.status,
            episodes=short.get((labels[trial.agent], trial.game, trial.seed), trial.episodes),
            planned_episodes=trial.episodes,
            error=trial.error or "",
        )
        for trial in run.record.trials
    )


def _commands(manifest: dict[str, Any]) -> tuple[str, ...]:
    """Return the different commands that the run was given: later ones may have added games, seeds and episodes."""
    given = [manifest.get("command"), *(later.get("command") for later in manifest.get("continued") or ())]
    return tuple(dict.fromkeys(str(command) for command in given if command))
