"""Which settings of an agent do best: the variants of one run against each other.

A setting's mean is that of its scores between the worst and the best setting of each game
(`arcademark.metrics.ranges.inter_algorithm`; Bellemare et al. 2013, §4.1.3). Games on which all score the same are left
out. How much tuning each game apart would give is `arcademark.metrics.hyperparameters`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics import hyperparameters
from arcademark.metrics.ranges import inter_algorithm
from arcademark.metrics.uncertainty import intervals
from arcademark.reports import estimates, wording
from arcademark.reports.record import Value
from arcademark.scores.runs import RunScores, load_run
from arcademark.scores.table import ScoreTable
from arcademark.suite import tasks
from arcademark.suite.protocols import Protocol
from arcademark.suite.subsets import Subset, subset
from arcademark.suite.task_suites import TaskSuite

MOST_FOLDS = 20
"""Parts into which seeds, or episodes of the only one, are put at most, to choose settings on all but one of them."""

VALIDATION = ("atari-3-val", "atari-5-val")  # subsets made for tuning (Aitchison et al. 2023, §8).


@dataclass(frozen=True)
class Setting:
    """One combination of parameters."""

    label: str  # the agent with these parameters
    values: Mapping[str, Value]  # what was tried
    mean: float | None
    """Mean over games of its place between the worst setting (0) and the best (1); None where a game is missing."""
    low: float | None  # 95 % interval of the mean; None from single episodes
    high: float | None
    scores: Mapping[str, float | None]  # by game
    estimate: float | None = None
    """Of the median of all games, in percent, by the published model of just these; None where there is none."""


@dataclass(frozen=True)
class TunedParameters:
    """The best that tuning a number of parameters game by game gives, the others as in the best fixed setting.

    parameters: Those that give most.
    score: Mean over games, each from the 5th percentile of its scores (0) to the 95th (1); too good, as a maximum.
    share: Of the score with all parameters tuned.
    held_out: The same score, of settings and parameters chosen on the other seeds or episodes; None where there are no
        others.
    low, high: 95 % interval of `held_out`, Student's t over these; None where nothing varies.
    """

    parameters: tuple[str, ...]
    score: float
    share: float
    held_out: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Sensitivity:
    """How much performance depends on tuning game by game (Adkins, Bowling and White 2024).

    games: Those that tell settings apart.
    fixed: The setting that is best on average.
    best: By game, the best setting of it.
    value: How much higher the mean score is with the best setting of each game than with the best fixed one.
    held_out, low, high: The same on seeds or episodes that did not choose, as in `TunedParameters`.
    unit: What was left out in turn: "seed", "episode", or "" where there are no two.
    parts: In how many parts.
    dimensionality: How few parameters, tuned game by game, reach 95 % of the score with all of them tuned.
    by_count: For no parameter tuned, for one, to all that vary.
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
    """The settings of one run, the best first."""

    SCHEMA: ClassVar[str] = "arcademark.tune/2"
    directory: str
    protocol: str
    games: tuple[str, ...]
    uninformative: tuple[str, ...]  # games on which all settings score the same
    for_testing: tuple[str, ...]  # games that are not meant for tuning
    learnt_once: bool
    """Whether learners were trained with one seed each: how much trainings differ is not in the intervals then."""
    settings: tuple[Setting, ...]
    sensitivity: Sensitivity | None = None
    """None where fewer than two games tell two settings apart."""
    suite: str = ""  # that the games are tasks of; "" of Atari games
    model: str = ""  # the published model that estimates are by, "atari-3-val"; "" where there is none of these games

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


def usual_games(protocol: Protocol) -> tuple[str, ...]:
    """Return the games to tune on under a protocol: the 2013 paper's own, otherwise Atari-3-Val (Atari-5, §8)."""
    return training_games() if protocol.name == "ale-2013" else subset(VALIDATION[0]).tasks


def titled(game: str, suite: str) -> str:
    """Name a game for people; a task of a suite beyond Atari keeps its id."""
    return game if suite else tasks.game_name(game)


def for_testing(games: Sequence[str], suite: TaskSuite | None = None) -> tuple[str, ...]:
    """Return those of some games, or of some tasks of a suite, that are for testing.

    Atari's are those of the suites, without those that a source has for tuning; a suite beyond Atari says which.
    """
    tested = suite.test_tasks if suite else _test_games()
    return tuple(game for game in games if game in tested)


def unsplit(suites: Iterable[str]) -> str:
    """Say of suites by name, within a sentence, that none of their tasks is for testing."""
    return (
        f"no task of {wording.listing(suites)} is for training ('training = true' in a suite's file), so none counts "
        "as for testing"
    )


@cache
def _test_games() -> frozenset[str]:
    fit = {*training_games(), *(task for name in VALIDATION for task in subset(name).tasks)}
    return frozenset(task for suite in tasks.suites().values() for task in suite.tasks) - fit


