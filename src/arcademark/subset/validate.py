"""How far a chosen subset's predictions are off for algorithms of another paper.

Conventions
-----------
* The error that chose a subset is too kind to it: the best of millions was taken, on algorithms of which many come from
  the same paper. *Nested* error leaves a whole source out, chooses and fits anew from scratch without it, and predicts
  its algorithms; and so for each source.
* Residuals are true less predicted, in transformed units. Times ln 10 their size is a relative error where the target
  is log₁₀-transformed, as in the Atari-5 paper (Appendix G).
* What was chosen with the very scores in it is not out of sample: an algorithm whose scores are a copy of another's,
  under another source, is dropped before anything else (`copies`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.subset.problem import Problem
from arcademark.subset.progress import Progress
from arcademark.subset.spread import spread
from arcademark.subset.stability import Choose, Chosen, Win, tally
from arcademark.suite.subsets import conformal_half_width

FEWEST_SHARED = 10
"""Positive scores that two algorithms must share before one is called a copy."""
SAME = 0.9
"""Share of the common positive scores that are equal in a copy."""


@dataclass(frozen=True)
class HeldOut:
    """An algorithm that was predicted without its source.

    Parameters
    ----------
    algorithm, source : str
    tasks : tuple of str
        What was chosen without the source.
    true, predicted : float
        In transformed units.
    oddness : float
        How far its scores extrapolate beyond those of the other sources: a factor (`arcademark.subset.spread`).
    """

    algorithm: str
    source: str
    tasks: tuple[str, ...]
    true: float
    predicted: float
    oddness: float = 1.0

    @property
    def residual(self) -> float:
        """True less predicted."""
        return self.true - self.predicted

    @property
    def relative_error(self) -> float:
        """Ln 10 × the residual's size."""
        return math.log(10.0) * abs(self.residual)


@dataclass(frozen=True)
class Nested:
    """The nested errors of one way to choose.

    Parameters
    ----------
    held : tuple of HeldOut
        In the problem's order; never empty.
    unpredicted : mapping of str to str
        Algorithms without a prediction, each with the reason.
    wins : tuple of Win
        In how many of the choices without a source each subset won, the most frequent first.
    """

    held: tuple[HeldOut, ...]
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
    def worst(self) -> HeldOut:
        """The algorithm that was predicted worst."""
        return max(self.held, key=lambda item: item.relative_error)

    @property
    def mean_of_sources(self) -> float:
        """Mean over sources of their algorithms' mean relative errors: each paper counts once."""
        return float(np.mean([np.mean([item.relative_error for item in group]) for group in self.by_source().values()]))

    def by_source(self) -> Mapping[str, tuple[HeldOut, ...]]:
        """Return the predictions by source."""
        found: dict[str, list[HeldOut]] = {}
        for item in self.held:
            found.setdefault(item.source, []).append(item)
        return MappingProxyType({source: tuple(items) for source, items in found.items()})

    def usual(self) -> Nested:
        """Return the same with every residual divided by its extrapolation factor: what usual scores' would be.

        An interval from these is multiplied by the extrapolation factor of the scores that it is for.
        """
        usual = [dataclasses.replace(item, predicted=item.true - item.residual / item.oddness) for item in self.held]
        return dataclasses.replace(self, held=tuple(usual))

    def half_width(self, level: float) -> float:
        """Return how far an interval for an algorithm of a new source half_widths to either side, in transformed units.

        Conformal, the sources being the groups: see `arcademark.suite.subsets.conformal_half_width`.

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
        return conformal_half_width(self.errors(), level)

    def errors(self) -> tuple[tuple[float, ...], ...]:
        """Return the residuals' sizes, ascending, a tuple a source."""
        return tuple(tuple(sorted(abs(item.residual) for item in items)) for items in self.by_source().values())

    def coverage(self, level: float) -> Coverage:
        """Measure how often such intervals hold what they should: each source's by the others' residuals.

        Raises
        ------
        ArcadeMarkError
            Where the level is no fraction between 0 and 1.
        """
        groups, errors = self.by_source(), self.errors()
        half_widths = {
            source: conformal_half_width(errors[:place] + errors[place + 1 :], level)
            for place, source in enumerate(groups)
        }
        return dataclasses.replace(_covered(groups, half_widths, level), half_width=self.half_width(level))


