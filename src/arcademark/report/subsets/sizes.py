"""What ``arcademark subset search --sizes`` shows: the best subset of every size, how far off, and how it is proven."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.report.subsets import searching, validating
from arcademark.report.subsets.dataset import Normalised
from arcademark.report.subsets.searching import Asked, Setup
from arcademark.report.subsets.validating import Validation
from arcademark.subset import sizes as every
from arcademark.subset import validate
from arcademark.subset.model import SubsetModel
from arcademark.subset.prepared import Incomplete
from arcademark.subset.problem import Problem
from arcademark.subset.progress import Progress
from arcademark.subset.search import Candidate, Certificate
from arcademark.subset.sizes import SizedSubset

OBJECTIVES: Mapping[str, Incomplete] = MappingProxyType({"best": "leave out", "charged": "charge"})
"""What becomes of incomplete cases, by how subsets are chosen."""
MOST = 200
"""Sizes that may be asked for at once."""


@dataclass(frozen=True)
class Sized:
    """The best subset of a size.

    Parameters
    ----------
    size : int
    best : Candidate
    error, spread : float
        Cross-validated error and its standard error: a relative error, as a fraction, where scores are
        log-transformed, else in the target's own units.
    r2_of_all : float or None
        R² over all algorithms, where those that are left out count as predicted by the mean; None without variance.
    certificate : Certificate
    model : SubsetModel
    nested : Validation or None
        Errors on papers left out of the search; None if not asked for.
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

    Parameters
    ----------
    incomplete : {"leave out", "charge"}
        What becomes of algorithms without a subset's scores.
    sizes : tuple of Sized
        Ascending.
    """

    incomplete: Incomplete
    sizes: tuple[Sized, ...]


@dataclass(frozen=True)
class EverySize(Setup):
    """The best subsets of every size.

    Parameters
    ----------
    series : tuple of Series
        By the mean over complete cases; where scores are missing, also with a charge for who is left out. Or the one
        that was asked for.
    """

    SCHEMA: ClassVar[str] = "arcademark.subset-sizes/1"
    series: tuple[Series, ...]


def read_sizes(text: str) -> tuple[int, ...]:
    """Read sizes, "1-10" or "3,5,8-10"; ascending.

    Raises
    ------
    ArcadeMarkError
        Where it is no such list.
    """
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
    scores: Normalised,
    asked: Asked,
    sizes: Sequence[int],
    name: str,
    progress: Callable[[str, int], Progress] | None = None,
    *,
    both: bool = True,
) -> EverySize:
    """Search every size, and put together what is shown.

    Parameters
    ----------
    scores : Normalised
    asked : Asked
        But size, plan, and what is repeated for one subset.
    sizes : sequence of int
    name : str
        Of the table, for the models' names.
    progress : callable, optional
        Given a step's name and size, returns what is told how far its search is.
    both : bool, optional
        Whether to choose in both ways where scores are missing, and not only as ``asked.choose`` says.

    Raises
    ------
    ArcadeMarkError
        Where ``asked.choose`` is no way to choose every size; and as `arcademark.subset.search.search` and
        `arcademark.subset.problem.make_problem`.
    """
    problem = searching.problem_of(scores, asked)
    if asked.choose not in OBJECTIVES:
        raise ArcadeMarkError(f"--choose {asked.choose} takes one size; with --sizes choose {' or '.join(OBJECTIVES)}")
    objectives: tuple[Incomplete, ...] = (OBJECTIVES[asked.choose],)
    if both and np.isnan(problem.X).any():
        objectives = tuple(OBJECTIVES.values())
    return EverySize(
        **searching.setup(problem, scores, asked),
        series=tuple(
            Series(objective, _series(problem, objective, scores, asked, sizes, name, progress))
            for objective in objectives
        ),
    )


def _series(
    problem: Problem,
    objective: Incomplete,
    scores: Normalised,
    asked: Asked,
    sizes: Sequence[int],
    name: str,
    progress: Callable[[str, int], Progress] | None,
) -> tuple[Sized, ...]:
    options = _options(asked, objective)

    def told(size: int) -> Progress | None:
        return None if progress is None else progress("" if objective == "leave out" else "all charged", size)

    found = every.every_size(problem, sizes, progress=told if progress else None, **options)  # type: ignore[arg-type]
    nested: Mapping[str, Validation] = {}
    if asked.nested:
        papers = validating.origins(problem.algorithms, scores.papers, asked.papers)

        def choose(sample: Problem) -> Mapping[str, Candidate]:
            return {str(len(item.best.tasks)): item.best for item in every.every_size(sample, sizes, **options)}

        move = None if progress is None else progress("papers left out", 0)
        measured = validate.nested(problem, papers, choose, move)
        nested = {size: validating.validation(item, asked.transform) for size, item in measured.items()}
    return tuple(_sized(item, problem, objective, scores, asked, name, nested) for item in found)


def _sized(
    item: SizedSubset,
    problem: Problem,
    objective: Incomplete,
    scores: Normalised,
    asked: Asked,
    name: str,
    nested: Mapping[str, Validation],
) -> Sized:
    best, size, held = item.best, len(item.best.tasks), nested.get(str(len(item.best.tasks)))
    log = asked.transform == validating.LOG
    title = searching.model_name(name, asked, f"{size}{'-charged' if objective == 'charge' else ''}")
    told = f"the best of {item.certificate.subsets:,} subsets of {name}"
    return Sized(
        size=size,
        best=best,
        error=best.relative_error if log else best.cv_mae,
        spread=best.standard_error * (np.log(10.0) if log else 1.0),
        r2_of_all=item.r2_of_all if np.isfinite(item.r2_of_all) else None,
        certificate=item.certificate,
        model=searching.model_of(best, problem, scores, asked, title, told, held),
        nested=held,
    )


def _options(asked: Asked, objective: Incomplete) -> dict[str, Any]:
    return {
        "include": asked.include,
        "exclude": asked.exclude,
        "within": asked.within or None,
        "nonnegative": asked.nonnegative,
        "folds": asked.folds,
        "fold_seed": asked.fold_seed,
        "bounds": asked.bounds,
        "incomplete": objective,
    }


def models(shown: EverySize) -> tuple[SubsetModel, ...]:
    """Return every subset's model, as named."""
    return tuple(item.model for series in shown.series for item in series.sizes)
