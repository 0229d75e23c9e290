"""The review's Figures 1 to 4 from the catalogue: normalised scores, broken records, and training frames.

According to the text, Figures 1 to 3 show mean and median of one percentage each and the training scale, and Figure 4
shows broken records, game time in years and learning efficiency. Algorithms are in the order of the review's tables.
"""

from __future__ import annotations

from collections.abc import Sequence

from arcademark import wording
from arcademark.metrics import efficiency
from arcademark.reproduce.figures import Panel, PanelSeries, PaperFigure, Scale
from arcademark.reproduce.review.values import PAPER, known, ours

BILLION = 1e9
_SHOWN: dict[int, tuple[str, Scale, str, str]] = {
    1: ("hns", "log", "100 % is the average human", "Tables 3 to 6"),
    2: ("hwrns", "linear", "100 % is the human world record", "Tables 7 to 10"),
    3: (
        "saber",
        "linear",
        "100 % is the human world record, and every game's score is clipped to 0 to 200 %",
        "Tables 11 to 14",
    ),
}
"""Content of Figures 1 to 3: the quantity, its scale (HNS span four decades), its meaning, and where it is printed."""


def figure(number: int) -> PaperFigure:
    """Return Figure 1, 2, 3 or 4, made from the collection "review-2021"."""
    return percentages(number) if number in _SHOWN else records()


def percentages(number: int) -> PaperFigure:
    """Return Figure 1, 2 or 3: mean and median of one percentage, and training frames."""
    quantity, scale, meaning, printed = _SHOWN[number]
    name, names = quantity.upper(), tuple(ours().scores)
    means, medians = ([known(row, quantity, algorithm) for algorithm in names] for row in ("mean", "median"))
    return PaperFigure(
        PAPER,
        number,
        f"Figure {number}: mean and median {name}, and training frames",
        f"Mean and median {name} over the games that each algorithm has a score in, from raw scores and full "
        f"references; {meaning}. The paper prints these means and medians in {printed}.",
        (
            _bars(f"Mean {name}", "%", names, means, scale, (100.0,)),
            _bars(f"Median {name}", "%", names, medians, scale, (100.0,)),
            _bars(
                "Training frames",
                "billion frames",
                names,
                [ours().frames[name] / BILLION for name in names],
                "log",
            ),
        ),
    )


def records() -> PaperFigure:
    """Return Figure 4: broken records, game time and broken records per billion frames."""
    names = tuple(ours().scores)
    broken = [known("hwrb", "hwrns", name) for name in names]
    years = [float(efficiency.game_time_days(ours().frames[name])) / efficiency.DAYS_PER_YEAR for name in names]
    breaking = [name for name, count in zip(names, broken, strict=True) if count]
    efficiencies = [
        efficiency.learning_efficiency(known("hwrb", "hwrns", name), ours().frames[name]) for name in breaking
    ]
    rates = [float(value) * BILLION for value in efficiencies]
    without = [name for name in names if name not in breaking]
    return PaperFigure(
        PAPER,
        4,
        "Figure 4: broken human world records, game time and learning efficiency",
        "Human world records broken (of 57), the years that the training frames last at 60 per second (the review "
        "uses 55.6 per second, 8 % more), and records broken per billion training frames. "
        f"{' and '.join(without)} breaks no record and is omitted from the third chart, as in the paper.",
        (
            _bars("Human world records broken", "records", names, broken, "linear"),
            _bars("Game time", "years", names, years, "log"),
            _bars("Learning efficiency", "records per billion frames", breaking, rates, "log"),
        ),
    )


def _bars(
    title: str, unit: str, names: Sequence[str], values: Sequence[float], scale: Scale, marks: tuple[float, ...] = ()
) -> Panel:
    details = tuple(wording.frames(ours().frames[name]) for name in names)
    return Panel(
        title, "bars", unit, (PanelSeries(title, tuple(values)),), tuple(names), details, scale=scale, marks=marks
    )
