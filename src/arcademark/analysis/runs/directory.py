"""Description of a run directory: its request, provenance and progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from arcademark import wording
from arcademark.analysis import settings
from arcademark.analysis.cells import names_by_label
from arcademark.analysis.settings import ProtocolView
from arcademark.metrics.efficiency import FRAMES_PER_SECOND
from arcademark.records import imported
from arcademark.records import manifest as manifests
from arcademark.records.manifest import HUMAN
from arcademark.records.model import RunRecord
from arcademark.scores.runs import RunScores
from arcademark.suite import subsets, tasks
from arcademark.suite.task_suites import TaskSuite
from arcademark.suite.tasks import game_name


@dataclass(frozen=True)
class TrialEntry:
    """Progress of one agent on one game with one seed.

    id: Id in the store.
    agent: The agent's label.
    game: The game's name.
    seed: The trial's seed.
    status: Not begun, begun, complete, or failed.
    episodes: Scored episodes so far.
    planned_episodes: Requested episodes.
    error: Error that it failed with, one line; "" if it did not fail.
    """

    id: str
    agent: str
    game: str
    seed: int
    status: Literal["pending", "running", "done", "failed"]
    episodes: int
    planned_episodes: int
    error: str


@dataclass(frozen=True)
class ImportedSource:
    """Source of an imported run's scores, which cannot be verified by replaying.

    formats: Formats of the logs.
    files: SHA-256 of each log, by path.
    averages: Agents whose training is known only as averages.
    assumed: Assumed settings, which the logs do not state.
    doubts: Agent, game's name, and reason why its scores are probably not raw scores of whole games.
    """

    formats: tuple[str, ...]
    files: Mapping[str, str]
    averages: tuple[str, ...]
    assumed: tuple[str, ...]
    doubts: tuple[tuple[str, str, str], ...]

    @property
    def judged(self) -> bool:
        """True if they are from a training script whose agent `arcademark.judge` evaluated."""
        return imported.JUDGED in self.formats


@dataclass(frozen=True)
class Person:
    """A person who played episodes of a run.

    agent: The agent's label.
    stepped: True if the game waited for each action; else it ran in real time.
    episodes: Number of recorded episodes.
    seconds: Duration of the episodes in seconds, with pauses.
    game_seconds: Duration at 60 frames per second, including starts that are not shown.
    """

    agent: str
    stepped: bool
    episodes: int
    seconds: float
    game_seconds: float


@dataclass(frozen=True)
class Run:
    """One run directory: its request, provenance and progress.

    name: Name, unique in the report.
    directory: Directory as given.
    agents: Labels of the agents, in the plan's order.
    games: Names of the games.
    episodes: The distinct numbers of requested episodes per trial (one, unless the plan mixes them).
    frames: Frames played in finished episodes, training included.
    simulated_frames: Frames that planners emulated to choose actions; 0 without a planner.
    counted_frames: Frames that the protocol counts as used: played frames, or played and simulated frames.
    trials: Trials in the plan's order.
    commands: The command lines that created and continued it, in order.
    versions, machine: Software and machine that played it, "2.9.0, then 2.10.0" if it was continued with another.
    roms: MD5 of the ROM, by the game's name.
    emulators: Emulators by the game's name, "ale-py 0.12.1" or "console 5f43e732cb187f58" (ArcadeMark's, with its
        core).
    imported: Origin of its scores, if it was imported.
    parts: The directories of the parts, if several directories are shown as one run.
    people: The agents that are people.
    """

    name: str
    directory: str
    protocol: ProtocolView
    agents: tuple[str, ...]
    games: tuple[str, ...]
    seeds: tuple[int, ...]
    episodes: tuple[int, ...]
    frames: int
    simulated_frames: int
    counted_frames: int
    trials: tuple[TrialEntry, ...]
    commands: tuple[str, ...]
    versions: Mapping[str, str]
    machine: Mapping[str, str | int | float | bool]
    roms: Mapping[str, str]
    emulators: Mapping[str, tuple[str, ...]]
    imported: ImportedSource | None = None
    parts: tuple[str, ...] = ()
    people: tuple[Person, ...] = ()

    @property
    def troubles(self) -> tuple[TrialEntry, ...]:
        """The trials that failed or are not finished."""
        return tuple(trial for trial in self.trials if trial.status != "done")

    @property
    def libraries(self) -> list[str]:
        """The libraries that agents use, besides those of every run."""
        every = {"arcademark", "ale-py", "numpy", "python"}
        return [f"{name} {version}" for name, version in self.versions.items() if name not in every]

    @property
    def played_on(self) -> str:
        """The emulators: "the ArcadeMark emulator (core 5f…) in 55 games, ale-py 0.12.1 in 2"; "" for toy games."""
        counts = Counter(self.emulators.values()).most_common()
        labels = [(wording.listing(map(_emulator, used)), count) for used, count in counts]
        if len(labels) == 1:
            return labels[0][0]
        first = [f"{name} in {wording.plural(count, 'game')}" for name, count in labels[:1]]
        return ", ".join([*first, *(f"{name} in {count:,}" for name, count in labels[1:])])


def _emulator(label: str) -> str:
    kind, _, version = label.partition(" ")
    return f"the ArcadeMark emulator (core {version})" if kind == "console" else label


def known_set(names: Sequence[str], suite: TaskSuite | None = None) -> str:
    """Name the suite or subset with exactly these games or tasks: "the 57 games of atari-57"; "" if there is none."""
    if suite:
        groups, noun = suite.groups, "task"
        sets = {suite.name if name == "all" else f"{suite.name}'s {name}": groups[name] for name in groups}
    else:
        noun = "game"
        sets = {name: one.tasks for known in (tasks.suites(), subsets.subsets()) for name, one in known.items()}
    same = (name for name, those in sets.items() if set(names) == set(those))
    return next((f"the {wording.plural(len(names), noun)} of {name}" for name in same), "")


def view(run: RunScores, name: str) -> Run:
    """Return the description of one run."""
    record, manifest = run.record, run.record.manifest
    titled, versions = record.protocol.task_name, dict(manifests.versions(manifest))
    if record.protocol.unit == "step":
        versions.pop("ale-py", None)  # ale-py plays none of its tasks
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
        imported=imported_source(record),
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


def imported_source(record: RunRecord) -> ImportedSource | None:
    """Return the source of an imported run's scores; None for a run that was played."""
    source = imported.origin(record)
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
    names = names_by_label(run)
    short = {(trial.algorithm, trial.task, trial.seed): trial.played for trial in run.incomplete}
    return tuple(
        TrialEntry(
            id=trial.id,
            agent=trial.agent,
            game=run.record.protocol.task_name(trial.game),
            seed=trial.seed,
            status=trial.status,
            episodes=short.get((names[trial.agent], trial.game, trial.seed), trial.episodes),
            planned_episodes=trial.episodes,
            error=trial.error or "",
        )
        for trial in run.record.trials
    )


def _commands(manifest: dict[str, Any]) -> tuple[str, ...]:
    """Return the distinct commands of a run; later ones may have added games, seeds and episodes."""
    given = [manifest.get("command"), *(later.get("command") for later in manifest.get("continued") or ())]
    return tuple(dict.fromkeys(str(command) for command in given if command))
