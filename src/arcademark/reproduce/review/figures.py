"""The review's Figures 1 to 4 from the catalogue: normalised scores, broken records, and what they cost in frames.

The text says of Figures 1 to 3 that they show mean and median of one percentage each and the training scale, and of
Figure 4 that it shows broken records, game time in years and learning efficiency. Algorithms stand in the order of the
review's tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from arcademark import wording
from arcademark.catalogue.model import Location
from arcademark.metrics import efficiency
from arcademark.reproduce.figures import Panel, PanelSeries, PaperFigure, Scale, chosen
from arcademark.reproduce.review import values as review_values
from arcademark.reproduce.review.values import PAPER

BILLION = 1e9
_SHOWN: dict[int, tuple[str, Scale, str, str]] = {
    1: ("hns", "log", "100 % is the average human", "Tables 3 to 6"),
    2: ("hwrns", "linear", "100 % is the human world record", "Tables 7 to 10"),
    3: (
        "saber",
        "linear",
        "100 % is the human world record, and every game's score is held within 0 and 200 %",
        "Tables 11 to 14",
    ),
}
"""What Figures 1 to 3 show: the quantity, its scale (HNS span four decades), its meaning, and where it is printed."""


def figure(number: int) -> PaperFigure:
    """Return Figure 1, 2, 3 or 4, made from the collection "review-2021"."""
    made = {known: partial(percentages, known) for known in _SHOWN}
    return chosen(number, {**made, 4: records}, "the review")


def percentages(number: int) -> PaperFigure:
    """Return Figure 1, 2 or 3: mean and median of one percentage, and training frames."""
    quantity, scale, meaning, printed = _SHOWN[number]
    name, names = quantity.upper(), algorithms()
    means, medians = ([_cell(row, algorithm, quantity) for algorithm in names] for row in ("mean", "median"))
    return PaperFigure(
        PAPER,
        number,
        f"Figure {number}: mean and median {name}, and training frames",
        f"Mean and median {name} over the games that each algorithm has a score in, from raw scores and full "
        f"references; {meaning}. The paper prints these means and medians in {printed}.",
        (
            _bars(f"Mean {name}", "%", names, means, scale, (100.0,)),
            _bars(f"Median {name}", "%", names, medians, scale, (100.0,)),
            _bars("Training frames", "billion frames", names, [frames(name) / BILLION for name in names], "log"),
        ),
    )


def records() -> PaperFigure:
    """Return Figure 4: broken records, game time and broken records a billion frames."""
    names = algorithms()
    broken = [_cell("hwrb", name, "hwrns") for name in names]
    years = [float(efficiency.game_time_days(frames(name))) / efficiency.DAYS_PER_YEAR for name in names]
    breaking = [name for name, count in zip(names, broken, strict=True) if count]
    efficiencies = [efficiency.learning_efficiency(_cell("hwrb", name, "hwrns"), frames(name)) for name in breaking]
    rates = [float(value) * BILLION for value in efficiencies]
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
    result = review_values.value(Location(0, row, algorithm, quantity), review_values.ours())
    assert result is not None, algorithm
    return float(result)


def _bars(
    title: str, unit: str, names: Sequence[str], values: Sequence[float], scale: Scale, marks: tuple[float, ...] = ()
) -> Panel:
    details = tuple(wording.frames(frames(name)) for name in names)
    return Panel(
        title, "bars", unit, (PanelSeries(title, tuple(values)),), tuple(names), details, scale=scale, marks=marks
    )
