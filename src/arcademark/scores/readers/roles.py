"""Assigns each column of a table the role that it plays, from its name and its cells. No reader decides that itself.

Conventions
-----------
* *Long*: a column of scores, beside columns of algorithms and games (one of them may be given by the caller).
* *Wide*: a column of games and one a value for each algorithm or run; or a column of algorithms and one for each game.
* The column of games goes by its name, else it is the one whose cells are games, where games are known.
* ``seed 0, seed 1`` are runs of one algorithm, ``DQN seed 0, DQN seed 1`` of the one that they name. ``DQN std`` is a
  spread, ``DQN HNS`` normalised: with what stands before them they are no algorithms.
* What has no part in the table is left out, each column with the role why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.scores.readers import numerals
from arcademark.scores.readers.base import SAID, Options, UnrecognisedError, count, gathered, is_task, listed
from arcademark.scores.readers.role_names import ROLES, Role
from arcademark.scores.readers.sheet import Sheet

NAMES: Mapping[Role, tuple[str, ...]] = {
    "algorithm": (
        *("algorithm", "agent", "method", "algo", "model", "alg", "algorithms", "agents", "exp name", "algorithm name"),
        *("agent name", "approach", "learner"),
    ),
    "game": (
        *("task", "game", "env", "env id", "environment", "environment name", "games", "tasks", "atari game", "rom"),
        *("game name", "env name", "environment id", "task name", "game id", "envs", "environments"),
    ),
    "run": ("run", "trial", "run number", "run id", "replicate", "repetition"),
    "seed": ("seed", "random seed", "seed id"),
    "episode": ("episode",),
    "frames": ("frames", "frame", "step", "global step", "timesteps", "iteration"),
    "protocol": ("protocol",),
    "count": ("n", "count", "runs", "seeds", "episodes", "trials"),
    "rank": ("rank", "ranking", "position"),
    "index": ("", "unnamed", "index", "idx", "#", "no", "row"),
    "summary": ("mean", "avg", "average", "median", "best", "worst", "total", "sum", "overall", "iqm", "all"),
    "note": (
        *("note", "notes", "comment", "comments", "source", "reference", "ref", "paper", "citation", "year", "state"),
        *("status", "name", "user", "created", "tags", "runtime", "hostname", "host", "date", "url", "link"),
        "job type",
    ),
}
"""Names of columns by role, in lower case and with blanks between words; earlier ones are preferred."""

_SCORES = frozenset({"score", "scores", "return", "returns", "reward", "rewards", "points"})
_KINDS = frozenset(
    (
        *("mean", "avg", "average", "final", "raw", "episode", "episodic", "eval", "evaluation", "test", "total"),
        *("undiscounted", "game", "rew", "ep"),
    )
)
_SPREADS = frozenset(
    (
        *("std", "sd", "stddev", "stdev", "deviation", "dev", "stderr", "sem", "se", "err", "error", "ci", "iqr"),
        *("var", "variance", "lower", "upper", "low", "high", "min", "max", "±"),
    )
)
_SURE = frozenset({"std", "sd", "stddev", "stdev", "stderr", "sem", "ci", "±"})
_MEANS = frozenset({"mean", "avg", "average"})
_OF_SPREADS = frozenset({"95", "95%", "90", "90%", "standard", "confidence", "interval", "bound", "of", "the"})
_NORMALISED = frozenset({"hns", "hwrns", "normalised", "normalized"})
_OF_NORMALISED = frozenset({"human", "%", "percent", "capped", "median", "random", "world", "record", "the", "in"})
_COUNTS = frozenset({"n", "num", "number", "of", "runs", "seeds", "episodes", "trials", "count"})
_PREFERRED = ("score", "return", "episode return", "episodic return", "eval episode return", "reward")
_RUN = re.compile(r"(?:seed|run|trial|rep|s|r)?[\s_\-]*#?(\d{1,9})", re.IGNORECASE)
_RUN_OF = re.compile(r"(.*[^\s_\-/:(\[])[\s_\-/:(\[]+(?:seed|run|trial|rep)[\s_\-]*#?(\d{1,9})[)\]]?", re.IGNORECASE)
_NUMBERED = re.compile(r"(.*[^\s_\-\d])[\s_\-]+(\d{1,2})")
_ENVIRONMENT = re.compile(r"(?:[\w.]+/)?\w[\w.]*-v\d+")
MAX_SAMPLE = 200
"""Headers and cells of a column from which is told what they are."""


@dataclass(frozen=True)
class Value:
    """A column of a wide table with scores of an algorithm, or on a game, and of which run where columns are runs."""

    column: int
    name: str
    run: int | None = None


@dataclass(frozen=True)
class Interpretation:
    """What each column of a sheet is.

    Parameters
    ----------
    columns : mapping of role to int
        The columns of algorithms, games, runs, seeds, episodes, frames, protocols and, of long tables, scores.
    values : tuple of Value
        Of wide tables; empty of long ones.
    left_out : mapping of int to role
        The columns that the table does not hold, in their order.
    notes : tuple of str
    """

    columns: Mapping[Role, int]
    values: tuple[Value, ...] = ()
    left_out: Mapping[int, Role] | None = None
    notes: tuple[str, ...] = ()

    @property
    def layout(self) -> str:
        """The format that it is of."""
        return "wide" if self.values else "long"


def key(name: str) -> str:
    """Return a column's name as `NAMES` has it: in lower case, with blanks between words."""
    return " ".join(re.findall(r"[^\s_\-.:()\[\]]+", name.lower().replace("+/-", "±")))


