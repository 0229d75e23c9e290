"""Assigns a role to each column of a table by its name and its cells; no reader decides this itself.

Conventions
-----------
* *Long*: a column of scores, beside columns of algorithms and games (the caller may give one of them).
* *Wide*: a column of games and one a value for each algorithm or run; or a column of algorithms and one for each game.
* Names are interpreted by the data of ``data/roles.json``. The column of games is found by its name or, if games are
  known, by its cells.
* ``seed 0, seed 1`` are runs of one algorithm, ``DQN seed 0, DQN seed 1`` of the one that they name. ``DQN std`` and
  ``std_DQN`` are spreads, ``DQN HNS`` is normalised: with what stands beside these words they are no algorithms.
* Other columns are left out and listed with their roles. A table with two possible interpretations is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.grouping import grouped
from arcademark.scores.readers.base import OPTION, Options, UnrecognisedError, listed
from arcademark.scores.readers.sheets.sheet import Sheet
from arcademark.scores.readers.tables.cells import Cells
from arcademark.scores.readers.tables.column_runs import ColumnRuns, runs_of
from arcademark.scores.readers.tables.interpretation import Interpretation, Value
from arcademark.scores.readers.words import numerals
from arcademark.scores.readers.words.column_names import (
    CITED,
    MEANS,
    NAMES,
    PATTERNS,
    STATISTICS,
    Owners,
    asked,
    key,
    lone_run,
    role_of,
    run_of,
    words_of,
)
from arcademark.scores.readers.words.role_names import ROLES, RULES, Role

_TRAINED = frozenset({"train", "training"})
"""Words of scores that count only where there are no others."""
_PARTS: tuple[Role, ...] = ("algorithm", "game", "run", "seed", "score", "episode", "frames", "protocol")
_NO_SCORES = ("normalised", "spread", "rank", "count")


def is_long(sheet: Sheet) -> bool:
    """Return whether a table's header alone shows a long one: a score, beside an algorithm or a game."""
    roles = set(map(role_of, sheet.header))
    return "score" in roles and bool(roles & {"algorithm", "game"})


def interpret(sheet: Sheet, options: Options) -> Interpretation:
    """Assign roles to a table's columns.

    Raises
    ------
    UnrecognisedError
        If the columns make no score table.
    ArcadeMarkError
        If the table and the options leave a column ambiguous.
    """
    found = _Reader(sheet, options).interpretation()
    _refuse_contradictions(sheet, options, found)
    return found


