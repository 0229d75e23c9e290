"""Algorithms against each other: verdicts, summaries, games, profiles, and whether the metric decides their order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from types import MappingProxyType

from arcademark.metrics.sequential import Decision
from arcademark.reports import wording
from arcademark.reports.blocks import (
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Figure,
    Notices,
    Prose,
    References,
    Section,
    Table,
    section,
    table,
)
from arcademark.reports.columns import Style
from arcademark.reports.present import parts
from arcademark.reports.tables import figures, words
from arcademark.reports.tables.comparison import (
    Comparison,
    GameDifference,
    Pair,
    Power,
    Sensitivity,
    Sequential,
    Verdict,
)
from arcademark.reports.tables.document import Statistic

MOST_FLIPS = 8
"""Pairs of algorithms whose order changes that a terminal names, unless all is asked for."""

MOST_PAIRS = 45
"""Pairs of which each game is shown."""

OF_THE_DATA = frozenset({"runs", "read", "untested"})
"""Kinds of notes that hold for these scores and not for every comparison."""

VERDICTS: MappingProxyType[Verdict, Style] = MappingProxyType(
    {"better": "good", "worse": "bad", "undecided": "", "untested": "weak"}
)


DECISIONS: MappingProxyType[Decision, Style] = MappingProxyType(
    {"larger": "good", "smaller": "bad", "equal": "", "undecided": "weak"}
)


def present(found: Comparison) -> Document:
    """Show a comparison; see `arcademark.reports.blocks`."""
    notes = tuple(note for note in found.notes if note.kind in OF_THE_DATA)
    others = tuple(note for note in found.notes if note.kind not in OF_THE_DATA)
    sources = [*((item.title, item.source) for item in found.benchmark.references),
               *((item.name, item.source) for item in found.algorithms if item.source)]  # fmt: skip
    return Document(
        found.title,
        "comparison",
        f"{'; '.join(found.sources)}.",
        (
            section("", Notices(found.warnings)),
            *(_sequential(found, found.sequential) if found.sequential else ()),
            *(_one(found, found.pairs[0]) if len(found.pairs) == 1 else _several(found)),
            *(_sensitivity(found, found.sensitivity) if found.sensitivity else ()),
            section("", Notices(notes)),
            parts.hard_exploration(found.hard_exploration, detail=True),
            section("How to read this", Notices(others), detail=True),
            section("References", Facts(tuple(sources)), References(found.citations), detail=True),
        ),
        found.generator,
    )


def _one(found: Comparison, pair: Pair) -> Iterator[Section]:
    decided = pair.better + pair.worse
    yield section("Headline", *map(Prose, _verdicts(found, pair)))
    yield section("Differences of the summaries, in percentage points", _summaries(found, pair))
    yield section("Performance profiles", _profiles(found))
    games = partial(_games, found, pair, decided or None), Prose(_columns(found), "weak")
    yield section(_title(found, pair), *games, detail=not decided)


def _several(found: Comparison) -> Iterator[Section]:
    more = len(found.pairs) - MOST_PAIRS
    noun, pairs = words.noun(found.benchmark), wording.plural(more, "pair")
    rest = f"For each {noun} of the other {pairs}, compare two algorithms by themselves."
    games = (
        section(_title(found, pair), partial(_games, found, pair), folded=True) for pair in found.pairs[:MOST_PAIRS]
    )
    columns = Prose(_columns(found), "weak")
    yield section("Each against each", _pairs(found))
    yield section("Performance profiles", _profiles(found))
    yield section(f"{noun.title()}s of each pair", columns, *games, Prose(rest) if more > 0 else None, detail=True)


def _title(found: Comparison, pair: Pair) -> str:
    return f"{words.noun(found.benchmark).title()}s: {pair.first} less {pair.second}"


def _verdicts(found: Comparison, pair: Pair) -> Iterator[str]:
    """Say in sentences how two algorithms compare."""
    kind = words.noun(found.benchmark)
    games = wording.plural(len(pair.games), kind)
    tested = pair.untested < len(pair.games)
    if tested:
        untested = f", {pair.untested} untested" if pair.untested else ""
        yield (
            f"{pair.first} is better than {pair.second} in {pair.better} and worse in {pair.worse} of {games}, by "
            f"Welch's t-tests at {100 * found.confidence:g} %; {pair.undecided} undecided{untested}."
        )
        if decided := pair.better + pair.worse:
            alpha = 1 - found.confidence
            held = sum(game.corrected_p is not None and game.corrected_p < alpha for game in pair.games)
            yield f"Corrected for the number of tests by Holm's method, {held} of these {decided} differences stand."
    higher, lower = (sum(sign * game.difference > 0 for game in pair.games) for sign in (1, -1))
    whose = "Its" if tested else f"{pair.first}'s"
    yield f"{whose} score is higher in {higher} and lower in {lower} of {games}."
    span = _share_span(pair.improvement)
    probability = f"{wording.fixed(pair.improvement.value)}{f' ({span})' if span else ''}"
    yield f"A run of it beats one of {pair.second} on a random {kind} with probability {probability}."
    if pair.power is not None:
        yield _power(pair.power, kind)


def _power(power: Power, kind: str) -> str:
    summary = f"the {words.STATISTICS[power.statistic]} {power.metric}"
    return (
        f"Runs needed to find the difference seen: {power.median_seeds:,.0f} on a middling {kind}; {power.enough} of "
        f"{power.games} have enough.{'' if power.seeds is None else f' For {summary}: {wording.count(power.seeds)}.'}"
    )


def _summaries(found: Comparison, pair: Pair) -> Table:
    rows = (
        (
            item.title,
            words.SHORT[item.statistic],
            wording.percent(item.first),
            wording.percent(item.second),
            Cell(wording.percent(item.difference.value), "strong"),
            words.span(item.difference) or wording.MISSING,
            wording.fixed(item.relative),
        )
        for item in pair.summaries
    )
    columns = ("metric", "summary", pair.first, pair.second, "difference", "interval", "relative")
    return table(columns, rows, names=2, grouped=True, caption=f"Over {found.scope}{_with_intervals(found, pair)}.")


def _with_intervals(found: Comparison, *pairs: Pair) -> str:
    there = any(pair.improvement.low is not None for pair in pairs)
    return f", with {100 * found.intervals.confidence:g} % intervals" if there else ""


def _pairs(found: Comparison) -> Table:
    rows: list[tuple[Cell | str, ...]] = []
    for pair in found.pairs:
        shown = {item.statistic: item.difference for item in pair.summaries if item.metric == found.metric}
        rows.append(
            (
                Cell(pair.first, "strong"),
                Cell(pair.second, "strong"),
                str(len(pair.games)),
                f"{pair.better} –{pair.worse}" if pair.untested < len(pair.games) else wording.MISSING,
                Cell(wording.fixed(pair.improvement.value), below=_share_span(pair.improvement)),
                *(_difference(shown.get(key)) for key in ("median", "iqm")),
            )
        )
    differences = (f"{summary} {found.metric_title} difference" for summary in ("median", "IQM"))
    noun = words.noun(found.benchmark)
    columns = ("first", "second", f"{noun}s", "better –worse", "P(first beats second)", *differences)
    caption = (
        f"Over {found.scope}: {noun}s better and worse by Welch's t-tests at {100 * found.confidence:g} %, the "
        f"probability that a run of the first beats one of the second, and differences in percentage points"
        f"{_with_intervals(found, *found.pairs)}."
    )
    return table(columns, rows, names=2, caption=caption)


def _sequential(found: Comparison, told: Sequential) -> Iterator[Section]:
    yield section("Whether more runs are needed", *_needed(found, told))


def _needed(found: Comparison, told: Sequential) -> Iterator[Block]:
    """Say who needs how many more runs, and what is decided."""
    lacking: dict[int, list[str]] = {}
    for side in told.algorithms:
        if side.more:
            lacking.setdefault(side.more, []).append(side.algorithm)
    still = sum(pair.decision == "undecided" for pair in told.pairs)
    if lacking:
        needed = max(side.runs + side.more for side in told.algorithms if side.more)
        who = "; ".join(
            f"{more} more {'run' if more == 1 else 'runs'} of {_each(names)}" for more, names in lacking.items()
        )
        on = f" on every {words.noun(found.benchmark)}" if told.metric else ""
        left = f"; {still} of {len(told.pairs)} pairs undecided" if len(told.pairs) > 1 else ""
        group = f"group {needed // told.group} of at most {told.groups}"
        yield Prose(f"Yes{on}: {who}. That makes {needed} runs, {group}{left}.", "doubtful")
    else:
        yield Prose(f"No: {'it is' if len(told.pairs) == 1 else f'all {len(told.pairs)} pairs are'} decided.", "good")
    unit = wording.percent if told.metric else wording.score
    several = len(told.pairs) > 1
    rows = (
        (
            Cell(pair.first, "strong"),
            Cell(pair.second, "strong"),
            str(step.runs) if step else wording.MISSING,
            unit(step.difference if step else None),
            unit(step.boundary if step else None),
            Cell(step.decision if step else "undecided", DECISIONS[step.decision if step else "undecided"]),
        )
        for pair in told.pairs
        for step in ((pair.steps[-1:] if several else pair.steps) or (None,))
    )
    columns = ("first", "second", "runs of each", "difference", "boundary", Column("the first is", "name"))
    yield table(columns, rows, names=2, grouped=True, caption=_of_runs(found, told))
    yield Prose(
        f"What differs by more than the boundary is decided (Mathieu et al. 2024). Where none differs, about "
        f"{100 * told.alpha:g} % of such tests decide any pair, if group, groups and alpha were chosen before the runs "
        "were made. What is undecided after the last group counts as equal: if it differs, then by too little for so "
        "few runs.",
        "weak",
    )


def _each(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"each of {wording.shortened(names)}"


def _of_runs(found: Comparison, told: Sequential) -> str:
    if told.metric:
        over = wording.plural(len(told.games), words.noun(found.benchmark))
        score = f"its {words.STATISTICS[told.statistic]} {found.metric_title} over {over} that all have"
    else:
        score = f"its points on {found.game(told.games[0]).name}"
    groups = f"{told.groups} {'group' if told.groups == 1 else 'groups'} of {told.group}"
    return f"By AdaStop, runs in order in at most {groups}, at {100 * told.alpha:g} %. A run's score is {score}."


def _difference(found: Statistic | None) -> Cell:
    return Cell(wording.MISSING) if found is None else Cell(wording.percent(found.value), below=words.span(found))


def _games(found: Comparison, pair: Pair, most: int | None = None) -> Table:
    """Show the games, those first whose difference was decided."""
    columns: tuple[Column | str, ...] = (
        words.noun(found.benchmark),
        *(Column(name, optional=True) for name in (pair.first, pair.second)),
        "difference",
        Column(found.metric_title, meaning=found.metric_meaning),
        "p",
        Column("Holm's p", optional=True),
        Column("verdict", "name"),
        "beats",
        "runs needed",
    )
    rows = (_game(found, game) for game in sorted(pair.games, key=lambda game: game.verdict not in ("better", "worse")))
    return table(columns, rows, sortable=True, most=most)


def _columns(found: Comparison) -> str:
    return (
        f"The difference in points and in {found.metric_title}, Welch's t-test at {100 * found.confidence:g} %, its p "
        f"also corrected by Holm's method for all such tests here, of every {words.noun(found.benchmark)} and pair, "
        "how probable it is that a run of the first beats one of the second, and the runs of each that find the "
        "difference seen four times in five."
    )


def _game(found: Comparison, game: GameDifference) -> tuple[Cell, ...]:
    needed = game.seeds_needed
    return (
        Cell(found.game(game.game).name),
        *(Cell(wording.score(value), sort=value) for value in (game.first, game.second)),
        Cell(wording.score(game.difference), "strong", sort=game.difference),
        Cell(wording.percent(game.normalised), sort=game.normalised),
        *(Cell(_p(value), sort=value) for value in (game.p, game.corrected_p)),
        Cell(game.verdict, VERDICTS[game.verdict]),
        Cell(wording.fixed(game.improvement), sort=game.improvement),
        Cell(wording.MISSING if needed is None else wording.count(needed), sort=needed),
    )


def _p(value: float | None) -> str:
    return wording.MISSING if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _profiles(found: Comparison) -> Figure | None:
    if not found.profiles:
        return None
    legend = figures.legend(found)
    first = f"The first {len(legend)} algorithms. " if len(found.profiles) > len(legend) else ""
    shades = f" Shades: {100 * found.intervals.confidence:g} % intervals at each value by itself."
    return Figure(
        "profiles",
        partial(figures.profiles, found),
        f"{first}The share of runs whose {found.metric_title}{' score' if found.benchmark.own else ''} lies above each "
        f"value, averaged over {words.noun(found.benchmark)}s (Agarwal et al. 2021)."
        f"{shades if any(item.low is not None for item in found.profiles) else ''} A curve above another throughout is "
        "better throughout.",
        legend,
    )


def _sensitivity(found: Comparison, told: Sensitivity) -> Iterator[Section]:
    yield section("Does the order change under another reference set or metric?", *_flips(told))
    ranks = (
        (
            item.title,
            words.SHORT[item.statistic],
            *map(str, item.ranks),
            str(item.inversions),
            wording.fixed(item.kendall_tau),
        )
        for item in told.rankings
    )
    columns = ("metric", "summary", *(item.name for item in found.algorithms), "inversions", "Kendall's τ")
    yield section("Ranks by every measure", table(columns, ranks, names=2, grouped=True), detail=True, folded=True)


def _flips(told: Sensitivity) -> Iterator[Block]:
    if not told.flips:
        metrics = wording.listing(dict.fromkeys(item.title for item in told.rankings))
        text = f"No: {metrics}, each by mean, median, IQM and optimality gap, put no two of them in opposite orders."
        yield Prose(text)
        return
    columns = ("this one above", "that one", Column("under", "prose"), Column("and below under", "prose"))
    rows = (
        (
            Cell(flip.first, "strong"),
            Cell(flip.second, "strong"),
            wording.listing(flip.first_above),
            wording.listing(flip.second_above),
        )
        for flip in told.flips
    )
    yield table(columns, rows, names=2, most=MOST_FLIPS)
    yield Prose(_inversions(told))


def _inversions(told: Sensitivity) -> str:
    """Count the pairs of algorithms that each measure puts in the opposite order to the first metric's median."""
    usual = next(item for item in told.rankings if item.statistic == "median")
    found: dict[int, list[str]] = {}
    for item in told.rankings:
        found.setdefault(item.inversions, []).append(f"{words.STATISTICS[item.statistic]} {item.title}")
    found.pop(0, None)
    pairs = wording.plural(math.comb(len(usual.ranks), 2), "pair")
    by_number = "; ".join(f"{number} by {wording.listing(names)}" for number, names in sorted(found.items()))
    return (
        f"Inversions against the order by median {usual.title}, of {pairs} (Aitchison et al. 2023, §7): "
        f"{f'{by_number}, none by the others' if found else 'none'}."
    )


def _share_span(found: Statistic) -> str:
    return "" if found.low is None or found.high is None else f"{found.low:.2f} … {found.high:.2f}"
