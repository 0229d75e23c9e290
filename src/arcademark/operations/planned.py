"""What ``arcademark plan`` shows: what a run is estimated to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from arcademark import wording
from arcademark.analysis.runs.directory import known_set
from arcademark.runs.plan import Plan
from arcademark.runs.scheduling.costs import CostEstimate, Known

LENGTHS: Mapping[Known, str] = {
    "given": "as given",
    "recorded": "mean of the recorded episodes",
    "random play": "mean of random play",
    "frame cap": "the protocol's {} cap",
}


@dataclass(frozen=True)
class Planned(CostEstimate):
    """What a run is estimated to take.

    scope: Which suite or subset the games are, "the 5 games of atari-5"; "" if none.
    """

    SCHEMA: ClassVar[str] = "arcademark.plan/5"
    scope: str

    @property
    def amounts(self) -> list[tuple[str, str]]:
        """What it takes in all."""
        simulated = [(f"{self.unit}s simulated", wording.about(self.simulated_frames))] if self.simulated_frames else []
        return [
            ("trials", wording.count(self.trials)),
            ("episodes", wording.count(self.episodes)),
            (f"{self.unit}s", f"{'at most ' if self.at_most else ''}{self.frames:,.0f}"),
            *simulated,
            ("core-hours", wording.hours(self.core_hours)),
        ]

    @property
    def decisions(self) -> int:
        """How many decisions of planners were measured."""
        return sum(pace.decisions for pace in self.paces)

    @property
    def length(self) -> str:
        """How long episodes are taken to be."""
        return LENGTHS[self.lengths].format(self.unit)

    @property
    def speeds(self) -> list[tuple[float, tuple[str, ...]]]:
        """How fast agents play that are no planners, and on which games that was measured."""
        return [
            (pace.frames_per_second, tuple(dict.fromkeys(game for _, game in pace.measured)))
            for pace in self.paces
            if not pace.decisions
        ]


def scoped(estimate: CostEstimate, plan: Plan) -> Planned:
    """Show an estimate of what a plan takes."""
    games = tuple(dict.fromkeys(trial.game for trial in plan.trials))
    return Planned(**vars(estimate), scope=known_set(games, plan.protocol.suite))
