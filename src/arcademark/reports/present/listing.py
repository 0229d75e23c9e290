"""The runs below a folder."""

from __future__ import annotations

from arcademark.reports import wording
from arcademark.reports.blocks import Cell, Column, Document, Style, section, table
from arcademark.reports.runs.listing import ListedRun, RunList

_STYLES: dict[str, Style] = {"complete": "", "incomplete": "doubtful", "failed": "bad"}


def present(found: RunList) -> Document:
    """Show a row a run."""
    columns = (
        "run",
        Column("agent", "name"),
        Column(f"{wording.noun('step' if any(run.unit == 'step' for run in found.runs) else 'frame')}s", "name"),
        Column("protocol", "name", optional=True),
        "seeds",
        "episodes",
        Column("begun", "name", optional=True),
    )
    unread = table(
        ("run", Column("why it cannot be read", "prose")), ((item.directory, item.reason) for item in found.unread)
    )
    return Document(
        wording.plural(len(found.runs), "run"),
        "runs",
        "",
        (section("", table(columns, map(_row, found.runs), sortable=True)), section("Not read", unread)),
    )


def _row(run: ListedRun) -> tuple[Cell | str, ...]:
    done = wording.count(run.episodes)
    if run.episodes < run.planned_episodes:
        done = f"{done} of {wording.count(run.planned_episodes)}"
    return (
        Cell(run.directory, "strong"),
        wording.shortened(run.agents, most=2),
        run.scope.rpartition(" of ")[2] or wording.shortened(run.games, most=3),
        run.protocol,
        wording.count(len(run.seeds)),
        Cell(done, _STYLES[run.status], "imported, not verified" if run.imported else "", sort=run.episodes),
        run.created[:16].replace("T", " "),
    )
