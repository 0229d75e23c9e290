"""Checks of scores' plausibility: impossible scores, other units, scores above all known ones, reference players.

Each rule is a function of a table, with its thresholds declared here. Tests run all rules over every collection of the
catalogue as a user's table; no rule reports anything but what the catalogue itself notes of a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from arcademark import wording
from arcademark.analysis import published
from arcademark.analysis.document import Notice
from arcademark.analysis.notices import notice
from arcademark.analysis.tables import units
from arcademark.analysis.tables.dataset import Dataset
from arcademark.grouping import grouped
from arcademark.metrics.normalise import normalise
from arcademark.records import imported
from arcademark.suite import anomalies, references, tasks
from arcademark.suite.protocols import AtariProtocol

HIGH_RANDOM = 100.0
"""Random play's score, in points, from which a game counts as one of large scores: 30 of 57 games."""

FEWEST_HIGH = 3
"""Least number of such games needed to recognise units."""

SINGLE_POINTS = (
    *("boxing", "double_dunk", "enduro", "freeway", "ice_hockey", "pong", "robotank", "surround", "tennis"),
)
"""Games whose rewards are single points, so that clipping rewards to their signs changes no score."""

FEWEST_CLIPPED, FEWEST_SINGLE = 4, 2
CLIPPED = 0.85
"""Share of the games of large scores on which a clipped score has an HNS below 10 %; on games of single points, which
clipping does not change, the median HNS is at least 50 %. The catalogue's largest shares are 0.81, of the best constant
actions, and 0.64."""

OTHER_UNIT_SHARE = 0.1
"""Share of the other runs' median: a run in other units is below it on half of its games of large scores.
In the catalogue at most one run in seven games."""

REPEATED = 3
"""Number of games with the same negative score from which it means a missing score, if one of them cannot have it."""

REFERENCES = frozenset({"random", "human", "average human", "human world record", "world record", "record"})
"""Names of reference players, in lower case."""

QUANTITIES = frozenset(
    {
        *("score", "scores", "return", "returns", "reward", "rewards", "episode_return", "episodic_return"),
        *("episode_reward", "episode_rewards", "episode", "episode_length", "length", "frames", "frame", "step"),
        *("steps", "global_step", "timesteps", "iteration", "time", "wall_time", "date", "mean", "median", "average"),
        *("avg", "std", "sd", "stderr", "error", "min", "max", "total", "sum", "hns", "hwrns"),
    }
)
"""Names of columns that are quantities and not algorithms, in lower case."""

NORMALISED = "are plausible as {}, not as points, judged by every published score of their games"
SUMS_OF_SIGNS = "are near random play but where points are paid one by one, as sums of clipped rewards are"
OTHER_UNITS = "are far below those of the same algorithm's other runs, as clipped or normalised ones are"
"""Phrases for scores in other units than points."""

OF_DATA = frozenset({"impossible", "scale", "names_alike"})
"""Kinds of findings that are probably errors for any use of a table."""


Finding = tuple[tuple[str, str], str]
"""Kind and common phrase of a notice, and the text of one finding."""


def warnings(dataset: Dataset) -> Iterator[Notice]:
    """Yield notices on implausible scores and names of a table."""
    of_atari = (_impossible, _scale, _mixed, _implausible, _counter) if dataset.benchmark.atari else ()
    findings = (finding for rule in (*of_atari, _alike, _named_otherwise) for finding in rule(dataset))
    for (kind, how), items in grouped(findings).items():
        yield notice(kind, items=list(dict.fromkeys(items)), how=how)


def _text(dataset: Dataset, task: str, score: float, name: str) -> str:
    return f"{dataset.benchmark.title(task)} {wording.score(score)} of {name}"


def _impossible(dataset: Dataset) -> Iterator[Finding]:
    """Yield scores, also of single runs, that a game cannot have, and games with the same score as a placeholder."""
    kind = ("impossible", "")
    for name in dataset.algorithms:
        played, rules = dataset.scores.get(name).played, dataset.play(name).protocol
        if played is not None and imported.origin(played.run.record) is None:
            continue
        begun = isinstance(rules, AtariProtocol) and rules.start == "human"  # scores can be lower than from the start
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
                yield kind, f"{_text(dataset, task, outside[0], name)}{runs} ({bound})"
        everywhere = Counter(float(row[0]) for row in dataset.runs(name).values() if (row == row[0]).all())
        for score in dict.fromkeys(wrong.values()):
            same = [task for task, row in dataset.runs(name).items() if task not in wrong and (row == score).all()]
            if same and score < 0 and everywhere[score] >= REPEATED:
                games = wording.shortened(map(dataset.benchmark.title, same))
                yield kind, f"so {wording.score(score)} of {name} on {games} is probably not a score either"


@cache
def _large() -> frozenset[str]:
    """Return the games with large scores."""
    return frozenset(task for task, score in references.scores("random").items() if score >= HIGH_RANDOM)


