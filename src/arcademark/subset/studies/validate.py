"""Errors of a chosen subset's predictions for algorithms of another paper.

Conventions
-----------
* The error by which a subset was chosen is biased downwards: it is the best of millions, on algorithms of which many
  are from the same paper. *Nested* error leaves out each source in turn, chooses and fits again without it, and
  predicts its algorithms.
* Residuals are true less predicted, in transformed units. Multiplied by ln 10, their absolute values are log errors if
  the target is log₁₀-transformed, as in the Atari-5 paper (Appendix G).
* An algorithm whose scores are a copy of another's from another source would not be out of sample; it is dropped first
  (`copies`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.subset.predict.spread import conformal_half_width, spread
from arcademark.subset.problem import Problem, Progress
from arcademark.subset.search.search import Candidate
from arcademark.suite.subsets import LEVEL

FEWEST_SHARED = 10
"""Positive scores that two algorithms must share before one is called a copy."""
SAME = 0.9
"""Least share of the common positive scores that are equal in a copy."""

LEVELS = (0.5, 0.8, 0.9, 0.95)
"""Coverages of the prediction intervals of a `Validation`."""

Choose: TypeAlias = Callable[[Problem], Mapping[str, Candidate]]
"""Function of a problem that returns the subsets chosen on it, by name: those of one search, or of a plan."""


@dataclass(frozen=True)
class Win:
    """A subset, and the number of times it was chosen."""

    tasks: tuple[str, ...]
    times: int


@dataclass(frozen=True)
class HeldOut:
    """An algorithm that was predicted without its source.

    Parameters
    ----------
    tasks : tuple of str
        Subset chosen without the source.
    true, predicted : float
        In transformed units.
    extrapolation : float
        Factor by which its scores extrapolate beyond other sources' (`arcademark.subset.predict.spread`).
    """

    algorithm: str
    source: str
    tasks: tuple[str, ...]
    true: float
    predicted: float
    extrapolation: float = 1.0

    @property
    def residual(self) -> float:
        """True less predicted."""
        return self.true - self.predicted


@dataclass(frozen=True)
class PredictionInterval:
    """A prediction interval for an algorithm of another paper, and its coverage.

    Parameters
    ----------
    level : float
        Requested coverage.
    half_width : float or None
        Its half-width, in transformed units; None if there are too few papers for the level.
    factor : float or None
        Factor by which 1 + score is multiplied and divided; None without the logarithm.
    inside, of : int
        Number of algorithms whose true value was inside an interval computed without their paper, and of all.
    of_papers : float
        Mean over papers of the share inside.
    """

    level: float
    half_width: float | None
    factor: float | None
    inside: int
    of: int
    of_papers: float


@dataclass(frozen=True)
class Validation:
    """The nested errors of one method of choosing subsets; created by `validation`.

    Parameters
    ----------
    papers : int
        Number of sources, each left out once.
    mean, median, worst, mean_of_papers : float
        Summaries of the absolute errors, the last of the papers' means, each paper counted once: log errors, as
        fractions, if the target is log-transformed, else in its own units.
    worst_algorithm : str
        The algorithm that was predicted worst.
    winners : tuple of Win
        The chosen subsets, the most frequent first.
    intervals : tuple of PredictionInterval
        Intervals at `LEVELS`.
    usual : PredictionInterval
        Interval for usual scores, at the models' level; it is widened by the extrapolation factor of others, and so
        measured (`arcademark.subset.predict.spread`).
    held_out : tuple of HeldOut
        Every prediction, in the problem's order; never empty.
    unpredicted : mapping of str to str
        Algorithms without a prediction, each with the reason.
    """

    papers: int
    mean: float
    median: float
    worst: float
    mean_of_papers: float
    worst_algorithm: str
    winners: tuple[Win, ...]
    intervals: tuple[PredictionInterval, ...]
    usual: PredictionInterval
    held_out: tuple[HeldOut, ...]
    unpredicted: Mapping[str, str]

    def errors(self, *, usual: bool = False) -> tuple[tuple[float, ...], ...]:
        """Return the absolute residuals, ascending, one tuple per source; if `usual`, scaled to usual scores."""
        return _errors(self.held_out, usual=usual)

    def wins(self, tasks: tuple[str, ...]) -> int:
        """Count how often these tasks were chosen."""
        return sum(win.times for win in self.winners if win.tasks == tasks)


def validation(
    held_out: Sequence[HeldOut], unpredicted: Mapping[str, str], winners: Sequence[Win], *, log: bool = True
) -> Validation:
    """Summarise predictions; ``log`` is True for a log-transformed target."""
    unit = math.log(10.0) if log else 1.0
    by_source = _errors(held_out)
    sizes = [unit * abs(item.residual) for item in held_out]
    worst = int(np.argmax(sizes))
    return Validation(
        papers=sum(win.times for win in winners),
        mean=float(np.mean(sizes)),
        median=float(np.median(sizes)),
        worst=sizes[worst],
        mean_of_papers=float(np.mean([np.mean([unit * size for size in errors]) for errors in by_source])),
        worst_algorithm=held_out[worst].algorithm,
        winners=tuple(winners),
        intervals=tuple(coverage(by_source, level, log=log) for level in LEVELS),
        usual=coverage(_errors(held_out, usual=True), LEVEL, log=log),
        held_out=tuple(held_out),
        unpredicted=unpredicted,
    )


def _errors(held_out: Sequence[HeldOut], *, usual: bool = False) -> tuple[tuple[float, ...], ...]:
    """Return the absolute residuals by source; if ``usual``, each divided by its extrapolation factor."""
    sizes = ((item.source, abs(item.residual) / (item.extrapolation if usual else 1.0)) for item in held_out)
    return tuple(tuple(sorted(theirs)) for theirs in grouped(sizes).values())


def coverage(errors: Sequence[tuple[float, ...]], level: float, *, log: bool = True) -> PredictionInterval:
    """Measure the coverage of intervals, each source's computed from the others' residuals.

    ``errors`` are the absolute residuals, one tuple per source.
    """
    inside = []
    for place, sizes in enumerate(errors):
        others = conformal_half_width((*errors[:place], *errors[place + 1 :]), level)
        inside.append([size <= others for size in sizes])
    half_width = conformal_half_width(errors, level)
    finite = math.isfinite(half_width)
    return PredictionInterval(
        level=level,
        half_width=half_width if finite else None,
        factor=float(10.0**half_width) if finite and log else None,
        inside=sum(map(sum, inside)),
        of=sum(map(len, errors)),
        of_papers=float(np.mean([np.mean(answers) for answers in inside])),
    )


def copies(problem: Problem, sources: Mapping[str, str]) -> Mapping[str, str]:
    """Return the algorithms that are copies of another one from another source, each with the original.

    Two algorithms are copies if at least `FEWEST_SHARED` scores above the least possible are common to both, and the
    share `SAME` of these is equal. The one with more scores, or the first, is the original.
    """
    count = np.isfinite(problem.X).sum(axis=1)
    order = sorted(range(len(problem.algorithms)), key=lambda row: (-count[row], row))
    result: dict[str, str] = {}
    kept: list[int] = []
    for row in order:
        name = problem.algorithms[row]
        twin = next((other for other in kept if _same(problem, row, other, sources)), None)
        if twin is None:
            kept.append(row)
        else:
            result[name] = problem.algorithms[twin]
    return result


def _same(problem: Problem, row: int, other: int, sources: Mapping[str, str]) -> bool:
    if _source(problem, row, sources) == _source(problem, other, sources):
        return False
    a, b = problem.X[row], problem.X[other]
    both = np.isfinite(a) & np.isfinite(b) & ((a > 0) | (b > 0))
    equal = np.isclose(a[both], b[both], rtol=1e-9, atol=0.0)
    return bool(both.sum() >= FEWEST_SHARED and equal.mean() >= SAME)


def nested(
    problem: Problem,
    sources: Mapping[str, str],
    choose: Choose,
    progress: Progress | None = None,
    *,
    log: bool = True,
) -> Mapping[str, Validation]:
    """Leave each source out, choose again without it, and predict its algorithms.

    ``sources`` are by algorithm: the paper that first published its scores, not the file that they were read from.
    ``choose`` chooses tasks and coefficients, by name, in a search or a plan. ``log`` is True for a log-transformed
    target, so that errors are relative.

    Raises
    ------
    ArcadeMarkError
        If an algorithm has no source, all have the same, or no subset can be chosen, or used for predictions.
    """
    owner = [_source(problem, row, sources) for row in range(len(problem.algorithms))]
    double = copies(problem, sources)
    rows = [row for row, name in enumerate(problem.algorithms) if name not in double]
    names = list(dict.fromkeys(owner[row] for row in rows))
    if len(names) < 2:
        raise ArcadeMarkError(
            f"nested error: all algorithms are from {names[0]!r}; expected at least two sources, to leave one out"
        )
    held: dict[str, dict[int, HeldOut]] = {}
    reasons: dict[str, dict[str, str]] = {}
    choices = []
    for done, source in enumerate(names, start=1):
        others = problem.with_algorithms([row for row in rows if owner[row] != source])
        choices.append(choose(others))
        for name, chosen in choices[-1].items():
            predicted = held.setdefault(name, {})
            lacking = reasons.setdefault(name, {twin: f"a copy of {first}" for twin, first in double.items()})
            usual = spread(others, chosen.tasks)
            for row in (row for row in rows if owner[row] == source):
                scores, algorithm = problem.X[row, list(problem.positions(chosen.tasks))], problem.algorithms[row]
                lost = [task for task, score in zip(chosen.tasks, scores, strict=True) if not np.isfinite(score)]
                if lost:
                    lacking[algorithm] = f"no score on {', '.join(lost)}, chosen without its source"
                    continue
                guess = float(scores @ np.array(chosen.coefficients))
                extrapolation = usual.extrapolation(scores)
                predicted[row] = HeldOut(algorithm, source, chosen.tasks, float(problem.y[row]), guess, extrapolation)
        if progress is not None:
            progress(done, len(names))
    result = {}
    for name, items in held.items():
        if not items:
            which = f" ({name})" if name else ""
            raise ArcadeMarkError(
                f"nested error{which}: no algorithm has scores on all tasks that were chosen without its source; "
                "search for fewer tasks"
            )
        in_order = tuple(items[row] for row in sorted(items))
        result[name] = validation(in_order, reasons[name], _winners(choices, name), log=log)
    return result


def _winners(choices: Iterable[Mapping[str, Candidate]], name: str) -> tuple[Win, ...]:
    """Return the number of times each subset was chosen, the most frequent first, then by tasks."""
    won = Counter(chosen[name].tasks for chosen in choices if name in chosen)
    return tuple(Win(tasks, times) for tasks, times in sorted(won.items(), key=lambda item: (-item[1], item[0])))


def _source(problem: Problem, row: int, sources: Mapping[str, str]) -> str:
    name = problem.algorithms[row]
    if name not in sources:
        raise ArcadeMarkError(f"nested error: no source of {name!r} is known; name the paper of every algorithm")
    return sources[name]
