"""Training data of predictions from any tasks: the catalogue's Atari scores, or a user's own table.

Scores are in percent between two references: HNS on Atari, a user's low and high scores elsewhere. Intervals are
calibrated to cover algorithms of other groups. A group is a paper or, if papers are not known, a single algorithm.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np

from arcademark import wording
from arcademark.analysis import published
from arcademark.analysis.measures import hns
from arcademark.analysis.subsets import dataset, fits
from arcademark.analysis.tables.dataset import ScoreOptions
from arcademark.analysis.tables.loading import ScoreSource
from arcademark.errors import ArcadeMarkError
from arcademark.metrics import normalise
from arcademark.metrics.normalise import PERCENT
from arcademark.scores.readers.base import canonical as canonical_at
from arcademark.scores.readers.piped import place
from arcademark.scores.readers.sheets.reading import read_sheet
from arcademark.scores.table import ScoreTable
from arcademark.subset.predict import calibration, outlook
from arcademark.subset.predict.any_tasks import FEWEST_ALGORITHMS, MEAN, MEDIAN, Quantity, Trained, reached, train
from arcademark.subset.predict.calibration import Covered, Misses
from arcademark.subset.predict.outlook import Outlook, Range
from arcademark.subset.problem import Floats, log10_score
from arcademark.subset.search.search import Candidate
from arcademark.suite import references
from arcademark.suite.subsets import resolve_tasks, subset
from arcademark.suite.tasks import canonical_game, game_name, suite

TRAINING = "atari-5-training"
"""Collection that the published models were fitted to."""
ATARI = "atari-57"
Others: TypeAlias = tuple[tuple[tuple[float, Floats], ...], ...]
"""Absolute errors by paper, each with the transformed scores that the prediction used."""
SEED = 1982
"""Seed of the simulations behind a forecast, so that the same scores give the same result."""


@dataclass(frozen=True, eq=False)
class Predictor:
    """A distribution of all tasks' scores, with the references and quantities needed to predict from it.

    low, high: Raw scores of 0 % and 100 %.
    quantities: Quantities predicted of all tasks.
    canonical: Function that returns the canonical name of a task as it is written.
    noun, groups: Nouns for a task and for groups.
    max_frames_per_episode: The frame cap of the scores; None where there is none, or it is not known.
    sources, remarks: Sources of the scores, if not the catalogue, and remarks that a reader must know.
    bare: Groups by other names of the training algorithms, in lower case, "rainbow".
    """

    trained: Trained
    low: Mapping[str, float]
    high: Mapping[str, float]
    quantities: tuple[Quantity, ...]
    canonical: Callable[[str], str]
    noun: str = "game"
    groups: str = "papers"
    max_frames_per_episode: int | None = None
    sources: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    bare: Mapping[str, str] = field(default_factory=dict)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that are predicted, and predicted from."""
        return self.trained.joint.tasks

    def title(self, task: str) -> str:
        """Name a task for people."""
        return game_name(task) if self.noun == "game" else task

    def chosen(self, names: str) -> tuple[str, ...]:
        """Return the tasks of a list separated by commas, which may name suites and subsets of games.

        Raises for a task that is not in the training scores.
        """
        atari = self.noun == "game"
        found = resolve_tasks(names) if atari else tuple(self.canonical(part.strip()) for part in names.split(","))
        if unknown := [self.title(task) or "''" for task in found if task not in self.tasks]:
            raise ArcadeMarkError(f"{names}: {', '.join(unknown)} not among the {self.noun}s of the training scores")
        return found

    def group(self, algorithm: str, paper: str = "") -> str | None:
        """Return the group to leave out for an algorithm: its paper, else the group of its name; None if there is none.

        Otherwise predictions of training algorithms would be biased, and their intervals too narrow.
        """
        group = paper or self.named.get(algorithm.strip().lower())
        return group if group in self.trained.groups else None

    @cached_property
    def named(self) -> Mapping[str, str]:
        """Groups by the names of the training algorithms in lower case, including those of `bare`."""
        own = zip(map(str.lower, self.trained.algorithms), self.trained.groups, strict=True)
        return {**self.bare, **dict(own)}

    def predict(
        self,
        scores: Mapping[str, float],
        *,
        level: float,
        frames: Mapping[str, float] | None = None,
        without: str | None = None,
    ) -> Outlook | None:
        """Predict from an algorithm's raw scores; None if it has none on any task of the training scores.

        ``frames`` is the cost of playing each task, above 0; the same for all if None. ``without`` is its `group`.
        """
        used = {task: score for task, score in scores.items() if task in self.tasks}
        percent = between(used, self.low, self.high)
        if not percent:
            return None
        rng, known = np.random.default_rng(SEED), tuple(np.isfinite(self._row(used)).tolist())
        misses = _misses(self.trained, known, self.quantities)
        return outlook.predict(
            *(self.trained, percent, self.quantities),
            rng=rng,
            level=level,
            frames=frames,
            without=without,
            misses=misses,
        )

    def median(
        self, scores: Mapping[str, float], level: float, without: str | None = None
    ) -> tuple[Range, Covered | None]:
        """Predict the median of all tasks, in percent, from an algorithm's raw scores on at least one of them.

        The second value is the coverage of such intervals on the training algorithms; None without intervals.
        ``without`` is its `group`.
        """
        (median,), covered = self.medians([scores], level, without)
        return median, covered

    def medians(
        self, scores: Sequence[Mapping[str, float]], level: float, without: str | None = None
    ) -> tuple[tuple[Range, ...], Covered | None]:
        """Predict the medians of several algorithms with the same tasks and `group` at once, as `median` does."""
        rows = np.array([self._row(some) for some in scores])
        misses = _misses(self.trained, tuple(np.isfinite(rows[0]).tolist()))
        medians = outlook.estimates(self.trained, rows, MEDIAN, misses, noise(len(self.tasks)), level, without)
        return medians, misses.covered(MEDIAN.name, level)

    def truths(self, scores: Mapping[str, float]) -> Mapping[str, float]:
        """Return the true quantities of an algorithm with a score on every task, by name; else {}.

        On Atari's 57 games, median and mean may lack the few games that `published.why_untrue` allows.
        """
        row = self._row(scores)
        places = np.flatnonzero(np.isfinite(row))
        whole = len(places) == len(row)
        if not whole and (self.tasks != suite(ATARI).tasks or published.why_untrue(scores)):
            return {}
        known = [quantity for quantity in self.quantities if whole or quantity.unit == "score"]
        return {quantity.name: float(quantity.of(row[np.newaxis, places], places)[0]) for quantity in known}

    def slopes(self, scores: Mapping[str, float]) -> Floats:
        """Return the derivatives of log₁₀(1 + median) by each log₁₀(1 + score), shape (scores,), both in percent."""
        row = self._row(scores)
        misses = _misses(self.trained, tuple(np.isfinite(row).tolist()))
        values = outlook.slopes(self.trained, row, MEDIAN, noise(len(row)), misses)
        order = [task for task in self.tasks if task in scores]
        return np.asarray(values[[order.index(task) for task in scores]])

    def _row(self, scores: Mapping[str, float]) -> Floats:
        percent = between(scores, self.low, self.high)
        return np.array([percent.get(task, np.nan) for task in self.tasks])


