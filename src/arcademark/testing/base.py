"""Helper function of all checks."""

from __future__ import annotations


def require(condition: bool, failure: str) -> None:
    """Raise `AssertionError` with the text `failure` unless the condition is true."""
    if not condition:
        raise AssertionError(failure)
