"""Algorithms against each other, in the terminal: fits 80 columns, and needs neither colour nor a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.rule import Rule
from rich.table import Table

from arcademark.report import sections, wording
from arcademark.report.layout import WIDE, Console, Text, lines, notice, prose, section, show, table
from arcademark.report.tables import words
from arcademark.report.tables.comparison import Comparison, GameDifference, Pair, Sensitivity

MOST_FLIPS = 8
"""Pairs of algorithms whose order changes that are named one by one, unless all is asked for."""

VERDICTS = {"better": "bold green", "worse": "bold red", "undecided": "", "untested": "dim"}


def render(found: Comparison, console: Console, *, everything: bool = False) -> None:
    """Print the document.

    Parameters
    ----------
    found : Comparison
    console : layout.Console
        Its width decides the layout; its colour system whether there are colours.
    everything : bool, optional
        Whether to show every ranking, and of several pairs every game.
    """
    show(parts(found, console.width, everything=everything), console)


def parts(found: Comparison, width: int, *, everything: bool = False) -> Iterator[RenderableType]:
    """Yield what `render` prints, from top to bottom."""
    yield Text(found.title, style="bold")
    yield Rule(characters="━", style="dim")
    yield from section("", *(notice(told) for told in found.warnings))
    yield from section("", *(Text(source, style="dim") for source in found.sources))
    if len(found.pairs) == 1:
        yield from _one(found, found.pairs[0], width)
    else:
        yield from _several(found, width, everything=everything)
    if found.sensitivity is not None:
        yield from _sensitivity(found, found.sensitivity, everything=everything)
    if found.hard_exploration is not None:
        yield from sections.hard_exploration(found.hard_exploration, everyone=everything)
    yield from section("", *(notice(told) for told in found.notes if everything or told.kind != "settings"))


def _one(found: Comparison, pair: Pair, width: int) -> Iterator[RenderableType]:
    yield from section("At a glance", *map(Text, words.verdicts(found, pair)))
    yield from section("Differences of the summaries, in percentage points", _summaries(pair))
    yield from section(
        f"{words.noun(found.benchmark).title()}s: {pair.first} less {pair.second}", _games(found, pair, width)
    )


def _several(found: Comparison, width: int, *, everything: bool) -> Iterator[RenderableType]:
    yield from section("Each against each", _pairs(found))
    for pair in found.pairs if everything else ():
        yield from section(
            f"{words.noun(found.benchmark).title()}s: {pair.first} less {pair.second}", _games(found, pair, width)
        )


def _pairs(found: Comparison) -> Table:
    made = table(
        "first",
        "second",
        "games",
        ("better", "–worse"),
        ("P(first beats", "second)"),
        ("median", found.metric_title, "difference"),
        ("IQM", found.metric_title, "difference"),
        left=2,
    )
    for pair in found.pairs:
        shown = {item.statistic: item.difference for item in pair.summaries if item.metric == found.metric}
        made.add_row(
            Text(pair.first, style="bold"),
            Text(pair.second, style="bold"),
            str(len(pair.games)),
            f"{pair.better} –{pair.worse}" if pair.untested < len(pair.games) else wording.MISSING,
            _stacked(words.share(pair.improvement.value), words.share_span(pair.improvement)),
            *(
                _stacked(wording.percent(shown[key].value), words.span(shown[key])) if key in shown else wording.MISSING
                for key in ("median", "iqm")
            ),
        )
    return made


def _stacked(value: str, span: str) -> RenderableType:
    return lines(value, span) if span else Text(value)


def _summaries(pair: Pair) -> Table:
    made = table("metric", "summary", pair.first, pair.second, "difference", "interval", "relative", left=2)
    made.columns[0].no_wrap = True
    for column in made.columns[2:4]:
        column.no_wrap = False
        column.overflow = "fold"
    before = ""
    for index, item in enumerate(pair.summaries):
        last = index + 1 == len(pair.summaries) or pair.summaries[index + 1].metric != item.metric
        made.add_row(
            item.title if item.metric != before else "",
            words.SHORT[item.statistic],
            wording.percent(item.first),
            wording.percent(item.second),
            Text(wording.percent(item.difference.value), style="bold"),
            words.span(item.difference) or wording.MISSING,
            wording.MISSING if item.relative is None else f"{item.relative:.2f}",
            end_section=last,
        )
        before = item.metric
    return made


def _games(found: Comparison, pair: Pair, width: int) -> Table:
    made = table(
        words.noun(found.benchmark),
        *((pair.first, pair.second) if width >= WIDE else ()),
        "difference",
        found.metric_title,
        "p",
        "verdict",
        "beats",
        ("runs", "needed"),
    )
    for game in pair.games:
        made.add_row(
            Text(found.game(game.game).name),
            *((wording.score(game.first), wording.score(game.second)) if width >= WIDE else ()),
            Text(wording.score(game.difference), style="bold"),
            wording.percent(game.normalised),
            words.p_value(game.p),
            Text(game.verdict, style=VERDICTS[game.verdict]),
            words.share(game.improvement),
            _runs(game),
        )
    return made


def _runs(game: GameDifference) -> str:
    return wording.MISSING if game.seeds_needed is None else wording.count(game.seeds_needed)


def _sensitivity(found: Comparison, told: Sensitivity, *, everything: bool) -> Iterator[RenderableType]:
    title = "Does the order change under another reference set or metric?"
    if not told.flips:
        yield from section(title, Text(words.no_flips(told)), Text(words.inversions(told)))
    else:
        made = prose(prose(table("this one above", "that one", "under", "and below under", left=2)), 2)
        for flip in told.flips if everything else told.flips[:MOST_FLIPS]:
            made.add_row(
                Text(flip.first, style="bold"),
                Text(flip.second, style="bold"),
                wording.listing(flip.first_above),
                wording.listing(flip.second_above),
            )
        more = len(told.flips) - MOST_FLIPS
        rest = (
            [Text(f"and {wording.plural(more, 'pair')} more: --all shows them")] if more > 0 and not everything else []
        )
        yield from section(title, made, *rest, Text(words.inversions(told)))
    if everything:
        ranks = table("metric", "summary", *(item.name for item in found.algorithms), "inversions", "τ", left=2)
        for item in told.rankings:
            tau = wording.MISSING if item.kendall_tau is None else f"{item.kendall_tau:.2f}".replace("-", "−")
            ranks.add_row(item.title, words.SHORT[item.statistic], *map(str, item.ranks), str(item.inversions), tau)
        yield from section("Ranks", ranks)
