"""What a run still holds after damage: each page is looked at by itself, and no tree or index is relied on.

Pages are those of SQLite, https://www.sqlite.org/fileformat2.html. A row is intact if its values are what belongs
there and its actions, whose stream ends with a checksum, are as many as its steps. Nothing is written to the run.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import struct
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.runs import manifest, networks
from arcademark.runs.checks import DATABASE, MOST_NUMBER, RULES, SINCE, check_files, check_index, guard
from arcademark.runs.database import (
    SCHEMA,
    SCHEMA_VERSION,
    check_version,
    clear_errors,
    open_for_reading,
    unplayed,
)
from arcademark.runs.merging import add_planned, put_in_order
from arcademark.runs.recording import Recorder
from arcademark.runs.rows import EXPECTED, check_counts, read_rows
from arcademark.runs.store import (
    MOST_STEPS,
    Checkpoint,
    TrialRecord,
    check_ids,
    decode_actions,
    read_run,
    scored_phase,
    select_trials,
)
from arcademark.runs.together import planned
from arcademark.suite.protocols import Protocol
from arcademark.suite.settings import MOST_FRAMES

_LEAF = 13  # the kind of a page that holds rows of a table
_PAGE_BYTES = 4096  # where the first page does not tell
_MOST_NAMED = 20  # problems of a kind that are told one by one
_MOST_PAYLOAD = 10**9  # bytes of a row, SQLite's own limit
_MOST_HEADER = 128  # bytes that tell the types of a row, more than those of any table here
_MOST_AGAIN = 8  # times that a page's bytes may be taken for rows, and overflow pages be read
_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)  # bytes of values of the first kinds
_DEFAULTS = {"simulated_frames": 0, "plans": None, "training_episodes": None}  # of columns that were added later
_PHASES = ("training", "evaluation")
_TABLES = ("trial", "checkpoint", "unfinished", "evaluation", "episode")
_BETTER = {
    "trial": "learns IS NULL, plans IS NULL, rowid",
    "checkpoint": "-episodes",
    "unfinished": "-frames",
    "evaluation": "-episodes",
}
"""How rows of the same key are sorted, of which the first is kept: pages may hold old ones, too."""


@dataclass
class Contents:
    """What the pages of a run hold; episodes are counted, not kept."""

    problems: list[str] = field(default_factory=list)
    intact: int = 0
    numbers: defaultdict[tuple[str, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    """Of the intact episodes of a trial and phase."""


@dataclass(frozen=True)
class Salvaged:
    """A new run of what was intact."""

    directory: Path
    episodes: int
    trials: int
    done: int
    problems: tuple[str, ...]  # what is damaged or lost, a line each


def check(directory: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return what is damaged in a run, a line each: none if all of it is sound.

    Every page, row, index and count is checked, that the actions of each episode are whole, the manifest, and the files
    of trained networks against what the run holds. Whether scores are real `arcademark.runs.verify` tells.

    Raises
    ------
    ArcadeMarkError
        If there is no run, or a newer ArcadeMark wrote it.
    """
    path = Path(directory)
    if not os.path.lexists(path / DATABASE) and not os.path.lexists(path / manifest.FILE):
        manifest.read(path)  # tells that it is no run
    problems, document, protocol = [], None, None
    try:
        document, protocol = _read_manifest(path)
    except ArcadeMarkError as error:
        problems.append(str(error))
    try:
        with open_for_reading(path, keys=True) as database:
            asked = dict(database.execute("SELECT id, episodes FROM trial ORDER BY position"))
            columns = read_rows(path, database, asked)
            check_index(path, database, "episode")
            if document is not None and protocol is not None:
                trials = list(select_trials(database, protocol))
                check_counts(path, database, columns, {trial.id: trial.learns for trial in trials}, protocol)
                check_ids(path, document, protocol, trials)
            del columns
            database.set_progress_handler(None, 0)  # what was read whole is sound
            names = ("trial", "phase", "episode", "steps", "actions")
            rows = database.execute(f"SELECT {', '.join(names)} FROM episode")
            played = (dict(zip(names, row, strict=True)) for row in rows)
            problems += (f"{path}: {why}" for row in played if (why := _wrong_actions(row, document)))
            problems += _networks(path, database)
    except ArcadeMarkError as error:
        problems.append(str(error))
        if (path / DATABASE).is_file():
            found = scan(path, document, protocol)
            problems += (f"{path}: {problem}" for problem in found.problems)
            problems.append(f"{path}: {found.intact:,} episodes are intact")
    return tuple(problems)