def warning(games: Sequence[str], suite: TaskSuite | None = None) -> str:
    """Say what is wrong with tuning on some games; "" where nothing is."""
    outside = for_testing(games, suite)
    if not outside:
        return ""
    are = "is" if len(outside) == 1 else "are"
    if suite:
        of_atari5, others = "", f"the suite's training tasks, {wording.shortened(suite.training_tasks)}"
    else:
        evaluated = [game for game in outside if game in subset("atari-5").tasks]
        of_atari5 = f" ({wording.listing(evaluated)} for Atari-5's evaluation)" if evaluated else ""
        others = "the training games, or on atari-3-val or atari-5-val"
    return (
        f"{wording.shortened(outside)} {are} for testing{of_atari5}; scores of an agent that was tuned there say too "
        f"much (Bellemare et al. 2013, §1; Aitchison et al. 2023, §8). Tune on {others}"
    )


def tuned(directory: Path, tried: Mapping[str, Mapping[str, Value]]) -> Tuned:
    """Rank the settings that a run played; `tried` has their parameters by label."""
    run = load_run(directory)
    table = run.table.select(algorithms=[label for label in run.table.algorithms if label in tried])
    scores = table.mean_over_runs()
    if np.isfinite(scores).any(axis=1).sum() < 2:
        raise ArcadeMarkError(f"{directory}: fewer than two settings have a score; nothing is there to compare")
    placed = inter_algorithm(scores, table.tasks, zero_range="omit")
    telling = np.asarray(np.isfinite(placed).any(axis=0))
    model = None if run.record.protocol.suite else estimates.exactly(table.tasks)
    settings = [
        _estimated(_setting(run, label, tried[label], scores, row, telling), model)
        for row, label in enumerate(table.algorithms)
    ]
    return Tuned(
        directory=str(directory),
        protocol=run.record.protocol.label,
        games=table.tasks,
        uninformative=tuple(task for task, tells in zip(table.tasks, telling, strict=True) if not tells),
        for_testing=for_testing(table.tasks, run.record.protocol.suite),
        learnt_once=any(trial.learns for trial in run.record.trials)
        and len({trial.seed for trial in run.record.trials}) == 1,
        settings=tuple(sorted(settings, key=lambda setting: 1.0 if setting.mean is None else -setting.mean)),
        sensitivity=_sensitivity(run, table, tried),
        suite=run.record.protocol.suite.name if run.record.protocol.suite else "",
        model="" if model is None else model.name,
    )


def _estimated(setting: Setting, model: Subset | None) -> Setting:
    """Add what the published model says of all games."""
    scores = {game: score for game, score in setting.scores.items() if score is not None}
    if model is None or len(scores) < len(setting.scores):
        return setting
    return replace(setting, estimate=estimates.by_model(model, scores))


def _sensitivity(run: RunScores, table: ScoreTable, tried: Mapping[str, Mapping[str, Value]]) -> Sensitivity | None:
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
    found = hyperparameters.choices(placed.mean(axis=2), codes)
    apart = hyperparameters.held_out((parts - low) / (high - low), codes) if unit else None
    return Sensitivity(
        table.tasks,
        settings[found[0].settings[0]],
        {game: settings[place] for game, place in zip(table.tasks, found[-1].settings, strict=True)},
        hyperparameters.sensitivity(found),
        *_over(None if apart is None else apart[:, -1] - apart[:, 0]),
        unit,
        parts.shape[2],
        hyperparameters.dimensionality(found),
        tuple(
            TunedParameters(
                tuple(names[place] for place in choice.tuned),
                choice.score,
                choice.score / found[-1].score,
                *_over(None if apart is None else apart[:, count]),
            )
            for count, choice in enumerate(found)
        ),
    )


def _parts(
    run: RunScores, table: ScoreTable, seeds: NDArray[np.int64]
) -> tuple[Literal["seed", "episode", ""], NDArray[np.float64]]:
    """Return what may choose settings apart from the rest, and its scores, shape (settings, games, parts).

    That is seeds of agents that learn, put together where they are many, or the episodes of the only one; of other
    agents the episodes of all seeds.
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
    count = min(MOST_FOLDS, *(cell.size for row in cells for cell in row))
    parts = np.array([cell[part::count].mean() for row in cells for cell in row for part in range(count)])
    return "" if count < 2 else "seed" if run.apart and seeds.size > 1 else "episode", parts.reshape(*shape, count)


def _over(parts: NDArray[np.float64] | None) -> tuple[float | None, float | None, float | None]:
    """Return the mean over parts and its interval, None where there is none."""
    if parts is None:
        return None, None, None
    value, low, high, _ = intervals.score_intervals([parts])[0].tolist()
    return (value, None, None) if math.isnan(low) else (value, low, high)


def _setting(
    run: RunScores,
    label: str,
    values: Mapping[str, Value],
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
        {task: run.independent(label, task) for task in names},
        lambda values: np.asarray(((values - worst) / (best - worst)).mean(axis=-1)),
        np.random.default_rng(0),
    )
    low, high = (None if end is None else min(max(end, 0.0), 1.0) for end in (found.low, found.high))
    return Setting(label, values, found.value, low, high, shown)
