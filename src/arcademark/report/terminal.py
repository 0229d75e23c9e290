"""A report in the terminal: fits 80 columns, uses 120, and needs neither colour nor a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from arcademark.report import wording
from arcademark.report.document import Algorithm, Estimate, Game, GameScore, Notice, Report
from arcademark.report.record import ProtocolView, Run
from arcademark.suite.settings import format_setting

WIDE = 110
"""Columns from which scores and references share one table."""

NARROWEST_NAME = 9
"""Columns that a name keeps in the narrowest terminal."""

UNBOUNDED = 10_000

GAP = "   "
"""What `_table` leaves between two columns."""

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
        if isinstance(part, Table) and part.columns and (least := _least_width(part, console)) > console.width:
            part.width = least
        console.print(part, crop=False)


def render_briefly(report: Report, console: Console) -> None:
    """Print a line an algorithm: its estimate with the model's error, or what is missing for one."""
    for algorithm in report.algorithms:
        console.print(Text(f"{algorithm.name}: ", style="bold") + _brief(algorithm.estimate), soft_wrap=True)


def _brief(estimate: Estimate) -> Text:
    if estimate.value is None:
        missing = wording.listing(estimate.missing)
        return Text(
            f"no estimate of the {estimate.suite} median; {estimate.title} also needs {missing}", style="yellow"
        )
    error = "" if estimate.relative_error is None else f" ± {wording.percent(100 * estimate.relative_error)} of it"
    doubt = "; doubtful, for reasons that the whole report gives" if estimate.warnings else ""
    return _estimate(estimate) + Text(
        f"{error}, the {estimate.suite} median HNS as {estimate.title} estimates it{doubt}"
    )


def parts(report: Report, width: int) -> Iterator[RenderableType]:
    """Yield what `render` prints, from top to bottom."""
    yield Text(report.title, style="bold")
    yield Rule(characters="━", style="dim")
    yield from _section("", *(_notice(notice) for notice in report.warnings))
    yield from _section("Estimated median HNS of the whole suite", _headline(report))
    yield from _section(f"Summaries over {report.scope}", _summaries(report))
    yield from _section("Games", *_games(report, width))
    for view in dict.fromkeys(run.protocol for run in report.runs):
        names = wording.listing(run.name for run in report.runs if run.protocol == view)
        yield from _section(f"Protocol of {names}: {view.label}", _protocol(view, report.runs[0].protocol))
    for run in report.runs:
        if run.troubles:
            yield from _section(f"Not finished in {run.name}", _troubles(run))
    yield from _section("", *(_notice(notice) for notice in report.notes))


def _section(title: str, *content: RenderableType) -> Iterator[RenderableType]:
    if content:
        if title:
            yield Text(title, style="bold cyan")
        yield from content
        yield Text()


def _table(*columns: str, left: int = 1) -> Table:
    """Make a table whose first `left` columns are names and whose others are numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim", padding=(0, 1))
    for index, column in enumerate(columns):
        name = index < left
        table.add_column(column, justify="left" if name else "right", no_wrap=not name, overflow="fold")
    return table


def _least_width(table: Table, console: Console) -> int:
    """Return the columns below which a table would lose digits or names; beyond it, the terminal wraps its lines."""
    free = console.options.update(max_width=UNBOUNDED)
    width = len(GAP) * (len(table.columns) - 1)
    for column in table.columns:
        widest = max(Measurement.get(console, free, cell).maximum for cell in (column.header, *column.cells))
        width += widest if column.no_wrap else min(widest, NARROWEST_NAME)
    return width


def _headline(report: Report) -> Table:
    table = _table(
        "algorithm",
        "estimate",
        "model",
        "relative\nerror",
        "95 % interval\nof the scores",
        "at human\nlevel",
        "records\nbroken",
    )
    for algorithm in report.algorithms:
        estimate = algorithm.estimate
        error = None if estimate.value is None else estimate.relative_error
        table.add_row(
            Text(algorithm.name, style="bold"),
            _estimate(estimate),
            estimate.title,
            wording.percent(None if error is None else 100 * error),
            _between(estimate.sampling_low, estimate.sampling_high),
            *(f"{len(item.reached)} of {item.games}" for item in algorithm.breakthroughs),
        )
    return table


def _between(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return wording.MISSING
    return f"{wording.percent(low)[:-2]} … {wording.percent(high)}"


def _estimate(estimate: Estimate) -> Text:
    if estimate.value is None:
        return Text("refused", style="yellow")
    return Text(wording.percent(estimate.value), style="bold yellow" if estimate.warnings else "bold green")


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
    references = ("random", "human", "record")
    table = _table("game", "score", "95 % interval", "episodes", "HNS", "HWRNS", *(references if wide else ()))
    for game in report.games:
        beside = _references(game) if wide else ()
        if several:
            table.add_row(Text(game.name, style="bold"), *[""] * 5, *beside)
        for algorithm in report.algorithms:
            for score in (score for score in algorithm.scores if score.game == game.id):
                who = Padding(Text(_who(algorithm, score)), (0, 0, 0, 2)) if several else Text(game.name)
                table.add_row(who, *_score(score), *(() if several else beside))
    yield table
    if not wide:
        yield Text()
        anchors = _table("game", *references)
        for game in report.games:
            anchors.add_row(Text(game.name), *_references(game))
        yield anchors


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


def _protocol(view: ProtocolView, first: ProtocolView) -> RenderableType:
    """Run the settings on, overrides marked; of a later protocol only those that differ from the first."""
    known = {setting.field: setting.value for setting in first.settings} if view is not first else {}
    shown = Text()
    for setting in view.settings:
        if not setting.overridden and setting.field in known and known[setting.field] == setting.value:
            continue
        pair = f"{setting.field}={format_setting(setting.value)}"
        if setting.overridden:
            shown.append(f"{pair} (was {format_setting(setting.original)})", style="bold yellow")
        else:
            shown.append(pair)
        shown.append(" · ", style="dim")
    shown.append("" if view is first else "all else as above   ")
    return shown[:-3]


def _troubles(run: Run) -> Table:
    table = _table("agent", "game", "seed", "episodes", "what happened", left=2)
    table.columns[-1].justify = "left"
    table.columns[-1].no_wrap = False
    for trouble in run.troubles:
        table.add_row(
            Text(trouble.agent),
            Text(trouble.game),
            str(trouble.seed),
            f"{trouble.episodes} of {trouble.planned_episodes}",
            Text(trouble.error or "not finished yet", style="red" if trouble.status == "failed" else "yellow"),
        )
    return table


def _notice(notice: Notice) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    mark = "Warning:" if notice.level == "warning" else "·"
    grid.add_row(Text(mark, style=LEVEL_STYLES[notice.level]), Text(notice.text))
    return grid
