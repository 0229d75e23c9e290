"""How good a search's winner is beyond the scores that chose it: nested error, intervals, what else could have won."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arcademark.errors import ArcadeMarkError
from arcademark.reports import wording
from arcademark.scores.readers.delimited import read_sheet
from arcademark.scores.readers.piped import place
from arcademark.subset import spread as spreads
from arcademark.subset.problem import Problem
from arcademark.subset.spread import Spread
from arcademark.subset.stability import Repeated, Win
from arcademark.subset.validate import Coverage, HeldOut
from arcademark.subset.validate import Nested as Measured
from arcademark.suite.subsets import LEVEL, Nested

LEVELS = (0.5, 0.8, 0.9, 0.95)
"""Of the prediction intervals that are shown."""
LOG = "log10"
COLUMNS = ["algorithm", "paper"]


@dataclass(frozen=True)
class Interval:
    """A prediction interval for an algorithm of another paper, and how often it held the truth.

    Parameters
    ----------
    level : float
        What was asked for.
    reach : float or None
        How far it reaches to either side, in transformed units; None if there are too few papers for the level.
    factor : float or None
        What 1 + score is multiplied and divided by; None without the logarithm.
    inside, of : int
        Algorithms whose truth was inside an interval made without their paper, and algorithms.
    of_papers : float
        The mean over papers of the share inside.
    """

    level: float
    reach: float | None
    factor: float | None
    inside: int
    of: int
    of_papers: float


@dataclass(frozen=True)
class Validation:
    """Nested errors.

    Parameters
    ----------
    papers : int
        How many were left out, one after the other.
    mean, median, worst, mean_of_papers : float
        Of the errors' sizes: relative errors, as fractions, where the target is log-transformed, else in its own units.
    worst_algorithm : str
    winners : tuple of Win
        Which subsets were chosen, and without how many papers.
    intervals : tuple of Interval
    usual : Interval
        For usual scores, at the level that models keep; those of odd scores are as many times as wide, and whether it
        holds is told of intervals so widened (`arcademark.subset.spread`).
    held : tuple of HeldOut
        Every prediction.
    unpredicted : mapping of str to str
        Algorithms without one, each with the reason.
    """

    papers: int
    mean: float
    median: float
    worst: float
    mean_of_papers: float
    worst_algorithm: str
    winners: tuple[Win, ...]
    intervals: tuple[Interval, ...]
    usual: Interval
    held: tuple[HeldOut, ...]
    unpredicted: Mapping[str, str]


@dataclass(frozen=True)
class Resampled:
    """What won on samples of the algorithms, drawn with replacement.

    Parameters
    ----------
    times, failed : int
        Samples, and such of them that nothing could be chosen on.
    winners : tuple of Win
    tasks : mapping of str to int
        How often each task was in the winner.
    """

    times: int
    failed: int
    winners: tuple[Win, ...]
    tasks: Mapping[str, int]


def validation(found: Measured, transform: str) -> Validation:
    """Put together what is shown of nested errors."""
    log = transform == LOG
    unit = 1.0 if log else 1.0 / math.log(10.0)
    worst = found.worst
    return Validation(
        papers=sum(win.times for win in found.wins),
        mean=found.mean * unit,
        median=found.median * unit,
        worst=worst.relative_error * unit,
        mean_of_papers=found.mean_of_sources * unit,
        worst_algorithm=worst.algorithm,
        winners=found.wins,
        intervals=tuple(_interval(found.coverage(level), log) for level in LEVELS),
        usual=_interval(found.usual().coverage(LEVEL), log),
        held=found.held,
        unpredicted=found.unpredicted,
    )


def _interval(measured: Coverage, log: bool) -> Interval:
    finite = math.isfinite(measured.half_width)
    return Interval(
        measured.level,
        measured.half_width if finite else None,
        measured.factor if finite and log else None,
        measured.inside,
        measured.of,
        measured.of_sources,
    )


def kept(found: Validation | None) -> Nested | None:
    """Return what a model keeps of nested errors; None if there are none."""
    if found is None:
        return None
    return Nested(found.mean, found.median, found.worst, len(found.held), _held(found).errors())


def spread(found: Validation | None, problem: Problem, tasks: Sequence[str]) -> Spread | None:
    """Return what a model keeps to widen intervals by; None where `kept` is None."""
    return None if found is None else spreads.spread(problem, tasks, _held(found).usual().errors())


def _held(found: Validation) -> Measured:
    return Measured(found.held, found.unpredicted, found.winners)


def resampled(found: Repeated) -> Resampled:
    """Put together what is shown of a bootstrap."""
    return Resampled(found.times, found.failed, found.wins, found.tasks())


def read_papers(path: Path) -> Mapping[str, str]:
    """Read which paper each algorithm's scores were first published in: a CSV file with the columns algorithm, paper.

    Raises
    ------
    ArcadeMarkError
        Where it cannot be read, a column or a name is missing, or an algorithm stands twice.
    """
    sheet = read_sheet(place(path))
    columns = [sheet.find((name,)) for name in COLUMNS]
    if None in columns:
        raise ArcadeMarkError(f"{path}: columns {', '.join(sheet.header)}; expected algorithm and paper")
    read = [sheet.names(column) for column in columns if column is not None]
    found: dict[str, str] = {}
    for row in range(sheet.size):
        algorithm, paper = (names[codes[row]] for codes, names, _ in read)
        if algorithm in found:
            raise ArcadeMarkError(
                f"{path}, row {sheet.line(row)}: {algorithm!r} stands twice; name each algorithm once"
            )
        found[algorithm] = paper
    return found


def origins(algorithms: Sequence[str], known: Mapping[str, str], papers: Path | None) -> Mapping[str, str]:
    """Return each algorithm's paper: as the file says, else as the catalogue does, else itself.

    Raises
    ------
    ArcadeMarkError
        As `read_papers`, or where the file names none of the algorithms.
    """
    told = {} if papers is None else read_papers(papers)
    if papers is not None and not told.keys() & set(algorithms):
        names = wording.shortened(algorithms)
        raise ArcadeMarkError(f"{papers}: names none of the algorithms, {names}; write them as in the table of scores")
    return {name: told.get(name, known.get(name, name)) for name in algorithms}
