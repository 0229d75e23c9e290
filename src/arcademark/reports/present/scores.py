"""Scores of runs and of tables: the headline, every summary, every game, how training went, and how all was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

from arcademark.reports import wording
from arcademark.reports.blocks import (
    Block,
    Card,
    Cards,
    Cell,
    Column,
    Document,
    Facts,
    Notices,
    Prose,
    References,
    Table,
    section,
    table,
)
from arcademark.reports.document import Estimate, Similar
from arcademark.reports.present import parts
from arcademark.reports.present import runs as made
from arcademark.reports.subsets.models import ANY
from arcademark.reports.tables import words
from arcademark.reports.tables.document import Algorithm, Score, ScoreReport, Statistic, Tolerance
from arcademark.suite.subsets import LEVEL

MOST_ALGORITHMS = 100
"""Algorithms of which a terminal shows the headline and the summaries where not everything is asked for."""

LONE_ROWS = 3
"""Scores of runs, of one game say, that stand above warnings and headline: these speak of the missing games."""

SAMPLING = "95 % from the scores"
"""The interval of an estimate that few scores leave, the model's error apart."""

OF_SUMMARIES = "few_runs"
"""The kind of warnings that concern the intervals of summaries only, and stand below these."""

_REPORTED = MappingProxyType({"training": "training", "evaluation": "evaluation", "best": "the best policy"})


