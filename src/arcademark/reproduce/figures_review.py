"""The review's Figures 1 to 4 from the catalogue: normalised scores, broken records, and what they cost in frames.

The text says of Figures 1 to 3 that they show mean and median of one percentage each and the training scale, and of
Figure 4 that it shows broken records, game time in years and learning efficiency. Algorithms stand in the order of the
review's tables.
"""

from __future__ import annotations

from collections.abc import Sequence

from arcademark.catalogue.model import Location
from arcademark.errors import ArcadeMarkError
from arcademark.metrics import efficiency
from arcademark.reproduce import review_values
from arcademark.reproduce.figures import Panel, PaperFigure, Scale, Series

PAPER = "fan-2021"
BILLION = 1e9
_QUANTITIES = {1: ("hns", "HNS"), 2: ("hwrns", "HWRNS"), 3: ("saber", "SABER")}
_SCALES: dict[str, Scale] = {"hns": "log", "hwrns": "linear", "saber": "linear"}
"""HNS span four decades; shares of the record are to be seen as such, from none to all."""
_MARKS = {"hns": (100.0,), "hwrns": (100.0,), "saber": (100.0,)}
_MEANINGS = {
    "hns": "100 % is the average human",
    "hwrns": "100 % is the human world record",
    "saber": "100 % is the human world record, and every game's score is held within 0 and 200 %",
}
_TABLES = {"hns": "Tables 3 to 6", "hwrns": "Tables 7 to 10", "saber": "Tables 11 to 14"}
"""Where the paper prints what Figures 1 to 3 show."""


def figure(number: int) -> PaperFigure:
    """Return the review's figure of that number, 1 to 4, made from the collection "review-2021".

    Raises
    ------
    ArcadeMarkError
        Where there is no such figure.
    """
    if number == 4:
        return records()
    if number in _QUANTITIES:
        return percentages(number)
    raise ArcadeMarkError(f"the review has no Figure {number}; it has Figures 1 to 4")


def percentages(number: int) -> PaperFigure:
    """Return Figure 1, 2 or 3: mean and median of one percentage, and training frames."""
    quantity, name = _QUANTITIES[number]
    names = algorithms()
    means, medians = ([_cell(row, algorithm, quantity) for algorithm in names] for row in ("mean", "median"))
    scale = _SCALES[quantity]
    return PaperFigure(
        PAPER,
        number,
        f"Figure {number}: mean and median {name}, and training frames",
        f"Mean and median {name} over the games that each algorithm has a score in, from raw scores and full "
        f"references; {_MEANINGS[quantity]}. The paper prints these means and medians in {_TABLES[quantity]}.",
        (
            _bars(f"Mean {name}", "%", names, means, scale, _MARKS[quantity]),
            _bars(f"Median {name}", "%", names, medians, scale, _MARKS[quantity]),
            _bars("Training frames", "billion frames", names, [frames(name) / BILLION for name in names], "log"),
        ),
    )


def records() -> PaperFigure:
    """Return Figure 4: broken records, game time and broken records a billion frames."""
    names = algorithms()
    broken = [_cell("hwrb", name, "hwrns") for name in names]
    years = [float(efficiency.game_time_days(frames(name))) / efficiency.DAYS_PER_YEAR for name in names]
    breaking = [name for name, count in zip(names, broken, strict=True) if count]
    rates = [
        float(efficiency.learning_efficiency(_cell("hwrb", name, "hwrns"), frames(name))) * BILLION for name in breaking
    ]
    without = [name for name in names if name not in breaking]
    return PaperFigure(
        PAPER,
        4,
        "Figure 4: broken human world records, game time and learning efficiency",
        "Human world records broken (of 57), the years that the training frames last at 60 a second (the review "
        "reckons with 55.6 a second, 8 % more), and records broken a billion training frames. "
        f"{' and '.join(without)} breaks no record and is left out of the third chart, as the paper does.",
        (
            _bars("Human world records broken", "records", names, broken, "linear"),
            _bars("Game time", "years", names, years, "log"),
            _bars("Learning efficiency", "records a billion frames", breaking, rates, "log"),
        ),
    )


def algorithms() -> tuple[str, ...]:
    """Return the algorithms with scores, in the review's order."""
    return tuple(review_values.ours().scores)


def frames(algorithm: str) -> int:
    """Return an algorithm's training frames."""
    return review_values.ours().frames[algorithm]


def _cell(row: str, algorithm: str, quantity: str) -> float:
    found = review_values.value(Location(0, row, algorithm, quantity), review_values.ours())
    if found is None:
        raise LookupError(f"{algorithm} has no {row} of {quantity}")
    return float(found)


def _bars(
    title: str, unit: str, names: Sequence[str], values: Sequence[float], scale: Scale, marks: tuple[float, ...] = ()
) -> Panel:
    details = tuple(_scale_of(frames(name)) for name in names)
    return Panel(title, "bars", unit, (Series(title, tuple(values)),), tuple(names), details, scale=scale, marks=marks)


def _scale_of(count: int) -> str:
    return f"{count / BILLION:g}B" if count >= BILLION else f"{count / 1e6:g}M"
