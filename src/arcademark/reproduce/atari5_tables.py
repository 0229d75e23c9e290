"""The Atari-5 paper's Tables 1 to 3, 6 to 9 and 12, row by row.

A row agrees if each of its numbers is a rounding of what we compute. Table 3 and the costs of Table 6, which the paper
cuts off instead of rounding, are compared cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterator

from arcademark.reproduce import atari5_data as data
from arcademark.reproduce.claims import decided, gone
from arcademark.reproduce.comparison import Comparison
from arcademark.reproduce.numbers import is_rounding, like, row
from arcademark.subset import costs
from arcademark.suite import references
from arcademark.suite.costs import running
from arcademark.suite.subsets import Subset, subset
from arcademark.suite.tasks import canonical_game, suite

TABLE_3 = {"Rainbow (noop)": "Rainbow DQN"}
TABLE_6 = {"Rainbow DQN": "rainbow", "Agent-57": "agent57"}


def citations() -> tuple[Comparison, ...]:
    """Check Table 1: citations of benchmarks, of which only their sum can be recomputed."""
    counts = {name: cells[0] for name, cells in data.printed(1).items()}
    when = "Counts of March 2022; no count of that day is available."
    rows = [gone(f"Table 1, {name}", count, when) for name, count in counts.items()]
    numbers = [int(count.replace(",", "")) for count in counts.values()]
    where = "§2 and Table 1: ALE's citations against the other benchmarks' together"
    times = numbers[0] / sum(numbers[1:])
    found = decided(where, "more than double", f"{times:.2f} times", holds=times > 2)
    return (*rows, data.explained_by(found))


def best_subsets() -> tuple[Comparison, ...]:
    """Check Table 2: R² and relative error, both cross-validated."""
    return tuple(_best_subsets())


def _best_subsets() -> Iterator[Comparison]:
    for name, cells in data.printed(2).items():
        chosen = subset(name)
        found = data.cross_validated(chosen.tasks)
        title = f"Table 2, {_title(chosen)}, R² and relative error"
        yield row(title, cells, (found.r2, 100 * found.relative_error))
    weights = dict(zip(subset("dqn-7").tasks, data.model(subset("dqn-7").tasks).coefficients, strict=True))
    negative = [game for game, weight in weights.items() if weight < 0]
    told = ", ".join(f"{weights[game]:.4f} for {data.name_of(game)}" for game in negative)
    where = "Table 2, DQN-7"
    yield data.explained_by(
        decided(where, "in a table of models without negative coefficients", told, holds=not negative)
    )


def algorithms() -> tuple[Comparison, ...]:
    """Check Table 3: true median, Atari-5's estimate and its error, cell by cell."""
    return tuple(_algorithms())


def _algorithms() -> Iterator[Comparison]:
    for name, cells in data.printed(3).items():
        true, guess = data.estimates("atari-5")[name]
        exact = (true, guess, 100 * abs(guess - true) / true)
        for column, cell, value in zip(("median", "Atari-5", "relative error"), cells, exact, strict=True):
            where = f"Table 3, {TABLE_3.get(name, name)}, {column}"
            found = decided(where, cell, like(cell, value), holds=is_rounding(cell, value))
            yield data.explained_by(found, f"Table 3, {name}, {column}")


def expenses() -> tuple[Comparison, ...]:
    """Check Table 6: GPU hours and costs of 57 games."""
    return tuple(_expenses())


def _expenses() -> Iterator[Comparison]:
    for name, cells in data.printed(6).items():
        found = costs.cost(running(TABLE_6[name]), len(data.GAMES))
        exact = (found.gpu_hours, found.preemptive or 0.0, found.standard)
        for column, cell, value in zip(("GPU hours", "preemptive cost", "standard cost"), cells, exact, strict=True):
            where = f"Table 6, {name}, {column}"
            yield data.explained_by(decided(where, cell, like(cell, value), holds=is_rounding(cell, value)))
    years = ", ".join(str(running(name).year) for name in TABLE_6.values())
    yield data.explained_by(decided("Table 6, ICML, years", "empty", years, holds=False))


def subsets_of_others() -> tuple[Comparison, ...]:
    """Check Table 7: the games that other papers chose; what they hold stands with the subsets."""
    return tuple(_subsets_of_others())


def _subsets_of_others() -> Iterator[Comparison]:
    spellings = {"Solaris Venture": "Solaris", "Skiiing": "Skiing"}
    for name, cells in data.printed(7).items():
        chosen, wrong = subset(name), [cell for cell in cells if cell in spellings]
        printed = {canonical_game(cell) for cell in cells if cell not in spellings}
        holds = ", ".join(map(data.name_of, chosen.tasks))
        where = f"Table 7, {chosen.title}"
        if not wrong:
            yield decided(where, ", ".join(cells), holds, holds=printed == set(chosen.tasks))
            continue
        slips = [data.slips()[f"Table 7, Agent57's challenging set: {spellings[cell]}"] for cell in wrong]
        why = " ".join(slip.why for slip in slips)
        yield decided(where, ", ".join(cells), holds, holds=False, why=why, category=slips[0].category)


def dataset() -> tuple[Comparison, ...]:
    """Check Table 8: how many games each algorithm has, and its median over them."""
    rows = [
        row(f"Table 8, {name}, games and median", cells, (len(data.raw()[name]), data.medians()[name]))
        for name, cells in data.printed(8).items()
    ]
    rows += [
        data.explained_by(decided(where, slip.printed, slip.holds, holds=False))
        for where, slip in data.slips().items()
        if where in ("Table 8, Planning", "Table 8, ICML: rows from GDI-H3 to ES")
    ]
    return tuple(rows)


def coefficients() -> tuple[Comparison, ...]:
    """Check Table 9: the published models' coefficients, fitted without intercept."""
    return tuple(
        row(f"Table 9, {_title(subset(name))}", cells, data.model(subset(name).tasks).coefficients)
        for name, cells in data.printed(9).items()
    )


def normalisation() -> tuple[Comparison, ...]:
    """Check Table 12: random and human scores, against the references of atari-57."""
    low, high = references.scores("random"), references.scores("human")
    rows = [
        row(f"Table 12, {data.name_of(game)}, random and human score", cells, (low[game], high[game]))
        for game, cells in data.printed(12).items()
    ]
    rows += [
        data.explained_by(decided(where, slip.printed, slip.holds, holds=False))
        for where, slip in data.slips().items()
        if where.startswith("Table 12")
    ]
    missing = set(suite("atari-57").tasks) - data.printed(12).keys()
    rows.append(decided("Table 12: games", "57", str(57 - len(missing)), holds=not missing))
    return tuple(rows)


def _title(chosen: Subset) -> str:
    return chosen.title.partition(":")[0]
