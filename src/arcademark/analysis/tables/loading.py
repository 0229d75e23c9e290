"""Loading of scores from files of any format, runs of ArcadeMark and collections of the catalogue."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeAlias, runtime_checkable
from typing import Protocol as Structural

import numpy as np
from numpy.typing import NDArray

from arcademark import wording
from arcademark.analysis import published
from arcademark.analysis.cells import PlayedAlgorithm, played_algorithms
from arcademark.analysis.tables import protocols
from arcademark.analysis.tables.protocols import PlayConditions
from arcademark.catalogue import collections
from arcademark.catalogue.model import Entry
from arcademark.errors import ArcadeMarkError
from arcademark.keywords import taken
from arcademark.records import manifest
from arcademark.records.model import RunRecord
from arcademark.scores.readers.base import Reading
from arcademark.scores.runs import RunCollection, load_runs
from arcademark.scores.table import ScoresByName, ScoreTable, concatenate
from arcademark.suite.protocols import Protocol
from arcademark.suite.task_suites import TaskSuite
from arcademark.suite.tasks import listed

CATALOGUE = "catalogue:"
"""Prefix of the names of the catalogue's collections, separated by commas, in place of a file."""

EVERYTHING = "all"
"""Word, in place of a collection's name, for every collection of the catalogue."""


@runtime_checkable
class Frame(Structural):
    """Interface required of a DataFrame or Series, of pandas or a similar library."""

    def to_dict(self) -> Mapping[Any, Any]:
        """Return its columns."""


_EXPECTED = (
    "a path, 'catalogue:' and a name, a ScoreTable, a DataFrame, or a dict such as {'DQN': {'pong': [18.9, 19.3]}}"
)
ScoreSource: TypeAlias = Annotated[
    str | os.PathLike[str] | ScoreTable | ScoresByName | RunCollection | RunRecord | Frame, _EXPECTED
]
"""A path, ``catalogue:`` and a collection's name, a table, scores by algorithm and task, runs, or a DataFrame."""

Sources: TypeAlias = Annotated[Sequence[ScoreSource] | ScoreSource, f"{_EXPECTED}, or several of these"]

_Read = str | os.PathLike[str] | ScoreTable | RunRecord | Frame


@dataclass(frozen=True)
class Known:
    """Facts known of an algorithm besides its scores.

    frames: Frames of its training.
    qualified: Name that distinguishes it from another of its name, "Agent57 (Fan 2021)"; "" where that is not known.
    paper: The catalogue's key of the paper that published it; else "".
    lone: Scores, by task, of the episodes of a single run, where they are known, as values that vary independently.
    played: The algorithm as played in a run of ArcadeMark; else None.
    one_seed: True if a file states that several runs on a task have one seed.
    untrained: True if it is known to have been trained for no frame.
    """

    play: PlayConditions = field(default_factory=PlayConditions)
    frames: int | None = None
    qualified: str = ""
    paper: str = ""
    lone: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    played: PlayedAlgorithm | None = None
    one_seed: bool = False
    untrained: bool = False

    @property
    def length_unknown(self) -> bool:
        """True if it is, or may be, the result of training of unknown length."""
        learns = self.played and any(trial.learns for trial in self.played.trials)
        return not (self.frames or self.untrained or learns)


@dataclass(frozen=True)
class Scores:
    """Scores with the facts known of their algorithms.

    sources: Sources of the scores, one sentence each.
    remarks: Remarks that a reader must know, full sentences.
    runs: The runs among the sources.
    """

    table: ScoreTable
    known: Mapping[str, Known]
    sources: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    runs: RunCollection | None = None

    def get(self, name: str) -> Known:
        """Return the facts known of an algorithm."""
        return self.known[name]

    def rename(self, names: Mapping[str, str]) -> Scores:
        """Rename algorithms."""
        known = {}
        for name, item in self.known.items():
            new = names.get(name, name)
            known[new] = replace(item, played=item.played and replace(item.played, name=new))
        return replace(self, table=self.table.rename(names), known=known)


