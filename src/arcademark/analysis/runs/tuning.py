"""Comparison of an agent's settings: the variants within one run.

A setting's mean is over games of its score relative to the worst and the best setting of each game
(`arcademark.metrics.ranges.inter_algorithm`; Bellemare et al. 2013, §4.1.3). Games on which all settings score the same
are left out. `arcademark.metrics.hyperparameters` computes the benefit of tuning each game separately.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from arcademark import wording
from arcademark.analysis.settings import Value
from arcademark.analysis.subsets import predictors
from arcademark.analysis.uncertainty import statistic
from arcademark.errors import ArcadeMarkError
from arcademark.metrics import hyperparameters
from arcademark.metrics.ranges import inter_algorithm
from arcademark.metrics.uncertainty import intervals
from arcademark.scores.runs import RunScores, load_run
from arcademark.scores.table import ScoreTable
from arcademark.suite.settings import format_setting
from arcademark.suite.subsets import LEVEL, REPORTED, VALIDATION, for_testing, subset
from arcademark.suite.task_suites import TaskSuite
from arcademark.suite.tasks import game_name
from arcademark.wording import prose

MAX_FOLDS = 20
"""Maximum number of cross-validation folds of seeds, or of episodes of a single seed."""


@dataclass(frozen=True)
class TunedSetting:
    """One combination of parameters."""

    label: str  # the agent with these parameters
    values: Mapping[str, Value]  # its parameters
    mean: float | None
    """Mean over games of its score between the worst setting (0) and the best (1); None if a game is missing."""
    low: float | None  # 95 % interval of the mean; None for single episodes
    high: float | None
    scores: Mapping[str, float | None]  # by game
    estimate: float | None = None
    """Estimate of the median of all games, in percent, from these games; None if they are not a subset for tuning."""

    @property
    def half_width(self) -> str | None:
        """The half-width of the interval, as text."""
        half = None if self.mean is None or self.high is None else self.high - self.mean
        return None if half is None else f"±{half:.2f}" if half < 1 else "over ±1"

    @property
    def options(self) -> str:
        """The command-line options that select it."""
        return " ".join(f"--set {name}={format_setting(value)}" for name, value in self.values.items())


@dataclass(frozen=True)
class TunedParameters:
    """Best result of tuning a number of parameters game by game, with the others as in the best fixed setting.

    parameters: Parameters whose tuning improves the score most.
    score: Mean over games, each normalised by its 5th (0) and 95th (1) percentile; a maximum, hence biased upwards.
    share: Share of the score with all parameters tuned.
    held_out: Score on held-out seeds or episodes, with settings and parameters chosen on the others, or None.
    low, high: 95 % interval of `held_out`, Student's t over these parts; None if nothing varies.
    """

    parameters: tuple[str, ...]
    score: float
    share: float
    held_out: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class TuningSensitivity:
    """Dependence of performance on per-game tuning (Adkins, Bowling and White 2024).

    games: Games on which settings differ.
    fixed: The setting that is best on average.
    best: Best settings by game.
    value: Increase of the mean score with the best setting of each game over that with the best fixed one.
    held_out, low, high: The same on held-out seeds or episodes, as in `TunedParameters`.
    unit: Unit held out in turn: "seed", "episode", or "" if there is only one.
    parts: Number of folds.
    dimensionality: Least number of parameters that, tuned game by game, reach 95 % of the score with all tuned.
    by_count: Results by the number of tuned parameters, from none to all that vary.
    """

    games: tuple[str, ...]
    fixed: Mapping[str, Value]
    best: Mapping[str, Mapping[str, Value]]
    value: float
    held_out: float | None
    low: float | None
    high: float | None
    unit: Literal["seed", "episode", ""]
    parts: int
    dimensionality: int
    by_count: tuple[TunedParameters, ...]


@dataclass(frozen=True)
class Tuned:
    """Settings of a run with their scores, best first."""

    SCHEMA: ClassVar[str] = "arcademark.tune/2"
    directory: str
    protocol: str
    games: tuple[str, ...]
    uninformative: tuple[str, ...]  # games on which all settings score the same
    for_testing: tuple[str, ...]  # games that are not intended for tuning
    learnt_once: bool
    """True if learners were trained with one seed, so that intervals do not include differences between trainings."""
    settings: tuple[TunedSetting, ...]
    sensitivity: TuningSensitivity | None = None
    """None if settings differ on fewer than two games."""
    suite: str = ""  # suite of the tasks; "" for Atari games
    model: str = ""  # the subset for tuning of exactly these games, "atari-3-val"; "" if there is none

    @property
    def level_with_best(self) -> tuple[TunedSetting, ...]:
        """The other settings whose interval reaches the best one's mean, which do not differ significantly from it."""
        best, *others = self.settings
        return tuple(
            other for other in others if None not in (best.mean, other.high) and (other.high or 0) >= (best.mean or 0)
        )

    @property
    def best(self) -> list[tuple[str, Mapping[str, Value]]]:
        """The best fixed setting and the best of each game, by title; empty if settings do not differ."""
        if self.sensitivity is None:
            return []
        games = ((self.title(game), values) for game, values in self.sensitivity.best.items())
        return [("best fixed setting", self.sensitivity.fixed), *games]

    @property
    def noun(self) -> str:
        """The noun for what settings are tried on: "task" or "game"."""
        return wording.noun("step" if self.suite else "frame")

    @property
    def equal(self) -> tuple[str, ...]:
        """The games on which all settings score the same, for people."""
        return tuple(map(self.title, self.uninformative))

    def title(self, game: str) -> str:
        """Name a game for people; a task of a suite keeps its id."""
        return game if self.suite else game_name(game)


