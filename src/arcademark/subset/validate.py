"""How far a chosen subset's predictions are off for algorithms of another paper, and how sure the choice is.

Conventions
-----------
* The error that chose a subset is too kind to it: the best of millions was taken, on algorithms of which many come from
  the same paper. *Nested* error leaves a whole source out, chooses and fits anew from scratch without it, and predicts
  its algorithms; and so for each source.
* Residuals are true less predicted, in transformed units. Times ln 10 their size is a relative error where the target
  is log₁₀-transformed, as in the Atari-5 paper (Appendix G).
* What is chosen with the same scores in it is not out of sample: an algorithm whose scores are a copy of another's, under
  another source, is dropped before anything else (`copies`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, TypeAlias

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.subset.problem import Problem

FEWEST_SHARED = 10
"""Positive scores that two algorithms must share before one is called a copy."""
SAME = 0.9
"""Share of the common positive scores that are equal in a copy."""


class Chosen(Protocol):
    """Tasks and coefficients, one a task: what a search's candidates have."""

    @property
    def tasks(self) -> tuple[str, ...]: ...

    @property
    def coefficients(self) -> tuple[float, ...]: ...


Choose: TypeAlias = Callable[[Problem], Mapping[str, Chosen]]
"""From a problem to what is chosen on it, by name: one search, or all of a plan's."""
Progress: TypeAlias = Callable[[int, int], None]
"""Told how many choices have been made, and how many there are."""


@dataclass(frozen=True)
class Held:
    """An algorithm that was predicted without its source.

    Parameters
    ----------
    algorithm, source : str
    tasks : tuple of str
        What was chosen without the source.
    true, predicted : float
        In transformed units.
    """

    algorithm: str
    source: str
    tasks: tuple[str, ...]
    true: float
    predicted: float

    @property
    def residual(self) -> float:
        """True less predicted."""
        return self.true - self.predicted

    @property
    def relative_error(self) -> float:
        """ln 10 × the residual's size."""
        return math.log(10.0) * abs(self.residual)


@dataclass(frozen=True)
class Win:
    """A subset, and how often it was chosen."""

    tasks: tuple[str, ...]
    times: int


@dataclass(frozen=True)
class Nested:
    """The nested errors of one way to choose.

    Parameters
    ----------
    held : tuple of Held
        In the problem's order; never empty.
    unpredicted : mapping of str to str
        Algorithms without a prediction, each with the reason.
    wins : tuple of Win
        In how many of the choices without a source each subset won, the most frequent first.
    """

    held: tuple[Held, ...]
    unpredicted: Mapping[str, str]
    wins: tuple[Win, ...]

    @property
    def mean(self) -> float:
        """Mean relative error over algorithms."""
        return float(np.mean([item.relative_error for item in self.held]))

    @property
    def median(self) -> float:
        """Median relative error over algorithms."""
        return float(np.median([item.relative_error for item in self.held]))

    @property
    def worst(self) -> Held:
        """The algorithm that was predicted worst."""
        return max(self.held, key=lambda item: item.relative_error)

    @property
    def mean_of_sources(self) -> float:
        """Mean over sources of their algorithms' mean relative errors: each paper counts once."""
        return float(np.mean([np.mean([item.relative_error for item in group]) for group in self.by_source().values()]))

    def by_source(self) -> Mapping[str, tuple[Held, ...]]:
        """Return the predictions by source."""
        found: dict[str, list[Held]] = {}
        for item in self.held:
            found.setdefault(item.source, []).append(item)
        return MappingProxyType({source: tuple(items) for source, items in found.items()})

    def reach(self, level: float) -> float:
        """Return how far an interval for an algorithm of a new source reaches to either side, in transformed units.

        Conformal for algorithms in groups: each source has weight 1 / (sources + 1), shared equally by its algorithms,
        and what is left is put at infinity; the reach is the least size of a residual at which the weights together
        come to the level. If sources are exchangeable, an algorithm of a new one falls inside with at least that
        probability (Lee, Barber and Willett 2023, "Distribution-free inference with hierarchical data").

        Parameters
        ----------
        level : float
            Between 0 and 1.

        Returns
        -------
        float
            Infinite if there are too few sources for the level.

        Raises
        ------
        ArcadeMarkError
            Where the level is no such fraction.
        """
        return _reach(list(self.by_source().values()), level)

    def coverage(self, level: float) -> Coverage:
        """Measure how often such intervals hold what they should: each source's by the others' residuals.

        Raises
        ------
        ArcadeMarkError
            Where the level is no fraction between 0 and 1.
        """
        groups = self.by_source()
        inside: dict[str, list[bool]] = {}
        for source, items in groups.items():
            reach = _reach([others for name, others in groups.items() if name != source], level)
            inside[source] = [abs(item.residual) <= reach for item in items]
        every = [told for answers in inside.values() for told in answers]
        return Coverage(
            level, self.reach(level), sum(every), len(every), float(np.mean([np.mean(a) for a in inside.values()]))
        )


