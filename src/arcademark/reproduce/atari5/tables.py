"""The Atari-5 paper's Tables 1 to 3 and 6 to 12, row by row, and Appendix A, from the assumptions of Table 6.

A row agrees if each of its numbers is a rounding of our value. Table 3 and the costs of Table 6, which the paper
truncates instead of rounding, are compared cell by cell. The models of Tables 10 and 11 keep intercepts and
coefficients of any sign; unlike the models of the median they are not monotone. Costs are a lower bound, without
cooling, tests, tuning and failed runs; prices are US dollars per hour, power is in watts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from arcademark.reproduce.atari5 import data
from arcademark.reproduce.atari5.data import PAPER, listed, printed, stated
from arcademark.reproduce.comparison import PrintedComparison, decided, explained, number, row, slips
from arcademark.suite import references
from arcademark.suite.subsets import Subset, subset
from arcademark.suite.tables import read_named
from arcademark.suite.tasks import canonical_game, game_name

KILOGRAMS_PER_POUND = 0.45359237
POUNDS_PER_KWH = 0.92
"""Carbon dioxide per kilowatt-hour in the United States in 2019, from the EIA, as the paper uses it."""


@dataclass(frozen=True)
class Running:
    """Resources of one run on one task: hours on one GPU and one machine, their prices and power.

    Preemptive prices are those of machines that the provider may stop. Watts are None if they are not known.
    `training_frames` are those of one task; `frames_per_second` is the speed of training over all actors, if hours
    follow from it; `year` is that of the algorithm's publication.
    """

    name: str
    title: str
    year: int
    hours_per_task: float
    gpu_price: float
    machine_price: float
    gpu_price_preemptive: float
    machine_price_preemptive: float
    training_frames: int
    gpu_watts: float | None = None
    machine_watts: float | None = None
    frames_per_second: float | None = None


@cache
def runnings() -> Mapping[str, Running]:
    """Return the resources of published algorithms' runs, by name: "rainbow" and "agent57"."""
    return read_named("costs.toml", Running, files("arcademark.reproduce") / "data")


def dollars(running: Running, tasks: int = len(data.GAMES)) -> float:
    """Return the cost of a run on this number of games at the standard price, in US dollars."""
    return tasks * running.hours_per_task * (running.gpu_price + running.machine_price)


def kilowatt_hours(running: Running) -> float:
    """Return the energy of a run on all games."""
    watts = (running.gpu_watts or 0.0) + (running.machine_watts or 0.0)
    return len(data.GAMES) * running.hours_per_task * watts / 1000


TABLE_3 = {"Rainbow (noop)": "Rainbow DQN"}
TABLE_6 = {"Rainbow DQN": "rainbow", "Agent-57": "agent57"}
POUNDS_PER_SHORT_TON = 2000.0
SET = "Table 7, Agent57's challenging set"
GAME_MODELS = {10: data.ATARI_5, 11: data.ATARI_10}


def citations() -> Iterator[PrintedComparison]:
    """Check Table 1: citations of benchmarks, whose ratio alone can be recomputed."""
    counts = {name: cells[0] for name, cells in printed(1).items()}
    for name, count in counts.items():
        why = "Counts of March 2022; no count of that day is available."
        yield PrintedComparison(f"Table 1, {name}", count, "", "not available", why)
    ale, *others = (number(count).value for count in counts.values())
    yield stated("citations-double", f"{ale / sum(others):.2f} times", ale > 2 * sum(others))


def best_subsets() -> Iterator[PrintedComparison]:
    """Check Table 2: R² and relative error, both cross-validated."""
    for name, cells in printed(2).items():
        result = data.cross_validated(subset(name).tasks)
        where = f"Table 2, {_title(subset(name))}, R² and relative error"
        yield row(where, cells, (result.r2, 100 * result.log_error))
    tasks = subset("dqn-7").tasks
    weights = zip(tasks, data.model(tasks).coefficients, strict=True)
    negative = [f"{weight:.4f} for {game_name(game)}" for game, weight in weights if weight < 0]
    yield stated("dqn-7", ", ".join(negative), not negative)


def algorithms() -> Iterator[PrintedComparison]:
    """Check Table 3: true median, Atari-5's estimate and its error, cell by cell."""
    for name, cells in printed(3).items():
        true, guess = data.estimates("atari-5")[name]
        exact = (true, guess, 100 * abs(guess - true) / true)
        for column, cell, value in zip(("median", "Atari-5", "relative error"), cells, exact, strict=True):
            result = row(f"Table 3, {TABLE_3.get(name, name)}, {column}", (cell,), (value,))
            yield explained(PAPER, result, f"Table 3, {name}, {column}")


def expenses() -> Iterator[PrintedComparison]:
    """Check Table 6: GPU hours and costs of 57 games."""
    for name, cells in printed(6).items():
        running = runnings()[TABLE_6[name]]
        hours = len(data.GAMES) * running.hours_per_task
        preemptive = running.gpu_price_preemptive + running.machine_price_preemptive
        exact = (hours, hours * preemptive, dollars(running))
        for column, cell, value in zip(("GPU hours", "preemptive cost", "standard cost"), cells, exact, strict=True):
            yield explained(PAPER, row(f"Table 6, {name}, {column}", (cell,), (value,)))
    yield stated("icml-years", ", ".join(str(runnings()[name].year) for name in TABLE_6.values()), False)


