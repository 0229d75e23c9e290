"""Reads which columns of values are runs, or the points of learning curves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from arcademark.scores.readers.base import listed
from arcademark.scores.readers.tables.interpretation import Value
from arcademark.scores.readers.words import numerals
from arcademark.scores.readers.words.column_names import (
    FEWEST_POINTS,
    PATTERNS,
    are_counted,
    asked,
    lone_run,
    may_be_lengths,
    numbered,
    run_of,
)
from arcademark.wording import plural

ValuesAndNotes = tuple[tuple[Value, ...], tuple[str, ...]]
_NONE: ValuesAndNotes = (), ()


class ColumnRuns:
    """Runs among columns of values: the table's `place`, its algorithm if known, and the caller's roles.

    `given` are the columns whose role the caller gives, `said_runs` those that are runs by it.
    """

    def __init__(self, place: str, algorithm: str | None, given: Collection[int], said_runs: Collection[int]) -> None:
        self.place, self.algorithm = place, algorithm
        self.given, self.said_runs = frozenset(given), frozenset(said_runs)

    def of_rows(self, values: Sequence[Value]) -> ValuesAndNotes:
        """Return columns that are all runs, ``seed 0, seed 1``, of the algorithm that a row names; else none."""
        names = [value.name for value in values]
        runs = [run for name in names if (run := lone_run(name)) is not None]
        if not 1 < len(runs) == len(names) or all(map(PATTERNS["parts"].fullmatch, names)):
            return _NONE
        self._refuse_lengths(names)
        return tuple(replace(value, run=run) for value, run in zip(values, runs, strict=True)), ()

    def curve(self, values: Sequence[Value], owner: str | None = None) -> ValuesAndNotes:
        """Return columns that are all lengths of training, ``1M, 2M, 200M``, as points of curves; else none."""
        names = [value.name for value in values]
        lengths = list(filter(None, map(PATTERNS["length"].fullmatch, names)))
        frames = [int(numerals.written_out(match[1])) for match in lengths]
        if self._any_given(values) or not FEWEST_POINTS <= len(values) == len(set(frames)):
            return _NONE
        note = f"columns {listed(names)} are points of learning curves, the last at {max(frames):,}"
        points = zip(values, frames, strict=True)
        return tuple(replace(value, name=owner or value.name, frames=number) for value, number in points), (note,)

    def of_algorithms(self, values: Sequence[Value]) -> ValuesAndNotes:
        """Return columns of algorithms, with the algorithm and the run of each where all of them name runs."""
        names = [value.name for value in values]
        if self.algorithm is not None and (curve := self.curve(values, self.algorithm))[0]:
            return curve
        unsure = any(value.column not in self.given for value in values)
        if unsure and len(values) > 1 and all(map(PATTERNS["parts"].fullmatch, names)):
            raise asked(self.place, "parts", names=listed(names), one=names[0])
        lone = [number for name in names if (number := lone_run(name)) is not None]
        all_lone = len(lone) == len(names)
        if all_lone and (len(values) > 1 or PATTERNS["named_run"].fullmatch(names[0])) and unsure:
            if self.algorithm is None:
                raise asked(self.place, "runs", names=listed(names))
            self._refuse_lengths(names)
        elif self.algorithm is None or not (all_lone and self.said_runs):
            whose = [run for name in names if (run := run_of(name))]
            return runs_of(values, whose) if len(whose) == len(names) else self._numbered(values)
        return runs_of(values, [(self.algorithm, number) for number in lone])

    def _numbered(self, values: Sequence[Value]) -> ValuesAndNotes:
        """Refuse columns such as ``DQN_1, DQN_2``, which may be runs or algorithms, unless the caller says which.

        Beside more columns without a number they are algorithms, with a note: runs have numbers for every algorithm.
        """
        names = [value.name for value in values]
        parts = numbered(names)
        few = 2 * sum(map(len, parts.values())) < len(names) - 1
        notes = []
        named = {value.column: (value.name, 0) for value in values}
        for whose, numbers in parts.items():
            those = [value for value in values if value.name in numbers]
            first = {whose: 0} if whose in names else {}  # DQN, DQN.1, DQN.2, as pandas writes columns of one name
            if any(value.column in self.said_runs for value in those):
                named |= {value.column: (whose, numbers[value.name]) for value in those}
                continue
            runs = first | numbers
            if len(runs) < 2 or not are_counted(runs.values()) or self._any_given(those):
                continue
            one, number = next(iter(numbers.items()))
            if not few:
                values_of = {"names": listed([*runs]), "of": repr(whose), "name": whose, "number": number, "one": one}
                raise asked(self.place, "numbered", **values_of)
            notes.append(f"{listed([*numbers])} taken for algorithms; name runs '{whose} seed {number}'")
        if self.said_runs:
            read, said = runs_of(values, [named[value.column] for value in values])
            return read, (*notes, *said)
        return tuple(values), tuple(notes)

    def _any_given(self, values: Sequence[Value]) -> bool:
        return any(value.column in self.given for value in values)

    def _refuse_lengths(self, names: Sequence[str]) -> None:
        if may_be_lengths(names):
            raise asked(self.place, "lengths", "columns ", names=listed(names), one=names[0])


def runs_of(values: Sequence[Value], named: Sequence[tuple[str, int]], noun: str = "algorithm") -> ValuesAndNotes:
    """Return columns with the owner and the number of the run of each, and a note on these."""
    runs = tuple(replace(value, name=name, run=run) for value, (name, run) in zip(values, named, strict=True))
    owners = dict.fromkeys(value.name for value in runs)
    whose = f"one {noun}" if len(owners) == 1 else plural(len(owners), noun)
    columns = "1 column is a run" if len(runs) == 1 else f"{len(runs):,} columns are runs"
    return runs, (f"{columns} of {whose}: {listed([value.name for value in values])}",)