def load(
    places: Sources | Scores,
    canonical: Callable[[str], str],
    *,
    every_variant: bool = False,
    some_tasks: bool = False,
    **reading: Any,
) -> Scores:
    """Read scores and put them into one table.

    ``canonical`` returns the canonical name of a task as it is written; ``every_variant`` also keeps the members of
    families of agents, not only the best of each game; ``some_tasks`` leaves out tasks of unknown names; ``reading``
    contains options of `arcademark.scores.reading.read_tables`.
    """
    if reading:
        from arcademark.scores.reading import options_of

        options_of(**reading)  # also of sources that need none
    if isinstance(places, Scores):
        return places
    if isinstance(places, RunCollection):
        return of_runs(places, every_variant=every_variant)
    parts, files, runs = list[Callable[[], Scores]](), list[str](), list[RunRecord | str | os.PathLike[str]]()
    of_files = {**reading, "unknown_tasks": "leave out"} if some_tasks else reading
    for place in chain.from_iterable(_opened(one, reading) for one in _wanted(places)):
        if isinstance(place, ScoreTable):
            tasks = tuple(canonical(task) for task in place.tasks)
            parts.append(partial(_table, replace(place, tasks=tasks), "a table"))
        elif isinstance(place, Frame) and not isinstance(place, RunRecord):
            parts.append(partial(_framed, place, canonical, reading))
        elif _is_run(place):
            if not runs:  # all runs are read at once, in the place of the first, and so are files
                parts.append(lambda: of_runs(load_runs(runs), every_variant=every_variant))
            runs.append(place)
        elif (name := _text(place)).startswith(CATALOGUE):
            parts.append(partial(_collection, name.removeprefix(CATALOGUE)))
        else:
            if not files:
                parts.append(partial(_files, files, canonical, of_files))
            files.append(name)
    return _concatenated([read() for read in parts])


def sequence(places: Sources) -> Sequence[ScoreSource]:
    """Return one source, or several, as a sequence."""
    return places if isinstance(places, Sequence) and not isinstance(places, str) else [places]


def _wanted(places: Sources) -> list[_Read]:
    if not (several := sequence(taken(places, Sources, "sources"))):
        raise ArcadeMarkError("no table of scores; name a file, a run's directory, or catalogue:review-2021")
    return [one for place in several for one in _read_from(place)]


def _read_from(place: ScoreSource) -> Sequence[_Read]:
    if isinstance(place, Mapping):
        return [ScoreTable.from_mapping(place)]
    if isinstance(place, RunCollection):
        return [run.record for run in place.runs]
    if isinstance(place, ScoreTable | RunRecord | Frame):
        return [place]
    if not os.fspath(place).strip():
        raise ArcadeMarkError("the name of a table is empty; name a file, a run's directory, or catalogue:review-2021")
    return [place]


def _text(place: _Read) -> str:
    if isinstance(place, RunRecord):
        return str(place.directory)
    return "" if isinstance(place, ScoreTable | Frame) else os.fspath(place)


def _is_run(place: _Read) -> bool:
    text = _text(place)
    return isinstance(place, RunRecord) or (
        bool(text) and not text.startswith(CATALOGUE) and os.path.exists(Path(text, "manifest.json"))
    )


def suites_of(places: Sources | Scores) -> dict[str, TaskSuite | None]:
    """Return by place the suite beyond Atari that a run was played on; None for any other place."""
    known: dict[str, Protocol | None]
    if isinstance(places, Scores):
        places = places.runs or RunCollection((), places.table)
    if isinstance(places, RunCollection):
        known = {str(run.record.directory): run.record.protocol for run in places.runs}
    else:
        wanted = [one for place in _wanted(places) for one in _opened(place, {})]
        known = {_text(place) or "a table": _protocol_of(place) for place in wanted}
    return {place: rules.suite if rules else None for place, rules in known.items()}


