"""Document of a verification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from arcademark.analysis.document import same_fields
from arcademark.records.replayed import Finding, Verification


@dataclass(frozen=True)
class Verified:
    """Result of replaying a run's episodes.

    ok: Whether every episode was confirmed.
    episodes, confirmed, differing, unverifiable: Numbers of recorded episodes, and of those that replay to their score,
        replay differently, and cannot be replayed.
    problems: The episodes that are not confirmed.
    warnings: Differences from the conditions in which the run was made.
    notes: Parts of the run that could not be verified.
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


def summarise(run: Verification) -> Verified:
    """Make the document of a verification."""
    more = {"directory": str(run.directory), "episodes": len(run.findings)}
    return Verified(**same_fields(Verified, run) | more)
