"""Makes sheets of JSON: records, rows, columns (as pandas writes frames), or objects in objects.

Conventions
-----------
* A list of objects has one record per row, a list of lists has rows below a header. An object of lists, or of objects
  that contain texts, is a table by its columns, or by its rows if these are numbered.
* In nested objects, each level of keys is of one kind: games, frames (``1M``), runs (``0``, ``seed_1``), statistics
  (``mean``, ``std``) or, otherwise, algorithms. The innermost lists contain runs, or a run's episodes.
* Rows are counted from 1. A value that is missing or null is an empty cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.scores.readers.base import MAX_CELLS_READ, Options, discerns, is_task, listed, refuse_more_cells
from arcademark.scores.readers.sheets.sheet import Sheet, bare, checked, levels_of
from arcademark.scores.readers.words import numerals
from arcademark.scores.readers.words.column_names import CITED, FEWEST_POINTS, PATTERNS, lone_run, role_of, words_of
from arcademark.scores.readers.words.log_names import LOGS

_WRAPPERS = frozenset({"results", "result", "data", "scores", "records", "rows", "runs", "table", "values", "history"})
"""Keys of what holds the scores, beside others that are no lists or objects."""
_PARTS, _LENGTH = PATTERNS["parts"], PATTERNS["length"]
_NAMED = ("algorithm", "game", "run", "seed")
_STATISTICS = ("summary", "spread", "count", "normalised", "rank", "score", "note")
_PAIRS = 4
"""Number of lists of two numbers, the second less than half of the first, from which they are hardly two runs each."""
_RISING = 4
"""Numbers that rise throughout, in each of several lists, and are hardly runs."""
_VARIABLE = re.compile(r"[a-z][a-z0-9_]*|[A-Z][A-Z0-9]*_[A-Z0-9_]*")
"""Names as programs write them: ``n_heads``, ``N_HEADS``; an algorithm in such letters needs a place of its own."""
MAX_DEPTH = 6
"""Maximum depth of nested objects that are read."""

_Leaf = tuple[tuple[str, ...], Any]


def nested_sheet(path: Path, content: Any, options: Options) -> Sheet | None:
    """Return the sheet of JSON data; None if they are no table."""
    said: dict[str, Any] = {}
    content = _apart(content)
    content = [content] if _one_record(content) else _unwrapped(content, said)
    if isinstance(content, Mapping):
        table = _framed(content) or _columns(content) or _levels(path, content, options)
    elif isinstance(content, list) and content:
        table = _records(content, [*said]) or _rows(content)
    else:
        table = None
    if table is None:
        return None
    names, rows = table
    roles = {role_of(str(name)) for name in names}
    said = {
        name: value
        for name, value in said.items()
        if (role := role_of(name)) not in roles and (role != "game" or is_task(str(value), options.canonical_task))
    }
    names, rows = [*said, *names], [[*said.values(), *row] for row in rows]
    refuse_more_cells(path, len(names) * len(rows))
    if not rows or any(len(row) != len(names) or any(map(_unread, row)) for row in rows):
        return None
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    header = tuple(bare(str("" if name is None else name)) for name in names)
    return checked(Sheet(path, header, tuple(map(list, zip(*texts, strict=True))), len(texts), lambda row: row + 1), 1)


_Table = tuple[Sequence[Any], Sequence[Sequence[Any]]]


def _one_record(content: Any) -> bool:
    """Return whether an object is one record: it says a score, or names what its numbers are of, and holds no object.

    Settings of a run name its game, too, but hold flags, texts or lists beside numbers, or no numbers but settings.
    """
    if not isinstance(content, Mapping):
        return False
    inner = [one for value in content.values() for one in (value if isinstance(value, list) else [value])]
    if any(isinstance(one, Mapping) for one in inner):
        return False
    if any(role_of(name) == "score" and _number(value) for name, value in content.items()):
        return True
    beside = [value for name, value in content.items() if role_of(name) not in (*_NAMED, *_STATISTICS, "frames")]
    named = any(role_of(name) in ("game", "algorithm") and isinstance(value, str) for name, value in content.items())
    if not named or (_may_be_settings([*content], alone=True) and "score" not in map(role_of, content)):
        return False
    return all(map(_number, beside)) or all(isinstance(value, list) for value in beside)


def _may_be_settings(names: Sequence[str], alone: bool) -> bool:
    """Return whether some names are of settings or other facts; `alone`, those of variables may be, ``n_heads``."""
    facts = [name for name in names if role_of(name) in ("note", "frames") and not CITED & {*words_of(name)}]
    free = [name for name in names if role_of(name) is None]
    return bool(facts) or (alone and any(map(_VARIABLE.fullmatch, free)))


def _apart(content: Any, depth: int = 0) -> Any:
    """Return objects whose keys are tuples, "('DQN', 0)" as pandas writes them, as objects in objects."""
    if depth == MAX_DEPTH or not isinstance(content, Mapping | list):
        return content
    if isinstance(content, list):
        return [_apart(one, depth + 1) for one in content]
    result: dict[str, Any] = {}
    keys = {name: levels_of(name) for name in content}
    alike = len({*map(len, keys.values())}) == 1 and len({*map(tuple, keys.values())}) == len(keys)
    for name, value in content.items():
        inner = result
        for level in keys[name][:-1] if alike else ():
            inner = inner.setdefault(level, {})
        inner[keys[name][-1] if inner is not result else name] = _apart(value, depth + 1)
    return result


def _unread(cell: object) -> bool:
    return isinstance(cell, Mapping | list | bool)


def _number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _unwrapped(content: Any, said: dict[str, Any]) -> Any:
    """Return the value of an object's key if nothing else there can be scores; add the names beside it to `said`."""
    for _ in range(MAX_DEPTH):
        if not isinstance(content, Mapping) or {"columns", "data"} <= content.keys():
            break
        within = [name for name, value in content.items() if isinstance(value, Mapping | list)]
        lone = [name for name in within if name.lower() in _WRAPPERS and name != "schema"]
        if len(lone) != 1 or not {*within} <= {lone[0], "schema", "config", "args", "metadata", "meta"}:
            break
        for part in (content, *(content[name] for name in within if name != lone[0])):
            beside = part.items() if isinstance(part, Mapping) else ()
            said |= {name: one for name, one in beside if isinstance(one, str | int) and role_of(name) in _NAMED}
        content = content[lone[0]]
    return content


