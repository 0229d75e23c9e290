"""Scores of runs and of tables: the headline, every summary, every game, how training went, and how all was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from arcademark.reports import wording
from arcademark.reports.blocks import (
    Block,
    Card,
    Cards,
    Cell,
    Code,
    Column,
    Document,
    Facts,
    Figure,
    Notices,
    Prose,
    References,
    Table,
    section,
    table,
)
from arcademark.reports.document import Estimate
from arcademark.reports.present import parts
from arcademark.reports.record import ProtocolView, Run, Setting
from arcademark.reports.runs import directory
from arcademark.reports.runs.learning import sparkline
from arcademark.reports.tables import words
from arcademark.reports.tables.document import Algorithm, Score, ScoreReport, Statistic
from arcademark.suite.subsets import LEVEL

MOST_ALGORITHMS = 100
"""Algorithms of which a terminal shows the headline and the summaries where not everything is asked for."""

SAMPLING = "95 % from the scores"
"""The interval of an estimate that few scores leave, the model's error apart."""

SPARKLINE = 16
"""Characters of a learning curve on a line."""

OF_SUMMARIES = "few_runs"
"""The kind of warnings that concern the intervals of summaries only, and stand below these."""

IQM = (
    "IQM: the mean of the middle half of all runs’ scores (of the games’ scores where they are capped); a game with "
    "fewer runs weighs less in it."
)


def present(report: ScoreReport) -> Document:
    """Show a report; see `arcademark.reports.blocks`."""
    noun, rows = words.noun(report.benchmark), sum(len(item.scores) for item in report.algorithms)
    return Document(
        report.title,
        "report",
        "; ".join(map(_in_short, report.runs)),
        (
            Notices(tuple(item for item in report.warnings if item.kind != OF_SUMMARIES)),
            section("Headline", _cards(report) if report.runs else _glance(report)),
            section(f"Summaries over {report.scope}", *_summaries(report), detail=bool(report.runs)),
            section(
                f"{noun.title()}s",
                _standing(report),
                partial(_games, report) if rows else None,
                detail=rows > parts.MOST_ROWS,
            ),
            section("Training", *_training(report)),
            section("Planning on the emulator", *_planning(report)),
            section("Human world records broken", _records(report)),
            section("Learning efficiency", _efficiency(report)),
            parts.hard_exploration(report.hard_exploration, detail=bool(report.runs)),
            section("Episodes", _episodes(report), detail=True),
            *(section(f"Not finished in {run.name}", _troubles(run)) for run in report.runs if run.troubles),
            section("", *_played_under(report.runs)),
            section("How to read this", Notices(report.notes), detail=True),
            *(section(f"Run {run.name}", *_run(run, report.runs[:index]), detail=True)
              for index, run in enumerate(report.runs)),
            section("For a paper", *map(Prose, report.methods), detail=True),
            section(
                "References",
                Facts(tuple((item.title, item.source) for item in report.benchmark.references)),
                Facts(tuple(("read", source) for source in report.sources if not report.runs)),
                References(report.citations),
                detail=bool(report.runs),
            ),
        ),
        report.generator,
    )  # fmt: skip


def briefly(report: ScoreReport) -> list[str]:
    """Say each algorithm's estimate with the model's error, or what is missing for one, in a line."""
    return [f"{item.name}: {_brief(item.estimate)}" for item in report.algorithms if item.estimate]


def _brief(estimate: Estimate) -> str:
    if estimate.value is None:
        missing = wording.listing(estimate.missing)
        return f"no estimate of the {estimate.suite} median; {estimate.title} also needs {missing}"
    doubt = "; doubtful, for reasons that the whole report gives" if estimate.warnings else ""
    value = wording.percent(estimate.value)
    if estimate.low is not None:
        value += f" ({_between(estimate.low, estimate.high)} at {100 * estimate.level:g} %)"
    return f"{value}, the {estimate.suite} median HNS as {estimate.title} estimates it{doubt}"


def _in_short(run: Run) -> str:
    games, seeds = wording.plural(len(run.games), "game"), wording.plural(len(run.seeds), "seed")
    episodes = wording.listing(map(wording.count, run.episodes))
    simulated = f" and {wording.count(run.simulated_frames)} simulated" if run.simulated_frames else ""
    return (
        f"{run.directory}: {run.protocol.label}, {games}, {seeds}, {episodes} episode"
        f"{'' if run.episodes == (1,) else 's'} a seed, {wording.count(run.frames)} frames played{simulated}"
    )