@dataclass(frozen=True)
class Coverage:
    """How often prediction intervals held the truth.

    Parameters
    ----------
    level : float
        What was asked for.
    half_width : float
        In transformed units; infinite if there are too few sources for the level.
    inside, of : int
        Algorithms whose truth was inside, and algorithms.
    of_sources : float
        The mean over sources of the share inside.
    """

    level: float
    half_width: float
    inside: int
    of: int
    of_sources: float

    @property
    def factor(self) -> float:
        """What an interval multiplies and divides 1 + score by, where the target is log₁₀-transformed."""
        return float(10.0**self.half_width)


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
    owner = [_source(problem, row, sources) for row in range(len(problem.algorithms))]
    double = copies(problem, sources)
    rows = [row for row, name in enumerate(problem.algorithms) if name not in double]
    names = list(dict.fromkeys(owner[row] for row in rows))
    if len(names) < 2:
        raise ArcadeMarkError(
            f"nested error: all algorithms come from {names[0]!r}; expected two sources at least, as one is left out"
        )
    held: dict[str, dict[int, HeldOut]] = {}
    reasons: dict[str, dict[str, str]] = {}
    choices = []
    for done, source in enumerate(names, start=1):
        others = problem.with_algorithms([row for row in rows if owner[row] != source])
        chosen = choose(others)
        choices.append(chosen)
        for name, item in chosen.items():
            told = reasons.setdefault(name, {twin: f"a copy of {first}" for twin, first in double.items()})
            out = [row for row in rows if owner[row] == source]
            _predict(problem, others, out, source, item, held.setdefault(name, {}), told)
        if progress is not None:
            progress(done, len(names))
    tallied = tally(choices)
    for name, items in held.items():
        if not items:
            which = f" ({name})" if name else ""
            raise ArcadeMarkError(
                f"nested error{which}: no algorithm has scores on all tasks that were chosen without its source; "
                "search for fewer tasks"
            )
    return MappingProxyType(
        {
            name: Nested(tuple(items[row] for row in sorted(items)), MappingProxyType(reasons[name]), tallied[name])
            for name, items in held.items()
        }
    )


def _covered(groups: Mapping[str, Sequence[HeldOut]], half_widths: Mapping[str, float], level: float) -> Coverage:
    inside = {name: [abs(item.residual) <= half_widths[name] for item in items] for name, items in groups.items()}
    every = [told for answers in inside.values() for told in answers]
    half_width = float(np.mean([half_widths[name] for name in groups]))
    return Coverage(level, half_width, sum(every), len(every), float(np.mean([np.mean(a) for a in inside.values()])))


def _predict(
    problem: Problem,
    others: Problem,
    rows: Sequence[int],
    source: str,
    chosen: Chosen,
    held: dict[int, HeldOut],
    reasons: dict[str, str],
) -> None:
    columns, usual = list(problem.positions(chosen.tasks)), spread(others, chosen.tasks)
    for row in rows:
        scores, name = problem.X[row, columns], problem.algorithms[row]
        lost = [task for task, score in zip(chosen.tasks, scores, strict=True) if not np.isfinite(score)]
        if lost:
            reasons[name] = f"no score on {', '.join(lost)}, chosen without its source"
        else:
            guess = chosen.intercept + float(scores @ np.array(chosen.coefficients))
            extrapolation = usual.extrapolation(scores)
            held[row] = HeldOut(name, source, tuple(chosen.tasks), float(problem.y[row]), guess, extrapolation)


def _source(problem: Problem, row: int, sources: Mapping[str, str]) -> str:
    name = problem.algorithms[row]
    if name not in sources:
        raise ArcadeMarkError(f"nested error: no source of {name!r} is known; name the paper of every algorithm")
    return sources[name]
