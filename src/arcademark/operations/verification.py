"""What verifying a run, looking for damage in it, or playing a suite's tasks twice showed, as documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from arcademark.analysis.document import same_fields
from arcademark.records.replayed import Finding, Verification
from arcademark.runs.replay.suite_check import CheckedTasks
from arcademark.runs.store.salvage import Salvaged


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


@dataclass(frozen=True)
class NewRun:
    """A new run of what was intact: its episodes, and of its trials those that are done."""

    directory: str
    episodes: int
    trials: int
    done: int


@dataclass(frozen=True)
class Checked:
    """What is damaged in a run.

    ok: Whether nothing is.
    problems: What is, a line each.
    salvaged: None where no new run was asked for.
    """

    SCHEMA: ClassVar[str] = "arcademark.check/1"

    directory: str
    ok: bool
    problems: tuple[str, ...]
    salvaged: NewRun | None


@dataclass(frozen=True)
class SuiteCheck(CheckedTasks):
    """What a suite's tasks are made of and how they play, of so many episodes of random play each."""

    SCHEMA: ClassVar[str] = "arcademark.suite-check/1"

    @property
    def packages(self) -> tuple[str, ...]:
        """What makes the tasks."""
        return tuple(dict.fromkeys(task.package for task in self.tasks if task.package))


def checked(directory: Path, problems: tuple[str, ...], salvaged: Salvaged | None) -> Checked:
    """Make the document of a check."""
    new = None
    if salvaged is not None:
        new = NewRun(**same_fields(NewRun, salvaged) | {"directory": str(salvaged.directory)})
    return Checked(str(directory), not problems, problems, new)


def summarise(run: Verification) -> Verified:
    """Make the document of a verification."""
    more = {"directory": str(run.directory), "episodes": len(run.findings)}
    return Verified(**same_fields(Verified, run) | more)