def appendix() -> Iterator[PrintedComparison]:
    """Check Appendix A's statements besides Table 6: hours, prices, energy and carbon."""
    rainbow, agent57 = both = [runnings()[name] for name in TABLE_6.values()]
    yield stated("rainbow-days", f"{rainbow.hours_per_task / 24:g}")
    hours = agent57.training_frames / (agent57.frames_per_second or 1.0) / 3600
    yield stated("agent57-hours", f"{hours:.1f}, rounded {hours:.0f}", False)
    shares = [
        (item.gpu_price_preemptive + item.machine_price_preemptive) / (item.gpu_price + item.machine_price)
        for item in both
    ]
    yield stated("preemptive", " and ".join(f"{share:.2f}" for share in shares), False)
    energy = kilowatt_hours(replace(agent57, hours_per_task=hours))
    yield stated("energy", f"{energy / 1000:.3f} MWh", False)
    carbon = energy * POUNDS_PER_KWH
    text = f"{carbon / POUNDS_PER_SHORT_TON:.2f} short tons, {carbon * KILOGRAMS_PER_POUND / 1000:.2f} tonnes"
    yield stated("carbon", text, False)
    five, whole = ([dollars(item, tasks) for item in both] for tasks in (len(data.ATARI_5), len(data.GAMES)))
    text = f"Rainbow ${five[0]:,.0f} of ${whole[0]:,.0f}; Agent57 ${five[1]:,.0f} of ${whole[1]:,.0f}"
    yield stated("cost-tenth", text, all(few < 0.1 * every for few, every in zip(five, whole, strict=True)))


def subsets_of_others() -> Iterator[PrintedComparison]:
    """Check Table 7: the games that other papers chose, compared with our subsets."""
    spellings = {"Solaris Venture": "Solaris", "Skiiing": "Skiing"}
    for name, cells in printed(7).items():
        chosen = subset(name)
        games = {canonical_game(cell) for cell in cells if cell not in spellings}
        wrong = [slips(PAPER)[f"{SET}: {spellings[cell]}"] for cell in cells if cell in spellings]
        text = listed(chosen.tasks)
        result = decided(f"Table 7, {chosen.title}", ", ".join(cells), text, not wrong and games == set(chosen.tasks))
        yield replace(result, why=" ".join(slip.why for slip in wrong), category=wrong[0].category) if wrong else result


def dataset() -> Iterator[PrintedComparison]:
    """Check Table 8: each algorithm's number of games, and its median over them."""
    for name, cells in printed(8).items():
        yield row(f"Table 8, {name}, games and median", cells, (len(data.raw()[name]), data.medians()[name]))
    yield from _slips(lambda where: where in ("Table 8, Planning", "Table 8, ICML: rows from GDI-H3 to ES"))


def coefficients() -> Iterator[PrintedComparison]:
    """Check Table 9: the published models' coefficients, fitted without intercept."""
    for name, cells in printed(9).items():
        yield row(f"Table 9, {_title(subset(name))}", cells, data.model(subset(name).tasks).coefficients)


def game_models(table: int) -> Iterator[PrintedComparison]:
    """Check Table 10 or 11 of the arXiv text, then differences of the ICML text."""
    models = data.game_models(GAME_MODELS[table])
    for game, cells in printed(table).items():
        yield row(f"Table {table}, {game_name(game)}", cells, (models[game].intercept, *models[game].coefficients))
    falling = sum(min(model.coefficients) < -1e-9 for model in models.values())
    text = f"not these: {falling} of the {len(models)} models have a negative coefficient"
    yield stated("monotone", text, not falling, number=str(table))
    yield from _slips(lambda where: where.startswith(f"Table {table}, ICML"))


def normalisation() -> Iterator[PrintedComparison]:
    """Check Table 12: random and human scores, against the references of atari-57."""
    low, high = references.scores("random"), references.scores("human")
    for game, cells in printed(12).items():
        yield row(f"Table 12, {game_name(game)}, random and human score", cells, (low[game], high[game]))
    yield from _slips(lambda where: where.startswith("Table 12"))
    yield stated("table-12-games", str(len(printed(12).keys() & set(data.GAMES))))


def _slips(chosen: Callable[[str], bool]) -> Iterator[PrintedComparison]:
    """Yield errata as comparisons; the few cells that the ICML text's Table 10 prints differently are recomputed."""
    for where, slip in slips(PAPER).items():
        if chosen(where):
            yield explained(PAPER, decided(where, slip.printed, _cells(where) or slip.holds, False))


def _cells(where: str) -> str:
    models = data.game_models(data.ATARI_5)
    if where.endswith("Amidar, x_2"):
        return f"{models['amidar'].coefficients[1]:.3f}"
    if "Yars' Revenge" in where:
        return "{0:.3f}, {1:.3f}, {3:.3f} and {4:.3f}".format(*models["yars_revenge"].coefficients)
    return ""


def _title(chosen: Subset) -> str:
    return chosen.title.partition(":")[0]
