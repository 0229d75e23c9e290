"""Scores that are hardly what they say to be: impossible, in other units, above all known ones, or of references.

Each rule is a function of a table, with its numbers declared here. None speaks of any collection of the catalogue read
as a user's table, but of what its rows are noted to be: the tests run all of them over all collections.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from arcademark.reports import published, wording
from arcademark.reports.document import Notice
from arcademark.reports.notices import notice
from arcademark.reports.tables.dataset import Dataset
from arcademark.runs.store import imported
from arcademark.suite import anomalies, references, tasks
from arcademark.suite.protocols import AtariProtocol

HIGH_RANDOM = 100.0
"""Points of random play from which a game's scores are large numbers: 30 of 57 games."""

FEWEST_HIGH = 3
"""Of such games, from which units are told."""

SMALL = 0.1
"""Of random play: half of an algorithm's scores on such games are below this if they are normalised to fractions, or in
thousands. In the catalogue at most a third of them are, of agents that hardly move."""

SINGLE_POINTS = (
    *("boxing", "double_dunk", "enduro", "freeway", "ice_hockey", "pong", "robotank", "surround", "tennis"),
)
"""Games that pay points one by one, so that clipping rewards to their signs changes no score."""

FEWEST_CLIPPED, FEWEST_SINGLE = 4, 2
CLIPPED = 0.85
"""Share of the games of large numbers on which a clipped score is below a tenth of the way from random play to a human;
a score of single points is not clipped, and at least half of that way. In the catalogue at most 0.81, which is the best
of constant actions, then 0.64."""

APART = 0.1
"""Of the other runs' median: a run is below it on half of its games of large numbers if it is in other units than they.
In the catalogue at most one run in seven games."""

REPEATED = 3
"""Games with one negative score that one of them cannot have: it stands for a missing score."""

REFERENCES = frozenset({"random", "human", "average human", "human world record", "world record", "record"})
"""Names of reference players, in small letters."""


OF_DATA = frozenset({"impossible", "scale", "names_alike"})
"""Kinds of what is hardly right whatever is made of a table."""


def warnings(dataset: Dataset) -> Iterator[Notice]:
    """Yield what is to be said of a table's scores and names."""
    if dataset.benchmark.atari:
        yield from _impossible(dataset)
        yield from _scale(dataset)
        yield from _mixed(dataset)
        yield from _implausible(dataset)
        yield from _counter(dataset)
    yield from _alike(dataset)
    yield from _of_references(dataset)


def _elsewhere(dataset: Dataset, name: str) -> bool:
    """Whether an algorithm's scores were not played here, and no collection of the catalogue has them."""
    return name not in dataset.scores.played and name not in dataset.scores.qualified


def _shown(dataset: Dataset, task: str, score: float, name: str) -> str:
    return f"{dataset.benchmark.title(task)} {wording.score(score)} of {name}"


def _impossible(dataset: Dataset) -> Iterator[Notice]:
    """Warn of scores outside of what a game can score, of runs too, and of other games with the same in their place."""
    told = []
    for name in dataset.algorithms:
        played, rules = dataset.scores.played.get(name), dataset.play(name).protocol
        if played is not None and imported.of(played.run.record) is None:
            continue
        begun = isinstance(rules, AtariProtocol) and rules.start == "human"  # there is more to lose
        wrong: dict[str, float] = {}
        for task, row in dataset.runs(name).items():
            lowest, highest = tasks.score_bounds(task)
            bounds = (-np.inf if lowest is None or begun else lowest, np.inf if highest is None else highest)
            outside = row[(row < bounds[0]) | (row > bounds[1])]
            if outside.size:
                wrong[task] = float(outside[0])
                runs = f" in {outside.size} of {row.size} runs" if row.size > 1 else ""
                high = outside[0] > bounds[1]
                bound = f"at {'most' if high else 'least'} {wording.reference(highest if high else lowest)}"
                told.append(f"{_shown(dataset, task, outside[0], name)}{runs} ({bound})")
        everywhere = Counter(float(row[0]) for row in dataset.runs(name).values() if (row == row[0]).all())
        for score in dict.fromkeys(wrong.values()):
            same = [task for task, row in dataset.runs(name).items() if task not in wrong and (row == score).all()]
            if same and score < 0 and everywhere[score] >= REPEATED:
                games = wording.shortened(map(dataset.benchmark.title, same))
                told.append(f"so {wording.score(score)} of {name} on {games} is hardly a score either")
    if told:
        yield notice("impossible", scores=told)


@cache
def _large() -> frozenset[str]:
    """Return the games whose scores are large numbers."""
    return frozenset(task for task, score in references.scores("random").items() if score >= HIGH_RANDOM)