def salvage(directory: str | os.PathLike[str], out: str | os.PathLike[str]) -> Salvaged:
    """Write every intact episode of a run into a new one, which the run's own command continues in `out`.

    Training goes on from its checkpoint only where all episodes behind it are intact, and begins again elsewhere.

    Raises
    ------
    ArcadeMarkError
        If the manifest is missing or damaged, nothing is intact, a process is writing the run, or `out` is not new.
    """
    path, place = Path(directory), Path(out)
    taken = ArcadeMarkError(f"{place}: holds a run; name a new directory for what is salvaged")
    if os.path.lexists(place / manifest.FILE):
        raise taken
    document, protocol = _read_manifest(path)
    with unplayed(path), Recorder(place) as recorder:
        database = recorder.database
        if database.execute("SELECT 1 FROM trial").fetchone():
            raise taken
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("PRAGMA foreign_keys = OFF")
        try:
            with recorder.transaction():
                found = scan(path, document, protocol, database)
                _make_consistent(database, found, protocol)
                put_in_order(database, document)
                if not database.execute("SELECT 1 FROM trial").fetchone():
                    raise ArcadeMarkError(f"{path}: nothing in it is intact; restore it from a copy, or play it again")
                manifest.write(place, document)
        except BaseException:
            (place / manifest.FILE).unlink(missing_ok=True)
            raise
        for (trial_id,) in database.execute("SELECT trial FROM checkpoint WHERE finished").fetchall():
            checkpoint = recorder.checkpoint(trial_id)
            if networks.path_of(path, trial_id).exists() and checkpoint is not None:
                try:
                    with clear_errors(place):
                        networks.write(place, trial_id, checkpoint)
                except ArcadeMarkError as error:
                    found.problems.append(str(error))
        trials = list(select_trials(database, protocol))
    episodes = len(read_run(place).episodes)
    done = sum(trial.status == "done" for trial in trials)
    return Salvaged(place, episodes, len(trials), done, tuple(found.problems))


def _read_manifest(path: Path) -> tuple[manifest.Document, Protocol]:
    try:
        if os.path.lexists(path / DATABASE) and not os.path.lexists(path / manifest.FILE):
            raise ArcadeMarkError(f"{path}: {manifest.FILE} is missing")
        document = manifest.read(path)
        return document, manifest.protocol_of(path, document)
    except ArcadeMarkError as error:
        raise ArcadeMarkError(
            f"{error}. Without it nothing tells how the episodes were played: if there is no copy, give the run's "
            f"'arcademark run' command with another --out, stop it, and copy the {manifest.FILE} that it made"
        ) from None


def scan(
    directory: Path,
    document: manifest.Document | None = None,
    protocol: Protocol | None = None,
    database: sqlite3.Connection | None = None,
) -> Contents:
    """Look at every page of a run's database; put what is intact into `database`, which is empty."""
    found = Contents()
    known = None if document is None or protocol is None or "imported" in document else (document, protocol)
    named = {trial.id: trial for trial in planned(*known)} if known else {}
    with contextlib.closing(sqlite3.connect("")) as small, _settled(directory, found) as path:
        orders = _orders(directory, path)
        for table in _BETTER:  # whole seconds are stored as whole numbers
            small.execute(
                f"CREATE TABLE {table} ({', '.join(orders[table][0])})".replace("wall_seconds", "wall_seconds REAL")
            )
        for values in _records(path, found):
            for table in _BETTER if len(values) < 2 or values[1] not in _PHASES else ():
                for row in _fitting(values, orders[table]):  # in the wrong order it breaks the rules, or tells less
                    if _plausible(table, row):
                        small.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES (:{', :'.join(row)})", row)
        for table, better in _BETTER.items():
            rules = " AND ".join(f"({rule})" for rule in RULES[table].values())
            key = "id" if table == "trial" else "trial"
            small.execute(f"DELETE FROM {table} WHERE NOT ({rules} AND typeof({key}) = 'text')")
            if table == "trial" and known:
                _drop_misnamed(small, *known)
            if database is not None:
                columns = ", ".join(orders[table][0])
                database.executemany(
                    f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({', '.join('?' * len(orders[table][0]))})",
                    small.execute(f"SELECT {columns} FROM {table} ORDER BY {better}"),
                )
        asked = dict(small.execute("SELECT id, episodes FROM trial ORDER BY learns IS NOT NULL"))  # the last one counts
        _take_episodes(path, orders["episode"], asked, named, document, found, database)
        _tell_lost(found, asked, small, protocol)
    return found


