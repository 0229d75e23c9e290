"""The review's Tables 3 to 14, every printed cell recomputed and set beside what is printed.

Conventions
-----------
* "Recomputed" is what our raw scores and references come to (`review_values.ours`), to the digits printed.
* A cell agrees if it is a rounding of that: no further off than half a unit of its last digit. It agrees too if it is a
  rounding of what the same scores come to with the references as the review rounds them; `Comparison.why` then says
  so. Where the score printed beside a percentage does not give it, but the score that holds does, that is said as well.
* Any other cell differs, and its erratum says why.
* "N/A" agrees where there is nothing to compute.

The paper is Fan, "A Review for Deep Reinforcement Learning in Atari: Benchmarks, Challenges, and Solutions", 2021.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from arcademark.catalogue.errata import errata
from arcademark.catalogue.model import Erratum, Location, PrintedCell
from arcademark.catalogue.printed import NOTHING, PrintedNumber, printed_cells, printed_number
from arcademark.errors import UnknownNameError
from arcademark.reproduce import review_text
from arcademark.reproduce.comparison import Comparison, Reproduction, Verdict
from arcademark.reproduce.review_values import REFERENCES, as_rounded, ours, value
from arcademark.suite.tasks import games

PAPER = "fan-2021"
_GROUPS = ("model-free, 200M frames", "model-free, 10B frames and more", "model-based", "others")
_QUANTITIES = {"hns": "HNS", "hwrns": "HWRNS", "saber": "SABER"}
TITLES: Mapping[int, str] = {
    3 + 4 * block + group: f"Table {3 + 4 * block + group}: {quantity}, {name}"
    for block, quantity in enumerate(_QUANTITIES.values())
    for group, name in enumerate(_GROUPS)
}
"""Of Tables 3 to 14."""

_ROWS = {
    "training frames": "training frames",
    "mean": "mean {}",
    "mean efficiency": "learning efficiency of the mean {}",
    "median": "median {}",
    "median efficiency": "learning efficiency of the median {}",
    "hwrb": "HWRB",
}


def tables(number: int | None = None) -> tuple[Reproduction, ...]:
    """Recompute the review's tables of results.

    Parameters
    ----------
    number : int or None
        One of Tables 3 to 14; None for all of them, and the text's statements after them.

    Raises
    ------
    UnknownNameError
        Where there is no such table with results.
    """
    if number is not None and number not in TITLES:
        raise UnknownNameError("table of the review", str(number), [str(known) for known in TITLES])
    wanted = TITLES if number is None else (number,)
    found = tuple(Reproduction(PAPER, TITLES[table], table, _comparisons(table)) for table in wanted)
    return found if number is not None else (*found, *review_text.statements())


def where(place: Location) -> str:
    """Name a cell in words: "Table 3, Rainbow, James Bond, HNS"."""
    quantity = _QUANTITIES.get(place.quantity, "score")
    if place.row in _ROWS:
        return f"Table {place.table}, {place.algorithm}, {_ROWS[place.row].format(quantity)}"
    return f"Table {place.table}, {place.algorithm}, {games()[place.row].name}, {quantity}"


def compare(cell: PrintedCell) -> Comparison:
    """Recompute one printed cell, without asking the errata why it differs."""
    place, number = cell.place, printed_number(cell.printed)
    exact = value(place, ours())
    if exact is None or number is None:
        agrees = exact is None and cell.printed == NOTHING
        recomputed = NOTHING if exact is None else _plain(exact)
        return Comparison(where(place), cell.printed, recomputed, "agrees" if agrees else "differs", place=place)
    rounded = value(place, as_rounded())
    why = ""
    verdict: Verdict = "differs"
    if number.is_rounding_of(exact):
        verdict = "agrees"
    elif rounded is not None and number.is_rounding_of(rounded):
        verdict, why = "agrees", f"{number.like(rounded)} with the references rounded as the review prints them"
    if verdict == "agrees":
        why = "; ".join(filter(None, (why, _of_which_score(place, number))))
    recomputed = f"{exact:.10g}" if place.quantity == "score" else number.like(exact)
    return Comparison(where(place), cell.printed, recomputed, verdict, why, place)


@cache
def _comparisons(table: int) -> tuple[Comparison, ...]:
    return tuple(_explained(compare(cell) for cell in printed_cells() if cell.place.table == table))


def _explained(comparisons: Iterable[Comparison]) -> Iterable[Comparison]:
    known = _errata()
    for item in comparisons:
        erratum = known.get(item.place) if item.place else None
        if item.verdict == "differs" and erratum:
            yield replace(item, why=erratum.why, category=erratum.category)
        else:
            yield item


@cache
def _errata() -> Mapping[Location, Erratum]:
    return {erratum.place: erratum for erratum in errata(PAPER) if erratum.place}


@cache
def _printed() -> Mapping[Location, str]:
    return {cell.place: cell.printed for cell in printed_cells()}


def _of_which_score(place: Location, number: PrintedNumber) -> str:
    """Say of which score a percentage is, where the score printed beside it does not give it."""
    if place.row not in games() or place.quantity == "score" or place.algorithm in REFERENCES:
        return ""
    printed = _printed()[replace(place, quantity="score")]
    beside, key = printed_number(printed), (place.algorithm, place.row)
    held = ours().scores[place.algorithm][place.row]
    if beside is None or beside.value == held:
        return ""
    if any(
        number.is_rounding_of(other)
        for basis in (ours(), as_rounded())
        if (other := value(place, basis.with_scores({key: beside.value}))) is not None
    ):
        return ""
    how = "which is rounded to it" if beside.is_rounding_of(held) else "which holds"
    return f"not of the score {printed} printed beside it, but of {held:.10g}, {how}"


def _plain(exact: float) -> str:
    return f"{exact:.2f}"
