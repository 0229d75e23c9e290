"""Reference scores of a random player, an average human and the human record holders, each with its source.

Conventions
-----------
* Scores are in the game's own points, undiscounted and unclipped.
* If published sources disagree, the value that we use is in `Reference.score`, the reason in `Reference.note`, and the
  others' values in `Reference.alternatives`. A value that is ours rounded to the printed digits is not a disagreement.
* The Atari-5 models were fitted to scores normalised with the random and human references of "atari-57".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Annotated, Literal, get_args

from msgspec import Meta

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.grouping import grouped
from arcademark.suite import tasks
from arcademark.suite.tables import read_records

Kind = Literal["random", "human", "human_world_record"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_Key = tuple[str, str, str]  # suite, kind, task


@dataclass(frozen=True)
class _Row:
    """A row of ``references.csv`` or ``disagreements.csv``."""

    suite: str
    task: str
    kind: Kind
    score: Annotated[float, Meta(ge=-1e300, le=1e300)]
    source: str
    papers: tuple[str, ...] = ()
    paper: str = ""
    note: str = ""


@dataclass(frozen=True)
class Alternative:
    """Another score printed for the same reference, the paper (and its key) that prints it, and a remark."""

    score: float
    source: str
    paper: str
    note: str


@dataclass(frozen=True)
class Reference:
    """One game's reference score, the value that we use.

    `kind` is that of a uniformly random player, an average human, or the human world record; `source` is the original
    paper and the table that it was read in, `papers` their keys in the catalogue's ``sources.toml``; `note` has the
    reason for this value if sources disagree, and the copy that it was read in if not the original; `alternatives` are
    other sources' values.
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

    "ale-55" has only random scores, obtained under its own protocol. ArcadeMarkError: the kind or the suite is unknown
    (`UnknownNameError`), or the suite has no references of that kind.
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
    """Return a suite's reference scores of one kind by task; errors are those of `references`."""
    return {task: reference.score for task, reference in references(kind, suite).items()}


def disagreements() -> tuple[Reference, ...]:
    """Return the references for which another published source prints another score."""
    groups = read_references().values()
    return tuple(reference for group in groups for reference in group.values() if reference.alternatives)


@cache
def read_references() -> Mapping[tuple[str, str], Mapping[str, Reference]]:
    """Return all references by (suite, kind) and task, each suite's in its order."""
    others: Mapping[_Key, list[Alternative]] = grouped(
        ((row.suite, row.kind, row.task), Alternative(row.score, row.source, row.paper, row.note))
        for row in read_records("disagreements.csv", _Row)
    )
    rows: dict[_Key, _Row] = {(row.suite, row.kind, row.task): row for row in read_records("references.csv", _Row)}
    references: dict[tuple[str, str], dict[str, Reference]] = {}
    for suite in tasks.suites().values():
        for kind, task in product(suite.references, suite.tasks):
            row, alternatives = rows[suite.name, kind, task], tuple(others.get((suite.name, kind, task), ()))
            reference = Reference(task, row.kind, row.score, row.source, row.papers, row.note, alternatives)
            references.setdefault((suite.name, kind), {})[task] = reference
    return references