@lru_cache(maxsize=2**14)
def role_of(name: str) -> Role | None:
    """Return the role that a column's name alone says; None where it may be an algorithm or a game.

    Of a series, ``charts/episodic_return``, the last part counts, and only if it is a score.
    """
    if "/" in name.replace("+/-", ""):
        return "score" if role_of(name.rpartition("/")[2]) == "score" else None
    text = key(name)
    for role, names in NAMES.items():
        if text in names or (role == "index" and re.fullmatch(r"unnamed \d+( level \d+)?", text)):
            return role
    words = frozenset(text.split())
    found: tuple[tuple[Role, frozenset[str], frozenset[str]], ...] = (
        ("normalised", _NORMALISED, _OF_NORMALISED | _SCORES | _KINDS),
        ("spread", _SPREADS, _OF_SPREADS | _SCORES | _KINDS),
        ("count", _COUNTS - {"of"}, _COUNTS),
        ("score", _SCORES, _KINDS),
    )
    return next((role for role, some, others in found if words & some and words <= some | others), None)


def is_long(sheet: Sheet) -> bool:
    """Tell whether a table's header alone shows a long one: a score, beside an algorithm or a game."""
    roles = set(map(role_of, sheet.header))
    return "score" in roles and bool(roles & {"algorithm", "game"})


def interpret(sheet: Sheet, options: Options) -> Interpretation:
    """Assign roles to a table's columns.

    Raises
    ------
    UnrecognisedError
        If the columns make no score table.
    ArcadeMarkError
        If something has to be said that neither the table nor the caller does.
    """
    named = _names(sheet, options.roles or {})
    columns = _by_name(sheet, named)
    tasks = options.canonical_task if _discerns(options.canonical_task) else None
    if "game" not in columns and tasks and (at := _column_of_tasks(sheet, columns, tasks)) is not None:
        columns = {role: column for role, column in columns.items() if column != at} | {"game": at}
    taken = set(columns.values())
    free = [at for at in range(len(sheet.header)) if at not in taken]
    if "score" in columns and {"algorithm", "game"} & columns.keys():
        if options.algorithm is None and "algorithm" not in columns:
            _refuse_doubt(sheet, columns["score"], [at for at in free if named[at] is None and _any_number(sheet, at)])
        left = {at: named[at] or "note" for at in free}
        return _checked(sheet, options, Interpretation(columns, (), left))
    if "game" in columns:
        return _checked(sheet, options, _by_game(sheet, columns, free, named, options))
    heads = [at for at, name in enumerate(sheet.header) if named[at] is None and tasks and is_task(name, tasks)]
    if "algorithm" not in columns and heads and 2 * len(heads) >= len(free) - 1 and free[0] not in heads:
        columns = columns | {"algorithm": free[0]}  # in a corner, or named otherwise
    if "algorithm" not in columns:
        if tasks is None and not sheet.header[0] and len(sheet.header) > 1:
            raise ArcadeMarkError(_corner(sheet))
        raise UnrecognisedError(_corner(sheet) if not sheet.header[0] and len(sheet.header) > 1 else expected(sheet))
    taken = set(columns.values())
    rest = [at for at in free if at not in {*taken, *heads} and (sheet.header[at] or not _any_number(sheet, at))]
    left = {at: role for at in rest if (role := named[at]) not in (None, "value")}
    values = tuple(Value(at, sheet.header[at]) for at in range(len(sheet.header)) if at not in {*taken, *left})
    if not values:
        raise UnrecognisedError(expected(sheet))
    return _checked(sheet, options, Interpretation(columns, _named(sheet, values), left))


