"""A report in the terminal: fits 80 columns, uses 120, and needs neither colour nor a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from arcademark.report import wording
from arcademark.report.document import Algorithm, Estimate, Game, GameScore, Notice, Report, Run

WIDE = 110
"""Columns from which scores and references share one table."""

LEVEL_STYLES = {"warning": "bold yellow", "note": "dim"}


def render(report: Report, console: Console) -> None:
    """Print the whole report.

    Parameters
    ----------
    report : Report
    console : rich.console.Console
        Its width decides the layout; its colour system whether there are colours.
    """
    for part in parts(report, console.width):
        console.print(part)


def parts(report: Report, width: int) -> Iterator[RenderableType]:
    """Yield what `render` prints, from top to bottom."""
    yield Rule(Text(report.title, style="bold"), characters="━", style="dim", align="left")
    yield _section("Headline", _headline(report, width))
    yield _section("", *(_notice(notice) for notice in report.warnings))
    yield _section(f"Summaries over {report.scope}", _summaries(report))
    yield _section("Games", *_games(report, width))
    for run in report.runs:
        yield _section(f"Protocol of {run.name}: {run.protocol.label}", _protocol(run, width))
        if run.troubles:
            yield _section(f"Not finished in {run.name}", _troubles(run))
    yield _section("", *(_notice(notice) for notice in report.notes))


def _section(title: str, *content: RenderableType) -> RenderableType:
    if not content:
        return Group()
    heading = [Text(title, style="bold cyan")] if title else []
    return Padding(Group(*heading, *content), (0, 0, 1, 0))


def _table(*columns: str, left: int = 1) -> Table:
    """Make a table whose first `left` columns are names and whose others are numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim", padding=(0, 1))
    for index, column in enumerate(columns):
        name = index < left
        table.add_column(column, justify="left" if name else "right", no_wrap=not name, overflow="fold")
    return table


def _headline(report: Report, width: int) -> Table:
    table = _table("algorithm", "estimated median HNS", "typical error", "human level", "records")
    for algorithm in report.algorithms:
        estimate = algorithm.estimate
        table.add_row(
            Text(algorithm.name, style="bold"),
            _estimate(estimate),
            wording.percent(None if estimate.relative_error is None else 100 * estimate.relative_error),
            *(f"{len(item.reached)} of {item.games}" for item in algorithm.breakthroughs),
        )
    return table


def _estimate(estimate: Estimate) -> Text:
    if estimate.value is None:
        return Text("refused", style="yellow")
    style = "bold yellow" if estimate.warnings else "bold green"
    return Text.assemble((wording.percent(estimate.value), style), f" ({estimate.title})")


def _summaries(report: Report) -> Table:
    table = _table("algorithm", "metric", "mean", "median", "IQM", "games", left=2)
    for algorithm in report.algorithms:
        for index, summary in enumerate(algorithm.summaries):
            table.add_row(
                Text(algorithm.name if index == 0 else "", style="bold"),
                summary.title,
                *(wording.percent(value) for value in (summary.mean, summary.median, summary.iqm)),
                str(summary.games),
                end_section=index == len(algorithm.summaries) - 1,
            )
    return table


def _games(report: Report, width: int) -> Iterator[RenderableType]:
    wide = width >= WIDE
    several = len(report.algorithms) > 1
    names = ("game", "algorithm") if several else ("game",)
    references = ("random", "human", "record")
    table = _table(
        *names, "score", "95 % interval", "n", "HNS", "HWRNS", *(references if wide else ()), left=len(names)
    )
    for game in report.games:
        rows = [
            (algorithm, score) for algorithm in report.algorithms for score in algorithm.scores if score.game == game.id
        ]
        for index, (algorithm, score) in enumerate(rows):
            shown = (game.name if index == 0 else "", *((_who(algorithm, score),) if several else ()))
            table.add_row(*shown, *_score(score), *(_references(game) if wide and index == 0 else ()))
    yield table
    if not wide:
        beside = _table("game", *references)
        for game in report.games:
            beside.add_row(game.name, *_references(game))
        yield Padding(beside, (1, 0, 0, 0))


def _who(algorithm: Algorithm, score: GameScore) -> str:
    return f"{algorithm.name}: {score.variant}" if score.variant else algorithm.name


def _score(score: GameScore) -> tuple[RenderableType, ...]:
    places = 0 if score.score is None else wording.decimals(score.score)
    interval = score.interval
    count = wording.count(score.episodes)
    if score.episodes < score.planned_episodes:
        count = f"{count} of {wording.count(score.planned_episodes)}"
    return (
        Text(wording.score(score.score, places), style="bold"),
        wording.MISSING if interval is None else wording.span(interval.low, interval.high, places),
        count,
        wording.percent(score.hns),
        wording.percent(score.hwrns),
    )


def _references(game: Game) -> tuple[str, str, str]:
    return (wording.reference(game.random), wording.reference(game.human), wording.reference(game.record))


def _protocol(run: Run, width: int) -> RenderableType:
    """Show the settings in two columns side by side, the overridden ones marked."""
    settings = run.protocol.settings
    sides = 2 if width >= WIDE else 1
    height = -(-len(settings) // sides)
    table = Table.grid(padding=(0, 2))
    for row in range(height):
        cells: list[RenderableType] = []
        for setting in settings[row::height]:
            cells.append(Text(setting.title, style="dim"))
            if setting.overridden:
                cells.append(Text(f"{setting.text}  (override; was {setting.original_text})", style="bold yellow"))
            else:
                cells.append(Text(setting.text))
        table.add_row(*cells)
    return table


def _troubles(run: Run) -> Table:
    table = _table("agent", "game", "seed", "episodes", "what happened", left=2)
    table.columns[-1].justify = "left"
    table.columns[-1].no_wrap = False
    for trouble in run.troubles:
        table.add_row(
            trouble.agent,
            trouble.game,
            str(trouble.seed),
            f"{trouble.episodes} of {trouble.planned_episodes}",
            Text(trouble.error or "not finished yet", style="red" if trouble.status == "failed" else "yellow"),
        )
    return table


def _notice(notice: Notice) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_row(Text("!" if notice.level == "warning" else "·", style=LEVEL_STYLES[notice.level]), Text(notice.text))
    return grid
