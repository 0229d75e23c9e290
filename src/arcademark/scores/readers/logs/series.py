"""Reads named series of values from CSV: logs of one run, and what W&B exports of several.

Conventions
-----------
* *Metrics CSV*: one row per log entry and one column per series, as Stable-Baselines3 and RLlib (``progress.csv``), DQN
  Zoo (``results.csv``) and W&B's run history have it. Cells in which a series has no value are empty.
* *W&B export*: a first column of steps and, for each run, ``NAME - SERIES``, often followed by ``…__MIN`` and
  ``…__MAX``. The run's name is read as CleanRL writes it, ``game__algorithm__seed__time``, or by the caller's pattern.
* A series holds episodes (``charts/episodic_return``) or averages (``rollout/ep_rew_mean``). One that is not known
  counts as averages if its name says so, else as episodes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from arcademark.scores.readers.base import OPTION, Log, Options, Unit, UnrecognisedError, listed
from arcademark.scores.readers.sheets.sheet import Sheet
from arcademark.scores.readers.words.column_names import role_of
from arcademark.scores.readers.words.log_names import LOGS

KNOWN: Mapping[str, Unit] = LOGS["series"]
"""Known series in their order of preference, and the unit of their values."""

_SUMMARY = re.compile(r"mean|avg|average|median|max|min|smooth", re.IGNORECASE)
_STEPS, _PFRL, _DOWNLOADED = (tuple(LOGS[name]) for name in ("steps", "pfrl", "downloaded"))
_FILE = re.compile(r"(?:run-(.*)-)?tag-(.*)")
"""Names of the files that TensorBoard downloads."""
_TWIN = re.compile(r"__(MIN|MAX)$")


def unit_of(tag: str) -> Unit:
    """Return the unit of one value of a series."""
    return KNOWN.get(tag) or ("average" if _SUMMARY.search(tag) else "episode")


def choose_tag(place: str, tags: Sequence[str], options: Options) -> tuple[str, tuple[str, ...]]:
    """Choose one of the series that a log has, and say so."""
    known, there = [tag for tag in KNOWN if tag in tags], listed(tags, 12) or "none"
    if options.tag is not None and options.tag not in tags:
        raise UnrecognisedError(f"{place}: there is no series {options.tag!r}; it has {there}")
    if options.tag is None and not known:
        raise UnrecognisedError(
            f"{place}: no series that is known to be scores (tools log them when an episode has ended), such as "
            f"{listed(list(KNOWN))}; it has {there}: name one with {OPTION['tag']}"
        )
    chosen = options.tag or known[0]
    others = [tag for tag in known if tag != chosen]
    return chosen, (_taken(chosen) + (f"; {listed(others)} is there too: {OPTION['tag']} takes it" if others else ""),)


def _taken(tag: str, unit: Unit | None = None) -> str:
    what = "one episode's score per value" if (unit or unit_of(tag)) == "episode" else "averages over episodes"
    return f"scores are the series {tag}, taken as {what}"


def is_metrics(sheet: Sheet) -> bool:
    """Return whether a table is a log of one run with a known series."""
    return any(name in KNOWN for name in sheet.header) or sheet.lowered == _DOWNLOADED or _is_pfrl(sheet)


def _is_pfrl(sheet: Sheet) -> bool:
    return set(sheet.header) >= {*_PFRL}


def read_metrics(sheet: Sheet, options: Options) -> list[Log]:
    """Read a log of one run."""
    if sheet.lowered == _DOWNLOADED:
        return [_read_downloaded(sheet, options)]
    if options.tag is None and _is_pfrl(sheet):
        options = replace(options, tag="mean")
    tag, notes = choose_tag(str(sheet.path), [name for name in sheet.header if name], options)
    column, steps = sheet.header.index(tag), sheet.find(_STEPS)
    sheet = sheet.among([column], [steps])
    values = sheet.scores(column)
    clock = None if steps is None or sheet.lowered[steps] == "iteration" else sheet.scores(steps)
    order = np.arange(sheet.size) if steps is None else np.argsort(sheet.scores(steps), kind="stable")
    order = order[~np.isnan(values[order])]
    clock = None if clock is None or np.isnan(clock[order]).any() else clock[order]
    return [Log(sheet.path, values[order], unit_of(tag), notes=(*notes, *sheet.notes), steps=clock, series=tag)]


def _read_downloaded(sheet: Sheet, options: Options) -> Log:
    """Read one series as TensorBoard downloads it; the file's name has those of the run and the series."""
    named = _FILE.fullmatch(sheet.path.name.split(".csv")[0])
    run, tag = (named[1] or "", named[2]) if named else ("", "")
    if tag and tag != options.tag and not _is_of_scores(tag):
        raise UnrecognisedError(
            f"{sheet.path}: the series {tag}, as its name says, is not known to be scores; leave it out, or say that "
            f"it is with {OPTION['tag']}"
        )
    sheet = sheet.among([2], [1])
    steps, values = sheet.scores(1), sheet.scores(2)
    order = np.argsort(steps, kind="stable")
    order = order[~np.isnan(values[order]) & ~np.isnan(steps[order])]
    unit: Unit = unit_of(tag) if tag else "average"
    notes = (_taken(tag or "in the file, whose name does not say which", unit), *sheet.notes)
    return Log(sheet.path, values[order], unit, label=run, notes=notes, steps=steps[order], series=tag)


def _is_of_scores(tag: str) -> bool:
    """Return whether a series is known, or what its name ends with is a score's: "charts_episodic_return"."""
    parts = tag.split("_")
    return tag in KNOWN or any(role_of("_".join(parts[at:])) == "score" for at in range(len(parts)))


def is_wandb(sheet: Sheet) -> bool:
    """Return whether a table is W&B's export of several runs."""
    runs = [name for name in sheet.header[1:] if " - " in name]
    labels = ("algorithm", "task", "game")
    return len(runs) == len(sheet.header) - 1 > 0 and sheet.lowered[0] not in labels


def read_wandb(sheet: Sheet, options: Options) -> list[Log]:
    """Read W&B's export."""
    columns = {column: name.rpartition(" - ") for column, name in enumerate(sheet.header) if " - " in name}
    twins = {name: column for column, name in enumerate(sheet.header) if _TWIN.search(name)}
    series = list(dict.fromkeys(tag for _, _, tag in columns.values() if not _TWIN.search(tag)))
    only = len(series) == 1 and options.tag is None and _is_of_scores(series[0])
    tag, notes = (series[0], (_taken(series[0]),)) if only else choose_tag(str(sheet.path), series, options)
    runs = {column: run for column, (run, _, name) in columns.items() if name == tag}
    sheet = sheet.among(list(runs))
    logs = []
    for column, run in runs.items():
        values, said = sheet.scores(column), (*notes, *sheet.notes)
        if _bucketed(sheet, twins, column):
            said += ("some values stand for several logged ones (their __MIN and __MAX differ): W&B thinned them",)
        logs.append(Log(sheet.path, values[~np.isnan(values)], unit_of(tag), label=run, notes=said))
    return logs


def _bucketed(sheet: Sheet, twins: Mapping[str, int], column: int) -> bool:
    name = sheet.header[column]
    low, high = twins.get(f"{name}__MIN"), twins.get(f"{name}__MAX")
    return low is not None and high is not None and bool((sheet.scores(low) < sheet.scores(high)).any())