def _drop_misnamed(database: sqlite3.Connection, document: manifest.Document, protocol: Protocol) -> None:
    """Leave out trials that are not what their name says."""
    agents = {agent["label"]: agent for agent in document["agents"]}
    for row in database.execute("SELECT id, agent, game, seed FROM trial").fetchall():
        name, agent, game, seed = row
        if manifest.trial_of(document, protocol, agents.get(agent), game, seed) not in (None, name):
            database.execute("DELETE FROM trial WHERE (id, agent, game, seed) = (?, ?, ?, ?)", row)


def _take_episodes(
    path: Path,
    orders: Sequence[Sequence[str]],
    asked: dict[str, int],
    named: Mapping[str, TrialRecord],
    document: manifest.Document | None,
    found: Contents,
    database: sqlite3.Connection | None,
) -> None:
    """Take each intact episode once; of those that are there twice and differ, none."""
    order = orders[0]
    insert = f"INSERT INTO episode ({', '.join(order)}) VALUES (:{', :'.join(order)})"
    same = f"SELECT {', '.join(order)} FROM episode WHERE trial = ? AND phase = ? AND episode = ?"
    wrong, contested = [], set()
    for values in _records(path, Contents()):
        rows = _fitting(values, orders)
        if not rows or rows[0]["phase"] not in _PHASES or not isinstance(rows[0]["trial"], str):
            continue
        trial, phase, number = key = rows[0]["trial"], rows[0]["phase"], rows[0]["episode"]
        if trial not in asked and (again := named.get(trial)):
            asked[trial] = again.episodes
            if database is not None:
                add_planned(database, [again])
            found.problems.append(f"what was known of trial {one_line(trial, 100)} is lost; its name tells which it is")
        reasons = [_wrong(row, asked) or _wrong_actions(row, document) for row in rows]
        if "" not in reasons or key in contested:
            wrong += reasons[:1] if "" not in reasons else []
            continue
        row = rows[reasons.index("")]
        if number in found.numbers[trial, phase]:
            if database is not None and database.execute(same, key).fetchone() != tuple(row[name] for name in order):
                database.execute("DELETE FROM episode WHERE trial = ? AND phase = ? AND episode = ?", key)
                found.numbers[trial, phase].discard(number)
                contested.add(key)
                wrong.append(
                    f"{phase} episode {number} of trial {one_line(trial, 100)} is there twice, and they differ"
                )
            continue
        found.numbers[trial, phase].add(number)
        if database is not None:
            database.execute(insert, row)
    found.problems += _some(wrong, "episodes that are not intact")
    found.intact = sum(map(len, found.numbers.values()))


def _wrong(row: dict[str, Any], asked: Mapping[str, int]) -> str:
    """Tell what of a row, but its actions, no episode has; "" if all is well."""
    where = f"{row['phase']} episode {_shown(row['episode'])} of trial {one_line(row['trial'], 100)}"
    if row["trial"] not in asked:
        return f"{where}: nothing is known of the trial"
    most = asked[row["trial"]] if row["phase"] == "evaluation" else MOST_FRAMES
    whole = {"episode": most - 1, "frames": MOST_FRAMES, "steps": MOST_FRAMES, "simulated_frames": MOST_FRAMES}
    for name, high in whole.items():
        if type(row[name]) is not int or not 0 <= row[name] <= high:
            return f"{where}: its {name} {_shown(row[name])} is not {EXPECTED[name]}"
    for name, low in (("score", -MOST_NUMBER), ("wall_seconds", 0)):
        if type(row[name]) not in (int, float) or not low <= row[name] <= MOST_NUMBER:
            return f"{where}: its {name} {_shown(row[name])} is not {EXPECTED[name]}"
        row[name] = float(row[name])
    return "" if row["end"] in ("terminated", "truncated") else f"{where}: its end is not {EXPECTED['truncated']}"


def _shown(value: object) -> str:
    return "a blob" if isinstance(value, bytes) else one_line(repr(value[:40] if isinstance(value, str) else value), 40)


def _wrong_actions(row: Mapping[str, Any], document: manifest.Document | None) -> str:
    """Tell what is wrong with an episode's actions; runs that were imported have none."""
    if document is not None and "imported" in document:
        return ""
    try:
        found = len(decode_actions(row["actions"], min(row["steps"], MOST_STEPS)))
    except ValueError as error:
        told = f"are damaged ({error})"
    else:
        if found == row["steps"]:
            return ""
        told = f"are {found:,}, and its steps {row['steps']:,}"
    return f"{row['phase']} episode {row['episode']} of trial {one_line(row['trial'], 100)}: its actions {told}"