class _Reader:
    """Interpretation of one sheet: roles by columns' names and by their cells."""

    def __init__(self, sheet: Sheet, options: Options) -> None:
        self.sheet, self.options, self.place = sheet, options, f"{sheet.path}, row 1"
        self.cells = Cells(sheet, options)
        self.algorithm = options.algorithm or sheet.algorithm
        self.why: dict[int, str] = {}
        self.heads = tuple(map(self._stated, range(len(sheet.header))))
        self.named = self._names(options.roles or {})
        self.header = range(len(sheet.header))
        self.owners = Owners(self.heads, self.cells.is_task)
        _refuse_repeated(sheet, self.named)

    def _names(self, given: Mapping[str, str]) -> list[Role | None]:
        """Return the role that each column's name says, or that the caller gives it."""
        said = {name.strip().lower(): role for name, role in given.items()}
        for name, role in given.items():
            if role not in ROLES:
                raise UnknownNameError("role", role, ROLES)
            if name.strip().lower() not in self.sheet.lowered:
                raise ArcadeMarkError(
                    f"{self.sheet.path}: {OPTION['roles']} names the column {name!r}; there is none of that name"
                )
        said_runs = {
            at
            for at, name in enumerate(self.sheet.lowered)
            if said.get(name) == "run"
            and (run_of(name) or any(PATTERNS[one].fullmatch(name) for one in ("run", "numbered")))
        }
        self.given = frozenset(at for at, name in enumerate(self.sheet.lowered) if name in said)
        self.why |= dict.fromkeys(self.given, "as said")
        self.runs = ColumnRuns(self.place, self.algorithm, self.given, said_runs)
        return [
            "value" if at in said_runs else said.get(name.lower(), role_of(head))
            for at, (name, head) in enumerate(zip(self.sheet.header, self.heads, strict=True))
        ]

    def _stated(self, at: int) -> str:
        """Return a column's name without what it says of the brackets in its cells: "DQN" of "DQN (std)"."""
        name = self.sheet.header[at]
        behind = PATTERNS["behind"].fullmatch(name)
        if behind is None or role_of(behind[2]) not in ("spread", "count"):
            return name
        return behind[1] if any(numerals.apart(cell).spread for cell in self.cells.texts(at)) else name

    def interpretation(self) -> Interpretation:
        columns = self._parts()
        left = {at: self.named[at] for at in self.header if at not in columns.values()}
        if {"algorithm", "game"} <= columns.keys() or ("score" in columns and {"algorithm", "game"} & columns.keys()):
            return self._long(columns, list(left))
        told = "game" not in columns and (self.options.task or self.sheet.task)
        if told and ("algorithm" in columns or self.algorithm) and not any(map(self.cells.is_task, self.sheet.header)):
            return self._long(columns, list(left))
        if "game" in columns:
            return self._wide(columns, list(left))
        return self._by_algorithm(columns, list(left))

    def _parts(self) -> dict[Role, int]:
        """Return the columns that make rows of a table, of each role the preferred one."""
        found = grouped((role, at) for at, role in enumerate(self.named) if role in _PARTS)

        def preference(role: Role, at: int) -> tuple[bool, bool, int, int]:
            text, names = key(self.heads[at]), RULES["scores"] if role == "score" else NAMES[role]
            place = names.index(text) if text in names else len(names)
            return (not self.why.get(at), bool(_TRAINED & {*words_of(text)}), place, at)

        columns = {role: min(those, key=lambda at: preference(role, at)) for role, those in found.items()}
        if self.cells.tasks is not None:
            self._exchange(columns)
            said = columns.get("game")
            if said is None or not (self.why.get(said) or self.cells.share_of_tasks(said)):
                columns = self._with_tasks(columns)
        if "game" in columns and "algorithm" not in columns and self.algorithm is None:
            games, nameless = self.sheet.columns[columns["game"]], (at for at in self.header if not self.heads[at])
            words = next((at for at in nameless if at not in columns.values() and self.cells.are_words(at)), None)
            if words is not None and len(set(games)) < len(games):
                columns["algorithm"] = words
                self.why[words] = "it has no name, holds words, and games repeat"
        heads = [at for at in self.header if at not in columns.values() and self.named[at] != "score"]
        game = columns.get("game")
        lost = next((at for at in heads if PATTERNS["number"].fullmatch(self.sheet.header[at])), None)
        if lost is None and game is not None and self.cells.is_task(self.sheet.header[game]):
            lost = game
        if lost is not None and lost not in self.given:
            raise asked(self.place, "headless", name=repr(self.sheet.header[lost]))
        return columns

    def _with_tasks(self, columns: dict[Role, int]) -> dict[Role, int]:
        """Return the columns with that of games, found by its cells if no name says it."""
        taken = {column for role, column in columns.items() if role != "score"}
        at = next((at for at in self.header if at not in taken and self.cells.share_of_tasks(at) >= 0.5), None)
        if at is None:
            return columns
        if (role := self.named[at]) in _NO_SCORES and not self.why.get(at):
            raise ArcadeMarkError(
                f"{self.place}, column {at + 1}: {self.sheet.header[at]!r} above the games says that the "
                f"numbers are no scores ({role}); give the games' own points, in a table whose games stand below 'game'"
            )
        self.why[at] = "its cells are games"
        return {role: column for role, column in columns.items() if column != at} | {"game": at}

    def _exchange(self, columns: dict[Role, int]) -> None:
        """Turn a corner that names the header's rather than its column's cells: ``game,Pong`` above ``DQN,18.9``."""
        for role, other in (("game", "algorithm"), ("algorithm", "game")):
            at = columns.get(role)
            if at is None or other in columns or "score" in columns or self.why.get(at):
                continue
            heads = [name for i, name in enumerate(self.sheet.header) if i != at and self.named[i] is None]
            cells, above = self.cells.share_of_tasks(at), sum(map(self.cells.is_task, heads))
            if cells == (role == "algorithm") and (2 * above > len(heads)) == (role == "game") and heads:
                columns[other] = columns.pop(role)
                self.why[at] = "its cells, and the header, say so"
                return

    def _cites_scores(self, at: int) -> bool:
        """Return whether a column such as "Human Ref" or "Paper" holds scores, and no citations."""
        return bool(CITED & {*words_of(self.heads[at])}) and self.cells.any_fraction(at)

    def _long(self, columns: dict[Role, int], free: Sequence[int]) -> Interpretation:
        """Interpret a table with one row per score; ask which column holds them if several may."""
        left = {at: self.named[at] or "note" for at in free}
        score = columns.get("score")
        given = score is not None and score in self.given
        rivals = [at for at in free if self.named[at] == "score" and not _TRAINED & {*words_of(self.sheet.header[at])}]
        if score is None:
            rivals = [at for at in free if self.named[at] in (None, "value") and self.cells.any_number(at, filled=True)]
            if not rivals:
                return self._summary(columns, left)
            values = [Value(at, self.sheet.header[at]) for at in rivals]
            runs, notes = self.runs.curve(values, None if "algorithm" in columns else self.algorithm)
            if not runs and {"algorithm", "game"} <= columns.keys():
                runs, notes = self.runs.of_rows(values)
            if runs:
                others = {at: role for at, role in left.items() if at not in rivals}
                return Interpretation(columns, runs, others, notes, self.why)
            if not any(self.named[at] == "value" for at in rivals):
                rivals += [at for at in free if self.named[at] == "summary" and self.cells.any_number(at, filled=True)]
            score, rivals = rivals[0], rivals[1:]
            self.why[score] = "the only column of numbers that is nothing else"
        elif not given and "algorithm" not in columns and self.algorithm is None:
            beside = [at for at in free if self.named[at] is None and self.cells.any_number(at, filled=True)]
            if beside:
                raise self._asked_of("beside", score, beside)
        rivals += [at for at in free if self.named[at] == "note" and self._cites_scores(at)]
        if rivals and not given:
            raise self._asked_of("score", score, rivals)
        left.pop(score, None)
        return Interpretation(columns | {"score": score}, (), left, (), self.why)

    def _asked_of(self, name: str, first: int, others: Sequence[int]) -> ArcadeMarkError:
        header = self.sheet.header
        beside = listed([repr(header[at]) for at in others], 8)
        return asked(self.place, name, first=repr(header[first]), others=beside, name=header[first])

    def _unnamed(self, at: int) -> ArcadeMarkError:
        return ArcadeMarkError(f"{self.place}, column {at + 1}: the column has no name; name each once")

    def _summary(self, columns: dict[Role, int], left: dict[int, Role]) -> Interpretation:
        """Use a column of means as scores, if there are no others."""
        sums = [at for at, role in left.items() if role == "summary" and self.cells.any_number(at)]
        means = [at for at in sums if key(self.sheet.header[at]) in MEANS] or sums
        if len(means) > 1:
            raise self._asked_of("score", means[0], means[1:])
        if means:
            left.pop(means[0])
            self.why[means[0]] = "the only column of scores"
            return Interpretation(columns | {"score": means[0]}, (), left, (), self.why)
        normalised = next((self.sheet.header[at] for at, role in left.items() if role == "normalised"), None)
        if normalised is not None:
            raise ArcadeMarkError(
                f"{self.sheet.path}, row 1: column {normalised!r} holds normalised scores; give the games' own points"
            )
        raise UnrecognisedError(expected(self.sheet))

    def _values(self, free: Sequence[int]) -> tuple[list[Value], dict[int, Role]]:
        """Separate columns with scores of an algorithm or a game from others."""
        left: dict[int, Role] = {}
        values = []
        for at in free:
            name = self.heads[at]
            role, whose = (self.named[at], name) if self.named[at] else self.owners.find(name)
            if role == "note" and not self.named[at] and self._cites_scores(at):  # scores of "Human Ref"
                role, whose = None, name
            if role is None and self._is_difference(at):
                role = "summary"
                self.why[at] = "its cells are the difference of two columns"
            if role in (None, "value") or not (name or not at or not self.cells.any_number(at)):
                values.append(Value(at, whose or name))
            else:
                left[at] = role
                self.why.setdefault(at, "by its name" if self.named[at] else f"by its name, of {whose!r}")
        return values, left

    def _is_difference(self, at: int) -> bool:
        """Return whether a column such as ``PPO-DQN`` holds what it says of two others; it may be an algorithm's."""
        places = {key(name): place for place, name in enumerate(self.heads) if key(name)}
        name = self.heads[at]
        for hyphen in re.finditer("-", name):
            first, second = (places.get(key(part)) for part in (name[: hyphen.start()], name[hyphen.end() :]))
            if first is not None and second is not None and second != first:
                return self.cells.are_difference(at, first, second)
        return False

    def _wide(self, columns: dict[Role, int], free: Sequence[int]) -> Interpretation:
        """Interpret a table with one row per game, and a column for each algorithm or run."""
        values, left = self._values(free)
        nameless = next((value.column for value in values if not value.name), None)
        words = [at for value in values if self.named[at := value.column] is None and not self.cells.any_number(at)]
        if self.algorithm is None and "algorithm" not in columns:
            self._refuse_constant(words)
        if self.sheet.size and len(words) < len(values):
            values = [value for value in values if value.column not in words]
            left = dict(sorted((left | dict.fromkeys(words, "note")).items()))
            self.why |= dict.fromkeys(words, "its cells are words")
        self._refuse_other_games(columns["game"], left)
        if nameless is not None:
            raise self._unnamed(nameless)
        if not values:
            return self._summary(columns, left)
        runs, notes = self.runs.of_algorithms(values)
        if (given := self.options.algorithm) is not None and given not in {value.name for value in runs}:
            if len(runs) > 1:
                raise ArcadeMarkError(
                    f"{self.place}: {OPTION['algorithm']} is {given!r}, and columns are named "
                    f"{listed([value.name for value in runs])}; leave it out"
                )
            self.why[runs[0].column] = "the only column of scores"
            runs = (replace(runs[0], name=given),)
        return Interpretation(columns, runs, left, notes, self.why)

    def _refuse_constant(self, words: Sequence[int]) -> None:
        """Refuse columns with the same word in all rows, which may be the only algorithm's name."""
        for at in words:
            cells = {self.sheet.text(cell) for cell in self.sheet.columns[at]}
            if self.sheet.size > 1 and len(cells) == 1 and not any(map(numerals.is_missing, cells)):
                name = self.sheet.header[at]
                raise asked(self.place, "words", name=repr(name), cell=repr(cells.pop()), column=name)

    def _refuse_other_games(self, game: int, left: Mapping[int, Role]) -> None:
        """Refuse a second column of games, if they are others: the scores beside it are not of those in the first."""
        for at in left:
            if self.cells.tasks is None or at in self.given or self.cells.share_of_tasks(at) < 0.5:
                continue
            for row, pair in enumerate(zip(self.sheet.columns[game], self.sheet.columns[at], strict=True)):
                first, second = (self.sheet.text(cell) for cell in pair)
                if self.cells.is_task(second) and not _alike(second, first, self.cells.tasks):
                    raise ArcadeMarkError(
                        f"{self.sheet.place(row, at)}: {second!r} stands beside {first!r}, as where two tables stand "
                        "beside each other; write them below each other, or leave the column out with "
                        f"--read '{self.sheet.header[at]}=note'"
                    )

    def _by_algorithm(self, columns: dict[Role, int], free: list[int]) -> Interpretation:
        """Interpret a table with one row per algorithm or run, and a column for each game."""
        values, left = self._values([at for at in free if self.sheet.header[at]])
        heads = [value for value in values if self.cells.is_task(value.name) or self._is_task_of_run(value.name)]
        nameless = [at for at in free if not self.sheet.header[at]]
        if "algorithm" not in columns:
            if not heads or 2 * len(heads) < len(values) - 1:
                raise self._corner()
            corner = next((at for at in (*nameless, *(value.column for value in values)) if at == free[0]), None)
            if corner is not None and corner not in {value.column for value in heads} and not self._is_index(corner):
                columns = columns | {"algorithm": corner}  # in a corner, or named otherwise
                self.why[corner] = "it stands first, beside games"
            elif self.algorithm is None:
                raise ArcadeMarkError(
                    f"{self.sheet.path}, row 1: there is no column 'algorithm'; add one, or, for all rows, say it with "
                    f"{OPTION['algorithm']}"
                )
            elif not {"run", "seed"} & columns.keys():
                index = next((at for at in self.header if self._is_index(at)), None)
                columns = columns if index is None else columns | {"run": index}
                left.pop(index if index is not None else -1, None)
        taken = {*columns.values(), *left}
        empty = [at for at in nameless if at not in taken and not self.cells.any_number(at)]
        left |= dict.fromkeys(empty, "index")
        if lost := next((at for at in nameless if at not in {*taken, *empty}), None):
            raise self._unnamed(lost)
        values = [value for value in values if value.column not in taken]
        if heads:  # words beside games
            words = {value.column for value in values if value not in heads and not self.cells.any_number(value.column)}
            values = [value for value in values if value.column not in words]
            left |= dict.fromkeys(words, "note")
        if not values:
            raise UnrecognisedError(expected(self.sheet))
        runs, notes = tuple(values), tuple[str, ...]()
        named = [run for value in values if (run := run_of(value.name))]
        if len(named) == len(values) and all(self.cells.is_task(name) for name, _ in named):
            runs, notes = runs_of(values, named, "game")
        return Interpretation(columns, runs, dict(sorted(left.items())), notes, self.why)

    def _is_task_of_run(self, name: str) -> bool:
        run = run_of(name)
        return run is not None and self.cells.is_task(run[0])

    def _is_index(self, at: int) -> bool:
        return self.named[at] == "index" and self.cells.count_rows(at)

    def _corner(self) -> ArcadeMarkError:
        if len(self.sheet.header) < 2 or self.sheet.header[0]:
            return UnrecognisedError(expected(self.sheet))
        said = f"{self.place}, column 1: the column has no name; name it 'game' or 'algorithm', whichever its cells are"
        return ArcadeMarkError(said) if self.cells.tasks is None else UnrecognisedError(said)