# ---- headline and summaries


def _cards(report: ScoreReport) -> Cards:
    return Cards("algorithm", "estimate", tuple(map(_card, report.algorithms)), (SAMPLING,))


def _card(item: Algorithm) -> Card:
    estimate = item.estimate
    number, caption = _estimate(estimate), ""
    if estimate is not None:
        caption = (
            f"{estimate.title} also needs {wording.listing(estimate.missing)}"
            if estimate.value is None
            else f"estimated median human-normalised score of {estimate.suite}, by {estimate.title}"
        )
    facts = (
        ("model", estimate.title if estimate else wording.MISSING),
        ("error, on other papers", _errors(estimate)),
        (f"{100 * LEVEL:g} % interval", _between(estimate.low, estimate.high) if estimate else wording.MISSING),
        (SAMPLING, _between(estimate.sampling_low, estimate.sampling_high) if estimate else wording.MISSING),
        *((bar.short, f"{len(bar.reached)} of {bar.games}") for bar in item.breakthroughs),
    )
    return Card(item.name, number, caption, facts)


def _estimate(estimate: Estimate | None) -> Cell:
    if estimate is None or estimate.value is None:
        return Cell("refused", "doubtful")
    return Cell(wording.percent(estimate.value), "doubtful" if estimate.warnings else "good", sort=estimate.value)


def _errors(estimate: Estimate | None) -> str:
    """Return the printed error and, after a comma, the one on papers that the model was not chosen with."""
    if estimate is None or estimate.value is None or estimate.printed_error is None:
        return wording.MISSING
    printed = wording.percent(100 * estimate.printed_error)
    if estimate.nested_error is None:
        return printed
    return f"{wording.number(100 * estimate.printed_error)}, {wording.percent(100 * estimate.nested_error)}"


def _between(low: float | None, high: float | None) -> str:
    return wording.MISSING if low is None or high is None else f"{wording.number(low)} … {wording.percent(high)}"


def _glance(report: ScoreReport) -> Table:
    models = any(item.estimate for item in report.algorithms)
    noun, benchmark = words.noun(report.benchmark), report.benchmark
    bars = report.algorithms[0].breakthroughs if report.algorithms else ()
    return table(
        (
            "algorithm",
            f"{noun}s of {benchmark.games}",
            "runs",
            "median of all" if benchmark.own else f"{benchmark.name} median",
            *(("estimated median", Column("by", "name")) if models else ()),
            *(bar.short for bar in bars),
        ),
        (
            (
                Cell(item.name, "strong"),
                str(item.coverage.games),
                words.runs(item),
                _median(item),
                *(
                    (_estimate(item.estimate), item.estimate.title if item.estimate else wording.MISSING)
                    if models
                    else ()
                ),
                *(f"{len(bar.reached)} of {bar.games}" for bar in item.breakthroughs),
            )
            for item in report.algorithms
        ),
        sortable=True,
        most=MOST_ALGORITHMS,
    )


def _median(item: Algorithm) -> Cell:
    if item.coverage.median is None:
        return Cell("refused", "doubtful")
    return Cell(wording.percent(item.coverage.median), "good", sort=item.coverage.median)


def _summaries(report: ScoreReport) -> Iterator[Block]:
    summaries = [item for algorithm in report.algorithms for item in algorithm.summaries]
    counted = len({item.games for item in summaries}) > 1
    noun = words.noun(report.benchmark)
    metrics = {item.title: item.meaning for item in summaries}
    rows = (
        (
            Cell(algorithm.name, "strong"),
            item.title,
            *map(_percent, (item.mean, item.median, item.iqm, item.optimality_gap)),
            *((str(item.games),) if counted else ()),
        )
        for algorithm in report.algorithms
        for item in algorithm.summaries
    )
    columns = ("algorithm", "metric", "mean", "median", "IQM", "optimality gap", *((f"{noun}s",) if counted else ()))
    most = MOST_ALGORITHMS * max(len(metrics), 1)
    yield table(columns, rows, names=2, grouped=True, most=most)
    yield Notices(tuple(item for item in report.warnings if item.kind == OF_SUMMARIES))
    yield Prose(f"{'; '.join(f'{title}: {meaning}' for title, meaning in metrics.items())}. {IQM}", "weak")


def _percent(found: Statistic) -> Cell:
    return Cell(wording.percent(found.value), below=words.span(found), sort=found.value)