def held_out_interval(row: TunedParameters | TuningSensitivity) -> str | None:
    """Write the interval of a held-out score; None if there is none."""
    if row.low is None or row.high is None:
        return None
    return f"{wording.fixed(row.low, 2)} … {wording.fixed(row.high, 2)}"


def warning(games: Sequence[str], suite: TaskSuite | None = None) -> str:
    """Return the warning about tuning on some games; "" if there is none."""
    outside = for_testing(games, suite)
    if not outside:
        return ""
    training = suite.training_tasks if suite else ()
    evaluated = () if suite else [game for game in outside if game in subset(REPORTED).tasks]
    return prose.text("tuning", "warning", outside=outside, evaluated=evaluated, training=training)


def tuned(directory: Path, tried: Mapping[str, Mapping[str, Value]]) -> Tuned:
    """Rank the settings that a run played, whose parameters `tried` contains by label.

    Raises ArcadeMarkError if fewer than two settings have a score.
    """
    run = load_run(directory)
    table = run.table.select(algorithms=[label for label in run.table.algorithms if label in tried])
    scores = table.mean_over_runs()
    if np.isfinite(scores).any(axis=1).sum() < 2:
        raise ArcadeMarkError(f"{directory}: fewer than two settings have a score, so there is nothing to compare")
    telling = np.asarray(np.isfinite(inter_algorithm(scores, table.tasks, zero_range="omit")).any(axis=0))
    suite = run.record.protocol.suite
    model = "" if suite else next((one for one in VALIDATION if {*subset(one).tasks} == {*table.tasks}), "")
    settings = []
    for label, row in zip(table.algorithms, scores, strict=True):
        by_game = {task: float(score) for task, score in zip(table.tasks, row, strict=True) if np.isfinite(score)}
        whole = model and len(by_game) == len(table.tasks)
        settings.append(
            TunedSetting(
                label,
                tried[label],
                *_place(run, label, row, scores, telling),
                {task: by_game.get(task) for task in table.tasks},
                predictors.atari().median(by_game, LEVEL)[0].value if whole else None,
            )
        )
    return Tuned(
        directory=str(directory),
        protocol=run.record.protocol.label,
        games=table.tasks,
        uninformative=tuple(task for task, tells in zip(table.tasks, telling, strict=True) if not tells),
        for_testing=for_testing(table.tasks, suite),
        learnt_once=any(trial.learns for trial in run.record.trials)
        and len({trial.seed for trial in run.record.trials}) == 1,
        settings=tuple(sorted(settings, key=lambda setting: 1.0 if setting.mean is None else -setting.mean)),
        sensitivity=_sensitivity(run, table, tried),
        suite=suite.name if suite else "",
        model=model,
    )


