"""Make the catalogue's collection of a run, once every recorded episode is confirmed by a replay.

Contents of an untrusted run become text in a TOML and a CSV file, nothing else: names that a spreadsheet could execute,
or that are invisible, are refused, and the files are checked like every contribution.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from arcademark.analysis import settings
from arcademark.analysis.cells import PlayedAlgorithm
from arcademark.analysis.site.document import Replay
from arcademark.analysis.tables import loading
from arcademark.analysis.tables.loading import Scores
from arcademark.catalogue import adding, collections, reading
from arcademark.catalogue.adding import Addition
from arcademark.catalogue.check import CatalogueFinding
from arcademark.catalogue.model import AlgorithmKind
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.records.database import digest
from arcademark.records.model import RunRecord, scored_phase
from arcademark.records.reading import read_run
from arcademark.records.replayed import Finding as Replayed
from arcademark.records.replayed import Verification
from arcademark.runs.replay import verify as replaying
from arcademark.scores.formulas import as_csv, escaped
from arcademark.scores.runs import RunCollection, load_runs
from arcademark.suite.protocols import Protocol, protocols

MAX_CHARACTERS = 100
"""Maximum length of an algorithm's name."""


@dataclass(frozen=True)
class Paper:
    """Publication of a run.

    key: "doe-2026", which is also the collection's name.
    year: None if the catalogue knows the paper by its key; then the texts are empty.
    """

    key: str
    authors: str = ""
    title: str = ""
    venue: str = ""
    year: int | None = None
    url: str = ""


@dataclass(frozen=True)
class SubmittedRun:
    """Result of checking a submitted run.

    directory: The run's directory as given.
    ok: Whether every episode was confirmed, without other problems.
    replay: Result of the replay.
    findings: Reasons against adding it to the catalogue: unconfirmed episodes first.
    addition: Result of the catalogue's own check of the collection; None if it was not made.
    files: Files of the collection by name; empty if it was not made, or has errors.
    """

    SCHEMA: ClassVar[str] = "arcademark.submission/1"

    directory: str
    ok: bool
    replay: Replay
    findings: tuple[CatalogueFinding, ...]
    addition: Addition | None
    files: Mapping[str, str]


def check(
    directory: Path,
    paper: Paper | None = None,
    kind: AlgorithmKind | None = None,
    name: str = "",
    *,
    suite: str | None = None,
    workers: int | None = None,
    on_finding: Callable[[Replayed, int], None] | None = None,
) -> SubmittedRun:
    """Verify a run and, where it is confirmed and a paper and a kind are named, make its collection.

    ``name`` is the name of its only agent; by default agents have their labels.
    """
    if paper is not None and not adding.NAME.fullmatch(paper.key):
        raise ArcadeMarkError(
            f"--entry paper={one_line(paper.key, 80)!r}: expected a name and a year in lower case, such as doe-2026"
        )
    if paper is not None and paper.url and not reading.ADDRESS.fullmatch(paper.url):
        raise ArcadeMarkError(f"--entry url={one_line(paper.url, 80)!r}: {reading.EXPECTED_ADDRESS}")
    record = read_run(directory)
    if paper is not None and record.protocol.unit == "step":
        raise ArcadeMarkError(
            f"{directory}: has no Atari games, as the catalogue requires; check it without --entry, and show it on "
            "its suite's leaderboard: arcademark leaderboard RUN…"
        )
    verified = replaying.verify(record, workers=workers, on_finding=on_finding, suite=suite)
    replay = Replay(len(verified.findings), verified.confirmed, verified.warnings)
    runs = load_runs([record])
    scores = loading.of_runs(runs)
    if name and len(scores.table.algorithms) == 1:
        scores = scores.rename({scores.table.algorithms[0]: name})
    findings = tuple(_problems(verified, runs, scores, name, kind))
    if findings or paper is None or kind is None:
        return SubmittedRun(str(directory), not findings, replay, findings, None, {})
    files = _files(runs.runs[0].record, scores, paper, kind)
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / file for file in files]
        for place in places:
            place.write_text(files[place.name], encoding="utf-8", newline="\n")
        addition = adding.add(places, overwrite=True)
    sound = not addition.findings  # the replay confirmed unusual scores
    return SubmittedRun(str(directory), sound, replay, (), addition, files if sound else {})