def _scale(dataset: Dataset) -> Iterator[Notice]:
    """Warn of algorithms whose scores are in other units than points."""
    random, human = references.scores("random"), references.scores("human")
    small, clipped = [], []
    for name in filter(lambda name: _elsewhere(dataset, name), dataset.algorithms):
        known = {task: score for task, score in dataset.means(name).items() if task in human}
        large = [task for task in known if task in _large()]
        below = [task for task in large if known[task] < SMALL * random[task]]
        if len(large) >= FEWEST_HIGH and 2 * len(below) >= len(large):
            told = _shown(dataset, below[0], known[below[0]], name)
            small.append(f"{told} (random play {wording.score(random[below[0]])})")
            continue
        way = {task: (score - random[task]) / (human[task] - random[task]) for task, score in known.items()}
        low = [task for task in large if way[task] < 0.1]
        single = [way[task] for task in SINGLE_POINTS if task in known]
        if len(large) < FEWEST_CLIPPED or len(single) < FEWEST_SINGLE:
            continue
        if len(low) >= CLIPPED * len(large) and np.median(single) >= 0.5:
            clipped.append(_shown(dataset, low[0], known[low[0]], name))
    yield from _units(small, "are far below random play, as normalised scores or such in thousands are")
    yield from _units(
        clipped, "are near random play but where points are paid one by one, as sums of clipped rewards are"
    )


def _mixed(dataset: Dataset) -> Iterator[Notice]:
    """Warn of runs whose scores are far below the others' of their algorithm, game by game."""
    told = []
    for place, name in enumerate(dataset.algorithms):
        if not _elsewhere(dataset, name):
            continue
        rows = dataset.scores.table.scores[place, [task in _large() for task in dataset.tasks]]
        games = [task for task in dataset.tasks if task in _large()]
        for run in range(rows.shape[1]):
            others = np.delete(rows, run, axis=1)
            there = ~np.isnan(rows[:, run]) & ~np.isnan(others).all(axis=1)
            if there.sum() < FEWEST_HIGH:
                continue
            low = np.flatnonzero(there)[rows[there, run] < APART * np.nanmedian(others[there], axis=1)]
            if 2 * low.size >= there.sum():
                told.append(f"{_shown(dataset, games[low[0]], rows[low[0], run], name)} in its run {run + 1}")
    yield from _units(told, "are far below those of the same algorithm's other runs, as clipped or normalised ones are")


def _units(told: Sequence[str], how: str) -> Iterator[Notice]:
    if told:
        yield notice("scale", scores=told, how=how)


def _implausible(dataset: Dataset) -> Iterator[Notice]:
    """Warn of scores above both the human world record and every published score: more often slips than feats."""
    records = dataset.benchmark.references.get("human_world_record", {})
    told = []
    for name in dataset.algorithms:
        for task, score in dataset.means(name).items() if name not in dataset.scores.qualified else ():
            found, record = published.best(task, but=[name]), records.get(task)
            if found and record is not None and score > max(found.score, record):
                told.append(f"{_shown(dataset, task, score, name)} (record {wording.score(record)})")
    if told:
        yield notice("implausible", scores=told)


def _counter(dataset: Dataset) -> Iterator[Notice]:
    """Warn of scores above what a game's counter can show, and give both units where older emulators had another."""
    human = dataset.benchmark.references.get("human", {})
    told, scaled = [], []
    for name in dataset.algorithms:
        for task, score in dataset.means(name).items():
            end, factor = anomalies.highest(task), anomalies.factor(task)
            shown = _shown(dataset, task, score, name)
            if end is not None and score > end:
                told.append(f"{shown} (at most {wording.score(end)})")
            if _elsewhere(dataset, name) and factor and score > human.get(task, score):
                scaled.append(f"{shown} would be {wording.score(score / factor)}")
    if scaled:
        yield notice("units", scores=scaled)
    if told:
        yield notice("counter", scores=told, emulator=anomalies.CHECKED)


def _alike(dataset: Dataset) -> Iterator[Notice]:
    """Warn of names that differ by capitals, spaces and punctuation alone."""
    spellings: defaultdict[str, list[str]] = defaultdict(list)
    for name in dataset.algorithms:
        spellings["".join(char for char in name.casefold() if char.isalnum()) or name].append(name)
    told = [wording.listing(names) for names in spellings.values() if len(names) > 1]
    if told:
        yield notice("names_alike", names=told)


def _of_references(dataset: Dataset) -> Iterator[Notice]:
    """Warn of reference players among algorithms."""
    named = [name for name in dataset.algorithms if _elsewhere(dataset, name) and name.casefold() in REFERENCES]
    if named:
        yield notice("reference_named", names=named)
