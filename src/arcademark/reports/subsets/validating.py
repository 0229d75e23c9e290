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
from arcademark.subset.predict.spread import Spread, spread
from arcademark.subset.problem import Problem
from arcademark.subset.studies.validate import HeldOut, Interval, Win
from arcademark.subset.studies.validate import Nested as Measured
from arcademark.suite.subsets import LEVEL, Nested

LEVELS = (0.5, 0.8, 0.9, 0.95)
"""Of the prediction intervals that are shown."""
LOG = "log10"
COLUMNS = ["algorithm", "paper"]


@dataclass(frozen=True)
class Validation:
    """Nested errors.

    papers: How many were left out, one after the other.
    mean, median, worst, mean_of_papers: Of the errors' sizes: relative errors, as fractions, where the target is
        log-transformed, else in its own units.
    winners: Which subsets were chosen, and without how many papers.
    usual: For usual scores, at the level that models keep; those of others are as many times as wide as they
        extrapolate, and so measured (`arcademark.subset.predict.spread`).
    held_out: Every prediction.
    unpredicted: Algorithms without one, each with the reason.
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
    held_out: tuple[HeldOut, ...]
    unpredicted: Mapping[str, str]


def validation(measured: Measured, transform: str) -> Validation:
    """Put together what is shown of nested errors."""
    log = transform == LOG
    unit = 1.0 if log else 1.0 / math.log(10.0)
    return Validation(
        papers=sum(win.times for win in measured.winners),
        mean=measured.mean * unit,
        median=measured.median * unit,
        worst=measured.worst.relative_error * unit,
        mean_of_papers=measured.mean_of_sources * unit,
        worst_algorithm=measured.worst.algorithm,
        winners=measured.winners,
        intervals=tuple(measured.coverage(level, log=log) for level in LEVELS),
        usual=measured.usual().coverage(LEVEL, log=log),
        held_out=measured.held_out,
        unpredicted=measured.unpredicted,
    )


def kept(errors: Validation) -> Nested:
    """Return what a model keeps of nested errors."""
    return Nested(errors.mean, errors.median, errors.worst, len(errors.held_out), _measured(errors).errors())


def spread_of(errors: Validation, problem: Problem, tasks: Sequence[str]) -> Spread:
    """Return what a model keeps to widen intervals by."""
    return spread(problem, tasks, _measured(errors).usual().errors())


def _measured(errors: Validation) -> Measured:
    return Measured(errors.held_out, errors.unpredicted, errors.winners)


def read_papers(path: Path) -> Mapping[str, str]:
    """Read which paper each algorithm is of: a CSV file with the columns algorithm and paper, each algorithm once."""
    sheet = read_sheet(place(path))
    columns = [sheet.find((name,)) for name in COLUMNS]
    if None in columns:
        raise ArcadeMarkError(f"{path}: columns {', '.join(sheet.header)}; expected algorithm and paper")
    read = [sheet.names(column) for column in columns if column is not None]
    papers: dict[str, str] = {}
    for row in range(sheet.size):
        algorithm, paper = (names[codes[row]] for codes, names, _ in read)
        if algorithm in papers:
            raise ArcadeMarkError(
                f"{path}, row {sheet.line(row)}: {algorithm!r} stands twice; name each algorithm once"
            )
        papers[algorithm] = paper
    return papers


def origins(algorithms: Sequence[str], known: Mapping[str, str], papers: Path | None) -> Mapping[str, str]:
    """Return each algorithm's paper: as the file says, else as the catalogue does, else itself.

    A file that names none of the algorithms is refused.
    """
    named = {} if papers is None else read_papers(papers)
    if papers is not None and not named.keys() & set(algorithms):
        names = wording.shortened(algorithms)
        raise ArcadeMarkError(f"{papers}: names none of the algorithms, {names}; write them as in the table of scores")
    return {name: named.get(name, known.get(name, name)) for name in algorithms}