def _make_consistent(database: sqlite3.Connection, found: Contents, protocol: Protocol) -> None:
    """Leave out training of which a part is lost, and let notes tell of no more than there is."""
    of_none = "NOT IN (SELECT id FROM trial)"
    for table in ("checkpoint", "unfinished", "evaluation"):
        database.execute(f"DELETE FROM {table} WHERE trial {of_none}")
    there = dict(database.execute("SELECT trial, episodes FROM checkpoint"))
    for trial, learns in database.execute("SELECT id, learns FROM trial").fetchall():
        numbers, noted = found.numbers[trial, "training"], scored_phase(protocol, bool(learns))
        if (numbers or there.get(trial)) and not _are_first(numbers, there.get(trial, 0)):
            database.execute("DELETE FROM checkpoint WHERE trial = ?", (trial,))
            database.execute("DELETE FROM episode WHERE trial = ? AND phase = 'training'", (trial,))
            found.problems.append(
                f"trial {one_line(trial, 100)}: its checkpoint or an episode behind it is lost, so that its training "
                f"begins again ({len(numbers):,} intact episodes of training left out)"
            )
            if noted == "training":
                database.execute("DELETE FROM evaluation WHERE trial = ?", (trial,))
        if noted == "training":
            continue
        left = len(found.numbers[trial, "evaluation"])
        notes = database.execute(
            "SELECT command, episodes FROM evaluation WHERE trial = ? ORDER BY command", (trial,)
        ).fetchall()
        for place, (command, episodes) in enumerate(notes):
            kept = left if place == len(notes) - 1 else min(left, episodes)
            left -= kept
            database.execute(
                "UPDATE evaluation SET episodes = ? WHERE trial = ? AND command = ?", (kept, trial, command)
            )
    database.execute(
        "DELETE FROM unfinished WHERE EXISTS (SELECT 1 FROM episode WHERE episode.trial = unfinished.trial"
        " AND phase = 'evaluation' AND episode.episode = unfinished.episode)"
    )


def _are_first(numbers: Collection[int], count: int) -> bool:
    return len(numbers) == count and max(numbers, default=-1) == count - 1


def _tell_lost(found: Contents, asked: Mapping[str, int], small: sqlite3.Connection, protocol: Protocol | None) -> None:
    """Tell which episodes are lost, as far as others and notes tell; a learner's may be of its training."""
    noted = dict(small.execute("SELECT trial, sum(episodes) FROM evaluation GROUP BY trial"))
    trained = dict(small.execute("SELECT trial, max(episodes) FROM checkpoint GROUP BY trial"))
    learners = {trial for (trial,) in small.execute("SELECT id FROM trial WHERE learns")} | trained.keys()
    lost = []
    for trial in asked:
        learns = trial in learners or bool(found.numbers[trial, "training"])
        if learns and (protocol is None or scored_phase(protocol, learns) == "training"):
            noted.pop(trial, None)
        for phase, least in (("training", trained.get(trial, 0)), ("evaluation", noted.get(trial, 0))):
            numbers = found.numbers[trial, phase]
            expected = max(least, max(numbers, default=-1) + 1)
            gaps = ((low + 1, high - 1) for low, high in pairwise([-1, *sorted(numbers), expected]) if high - low > 1)
            if told := _ranges(gaps):
                lost.append(f"trial {one_line(trial, 100)}: {phase} episodes lost: {', '.join(told)}")
    found.problems += _some(lost, "trials of which episodes are lost")


def _networks(directory: Path, database: sqlite3.Connection) -> Iterator[str]:
    """Yield which files of trained networks are not what the run holds."""
    for trial, episodes, frames, data in database.execute(
        "SELECT trial, episodes, frames, data FROM checkpoint WHERE finished"
    ):
        path = networks.path_of(directory, trial)
        if path.is_file():
            kept = networks.opened(Checkpoint(episodes, frames, True, data), trial)[1]
            if path.stat().st_size != len(kept) or path.read_bytes() != kept:
                yield f"{path}: is not the network that the run holds of trial {one_line(trial, 100)}"


# Files and pages


