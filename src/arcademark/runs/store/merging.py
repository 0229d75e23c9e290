"""Merging of runs: shards of one plan, single seeds, or a copy continued elsewhere."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.records import manifest
from arcademark.records.combined import (
    all_commands,
    commands_of,
    differences,
    in_order,
    joined,
    planned,
    plans,
)
from arcademark.records.database import TABLES, check_blobs, clear_errors, insert, open_for_reading, unplayed
from arcademark.records.model import TrialRecord
from arcademark.records.reading import read_checked, read_trials, select_trials
from arcademark.runs.playing import networks
from arcademark.runs.store.recording import Recorder

_ONCE_OPENED = ("learns", "plans", "frames_per_action", "training_frames", "training_episodes")
"""Columns of a trial that are known once its agent was made."""

_WITH_EPISODES = "SELECT DISTINCT trial FROM episode"


@dataclass(frozen=True)
class Merged:
    """Result of a merge."""

    directory: Path
    sources: tuple[Path, ...]
    trials: int  # of the merged run
    done: int
    failed: int
    episodes: int
    added: int  # new episodes
    unfinished: tuple[TrialRecord, ...]  # planned trials that are not done


def merge(out: str | os.PathLike[str], directories: Sequence[str | os.PathLike[str]]) -> Merged:
    """Merge several runs, which may have trials and episodes in common, into one.

    The result has the rows of a run that was never divided; the order of `directories` changes nothing, and merging
    again adds nothing. Unfinished trials, and those of shards that are not given, stay unfinished: ``arcademark run``
    continues them in `out`.

    Parameters
    ----------
    out : path
        A new run, or an existing one to which the others are added.
    directories : sequence of path
        Runs of the same agents under the same protocol, which no process writes.

    Raises
    ------
    ArcadeMarkError
        If agents (by the checksum of their code, files and networks), protocol, training budget, ROMs or ale-py differ,
        an episode in two of the runs differs in more than its duration, or a run was imported, is damaged or is being
        played. Then `out` is unchanged, and a new one is not made; the rest of a killed merge can be given again.
    """
    place = Path(out)
    known = {path.resolve(): path for path in map(Path, directories) if path.resolve() != place.resolve()}
    sources = {path: manifest.read(path) for path in known.values()}
    if not sources:
        raise ArcadeMarkError("nothing to merge; name the directory of at least one run besides the result")
    grown = {place: manifest.read(place)} if (place / manifest.FILE).exists() else {}
    _check(grown | sources)
    sources = dict(
        sorted(sources.items(), key=lambda item: json.dumps([commands_of(item[1]), item[1]], sort_keys=True))
    )
    every = [*grown.values(), *sources.values()]
    commands = all_commands(every)
    document = joined(every, commands)
    protocol = manifest.protocol_of(place, document)
    with Recorder(place) as recorder:
        database = recorder.database
        database.executescript("PRAGMA foreign_keys = OFF; PRAGMA cache_size = -64000")  # the rows were checked
        read_trials(place, database, document, protocol)
        for table in ("episode", "checkpoint"):
            check_blobs(place, database, table)
        before = database.execute("SELECT count(*) FROM episode").fetchone()[0]
        trained: set[str] = set()
        with recorder.transaction():
            if grown:
                rows = database.execute("SELECT trial, command, begun, episodes FROM evaluation").fetchall()
                database.execute("DELETE FROM evaluation")
                note(database, rows, [commands.index(command) for command in commands_of(grown[place])])
            holders = {name: place for (name,) in database.execute(_WITH_EPISODES)}
            for directory, of_source in sources.items():
                numbers = [commands.index(command) for command in commands_of(of_source)]
                trained |= _take(database, directory, of_source, numbers, holders)
            for plan in plans(every):
                recorder.add_trials(planned(plan, protocol), again=False)
            put_in_order(database, document)
            with clear_errors(place):
                manifest.write(place, document)
        for trial_id in sorted(trained):
            checkpoint = recorder.checkpoint(trial_id)
            if checkpoint is not None and checkpoint.finished:
                networks.write(place, trial_id, checkpoint)
        trials = list(select_trials(recorder.database, protocol))
        episodes = recorder.database.execute("SELECT count(*) FROM episode").fetchone()[0]
    status = [trial.status for trial in trials]
    return Merged(
        place,
        tuple(sources),
        len(trials),
        status.count("done"),
        status.count("failed"),
        episodes,
        episodes - before,
        tuple(trial for trial in trials if trial.status != "done"),
    )


def _check(sources: Mapping[Path, manifest.Document]) -> None:
    """Refuse runs whose plans differ in more than games, seeds and episodes."""
    for directory, document in sources.items():
        manifest.protocol_of(directory, document)
        if "imported" in document:
            raise ArcadeMarkError(f"{directory}: was imported from logs made elsewhere and cannot be merged")
        with unplayed(directory):
            pass
    (first, of_first), *others = sources.items()
    for directory, document in others:
        if changes := differences(of_first, document):
            raise ArcadeMarkError(
                f"{directory}: another run than {first}: {'; '.join(changes)}. Only runs of the same agents under the "
                "same protocol can be merged; 'arcademark compare' compares others"
            )


def note(database: sqlite3.Connection, rows: Iterable[tuple[str, int, str, int]], numbers: Sequence[int]) -> None:
    """Add the numbers of episodes that commands evaluated, under the commands' new numbers."""
    database.executemany(
        f"{insert('evaluation')} ON CONFLICT (trial, command) DO UPDATE SET"
        " begun = min(begun, excluded.begun), episodes = episodes + excluded.episodes",
        ((trial, numbers[min(command, len(numbers) - 1)], begun, count) for trial, command, begun, count in rows),
    )