@lru_cache(maxsize=2)
def noise(tasks: int) -> Floats:
    """Return the standard normal draws behind every prediction of this number of tasks, shape (draws, tasks)."""
    return calibration.noise_of(np.random.default_rng(SEED), tasks)


@lru_cache(maxsize=64)
def _misses(trained: Trained, known: tuple[bool, ...], quantities: tuple[Quantity, ...] = (MEDIAN,)) -> Misses:
    """Return the errors of predicting the training algorithms from these tasks; cached, because it is slow."""
    return calibration.misses(trained, np.array(known), quantities, noise(len(known)))


def atari(name: str = ATARI) -> Predictor:
    """Return the predictor of a suite's games, learnt from the catalogue; see `fits`."""
    return _atari(name)


@cache
def _atari(name: str) -> Predictor:
    trained, named = fits.load(name)
    return Predictor(
        trained,
        references.scores("random"),
        references.scores("human"),
        of_games(trained.joint.tasks),
        canonical_game,
        max_frames_per_episode=subset("atari-5").max_frames_per_episode,
        bare=named,
    )


def own(
    training: Sequence[ScoreSource],
    references: str | os.PathLike[str] | None = None,
    papers: str | os.PathLike[str] | None = None,
    transform: str | None = None,
) -> Predictor | None:
    """Fit a predictor to a user's own table, normalised by their own references or those of atari-57; None without one.

    ``papers`` is as for `origins`, and ``transform``, "log10" if None, as for `arcademark.subset.predict.any_tasks`.
    """
    if not training:
        if option := "references" if references else "papers" if papers else "transform" if transform else "":
            raise ArcadeMarkError(f"{option} requires training, the scores to learn from; add these")
        return None
    table = dataset.normalised(training, ScoreOptions(references=references))
    known = origins(table.algorithms, table.papers, None if papers is None else Path(papers))
    owners = [known[name] for name in table.algorithms]
    if len(set(owners)) < 2:
        whose = f"all from one paper, {owners[0]}" if len(owners) > 1 else "of one algorithm"
        raise ArcadeMarkError(
            f"the scores to learn from are {whose}; at least two are needed to measure how well others are predicted; "
            "add scores, or name papers with --set papers=FILE"
        )
    trained = train(table.percent, table.algorithms, table.tasks, owners, transform=transform or "log10")
    tasks, remarks = trained.joint.tasks, table.remarks
    if trained.left_out:
        names = wording.shortened(map(table.benchmark.title, trained.left_out))
        few = f"fewer than {FEWEST_ALGORITHMS} algorithms have a score on them, or all have the same"
        remarks = (*remarks, f"Left out of everything, also of summaries, because {few}: {names}.")
    on_atari = table.benchmark.atari
    return Predictor(
        trained,
        table.low,
        table.high,
        of_games(tasks) if on_atari else (MEDIAN, MEAN, reached("at 100 % or more", [PERCENT] * len(tasks))),
        table.benchmark.canonical,
        table.benchmark.noun,
        "papers" if len(set(owners)) < len(owners) else "algorithms",
        sources=tuple(f"trained on {source}" for source in table.sources),
        remarks=remarks,
    )