@contextlib.contextmanager
def _settled(directory: Path, found: Contents) -> Iterator[Path]:
    """Yield the database's file, or a copy into which SQLite has put what lay in its journals."""
    path = directory / DATABASE
    with clear_errors(directory), contextlib.ExitStack() as stack:
        check_files(path, follow=True)
        beside = [name for end in ("-wal", "-journal") if (name := path.with_name(DATABASE + end)).is_file()]
        if not path.is_file():
            raise ArcadeMarkError(f"{directory}: {DATABASE} is missing; restore it from a copy")
        if any(name.stat().st_size for name in beside):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            for name in (path, *beside):
                shutil.copyfile(name, folder / name.name)
            try:
                with contextlib.closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as copy:
                    guard(copy, path)
                    copy.execute("SELECT 1 FROM sqlite_master").fetchone()
                    copy.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                path = folder / DATABASE
            except sqlite3.Error as error:
                found.problems.append(f"what was recorded last, in {beside[0].name}, is lost ({one_line(str(error))})")
        yield path


def _orders(directory: Path, path: Path) -> dict[str, list[list[str]]]:
    """Return the orders that the columns of each table may have: the database's, or all known if it does not tell."""
    found: dict[str, list[str]] = {}
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    broken = contextlib.suppress(sqlite3.Error, UnicodeError)
    with broken, contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
        guard(database, path)
        if database.execute("PRAGMA user_version").fetchone()[0] > SCHEMA_VERSION:
            check_version(directory, database)
        for table in _TABLES:
            found[table] = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    with contextlib.closing(sqlite3.connect(":memory:")) as laid_out:
        laid_out.executescript(SCHEMA)
        known = {table: [row[1] for row in laid_out.execute(f"PRAGMA table_info({table})")] for table in _TABLES}
    orders: dict[str, list[list[str]]] = {}
    for table, columns in known.items():
        there = found.get(table, [])
        later = [name for name in columns if name not in there]  # are at the end once they were added
        if there and {*later} <= {*_DEFAULTS} and {*there} <= {*columns}:
            orders[table] = [[*there, *later]]
            continue
        orders[table] = []
        for version in range(SCHEMA_VERSION, 0, -1):  # in which it began
            added = {name: max(0, SINCE.get((table, name), 1) - version) for name in columns}
            if (order := sorted(columns, key=added.__getitem__)) not in orders[table]:
                orders[table].append(order)
    return orders