@dataclass(frozen=True)
class Coverage:
    """How often prediction intervals held the truth.

    Parameters
    ----------
    level : float
        What was asked for.
    reach : float
        How far they reach to either side, in transformed units; infinite if there are too few sources for the level.
    inside, of : int
        Algorithms whose truth was inside, and algorithms.
    of_sources : float
        The mean over sources of the share inside.
    """

    level: float
    reach: float
    inside: int
    of: int
    of_sources: float

    @property
    def factor(self) -> float:
        """What an interval multiplies and divides 1 + score by, where the target is log₁₀-transformed."""
        return 10.0**self.reach


@dataclass(frozen=True)
class Repeated:
    """What won when a choice was made again and again.

    Parameters
    ----------
    times : int
        Choices made.
    failed : int
        Of these, such that nothing could be chosen.
    wins : tuple of Win
        The most frequent first.
    """

    times: int
    failed: int
    wins: tuple[Win, ...]

    def tasks(self) -> Mapping[str, int]:
        """Return how often each task was in the winner, the most frequent first."""
        count = Counter({name: 0 for win in self.wins for name in win.tasks})
        for win in self.wins:
            count.update(dict.fromkeys(win.tasks, win.times))
        return MappingProxyType(dict(sorted(count.items(), key=lambda item: (-item[1], item[0]))))


def copies(problem: Problem, sources: Mapping[str, str]) -> Mapping[str, str]:
    """Return the algorithms that are another's copy under another source, each with the one that it is a copy of.

    A copy has, of at least `FEWEST_SHARED` scores above the least possible that both have, nine in ten in common. Of
    two the one with more scores stays, or the first.

    Parameters
    ----------
    problem : Problem
    sources : mapping of str to str
        By algorithm.
    """
    count = np.isfinite(problem.X).sum(axis=1)
    order = sorted(range(len(problem.algorithms)), key=lambda row: (-count[row], row))
    found: dict[str, str] = {}
    kept: list[int] = []
    for row in order:
        name = problem.algorithms[row]
        twin = next((other for other in kept if _same(problem, row, other, sources)), None)
        if twin is None:
            kept.append(row)
        else:
            found[name] = problem.algorithms[twin]
    return MappingProxyType(found)


def _same(problem: Problem, row: int, other: int, sources: Mapping[str, str]) -> bool:
    if _source(problem, row, sources) == _source(problem, other, sources):
        return False
    a, b = problem.X[row], problem.X[other]
    both = np.isfinite(a) & np.isfinite(b) & ((a > 0) | (b > 0))
    equal = np.isclose(a[both], b[both], rtol=1e-9, atol=0.0)
    return bool(both.sum() >= FEWEST_SHARED and equal.mean() >= SAME)


def nested(
    problem: Problem, sources: Mapping[str, str], choose: Choose, progress: Progress | None = None
) -> Mapping[str, Nested]:
    """Leave each source out, choose anew from scratch without it, and predict its algorithms.

    Parameters
    ----------
    problem : Problem
        Whose tasks are what is chosen from each time.
    sources : mapping of str to str
        By algorithm: the paper that its scores were first published in, not the file that they were read from.
    choose : callable
        Whatever chooses tasks and coefficients: a search, a plan, or something better.
    progress : callable, optional
        Told how many sources are done.

    Returns
    -------
    mapping of str to Nested
        By the names that ``choose`` gives.

    Raises
    ------
    ArcadeMarkError
        Where an algorithm has no source, all have the same, or nothing can be chosen or predicted.
    """
    double = copies(problem, sources)
    rows = [row for row, name in enumerate(problem.algorithms) if name not in double]
    owner = {row: _source(problem, row, sources) for row in rows}
    names = list(dict.fromkeys(owner[row] for row in rows))
    if len(names) < 2:
        raise ArcadeMarkError(
            f"nested error: all algorithms come from {names[0]!r}; expected two sources at least, as one is left out"
        )
    held: dict[str, dict[int, Held]] = {}
    reasons: dict[str, dict[str, str]] = {}
    choices = []
    for done, source in enumerate(names, start=1):
        chosen = choose(problem.with_algorithms([row for row in rows if owner[row] != source]))
        choices.append(chosen)
        for name, item in chosen.items():
            told = reasons.setdefault(name, {twin: f"a copy of {first}" for twin, first in double.items()})
            _predict(problem, [row for row in rows if owner[row] == source], source, item, held.setdefault(name, {}), told)
        if progress is not None:
            progress(done, len(names))
    tallied = _tally(choices)
    for name, items in held.items():
        if not items:
            raise ArcadeMarkError(f"nested error: no algorithm has the tasks chosen without its source ({name or 'search'})")
    return MappingProxyType(
        {
            name: Nested(tuple(items[row] for row in sorted(items)), MappingProxyType(reasons[name]), tallied[name])
            for name, items in held.items()
        }
    )


