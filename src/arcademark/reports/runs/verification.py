"""What verifying a run showed, as a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from arcademark.runs.verify import Finding, Verification


@dataclass(frozen=True)
class Verified:
    """What replaying a run's episodes showed.

    ok: Whether every episode was confirmed.
    episodes, confirmed, differing, unverifiable: How many are recorded, replay to their score, replay otherwise, and
        cannot be replayed.
    problems: The episodes that are not confirmed.
    warnings: What is not as it was when the run was made.
    notes: What there was nothing to verify of.
    """

    SCHEMA: ClassVar[str] = "arcademark.verification/1"

    directory: str
    ok: bool
    episodes: int
    confirmed: int
    differing: int
    unverifiable: int
    problems: tuple[Finding, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def of(found: Verification) -> Verified:
    """Make the document of a verification."""
    counts = (len(found.findings), found.confirmed, found.differing, found.unverifiable)
    return Verified(str(found.directory), found.ok, *counts, found.problems, found.warnings, found.notes)
