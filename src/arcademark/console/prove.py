"""How far the console is proven: sections played, in one process or several, their record, and the proven list.

::

    sections(game, rom, frames) ─→ Section records, a line each ─→ proven_list() ─→ data/proven.csv ─→ proven()

What a section compares is in ``comparison.py``. Sections are independent of each other: each begins at power-on, its
number the seed of all that is random.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from dataclasses import dataclass
from importlib.resources import files
from itertools import count, starmap
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar, TypeVar

import ale_py

from arcademark.console import games
from arcademark.console.build import core, version
from arcademark.console.comparison import Comparison, Section, core_name, rules_checksum
from arcademark.errors import ArcadeMarkError
from arcademark.files import parse_json
from arcademark.files import read_text as read_file
from arcademark.suite.tables import read_text

Result = TypeVar("Result")

SECTION_FRAMES = 25_000
"""A power-on takes as long as some 1,500 frames."""


def sections(
    game: str, rom: Path, frames: int, done: Sequence[Section] = (), *, translated: bool = False
) -> Iterator[Section]:
    """Compare console and referee until so many frames of a game are compared, `done` among them.

    Parameters
    ----------
    game : str
        Its id.
    rom : Path
        Its cartridge.
    frames : int
        To be compared in all.
    done : sequence of Section
        Compared on an earlier day.
    translated : bool
        Whether the cartridge's translation is compared with the interpreter, rather than the interpreter with ale-py.

    Yields
    ------
    Section
        Each as it ends, up to the first in which something differs.

    Raises
    ------
    arcademark.console.build.NoCore
        If there is no core.
    """
    task = Task(game, rom, frames, list(done))
    for section in sections_of([task], translated=translated):
        task.played.append(section)
        yield section


@dataclass(frozen=True)
class Task:
    """A game's proof in progress.

    Parameters
    ----------
    game : str
        Its id.
    rom : Path
        Its cartridge.
    frames : int
        To be compared in all.
    played : list of Section
        Compared so far; whoever takes sections adds them.
    """

    game: str
    rom: Path
    frames: int
    played: list[Section]

    @property
    def difference(self) -> str:
        """What differed first, "" if nothing did."""
        return next((section.difference for section in self.played if section.difference), "")

    def missing(self) -> Iterator[tuple[int, int, bool]]:
        """Yield number, frames, and whether all are drawn, of sections to be played, until something differs."""
        taken, left = {section.number for section in self.played}, self.frames - sum(s.frames for s in self.played)
        for number in count():
            if left <= 0 or self.difference:
                return
            if number not in taken:
                yield number, min(SECTION_FRAMES, left), any(section.cut for section in self.played)
                left -= SECTION_FRAMES


def sections_of(tasks: Iterable[Task], *, workers: int = 1, translated: bool = False) -> Iterator[Section]:
    """Play what is missing of several games, in this process or in so many others; errors as in `sections`."""
    core()  # compiled before others ask for it
    arguments = ((task.game, task.rom, *section, translated) for task in tasks for section in task.missing())
    yield from in_processes(play_section, arguments, workers)


def in_processes(work: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], workers: int) -> Iterator[Result]:
    """Do work in so many processes, in this one if it is one; yield each result as it comes."""
    if workers == 1:
        yield from starmap(work, arguments)
        return
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_end_with_the_parent)
    try:
        running: set[Future[Result]] = set()
        for each in arguments:
            running.add(pool.submit(work, *each))
            if len(running) > workers:
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in ended)
        yield from (future.result() for future in as_completed(running))
    finally:
        pool.shutdown(cancel_futures=True)


def play_section(game: str, rom: Path, number: int, frames: int, all_drawn: bool, translated: bool) -> Section:
    """Play a section; again with all frames drawn where a picture differs that one not drawn has left its mark on."""
    section = Comparison(game, rom, number, all_drawn, translated).run(frames)
    if section.difference and section.cut and not all_drawn:
        section = Comparison(game, rom, number, True, translated).run(frames)
    return section


def _end_with_the_parent() -> None:
    """End this process when the one that started it is gone, however it went."""

    def end() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=end, daemon=True).start()


# ---- records and the proven list


def read_sections(path: Path, *, translated: bool = False) -> list[Section]:
    """Return the sections of a record that are of this core, ale-py and rules; lines cut short are left out.

    Raises
    ------
    ArcadeMarkError
        If the file cannot be read, or is no record.
    """
    if not path.exists():
        return []
    sections, lines = [], read_file(path).splitlines()
    for line in lines:
        try:
            fields = parse_json(line, path)
            pairs = tuple((int(mode), int(difficulty)) for mode, difficulty in fields["settings"])
            sections.append(Section(**{**fields, "settings": pairs}))
        except (ArcadeMarkError, TypeError, ValueError, KeyError):
            continue
    if lines and not sections:
        raise ArcadeMarkError(f"{path}: is no record of a proof; choose another --out")
    return [section for section in sections if current(section, translated=translated)]


def current(section: Section, *, translated: bool = False) -> bool:
    """Whether a section was played by this core, under these rules, against this ale-py."""
    known = section.game in games.names() and section.rules == rules_checksum(section.game)
    return known and (section.core, section.ale_py) == (core_name(translated), ale_py.__version__)


def line_of(section: Section) -> str:
    """Return a section as a line of a record."""
    return json.dumps(dataclasses.asdict(section)) + "\n"


LIST = "proven.csv"
COLUMNS = ("game", "rules", "core", "ale_py", "frames", "screens", "settings", "resets", "restores", "cut")


def proven_list(sections: Iterable[Section]) -> list[dict[str, Any]]:
    """Return a row for each game of which all sections are without difference."""
    by_game: dict[str, list[Section]] = {}
    for section in sections:
        by_game.setdefault(section.game, []).append(section)
    rows = []
    for _, parts in sorted(by_game.items()):
        if any(part.difference for part in parts):
            continue
        sums = {name: sum(getattr(part, name) for part in parts) for name in COLUMNS[4:] if name != "settings"}
        tried = len({setting for part in parts for setting in part.settings})
        first = {name: getattr(parts[0], name) for name in COLUMNS[:4]}
        rows.append({**first, **sums, "settings": tried})
    return rows


def list_text(sections: Iterable[Section]) -> str:
    """Return the proven list of a record, as CSV."""
    rows = io.StringIO()
    writer = csv.DictWriter(rows, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(proven_list(sections))
    return rows.getvalue()


@dataclass(frozen=True)
class Here:
    """Whether the console of our own is here.

    core: Its version.
    missing: Why it cannot be used here; None where it can.
    proven: Ids of the games for which it is proven.
    """

    SCHEMA: ClassVar[str] = "arcademark.console/1"

    core: str
    missing: str | None
    proven: tuple[str, ...]


@functools.cache
def proven() -> dict[str, dict[str, str]]:
    """Return the proven list's row of each game for which this core, these rules and this ale-py were proven."""
    rows = csv.DictReader(io.StringIO(read_text(LIST, files("arcademark.console") / "data")))
    return {
        row["game"]: row
        for row in rows
        if (row["core"], row["ale_py"]) == (version(), ale_py.__version__)
        and row["rules"] == rules_checksum(row["game"])
    }