def _named(sheet: Sheet, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Refuse columns of scores without a name."""
    for value in values:
        if not value.name:
            raise ArcadeMarkError(
                f"{sheet.path}, row 1, column {value.column + 1}: the column has no name; name each once"
            )
    return values


def _names(sheet: Sheet, given: Mapping[str, str]) -> list[Role | None]:
    """Return the role that each column's name says, or that the caller gives it."""
    said = {name.strip().lower(): role for name, role in given.items()}
    for name, role in given.items():
        if role not in ROLES:
            raise UnknownNameError("role", role, ROLES)
        if name.strip().lower() not in sheet.lowered:
            raise ArcadeMarkError(
                f"{sheet.path}: {SAID['roles']} names the column {name!r}; there is none of that name"
            )
    return [said.get(name.lower(), role_of(name)) for name in sheet.header]  # type: ignore[misc]


def _refuse_doubt(sheet: Sheet, score: int, others: Sequence[int]) -> None:
    """Refuse a column of scores beside columns that may be algorithms, unless the caller says which."""
    if others:
        name, beside = sheet.header[score], listed([repr(sheet.header[at]) for at in others])
        raise ArcadeMarkError(
            f"{sheet.path}, row 1: the scores may be column {name!r}, or those of the algorithms {beside}; say the "
            f"first with {SAID['algorithm']}, the second with roles= (--read {name!r}=note)"
        )


def _by_name(sheet: Sheet, named: Sequence[Role | None]) -> dict[Role, int]:
    """Return the columns whose names say what they are, of each role the preferred one."""
    found = gathered((role, at) for at, role in enumerate(named) if role is not None)

    def preference(role: Role, at: int) -> tuple[int, int, int]:
        text = key(sheet.header[at])
        names = _PREFERRED if role == "score" else NAMES[role]
        return (names.index(text) if text in names else len(names), len(text.split()), at)

    parts: tuple[Role, ...] = ("algorithm", "game", "run", "seed", "score", "episode", "frames", "protocol")
    return {role: min(found[role], key=lambda at: preference(role, at)) for role in parts if role in found}


def _discerns(canonical_task: Callable[[str], str]) -> bool:
    """Tell whether names of tasks are told from others."""
    return canonical_task is not str and not is_task("no task is named so", canonical_task)


def _column_of_tasks(sheet: Sheet, columns: Mapping[Role, int], tasks: Callable[[str], str]) -> int | None:
    """Return the first column at least half of whose names are tasks'."""
    for at, cells in enumerate(sheet.columns):
        if isinstance(cells, np.ndarray) or at in columns.values():
            continue
        names = [text for text in dict.fromkeys(map(sheet.text, cells[:MAX_SAMPLE])) if text]
        if names and 2 * sum(is_task(name, tasks) for name in names) >= len(names):
            return at
    return None


def _by_game(
    sheet: Sheet, columns: dict[Role, int], free: Sequence[int], named: Sequence[Role | None], options: Options
) -> Interpretation:
    """Interpret a table with a row a game, and a column for each algorithm or run."""
    left: dict[int, Role] = {}
    known = {name.strip().lower() for name in sheet.header}
    values = []
    for at in free:
        role, of = (named[at], "") if named[at] else _of_value(sheet.header[at], known)
        if role == "summary" and of:
            values.append(Value(at, of))
        elif role not in (None, "value") and (sheet.header[at] or not at or not _any_number(sheet, at)):
            left[at] = role
        else:
            values.append(Value(at, sheet.header[at]))
    _named(sheet, tuple(values))
    free_of_role = (value for value in values if named[value.column] is None)
    words = [value for value in free_of_role if sheet.size and not _any_number(sheet, value.column)]
    if len(words) < len(values):
        values = [value for value in values if value not in words]
        left = dict(sorted((left | dict.fromkeys([value.column for value in words], "note")).items()))
    if not values:
        sums = [at for at, role in left.items() if role == "summary"]
        if sums and "score" not in columns:
            left.pop(sums[0])
            return Interpretation(columns | {"score": sums[0]}, (), left)
        normalised = next((sheet.header[at] for at, role in left.items() if role == "normalised"), None)
        if normalised is not None:
            raise ArcadeMarkError(
                f"{sheet.path}, row 1: column {normalised!r} holds normalised scores; give the games' own points"
            )
        raise UnrecognisedError(expected(sheet))
    runs, notes = _as_runs(sheet, values, options)
    return Interpretation(columns, runs, left, notes)


def _of_value(name: str, known: Collection[str]) -> tuple[Role | None, str]:
    """Return the role of a column beside algorithms, and of which algorithm it is: of "DQN std" spread and "DQN".

    What may be part of an algorithm's name, as in "DQN max", is only where `known` names (in lower case) hold "DQN"; a
    mean is of "DQN" where that has a spread.
    """
    for split in re.finditer(r"[\s_\-./:(\[]+", name):
        of, what = name[: split.start()], name[split.end() :]
        role = role_of(what) if of and what else None
        beside = of.lower() in known
        if role == "normalised" or (role == "spread" and (beside or set(key(what).split()) & _SURE)):
            return role, of
        if role in ("spread", "count", "rank") and f"{of}{split[0]}mean".lower() in known:
            return role, of
        if role in ("count", "rank") and beside:
            return role, of
        if role == "summary" and key(what) in _MEANS and not beside:
            spreads = (other for other in known if other.startswith(of.lower()) and set(key(other).split()) & _SURE)
            if any(spreads):
                return role, of
    return None, ""


def _any_number(sheet: Sheet, at: int) -> bool:
    """Tell whether any cell of a column is a number, or all are missing."""
    cells = sheet.columns[at]
    if isinstance(cells, np.ndarray):
        return True
    there = [cell for cell in cells[:MAX_SAMPLE] if cell.strip().lower() not in numerals.MISSING]
    return not there or any(numerals.apart(cell).marks or any(map(str.isdigit, cell.lstrip()[:1])) for cell in there)


def _as_runs(sheet: Sheet, values: Sequence[Value], options: Options) -> tuple[tuple[Value, ...], tuple[str, ...]]:
    """Name the algorithm and the run of each column, where all of them name runs."""
    lone = [_RUN.fullmatch(value.name) for value in values]
    if all(lone) and (len(values) > 1 or re.match("seed|run|trial|rep", values[0].name, re.IGNORECASE)):
        if options.algorithm is None:
            raise ArcadeMarkError(
                f"{sheet.path}, row 1: nothing says which algorithm the runs "
                f"{listed([value.name for value in values])} are of; say it with {SAID['algorithm']}"
            )
        named = [(options.algorithm, match[1]) for match in lone if match]
    else:
        of = [_RUN_OF.fullmatch(value.name) for value in values]
        if not all(of):
            return tuple(values), _numbered(sheet, [value.name for value in values], options)
        named = [(match[1], match[2]) for match in of if match]
    runs = tuple(Value(value.column, name, int(run)) for value, (name, run) in zip(values, named, strict=True))
    algorithms = dict.fromkeys(value.name for value in runs)
    whose = "one algorithm" if len(algorithms) == 1 else f"{len(algorithms):,} algorithms"
    columns = "1 column is a run" if len(runs) == 1 else f"{len(runs):,} columns are runs"
    return runs, (f"{columns} of {whose}: {listed([value.name for value in values])}",)


def _numbered(sheet: Sheet, names: Sequence[str], options: Options) -> tuple[str, ...]:
    """Refuse columns such as ``DQN_1, DQN_2``, which may be runs or algorithms, unless the caller says the latter.

    Beside more columns without a number they are algorithms, with a note: runs have numbers for every algorithm.
    """
    most = 2 * sum(_NUMBERED.fullmatch(name) is not None for name in names) < len(names) - 1
    said = {name.strip().lower() for name in options.roles or {}}
    numbers = gathered((match[1], int(match[2])) for name in names if (match := _NUMBERED.fullmatch(name)))
    for of, found in numbers.items():
        those = [name for name in names if (match := _NUMBERED.fullmatch(name)) and match[1] == of]
        consecutive = sorted(found) in (list(range(len(found))), list(range(1, len(found) + 1)))
        if len(found) > 1 and consecutive and not said & {name.lower() for name in those}:
            if most:
                return (f"{listed(those)} taken for algorithms; name runs '{of} seed {found[0]}'",)
            raise ArcadeMarkError(
                f"{sheet.path}, row 1: columns {listed(those)} may be runs of {of!r}, or algorithms; for the first "
                f"name them '{of} seed {found[0]}', for the second say --read '{those[0]}=value'"
            )
    return ()


def _checked(sheet: Sheet, options: Options, result: Interpretation) -> Interpretation:
    """Refuse options that contradict a column."""
    said: tuple[tuple[Role, str | None, str], ...] = (
        ("algorithm", options.algorithm, "algorithm"),
        ("game", options.task, "task"),
    )
    for role, given, place in said:
        column = result.columns.get(role)
        if given is None or column is None or not sheet.size:
            continue
        _, names, _ = sheet.names(column)
        same = options.canonical_task if role == "game" else str
        other = next((name for name in names if name != given and not _alike(name, given, same)), None)
        if other is not None:
            raise ArcadeMarkError(
                f"{sheet.path}: {SAID[place]} is {given!r}, and column {sheet.header[column]!r} holds {other!r}; leave "
                "one out"
            )
    return result


def _alike(name: str, given: str, canonical: Callable[[str], str]) -> bool:
    try:
        return canonical(name) == canonical(given)
    except ArcadeMarkError:
        return False


def notes(sheet: Sheet, result: Interpretation) -> Iterator[str]:
    """Yield what there is to be said of how a table was read."""
    yield from result.notes
    if result.left_out:
        names = [f"{sheet.header[at] or '(unnamed)'} ({role})" for at, role in result.left_out.items()]
        yield f"columns left out: {listed(names, 8)}"


def is_foreign(name: str) -> bool:
    """Tell whether a name is an environment's id, so that what is no game is a task of another suite."""
    return _ENVIRONMENT.fullmatch(name) is not None


def foreign_note(names: Sequence[str]) -> str:
    """Say which tasks of other suites were left out."""
    return f"{count(len(names), 'task')} left out, none of the games: {listed(names)}"


def expected(sheet: Sheet) -> str:
    """Say what header was expected in place of the one that is there."""
    return (
        f"{sheet.path}, row 1: expected the columns algorithm, game, score (long), or a column of algorithms with a "
        "column for each game, or of games with one for each algorithm (wide), not "
        f"{', '.join(sheet.header[:12])!r}"
    )


def _corner(sheet: Sheet) -> str:
    return (
        f"{sheet.path}, row 1, column 1: the column has no name; name it 'game' or 'algorithm', whichever its cells are"
    )
