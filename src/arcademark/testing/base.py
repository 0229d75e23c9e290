"""Helper of all checks."""

from __future__ import annotations


def require(holds: bool, what: str) -> None:
    """Raise `AssertionError` unless something holds."""
    if not holds:
        raise AssertionError(what)
