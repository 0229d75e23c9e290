"""What ``arcademark subset search --sizes`` shows: the best subset of every size, how far off, and how it is proven."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.reports.subsets import validating
from arcademark.reports.subsets.dataset import Normalised
from arcademark.reports.subsets.searching import Asked, Begin, Session, Setup
from arcademark.reports.subsets.validating import Validation
from arcademark.subset.predict.model import SubsetModel
from arcademark.subset.problem import Problem
from arcademark.subset.progress import Progress
from arcademark.subset.search.prepared import Incomplete
from arcademark.subset.search.search import Candidate, Certificate, r2_of_all, search

OBJECTIVES: Mapping[str, Incomplete] = MappingProxyType({"best": "leave out", "charged": "charge"})
"""What becomes of incomplete cases, by how subsets are chosen."""
MOST = 200
"""Sizes that may be asked for at once."""


@dataclass(frozen=True)
class Sized:
    """The best subset of a size.

    error, spread: Cross-validated error and its standard error: a relative error, as a fraction, where scores are
        log-transformed, else in the target's own units.
    r2_of_all: R² over all algorithms, where those that are left out count as predicted by the mean; None without
        variance.
    nested: Errors on papers left out of the search; None if not asked for.
    """

    size: int
    best: Candidate
    error: float
    spread: float
    r2_of_all: float | None
    certificate: Certificate
    model: SubsetModel
    nested: Validation | None = None


@dataclass(frozen=True)
class Series:
    """The best subsets by one objective.

    incomplete: What becomes of algorithms without a subset's scores.
    sizes: Ascending.
    """

    incomplete: Incomplete
    sizes: tuple[Sized, ...]


@dataclass(frozen=True)
class EverySize(Setup):
    """The best subsets of every size.

    series: By the mean over complete cases; where scores are missing, also with a charge for who is left out. Or the
        one that was asked for.
    """

    SCHEMA: ClassVar[str] = "arcademark.subset-sizes/3"
    series: tuple[Series, ...]


def read_sizes(text: str) -> tuple[int, ...]:
    """Read sizes, "1-10" or "3,5,8-10", at most `MOST`; ascending."""
    found: set[int] = set()
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d{1,4})\s*(?:[-\N{EN DASH}]\s*(\d{1,4})\s*)?", part)
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (0, 0)
        if not 1 <= first <= last:
            raise ArcadeMarkError(f"--sizes {text}: {part.strip()!r} is no size; ask for 1-10, or for 3,5,8-10")
        found.update(range(first, last + 1))
    if len(found) > MOST:
        raise ArcadeMarkError(f"--sizes {text}: {len(found):,} sizes, expected at most {MOST}")
    return tuple(sorted(found))


def every_size(
    scores: Normalised, asked: Asked, sizes: Sequence[int], name: str, progress: Begin = None, *, both: bool = True
) -> EverySize:
    """Search every size, and put together what is shown.

    In both ways where scores are missing, if ``both``, and not only as ``asked.choose`` says.
    """
    session = Session(scores, asked, name, progress)
    objectives: tuple[Incomplete, ...] = (OBJECTIVES[asked.choose],)
    if both and np.isnan(session.problem.X).any():
        objectives = tuple(OBJECTIVES.values())
    series = tuple(Series(objective, tuple(_series(session, objective, sizes))) for objective in objectives)
    return EverySize(**session.setup(), series=series)


def _series(session: Session, objective: Incomplete, sizes: Sequence[int]) -> Iterator[Sized]:
    asked, charged = session.asked, objective == "charge"
    options = {**asked.options(), "incomplete": objective, "top": 1}

    def bar(size: int) -> Progress | None:
        return session.bar("all charged" if charged else "", size)

    def chosen(sample: Problem) -> Mapping[str, Candidate]:
        return {str(size): search(sample, size, **options).best for size in sizes}

    results = {size: search(session.problem, size, progress=bar(size), **options) for size in sizes}
    nested = session.nested(chosen)
    log = asked.transform == validating.LOG
    for size, found in results.items():
        best, held = found.best, nested.get(str(size))
        r2 = r2_of_all(session.problem, best)
        yield Sized(
            size=size,
            best=best,
            error=best.relative_error if log else best.cv_mae,
            spread=best.standard_error * (np.log(10.0) if log else 1.0),
            r2_of_all=r2 if np.isfinite(r2) else None,
            certificate=found.certificate,
            model=session.model(best, f"{size}{'-charged' if charged else ''}", found.certificate, held),
            nested=held,
        )
