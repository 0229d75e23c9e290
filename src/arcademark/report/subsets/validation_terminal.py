"""Nested errors and stability in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType

from arcademark.report import layout, wording
from arcademark.report.layout import Text
from arcademark.report.subsets.validating import LOG, Interval, Resampled, Validation
from arcademark.subset.stability import Win

MOST = 5
"""Winners that are named."""
TASKS = 10
"""Tasks whose share of the winners is named."""


def nested(
    found: Validation, error: float, best: Sequence[str], titles: Mapping[str, str], transform: str
) -> Iterator[RenderableType]:
    """Yield nested errors beside the error that chose the subset.

    Parameters
    ----------
    found : Validation
    error : float
        The winner's cross-validated error, in the same units.
    best : sequence of str
        The winner's tasks.
    titles : mapping of str to str
        Tasks' names for people.
    transform : str
    """
    log = transform == LOG

    def told(value: float) -> str:
        return wording.percent(100 * value) if log else f"{value:.3g}"

    made = layout.table("error", "mean", "median", "worst", "n")
    made.add_row(Text("cross-validated, as it was chosen"), told(error), "", "", "")
    made.add_row(
        Text("nested: chosen without the paper", style="bold"),
        told(found.mean),
        told(found.median),
        told(found.worst),
        str(len(found.held)),
    )
    yield made
    yield Text(
        f"Nested: each of {found.papers} papers was left out, all was searched again from scratch, and its algorithms "
        f"were predicted. Each paper counted once, the mean is {told(found.mean_of_papers)}. "
        f"Worst: {found.worst_algorithm}."
    )
    if found.unpredicted:
        yield Text(
            f"Not predicted: {wording.shortened(found.unpredicted)}, lacking scores that were chosen.", style="dim"
        )
    yield Text()
    yield _intervals(found.intervals, log)
    usual = found.usual
    size = usual.factor if log else usual.reach
    if size is not None:
        yield Text(
            f"The model keeps the {100 * usual.level:g}\N{NO-BREAK SPACE}% interval as {'×/÷' if log else '±'} "
            f"{size:.3g} for usual scores, and wider where scores extrapolate; so it "
            f"held {usual.inside} of {usual.of}."
        )
    yield Text()
    yield from winners(f"Without {found.papers} papers, one at a time,", found.papers, found.winners, best, titles)


def bootstrap(found: Resampled, best: Sequence[str], titles: Mapping[str, str]) -> Iterator[RenderableType]:
    """Yield what won on samples of the algorithms."""
    title = f"On {found.times:,} samples of the algorithms, drawn with replacement,"
    yield from winners(title, found.times, found.winners, best, titles)
    shares = [
        f"{titles[name]} {100 * times / found.times:.0f}\N{NO-BREAK SPACE}%" for name, times in found.tasks.items()
    ]
    yield Text(f"In the winner, of all samples: {', '.join(shares[:TASKS])}.")
    if found.failed:
        yield Text(f"On {wording.count(found.failed)} nothing could be chosen.", style="dim")


def _intervals(intervals: Sequence[Interval], log: bool) -> RenderableType:
    made = layout.table("interval", "×/÷" if log else "±", "held", "of papers'")
    for item in intervals:
        size = item.factor if log else item.reach
        made.add_row(
            Text(f"{100 * item.level:g}\N{NO-BREAK SPACE}%"),
            wording.MISSING if size is None else f"{size:.3g}",
            f"{item.inside} of {item.of}",
            wording.percent(100 * item.of_papers),
        )
    made.caption = (
        "Prediction intervals for algorithms of another paper, and how many truths they held: each paper's by "
    )
    made.caption += "the others' errors."
    made.caption_justify = "left"
    return made


def winners(
    title: str, times: int, won: Sequence[Win], best: Sequence[str], titles: Mapping[str, str]
) -> Iterator[RenderableType]:
    """Yield how often the best wins when the search is repeated, and who else does."""
    same = sum(win.times for win in won if tuple(win.tasks) == tuple(best))
    others = f"; {len(won):,} subsets win in all:" if len(won) > 1 else ":"
    yield Text(f"{title} it wins {same:,} of {wording.plural(times, 'time')}{others}")
    made = layout.table("winner", "times")
    for win in won[:MOST]:
        made.add_row(Text(", ".join(titles[task] for task in win.tasks)), str(win.times))
    yield made
