"""What a run is estimated to take."""

from __future__ import annotations

from collections.abc import Iterator

from arcademark.reports import wording
from arcademark.reports.blocks import Cell, Column, Document, Facts, Notices, section, table
from arcademark.reports.document import Notice
from arcademark.reports.runs.planned import Pace, Planned
from arcademark.runs.simulation import HOUR

LENGTHS = {
    "given": "as given",
    "recorded": "mean of the recorded episodes",
    "random play": "mean of random play",
    "frame cap": "the protocol's {} cap",
}


def present(found: Planned) -> Document:
    """Show the amounts, then how long it takes with how many workers, then each game."""
    most, unit, noun = "at most " if found.at_most else "", found.unit, wording.noun(found.unit)
    amounts = table(
        ("", Column("", "number")),
        [
            ("trials", wording.count(found.trials)),
            ("episodes", wording.count(found.episodes)),
            (f"{unit}s", f"{most}{found.frames:,.0f}"),
            *([(f"{unit}s simulated", f"{most}{found.simulated_frames:,.0f}")] if found.simulated_frames else []),
            ("core-hours", Cell(f"{most}{_amount(found.core_hours)}", "strong")),
            ("cost", f"{most}${_amount(found.dollars)}"),
            ("energy", f"{most}{_amount(found.kilowatt_hours)}\N{NO-BREAK SPACE}kWh"),
            ("carbon dioxide", f"{most}{_amount(found.carbon_kilograms)}\N{NO-BREAK SPACE}kg"),
        ],
    )
    columns = ("workers", "time", Column("busy", meaning="share of the workers' time spent playing"))
    makespans = table(
        columns,
        (
            (
                wording.count(one.workers),
                Cell(f"{most}{wording.time_span(one.hours * HOUR)}", "strong", sort=one.hours),
                wording.share(one.efficiency),
            )
            for one in found.makespans
        ),
    )
    games = table(
        (noun, "trials", "episodes", f"{unit}s an episode", f"{unit}s", "core-hours"),
        (
            (
                one.game,
                wording.count(one.trials),
                wording.count(one.episodes),
                f"{one.episode_frames:,.0f}",
                f"{one.frames:,.0f}",
                _amount(one.core_hours),
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


def _notes(found: Planned) -> Iterator[Notice]:
    if found.at_most:
        yield Notice(
            "plan_bound",
            "note",
            "The length of this agent's episodes is unknown, so the amounts are upper bounds: every episode is taken "
            f"to last until the {found.unit} cap.",
            "Give it by --episode-frames, or begin the run.",
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
        yield "speed", _speed(pace, found.unit)
    yield "a core", f"${found.core_price:.4g} an hour, {found.core_watts:.3g} W"
    yield "time", "simulated: longest trials first, as 'run' plays them; a learner stays with one worker"
    if found.shards:
        yield (
            "shards",
            f"{found.shards.count:,}, of {wording.share(found.shards.least)} to {wording.share(found.shards.most)} of "
            f"their mean in {found.unit}s",
        )


def _speed(pace: Pace, unit: str) -> str:
    rate = f"{wording.rate(pace.frames_per_second, unit)} a core"
    if pace.simulated_frames_per_second:
        rate += f", {pace.simulated_frames_per_second:,.0f} simulated"
    if not pace.measured:
        return f"{rate}, as given"
    games = wording.listing(dict.fromkeys(game for _, game in pace.measured))
    return f"{rate}, measured here on {games}"
