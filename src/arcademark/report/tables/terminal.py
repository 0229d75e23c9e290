"""What a table of scores says, in the terminal: fits 80 columns, uses 120, and needs neither colour nor a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table

from arcademark.report import sections, wording
from arcademark.report.layout import NARROWEST_NAME, WIDE, Console, Text, lines, notice, prose, section, show, table
from arcademark.report.tables import words
from arcademark.report.tables.document import Algorithm, Score, ScoreReport

MOST = 100
"""Algorithms that are shown where not everything is."""


def render(report: ScoreReport, console: Console, *, everything: bool = False) -> None:
    """Print the document.

    Parameters
    ----------
    report : ScoreReport
    console : layout.Console
        Its width decides the layout; its colour system whether there are colours.
    everything : bool, optional
        Whether to show every game, and every algorithm, also on the hard-exploration games.
    """
    show(parts(report, console.width, everything=everything), console)


def parts(report: ScoreReport, width: int, *, everything: bool = False) -> Iterator[RenderableType]:
    """Yield what `render` prints, from top to bottom."""
    number = len(report.algorithms)
    if not everything:
        report = replace(report, algorithms=report.algorithms[:MOST])
    yield Text(report.title, style="bold")
    yield Rule(characters="━", style="dim")
    yield from section("", *(notice(told) for told in report.warnings))
    yield from section("", *(Text(source, style="dim") for source in report.sources))
    yield from section("At a glance", _headline(report))
    yield from section(f"Summaries over {report.scope}", _summaries(report, width))
    yield from _records(report)
    yield from _efficiency(report)
    if report.hard_exploration is not None:
        yield from sections.hard_exploration(report.hard_exploration, everyone=everything)
    if everything:
        yield from section(f"{words.noun(report.benchmark).title()}s", *_games(report, width))
    else:
        games = wording.plural(len(report.games), words.noun(report.benchmark))
        first = f"The first {MOST} of {wording.count(number)} algorithms, " if number > MOST else ""
        yield from section("", Text(f"{first}{games}: --all shows each.", style="dim"))
    yield from section("", *(notice(told) for told in report.notes if everything or told.kind != "settings"))
    yield from section("References", *(Text(f"{item.title}: {item.source}") for item in report.benchmark.references))


def _headline(report: ScoreReport) -> Table:
    models = any(item.estimate for item in report.algorithms)
    bars = any(item.breakthroughs for item in report.algorithms)
    made = table(
        "algorithm",
        (f"{words.noun(report.benchmark)}s", f"of {report.benchmark.games}"),
        "runs",
        ("median", "of all") if report.benchmark.own else (report.benchmark.name, "median"),
        *((("estimated", "median"), "by") if models else ()),
        *((("at human", "level"), ("records", "broken")) if bars else ()),
    )
    for item in report.algorithms:
        made.add_row(
            Text(item.name, style="bold"),
            str(item.coverage.games),
            words.runs(item),
            _median(item),
            *(_estimate(item) if models else ()),
            *(f"{len(bar.reached)} of {bar.games}" for bar in item.breakthroughs),
        )
    return made


def _median(item: Algorithm) -> Text:
    if item.coverage.median is None:
        return Text("refused", style="yellow")
    return Text(wording.percent(item.coverage.median), style="bold green")


def _estimate(item: Algorithm) -> tuple[RenderableType, str]:
    estimate = item.estimate
    if estimate is None or estimate.value is None:
        return Text("refused", style="yellow"), estimate.title if estimate else wording.MISSING
    return Text(wording.percent(estimate.value), style="yellow" if estimate.warnings else ""), estimate.title


def _summaries(report: ScoreReport, width: int) -> Table:
    numbers = {item.games for algorithm in report.algorithms for item in algorithm.summaries}
    counted = len(numbers) > 1
    made = table(
        "algorithm",
        "metric",
        "mean",
        "median",
        "IQM",
        ("optimality", "gap"),
        *((f"{words.noun(report.benchmark)}s",) if counted else ()),
        left=2,
    )
    made.columns[1].no_wrap = True
    summaries = [item for algorithm in report.algorithms for item in algorithm.summaries]
    longest = max(len(words.span(one)) for item in summaries for one in (item.mean, item.median, item.iqm))
    names = max(len(item.title) for item in summaries) + NARROWEST_NAME
    apart = " …\n" if names + 4 * (longest + 1) + (6 if counted else 0) > width else " … "
    for algorithm in report.algorithms:
        for index, item in enumerate(algorithm.summaries):
            four = (item.mean, item.median, item.iqm, item.optimality_gap)
            spans = any(one.low is not None for one in four)
            last = index == len(algorithm.summaries) - 1
            made.add_row(
                Text(algorithm.name if index == 0 else "", style="bold"),
                item.title,
                *(wording.percent(one.value) for one in four),
                *((str(item.games),) if counted else ()),
                end_section=last and not spans,
            )
            if spans:
                ends = [lines(*words.span(one).replace(" … ", apart).split("\n"), style="dim") for one in four]
                made.add_row(
                    "", "", *ends, *(("",) if counted else ()),
                    end_section=last,
                )  # fmt: skip
    return made


def _records(report: ScoreReport) -> Iterator[RenderableType]:
    made = prose(prose(table("algorithm", "broken", "by no other in the catalogue"), 1))
    for item in report.algorithms:
        for bar in item.breakthroughs:
            if bar.metric == "hwrb" and bar.reached:
                new = wording.listing(bar.unprecedented) or wording.MISSING
                made.add_row(Text(item.name, style="bold"), Text(wording.listing(bar.reached)), Text(new))
    if made.rows:
        yield from section("Human world records broken", made)


def _efficiency(report: ScoreReport) -> Iterator[RenderableType]:
    made = table("algorithm", ("training", "frames"), "game time", "metric", ("mean", "a frame"), ("median", "a frame"))
    made.columns[3].justify = "left"
    for item in report.algorithms:
        if item.efficiency is None:
            continue
        for index, gain in enumerate(item.efficiency.gains):
            first = index == 0
            made.add_row(
                Text(item.name if first else "", style="bold"),
                wording.count(item.efficiency.training_frames) if first else "",
                words.days(item.efficiency.game_time_days) if first and not report.benchmark.own else "",
                gain.title,
                words.power_of_ten(gain.mean),
                words.power_of_ten(gain.median),
                end_section=index == len(item.efficiency.gains) - 1,
            )
    if made.rows:
        yield from section("Learning efficiency", made)


def _games(report: ScoreReport, width: int) -> Iterator[RenderableType]:
    kinds = tuple(dict.fromkeys(kind for game in report.games for kind in game.references)) if width >= WIDE else ()
    metrics = words.uncapped(report)
    several = len(report.algorithms) > 1
    made = table(
        words.noun(report.benchmark),
        "score",
        "interval",
        "runs",
        *(title for _, title in metrics),
        *(words.KINDS[kind] for kind in kinds),
    )
    scores = {(item.name, score.game): score for item in report.algorithms for score in item.scores}
    for game in report.games:
        beside = tuple(wording.reference(game.references[kind]) for kind in kinds)
        if several:
            made.add_row(Text(game.name, style="bold"), *[""] * (3 + len(metrics)), *beside)
        for item in report.algorithms:
            if score := scores.get((item.name, game.id)):
                who = Padding(Text(item.name), (0, 0, 0, 2)) if several else Text(game.name)
                made.add_row(who, *_score(score, metrics), *(() if several else beside))
    yield made


def _score(score: Score, metrics: Sequence[tuple[str, str]]) -> tuple[RenderableType, ...]:
    return (
        Text(wording.score(score.score.value), style="bold"),
        words.points_span(score.score),
        wording.count(score.runs),
        *(wording.percent(score.normalised[metric]) for metric, _ in metrics),
    )
