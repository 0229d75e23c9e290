"""The Atari-5 paper's robustness check (§5.3) and case study (§7, Tables 4 and 5).

Both depend on scores that the paper does not print. Go-Explore's are in the review; those of §7 are not available, so
each of its numbers is checked against the others: it agrees if it follows from numbers whose printed form, rounded or
truncated, is the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from arcademark.catalogue import collections
from arcademark.metrics import aggregate, normalise
from arcademark.metrics.ranking import inversions
from arcademark.reproduce.atari5 import data
from arcademark.reproduce.atari5.data import printed, stated
from arcademark.reproduce.comparison import PrintedComparison, like, number
from arcademark.subset.predict.model import from_subset
from arcademark.suite import references
from arcademark.suite.protocols import protocol
from arcademark.suite.subsets import subset

BASELINE = "Rainbow"


def robustness() -> Iterator[PrintedComparison]:
    """Check §5.3: Go-Explore, from the review's scores."""
    true, guess = go_explore()
    yield stated("go-explore-median", f"{true:,.0f}")
    yield stated("go-explore-estimate", f"{guess:,.0f}, an overestimate of {100 * (guess - true) / true:.1f}%", False)
    yield stated("go-explore-excess", f"{100 * (1620 / 1446 - 1):.1f}%", False)
    short = [name for name in ("Nature DQN", "Planning") if name in data.raw()]
    cap = protocol("dqn-2015").max_frames_per_episode or 0
    yield stated("frame-cap", f"mixed: {' and '.join(short)} had {cap:,} frames", False)


def go_explore() -> tuple[float, float]:
    """Return Go-Explore's median and Atari-5's estimate of it, in percent, from the review's scores."""
    entry = next(item for item in collections.entries("review-2021") if item.algorithm == "Go-Explore")
    scores = {task: result.score for task, result in collections.scores_of(entry).items()}
    tasks = tuple(scores)
    percent = normalise.hns(list(scores.values()), references.scores("random"), references.scores("human"), tasks)
    model = from_subset(subset("atari-5"))
    guess = model.predict([percent[tasks.index(task)] for task in model.tasks])
    return float(aggregate.median(percent)), float(guess)


def relative() -> Iterator[PrintedComparison]:
    """Check Table 5: Table 4 relative to Rainbow."""
    base = printed(4)[BASELINE]
    for name, cells in printed(5).items():
        for column, cell, mine, theirs in zip(("median", "Atari-5"), cells, printed(4)[name], base, strict=False):
            result = [a / b for a, b in itertools.product(_ends(mine), _ends(theirs))]
            possible = [1.0] if name == BASELINE else result
            yield _within(f"Table 5, {name}, {column}", cell, _plain(mine) / _plain(theirs), possible)
    yield from relative_errors(5)


def relative_errors(table: int) -> Iterator[PrintedComparison]:
    """Check the relative errors of Table 4 or 5 against Table 4's medians and estimates."""
    base = printed(4)[BASELINE][:2] if table == 5 else ()
    for name, cells in printed(table).items():
        numbers = (*printed(4)[name][:2], *base)
        result = [_error(*values) for values in itertools.product(*map(_ends, numbers))]
        possible = [0.0] if base and name == BASELINE else result
        yield _within(f"Table {table}, {name}, relative error", cells[2], _error(*map(_plain, numbers)), possible)


def _error(true: float, guess: float, base: float = 1.0, base_guess: float = 1.0) -> float:
    return 100 * abs(guess / base_guess / (true / base) - 1)


def case_study() -> Iterator[PrintedComparison]:
    """Check §7: its statements on Tables 4 and 5."""
    four, five = printed(4), printed(5)
    errors = [_plain(cells[2]) for cells in four.values()]
    average = float(np.mean(errors))
    yield stated("errors", f"{min(errors)}%-{max(errors)}%")
    yield stated("errors-average", f"{average:.2f}%", abs(average - 18.9) <= 0.05 + 1e-9)
    ratios = [_plain(cells[1]) / _plain(cells[0]) for cells in four.values()]
    text = f"{min(ratios):.2f} to {max(ratios):.2f}, on average {np.mean(ratios):.2f}"
    yield stated("similar-ratio", text, abs(np.mean(ratios) - 0.8) < 0.02)
    rest = [_plain(cells[2]) for name, cells in five.items() if name != BASELINE]
    yield stated("relative-errors", f"{min(rest)}%-{max(rest)}%")
    yield stated("relative-errors-average", f"{np.mean(rest):.1f}%")
    turned = inversions(*({name: _plain(cells[column]) for name, cells in four.items()} for column in (0, 1)))
    text = f"{len(turned)}: " + "; ".join(map(" and ".join, turned))
    yield stated("inversions", text, [set(pair) for pair in turned] == [{"C51", "IQN"}])
    yield stated("rainbow-median", f"{data.medians()['Rainbow (noop)']:.0f}", False)
    yield stated("lindenberg")


def _within(where: str, cell: str, exact: float, possible: Sequence[float]) -> PrintedComparison:
    """Compare a printed cell with the values possible for numbers that round to the printed ones."""
    shown, text, (low, high) = number(cell), like(cell, exact), (min(possible), max(possible))
    if cell == text:
        return PrintedComparison(where, cell, text, "agrees")
    if low - shown.half_unit <= shown.value <= high + shown.half_unit:
        return PrintedComparison(
            where, cell, text, "agrees", f"from numbers that print as those do: {low:.4g} to {high:.4g}"
        )
    return PrintedComparison(where, cell, text, "differs")


def _ends(text: str) -> tuple[float, float]:
    """Return the smallest and the largest number whose printed form, rounded or truncated, is this text."""
    result = number(text)
    return result.value - result.half_unit, result.value + 2 * result.half_unit


def _plain(text: str) -> float:
    return number(text).value
