"""What a document of scores shows of runs: standing, episodes, training, planning, and how all was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from types import MappingProxyType

from arcademark.metrics.uncertainty.intervals import LEVEL
from arcademark.reports import wording
from arcademark.reports.blocks import Block, Cell, Code, Column, Facts, Figure, Prose, Table, section, table
from arcademark.reports.record import ProtocolView, Run, Setting
from arcademark.reports.runs import directory, figure_learning, figures
from arcademark.reports.runs.learning import LearningCurve, sparkline
from arcademark.reports.tables import words
from arcademark.reports.tables.document import ScoreReport

SPARKLINE = 12
"""Characters of a learning curve on a line."""


def in_short(run: Run) -> str:
    """Say in a sentence what was played."""
    unit = run.protocol.unit
    games = wording.plural(len(run.games), wording.noun(unit))
    seeds = wording.plural(len(run.seeds), "seed")
    episodes = wording.listing(map(wording.count, run.episodes))
    simulated = f" and {wording.count(run.simulated_frames)} simulated" if run.simulated_frames else ""
    imported = ", imported and not verified" if run.imported else ""
    return (
        f"{' + '.join(run.parts) or run.directory}: {run.protocol.label}, {games}, {seeds}, {episodes} episode"
        f"{'' if run.episodes == (1,) else 's'} a seed, {wording.plural(run.frames, unit)} played{simulated}{imported}"
    )


def standing(report: ScoreReport) -> Figure | None:
    """Draw where each algorithm stands on each game."""
    if not report.runs or report.benchmark.own:
        return None
    return Figure(
        "standing",
        partial(figures.standing, report),
        "Bars: human-normalised score; thin lines: its 95 % interval; mark: human world record. The scale is log₁₀(1 + "
        "score in percent), on which the subset models are fitted.",
        figures.legend(report.algorithms) if len(report.algorithms) > 1 else (),
    )


def episodes(report: ScoreReport) -> Figure | None:
    """Draw how the episodes of each game are distributed."""
    if not report.runs:
        return None
    cap = "frame cap" if report.unit == "frame" else "limit of steps"
    return Figure(
        "distribution",
        partial(figures.distribution, report),
        f"Each {words.noun(report.benchmark)} from its lowest to its highest episode, in points. Dots: episodes, "
        f"hollow where the {cap} ended them (left out above {wording.count(figures.MOST_DOTS)} in all); box: the "
        "middle half; bar: the median.",
        figures.legend(report.algorithms) if report.benchmark.own and len(report.algorithms) > 1 else (),
    )


def training(report: ScoreReport) -> Iterator[Block]:
    """Show how the training of learners went."""
    if not report.learning:
        return
    several, unit = len(report.algorithms) > 1, report.unit
    evaluated = any(curve.evaluation is not None for curve in report.learning)
    names = MappingProxyType({game.id: game.name for game in report.games})
    rows = (
        (
            names[curve.game],
            curve.algorithm,
            wording.count(curve.episodes),
            wording.count(curve.frames),
            wording.score(curve.first),
            Cell(wording.score(curve.training_score), "strong", _reach(curve), sort=curve.training_score),
            Cell(wording.score(curve.evaluation), sort=curve.evaluation),
            sparkline(curve.mean().mean, SPARKLINE) + ("" if curve.finished else " …"),
        )
        for curve in report.learning
    )
    windows = sorted({curve.window for curve in report.learning})
    means = "episode" if windows == [1] else f"{wording.listing(map(str, windows), last='or')} episodes"
    told = (
        f"Means over seeds. First: of the first {means} of training. Last, the training score: of {_averaged(report)}"
        f"{_intervals(report)}."
        f"{' Evaluation: of the episodes after it, without learning, which make the score.' if evaluated else ''}"
    )
    going = "" if all(curve.finished for curve in report.learning) else " …: training goes on."
    points = (
        f"smoothed: a point is the mean of {wording.listing(map(wording.count, windows))} consecutive episodes, at the "
        f"{unit} where the last of them ended"
        if windows[-1] > 1
        else f"each at the {unit} where it ended"
    )
    learners = {curve.algorithm for curve in report.learning}
    if legend := tuple(pair for pair in figures.legend(report.algorithms) if pair[0] in learners):
        yield Figure(
            "learning",
            partial(figure_learning.panels, report),
            f"Scores of training episodes, {points}. Thin lines: seeds; thick: their mean, where all of them are; "
            f"band: {100 * LEVEL:g} % Student’s t over seeds at each {unit}.",
            legend if several else (),
        )
    who, sparklines = Column("algorithm", "name") if several else None, Column("", "name", optional=True)
    noun, last = words.noun(report.benchmark), "evaluation" if evaluated else None
    columns = (noun, who, "episodes", f"{unit}s", "first", "last", last, sparklines)
    yield table(columns, rows, caption=told + going, grouped=several)


def _reach(curve: LearningCurve) -> str:
    if curve.training_low is None or curve.training_high is None:
        return ""
    return wording.span(curve.training_low, curve.training_high, wording.decimals(curve.training_score))


def _intervals(report: ScoreReport) -> str:
    """Say what stands below training scores: "; below it, its 95 % interval over seeds"."""
    if any(curve.training_low is not None for curve in report.learning):
        return f"; below it, its {100 * LEVEL:g} % interval over seeds"
    return "; one seed has no interval" if all(len(curve.seeds) == 1 for curve in report.learning) else ""


def _averaged(report: ScoreReport) -> str:
    """Say which episodes training scores are the means of: "the last 100 episodes of training"."""
    asked = wording.listing(map(wording.count, sorted({curve.k for curve in report.learning})), last="or")
    fewer = any(seed.averaged < curve.k for curve in report.learning for seed in curve.seeds)
    episodes = "episode" if asked == "1" else "episodes"
    return f"the last {asked} {episodes} of training{', or of all where there are fewer' if fewer else ''}"


def planning(report: ScoreReport) -> Iterator[Block]:
    """Show what planners' decisions cost."""
    several = len(report.algorithms) > 1
    names = {game.id: game.name for game in report.games}
    rows = [
        (
            names[score.game],
            item.name,
            wording.count(cost.decisions),
            wording.count(cost.simulated_frames),
            wording.count(round(cost.frames_per_decision)),
        )
        for item in report.algorithms
        for score in item.scores
        if score.played and (cost := score.played.planning)
    ]
    who = Column("algorithm", "name") if several else None
    columns = (words.noun(report.benchmark), who, "decisions", f"simulated {report.unit}s", "a decision")
    yield table(columns, sorted(rows), grouped=several)
    if rows:
        yield from (Prose(directory.frames_used(run), "weak") for run in report.runs if run.simulated_frames)


