"""A report in the terminal: fits 80 columns, uses 120, and needs neither colour nor a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table

from arcademark.report import sections, wording
from arcademark.report.document import Estimate
from arcademark.report.layout import WIDE, Console, Text, notice, prose, section, show, table
from arcademark.report.record import ProtocolView, Run
from arcademark.report.runs import directory
from arcademark.report.runs.document import Algorithm, Game, GameScore, Report
from arcademark.report.runs.learning import sparkline
from arcademark.suite.settings import format_setting

SPARKLINE, SHORT_SPARKLINE = 40, 16
"""Characters of a learning curve on a line, in a wide and in a narrower terminal."""


def render(report: Report, console: Console) -> None:
    """Print the whole report.

    Parameters
    ----------
    report : Report
    console : layout.Console
        Its width decides the layout; its colour system whether there are colours.
    """
    show(parts(report, console.width), console)


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
    error = "" if estimate.printed_error is None else f" ± {wording.percent(100 * estimate.printed_error)} of it"
    doubt = "; doubtful, for reasons that the whole report gives" if estimate.warnings else ""
    return _estimate(estimate).append(
        f"{error}, the {estimate.suite} median HNS as {estimate.title} estimates it{doubt}"
    )


def parts(report: Report, width: int) -> Iterator[RenderableType]:
    """Yield what `render` prints, from top to bottom."""
    yield Text(report.title, style="bold")
    yield Rule(characters="━", style="dim")
    yield from section("", *(notice(told) for told in report.warnings))
    yield from section("Estimated median HNS of the whole suite", _headline(report))
    yield from section(f"Summaries over {report.scope}", _summaries(report))
    yield from section("Games", *_games(report, width))
    yield from _training(report, width)
    yield from _planning(report)
    yield from sections.hard_exploration(report.hard_exploration)
    for view in dict.fromkeys(run.protocol for run in report.runs):
        names = wording.listing(run.name for run in report.runs if run.protocol == view)
        played = _played_on([run for run in report.runs if run.protocol == view])
        yield from section(f"Protocol of {names}: {view.label}", _protocol(view, report.runs[0].protocol), *played)
    for run in report.runs:
        if run.troubles:
            yield from section(f"Not finished in {run.name}", _troubles(run))
    yield from section("", *(notice(told) for told in report.notes))


def _headline(report: Report) -> Table:
    made = table(
        "algorithm",
        "estimate",
        "model",
        ("error,", "nested"),
        ("95 % of", "the scores"),
        ("at human", "level"),
        ("records", "broken"),
    )
    for algorithm in report.algorithms:
        estimate = algorithm.estimate
        made.add_row(
            Text(algorithm.name, style="bold"),
            _estimate(estimate),
            estimate.title,
            _errors(estimate),
            _between(estimate.sampling_low, estimate.sampling_high),
            *(f"{len(item.reached)} of {item.games}" for item in algorithm.breakthroughs),
        )
    return made


def _errors(estimate: Estimate) -> str:
    """Return the printed error and, after a comma, the one on papers that the model was not chosen with."""
    if estimate.value is None or estimate.printed_error is None:
        return wording.MISSING
    printed = wording.percent(100 * estimate.printed_error)
    if estimate.nested_error is None:
        return printed
    return f"{printed.removesuffix('%').strip()}, {wording.percent(100 * estimate.nested_error)}"


def _between(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return wording.MISSING
    return f"{wording.percent(low)[:-2]} … {wording.percent(high)}"


def _estimate(estimate: Estimate) -> Text:
    if estimate.value is None:
        return Text("refused", style="yellow")
    return Text(wording.percent(estimate.value), style="bold yellow" if estimate.warnings else "bold green")


def _summaries(report: Report) -> Table:
    made = table("algorithm", "metric", "mean", "median", "IQM", "games", left=2)
    for algorithm in report.algorithms:
        for index, summary in enumerate(algorithm.summaries):
            made.add_row(
                Text(algorithm.name if index == 0 else "", style="bold"),
                summary.title,
                *(wording.percent(value) for value in (summary.mean, summary.median, summary.iqm)),
                str(summary.games),
                end_section=index == len(algorithm.summaries) - 1,
            )
    return made


def _games(report: Report, width: int) -> Iterator[RenderableType]:
    wide = width >= WIDE
    several = len(report.algorithms) > 1
    references = ("random", "human", "record")
    made = table("game", "score", "95 % interval", "episodes", "HNS", "HWRNS", *(references if wide else ()))
    for game in report.games:
        beside = _references(game) if wide else ()
        if several:
            made.add_row(Text(game.name, style="bold"), *[""] * 5, *beside)
        for algorithm in report.algorithms:
            for score in (score for score in algorithm.scores if score.game == game.id):
                who = Padding(Text(_who(algorithm, score)), (0, 0, 0, 2)) if several else Text(game.name)
                made.add_row(who, *_score(score), *(() if several else beside))
    yield made
    if not wide:
        yield Text()
        anchors = table("game", *references)
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


def _training(report: Report, width: int) -> Iterator[RenderableType]:
    """Yield the section on how learners got on; nothing where no agent learns."""
    several = len(report.algorithms) > 1
    made = table("game", "episodes", "frames", "first", "last", "")
    made.columns[-1].justify = "left"
    wide = SPARKLINE if width >= WIDE else SHORT_SPARKLINE
    for game in report.games:
        shown = [curve for curve in report.learning if curve.game == game.id]
        if several and shown:
            made.add_row(Text(game.name, style="bold"), *[""] * 5)
        for curve in shown:
            who = Padding(Text(curve.algorithm), (0, 0, 0, 2)) if several else Text(game.name)
            numbers = (wording.count(curve.episodes), wording.count(curve.frames))
            scores = (wording.score(curve.first), Text(wording.score(curve.last), style="bold"))
            line = sparkline(curve.mean()[1], wide)
            made.add_row(who, *numbers, *scores, Text(line + ("" if curve.finished else " …"), style="cyan"))
    if made.row_count:
        windows = sorted({curve.window for curve in report.learning})
        means = "episode" if windows == [1] else f"{wording.listing(map(str, windows), last='or')} episodes"
        told = f"First and last: the mean score of the first and the last {means} of training, averaged over seeds."
        going = "" if all(curve.finished for curve in report.learning) else " …: training goes on."
        yield from section("Training", made, Text(told + going, style="dim"))


def _planning(report: Report) -> Iterator[RenderableType]:
    """Yield the section on what planners simulated; nothing where no agent plans."""
    several = len(report.algorithms) > 1
    who = ["game", "algorithm"] if several else ["game"]
    made = table(*who, "decisions", "simulated frames", "a decision", left=len(who))
    for game in report.games:
        for algorithm in report.algorithms:
            for cost in (score.planning for score in algorithm.scores if score.game == game.id and score.planning):
                numbers = (wording.count(cost.decisions), wording.count(cost.simulated_frames))
                named = (Text(game.name), Text(algorithm.name))[: len(who)]
                made.add_row(*named, *numbers, wording.count(round(cost.frames_per_decision)))
    if made.row_count:
        told = (Text(directory.frames_used(run)) for run in report.runs if run.simulated_frames)
        yield from section("Planning on the emulator", made, *told)


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


def _played_on(runs: Sequence[Run]) -> Iterator[Text]:
    """Say what emulated the games, of runs together where it is the same."""
    told: dict[str, list[str]] = {}
    for run in runs:
        told.setdefault(directory.played_on(run), []).append(run.name)
    for emulators, names in told.items():
        if emulators:
            whose = "" if len(told) == 1 else f"{wording.listing(names)}: "
            yield Text(f"{whose}played on {emulators}", style="dim")


def _troubles(run: Run) -> Table:
    made = prose(table("agent", "game", "seed", "episodes", "what happened", left=2))
    for trouble in run.troubles:
        made.add_row(
            Text(trouble.agent),
            Text(trouble.game),
            str(trouble.seed),
            f"{wording.count(trouble.episodes)} of {wording.count(trouble.planned_episodes)}",
            Text(trouble.error or "not finished yet", style="red" if trouble.status == "failed" else "yellow"),
        )
    return made
