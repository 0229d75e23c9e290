"""What a run takes, before anything is played."""

from __future__ import annotations

from collections.abc import Iterator

from arcademark.reports import wording
from arcademark.reports.blocks import Cell, Column, Document, Facts, Notices, section, table
from arcademark.reports.document import Notice
from arcademark.reports.runs.planned import Pace, Planned
from arcademark.runs.simulation import HOUR

LENGTHS = {
    "given": "as long as given",
    "recorded": "as long as those that the run's directory holds",
    "random play": "as long as measured of random play",
    "frame cap": "as long as the protocol lets them be",
}


def present(found: Planned) -> Document:
    """Show the amounts, then how long it takes with how many workers, then each game."""
    most = "at most " if found.at_most else ""
    amounts = table(
        ("", Column("", "number")),
        [
            ("trials", wording.count(found.trials)),
            ("episodes", wording.count(found.episodes)),
            ("frames", f"{most}{found.frames:,.0f}"),
            *([("frames simulated", f"{most}{found.simulated_frames:,.0f}")] if found.simulated_frames else []),
            ("core-hours", Cell(f"{most}{_amount(found.core_hours)}", "strong")),
            ("cost", f"{most}${_amount(found.cost.standard)}"),
            ("energy", f"{most}{_amount(found.cost.kilowatt_hours)}\N{NO-BREAK SPACE}kWh"),
            ("carbon dioxide", f"{most}{_amount(found.cost.carbon_kilograms)}\N{NO-BREAK SPACE}kg"),
        ],
    )
    columns = ("workers", "time", Column("of it played", meaning="what of the workers' time is play"))
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
        ("game", "trials", "episodes", "frames an episode", "frames", "core-hours"),
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
        f"{wording.shortened(found.agents, most=2)}: what the run takes",
        "plan",
        f"{found.scope or wording.plural(len(found.games), 'game')}, {wording.plural(len(found.seeds), 'seed')} under "
        f"{found.protocol}.",
        (
            section("", amounts, Notices(tuple(_notes(found)))),
            section("How long it takes", makespans),
            section("Game by game", games),
            section("Assumed", Facts(tuple(_assumed(found)))),
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
            "Nothing tells how long this agent's episodes are, so amounts are bounds: every episode as long as the "
            "protocol lets it be.",
            "--episode-frames tells, or a run that has begun.",
        )
    if found.done:
        yield Notice(
            "plan_done", "note", f"{wording.plural(found.done, 'episode')} are played already, and not counted."
        )
    if found.left_out:
        yield Notice(
            "plan_left_out", "note", f"{wording.plural(found.left_out, 'combination')} of agent and game has no trial."
        )


def _assumed(found: Planned) -> Iterator[tuple[str, str]]:
    yield "episodes", LENGTHS[found.lengths]
    for pace in found.paces:
        yield "speed", _speed(pace)
    yield "a core", f"${found.core_price:.4g} an hour, {found.core_watts:.3g} W"
    yield "time", "simulated: longest trials first, as 'run' plays them; a learner stays with one worker"
    if found.shards:
        yield (
            "shards",
            f"{found.shards.count:,}, of {wording.share(found.shards.least)} to {wording.share(found.shards.most)} of "
            "their mean in frames",
        )


def _speed(pace: Pace) -> str:
    rate = f"{pace.frames_per_second:,.0f} frames/s a core"
    if pace.simulated_frames_per_second:
        rate += f", {pace.simulated_frames_per_second:,.0f} simulated"
    if not pace.measured:
        return f"{rate}, as given"
    games = wording.listing(dict.fromkeys(game for _, game in pace.measured))
    return f"{rate}, measured here on {games}"