def _scale(dataset: Dataset) -> Iterator[Finding]:
    """Yield algorithms whose scores are in other units than points."""
    random, human = references.scores("random"), references.scores("human")
    means = dataset.scores.table.mean_over_runs()
    found = units.detect(dataset.tasks, means)
    of_single = units.detect(dataset.tasks, np.where(np.isin(dataset.tasks, SINGLE_POINTS), means, np.nan))
    for place, name in enumerate(dataset.algorithms):
        if not dataset.elsewhere(name):
            continue
        known = {task: score for task, score in dataset.means(name).items() if task in human}
        way = dict(zip(known, normalise(list(known.values()), random, human, list(known)).tolist(), strict=True))
        large = [task for task in known if task in _large()]
        low = [task for task in large if way[task] < 0.1]
        single = [way[task] for task in SINGLE_POINTS if task in known]
        counted = len(large) >= FEWEST_CLIPPED and len(single) >= FEWEST_SINGLE
        if counted and len(low) >= CLIPPED * len(large) and np.median(single) >= 0.5 and place not in of_single:
            yield ("scale", SUMS_OF_SIGNS), _text(dataset, low[0], known[low[0]], name)
        elif place in found:
            unit, task = found[place]
            bounds = f"random play {wording.score(random[task])}, humans {wording.score(human[task])}"
            yield ("scale", NORMALISED.format(unit)), f"{_text(dataset, task, known[task], name)} ({bounds})"


def _mixed(dataset: Dataset) -> Iterator[Finding]:
    """Yield runs whose scores are far below the others' of their algorithm, game by game."""
    for place, name in enumerate(dataset.algorithms):
        if not dataset.elsewhere(name):
            continue
        rows = dataset.scores.table.scores[place, [task in _large() for task in dataset.tasks]]
        games = [task for task in dataset.tasks if task in _large()]
        others = _medians_of_others(rows)
        known = ~np.isnan(others)
        low = np.where(known, rows, np.inf) < OTHER_UNIT_SHARE * np.where(known, others, 0.0)
        number = known.sum(axis=0)
        for run in np.flatnonzero((number >= FEWEST_HIGH) & (2 * low.sum(axis=0) >= number)).tolist():
            game = int(low[:, run].argmax())
            yield ("scale", OTHER_UNITS), f"{_text(dataset, games[game], rows[game, run], name)} in its run {run + 1}"


def _medians_of_others(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each score of a row the median of its other scores; NaN where it or all others are missing."""
    result = np.full(rows.shape, np.nan)
    for row, medians in zip(rows, result, strict=True):
        known = np.flatnonzero(~np.isnan(row))
        order = known[np.argsort(row[known], kind="stable")]
        values, rank, left = row[order], np.arange(order.size), order.size - 1
        if left > 0:
            middle = [values[at + (rank <= at)] for at in ((left - 1) // 2, left // 2)]
            medians[order] = (middle[0] + middle[1]) / 2
    return result


def _implausible(dataset: Dataset) -> Iterator[Finding]:
    """Yield scores above the human world record and all published scores, which are mostly errors."""
    records = references.scores("human_world_record")
    for name in dataset.algorithms:
        for task, score in dataset.means(name).items() if not dataset.scores.get(name).qualified else ():
            record = records.get(task)
            best = published.best(task, but=[name]) if record is not None and score > record else None
            if record is None or (score > record and not best):
                yield ("unchecked", ""), dataset.benchmark.title(task)
            elif best and score > best.score:
                yield ("implausible", ""), f"{_text(dataset, task, score, name)} (record {wording.score(record)})"


def _counter(dataset: Dataset) -> Iterator[Finding]:
    """Yield scores above the maximum of a game's counter, and scores that may be in an older emulator's unit."""
    human = dataset.benchmark.references.get("human", {})
    for name in dataset.algorithms:
        for task, score in dataset.means(name).items():
            end, factor = anomalies.highest(task), anomalies.factor(task)
            text = _text(dataset, task, score, name)
            if end is not None and score > end:
                yield ("counter", anomalies.CHECKED), f"{text} (at most {wording.score(end)})"
            if dataset.elsewhere(name) and factor and score > human.get(task, score):
                yield ("units", ""), f"{text} would be {wording.score(score / factor)}"


def _alike(dataset: Dataset) -> Iterator[Finding]:
    """Yield names that differ only by capitals, spaces and punctuation."""
    spellings = grouped(
        ("".join(char for char in name.casefold() if char.isalnum()) or name, name) for name in dataset.algorithms
    )
    for names in spellings.values():
        if len(names) > 1:
            yield ("names_alike", ""), wording.listing(names)


def _named_otherwise(dataset: Dataset) -> Iterator[Finding]:
    """Yield algorithms with the names of reference players or of quantities."""
    for name in filter(dataset.elsewhere, dataset.algorithms):
        for kind, names in (("reference_named", REFERENCES), ("quantity_named", QUANTITIES)):
            if name.casefold() in names:
                yield (kind, ""), name