# ---- games


def _games(report: ScoreReport) -> Table:
    metrics, several = words.uncapped(report), len(report.algorithms) > 1
    kinds = tuple(dict.fromkeys(kind for game in report.games for kind in game.references))
    played = any(score.played for item in report.algorithms for score in item.scores)
    best = _best(report) if several else {}
    scores = {(item.name, score.game): score for item in report.algorithms for score in item.scores}
    rows = (
        (
            Cell(game.name),
            *((Cell(_who(item, score)),) if several else ()),
            _points(score, best.get(game.id)),
            Cell(words.points_span(score.score), sort=score.score.low),
            _count(score) if played else wording.count(score.runs),
            *(
                Cell(wording.percent(found.value), sort=found.value)
                for found in (score.normalised[name] for name, _ in metrics)
            ),
            *(Cell(wording.reference(game.references[kind]), "weak", sort=game.references[kind]) for kind in kinds),
        )
        for game in report.games
        for item in report.algorithms
        if (score := scores.get((item.name, game.id)))
    )
    return table(
        (
            words.noun(report.benchmark),
            *((Column("algorithm", "name"),) if several else ()),
            "score",
            f"{100 * report.intervals.confidence:g} % interval",
            "episodes" if played else "runs",
            *(title for _, title in metrics),
            *(Column(words.KINDS[kind], optional=True) for kind in kinds),
        ),
        rows,
        grouped=several,
        sortable=True,
    )


def _best(report: ScoreReport) -> Mapping[str, float]:
    """Return the best score of each game that several algorithms have."""
    found: dict[str, list[float]] = {}
    for item in report.algorithms:
        for score in item.scores:
            if score.score.value is not None:
                found.setdefault(score.game, []).append(score.score.value)
    return {game: max(values) for game, values in found.items() if len(values) > 1}


def _who(item: Algorithm, score: Score) -> str:
    return f"{item.name}: {score.played.variant}" if score.played and score.played.variant else item.name


def _points(score: Score, best: float | None) -> Cell:
    value = score.score.value
    return Cell(wording.score(value), "best" if best is not None and value == best else "strong", sort=value)


def _count(score: Score) -> Cell:
    """Count the episodes behind a score, of those asked for, and those that the frame cap ended."""
    played = score.played
    if played is None:
        return Cell(wording.MISSING)
    count, number = wording.count(len(played.episodes)), len(played.episodes)
    if number < played.planned:
        count = f"{count} of {wording.count(played.planned)}"
    cut = sum(played.truncated)
    below = f"{wording.count(cut)} cut" if cut else ""
    return Cell(count, "doubtful" if number < played.planned else "", below, sort=number)


def _standing(report: ScoreReport) -> Figure | None:
    from arcademark.reports.runs import figures

    if not report.runs:
        return None
    return Figure(
        "standing",
        partial(figures.standing, report),
        "Bars: human-normalised score; thin lines: its 95 % interval; mark: human world record. The scale is log₁₀(1 + "
        "score in percent), on which the subset models are fitted.",
        figures.legend(report.algorithms) if len(report.algorithms) > 1 else (),
    )


def _episodes(report: ScoreReport) -> Figure | None:
    from arcademark.reports.runs import figures

    if not report.runs:
        return None
    return Figure(
        "distribution",
        partial(figures.distribution, report),
        "Each game from its lowest to its highest episode, in points. Dots: episodes, hollow where the frame cap ended "
        f"them (left out above {wording.count(figures.MOST_DOTS)} in all); box: the middle half; bar: the median.",
    )


# ---- training, planning, records, efficiency