def is_table(name: str) -> bool:
    """Return True if a name, which may be an algorithm's, is that of a file, a run or published scores."""
    return name.startswith(CATALOGUE) or os.path.isfile(name) or _is_run(name)


def is_there(place: str) -> bool:
    """Return True if a place that `suites_of` returns can be read."""
    return place.startswith((CATALOGUE, "a table")) or os.path.exists(place)


def _protocol_of(place: _Read) -> Protocol | None:
    if isinstance(place, RunRecord):
        return place.protocol
    path = Path(_text(place))
    return manifest.protocol_of(path, manifest.read(path)) if _is_run(place) else None


def _opened(place: _Read, reading: Mapping[str, Any]) -> Sequence[_Read]:
    """Return the runs in a folder that contains only runs; else the place itself."""
    from arcademark.scores.reading import runs_in

    folder = Path(_text(place))
    if not _text(place) or _is_run(place) or any(reading.values()) or not os.path.isdir(folder):
        return (place,)
    return runs_in(folder) or (place,)


def _files(files: Sequence[str], canonical: Callable[[str], str], reading: Mapping[str, Any]) -> Scores:
    from arcademark.scores.reading import read_tables

    return _of_reading(
        read_tables(list(map(Path, files)), **{"canonical_task": canonical, **reading}),
        wording.shortened(files, most=4),
    )


def _framed(frame: Frame, canonical: Callable[[str], str], reading: Mapping[str, Any]) -> Scores:
    from arcademark.scores.readers.base import Options
    from arcademark.scores.readers.frames import read_frame

    options = {name: value for name, value in reading.items() if name != "format"}
    return _of_reading(read_frame(frame, Options(**{"canonical_task": canonical, **options})), "a DataFrame")


def _of_reading(read: Reading, names: str) -> Scores:
    scores, lone = _table(read.table, names), defaultdict[str, dict[str, NDArray[np.float64]]](dict)
    for (name, task), runs in (read.episodes or {}).items():
        if len(runs) == 1:
            lone[name][task] = runs[0]
    known = {
        name: replace(item, lone=lone[name], one_seed=name in read.one_seed) for name, item in scores.known.items()
    }
    return Scores(scores.table, known, (f"{names}: {read.summary}",), (read.read_as, *read.notes))


def _table(table: ScoreTable, name: str) -> Scores:
    labels = zip(table.algorithms, table.protocols, strict=True)
    return Scores(table, {algorithm: Known(protocols.from_label(label)) for algorithm, label in labels}, (name,))


def of_runs(collection: RunCollection, *, every_variant: bool = False) -> Scores:
    """Make scores of runs: one per seed for an algorithm, the best on each game for a family of baselines."""
    shown = played_algorithms(collection, every_variant=every_variant)
    rows: list[tuple[str, str, int, float]] = []
    for item in shown:
        for task, cell in item.cells.items():
            means = (float(np.mean(scores)) for scores in cell.runs)
            rows += [(item.name, task, *pair) for pair in zip(cell.numbers, means, strict=True)]
            rows += [] if cell.runs else [(item.name, task, item.trials[0].seed, np.nan)]
    table = ScoreTable.from_rows(
        rows,
        protocols={item.name: item.run.record.protocol.label for item in shown},
        sources={item.name: str(item.run.record.directory) for item in shown},
    )
    known = {
        item.name: Known(
            PlayConditions(item.run.record.protocol.label, item.run.record.protocol),
            training_frames(item) or None,
            lone={task: cell.units() for task, cell in item.cells.items() if len(cell.runs) == 1},
            played=item,
            untrained=not item.trained,
        )
        for item in shown
    }
    sources = tuple(f"{run.record.directory}: a run of ArcadeMark" for run in collection.runs)
    return Scores(table, known, sources, runs=collection)


