"""Comparisons of printed cells and statements with our values, of which reproductions consist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

import numpy as np

from arcademark.catalogue.errata import errata
from arcademark.catalogue.model import Erratum, Location
from arcademark.catalogue.printed import PrintedNumber, printed_number
from arcademark.errors import ArcadeMarkError
from arcademark.suite.tables import read_tables

Verdict: TypeAlias = Literal["agrees", "differs", "not available"]


@dataclass(frozen=True)
class PrintedComparison:
    """One printed cell or statement, and the recomputed value.

    Parameters
    ----------
    where : str
        The cell, "Table 3, Rainbow, James Bond, HNS", or the statement in our words, "§3.1.3: learners beat baselines".
    printed : str
        Value that the paper prints.
    recomputed : str
        Value computed here, to the digits printed; "" if the data do not decide it.
    verdict : {"agrees", "differs", "not available"}
        "agrees" up to rounding in the last printed digit.
    why : str
        Reason for a difference or a missing value, or the rounding under which it agrees; "" if it agrees as printed.
    place : Location or None
        The cell, in machine-readable form, if it is in the review's Tables 3–14; it determines the table's layout.
    category : str
        The kind of error, as in the errata, if it differs.
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
    """A table, or a group of statements (``number`` None), of the paper with a key in the catalogue, in its order."""

    paper: str
    title: str
    number: int | None
    comparisons: tuple[PrintedComparison, ...]


@cache
def statements(paper: str) -> Mapping[str, Mapping[str, str]]:
    """Return the paper's statements from ``data/<paper>.toml``, each with ``where`` and ``printed``.

    ``why`` and ``category`` explain a difference, by default an erratum of the same place does; ``lost`` is the reason
    why the statement cannot be decided.
    """
    return read_tables(f"{paper}.toml", files("arcademark.reproduce") / "data")


@cache
def slips(paper: str) -> Mapping[str, Erratum]:
    """Return the paper's errata by place."""
    return {erratum.where: erratum for erratum in errata(paper)}


def stated(
    paper: str, key: str, recomputed: str = "", holds: bool | np.bool_ | None = None, *, why: str = "", **names: str
) -> PrintedComparison:
    """Compare the statement of a key in `statements` with our value, "" if it cannot be decided.

    It agrees if `holds` is True, by default if our value equals the printed text. `why` replaces the explanation of
    `statements`, and `names` replace ``{name}`` in the place and the printed text.
    """
    row = statements(paper)[key]
    where = row["where"].format(**names)
    printed = row["printed"].format(**names) if "printed" in row else slips(paper)[where].printed
    if "lost" in row or not recomputed:
        return PrintedComparison(where, printed, recomputed, "not available", why or row["lost"])
    result = decided(where, printed, recomputed, printed == recomputed if holds is None else bool(holds))
    if result.verdict == "agrees" or not (why or "why" in row):
        return explained(paper, result)
    return replace(result, why=why or row["why"], category=row["category"])


def decided(where: str, printed: str, recomputed: str, holds: bool) -> PrintedComparison:
    """Compare our value with the printed one."""
    return PrintedComparison(where, printed, recomputed, "agrees" if holds else "differs")


def explained(paper: str, item: PrintedComparison, where: str = "") -> PrintedComparison:
    """Add reason and category of the erratum of its place to a comparison that differs, if there is one."""
    slip = slips(paper).get(where or item.where)
    if item.verdict != "differs" or slip is None:
        return item
    return replace(item, why=slip.why, category=slip.category)


def number(text: str) -> PrintedNumber:
    """Parse a number with the papers' dollar and percent signs and commas: "$35,759", "10.4%", "-0.807"."""
    result = printed_number(text.replace(",", "").removeprefix("$").removesuffix("%"))
    if result is None:
        raise ArcadeMarkError(f"{text!r} is not a printed number")
    return result


def like(text: str, exact: float) -> str:
    """Write a number in the form of a printed one: with its dollar sign, commas, digits and percent sign."""
    bare = f"{exact:,.{number(text).decimals}f}" if "," in text else number(text).like(exact)
    return f"{'$' * text.startswith('$')}{bare}{'%' * text.endswith('%')}"


def row(where: str, printed: Sequence[str], exact: Sequence[float]) -> PrintedComparison:
    """Compare printed numbers with exact ones in the same units; they agree if all are roundings of these."""
    pairs = list(zip(printed, exact, strict=True))
    message = ", ".join(like(text, value) for text, value in pairs)
    return decided(where, ", ".join(printed), message, all(number(text).is_rounding_of(value) for text, value in pairs))