def _training(report: ScoreReport) -> Iterator[Block]:
    if not report.learning:
        return
    from arcademark.reports.runs import figure_learning, figures

    several = len(report.algorithms) > 1
    names = MappingProxyType({game.id: game.name for game in report.games})
    rows = (
        (
            names[curve.game],
            *((curve.algorithm,) if several else ()),
            wording.count(curve.episodes),
            wording.count(curve.frames),
            wording.score(curve.first),
            Cell(wording.score(curve.last), "strong", sort=curve.last),
            sparkline(curve.mean()[1], SPARKLINE) + ("" if curve.finished else " …"),
        )
        for curve in report.learning
    )
    windows = sorted({curve.window for curve in report.learning})
    means = "episode" if windows == [1] else f"{wording.listing(map(str, windows), last='or')} episodes"
    told = f"First and last: the mean score of the first and the last {means} of training, averaged over seeds."
    going = "" if all(curve.finished for curve in report.learning) else " …: training goes on."
    points = (
        f"smoothed: a point is the mean of {wording.listing(map(wording.count, windows))} consecutive episodes, at the "
        "frame where the last of them ended"
        if windows[-1] > 1
        else "each at the frame where it ended"
    )
    learners = {curve.algorithm for curve in report.learning}
    if legend := tuple(pair for pair in figures.legend(report.algorithms) if pair[0] in learners):
        yield Figure(
            "learning",
            partial(figure_learning.panels, report),
            f"Scores of training episodes, {points}. Thin lines: seeds; thick: their mean, where all of them are.",
            legend if several else (),
        )
    who = ("game", Column("algorithm", "name")) if several else ("game",)
    columns = (*who, "episodes", "frames", "first", "last", Column("", "name", optional=True))
    yield table(columns, rows, caption=told + going, grouped=several)


def _planning(report: ScoreReport) -> Iterator[Block]:
    several = len(report.algorithms) > 1
    names = {game.id: game.name for game in report.games}
    rows = [
        (
            names[score.game],
            *((item.name,) if several else ()),
            wording.count(cost.decisions),
            wording.count(cost.simulated_frames),
            wording.count(round(cost.frames_per_decision)),
        )
        for item in report.algorithms
        for score in item.scores
        if score.played and (cost := score.played.planning)
    ]
    who = ("game", Column("algorithm", "name")) if several else ("game",)
    yield table((*who, "decisions", "simulated frames", "a decision"), sorted(rows), grouped=several)
    if rows:
        yield from (Prose(directory.frames_used(run), "weak") for run in report.runs if run.simulated_frames)


def _records(report: ScoreReport) -> Table:
    rows = (
        (Cell(item.name, "strong"), wording.listing(bar.reached), wording.listing(bar.unprecedented) or wording.MISSING)
        for item in report.algorithms
        for bar in item.breakthroughs
        if bar.metric == "hwrb" and bar.reached
    )
    return table(("algorithm", Column("broken", "prose"), Column("by nobody else in the catalogue", "prose")), rows)


def _efficiency(report: ScoreReport) -> Table:
    rows = (
        (
            Cell(item.name, "strong"),
            wording.count(item.efficiency.training_frames),
            wording.MISSING if report.benchmark.own else words.days(item.efficiency.game_time_days),
            gain.title,
            words.power_of_ten(gain.mean),
            words.power_of_ten(gain.median),
        )
        for item in report.algorithms
        if item.efficiency is not None
        for gain in item.efficiency.gains
    )
    columns = ("algorithm", "training frames", "game time", Column("metric", "name"), "mean a frame", "median a frame")
    return table(columns, rows, grouped=True)


# ---- how it was made


def _troubles(run: Run) -> Table:
    return table(
        (*(Column(name, "name") for name in ("agent", "game")), "seed", "episodes", Column("what happened", "prose")),
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


def _played_under(runs: Sequence[Run]) -> Iterator[Prose]:
    """Say each protocol in a line, of runs together where it and what emulated the games are the same."""
    told: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        told.setdefault((run.protocol.label, directory.played_on(run)), []).append(run.name)
    for (label, emulators), names in told.items():
        whose = "" if len(told) == 1 else f" of {wording.listing(names)}"
        yield Prose(f"Protocol{whose}: {label}{f'; played on {emulators}' if emulators else ''}.", "weak")


def _run(run: Run, before: Sequence[Run]) -> Iterator[Block]:
    same = next((other.name for other in before if other.protocol == run.protocol), "")
    protocol = Prose(f"The same settings as in {same}.", "weak") if same else _protocol(run.protocol)
    yield section(f"Protocol: {run.protocol.label}", *(() if same else _cited(run.protocol)), protocol)
    yield section("To reproduce it", Code("\n".join((*run.commands, f"arcademark verify {run.directory}"))))
    emulators = directory.played_on(run)
    yield Facts((*((("played on", emulators),) if emulators else ()), *run.versions.items(), *run.machine.items()))
    yield section("MD5 of the ROMs", Facts(tuple(run.roms.items())), folded=True)


def _cited(protocol: ProtocolView) -> Iterator[Prose]:
    yield Prose(f"{protocol.title}. After {protocol.citation}.", "weak")


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
