"""The Atari-5 paper's robustness check (§5.3) and case study (§7, Tables 4 and 5).

Both rest on scores that the paper does not print. Go-Explore's are in the review; those of §7 are not available, so
each of its numbers is checked against the others: it agrees if numbers that print as those do, rounded or cut off,
can give it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from arcademark.catalogue import collections
from arcademark.metrics import aggregate, normalise
from arcademark.reproduce import atari5_data as data
from arcademark.reproduce.claims import decided, gone
from arcademark.reproduce.comparison import Comparison
from arcademark.reproduce.numbers import like, number
from arcademark.subset.model import from_subset
from arcademark.subset.study import inversions
from arcademark.suite import references
from arcademark.suite.protocols import protocol
from arcademark.suite.subsets import subset

BASELINE = "Rainbow"
LOST = "The scores of the paper that it rests on (Lindenberg et al. 2022) are not available; the printed numbers fit."


def robustness() -> tuple[Comparison, ...]:
    """Check §5.3: Go-Explore, from the review's scores."""
    return tuple(_robustness())


def _robustness() -> Iterator[Comparison]:
    true, guess = go_explore()
    yield decided("§5.3, Go-Explore: the true median", "1,446", f"{true:,.0f}", holds=round(true) == 1446)
    told = f"{guess:,.0f}, an overestimate of {100 * (guess - true) / true:.1f}%"
    yield data.slip("§5.3, Go-Explore: the Atari-5 estimate", told)
    yield data.slip("§5.3, Go-Explore: by how much 1,620 exceeds 1,446", f"{100 * (1620 / 1446 - 1):.1f}%")
    short = [name for name in ("Nature DQN", "Planning") if name in data.raw()]
    cap = protocol("dqn-2015").max_frames_per_episode or 0
    told = f"mixed: {' and '.join(short)} had {cap:,} frames"
    yield data.slip("§5.3: the frame cap of the dataset", told)


def go_explore() -> tuple[float, float]:
    """Return Go-Explore's median and Atari-5's estimate of it, in percent, from the review's scores."""
    entry = next(item for item in collections.entries("review-2021") if item.algorithm == "Go-Explore")
    scores = {task: result.score for task, result in collections.scores_of(entry).items()}
    tasks = tuple(scores)
    percent = normalise.hns(list(scores.values()), references.scores("random"), references.scores("human"), tasks)
    model = from_subset(subset("atari-5"))
    guess = model.predict([percent[tasks.index(task)] for task in model.tasks])
    return float(aggregate.median(percent)), float(guess)


def medians() -> tuple[Comparison, ...]:
    """Check Table 4: each relative error from the median and the estimate printed beside it."""
    return tuple(_errors(4, data.printed(4)))


def relative() -> tuple[Comparison, ...]:
    """Check Table 5: Table 4 relative to Rainbow."""
    return tuple(_relative())


def _relative() -> Iterator[Comparison]:
    base = data.printed(4)[BASELINE]
    for name, cells in data.printed(5).items():
        for column, cell, mine, theirs in zip(("median", "Atari-5"), cells, data.printed(4)[name], base, strict=False):
            exact = 1.0 if name == BASELINE else number(mine).value / number(theirs).value
            low, high = (1.0, 1.0) if name == BASELINE else _ratios(mine, theirs)
            yield _within(f"Table 5, {name}, {column}", cell, like(cell, exact), low, high)
    yield from _errors(5, data.printed(5))


def _errors(table: int, rows: object) -> Iterator[Comparison]:
    assert isinstance(rows, type(data.printed(table)))
    for name, (true, guess, error) in rows.items():
        where = f"Table {table}, {name}, relative error"
        if table == 5:
            base = data.printed(4)[BASELINE]
            mine = data.printed(4)[name]
            found = (
                [0.0]
                if name == BASELINE
                else [
                    100 * abs(b / d / (a / c) - 1)
                    for a, b, c, d in itertools.product(*map(_ends, (mine[0], mine[1], base[0], base[1])))
                ]
            )
            exact = 100 * abs(_plain(mine[1]) / _plain(base[1]) / (_plain(mine[0]) / _plain(base[0])) - 1)
        else:
            found = [100 * abs(b - a) / a for a, b in itertools.product(_ends(true), _ends(guess))]
            exact = 100 * abs(_plain(guess) - _plain(true)) / _plain(true)
        yield _within(where, error, like(error, exact), min(found), max(found))


def case_study() -> tuple[Comparison, ...]:
    """Check §7: what its text says of Tables 4 and 5."""
    return tuple(_case_study())


def _case_study() -> Iterator[Comparison]:
    four, five = data.printed(4), data.printed(5)
    errors = [_plain(cells[2]) for cells in four.values()]
    yield _said("§7: relative errors on the four algorithms", "12.6%-26.0%", f"{min(errors)}%-{max(errors)}%")
    yield decided(
        "§7: their average", "18.9%", f"{np.mean(errors):.2f}%", holds=abs(float(np.mean(errors)) - 18.9) <= 0.05 + 1e-9
    )
    ratios = [_plain(cells[1]) / _plain(cells[0]) for cells in four.values()]
    yield decided(
        "§7: estimates are too low by a similar ratio",
        "about 0.80",
        f"{min(ratios):.2f} to {max(ratios):.2f}, on average {np.mean(ratios):.2f}",
        holds=abs(float(np.mean(ratios)) - 0.8) < 0.02,
    )
    rest = [_plain(cells[2]) for name, cells in five.items() if name != BASELINE]
    yield _said("§7: relative errors once relative to Rainbow", "3.5%-9.0%", f"{min(rest)}%-{max(rest)}%")
    yield _said("§7: their average, Rainbow left out", "6.7%", f"{np.mean(rest):.1f}%")
    names = list(four)
    turned = inversions([_plain(four[name][0]) for name in names], [_plain(four[name][1]) for name in names])
    told = f"{len(turned)}: " + "; ".join(f"{names[i]} and {names[j]}" for i, j in turned)
    yield decided(
        "§7: inversions of the order", "one, C51 and IQN", told, holds=_pairs(names, turned) == [{"C51", "IQN"}]
    )
    yield data.slip("§7 and Tables 3 and 8: Rainbow's median", f"{data.medians()['Rainbow (noop)']:.0f}")
    yield gone("§7: the four algorithms' scores", "their arXiv preprint's", LOST)


def _pairs(names: Sequence[str], turned: Sequence[tuple[int, int]]) -> list[set[str]]:
    return [{names[i], names[j]} for i, j in turned]


def _within(where: str, cell: str, told: str, low: float, high: float) -> Comparison:
    """Compare a printed cell with what numbers that round to the printed ones can give."""
    half = number(cell).half_unit
    value = number(cell).value
    if cell == told:
        return Comparison(where, cell, told, "agrees")
    if low - half <= value <= high + half:
        return Comparison(where, cell, told, "agrees", f"from numbers that print as those do: {low:.4g} to {high:.4g}")
    return Comparison(where, cell, told, "differs")


def _ratios(mine: str, theirs: str) -> tuple[float, float]:
    found = [a / b for a, b in itertools.product(_ends(mine), _ends(theirs))]
    return min(found), max(found)


def _ends(text: str) -> tuple[float, float]:
    """Return the smallest and the largest number that a print can stand for, rounded or cut off."""
    found = number(text)
    return found.value - found.half_unit, found.value + 2 * found.half_unit


def _plain(text: str) -> float:
    return number(text).value


def _said(where: str, printed: str, recomputed: str) -> Comparison:
    return decided(where, printed, recomputed, holds=printed == recomputed)
