"""Searches that build on each other: the Atari-5 paper's plan (§4.3), on any problem.

The best five are chosen from all tasks, three from these five, and one from these three, so that a small evaluation can
be extended. Three tasks for tuning, then extended to five, share none with the first five; and the first five are
extended to ten by tasks that are not among the five for tuning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arcademark.errors import UnknownNameError
from arcademark.subset.problem import Problem, Progress
from arcademark.subset.search.search import SearchResult, search


@dataclass(frozen=True)
class SearchStep:
    """One search of a plan; later steps refer to its best subset by its name.

    ``include``, ``within`` and ``exclude`` name the earlier step whose tasks it must include, must be chosen from, or
    must exclude; "" for none.
    """

    name: str
    size: int
    include: str = ""
    within: str = ""
    exclude: str = ""


ATARI_5: tuple[SearchStep, ...] = (
    SearchStep("5", 5),
    SearchStep("3", 3, within="5"),
    SearchStep("1", 1, within="3"),
    SearchStep("3-val", 3, exclude="5"),
    SearchStep("5-val", 5, include="3-val", exclude="5"),
    SearchStep("10", 10, include="5", exclude="5-val"),
)
"""The paper's plan."""

PLANS: Mapping[str, tuple[SearchStep, ...]] = {"atari-5": ATARI_5}


def plan(name: str) -> tuple[SearchStep, ...]:
    """Return a plan by its name; raise UnknownNameError if there is none."""
    if name not in PLANS:
        raise UnknownNameError("plan", name, PLANS)
    return PLANS[name]


def follow(
    problem: Problem,
    steps: Sequence[SearchStep] = ATARI_5,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    within: Collection[str] | None = None,
    progress: Callable[[SearchStep], Progress] | None = None,
    **options: Any,
) -> Mapping[str, SearchResult]:
    """Search step by step; return results by the steps' names, in their order.

    Steps may only name earlier ones. The first subset must have the tasks in ``include``, none may have those in
    ``exclude``, and all tasks are chosen from ``within`` if given. ``progress`` returns the progress callback of a
    step's search; ``options`` are those of each `search`.

    Raises
    ------
    ArcadeMarkError
        As `search`.
    """
    result: dict[str, SearchResult] = {}
    for place, step in enumerate(steps):
        result[step.name] = search(
            problem,
            step.size,
            include=(*_tasks(step.include, result), *(include if place == 0 else ())),
            exclude=(*_tasks(step.exclude, result), *exclude),
            within=_tasks(step.within, result) if step.within else within,
            progress=None if progress is None else progress(step),
            **options,
        )
    return result


def _tasks(name: str, result: Mapping[str, SearchResult]) -> tuple[str, ...]:
    return result[name].best.tasks if name else ()
