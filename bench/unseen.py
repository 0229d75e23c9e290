"""How far estimates of the median are off on algorithms that nothing was learnt from, and how many intervals cover it.

::

    python bench/unseen.py                                # the algorithms of paper/data/unseen.csv
    python bench/unseen.py scores.csv                     # others: the columns algorithm, game, score and source
    python bench/unseen.py --random 20                    # beside each set 20 drawn at random, of as many games
    python bench/unseen.py --random 20 --write docs/estimates.md

The error is |estimate / truth - 1|, in percent. The truth is the median over 55 games or more of the 57, none left out
for being hard. Algorithms of a source are alike, so standard errors are the jackknife's over sources.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import fmean

import numpy as np

from arcademark.metrics.normalise import hns
from arcademark.reports import published
from arcademark.reports.subsets import models, predictors
from arcademark.suite import references
from arcademark.suite.subsets import LEVEL, subset
from arcademark.suite.tasks import suite
from estimates import put

DATA = Path(__file__).parents[1] / "paper" / "data" / "unseen.csv"
GAMES = suite("atari-57").tasks
NAMED = ("atari-1", "atari-3", "atari-5", "atari-10", "atari-14")
MIN_GAMES, MIN_MEDIAN, SEED = 55, 20.0, 7
BEGIN = "<!-- bench/unseen.py -->"
TRAINING_FRAMES = 200_000_000


@dataclass(frozen=True)
class Unseen:
    """An algorithm with its scores by game, and its true median; None where ``reason`` says why it has none."""

    name: str
    source: str
    scores: Mapping[str, float]
    truth: float | None
    reason: str = ""

    @property
    def percent(self) -> Mapping[str, float]:
        """Its scores between random play and a human."""
        low, high = references.scores("random"), references.scores("human")
        return dict(zip(self.scores, hns([*self.scores.values()], low, high, [*self.scores]).tolist(), strict=True))


@dataclass(frozen=True)
class Told:
    """What was estimated of an algorithm, in percent."""

    unseen: Unseen
    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """By what share of the truth the estimate is off."""
        return abs(self.value / (self.unseen.truth or 0) - 1)

    @property
    def covered(self) -> bool:
        """Whether the interval has the truth."""
        return self.low <= (self.unseen.truth or 0) <= self.high


def read(path: Path = DATA) -> tuple[Unseen, ...]:
    """Read algorithms with their sources: a row a score, with the columns algorithm, game, score and source."""
    every: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            every[row["algorithm"], row["source"]][row["game"]] = float(row["score"])
    return tuple(_unseen(*names, scores) for names, scores in every.items())


def _unseen(name: str, source: str, scores: Mapping[str, float]) -> Unseen:
    without = [game for game in GAMES if game not in scores]
    hard = [game for game in without if game in published.hard_games()]
    found = Unseen(name, source, scores, None, f"without {', '.join(hard or without)}")
    if hard or len(GAMES) - len(without) < MIN_GAMES:
        return found
    return Unseen(name, source, scores, float(np.median([*found.percent.values()])))


def by_ours(games: Sequence[str], every: Sequence[Unseen]) -> list[Told]:
    """Estimate algorithms from these games, of each those that it has."""
    alike: dict[tuple[str, ...], list[Unseen]] = defaultdict(list)
    for one in every:
        alike[tuple(game for game in games if game in one.scores)].append(one)
    told = {}
    for known, some in alike.items():
        medians, _ = predictors.atari().medians([{game: one.scores[game] for game in known} for one in some], LEVEL)
        for one, median in zip(some, medians, strict=True):
            told[one.name] = Told(one, median.value, median.low or 0.0, median.high or np.inf)
    return [told[one.name] for one in every]


def by_published(name: str, every: Sequence[Unseen]) -> list[Told]:
    """Estimate those algorithms that have its games by a published model."""
    model, told = models.model(name), []
    for one in every:
        if one.scores.keys() >= {*model.tasks}:
            cap = model.max_frames_per_episode
            found = model.estimate(one.percent, max_frames_per_episode=cap, level=LEVEL)
            told.append(Told(one, found.value, found.low or 0.0, found.high or np.inf))
    return told


def over_sources(told: Sequence[Told], measure: Callable[[Sequence[Told]], float]) -> tuple[float, float]:
    """Return a measure and its standard error by the jackknife over sources."""
    sources = dict.fromkeys(one.unseen.source for one in told)
    without = np.array([measure([one for one in told if one.unseen.source != source]) for source in sources])
    spread = (len(sources) - 1) / len(sources) * float(np.sum((without - without.mean()) ** 2))
    return measure(told), float(np.sqrt(spread))


def error(told: Sequence[Told]) -> float:
    """Return the mean error."""
    return fmean(one.error for one in told)


def share(told: Sequence[Told]) -> float:
    """Return the share of medians that are covered."""
    return fmean(one.covered for one in told)


def over_each(told: Sequence[Told], measure: Callable[[Sequence[Told]], float]) -> float:
    """Return the mean of a measure over sources, each of which weighs the same."""
    by_source: dict[str, list[Told]] = defaultdict(list)
    for one in told:
        by_source[one.unseen.source].append(one)
    return fmean(map(measure, by_source.values()))


@cache
def at_random(size: int, sets: int) -> tuple[tuple[str, ...], ...]:
    """Draw sets of so many games."""
    rng = np.random.default_rng([SEED, size])
    return tuple(tuple(rng.choice(GAMES, size, replace=False).tolist()) for _ in range(sets))


def lines(every: Sequence[Unseen], sets: int = 0) -> Iterator[str]:
    """Yield the table: a row a set of games and way to estimate; ``sets`` of as many games at random beside each."""
    some = [one for one in every if one.truth is not None]
    heading = (
        *("games", "from", "error", "by source", f"of {MIN_MEDIAN:.0f} % and more"),
        *("covered", "by source", "training frames"),
    )
    yield f"| {' | '.join(heading)} |"
    yield "|---" * len(heading) + "|"
    for name in NAMED:
        games = subset(name).tasks
        yield row(len(games), f"`{name}`", by_ours(games, some))
        if subset(name).coefficients:
            yield row(len(games), f"`{name}`, published model", by_published(name, some))
        if sets:
            drawn = [one for chosen in at_random(len(games), sets) for one in by_ours(chosen, some)]
            yield row(len(games), f"{sets} random sets", drawn)


def row(games: int, name: str, told: Sequence[Told]) -> str:
    """Return a row of the table."""
    strong = [one for one in told if (one.unseen.truth or 0) >= MIN_MEDIAN]
    held = sum(one.covered for one in told)
    cells = (
        *(str(games), name, plus_minus(told, error), plus_minus(told, partial(over_each, measure=error))),
        *(plus_minus(strong, error), f"{held} of {len(told)}", plus_minus(told, partial(over_each, measure=share), 0)),
        f"{games * TRAINING_FRAMES / 1e9:.1f} billion",
    )
    return f"| {' | '.join(cells)} |"


def plus_minus(told: Sequence[Told], measure: Callable[[Sequence[Told]], float], digits: int = 1) -> str:
    """Show a measure with its standard error, in percent."""
    value, spread = over_sources(told, measure)
    return f"{100 * value:.{digits}f} ± {100 * spread:.{digits}f} %"


def by_source(every: Sequence[Unseen]) -> Iterator[str]:
    """Yield a table with a row a source: mean errors, and how many medians intervals covered."""
    some = [one for one in every if one.truth is not None]
    told = {f"`{name}`": by_ours(subset(name).tasks, some) for name in NAMED}
    told |= {f"`{name}`, published": by_published(name, some) for name in NAMED if subset(name).coefficients}
    yield f"| source | n | {' | '.join(told)} |"
    yield "|---" * (2 + len(told)) + "|"
    for source, count in Counter(one.source for one in some).items():
        of = [[one for one in all_ if one.unseen.source == source] for all_ in told.values()]
        cells = (f"{100 * error(these):.1f} %, {sum(one.covered for one in these)}" for these in of)
        yield f"| {source} | {count} | {' | '.join(cells)} |"


def main() -> None:
    """Print the tables, or write the first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", type=Path, default=DATA)
    parser.add_argument("--random", type=int, default=0, metavar="N", help="sets drawn of each size")
    parser.add_argument("--write", type=Path, help="a page that has the table's marks")
    given = parser.parse_args()
    every = read(given.path)
    put(lines(every, given.random), BEGIN, given.write)
    if given.write is None:
        left_out = [f"{one.name}: no truth, {one.reason}" for one in every if one.truth is None]
        print("", *by_source(every), "", *left_out, sep="\n")


if __name__ == "__main__":
    main()