def _take(
    database: sqlite3.Connection,
    directory: Path,
    document: manifest.Document,
    numbers: Sequence[int],
    holders: dict[str, Path],
) -> set[str]:
    """Add a run; return its trials with a file of a trainer's network.

    `holders` maps trials to the run of their episodes; this run is added.
    """
    protocol = manifest.protocol_of(directory, document)
    with open_for_reading(directory) as source:
        trials, _ = read_checked(directory, source, document, protocol)
        for table in ("episode", "checkpoint"):
            check_blobs(directory, source, table)
        added = _add_episodes(database, directory, source, _add_trials(database, directory, source), holders)
        database.executemany(
            f"{insert('checkpoint')} ON CONFLICT (trial)"
            " DO UPDATE SET episodes = excluded.episodes, frames = excluded.frames, finished = excluded.finished,"
            " data = excluded.data"
            " WHERE (excluded.episodes, excluded.finished, excluded.frames) > (episodes, finished, frames)",
            source.execute("SELECT trial, episodes, frames, finished, data FROM checkpoint"),
        )
        database.executemany(
            f"{insert('unfinished')} ON CONFLICT (trial, episode)"
            f" DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in [*TABLES['unfinished']][2:])}"
            " WHERE excluded.frames > frames",
            source.execute(f"SELECT {', '.join(TABLES['unfinished'])} FROM unfinished"),
        )
        database.execute(
            "DELETE FROM unfinished WHERE EXISTS (SELECT 1 FROM episode WHERE episode.trial = unfinished.trial"
            " AND phase = 'evaluation' AND episode.episode = unfinished.episode)"
        )
        notes = source.execute("SELECT trial, command, begun, episodes FROM evaluation ORDER BY trial, command")
        note(database, of_added(notes, added), numbers)
        for (name,) in source.execute(_WITH_EPISODES):
            holders.setdefault(name, directory)
    return {trial.id for trial in trials if networks.path_of(directory, trial.id).exists()}


def _add_trials(database: sqlite3.Connection, directory: Path, source: sqlite3.Connection) -> set[str]:
    """Add the trials of a run; return those that existed.

    A trial that failed in one run only can be tried again.
    """
    existing = {row[0] for row in database.execute("SELECT id FROM trial")}
    names = [*TABLES["trial"]]
    rows = source.execute(f"SELECT {', '.join(names)} FROM trial ORDER BY position").fetchall()
    known = ("agent", "game", "seed")
    opened = f"SELECT {', '.join((*known, *_ONCE_OPENED))} FROM trial WHERE id = ?"
    for row in rows:
        if row[0] in existing:
            old = database.execute(opened, (row[0],)).fetchone()
            new = tuple(row[names.index(name)] for name in (*known, *_ONCE_OPENED))
            if old[:3] != new[:3] or (None not in (old[3], new[3]) and old[3:] != new[3:]):
                raise ArcadeMarkError(
                    f"{directory}: its trial {one_line(row[0], 100)} differs from one of that name in the other "
                    "runs; one of them was changed, so they cannot be merged"
                )
    once = ", ".join(f"{name} = iif(learns IS NULL, excluded.{name}, {name})" for name in _ONCE_OPENED)
    database.executemany(
        f"{insert('trial')} ON CONFLICT (id) DO UPDATE SET"
        f" episodes = max(episodes, excluded.episodes), {once},"
        " error = iif(error IS NULL OR excluded.error IS NULL, NULL, error)",
        rows,
    )
    return existing & {row[0] for row in rows}


def _add_episodes(
    database: sqlite3.Connection,
    directory: Path,
    source: sqlite3.Connection,
    shared: set[str],
    holders: Mapping[str, Path],
) -> dict[str, int]:
    """Add the new episodes of a run; return the number of added evaluation episodes per shared trial.

    Existing episodes must be the same except for their duration.
    """
    added, columns = dict.fromkeys(shared, 0), [*TABLES["episode"]]
    timed = columns.index("wall_seconds")
    same = f"SELECT {', '.join(columns)} FROM episode WHERE (trial, phase, episode) = (?, ?, ?)"

    def new() -> Iterator[tuple[Any, ...]]:
        for row in source.execute(f"SELECT {', '.join(columns)} FROM episode"):
            trial, phase, episode, score, _, steps = row[:6]
            other = database.execute(same, row[:3]).fetchone() if trial in shared else None
            if other is None:
                if trial in shared and phase == "evaluation":
                    added[trial] += 1
                yield row
            elif other[:timed] + other[timed + 1 :] != row[:timed] + row[timed + 1 :]:
                raise ArcadeMarkError(
                    f"{directory}: {phase} episode {episode} of trial {one_line(trial, 100)} differs from that of "
                    f"{holders[trial]} (score {score:g} and {other[3]:g}, {steps:,} and {other[5]:,} steps); "
                    "'arcademark verify' shows which is real"
                )

    database.executemany(insert("episode"), new())
    return added


def of_added(
    notes: Iterable[tuple[str, int, str, int]], added: Mapping[str, int]
) -> Iterator[tuple[str, int, str, int]]:
    """Yield each command's evaluations, in shared trials at most the number of added episodes."""
    left = dict(added)
    for trial, command, begun, episodes in notes:
        if trial in left:
            episodes = min(episodes, left[trial])
            left[trial] -= episodes
            if not episodes:
                continue
        yield trial, command, begun, episodes


def put_in_order(database: sqlite3.Connection, document: manifest.Document) -> None:
    """Order the trials as in a plan of all of them."""
    trials = select_trials(database, manifest.protocol_of(Path(), document))
    places = ((place, trial.id) for place, trial in enumerate(in_order(document, trials)))
    database.executemany("UPDATE trial SET position = ? WHERE id = ?", list(places))
