"""What ``arcademark subset cost`` shows: what an evaluation on some games takes, beside what all games take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.subset import costs
from arcademark.subset.costs import POUNDS_PER_KWH, Cost
from arcademark.suite.costs import Running, running, runnings
from arcademark.suite.subsets import resolve_tasks
from arcademark.suite.tasks import suite

OWN = "own"


@dataclass(frozen=True)
class Expenses:
    """Costs of one algorithm.

    running: What one run on one game is taken to need.
    cost: Of these games.
    whole: Of all of the suite's.
    changed: Assumptions that the user has replaced, the names of their fields.
    remarks: What follows from them.
    """

    SCHEMA: ClassVar[str] = "arcademark.cost/2"
    running: Running
    games: tuple[str, ...]
    cost: Cost
    whole: Cost
    suite: str
    pounds_per_kwh: float
    changed: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def expenses(
    algorithm: str | None,
    games: str,
    *,
    runs: int = 1,
    frames_per_second: float | None = None,
    pounds_per_kwh: float | None = None,
    **assumptions: float | int | None,
) -> Expenses:
    """Estimate what an evaluation takes, of a known algorithm or, with hours and a price, of the user's own.

    ``assumptions`` replace fields of `Running`; None keeps what is known. Hours follow from the training frames and
    ``frames_per_second``, or else grow with the training frames asked for.
    """
    given = {name: value for name, value in assumptions.items() if value is not None}
    base = _own(given, frames_per_second) if algorithm is None else _known(algorithm)
    frames = given.get("training_frames", base.training_frames)
    remarks: tuple[str, ...] = ()
    if frames_per_second is not None:
        if "hours_per_task" in given:
            raise ArcadeMarkError("--assume hours_per_task and frames_per_second say the same twice; give one of them")
        if not frames:
            raise ArcadeMarkError("--assume frames_per_second: needs the training frames; add training_frames=200e6")
        given |= {"hours_per_task": costs.hours(frames, frames_per_second), "frames_per_second": frames_per_second}
    elif "training_frames" in given and "hours_per_task" not in given and base.training_frames:
        given["hours_per_task"] = base.hours_per_task * given["training_frames"] / base.training_frames
        remarks = (f"Hours grow with the frames, from {base.hours_per_task:,.4g} for {base.training_frames:,}.",)
    needed = base.replaced(**given)
    pounds = POUNDS_PER_KWH if pounds_per_kwh is None else pounds_per_kwh
    tasks, whole = resolve_tasks(games), suite("atari-57")
    changed = (*given, *(["pounds_per_kwh"] if pounds_per_kwh is not None else []))
    return Expenses(
        running=needed,
        games=tasks,
        cost=costs.cost(needed, len(tasks), runs=runs, pounds_per_kwh=pounds),
        whole=costs.cost(needed, len(whole.tasks), runs=runs, pounds_per_kwh=pounds),
        suite=whole.name,
        pounds_per_kwh=pounds,
        changed=() if algorithm is None else changed,
        remarks=remarks,
    )


def _known(algorithm: str) -> Running:
    try:
        return running(algorithm)
    except UnknownNameError as error:
        raise ArcadeMarkError(
            f"{str(error).removesuffix('?')}? For another, give --assume hours_per_task and prices alone"
        ) from None


def _own(given: dict[str, float | int], frames_per_second: float | None) -> Running:
    if "hours_per_task" not in given and frames_per_second is None:
        known = ", ".join(runnings())
        raise ArcadeMarkError(f"no --algorithm ({known}) and no --assume hours_per_task; name one, or give the hours")
    if "gpu_price" not in given and "machine_price" not in given:
        raise ArcadeMarkError("no price: add --assume gpu_price=N or machine_price=N, in US dollars an hour")
    return Running(OWN, "your algorithm", hours_per_task=1.0, gpu_price=0.0, machine_price=0.0)