def troubles(run: Run) -> Table:
    """List the trials that are not complete."""
    return table(
        (
            *(Column(name, "name") for name in ("agent", wording.noun(run.protocol.unit))),
            *("seed", "episodes", Column("what happened", "prose")),
        ),
        (
            (
                trouble.agent,
                trouble.game,
                str(trouble.seed),
                f"{wording.count(trouble.episodes)} of {wording.count(trouble.planned_episodes)}",
                Cell(trouble.error or "not finished yet", "bad" if trouble.status == "failed" else "doubtful"),
            )
            for trouble in run.troubles
        ),
    )


def played_under(runs: Sequence[Run]) -> Iterator[Prose]:
    """Say each protocol in a line, of runs together where it and what emulated the games are the same."""
    told: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        told.setdefault((run.protocol.label, directory.played_on(run)), []).append(run.name)
    for (label, emulators), names in told.items():
        whose = "" if len(told) == 1 else f" of {wording.listing(names)}"
        yield Prose(f"Protocol{whose}: {label}{f'; played on {emulators}' if emulators else ''}.", "weak")


def conditions(run: Run, before: Sequence[Run]) -> Iterator[Block]:
    """Show the protocol, what reproduces the run, and on what it was played."""
    same = next((other.name for other in before if other.protocol == run.protocol), "")
    protocol = Prose(f"The same settings as in {same}.", "weak") if same else _protocol(run.protocol)
    source = f" After {run.protocol.citation}." if run.protocol.citation else ""
    after = None if same else Prose(f"{run.protocol.title}.{source}", "weak")
    yield section(f"Protocol: {run.protocol.label}", after, protocol)
    verified = (f"arcademark verify {place}" for place in run.parts or (run.directory,))
    if run.imported:
        yield section("Imported by", Code("\n".join(run.commands)))
        yield section("SHA-256 of the logs", Facts(tuple(run.imported.files.items())), folded=True)
    else:
        yield section("To reproduce it", Code("\n".join((*run.commands, *verified))))
    emulators = directory.played_on(run)
    machine = ((name, str(value)) for name, value in run.machine.items())
    yield Facts((*((("played on", emulators),) if emulators else ()), *run.versions.items(), *machine))
    versions = "MD5 of the ROMs" if run.protocol.unit == "frame" else "Packages of the tasks"
    yield section(versions, Facts(tuple(run.roms.items())), folded=True)


def _protocol(protocol: ProtocolView) -> Table:
    columns = (
        Column("setting", "name"),
        Column("value", "prose"),
        Column("where it comes from", "prose", optional=True),
    )
    return table(
        columns, ((Cell(item.title, below=item.field), *_setting(item, protocol)) for item in protocol.settings)
    )


def _setting(item: Setting, protocol: ProtocolView) -> tuple[Cell, Cell]:
    note = f"our choice: {item.note}" if item.status == "choice" else item.note
    if item.overridden:
        return Cell(item.text, "doubtful", f"override; {protocol.name} has {item.original_text}"), Cell(note)
    return Cell(item.text), Cell(note)
