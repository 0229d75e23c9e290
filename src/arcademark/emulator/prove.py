"""Comparison of the emulator with ale-py: sections played in one or more processes, and the list of proven games.

::

    sections(roms, frames) ─→ ProofSection ─→ list_text() ─→ data/proven.csv ─→ proven()

See ``comparison.py`` for a section. Sections are independent of each other: each begins at power-on, and its number is
the seed of all randomness.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.resources import files
from itertools import starmap
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar, TypeVar

import ale_py

from arcademark.emulator import games
from arcademark.emulator.build import core, version
from arcademark.emulator.comparison import ProofSection, SectionComparison
from arcademark.grouping import grouped
from arcademark.suite.tables import read_rows

Result = TypeVar("Result")

_SAFE_PATH = "PYTHONSAFEPATH"

SECTION_FRAMES = 25_000
"""A power-on takes as long as about 1,500 frames."""


def sections(
    roms: Mapping[str, Path], frames: int, *, workers: int = 1, translated: bool = False
) -> Iterator[ProofSection]:
    """Compare our emulator with ale-py in each game, in this process or in others.

    Parameters
    ----------
    roms : mapping of str to Path
        Each game's cartridge.
    frames : int
        Number of frames of each game.
    workers : int
        Number of processes; 1 is this process.
    translated : bool
        Compare the cartridges' translations, too, beside the interpreter.

    Yields
    ------
    ProofSection
        Each section, in the order in which they end.

    Raises
    ------
    arcademark.emulator.build.NoCore
        If there is no core.
    """
    core()  # compile it before other processes need it
    arguments = (
        (game, rom, number, min(SECTION_FRAMES, frames - first), translated)
        for game, rom in roms.items()
        for number, first in enumerate(range(0, frames, SECTION_FRAMES))
    )
    yield from in_processes(play_section, arguments, workers)


def in_processes(work: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], workers: int) -> Iterator[Result]:
    """Call `work` in so many processes, or in this one for 1; yield each result when it is ready."""
    if workers == 1:
        yield from starmap(work, arguments)
        return
    safe = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"  # processes import nothing from the current folder when they start
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_end_with_the_parent)
    try:
        futures = [pool.submit(work, *each) for each in arguments]
        yield from (future.result() for future in as_completed(futures))
    finally:
        pool.shutdown(cancel_futures=True)
        os.environ.pop(_SAFE_PATH)
        os.environ.update({_SAFE_PATH: safe} if safe else {})


def play_section(game: str, rom: Path, number: int, frames: int, translated: bool) -> ProofSection:
    """Play a section; if it differs and some frames were cut short, play it again with all frames drawn."""
    section = SectionComparison(game, rom, number, translated=translated).run(frames)
    if section.difference and section.cut:
        section = SectionComparison(game, rom, number, all_drawn=True, translated=translated).run(frames)
    return section


def _end_with_the_parent() -> None:
    """End this process when the one that started it ends in any way."""

    def end() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=end, daemon=True).start()


# ---- the proven list

LIST = "proven.csv"
COLUMNS = ("game", "rules", "core", "ale_py", "frames", "screens", "settings", "resets", "restores", "cut")


def _rows() -> tuple[dict[str, str], ...]:
    return read_rows(LIST, files("arcademark.emulator") / "data")


@functools.cache
def rules_checksum(game: str) -> str:
    """Return a checksum of a game's facts, 16 hexadecimal digits."""
    text = json.dumps(games.game(game).facts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def list_text(sections: Iterable[ProofSection]) -> str:
    """Return the proven list as CSV: a row for each game whose sections all have no difference.

    Some games cut one frame in a million, and are then played differently: the largest count of all proofs is kept.
    """
    cut_before = {row["game"]: int(row["cut"]) for row in _rows()}
    by_game = grouped((section.game, section) for section in sections)
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    writer.writerow(COLUMNS)
    for game, parts in sorted(by_game.items()):
        if not any(part.difference for part in parts):
            sums = {name: sum(getattr(part, name) for part in parts) for name in COLUMNS[4:] if name != "settings"}
            sums["cut"] = max(sums["cut"], cut_before.get(game, 0))
            sums["settings"] = len({setting for part in parts for setting in part.settings})
            identity = game, rules_checksum(game), version(), ale_py.__version__
            writer.writerow([*identity, *(sums[name] for name in COLUMNS[4:])])
    return rows.getvalue()


@dataclass(frozen=True)
class Here:
    """Availability of our emulator.

    core: The core's version.
    missing: Reason why it cannot be used here; None if it can.
    untranslated: Reason why it cannot translate cartridges, and is slower; None if it can, or cannot be used.
    proven: Ids of the games for which it is proven.
    """

    SCHEMA: ClassVar[str] = "arcademark.emulator/1"

    core: str
    missing: str | None
    untranslated: str | None
    proven: tuple[str, ...]


@functools.cache
def proven() -> dict[str, dict[str, str]]:
    """Return the rows, by game, of the proven list for this core, these rules and this version of ale-py."""
    return {
        row["game"]: row
        for row in _rows()
        if (row["core"], row["ale_py"]) == (version(), ale_py.__version__)
        and row["rules"] == rules_checksum(row["game"])
    }
