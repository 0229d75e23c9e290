"""What any games tell of all, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from arcademark.report import layout, wording
from arcademark.report.layout import Text
from arcademark.report.subsets.predicting import Predicted
from arcademark.subset.outlook import Next, Outlook, Range
from arcademark.suite.tasks import game_name

NEXT = 5
"""Games to play next that are named."""
NOTABLE = 1.05
"""Factor from which on wider intervals are mentioned."""


def parts(name: str, found: Outlook, shown: Predicted, *, games: bool) -> Iterator[RenderableType]:
    """Yield summaries with their intervals and what to play next; with ``games`` every game, too."""
    made = layout.table(f"over all {shown.noun}s", "", "from", "to", "±")
    for title, item in found.summaries.items():
        made.add_row(Text(title), *_cells(item), _error(item))
    content: list[RenderableType] = [made]
    if found.plays:
        content += [Text(), Text(_next(found.plays))]
    if games and found.tasks:
        listed = layout.table(shown.noun, "%", "from", "to")
        for task, item in found.tasks.items():
            listed.add_row(Text(_title(task, shown)), *_cells(item))
        content += [Text(), listed]
    content += [Text(line, style="dim") for line in _intervals(found, shown)]
    yield from layout.section(f"{name}, from {wording.plural(len(found.known), shown.noun)}", *content)


def _title(task: str, shown: Predicted) -> str:
    return game_name(task) if shown.noun == "game" else task


def _cells(item: Range) -> tuple[str, ...]:
    values = (item.value, item.low, item.high)
    return tuple(
        wording.percent(value) if value is None or item.unit == "score" else f"{value:.0f}" for value in values
    )


def _error(item: Range) -> str:
    if item.unit == "count":
        return ""
    return wording.percent(100 * item.error if item.error < float("inf") else None)


def _next(plays: tuple[Next, ...]) -> str:
    told = [f"{game_name(play.task)} (−{100 * (1 - play.left):.0f}\N{NO-BREAK SPACE}%)" for play in plays[:NEXT]]
    if len({play.frames for play in plays}) > 1:
        return f"Play next, for most taken off the median's uncertainty per frame: {wording.listing(told)}."
    return f"Play next, for what that takes off the median's uncertainty: {wording.listing(told)}."


def _intervals(found: Outlook, shown: Predicted) -> Iterator[str]:
    if not found.tasks:
        yield f"All {shown.noun}s are known: nothing is predicted."
        return
    algorithms = wording.plural(found.algorithms, "algorithm")
    of, each = (f" of {found.groups} papers", "its own paper") if shown.groups == "papers" else ("", "itself")
    told = (
        f"Intervals are for {100 * found.level:g} % of algorithms{' of other papers' if of else ''}: made wide enough "
        f"on {algorithms}{of}, each predicted without {each}. Known scores are taken as exact."
    )
    wider = f" Here they are {found.oddness:.1f} times as wide, as these scores are unlike those in the training table."
    yield told + (wider if found.oddness >= NOTABLE else "")
    if any(item.high is None for item in found.tasks.values()):
        yield f"Where no interval is shown, there are too few {shown.groups} for {100 * found.level:g} %."
