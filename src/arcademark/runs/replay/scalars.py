"""Logs of scores while a run is played: TensorBoard's event files, and W&B.

For each training episode, at the training frames of its trial: ``score``, ``frames``, ``mean_score`` (of the last
`RECENT` episodes of this command) and ``fps``, training frames per second over these episodes. For each evaluation
episode, at its number: ``score`` and ``frames``. Episodes lost by a stop are logged again when they are trained again.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.records.database import clear_errors
from arcademark.records.model import EpisodeRecord, Phase
from arcademark.runs.plan import Plan, Trial
from arcademark.runs.playing.events import Event, Lost, OfTrial, TrainedEpisode
from arcademark.runs.replay import tensorboard

RECENT = 100
FEWEST_SECONDS = 1.0
"""Shortest time over which a speed is logged, as episodes of parallel games are reported together."""


Log = Callable[[Trial, Phase, int, Mapping[str, float]], None]
"""Logs scalars of a trial's episode, by their tags, at a step of a phase."""


def event_files(folder: Path) -> Log:
    """Return a log in TensorBoard's event files: one file per trial and command, in a folder per trial."""
    tensorboard.check_installed()
    with clear_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    name = f"events.out.tfevents.{time.time_ns()}"

    def add(trial: Trial, _: Phase, step: int, values: Mapping[str, float]) -> None:
        with clear_errors(folder):
            tensorboard.add(folder / trial.id / name, [(time.time(), step, values)])

    return add


class Wandb:
    """Log in a project of W&B: each trial is a run, and the runs of a directory are a group."""

    def __init__(self, project: str, group: str) -> None:
        try:
            import wandb
        except ImportError:
            raise ArcadeMarkError(f"--wandb {project}: needs W&B's package: pip install wandb") from None
        self._wandb, self._project, self._group = wandb, project, group
        self._runs: dict[str, Any] = {}
        with self._clear_errors():
            wandb.login()

    def add(self, trial: Trial, phase: Phase, step: int, values: Mapping[str, float]) -> None:
        """Log scalars in the trial's run, over ``training/step`` or ``evaluation/step``."""
        if trial.id not in self._runs:
            with self._clear_errors():
                self._runs[trial.id] = self._open(trial)
        self._runs[trial.id].log({f"{phase}/step": step, **values})

    def close(self) -> None:
        """End the runs."""
        for run in self._runs.values():
            run.finish()

    def _open(self, trial: Trial) -> Any:
        about = {"agent": trial.agent.label, "game": trial.game, "seed": trial.seed, "protocol": trial.protocol.label}
        how = {"reinit": "create_new", "settings": self._wandb.Settings(console="off")}
        run = self._wandb.init(project=self._project, group=self._group, name=trial.id, config=about, **how)
        for phase in ("training", "evaluation"):
            run.define_metric(f"{phase}/*", step_metric=f"{phase}/step")
        return run

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            raise ArcadeMarkError(f"--wandb {self._project}: {one_line(str(error))}") from error


class Scalars:
    """Converts events to scalars, and writes them to logs."""

    def __init__(self, plan: Plan, logs: Sequence[Log]) -> None:
        self._trials = {trial.id: trial for trial in plan.trials}
        self._logs = logs
        self._recent = defaultdict[str, deque[tuple[float, int, float]]](lambda: deque(maxlen=RECENT))

    def hear(self, event: Event) -> None:
        """Log the scores of an episode's event."""
        match event:
            case OfTrial(trial_id, TrainedEpisode(score, frames, trained)):
                now, recent = time.perf_counter(), self._recent[trial_id]
                recent.append((now, trained, score))
                seconds, frames_since = now - recent[0][0], trained - recent[0][1]
                values = {"score": score, "frames": frames, "mean_score": sum(item[2] for item in recent) / len(recent)}
                if seconds >= FEWEST_SECONDS:
                    values["fps"] = frames_since / seconds
                self._log(trial_id, "training", trained, values)
            case EpisodeRecord(phase="evaluation"):
                values = {"score": event.score, "frames": event.frames}
                self._log(event.trial_id, "evaluation", event.episode, values)
            case OfTrial(trial_id, Lost()):
                self._recent.pop(trial_id, None)  # episodes trained again would count twice

    def _log(self, trial_id: str, phase: Phase, step: int, values: Mapping[str, float]) -> None:
        tagged = {f"{phase}/{name}": value for name, value in values.items()}
        for log in self._logs:
            log(self._trials[trial_id], phase, step, tagged)


@contextmanager
def logged(
    plan: Plan, directory: Path, folder: str | os.PathLike[str] | None, project: str | None
) -> Iterator[Callable[[Event], None]]:
    """Yield a listener that logs a plan's trials in a folder of event files, a project of W&B, both or neither.

    Raises
    ------
    ArcadeMarkError
        If a package is not installed, W&B refuses, or the folder cannot be written to.
    """
    logs: list[Log] = [] if folder is None else [event_files(Path(folder))]
    with ExitStack() as stack:
        if project is not None:
            logs.append(stack.enter_context(closing(Wandb(project, directory.name))).add)
        yield Scalars(plan, logs).hear if logs else lambda _: None