def _framed(content: Mapping[str, Any]) -> _Table | None:
    """Read pandas' ``split``: columns, data and index."""
    names, data, index = content.get("columns"), content.get("data"), content.get("index")
    if not isinstance(names, list) or not isinstance(data, list) or not all(isinstance(row, list) for row in data):
        return None
    names = [" ".join(map(str, name)) if isinstance(name, list) else name for name in names]
    if not isinstance(index, list) or index == list(range(len(data))) or len(index) != len(data):
        return names, data
    labels = [one if isinstance(one, list) else [one] for one in index]
    return [*[""] * len(labels[0]), *names], [[*label, *row] for label, row in zip(labels, data, strict=True)]


def _rows(content: Sequence[Any]) -> _Table | None:
    whole = all(isinstance(row, list) for row in content)
    return (content[0], content[1:]) if whole and all(isinstance(name, str) for name in content[0]) else None


def _records(content: Sequence[Any], said: Sequence[str] = ()) -> _Table | None:
    """Read one record per row, with the names of nested objects joined.

    A record's list contains runs, or a run's episodes; lists of equal lengths, one of them of frames, are a curve.
    """
    if not all(isinstance(row, Mapping) and row for row in content):
        return None
    rows: list[Mapping[str, Any]] = []
    for row in (one for record in content for one in _rows_in(record)):
        flat: dict[str, Any] = {}
        for keys, value in _leaves(row):
            name = _shortened(keys)
            flat[name if name not in flat else " ".join(keys)] = value
        lists = [name for name, value in flat.items() if isinstance(value, list)]
        steps = next((name for name in lists if role_of(name) == "frames" or name.lower() in LOGS["steps"]), None)
        size = len(flat[steps]) if steps else 0
        curve = {name: flat[name] for name in lists if len(flat[name]) == size and all(map(_number, flat[name]))}
        if steps in curve and len(curve) > 1:
            facts = {name: value for name, value in flat.items() if name not in lists}
            header = [name if name != steps or role_of(name) == "frames" else "frames" for name in curve]
            rows += [{**facts, **dict(zip(header, point, strict=True))} for point in zip(*curve.values(), strict=True)]
        elif len(lists) == 1 and all(map(_number, flat[lists[0]])):
            several = "episode" if {role_of(name) for name in (*flat, *said)} & {"run", "seed"} else "run"
            rows += [{**flat, lists[0]: value, several: at} for at, value in enumerate(flat[lists[0]])]
        else:
            rows.append({name: value for name, value in flat.items() if not isinstance(value, list)})
    names = list(dict.fromkeys(name for row in rows for name in row))
    flags = {name for row in rows for name, value in row.items() if isinstance(value, bool)}
    names = [name for name in names if name not in flags]
    return names, [[row.get(name) for name in names] for row in rows]


