"""What a run is estimated to take."""

from __future__ import annotations

from collections.abc import Iterator

from arcademark.reports import wording
from arcademark.reports.blocks import Cell, Column, Document, Facts, Notices, section, table
from arcademark.reports.document import Notice
from arcademark.reports.runs.planned import HOUR, GameCost, Pace, Planned

LENGTHS = {
    "given": "as given",
    "recorded": "mean of the recorded episodes",
    "random play": "mean of random play",
    "frame cap": "the protocol's {} cap",
}


def present(found: Planned) -> Document:
    """Show the amounts, then how long it takes with how many workers, then each game."""
    unit, noun = found.unit, wording.noun(found.unit)
    planning = any(pace.decisions for pace in found.paces)
    amounts = table(
        ("", Column("", "number")),
        [
            ("trials", wording.count(found.trials)),
            ("episodes", wording.count(found.episodes)),
            (f"{unit}s", f"{'at most ' if found.at_most else ''}{found.frames:,.0f}"),
            *([(f"{unit}s simulated", _about(found.simulated_frames))] if found.simulated_frames else []),
            ("core-hours", Cell(_amount(found.core_hours), "strong")),
            ("cost", f"${_amount(found.dollars)}"),
            ("energy", f"{_amount(found.kilowatt_hours)}\N{NO-BREAK SPACE}kWh"),
            ("carbon dioxide", f"{_amount(found.carbon_kilograms)}\N{NO-BREAK SPACE}kg"),
        ],
    )
    columns = ("workers", "time", Column("busy", meaning="share of the workers' time spent playing"))
    makespans = table(
        columns,
        (
            (
                wording.count(one.workers),
                Cell(wording.time_span(one.hours * HOUR), "strong", sort=one.hours),
                wording.share(one.efficiency),
            )
            for one in found.makespans
        ),
    )
    games = table(
        (
            *(noun, "trials", "episodes", f"{unit}s an episode", f"{unit}s"),
            *(("s a decision", f"simulated {unit}s a decision") if planning else ()),
            "core-hours",
        ),
        (
            (
                one.game,
                wording.count(one.trials),
                wording.count(one.episodes),
                f"{one.episode_frames:,.0f}",
                f"{one.frames:,.0f}",
                *(_per_decision(one) if planning else ()),
                Cell(_amount(one.core_hours), sort=one.core_hours),
            )
            for one in found.by_game
        ),
        sortable=True,
        most=10,
    )
    return Document(
        f"{wording.shortened(found.agents, most=2)}: estimated cost",
        "plan",
        f"{found.scope or wording.plural(len(found.games), noun)}, {wording.plural(len(found.seeds), 'seed')} under "
        f"{found.protocol}.",
        (
            section("", amounts, Notices(tuple(_notes(found)))),
            section("How long it takes", makespans),
            section(f"{noun.title()} by {noun}", games),
            section("Assumptions", Facts(tuple(_assumed(found)))),
        ),
    )


def _amount(value: float | None) -> str:
    """Show hours and what they cost, small ones with two digits."""
    return f"{value:.2g}" if value and value < 1 else wording.score(value)


def _per_decision(cost: GameCost) -> Iterator[Cell]:
    for amount in (cost.core_hours * HOUR, cost.simulated_frames):
        each = amount / cost.decisions if cost.decisions else None
        yield Cell(wording.MISSING if each is None else _about(each), sort=each)


def _about(value: float) -> str:
    """Show an estimate with three digits."""
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def _notes(found: Planned) -> Iterator[Notice]:
    if found.at_most:
        yield Notice(
            "plan_bound",
            "note",
            f"The length of this agent's episodes is unknown: all are taken to last until the {found.unit} cap, and "
            "the other amounts are estimates for such. It takes less where episodes end before.",
            "Give it by --assume episode_frames=N, or begin the run.",
        )
    if found.done:
        yield Notice(
            "plan_done", "note", f"{wording.plural(found.done, 'episode')} are played already, and not counted."
        )
    if found.left_out:
        yield Notice(
            "plan_left_out",
            "note",
            f"{wording.plural(found.left_out, 'combination')} of agent and {wording.noun(found.unit)} has no trial.",
        )


def _assumed(found: Planned) -> Iterator[tuple[str, str]]:
    yield "episode length", LENGTHS[found.lengths].format(found.unit)
    for pace in found.paces:
        if not pace.decisions:
            yield "speed", _speed(pace, found.unit)
    if decisions := sum(pace.decisions for pace in found.paces):
        where = f"all along an episode of random play of each {wording.noun(found.unit)}"
        yield "speed", f"that of {wording.count(decisions)} decisions, measured here {where}"
    yield "a core", f"${found.core_price:.4g} an hour, {found.core_watts:.3g} W"
    yield "time", "the core-hours over the workers, but no less than a learner's longest trial or another's episode"
    if found.shards:
        yield (
            "shards",
            f"{found.shards.count:,}, of {wording.share(found.shards.least)} to {wording.share(found.shards.most)} of "
            f"their mean in {found.unit}s",
        )


def _speed(pace: Pace, unit: str) -> str:
    rate = f"{wording.rate(pace.frames_per_second, unit)} a core"
    if not pace.measured:
        return f"{rate}, as given"
    games = wording.listing(dict.fromkeys(game for _, game in pace.measured))
    return f"{rate}, measured here on {games}"
