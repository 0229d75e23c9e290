"""Export of runs' episodes to a Parquet file, one row per episode, a block of rows at a time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.files import write_output
from arcademark.importing import needing
from arcademark.records.model import MAX_STEPS, decode_actions
from arcademark.records.reading import open_run, read_trials
from arcademark.records.rows import Columns, read_blocks

AT_ONCE = 100_000  # episodes
WITH_ACTIONS = 2_000  # episodes, and
MAX_ACTIONS = 2**26  # actions of them at once
_TEXTS = ("run", "protocol", "trial", "agent", "game", "phase", "end")
_NUMBERS = ("seed", "episode", "score", "frames", "steps", "simulated_frames", "wall_seconds")


def export(
    directories: Sequence[str | os.PathLike[str]], target: str | os.PathLike[str], *, actions: bool = False
) -> int:
    """Write the episodes of runs, in the order in which they were recorded; return how many.

    Columns: run, protocol, trial, agent, game, phase, end, as dictionaries; seed, episode, score in points, frames,
    steps, simulated_frames, wall_seconds; with `actions` these too, as binary: one byte per action, or two (little
    endian) in episodes with actions above 255. `arcademark.runs.store.salvage.check` finds missing episodes.

    Raises
    ------
    ArcadeMarkError
        If pyarrow is missing, the file exists or cannot be written, or a run is damaged.
    """
    place = Path(target)
    if place.suffix != ".parquet":
        raise ArcadeMarkError(f"{place}: expected a file named *.parquet")
    if os.path.lexists(place):
        raise ArcadeMarkError(f"{place}: already exists; name another file with --out")
    with needing(f"{place}: writing Parquet needs pyarrow", "readers"):
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    written = 0

    def save(draft: Path) -> None:
        nonlocal written
        text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        whole = ((name, pyarrow.int64()) for name in _NUMBERS)
        kinds = dict.fromkeys(_TEXTS, text) | dict(whole)
        kinds |= {"score": pyarrow.float64(), "wall_seconds": pyarrow.float64()}
        kinds |= {"actions": pyarrow.binary()} if actions else {}
        with ParquetWriter(draft, pyarrow.schema(list(kinds.items()))) as writer:
            for directory in map(Path, directories):
                for columns in _blocks(directory, actions=actions):
                    arrays = [
                        pyarrow.DictionaryArray.from_arrays(pyarrow.array(values[0]), pyarrow.array(values[1]))
                        if name in _TEXTS
                        else pyarrow.array(values, kind)
                        for name, kind in kinds.items()
                        for values in (columns[name],)
                    ]
                    table = pyarrow.Table.from_arrays(arrays, schema=writer.schema)
                    writer.write_table(table)
                    written += table.num_rows

    write_output(place, save)
    return written


def _blocks(directory: Path, *, actions: bool) -> Iterator[dict[str, Any]]:
    """Yield columns: numbers, and texts as indices into a list, with the list."""
    with open_run(directory) as (database, document, protocol):
        recorded = read_trials(directory, database, document, protocol)
        trials = [trial.id for trial in recorded]
        seeds = np.array([trial.seed for trial in recorded], np.int64)
        texts = {"trial": _places(trials)} | {
            name: _places([getattr(trial, name) for trial in recorded]) for name in ("agent", "game")
        }
        database.set_progress_handler(None, 0)  # its pages are sound
        for columns, blobs in _parts(directory, database, trials, actions=actions):
            trial = columns.pop("trial")
            none = np.zeros(trial.size, np.int32)
            yield columns | {
                "run": (none, [str(directory)]),
                "protocol": (none, [protocol.label]),
                "phase": (columns["training"].astype(np.int32), ["evaluation", "training"]),
                "end": (columns["truncated"].astype(np.int32), ["terminated", "truncated"]),
                "seed": seeds[trial],
                "actions": [_decoded(directory, *pair) for pair in zip(blobs, columns["steps"].tolist(), strict=False)],
                **{name: (places[trial], list(known)) for name, (places, known) in texts.items()},
            }


def _parts(
    directory: Path, database: sqlite3.Connection, trials: Sequence[str], *, actions: bool
) -> Iterator[tuple[Columns, list[bytes]]]:
    """Yield blocks of episodes, small enough for memory with their actions."""
    if not actions:
        yield from ((columns, []) for columns, _ in read_blocks(directory, database, trials, AT_ONCE, actions=False))
        return
    for columns, blobs in read_blocks(directory, database, trials, WITH_ACTIONS, actions=True):
        spent = np.cumsum(np.minimum(columns["steps"], MAX_STEPS)) // MAX_ACTIONS
        for rows in np.split(np.arange(spent.size), np.flatnonzero(np.diff(spent)) + 1):
            yield {name: values[rows] for name, values in columns.items()}, blobs[rows[0] : rows[-1] + 1]


def _places(texts: Sequence[str]) -> tuple[np.ndarray[Any, np.dtype[np.int32]], dict[str, int]]:
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return np.array([places[text] for text in texts], np.int32), places


def _decoded(directory: Path, blob: bytes, steps: int) -> bytes:
    try:
        actions = decode_actions(blob, min(steps, MAX_STEPS))
        return (actions if actions.ndim > 1 else actions.astype(f"<u{blob[0]}")).tobytes()
    except ValueError as error:
        raise ArcadeMarkError(
            f"{directory}: recorded actions are damaged ({error}); 'arcademark runs check {directory}' lists them"
        ) from None
