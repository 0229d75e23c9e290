"""Reference scores: what a random player, an average human and the human record holders score, each with its source.

Conventions
-----------
* Scores are in the game's own points, undiscounted and unclipped.
* Where published sources disagree, the value that we use stands in `Reference.score`, the reason in `Reference.note`,
  and what the others print in `Reference.alternatives`. A value that is ours rounded to the digits printed is no
  disagreement.
* The Atari-5 models were fitted to scores normalised with the random and human references of "atari-57".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Literal, cast, get_args

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.suite import tasks
from arcademark.suite.tables import read_rows

Kind = Literal["random", "human", "human_world_record"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_Key = tuple[str, str, str]  # suite, kind, task


@dataclass(frozen=True)
class Alternative:
    """Another score printed for the same reference, the paper (and its key) that prints it, and what is known of it."""

    score: float
    source: str
    paper: str
    note: str


@dataclass(frozen=True)
class Reference:
    """One game's reference score, the value that we use.

    `kind` is a uniformly random player, the average of a human, or the human world record; `source` the original paper
    and the table where it was read, `papers` their keys in the catalogue's ``sources.toml``; `note` why this value
    where sources disagree, and how it was read where not at first hand; `alternatives` what other sources print.
    """

    task: str
    kind: Kind
    score: float
    source: str
    papers: tuple[str, ...] = ()
    note: str = ""
    alternatives: tuple[Alternative, ...] = ()


def references(kind: str, suite: str = "atari-57") -> Mapping[str, Reference]:
    """Return a suite's references of one kind by task, in the suite's order.

    "ale-55" has its own random scores, made under its own protocol, and no others. ArcadeMarkError: there is no such
    kind or suite (`UnknownNameError`), or the suite has none of that kind.
    """
    if kind not in KINDS:
        raise UnknownNameError("reference", kind, KINDS)
    owner = tasks.suite(suite)
    if kind not in owner.references:
        raise ArcadeMarkError(
            f"suite {owner.name!r} has no {kind} references (it has: {', '.join(owner.references)}); "
            "use those of 'atari-57' for the games that both have"
        )
    return read_references()[owner.name, kind]


@cache
def scores(kind: str, suite: str = "atari-57") -> Mapping[str, float]:
    """Return a suite's reference scores of one kind by task; errors as of `references`."""
    return MappingProxyType({task: reference.score for task, reference in references(kind, suite).items()})


def disagreements() -> tuple[Reference, ...]:
    """Return every reference for which another published source prints another score."""
    groups = read_references().values()
    return tuple(reference for group in groups for reference in group.values() if reference.alternatives)


@cache
def read_references(directory: Traversable | None = None) -> Mapping[tuple[str, str], Mapping[str, Reference]]:
    """Return all references by (suite, kind) and task, each suite complete and in its order.

    They are in ``references.csv`` and ``disagreements.csv`` of `directory`, by default the package's own.
    ArcadeMarkError: a row has no source or no finite score; a reference is missing, stands twice or belongs to no
    suite; or a disagreement belongs to no reference.
    """
    rows, others = _rows("references.csv", directory), _rows("disagreements.csv", directory)
    wanted: dict[tuple[str, str], list[_Key]] = {
        (suite.name, kind): [(suite.name, kind, task) for task in suite.tasks]
        for suite in tasks.suites().values()
        for kind in KINDS
        if kind in suite.references
    }
    keys = {key for group in wanted.values() for key in group}
    problems: dict[str, set[_Key]] = {
        "references.csv lacks": keys - rows.keys(),
        "references.csv has what belongs to no suite": rows.keys() - keys,
        "references.csv has twice": {key for key, copies in rows.items() if len(copies) > 1},
        "disagreements.csv has what references.csv lacks": others.keys() - rows.keys(),
    }
    for problem, wrong in problems.items():
        if wrong:
            raise ArcadeMarkError(f"{problem}: {', '.join(sorted(' '.join(key) for key in wrong))}; correct that table")
    return MappingProxyType(
        {
            group: MappingProxyType({key[2]: _reference(rows[key][0], others.get(key, [])) for key in members})
            for group, members in wanted.items()
        }
    )


def _reference(row: Mapping[str, str], others: Sequence[Mapping[str, str]]) -> Reference:
    return Reference(
        task=row["task"],
        kind=cast(Kind, row["kind"]),
        score=float(row["score"]),
        source=row["source"],
        papers=tuple(row["papers"].split()),
        note=row["note"],
        alternatives=tuple(
            Alternative(float(other["score"]), other["source"], other["paper"], other["note"]) for other in others
        ),
    )


def _rows(name: str, directory: Traversable | None) -> dict[_Key, list[Mapping[str, str]]]:
    """Return a table's rows by (suite, kind, task), each with a source and a finite score."""
    rows: dict[_Key, list[Mapping[str, str]]] = {}
    for line, row in enumerate(read_rows(name, directory), start=2):
        if not row["source"].strip():
            raise ArcadeMarkError(f"{name}, line {line}: no source; name the paper and table the score was read in")
        if not _is_finite(row["score"]):
            raise ArcadeMarkError(f"{name}, line {line}: score {row['score']!r} is not a finite number; correct it")
        rows.setdefault((row["suite"], row["kind"], row["task"]), []).append(row)
    return rows


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