def present(report: ScoreReport) -> Document:
    """Show a report; see `arcademark.reports.blocks`."""
    noun, rows = words.noun(report.benchmark), sum(len(item.scores) for item in report.algorithms)
    games = section(
        f"{noun.title()}s",
        made.standing(report),
        partial(_games, report) if rows else None,
        detail=rows > parts.MOST_ROWS,
    )
    alone = bool(report.runs) and rows <= LONE_ROWS
    return Document(
        report.title,
        "report",
        "; ".join(map(made.in_short, report.runs)),
        (
            *((games,) if alone else ()),
            Notices(tuple(item for item in report.warnings if item.kind != OF_SUMMARIES)),
            section("Headline", _headline(report)),
            section(f"Summaries over {report.scope}", *_summaries(report), detail=bool(report.runs)),
            *(() if alone else (games,)),
            *((section("Between which scores single runs lie", *_tolerance(report, report.tolerance)),)
              if report.tolerance else ()),
            section("Training", *made.training(report)),
            section("Planning" if report.benchmark.own else "Planning on the emulator", *made.planning(report)),
            section("Human world records broken", _records(report)),
            section("Learning efficiency", _efficiency(report), detail=bool(report.runs)),
            *(section("Beside published algorithms of similar budget", *_beside(item), detail=True)
              for item in report.similar),
            parts.hard_exploration(report.hard_exploration, detail=bool(report.runs)),
            section("Episodes", made.episodes(report), detail=True),
            *(section(f"Not finished in {run.name}", made.troubles(run)) for run in report.runs if run.troubles),
            section("", *made.played_under(report.runs)),
            section("How to read this", Notices(report.notes), detail=True),
            *(section(f"Run {run.name}", *made.conditions(run, report.runs[:index]), detail=True)
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
    noun = words.noun(report.benchmark)
    return [
        f"{item.name}: {_brief(item.estimate) if item.estimate else _known(item, noun)}"
        + (f"; {wording.percent(item.published.value)} by {item.published.title}'s model" if item.published else "")
        for item in report.algorithms
    ]


def _known(item: Algorithm, noun: str) -> str:
    if item.coverage.median is None and noun == "game":
        return "no estimate, as it has no score on a game that tells of others"
    if item.coverage.median is None:
        return f"scores on {item.coverage.games} of {wording.plural(item.coverage.of, noun)}; {item.coverage.refused}"
    return f"{wording.percent(item.coverage.median)}, the median of all {item.coverage.of} {noun}s"


def _brief(estimate: Estimate) -> str:
    if estimate.value is None:
        missing = wording.listing(estimate.missing)
        return f"no estimate of the {estimate.suite} median; {estimate.title} also needs {missing}"
    doubt = "; doubtful, for reasons that the whole report gives" if estimate.warnings else ""
    value = wording.percent(estimate.value)
    if estimate.low is not None:
        value += f" ({_between(estimate.low, estimate.high)} at {100 * estimate.level:g} %)"
    return f"{value}, the {estimate.suite} median HNS, estimated from {estimate.title}{doubt}"


def _published(report: ScoreReport) -> dict[str, str]:
    """Name the published models whose games some algorithms have exactly, by their subsets."""
    return {found.subset: f"{found.title}'s model" for item in report.algorithms if (found := item.published)}


def _by_published(item: Algorithm, subset: str) -> str:
    found = item.published
    return wording.percent(found.value) if found and found.subset == subset else wording.MISSING


def _headline(report: ScoreReport) -> Cards | Table | None:
    if not report.benchmark.own:
        return _cards(report) if report.runs else _glance(report)
    return _glance(report) if report.benchmark.references else None


def _cards(report: ScoreReport) -> Cards:
    models = _published(report)
    return Cards("algorithm", "estimate", tuple(_card(item, models) for item in report.algorithms), (SAMPLING,))


def _card(item: Algorithm, models: Mapping[str, str]) -> Card:
    estimate = item.estimate
    number, caption = _estimate(estimate), ""
    if estimate is None and item.coverage.median is not None:
        number, caption = _median(item.coverage.median), "median of all games"
    elif estimate is not None:
        caption = (
            f"{estimate.title} also needs {wording.listing(estimate.missing)}"
            if estimate.value is None
            else f"median human-normalised score of {estimate.suite}, estimated from {estimate.title}"
        )
    facts = (
        ("from", estimate.title if estimate else wording.MISSING),
        *(() if estimate and estimate.printed_error is None else (("error, on other papers", _errors(estimate)),)),
        (f"{100 * LEVEL:g} % interval", _between(estimate.low, estimate.high) if estimate else wording.MISSING),
        (SAMPLING, _between(estimate.sampling_low, estimate.sampling_high) if estimate else wording.MISSING),
        *((name, _by_published(item, subset)) for subset, name in models.items()),
        *((bar.short, f"{len(bar.reached)} of {bar.games}") for bar in item.breakthroughs),
    )
    return Card(item.name, number, caption, facts)


def _estimate(estimate: Estimate | None) -> Cell:
    return _median(estimate.value, doubtful=bool(estimate.warnings)) if estimate else Cell(wording.MISSING)


def _median(value: float | None, *, doubtful: bool = False) -> Cell:
    if value is None:
        return Cell("refused", "doubtful")
    return Cell(wording.percent(value), "doubtful" if doubtful else "good", sort=value)


def _errors(estimate: Estimate | None) -> str:
    """Return the printed error and, after a comma, the one on papers that the model was not chosen with."""
    if estimate is None or estimate.value is None or estimate.printed_error is None:
        return wording.MISSING
    printed = wording.share(estimate.printed_error)
    if estimate.nested_error is None:
        return printed
    return f"{wording.number(100 * estimate.printed_error)}, {wording.share(estimate.nested_error)}"


def _between(low: float | None, high: float | None) -> str:
    return wording.MISSING if low is None or high is None else f"{wording.number(low)} … {wording.percent(high)}"


def _glance(report: ScoreReport) -> Table:
    estimates = [item.estimate for item in report.algorithms if item.estimate]
    models, by_model = _published(report), any(item.subset != ANY for item in estimates)
    noun, benchmark = words.noun(report.benchmark), report.benchmark
    bars = report.algorithms[0].breakthroughs if report.algorithms else ()
    return table(
        (
            "algorithm",
            f"{noun}s of {benchmark.games}",
            "runs",
            "median of all" if benchmark.own else f"{benchmark.name} median",
            "estimated median" if estimates else None,
            f"{100 * estimates[0].level:g} % interval" if estimates else None,
            Column("from", "name") if by_model else None,
            *models.values(),
            *(bar.short for bar in bars),
        ),
        (
            (
                Cell(item.name, "strong"),
                str(item.coverage.games),
                words.runs(item),
                _median(item.coverage.median),
                _estimate(item.estimate),
                _between(item.estimate.low, item.estimate.high) if item.estimate else wording.MISSING,
                item.estimate.title if item.estimate else wording.MISSING,
                *(_by_published(item, subset) for subset in models),
                *(f"{len(bar.reached)} of {bar.games}" for bar in item.breakthroughs),
            )
            for item in report.algorithms
        ),
        sortable=True,
        most=MOST_ALGORITHMS,
    )


def _summaries(report: ScoreReport) -> Iterator[Block]:
    summaries = [item for algorithm in report.algorithms for item in algorithm.summaries]
    counted = len({item.games for item in summaries}) > 1 or any(item.left_out for item in summaries)
    noun = words.noun(report.benchmark)
    metrics = {item.title: item.meaning for item in summaries}
    rows = (
        (
            Cell(algorithm.name, "strong"),
            Cell(item.title),
            *map(_percent, (item.mean, item.median, item.iqm, item.optimality_gap)),
            Cell(str(item.games)),
        )
        for algorithm in report.algorithms
        for item in algorithm.summaries
    )
    columns = ("algorithm", "metric", "mean", "median", "IQM", "optimality gap", f"{noun}s" if counted else None)
    most = MOST_ALGORITHMS * max(len(metrics), 1)
    yield table(columns, rows, names=2, grouped=True, most=most)
    yield Notices(tuple(item for item in report.warnings if item.kind == OF_SUMMARIES))
    if metrics:
        yield Prose(
            f"{'; '.join(f'{title}: {meaning}' for title, meaning in metrics.items())}. IQM: the mean of the middle "
            f"half of all runs’ scores (of the {noun}s’ scores where they are capped); a {noun} with fewer runs weighs "
            "less in it.",
            "weak",
        )


def _percent(found: Statistic) -> Cell:
    return Cell(wording.percent(found.value), below=words.span(found), sort=found.value)


def _games(report: ScoreReport) -> Table:
    metrics, several = words.uncapped(report), len(report.algorithms) > 1
    kinds = tuple(dict.fromkeys(kind for game in report.games for kind in game.references))
    played = any(score.played for item in report.algorithms for score in item.scores)
    best = _best(report) if several else {}
    scores = {(item.name, score.game): score for item in report.algorithms for score in item.scores}
    rows = (
        (
            Cell(game.name),
            Cell(f"{item.name}: {score.played.variant}" if score.played and score.played.variant else item.name),
            _points(score, best.get(game.id)),
            Cell(words.points_span(score), sort=score.score.low),
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
            Column("algorithm", "name") if several else None,
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


def _tolerance(report: ScoreReport, told: Tolerance) -> Iterator[Block]:
    """Say how widely single runs vary, and plainly where runs are too few to tell."""
    share, sure = f"{100 * told.share:g} %", f"{100 * told.confidence:g} %"
    several = len(report.algorithms) > 1
    needed = f"an interval of {share} of runs with {sure} confidence takes {told.runs_needed:,} runs"
    few = sum(row.runs < told.runs_needed for row in told.rows)
    if not told.rows:
        yield Prose(f"No score is of two runs or more; {needed}.", "doubtful")
        return
    if few:
        whose = "All" if few == len(told.rows) else f"{few:,} of {len(told.rows):,}"
        yield Prose(
            f"Too few runs: {needed}. {whose} scores have fewer, and show their range with the share of runs that it "
            "holds.",
            "doubtful",
        )
    rows = (
        (
            Cell(report.game(row.game).name),
            Cell(row.algorithm),
            wording.count(row.runs),
            Cell(wording.span(row.low, row.high, wording.decimals(row.high)), sort=row.low),
            Cell(wording.share(row.share), "doubtful" if row.share < told.share else "", sort=row.share),
            Cell(wording.score(row.at_least), sort=row.at_least),
        )
        for row in told.rows
    )
    columns = ("runs", "from … to", "holds at least", f"{share} reach")
    names = words.noun(report.benchmark), Column("algorithm", "name")
    caption = f"Tolerance intervals of runs, in points, with {sure} confidence."
    yield table((*names, *columns), rows, grouped=several, sortable=True, caption=caption)
    yield Prose(
        "They hold that share of all runs, of runs to come too, whatever the distribution (Patterson et al. 2024); the "
        f"interval of a score holds the mean of runs. The last column is the score that {share} of runs reach, which "
        f"takes {told.runs_of_bound:,} runs.",
        "weak",
    )


def _best(report: ScoreReport) -> Mapping[str, float]:
    """Return the best score of each game that several algorithms have."""
    found: dict[str, list[float]] = {}
    for item in report.algorithms:
        for score in item.scores:
            if score.score.value is not None:
                found.setdefault(score.game, []).append(score.score.value)
    return {game: max(values) for game, values in found.items() if len(values) > 1}


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


def _records(report: ScoreReport) -> Table:
    rows = (
        (Cell(item.name, "strong"), wording.listing(bar.reached), wording.listing(bar.unprecedented) or wording.MISSING)
        for item in report.algorithms
        for bar in item.breakthroughs
        if bar.metric == "hwrb" and bar.reached
    )
    return table(("algorithm", Column("broken", "prose"), Column("by nobody else in the catalogue", "prose")), rows)


def _efficiency(report: ScoreReport) -> Table:
    found = [item.efficiency for item in report.algorithms if item.efficiency]
    records = any(one.records is not None and gain.metric == "hwrns" for one in found for gain in one.gains)
    rows = (
        (
            Cell(item.name, "strong"),
            wording.count(item.efficiency.training_frames),
            wording.MISSING if report.benchmark.own else words.days(item.efficiency.game_time_days),
            gain.title,
            words.power_of_ten(gain.mean),
            words.power_of_ten(gain.median),
            *(("" if gain.metric != "hwrns" else words.power_of_ten(item.efficiency.records),) if records else ()),
        )
        for item in report.algorithms
        if item.efficiency is not None
        for gain in item.efficiency.gains
    )
    columns = (
        *("algorithm", "training frames", "game time", Column("metric", "name"), "mean a frame", "median a frame"),
        *(("records a frame",) if records else ()),
    )
    return table(columns, rows, grouped=True)


def _beside(found: Similar) -> Iterator[Block]:
    """Show algorithms beside published ones of a similar budget, and in what their protocols differ."""
    games, frames = wording.plural(len(found.games), "game"), wording.count(found.training_frames)
    if not found.within:
        nearest = (
            f"the nearest {'is' if len(found.published) == 1 else 'are'} shown, "
            f"{_times(found.published[0].training_frames / found.training_frames)}"
            if found.published
            else "none is shown"
        )
        yield Prose(
            f"No published algorithm with scores on {'this game' if len(found.games) == 1 else f'these {games}'} was "
            f"trained for half to twice as many frames as {frames}: {nearest}.",
            "doubtful",
        )
    rows = (
        (
            Cell(item.name, "" if item.source else "strong"),
            wording.count(item.training_frames),
            wording.percent(item.mean_hns),
            wording.percent(item.median_hns),
            wording.percent(item.mean_hwrns),
            wording.percent(item.mean_saber),
            f"{item.records} of {len(found.games)}",
            words.power_of_ten(item.hns_a_frame),
            item.source or wording.MISSING,
            _REPORTED.get(item.reported, wording.MISSING),
        )
        for item in (*found.own, *found.published)
    )
    columns = ("algorithm", "training frames", "mean HNS", "median HNS", "mean HWRNS", "mean SABER", "records broken")
    details = (Column("published by", "name", optional=True), Column("score of", "name", optional=True))
    lacking = f" Left out, without a score on some: {wording.shortened(found.lacking)}." if found.lacking else ""
    caption = f"Over {games}.{lacking}"
    yield table((*columns, "mean HNS a frame", *details), rows, caption=caption)
    differing: dict[tuple[str, ...], list[str]] = {}
    for item in found.published:
        if item.differs:
            differing.setdefault(item.differs, []).append(item.name)
    if differing:
        told = "; ".join(f"{wording.listing(names)}: {', '.join(what)}" for what, names in differing.items())
        whose = "ours" if len(found.own) > 1 else f"that of {found.own[0].name}"
        yield Prose(f"Read no ranking from this: protocols are known to differ ({whose} first). {told}.", "weak")


def _times(ratio: float) -> str:
    """Say how many times more or fewer, "250 times as many"."""
    return f"{max(ratio, 1 / ratio):,.3g} times as {'many' if ratio > 1 else 'few'}"