def _rows_in(record: Mapping[str, Any], depth: int = 0) -> list[Mapping[str, Any]]:
    """Return a record for each object of the list of objects in a record; the record itself if it has not one list."""
    rows: list[Mapping[str, Any]] = [{}]
    for name, value in record.items():
        parts = [value]
        if depth < MAX_DEPTH and (isinstance(value, Mapping) or _objects(value)):
            parts = [row for one in (value if isinstance(value, list) else [value]) for row in _rows_in(one, depth + 1)]
        if len(parts) > 1 and (len(rows) > 1 or len(parts) * len(record) > MAX_CELLS_READ):
            return [record]
        taken = record.keys() | rows[0].keys()
        within = _objects(value) and not any(part.keys() & taken for part in parts)
        rows = [{**row, **(part if within else {name: part})} for row in rows for part in parts]
    return rows


def _objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _shortened(keys: Sequence[str]) -> str:
    """Return a name without the keys before it that only wrap it: "seed" of "config", "seed"."""
    first = 0
    while first < len(keys) - 1 and (
        keys[first].lower() in _WRAPPERS or PATTERNS["prefix"].match(".".join(keys[first : first + 2]))
    ):
        first += 1
    return " ".join(keys[first:])


def _columns(content: Mapping[str, Any]) -> _Table | None:
    """Read a table by its columns: lists, or objects by row; or by its rows, where these are numbered."""
    values = list(content.values())
    if all(isinstance(value, list) and value for value in values):
        whole = len({*map(len, values)}) == 1 and not any(map(_unread, (cell for value in values for cell in value)))
        texts = any(isinstance(cell, str) for value in values for cell in value)
        return (list(content), list(zip(*values, strict=True))) if whole and texts else None
    if not values or not all(isinstance(value, Mapping) and value for value in values):
        return None
    cells = [cell for value in values for cell in value.values()]
    if any(isinstance(cell, Mapping | list) for cell in cells) or all(map(_number, cells)):
        return None
    if all(name.isdecimal() for name in content):
        return _records(values)
    labels = list(dict.fromkeys(label for value in values for label in value))
    rows = [[value.get(label) for value in values] for label in labels]
    numbered = all(label.isdecimal() for label in labels)
    if numbered:
        return list(content), rows
    outer = {role_of(name) for name in content} & {"algorithm", "game", "score"}
    if outer:
        return ["", *content], [[label, *row] for label, row in zip(labels, rows, strict=True)]
    return ["", *labels], [[name, *(value.get(label) for label in labels)] for name, value in content.items()]


