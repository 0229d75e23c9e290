"""Result types of replaying a run's episodes; `arcademark.runs.replay.verify` replays them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from arcademark.records.model import Phase

Outcome = Literal["confirmed", "differs", "unverifiable"]


@dataclass(frozen=True)
class Finding:
    """Result of replaying one episode."""

    trial_id: str
    game: str
    phase: Phase
    episode: int
    outcome: Outcome
    detail: str = ""  # what differs, or why it could not be replayed; empty if confirmed
    score: float | None = None  # on replay
    lost: int = 0  # points lost because the game's counter wrapped around

    def __str__(self) -> str:
        return f"trial {self.trial_id}, {self.phase} episode {self.episode}: {self.detail or self.outcome}"


@dataclass(frozen=True)
class Verification:
    """Result of verifying a run."""

    directory: Path
    findings: tuple[Finding, ...]
    """One per episode, in the run's order; then one per missing training episode."""
    warnings: tuple[str, ...]  # differences from the conditions of the run: a game's ROM, a version
    notes: tuple[str, ...]
    """Scores that lack points, as the game's counter wrapped around; and parts that cannot be verified: failed or
    unfinished trials, missing episodes."""

    @property
    def confirmed(self) -> int:
        """Number of episodes that replay as recorded."""
        return self._count("confirmed")

    @property
    def differing(self) -> int:
        """Number of episodes that replay differently."""
        return self._count("differs")

    @property
    def unverifiable(self) -> int:
        """Number of episodes that could not be replayed."""
        return self._count("unverifiable")

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The episodes that are not confirmed."""
        return tuple(finding for finding in self.findings if finding.outcome != "confirmed")

    @property
    def ok(self) -> bool:
        """True if every episode was confirmed."""
        return not self.problems

    def _count(self, outcome: Outcome) -> int:
        return sum(finding.outcome == outcome for finding in self.findings)
