"""Which settings of an agent do best: the variants of one run against each other.

A setting's mean is that of its scores between the worst and the best setting of each game
(`arcademark.metrics.ranges.inter_algorithm`; Bellemare et al. 2013, §4.1.3). Games on which all score the same are left
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics import intervals
from arcademark.metrics.ranges import inter_algorithm
from arcademark.reports import wording
from arcademark.scores.runs import RunScores, load_run
from arcademark.suite import tasks
from arcademark.suite.subsets import subset

VALIDATION = ("atari-3-val", "atari-5-val")  # subsets made for tuning (Aitchison et al. 2023, §8).


@dataclass(frozen=True)
class Setting:
    """One combination of parameters."""

    label: str  # the agent with these parameters
    values: Mapping[str, str]  # what was tried
    mean: float | None
    """Mean over games of its place between the worst setting (0) and the best (1); None where a game is missing."""
    low: float | None  # 95 % interval of the mean; None from single episodes
    high: float | None
    scores: Mapping[str, float | None]  # by game


@dataclass(frozen=True)
class Tuned:
    """The settings of one run, the best first."""

    SCHEMA: ClassVar[str] = "arcademark.tune/1"
    directory: str
    protocol: str
    games: tuple[str, ...]
    uninformative: tuple[str, ...]  # games on which all settings score the same
    for_testing: tuple[str, ...]  # games that are not meant for tuning
    learnt_once: bool
    """Whether learners were trained with one seed each: how much trainings differ is not in the intervals then."""
    settings: tuple[Setting, ...]

    @property
    def level_with_best(self) -> tuple[Setting, ...]:
        """The other settings whose interval reaches the best one's mean: these episodes do not tell them apart."""
        best, *others = self.settings
        return tuple(
            other for other in others if None not in (best.mean, other.high) and (other.high or 0) >= (best.mean or 0)
        )


def training_games() -> tuple[str, ...]:
    """Return the five games that the 2013 paper designs and tunes on (§3.1.2)."""
    return tasks.suite("ale-55").training_tasks


def for_testing(games: Sequence[str]) -> tuple[str, ...]:
    """Return those of some games that are for testing: the suites', without those that a source has for tuning."""
    return tuple(game for game in games if game in _test_games())


@cache
def _test_games() -> frozenset[str]:
    fit = {*training_games(), *(task for name in VALIDATION for task in subset(name).tasks)}
    return frozenset(task for suite in tasks.suites().values() for task in suite.tasks) - fit


def warning(games: Sequence[str]) -> str:
    """Say what is wrong with tuning on some games; "" where nothing is."""
    outside = for_testing(games)
    if not outside:
        return ""
    are = "is" if len(outside) == 1 else "are"
    evaluated = [game for game in outside if game in subset("atari-5").tasks]
    of_atari5 = f" ({wording.listing(evaluated)} for Atari-5's evaluation)" if evaluated else ""
    return (
        f"{wording.shortened(outside)} {are} for testing{of_atari5}; scores of an agent that was tuned there say too "
        "much (Bellemare et al. 2013, §1; Aitchison et al. 2023, §8). Tune on the training games, or on atari-3-val "
        "or atari-5-val"
    )


def tuned(directory: Path, tried: Mapping[str, Mapping[str, str]]) -> Tuned:
    """Rank the settings that a run played."""
    run = load_run(directory)
    table = run.table.select(algorithms=[label for label in run.table.algorithms if label in tried])
    scores = table.mean_over_runs()
    if np.isfinite(scores).any(axis=1).sum() < 2:
        raise ArcadeMarkError(f"{directory}: fewer than two settings have a score; nothing is there to compare")
    placed = inter_algorithm(scores, table.tasks, zero_range="omit")
    telling = np.asarray(np.isfinite(placed).any(axis=0))
    settings = [_setting(run, label, tried[label], scores, row, telling) for row, label in enumerate(table.algorithms)]
    return Tuned(
        directory=str(directory),
        protocol=run.record.protocol.label,
        games=table.tasks,
        uninformative=tuple(task for task, tells in zip(table.tasks, telling, strict=True) if not tells),
        for_testing=for_testing(table.tasks),
        learnt_once=any(trial.learns for trial in run.record.trials)
        and len({trial.seed for trial in run.record.trials}) == 1,
        settings=tuple(sorted(settings, key=lambda setting: 1.0 if setting.mean is None else -setting.mean)),
    )


def _setting(
    run: RunScores,
    label: str,
    values: Mapping[str, str],
    scores: NDArray[np.float64],
    row: int,
    telling: NDArray[np.bool_],
) -> Setting:
    shown = {
        task: float(score) if np.isfinite(score) else None
        for task, score in zip(run.table.tasks, scores[row], strict=True)
    }
    names = [task for task, tells in zip(run.table.tasks, telling, strict=True) if tells]
    if not names or any(shown[task] is None for task in names):
        return Setting(label, values, None, None, None, shown)
    worst, best = (end(scores[:, telling], axis=0) for end in (np.nanmin, np.nanmax))
    found = intervals.interval(
        {task: run.episodes[label, task] for task in names},
        lambda values: np.asarray(((values - worst) / (best - worst)).mean(axis=-1)),
        np.random.default_rng(0),
        method="symmetric",
    )
    return Setting(label, values, found.value, found.low, found.high, shown)
