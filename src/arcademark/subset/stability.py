"""How sure a choice of tasks is: what else wins with other folds, or on other algorithms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.subset.problem import Problem
from arcademark.subset.progress import Progress


class Chosen(Protocol):
    """Tasks, coefficients, one a task, and a constant, 0 in models without: what a search's candidates have."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks."""

    @property
    def coefficients(self) -> tuple[float, ...]:
        """The coefficients."""

    @property
    def intercept(self) -> float:
        """The constant; 0 in models without."""


Choose: TypeAlias = Callable[[Problem], Mapping[str, Chosen]]
"""From a problem to what is chosen on it, by name: one search, or all of a plan's."""


@dataclass(frozen=True)
class Win:
    """A subset, and how often it was chosen."""

    tasks: tuple[str, ...]
    times: int


@dataclass(frozen=True)
class Resampled:
    """What won when a choice was made again and again.

    Parameters
    ----------
    times, failed : int
        Choices made, and such of them that nothing could be chosen.
    winners : tuple of Win
        The most frequent first.
    tasks : mapping of str to int
        How often each task was in the winner, the most frequent first.
    """

    times: int
    failed: int
    winners: tuple[Win, ...]
    tasks: Mapping[str, int]


def bootstrap(
    problem: Problem,
    choose: Choose,
    replicates: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Mapping[str, Resampled]:
    """Choose again from algorithms drawn with replacement, as many as there are.

    What is drawn twice can stand in a training set and be held out from it, so that errors within a replicate are too
    low: what wins is of use, not by how much.
    """
    rows = len(problem.algorithms)
    drawn = (problem.with_algorithms(rng.integers(rows, size=rows)) for _ in range(replicates))
    return _repeat((partial(choose, sample) for sample in drawn), replicates, progress)


def over_fold_seeds(
    choose: Callable[[int], Mapping[str, Chosen]], seeds: Sequence[int], progress: Progress | None = None
) -> Mapping[str, Resampled]:
    """Choose again with other shuffles of the folds; ``choose`` takes a fold seed."""
    return _repeat((partial(choose, seed) for seed in seeds), len(seeds), progress)


def _repeat(
    tries: Iterable[Callable[[], Mapping[str, Chosen]]], total: int, progress: Progress | None
) -> Mapping[str, Resampled]:
    choices: list[Mapping[str, Chosen]] = []
    problem: ArcadeMarkError | None = None
    for done, attempt in enumerate(tries, start=1):
        try:
            choices.append(attempt())
        except ArcadeMarkError as error:
            problem = error
        if progress is not None:
            progress(done, total)
    if not choices and problem is not None:
        raise problem
    failed = total - len(choices)
    return {name: Resampled(total, failed, wins, _tasks(wins)) for name, wins in tally(choices).items()}


def _tasks(winners: Sequence[Win]) -> Mapping[str, int]:
    count: Counter[str] = Counter()
    for win in winners:
        count.update(dict.fromkeys(win.tasks, win.times))
    return dict(sorted(count.items(), key=lambda item: (-item[1], item[0])))


def tally(choices: Sequence[Mapping[str, Chosen]]) -> Mapping[str, tuple[Win, ...]]:
    """Count, for each name, how often each subset was chosen; the most frequent first, then by tasks."""
    counts: dict[str, Counter[tuple[str, ...]]] = {}
    for chosen in choices:
        for name, item in chosen.items():
            counts.setdefault(name, Counter())[tuple(item.tasks)] += 1
    return {
        name: tuple(Win(tasks, times) for tasks, times in sorted(won.items(), key=lambda item: (-item[1], item[0])))
        for name, won in counts.items()
    }