def _problems(
    verified: Verification, runs: RunCollection, scores: Scores, name: str, kind: AlgorithmKind | None
) -> Iterator[CatalogueFinding]:
    if not verified.findings:
        yield CatalogueFinding(str(verified.directory), "no episode is recorded")
    for item in verified.problems:
        yield CatalogueFinding(
            f"trial {item.trial_id}, {item.phase} episode {item.episode}", item.detail or item.outcome
        )
    record = runs.runs[0].record
    for one in record.trials:
        if scored_phase(record.protocol, bool(one.learns)) == "training" and replaying.cut_short(record, one):
            yield CatalogueFinding(
                f"trial {one.id}", "training games are missing, and its score is the mean of the last of them"
            )
    if kind not in (None, "planning") and any(one.plans for one in record.trials):
        yield CatalogueFinding("--entry kind", f"{kind}, but an agent of the run plans; name it planning")
    for trial in runs.runs[0].incomplete:
        missing = f"{trial.played} of {trial.planned} episodes are recorded ({trial.status}); play the rest"
        yield CatalogueFinding(f"{trial.algorithm}, {trial.task}, seed {trial.seed}", missing)
    if name and len(scores.table.algorithms) > 1:
        yield CatalogueFinding("--name", f"the run has {len(scores.table.algorithms)} agents; leave it out")
    for algorithm in scores.table.algorithms:
        if escaped(algorithm) != algorithm or len(algorithm) > MAX_CHARACTERS:
            yield CatalogueFinding(
                f"the name {algorithm[:MAX_CHARACTERS]!r}",
                f"begins like a formula, or has more than {MAX_CHARACTERS} characters; choose another with --name",
            )


def _files(record: RunRecord, scores: Scores, paper: Paper, kind: AlgorithmKind) -> dict[str, str]:
    files = {f"{paper.key}.toml": _entries(record, scores, paper, kind), f"{paper.key}.csv": _rows(scores)}
    if paper.year is not None:
        fields = {name: value for name, value in vars(paper).items() if name != "key" and value != ""}
        files[adding.SOURCES] = _table(paper.key, fields)
    return files


def _protocol(record: RunRecord, played: PlayedAlgorithm) -> Protocol:
    """Return the protocol as played, with the run's settings, episodes and frames."""
    rules, trials = record.protocol, played.trials
    changes: dict[str, Any] = {}
    if len(episodes := {trial.episodes for trial in trials}) == 1:
        changes["evaluation_episodes"] = min(episodes)
    if any(trial.learns for trial in trials) and len(frames := {trial.training_frames for trial in trials}) == 1:
        changes["training_frames"] = next(iter(frames)) or rules.training_frames
    known = protocols().get(rules.name)
    if known is None:  # its settings count, not an untrusted name for it
        return replace(rules.override(changes), overrides=MappingProxyType(rules.settings()))
    return known.override({**rules.settings(), **changes})


def _entries(record: RunRecord, scores: Scores, paper: Paper, kind: AlgorithmKind) -> str:
    versions = ", ".join(f"{package} {version}" for package, version in record.manifest["versions"].items())
    tables = []
    for algorithm in scores.table.algorithms:
        known = scores.get(algorithm)
        played = known.played
        assert played is not None
        protocol = _protocol(record, played)
        frames = known.frames if known.frames or kind not in ("baseline", "planning") else 0
        fields = {
            "kind": kind,
            "paper": paper.key,
            "source": paper.key,
            "table": "the run's episodes",
            **({} if frames is None else {"training_frames": frames}),
            "protocol": "" if protocol.overrides else protocol.name,
            "reported": scored_phase(protocol, any(trial.learns for trial in played.trials)),
            "hand": "first",
            **({"settings": settings.of_protocol(protocol)} if protocol.overrides else {}),
            "note": f"Replayed in whole. SHA-256 of run.sqlite: {digest(record.directory)}. Made with {versions}.",
        }
        tables.append(_table(algorithm, fields))
    return "\n".join(tables)


def _rows(scores: Scores) -> str:
    rows: list[tuple[str, ...]] = [(*reading.COLUMNS, reading.PER_RUN)]
    table = scores.table
    for algorithm, by_task in zip(table.algorithms, table.scores.tolist(), strict=True):
        known = dict(zip(table.tasks, by_task, strict=True))
        for task in collections.in_order(known):
            runs = [repr(score).removesuffix(".0") for score in known[task] if not math.isnan(score)]
            if runs:
                rows.append((algorithm, task, "", "", "", "", "", " ".join(runs)))
    return as_csv(rows)


def _table(key: str, fields: Mapping[str, object]) -> str:
    """Write a table of TOML."""
    lines = (f"{name} = {_value(value)}" for name, value in fields.items())
    return "\n".join((f"[{_value(key)}]", *lines)) + "\n"


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_value(name)} = {_value(entry)}' for name, entry in value.items())} }}"
    if isinstance(value, int | float):
        return repr(value).lower()
    quoted = str(value).replace("\\", r"\\").replace('"', r"\"")
    return '"' + "".join(char if char.isprintable() else rf"\U{ord(char):08X}" for char in quoted) + '"'
