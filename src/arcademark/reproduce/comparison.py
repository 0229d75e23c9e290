"""A printed statement beside what we compute, which is all that a reproduction consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from arcademark.catalogue.model import Location

Verdict: TypeAlias = Literal["agrees", "differs", "not available"]


@dataclass(frozen=True)
class Comparison:
    """One printed cell or statement, and the recomputed value.

    Parameters
    ----------
    where : str
        The cell, "Table 3, Rainbow, James Bond, HNS", or the statement in our words, "§3.1.3: learners beat baselines".
    printed : str
        What the paper prints.
    recomputed : str
        What we compute, to the digits printed; "" where the figures it would take are gone.
    verdict : {"agrees", "differs", "not available"}
        "agrees" up to rounding in the last printed digit.
    why : str
        Why it differs, what is gone, or what rounding it takes to agree; "" where it agrees as it stands.
    place : Location or None
        The cell, for programs, where it is one of the review's Tables 3–14: by it a table is laid out as printed.
    category : str
        The kind of slip, as errata name it, where it differs: by it differences are grouped.
    """

    where: str
    printed: str
    recomputed: str
    verdict: Verdict
    why: str = ""
    place: Location | None = None
    category: str = ""


@dataclass(frozen=True)
class Reproduction:
    """A table, or a group of statements, of a paper.

    Parameters
    ----------
    paper : str
        The source's key in the catalogue, "fan-2021".
    title : str
        "Table 3: 200M model-free algorithms, HNS".
    number : int or None
        The table's number; None for a group of statements.
    comparisons : tuple of Comparison
        In the paper's order.
    """

    paper: str
    title: str
    number: int | None
    comparisons: tuple[Comparison, ...]