def _place(
    run: RunScores, label: str, row: NDArray[np.float64], scores: NDArray[np.float64], telling: NDArray[np.bool_]
) -> tuple[float | None, float | None, float | None]:
    """Return a setting's mean over the games on which settings differ, and its interval."""
    if not telling.any() or not np.isfinite(row[telling]).all():
        return None, None, None
    worst, best = (end(scores[:, telling], axis=0) for end in (np.nanmin, np.nanmax))
    mean = intervals.interval(
        {task: run.independent(label, task) for task, tells in zip(run.table.tasks, telling, strict=True) if tells},
        lambda values: np.asarray(((values - worst) / (best - worst)).mean(axis=-1)),
        np.random.default_rng(0),
    )
    low, high = (None if end is None else min(max(end, 0.0), 1.0) for end in (mean.low, mean.high))
    return mean.value, low, high


def _sensitivity(
    run: RunScores, table: ScoreTable, tried: Mapping[str, Mapping[str, Value]]
) -> TuningSensitivity | None:
    whole = np.asarray(np.isfinite(table.mean_over_runs()).all(axis=1))
    table = table.select(algorithms=[name for name, has in zip(table.algorithms, whole, strict=True) if has])
    seeds = np.flatnonzero(np.isfinite(table.scores).all(axis=(0, 1)))
    low, high = hyperparameters.limits(table.scores[:, :, seeds]) if whole.any() and seeds.size else np.zeros((2, 1))
    telling = np.flatnonzero(high > low)
    if len(telling) < 2:
        return None
    low, high = low[telling, np.newaxis], high[telling, np.newaxis]
    table = table.select(tasks=[table.tasks[place] for place in telling])
    placed = (table.scores[:, :, seeds] - low) / (high - low)
    unit, parts = _parts(run, table, seeds)
    settings = [tried[label] for label in table.algorithms]
    names = tuple(settings[0])
    columns = ([repr(values[name]) for values in settings] for name in names)
    codes = np.array([np.unique(column, return_inverse=True)[1] for column in columns]).T
    choices = hyperparameters.choices(placed.mean(axis=2), codes)
    apart = hyperparameters.held_out((parts - low) / (high - low), codes) if unit else None
    return TuningSensitivity(
        table.tasks,
        settings[choices[0].settings[0]],
        {game: settings[place] for game, place in zip(table.tasks, choices[-1].settings, strict=True)},
        hyperparameters.sensitivity(choices),
        *_over(None if apart is None else apart[:, -1] - apart[:, 0]),
        unit,
        parts.shape[2],
        hyperparameters.dimensionality(choices),
        tuple(
            TunedParameters(
                tuple(names[place] for place in choice.tuned),
                choice.score,
                choice.score / choices[-1].score,
                *_over(None if apart is None else apart[:, count]),
            )
            for count, choice in enumerate(choices)
        ),
    )


def _parts(
    run: RunScores, table: ScoreTable, seeds: NDArray[np.int64]
) -> tuple[Literal["seed", "episode", ""], NDArray[np.float64]]:
    """Return the unit of the folds, and their mean scores, shape (settings, games, parts).

    Folds consist of seeds if the agent learns and has several, else of the episodes of all seeds.
    """
    shape = table.scores.shape[:2]
    if not run.apart:
        cells = [[run.independent(name, task)[0] for task in table.tasks] for name in table.algorithms]
    elif seeds.size > 1:
        cells = [[row[seeds] for row in rows] for rows in table.scores]
    else:
        places = np.isfinite(table.scores[:, :, : seeds[0]]).sum(axis=2)
        cells = [
            [run.episodes[name, task][place] for task, place in zip(table.tasks, row, strict=True)]
            for name, row in zip(table.algorithms, places, strict=True)
        ]
    count = min(MAX_FOLDS, *(cell.size for row in cells for cell in row))
    parts = np.array([cell[part::count].mean() for row in cells for cell in row for part in range(count)])
    return "" if count < 2 else "seed" if run.apart and seeds.size > 1 else "episode", parts.reshape(*shape, count)


def _over(parts: NDArray[np.float64] | None) -> tuple[float | None, float | None, float | None]:
    """Return the mean over parts and its interval, each None if there is none."""
    if parts is None:
        return None, None, None
    mean = statistic(*intervals.score_intervals([parts])[0, :3].tolist())
    return mean.value, mean.low, mean.high
