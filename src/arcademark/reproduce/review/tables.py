"""The review's Tables 3 to 14, with every printed cell recomputed.

Conventions
-----------
* "Recomputed" is the value from our raw scores and references (`values.ours`), to the printed digits.
* A cell agrees if it is a rounding of that value: no further off than half a unit of its last digit. It also agrees if
  it is a rounding of the value with the references as the review rounds them; `PrintedComparison.why` then states it,
  and also if a percentage follows from the correct score, but not from the score printed beside it.
* Any other cell differs, and its erratum explains it.
* "N/A" agrees if there is nothing to compute.

The paper is Fan, "A Review for Deep Reinforcement Learning in Atari: Benchmarks, Challenges, and Solutions", 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from arcademark.catalogue.model import Location, PrintedCell
from arcademark.catalogue.printed import NOTHING, PrintedNumber, printed_cells, printed_number
from arcademark.reproduce.comparison import PrintedComparison, Reproduction, Verdict, explained
from arcademark.reproduce.review import text as review_text
from arcademark.reproduce.review.values import PAPER, QUANTITIES, REFERENCES, as_rounded, ours, value
from arcademark.suite.tasks import game_name, games

_GROUPS = ("model-free, 200M frames", "model-free, 10B frames and more", "model-based", "others")
TITLES: Mapping[int, str] = {
    3 + 4 * block + group: f"Table {3 + 4 * block + group}: {quantity}, {name}"
    for block, quantity in enumerate(QUANTITIES.values())
    for group, name in enumerate(_GROUPS)
}
"""Titles of Tables 3 to 14."""

_ROWS = {
    "training frames": "training frames",
    "mean": "mean {}",
    "mean efficiency": "learning efficiency of the mean {}",
    "median": "median {}",
    "median efficiency": "learning efficiency of the median {}",
    "hwrb": "HWRB",
}


def tables(number: int | None = None) -> tuple[Reproduction, ...]:
    """Recompute one of Tables 3 to 14 or, for None, all of them, followed by the text's statements."""
    wanted = TITLES if number is None else (number,)
    result = tuple(_table(table) for table in wanted)
    return result if number is not None else (*result, *review_text.statements())


@cache
def _table(table: int) -> Reproduction:
    cells = (cell for cell in printed_cells() if cell.place.table == table)
    return Reproduction(PAPER, TITLES[table], table, tuple(explained(PAPER, compare(cell)) for cell in cells))


def where(place: Location) -> str:
    """Name a cell in words: "Table 3, Rainbow, James Bond, HNS"."""
    quantity = QUANTITIES.get(place.quantity, "score")
    if place.row in _ROWS:
        return f"Table {place.table}, {place.algorithm}, {_ROWS[place.row].format(quantity)}"
    return f"Table {place.table}, {place.algorithm}, {game_name(place.row)}, {quantity}"


def compare(cell: PrintedCell) -> PrintedComparison:
    """Recompute one printed cell, without the explanations of the errata."""
    place, number = cell.place, printed_number(cell.printed)
    exact, rounded = value(place, ours()), value(place, as_rounded())
    verdict: Verdict = "differs"
    why = ""
    if exact is None or number is None:
        verdict = "agrees" if exact is None and cell.printed == NOTHING else "differs"
        recomputed = NOTHING if exact is None else f"{exact:.2f}"
        return PrintedComparison(where(place), cell.printed, recomputed, verdict, place=place)
    if number.is_rounding_of(exact):
        verdict = "agrees"
    elif rounded is not None and number.is_rounding_of(rounded):
        verdict, why = "agrees", f"{number.like(rounded)} with the references rounded as the review prints them"
    if verdict == "agrees":
        why = "; ".join(filter(None, (why, _of_which_score(place, number))))
    recomputed = f"{exact:.10g}" if place.quantity == "score" else number.like(exact)
    return PrintedComparison(where(place), cell.printed, recomputed, verdict, why, place)


@cache
def _printed() -> Mapping[Location, str]:
    return {cell.place: cell.printed for cell in printed_cells()}


def _of_which_score(place: Location, number: PrintedNumber) -> str:
    """Return a remark if a printed percentage follows from the correct score, but not from the printed one."""
    if place.row not in games() or place.quantity == "score" or place.algorithm in REFERENCES:
        return ""
    printed = _printed()[replace(place, quantity="score")]
    beside, key = printed_number(printed), (place.algorithm, place.row)
    correct = ours().scores[place.algorithm][place.row]
    if beside is None or beside.value == correct:
        return ""
    if any(
        number.is_rounding_of(other)
        for basis in (ours(), as_rounded())
        if (other := value(place, basis.with_scores({key: beside.value}))) is not None
    ):
        return ""
    how = "which is rounded to it" if beside.is_rounding_of(correct) else "which is correct"
    return f"not of the score {printed} printed beside it, but of {correct:.10g}, {how}"
