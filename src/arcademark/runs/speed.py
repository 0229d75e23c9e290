"""How fast an agent plays on this machine: some seconds of a trial in a process of its own; nothing is kept of it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass

from arcademark.environments.registry import Emulator
from arcademark.errors import ArcadeMarkError
from arcademark.runs.engines.base import Episodes, Failed, Job, Lost, Opened
from arcademark.runs.engines.local import LocalEngine
from arcademark.runs.plan import Trial
from arcademark.runs.slot import Played
from arcademark.runs.store import Checkpoint, Unfinished

SECONDS = 2.0  # of play
PATIENCE_SECONDS = 60.0  # for an agent to be made, and to play anything
MOST_PLAYED = 10_000  # episodes, of which the seconds hold fewer


@dataclass(frozen=True)
class Speed:
    """What a worker did in some seconds.

    opened: What is known of the agent, once it was made.
    starting_seconds: Until the process had started, the agent was made and began to play.
    seconds: Of play after that.
    played: In these.
    """

    opened: Opened
    starting_seconds: float
    seconds: float
    played: Played


class _Nothing:
    def checkpoint(self, trial_id: str) -> Checkpoint | None:
        return None

    def unfinished(self, trial_id: str, episodes: Iterable[int]) -> tuple[Unfinished, ...]:
        return ()


def measure(trial: Trial, emulator: Emulator | None) -> Speed:
    """Play a trial for `SECONDS`, in training if its agent learns.

    ArcadeMarkError if it fails, or plays nothing in `PATIENCE_SECONDS`.
    """
    job = Job(trial, Episodes.missing(MOST_PLAYED), emulator)
    opened, told = None, list[tuple[float, Played]]()
    began = time.perf_counter()
    with closing(LocalEngine(1).run([job], _Nothing())) as batches:
        for batch in batches:
            now = time.perf_counter()
            for _, event in batch:
                match event:
                    case Opened():
                        opened = event
                    case Played():
                        told.append((now, event))
                    case Failed(error) | Lost(error):
                        raise ArcadeMarkError(f"{trial.agent.label} on {trial.game} cannot be measured: {error}")
            if now - (told[0][0] if len(told) > 1 else began + PATIENCE_SECONDS) >= SECONDS:
                break
    (first, _), *later = told or [(began, Played(0))]
    played = sum((event for _, event in later), Played(0))
    if opened is None or not played.frames or later[-1][0] <= first:
        raise ArcadeMarkError(
            f"{trial.agent.label} on {trial.game}: too little is played in {PATIENCE_SECONDS:g} s to tell how fast; "
            "give it by --rate"
        )
    return Speed(opened, first - began, later[-1][0] - first, played)
