"""Columns of results of operations: plans, robustness, verification, suite checks and feature sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcademark import wording
from arcademark.pages.columns import Column, Columns
from arcademark.suite.tasks import game_name

if TYPE_CHECKING:
    from arcademark.analysis.uncertainty import Statistic
    from arcademark.emulator.watching import WatchedByte
    from arcademark.operations.planned import GameCost, Makespan, Planned
    from arcademark.operations.robustness import Variant
    from arcademark.operations.seen import Active, Seen
    from arcademark.records.replayed import Finding
    from arcademark.runs.replay.suite_check import CheckedTask

AMOUNTS: Columns[str, str] = (
    Column("", lambda name, _: name),
    Column("", lambda _, amount: amount, style=lambda name, _: "strong" if name == "core-hours" else ""),
)
MAKESPANS: Columns[Makespan] = (
    Column("workers", lambda row: row.workers, kind="name"),
    Column("time", lambda row: wording.time_span(row.hours * 3600), style="strong", sort=lambda row: row.hours),
    Column("busy", lambda row: row.efficiency, wording.share, meaning="share of the workers' time spent playing"),
)


def games(it: Planned) -> Columns[GameCost]:
    """Return the columns of each game's cost."""
    return (
        Column(wording.noun(it.unit), lambda row: row.game),
        Column("trials", lambda row: row.trials),
        Column("episodes", lambda row: row.episodes),
        Column(f"{it.unit}s per episode", lambda row: row.episode_frames, _whole),
        Column(f"{it.unit}s", lambda row: row.frames, _whole),
        Column("s per decision", lambda row: _each(row, row.core_hours * 3600), wording.about)
        if it.decisions
        else None,
        Column(f"simulated {it.unit}s per decision", lambda row: _each(row, row.simulated_frames), wording.about)
        if it.decisions
        else None,
        Column("core-hours", lambda row: row.core_hours, wording.hours),
    )


def _whole(frames: float) -> str:
    return wording.score(frames, 0)


def _each(game: GameCost, amount: float) -> float | None:
    return amount / game.decisions if game.decisions else None


VARIANTS: Columns[Variant] = (
    Column("game", lambda row: game_name(row.game)),
    Column("change", lambda row: row.change),
    Column("score", lambda row: row.base),
    Column("changed", lambda row: row.score, style="strong"),
    Column(
        "loss",
        lambda row: 0.0 if row.same else row.lost.value,
        wording.percent,
        style=lambda row: "weak" if row.same else "strong",
    ),
    Column("95 %", lambda row: "same episodes" if row.same else wording.between(row.lost.low, row.lost.high)),
)
KINDS: Columns[str, Statistic, str | int, str | int] = (
    Column("change", lambda kind, lost, games, variants: kind),
    Column("loss", lambda kind, lost, games, variants: lost.value, wording.percent, style="strong"),
    Column("95 %", lambda kind, lost, games, variants: wording.between(lost.low, lost.high)),
    Column("games", lambda kind, lost, games, variants: games, str),
    Column("variants", lambda kind, lost, games, variants: variants, str),
)
PROBLEMS: Columns[Finding] = (
    Column("episode", lambda row: f"trial {row.trial_id}, {row.phase} episode {row.episode}"),
    Column("outcome", lambda row: row.outcome, kind="name", style="bad"),
    Column("why", lambda row: row.detail, kind="prose"),
)
TASKS: Columns[CheckedTask] = (
    Column("task", lambda task: task.task, style="strong"),
    Column("environment", lambda task: task.environment, kind="name", optional=True),
    Column("observation", lambda task: task.observation, kind="prose"),
    Column("actions", lambda task: task.actions, kind="name"),
    Column(
        "random play",
        lambda task: task.random_score,
        below=lambda task: "" if task.random_error is None else f"± {wording.score(task.random_error)}",
    ),
    Column("steps", lambda task: task.steps, lambda steps: wording.count(round(steps))),
    Column(
        "run twice",
        lambda task: "identical" if task.repeatable else task.difference,
        kind="prose",
        style=lambda task: "good" if task.repeatable else "bad",
    ),
    Column(
        "planners",
        lambda task: "yes" if task.planned else f"no: {task.unplanned}",
        kind="prose",
        style=lambda task: "" if task.planned else "weak",
    ),
)
MEMORY: Columns[WatchedByte] = (
    Column("address", lambda byte: f"{byte.address:#04x}", kind="name"),
    Column("may be", lambda byte: byte.may_be, style="strong"),
    Column("read by", lambda byte: byte.expression, kind="name"),
    Column("why", lambda byte: byte.why, kind="prose"),
    Column("first", lambda byte: byte.first, optional=True),
    Column("last", lambda byte: byte.last, optional=True),
    Column("range", lambda byte: f"{byte.lowest} … {byte.highest}", kind="name"),
    Column("changes", lambda byte: byte.changes),
    Column("in frames", lambda byte: f"{byte.first_change:,} … {byte.last_change:,}", kind="name"),
)
FEATURES: Columns[Active] = (
    Column("feature", lambda row: row.feature, str),
    Column("value", lambda row: row.value, _whole),
    Column("meaning", lambda row: row.meaning, kind="prose"),
)
SETS: Columns[Seen] = (
    Column("game", lambda row: game_name(row.game)),
    Column("set", lambda row: row.set),
    Column("features", lambda row: row.features),
    Column("active", lambda row: row.active),
    Column("newly active per step", lambda row: row.newly_active, wording.small),
    Column("µs per step", lambda row: row.microseconds, wording.small),
)
