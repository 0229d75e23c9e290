"""What any games tell of all, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from arcademark.report import layout, wording
from arcademark.report.reproductions import game_name
from arcademark.subset.outlook import Next, Outlook, Range

COUNTS = ("at human level", "records broken")
NEXT = 5
"""Games to play next that are named."""
ODD = 1.05
"""From this many times as wide on, it is told."""


def parts(name: str, found: Outlook, *, games: bool) -> Iterator[RenderableType]:
    """Yield summaries with their intervals and what to play next; with ``games`` every game, too."""
    made = layout.table("over all games", "", "from", "to")
    for title, item in found.summaries.items():
        made.add_row(Text(title), *_cells(item, count=title in COUNTS))
    content: list[RenderableType] = [made]
    if found.plays:
        content += [Text(), Text(_next(found.plays))]
    if games and found.tasks:
        listed = layout.table("game", "%", "from", "to")
        for task, item in found.tasks.items():
            listed.add_row(Text(game_name(task)), *_cells(item))
        content += [Text(), listed]
    content += [Text(_intervals(found), style="dim")]
    yield from layout.section(f"{name}, from {wording.plural(len(found.known), 'game')}", *content)


def _cells(item: Range, *, count: bool = False) -> tuple[str, ...]:
    values = (item.value, item.low, item.high)
    return tuple(wording.percent(value) if value is None or not count else f"{value:.0f}" for value in values)


def _next(plays: tuple[Next, ...]) -> str:
    told = [f"{game_name(play.task)} (−{100 * (1 - play.left):.0f}\N{NO-BREAK SPACE}%)" for play in plays[:NEXT]]
    if len({play.frames for play in plays}) > 1:
        return f"Play next, for most taken off the median's uncertainty per frame: {wording.listing(told)}."
    return f"Play next, for what that takes off the median's uncertainty: {wording.listing(told)}."


def _intervals(found: Outlook) -> str:
    told = (
        f"Intervals are for {100 * found.level:g} % of algorithms of other papers: made wide enough on "
        f"{found.algorithms} algorithms of {found.groups} papers, each told without its own paper."
    )
    if found.oddness < ODD:
        return told
    return f"{told} Here they are {found.oddness:.1f} times as wide, for these scores do not go together."
