"""What a check of a suite found."""

from __future__ import annotations

from arcademark.reports import wording
from arcademark.reports.blocks import Cell, Column, Document, section, table
from arcademark.reports.runs.suite_check import CheckedTask, SuiteCheck


def present(found: SuiteCheck) -> Document:
    """Show a row a task."""
    columns = (
        "task",
        Column("environment", "name", optional=True),
        Column("observation", "prose"),
        Column("actions", "name"),
        "random play",
        "steps",
        Column("played twice", "prose"),
        Column("planners", "prose"),
    )
    packages = dict.fromkeys(task.package for task in found.tasks if task.package)
    return Document(
        found.title,
        "suite",
        f"{wording.plural(len(found.tasks), 'task')}, {wording.plural(found.episodes, 'episode')} of random play each"
        + (f"; {wording.listing(packages)}" if packages else ""),
        (section("", table(columns, map(_row, found.tasks), sortable=True)),),
    )


def _row(task: CheckedTask) -> tuple[Cell | str, ...]:
    error = "" if task.random_error is None else f"± {wording.score(task.random_error)}"
    return (
        Cell(task.task, "strong"),
        task.environment,
        task.observation,
        task.actions,
        Cell(wording.MISSING) if task.random_score is None else Cell(wording.score(task.random_score), below=error),
        wording.MISSING if task.steps is None else wording.count(round(task.steps)),
        Cell("the same", "good") if task.repeatable else Cell(task.difference, "bad"),
        Cell("yes") if task.planned else Cell(f"no: {task.unplanned}", "weak"),
    )
