"""What ``arcademark info suites check`` shows: what a suite's tasks are made of, and whether they play alike twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from arcademark.reports import wording
from arcademark.reports.columns import Column
from arcademark.runs.replay.suite_check import CheckedTasks


@dataclass(frozen=True)
class SuiteCheck(CheckedTasks):
    """What a suite's tasks are made of and how they play, of so many episodes of random play each."""

    SCHEMA: ClassVar[str] = "arcademark.suite-check/1"

    COLUMNS: ClassVar = (
        Column("task", "task", style="strong"),
        Column("environment", "environment", kind="name", optional=True),
        Column("observation", "observation", kind="prose"),
        Column("actions", "actions", kind="name"),
        Column(
            "random play",
            "random_score",
            below=lambda task: "" if task.random_error is None else f"± {wording.score(task.random_error)}",
        ),
        Column("steps", "steps", lambda steps: wording.count(round(steps))),
        Column(
            "played twice",
            lambda task: "the same" if task.repeatable else task.difference,
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

    @property
    def packages(self) -> tuple[str, ...]:
        """What makes the tasks."""
        return tuple(dict.fromkeys(task.package for task in self.tasks if task.package))
