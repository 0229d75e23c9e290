"""What else the Atari-5 paper's two texts print that does not hold, or cannot both hold: the rest of its errata."""

from __future__ import annotations

from collections.abc import Collection

from arcademark.catalogue.errata import NOT_DECIDABLE
from arcademark.reproduce import atari5_data as data
from arcademark.reproduce.comparison import Comparison


def rest(covered: Collection[str]) -> tuple[Comparison, ...]:
    """Return the errata that no other part has recomputed: spellings, terms, formulas, what sources differ in.

    Parameters
    ----------
    covered : collection of str
        Where the other parts' comparisons are.
    """
    found = []
    for where, slip in data.slips().items():
        if where in covered:
            continue
        if slip.holds == NOT_DECIDABLE:
            found.append(Comparison(where, slip.printed, "", "not available", slip.why, category=slip.category))
        else:
            found.append(Comparison(where, slip.printed, slip.holds, "differs", slip.why, category=slip.category))
    return tuple(found)
