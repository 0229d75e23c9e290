"""Progress callbacks of searches, plans and repeated choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many subsets, or choices, have been dealt with, and how many there are."""