def _refuse_repeated(sheet: Sheet, named: Sequence[Role | None]) -> None:
    """Refuse two columns of one name, unless that says that both are left out."""
    first: dict[str, int] = {}
    for at, name in enumerate(sheet.lowered):
        if name and first.setdefault(name, at) != at and named[at] in (None, "value", *_PARTS):
            raise ArcadeMarkError(
                f"{sheet.path}, row 1, column {at + 1}: the column {sheet.header[at]!r} is named twice; name each once"
            )


def _refuse_contradictions(sheet: Sheet, options: Options, found: Interpretation) -> None:
    """Refuse options that contradict a column."""
    said: tuple[tuple[Role, str | None, str], ...] = (
        ("algorithm", options.algorithm, "algorithm"),
        ("game", options.task, "task"),
    )
    for role, given, place in said:
        column = found.columns.get(role)
        if given is None or column is None or not sheet.size:
            continue
        _, names, _ = sheet.names(column)
        if role == "algorithm" and not {"run", "seed"} & found.columns.keys():
            names = tuple(n for n in names if lone_run(n) is None and role_of(n) not in STATISTICS)
        same = options.canonical_task if role == "game" else str
        other = next((name for name in names if name != given and not _alike(name, given, same)), None)
        if other is not None:
            raise ArcadeMarkError(
                f"{sheet.path}: {OPTION[place]} is {given!r}, and column {sheet.header[column]!r} holds {other!r}; "
                "leave one out"
            )


def _alike(name: str, given: str, canonical: Callable[[str], str]) -> bool:
    try:
        return canonical(name) == canonical(given)
    except ArcadeMarkError:
        return False


def expected(sheet: Sheet) -> str:
    """Return the message about an unexpected header."""
    return (
        f"{sheet.path}, row 1: expected the columns algorithm, game, score (long), or a column of algorithms with a "
        "column for each game, or of games with one for each algorithm (wide), not "
        f"{', '.join(sheet.header[:12])!r}"
    )