def other_papers(model: Candidate, papers: Collection[str], algorithms: Collection[str] = ()) -> Others:
    """Return a linear model's errors on the algorithms of atari-57 from other papers than these, one list per paper.

    Papers of these ``algorithms``, whose own papers are not known, are left out, too. Errors are those of the true
    median in log₁₀ space, each with the transformed scores of the model's games.
    """
    trained, entries = atari().trained, published.training()
    trained = trained.only(trained.fitted)
    known = published.identities()
    names = {*algorithms, *(known.get(name, name) for name in algorithms)}
    same = [name in names or entries[name].identity in names for name in trained.algorithms]
    papers = {*papers, *(group for group, shared in zip(trained.groups, same, strict=True) if shared)}
    places = [trained.joint.tasks.index(task) for task in model.tasks]
    by_paper: dict[str, list[tuple[float, Floats]]] = {}
    for group, percent in zip(trained.groups, trained.percent, strict=True):
        scores, known_tasks = log10_score(percent[places]), np.flatnonzero(np.isfinite(percent))
        true = not published.why_untrue([trained.joint.tasks[place] for place in known_tasks])
        if true and group not in papers and np.isfinite(scores).all():
            predicted = float(scores @ np.array(model.coefficients))
            by_paper.setdefault(group, []).append((abs(predicted - float(log10_score(np.nanmedian(percent)))), scores))
    return tuple(tuple(errors) for errors in by_paper.values())


def between(scores: Mapping[str, float], low: Mapping[str, float], high: Mapping[str, float]) -> Mapping[str, float]:
    """Return scores in percent between two references; tasks without any are left out."""
    names = [task for task in scores if task in low]
    values = PERCENT * normalise.normalise([scores[task] for task in names], low, high, names)
    return dict(zip(names, values.tolist(), strict=True))


def known(table: ScoreTable, row: int) -> Mapping[str, float]:
    """Return an algorithm's mean scores by task; tasks without a score are left out."""
    means = zip(table.tasks, table.mean_over_runs()[row], strict=True)
    return {task: float(value) for task, value in means if np.isfinite(value)}


def of_games(tasks: Sequence[str]) -> tuple[Quantity, ...]:
    """Return the quantities predicted of all games: median, mean, games at human level, world records broken."""
    records = references.scores("human_world_record")
    bars = hns([records[task] for task in tasks], tasks)
    return MEDIAN, MEAN, reached("at human level", [PERCENT] * len(tasks)), reached("records broken", bars.tolist())


def read_frames(path: Path, canonical: Callable[[str], str] = canonical_game) -> Mapping[str, float]:
    """Read the cost of playing each task: a CSV file with the columns game (or task) and frames, each game once."""
    sheet = read_sheet(place(path))
    task, frames = sheet.find(("game", "task")), sheet.find(("frames",))
    if task is None or frames is None or not sheet.size:
        raise ArcadeMarkError(f"{path}: expected the columns game and frames, and a row per game")
    codes, names, first = sheet.names(task)
    tasks = [canonical_at(sheet.place(int(row), task), name, canonical) for name, row in zip(names, first, strict=True)]
    costs: dict[str, float] = {}
    for row, (code, number) in enumerate(zip(codes.tolist(), sheet.scores(frames).tolist(), strict=True)):
        if tasks[code] in costs or not number > 0:
            raise ArcadeMarkError(
                f"{path}, row {sheet.line(row)}: expected each game once, with a number of frames above 0"
            )
        costs[tasks[code]] = number
    return costs


def read_papers(path: Path) -> Mapping[str, str]:
    """Read the paper of each algorithm: a CSV file with the columns algorithm and paper, each algorithm once."""
    sheet = read_sheet(place(path))
    columns = [column for name in ("algorithm", "paper") if (column := sheet.find((name,))) is not None]
    if len(columns) < 2:
        raise ArcadeMarkError(f"{path}: columns {', '.join(sheet.header)}; expected algorithm and paper")
    read = [sheet.names(column) for column in columns]
    papers: dict[str, str] = {}
    for row in range(sheet.size):
        algorithm, paper = (names[codes[row]] for codes, names, _ in read)
        if algorithm in papers:
            raise ArcadeMarkError(f"{path}, row {sheet.line(row)}: {algorithm!r} is repeated; name each algorithm once")
        papers[algorithm] = paper
    return papers


def origins(algorithms: Sequence[str], known: Mapping[str, str], papers: Path | None) -> Mapping[str, str]:
    """Return each algorithm's paper: that in the file, else the catalogue's, else the algorithm's own name.

    Raises if the file names none of the algorithms.
    """
    named = {} if papers is None else read_papers(papers)
    if papers is not None and not named.keys() & set(algorithms):
        names = wording.shortened(algorithms)
        raise ArcadeMarkError(f"{papers}: names none of the algorithms, {names}; write them as in the table of scores")
    return {name: named.get(name, known.get(name, name)) for name in algorithms}