def _predict(
    problem: Problem, rows: Sequence[int], source: str, chosen: Chosen, held: dict[int, Held], reasons: dict[str, str]
) -> None:
    columns = list(problem.positions(chosen.tasks))
    for row in rows:
        scores, name = problem.X[row, columns], problem.algorithms[row]
        lost = [task for task, score in zip(chosen.tasks, scores, strict=True) if not np.isfinite(score)]
        if lost:
            reasons[name] = f"no score on {', '.join(lost)}, chosen without its source"
        else:
            guess = float(scores @ np.array(chosen.coefficients))
            held[row] = Held(name, source, tuple(chosen.tasks), float(problem.y[row]), guess)


def bootstrap(
    problem: Problem,
    choose: Choose,
    replicates: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Mapping[str, Repeated]:
    """Choose again from algorithms drawn with replacement, as many as there are.

    What is drawn twice can stand in a training set and be held out from it, so that errors within a replicate are too
    kind: what wins is of use, not by how much.

    Parameters
    ----------
    problem, choose, progress
        As in `nested`.
    replicates : int
    rng : numpy.random.Generator
    """
    rows = len(problem.algorithms)
    drawn = (problem.with_algorithms(rng.integers(rows, size=rows)) for _ in range(replicates))
    return _repeat((lambda sample=sample: choose(sample) for sample in drawn), replicates, progress)


def over_fold_seeds(
    choose: Callable[[int], Mapping[str, Chosen]], seeds: Sequence[int], progress: Progress | None = None
) -> Mapping[str, Repeated]:
    """Choose again with other shuffles of the folds.

    Parameters
    ----------
    choose : callable
        From a fold seed to what is chosen.
    seeds : sequence of int
    progress : callable, optional
    """
    return _repeat((lambda seed=seed: choose(seed) for seed in seeds), len(seeds), progress)


def _repeat(
    tries: Iterable[Callable[[], Mapping[str, Chosen]]], total: int, progress: Progress | None
) -> Mapping[str, Repeated]:
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
    return MappingProxyType({name: Repeated(total, failed, wins) for name, wins in _tally(choices).items()})


def _tally(choices: Sequence[Mapping[str, Chosen]]) -> Mapping[str, tuple[Win, ...]]:
    counts: dict[str, Counter[tuple[str, ...]]] = {}
    for chosen in choices:
        for name, item in chosen.items():
            counts.setdefault(name, Counter())[tuple(item.tasks)] += 1
    return {
        name: tuple(Win(tasks, times) for tasks, times in sorted(won.items(), key=lambda item: (-item[1], item[0])))
        for name, won in counts.items()
    }


def _reach(groups: Sequence[Sequence[Held]], level: float) -> float:
    if not 0 < level < 1:
        raise ArcadeMarkError(f"level {level:g}, expected a fraction between 0 and 1")
    share = 1.0 / (len(groups) + 1)
    weighted = sorted((abs(item.residual), share / len(items)) for items in groups for item in items)
    reached = 0.0
    for size, weight in weighted:
        reached += weight
        if reached >= level - 1e-12:
            return size
    return math.inf


def _source(problem: Problem, row: int, sources: Mapping[str, str]) -> str:
    name = problem.algorithms[row]
    if name not in sources:
        raise ArcadeMarkError(f"nested error: no source of {name!r} is known; name the paper of every algorithm")
    return sources[name]
