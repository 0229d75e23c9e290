"""What ``arcademark plan`` shows: what a run is estimated to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from arcademark import wording
from arcademark.analysis.runs.directory import known_set
from arcademark.runs.plan import Plan
from arcademark.runs.scheduling.costs import HOUR, CostEstimate, GameCost, Known
from arcademark.wording.columns import Column

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

    SCHEMA: ClassVar[str] = "arcademark.plan/4"
    scope: str

    AMOUNTS: ClassVar = (
        Column("", 0),
        Column("", 1, style=lambda row: "strong" if row[0] == "core-hours" else ""),
    )
    MAKESPANS: ClassVar = (
        Column("workers", "workers", kind="name"),
        Column("time", lambda one: wording.time_span(one.hours * HOUR), style="strong", sort="hours"),
        Column("busy", "efficiency", wording.share, meaning="share of the workers' time spent playing"),
    )

    @property
    def amounts(self) -> list[tuple[str, str]]:
        """What it takes in all."""
        simulated = [(f"{self.unit}s simulated", _about(self.simulated_frames))] if self.simulated_frames else []
        return [
            ("trials", wording.count(self.trials)),
            ("episodes", wording.count(self.episodes)),
            (f"{self.unit}s", f"{'at most ' if self.at_most else ''}{self.frames:,.0f}"),
            *simulated,
            ("core-hours", _amount(self.core_hours)),
        ]

    @property
    def columns(self) -> tuple[Column, ...]:
        """What is shown of each game."""
        planners = (
            Column("s a decision", lambda one: _each(one, one.core_hours * HOUR), _about),
            Column(f"simulated {self.unit}s a decision", lambda one: _each(one, one.simulated_frames), _about),
        )
        return (
            Column(wording.noun(self.unit), "game"),
            Column("trials", "trials"),
            Column("episodes", "episodes"),
            Column(f"{self.unit}s an episode", "episode_frames", lambda frames: wording.score(frames, 0)),
            Column(f"{self.unit}s", "frames", lambda frames: wording.score(frames, 0)),
            *(planners if self.decisions else ()),
            Column("core-hours", "core_hours", _amount),
        )

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


def _amount(value: float) -> str:
    """Format hours, small ones with two digits."""
    return f"{value:.2g}" if value and value < 1 else wording.score(value)


def _each(game: GameCost, amount: float) -> float | None:
    return amount / game.decisions if game.decisions else None


def _about(value: float) -> str:
    """Show an estimate with three digits."""
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"