def training_frames(item: PlayedAlgorithm) -> int | None:
    """Return a learner's budget in frames, or that stated in a network's files; None if there is neither."""
    learners = [trial for trial in item.trials if trial.learns]
    if not learners:
        return frames_of_files(item)
    if learners[0].training_episodes is not None:
        return None
    return learners[0].training_frames or item.run.record.protocol.training_frames


def frames_of_files(item: PlayedAlgorithm) -> int | None:
    """Return the training frames stated in networks' files, averaged over games and seeds; None if any is missing."""
    record = item.run.record
    agents = manifest.agents_of(record.manifest)
    scored = (trial for trial in item.trials if len(record.scored_episodes(trial)))
    frames = [
        agents.get(trial.agent, {}).get("trained_frames", {}).get(manifest.game_and_seed(trial.game, trial.seed))
        for trial in scored
    ]
    return round(float(np.mean(frames))) if frames and None not in frames else None


def published_entries(place: str) -> Mapping[str, Entry]:
    """Return the entries of a ``catalogue:`` place: of named or all collections, or those used for training."""
    names = listed(place.removeprefix(CATALOGUE), CATALOGUE)
    if names == (published.TRAINING,):
        return published.training()
    return collections.select(None if names == (EVERYTHING,) else names)


def _collection(names: str) -> Scores:
    """Read collections without their reference players, which are not algorithms."""
    entries = published_entries(f"{CATALOGUE}{names}")
    references = [name for name, entry in entries.items() if entry.kind == "reference"]
    kept = {name: entry for name, entry in entries.items() if name not in references}
    table = collections.table(kept)
    lost = [name for name in kept if name not in table.algorithms]
    place = "the catalogue" if names == EVERYTHING else f"{CATALOGUE}{names}"
    remarks = [
        *([f"Reference players of {place}, not used: {wording.listing(references)}."] if references else []),
        *([f"Not in {place}, because their scores are lost: {wording.listing(lost)}."] if lost else []),
    ]
    runs = "one run per algorithm" if table.scores.shape[2] == 1 else "run by run where runs are published"
    known = {
        name: Known(
            protocols.from_entry(entry),
            entry.training_frames or None,
            entry.qualified,
            entry.origin.key,
            untrained=entry.training_frames == 0,
        )
        for name, entry in kept.items()
        if name in table.algorithms
    }
    return Scores(table, known, (f"{CATALOGUE}{names}: published scores, {runs}",), tuple(remarks))


def _concatenated(every: Sequence[Scores]) -> Scores:
    """Concatenate scores; a name that occurs twice is followed by its source in brackets."""
    counts = Counter(name for scores in every for name in scores.table.algorithms)
    distinct = []
    for scores in every:
        shared = [name for name in scores.table.algorithms if counts[name] > 1]
        sources = dict(zip(scores.table.algorithms, scores.table.sources, strict=True))
        places = {name: Path(sources[name]).name.replace(",", " ") or "?" for name in shared}
        names = {name: scores.get(name).qualified or f"{name} [{places[name]}]" for name in shared}
        distinct.append(scores.rename(names))
    return Scores(
        concatenate([scores.table for scores in distinct]),
        dict(chain.from_iterable(scores.known.items() for scores in distinct)),
        sources=tuple(chain.from_iterable(scores.sources for scores in distinct)),
        remarks=tuple(chain.from_iterable(scores.remarks for scores in distinct)),
        runs=next((scores.runs for scores in distinct if scores.runs), None),
    )


def declare(scores: Scores, protocol: Protocol | None, frames: Mapping[str, int]) -> Scores:
    """Add the user's declarations: the protocol of algorithms without one, and training frames ("" for all)."""
    known = {}
    for name, item in scores.known.items():
        play = item.play if protocol is None or item.play.known else PlayConditions(protocol.label, protocol)
        known[name] = replace(item, play=play, frames=frames.get(name) or item.frames or frames.get(""))
    return replace(scores, known=known)
