"""Numbers as papers print them, with their dollar signs, commas and per cents, beside what we compute."""

from __future__ import annotations

from collections.abc import Sequence

from arcademark.catalogue.printed import PrintedNumber, printed_number
from arcademark.errors import ArcadeMarkError
from arcademark.reproduce.comparison import Comparison


def number(text: str) -> PrintedNumber:
    """Read a printed number: "$35,759", "10.4%", "-0.807".

    Raises
    ------
    ArcadeMarkError
        Where it is none.
    """
    found = printed_number(text.replace(",", "").removeprefix("$").removesuffix("%"))
    if found is None:
        raise ArcadeMarkError(f"{text!r} is no printed number")
    return found


def like(text: str, exact: float) -> str:
    """Write a number as another is printed: with its sign of money, commas, digits and per cent."""
    bare = number(text).like(exact)
    if "," in text:
        bare = f"{exact:,.{number(text).decimals}f}"
    return f"{'$' * text.startswith('$')}{bare}{'%' * text.endswith('%')}"


def is_rounding(text: str, exact: float) -> bool:
    """Tell whether an exact number can have been rounded to a printed one."""
    return number(text).is_rounding_of(exact)


def row(where: str, printed: Sequence[str], exact: Sequence[float], *, why: str = "", category: str = "") -> Comparison:
    """Compare a row of printed numbers with exact ones; it agrees if every one does.

    Parameters
    ----------
    where : str
    printed : sequence of str
        As printed, one a column; a per cent is one of the exact number times 1.
    exact : sequence of float
    why, category : str, optional
        For a row that differs.
    """
    pairs = list(zip(printed, exact, strict=True))
    told = ", ".join(like(text, value) for text, value in pairs)
    shown = ", ".join(printed)
    if all(is_rounding(text, value) for text, value in pairs):
        return Comparison(where, shown, told, "agrees")
    return Comparison(where, shown, told, "differs", why, category=category)