def _leaves(content: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[_Leaf]:
    for name, value in content.items():
        if isinstance(value, Mapping) and len(above) < MAX_DEPTH:
            yield from _leaves(value, (*above, str(name)))
        elif _objects(value):
            yield from _leaves({str(at): one for at, one in enumerate(value)}, (*above, str(name)))
        else:
            yield (*above, str(name)), value


def _levels(path: Path, content: Mapping[str, Any], options: Options) -> _Table | None:
    """Read objects in objects, each level of which is of a kind."""
    inner = any(isinstance(value, Mapping) for value in content.values())
    leaves: list[_Leaf] = [
        (keys, value)
        for keys, value in _leaves(content)
        if not (inner and len(keys) == 1 and (value is None or _is_fact(keys[0], value)))
        and not (role_of(keys[-1]) == "note" and isinstance(value, str))
    ]
    depths = {len(keys) for keys, _ in leaves}
    numbers = all(all(map(_number, value)) if isinstance(value, list) else _number(value) for _, value in leaves)
    if len(depths) != 1 or not numbers:
        return None
    keys = _by_level(leaves)
    kinds = _kinds(path, keys, options)
    for at, (kind, names) in enumerate(zip(kinds, keys, strict=True)):
        if kind == "algorithm" and _may_be_settings(names, alone=False):
            if any(role_of(name) is None and _VARIABLE.fullmatch(name) for name in names):
                return None
            kinds[at] = "statistic"
    if kinds.count("statistic") > 1:  # "mean" within "score"
        parts = [at for at, kind in enumerate(kinds) if kind != "statistic"]
        leaves = [
            ((*(key[at] for at in parts), " ".join(key[at] for at in range(len(key)) if at not in parts)), value)
            for key, value in leaves
        ]
        keys, kinds = _by_level(leaves), [*(kinds[at] for at in parts), "statistic"]
    if {"algorithm", "game"} <= {*kinds}:  # margins of a pivoted table
        who, what = kinds.index("algorithm"), kinds.index("game")
        sums = {name for name in keys[who] if name in keys[what] and role_of(name) == "summary"}
        leaves = [leaf for leaf in leaves if leaf[0][who] not in sums]
    lists = any(isinstance(value, list) for _, value in leaves)
    if len(set(kinds)) < len(kinds) or (kinds == ["algorithm"] and lists):
        return None
    if lists and "statistic" in kinds:  # the scores themselves, beside what sums them up
        leaves = [leaf for leaf in leaves if isinstance(leaf[1], list)]
        beside = list(dict.fromkeys(place[kinds.index("statistic")] for place, _ in leaves))
        if len(beside) > 1:
            raise ArcadeMarkError(
                f"{path}: holds lists of {listed(beside)}; keep the list of scores, or, of a learning curve, give a "
                "record per score with 'frames' and 'score'"
            )
        kinds[kinds.index("statistic")] = "note"
    parts = [at for at, kind in enumerate(kinds) if kind != "statistic"]
    names = [kinds[at] for at in parts]
    if "statistic" in kinds:
        at = kinds.index("statistic")
        by_row = grouped((tuple(keys[part] for part in parts), (keys[at], value)) for keys, value in leaves)
        rows = [(key, dict(cells)) for key, cells in by_row.items()]
        return [*names, *keys[at]], [[*key, *(cells.get(name) for name in keys[at])] for key, cells in rows]
    if "run" not in kinds:
        _refuse_other_lists(path, [value for _, value in leaves if isinstance(value, list)])
    labels = {
        (kind, name): _LENGTH.sub(r"\1", name) if kind == "frames" else re.sub(r"\D", "", name) or str(at)
        for kind, those in zip(kinds, keys, strict=True)
        for at, name in enumerate(those)
        if kind in ("frames", "run")
    }
    several = [("episode" if "run" in kinds else "run")] if lists else []
    result: list[list[Any]] = []
    for place, value in leaves:
        key = [labels.get((kind, part), part) for part, kind in zip(place, kinds, strict=True)]
        cells = value if isinstance(value, list) else [value]
        result += [[*key, *([at] if several else []), cell] for at, cell in enumerate(cells)]
    return [*names, *several, "score"], result


def _by_level(leaves: Sequence[_Leaf]) -> list[list[str]]:
    return [list(dict.fromkeys(names)) for names in zip(*(keys for keys, _ in leaves), strict=True)]


def _is_fact(name: str, value: object) -> bool:
    """Return whether a value beside objects of scores is about these, and none of them."""
    if isinstance(value, str):
        return role_of(name) not in _NAMED and not numerals.is_number(value)
    return role_of(name) in (*_STATISTICS, "frames") and role_of(name) != "score"


def _refuse_other_lists(path: Path, lists: Sequence[Sequence[Any]]) -> None:
    """Refuse lists that are more like a mean and its spread, or a learning curve, than runs."""
    whole = all(None not in one for one in lists)
    spreads = whole and all(len(one) == 2 and 0 <= one[1] < abs(one[0]) / 2 for one in lists)
    curves = whole and all(len(one) >= _RISING and all(a < b for a, b in pairwise(one)) for one in lists)
    if (spreads and len(lists) >= _PAIRS) or (curves and len(lists) > 1):
        what = "two runs, or a mean and its spread" if spreads else "runs, or a learning curve"
        raise ArcadeMarkError(
            f"{path}: lists such as [{listed(lists[0])}] may be {what}; for the first number the runs, as in "
            f"{{'0': {lists[0][0]}, '1': {lists[0][1]}}}, for the second give the scores alone"
        )


def _kinds(path: Path, keys: Sequence[Sequence[str]], options: Options) -> list[str]:
    """Return the kind of each level of keys: game, frames, run, statistic or algorithm."""
    known = discerns(options.canonical_task)
    shares = [known * sum(is_task(name, options.canonical_task) for name in names) / len(names) for names in keys]
    kinds = []
    for names, share in zip(keys, shares, strict=True):
        if share == max(shares) and share >= 0.5:
            kinds.append("game")
        elif len(names) >= FEWEST_POINTS and all(map(_LENGTH.fullmatch, names)):
            kinds.append("frames")
        elif all(lone_run(name) is not None for name in names):
            if len(names) > 1 and all(map(_PARTS.fullmatch, names)):
                raise ArcadeMarkError(
                    f"{path}: {listed(names)} may be lengths of training, or runs; for the first keep the scores of "
                    f"one, for the second name them 'seed {names[0]}'"
                )
            kinds.append("run")
        elif all(role_of(name) in _STATISTICS for name in names):
            kinds.append("statistic")
        else:
            kinds.append("algorithm")
    if "game" not in kinds and kinds.count("algorithm") == 2:  # where nothing tells games
        kinds[len(kinds) - 1 - kinds[::-1].index("algorithm")] = "game"
    elif "game" not in kinds and options.algorithm is not None:
        kinds = ["game" if kind == "algorithm" else kind for kind in kinds]
    return kinds