def _fitting(values: Sequence[Any], orders: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Return values by the names of a table's columns, in each order in which they are so many."""
    return [
        dict(zip(order, values, strict=False)) | {name: _DEFAULTS[name] for name in order[len(values) :]}
        for order in orders
        if len(values) <= len(order) and {*order[len(values) :]} <= _DEFAULTS.keys()
    ]


def _plausible(table: str, row: Mapping[str, Any]) -> bool:
    """Whether a row may be of a table, by what no other has; its rules tell more."""
    if table == "trial":
        return isinstance(row["id"], str) and isinstance(row["position"], int) and isinstance(row["game"], str)
    return isinstance(row["trial"], str) and isinstance(row["episodes" if "episodes" in row else "episode"], int)


def _records(path: Path, found: Contents) -> Iterator[list[Any]]:
    """Yield the values of every row of any table on a page that can be read."""
    with path.open("rb") as file:
        start, length = file.read(100).ljust(100, b"\0"), os.fstat(file.fileno()).st_size
        size = int.from_bytes(start[16:18], "big")
        size = 65536 if size == 1 else size
        if start[:16] != b"SQLite format 3\0" or size < 512 or size & (size - 1):
            size = _PAGE_BYTES
            found.problems.append(f"{DATABASE}: its first page is damaged")
        elif (told := int.from_bytes(start[28:32], "big")) > length // size:
            found.problems.append(f"{DATABASE}: it ends after page {length // size:,} of {told:,}")
        usable, count = size - start[20] if start[20] <= 32 else size, length // size
        unread, followed = [], 0

        def page(number: int) -> bytes:
            if not 1 <= number <= count:
                raise ValueError("no such page")
            return os.pread(file.fileno(), size, (number - 1) * size)

        def overflow(number: int) -> bytes:
            nonlocal followed
            followed += 1
            if followed > _MOST_AGAIN * count:
                raise ValueError("other rows have it, too")
            return page(number)

        free = _free(page, start, count)
        for number in range(1, count + 1):
            if number in free:
                continue
            try:
                content = page(number)
            except OSError:
                unread.append(number)
                continue
            offset = 100 if number == 1 else 0
            if content[offset] == _LEAF:
                yield from _rows(content, offset, usable, overflow)
        if unread:
            pages = ", ".join(_ranges((number, number) for number in unread))
            found.problems.append(f"{DATABASE}: the disk does not give pages {pages}")
        if followed > _MOST_AGAIN * count:
            found.problems.append(f"{DATABASE}: many rows go on in the same pages; those read last are left out")


def _free(page: Any, start: bytes, count: int) -> set[int]:
    """Return the pages that are not in use, and may hold rows that were deleted."""
    free: set[int] = set()
    trunk = int.from_bytes(start[32:36], "big")
    with contextlib.suppress(ValueError, OSError):
        while trunk and trunk not in free:
            content = page(trunk)
            number = int.from_bytes(content[4:8], "big")
            if 8 + 4 * number > len(content):
                break
            listed = {int.from_bytes(content[at : at + 4], "big") for at in range(8, 8 + 4 * number, 4)}
            if not all(1 <= one <= count for one in listed):
                break
            free |= {trunk, *listed}
            trunk = int.from_bytes(content[:4], "big")
    return free


def _rows(content: bytes, offset: int, usable: int, page: Any) -> Iterator[list[Any]]:
    """Yield the rows of a page, those that make sense."""
    taken = 0
    cells = int.from_bytes(content[offset + 3 : offset + 5], "big")
    for cell in range(min(cells, (usable - offset - 8) // 2)):
        place = offset + 8 + 2 * cell
        with contextlib.suppress(ValueError, IndexError, OSError):
            at = int.from_bytes(content[place : place + 2], "big")
            length, at = _varint(content, at)
            _, at = _varint(content, at)
            local = _local(length, usable)
            if at + local > usable or length > _MOST_PAYLOAD:
                continue
            if (taken := taken + local) > _MOST_AGAIN * usable:
                return
            yield _values(_payload(content[at : at + local + 4], local, length, usable, page))


def _local(length: int, usable: int) -> int:
    """Return how many bytes of a row lie on its own page."""
    if length <= usable - 35:
        return length
    least = (usable - 12) * 32 // 255 - 23
    local = least + (length - least) % (usable - 4)
    return least if local > usable - 35 else local


def _payload(start: bytes, local: int, length: int, usable: int, page: Any) -> bytes:
    parts, left, seen = [start[:local]], length - local, set[int]()
    following = int.from_bytes(start[local:], "big") if left else 0
    while left > 0:
        if following in seen:
            raise ValueError("it goes in a circle")
        seen.add(following)
        more = page(following)
        parts.append(more[4 : 4 + min(left, usable - 4)])
        left -= usable - 4
        following = int.from_bytes(more[:4], "big")
    if following:
        raise ValueError("it goes on where it should end")
    return b"".join(parts)


def _values(data: bytes) -> list[Any]:
    header, at = _varint(data, 0)
    body, found = header, []
    if header > min(len(data), _MOST_HEADER):
        raise ValueError("its header is longer than itself, or than that of any table")
    while at < header:
        kind, at = _varint(data, at)
        size = (kind - 12) // 2 if kind >= 12 else _SIZES[kind]
        value = data[body : body + size]
        if len(value) < size:
            raise ValueError("it is cut off")
        body += size
        found.append(_value(kind, value))
    if body != len(data):
        raise ValueError("it holds more than its header tells")
    return found


def _value(kind: int, data: bytes) -> Any:
    if kind == 0:
        return None
    if kind >= 12:
        return data.decode() if kind % 2 else data
    if kind == 7:
        return struct.unpack(">d", data)[0]
    return kind - 8 if kind > 7 else int.from_bytes(data, "big", signed=True)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 127
        if byte < 128:
            return value, at + place + 1
    return value << 8 | data[at + 8], at + 9


def _ranges(spans: Iterable[tuple[int, int]]) -> list[str]:
    """Write ascending numbers, each with the last that follows on it, as "3", "7-9"; at most some."""
    found: list[list[int]] = []
    for first, last in spans:
        if found and found[-1][1] == first - 1:
            found[-1][1] = last
        else:
            found.append([first, last])
    told = [f"{first:,}" if first == last else f"{first:,}-{last:,}" for first, last in found[:_MOST_NAMED]]
    return told + (["…"] if len(found) > _MOST_NAMED else [])


def _some(lines: Sequence[str], what: str) -> list[str]:
    more = len(lines) - _MOST_NAMED
    return [*lines[:_MOST_NAMED], *([f"and {more:,} more {what}"] if more > 0 else [])]
