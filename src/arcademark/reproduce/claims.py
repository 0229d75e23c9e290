"""Short ways to write down the comparison of a statement."""

from __future__ import annotations

from arcademark.reproduce.comparison import Comparison


def decided(where: str, printed: str, recomputed: str, *, holds: bool, why: str = "", category: str = "") -> Comparison:
    """Compare a statement that the scores decide; ``why`` and ``category`` explain it where it does not hold."""
    if holds:
        return Comparison(where, printed, recomputed, "agrees")
    return Comparison(where, printed, recomputed, "differs", why, category=category)


def gone(where: str, printed: str, why: str) -> Comparison:
    """Note a statement that what is left cannot decide."""
    return Comparison(where, printed, "", "not available", why)
