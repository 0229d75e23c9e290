"""Errors of estimates of the median, and coverage of their intervals, on algorithms that nothing was learnt from.

This is ``python bench/estimates.py --unseen``. Files have the columns algorithm, game, score and source.

The error is |estimate / truth - 1|, the log error |ln((estimate + 1) / (truth + 1))|, both in percent. The truth is the
median over at least 55 of the 57 games, none of them left out for being hard. An agent so weak that errors are unknown
has no estimate and no error, but its interval counts. Algorithms of a source are alike, so standard errors are the
jackknife's over sources.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import inf, log
from pathlib import Path
from statistics import fmean

import numpy as np

from arcademark.analysis import published
from arcademark.analysis.subsets import models, predictors
from arcademark.catalogue import collections
from arcademark.metrics.normalise import hns
from arcademark.suite import references
from arcademark.suite.subsets import LEVEL, subset
from arcademark.suite.tasks import suite

DATA = Path(__file__).parents[1] / "paper" / "data" / "unseen.csv"
GAMES = suite("atari-57").tasks
NAMED = ("atari-1", "atari-3", "atari-5", "atari-10", "atari-14")
WEAK, SEED = 20.0, 7
TRAINING_FRAMES = 200_000_000


@dataclass(frozen=True)
class Unseen:
    """An algorithm with its scores by game.

    ``reason`` is why it has no true median; "" if it has one.
    """

    name: str
    source: str
    scores: Mapping[str, float]

    @cached_property
    def percent(self) -> Mapping[str, float]:
        """Its human-normalised scores, in percent."""
        low, high = references.scores("random"), references.scores("human")
        return dict(zip(self.scores, hns([*self.scores.values()], low, high, [*self.scores]).tolist(), strict=True))

    @property
    def reason(self) -> str:
        """Reason why it has no true median; "" if it has one."""
        return published.why_untrue(self.scores)

    @cached_property
    def truth(self) -> float:
        """The median of its scores, in percent."""
        return float(np.median([*self.percent.values()]))


@dataclass(frozen=True)
class Estimate:
    """Estimate of an algorithm's median, in percent; `value` is None if there is only an interval."""

    source: str
    truth: float
    value: float | None
    low: float
    high: float

    @property
    def error(self) -> float:
        """Relative error of the estimate, as a fraction of the truth."""
        return abs(self._value / self.truth - 1)

    @property
    def log_error(self) -> float:
        """Absolute difference of the logarithms of estimate + 1 and truth + 1."""
        return abs(log((self._value + 1) / (self.truth + 1)))

    @property
    def factor(self) -> float:
        """Ratio of the larger to the smaller of estimate and truth."""
        return max(self._value / self.truth, self.truth / self._value)

    @property
    def covered(self) -> bool:
        """True if the interval contains the truth."""
        return self.low <= self.truth <= self.high

    @property
    def _value(self) -> float:
        if self.value is None:
            raise ValueError("there is no estimate")
        return self.value


Measure = Callable[[Sequence[Estimate]], float]


def read(paths: Sequence[Path] = ()) -> tuple[Unseen, ...]:
    """Read algorithms from files, by default the project's; of several with the same scores, keep the first."""
    every: list[Unseen] = []
    for path in paths or (DATA,):
        found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                found[row["algorithm"], row["source"]][row["game"]] = float(row["score"])
        for (name, source), scores in found.items():
            played = {game: scores[game] for game in GAMES if game in scores}
            if all(played != other.scores for other in every):
                every.append(Unseen(name, source, played))
    return tuple(every)


def catalogue(*, weak: bool = False) -> tuple[Unseen, ...]:
    """Return the algorithms that estimates are learnt from, with papers as sources; also weak ones if `weak`."""
    entries = published.training()
    table = collections.table(entries).select(tasks=GAMES)
    found = [
        Unseen(name, entries[name].origin.key, predictors.known(table, place))
        for place, name in enumerate(table.algorithms)
    ]
    for entry, row in zip(*published.weak(), strict=True) if weak else ():
        scores = {game: float(score) for game, score in zip(GAMES, row, strict=True) if np.isfinite(score)}
        found.append(Unseen(entry.algorithm, entry.origin.key, scores))
    return tuple(found)


def weak_lines() -> Iterator[str]:
    """Yield a table of the errors of our and the published models' estimates for weak algorithms, without their paper.

    Algorithms have all games of a model and an estimate by ours; they are weak by the true median or by our estimate.
    """
    every = catalogue(weak=True)
    heads = (f"n (papers) {what} below {WEAK:.0f} % | ours | published" for what in ("true", "ours"))
    yield f"| from | {' | '.join(heads)} |"
    yield "|---" * 7 + "|"
    for name in (one for one in NAMED if subset(one).coefficients):
        some = [one for one in every if one.scores.keys() >= {*subset(name).tasks}]
        both = zip(by_ours(subset(name).tasks, some), by_published(name, some), strict=True)
        pairs = [pair for pair in both if pair[0].value is not None]
        by_truth, by_ours_ = ([pair for pair in pairs if getattr(pair[0], of) < WEAK] for of in ("truth", "value"))
        cells = []
        for kept in (by_truth, by_ours_):
            ours, theirs = zip(*kept, strict=True)
            papers = len({one.source for one in ours})
            cells += [f"{len(kept)} ({papers})", f"{100 * error(ours):.1f} %", f"{100 * error(theirs):.1f} %"]
        yield f"| {' | '.join([name, *cells])} |"


def by_ours(games: Sequence[str], every: Sequence[Unseen]) -> list[Estimate]:
    """Estimate algorithms from their scores on these games; nothing is learnt from their own source."""
    predictor = predictors.atari()
    alike: dict[tuple[tuple[str, ...], str | None], list[int]] = defaultdict(list)
    for place, one in enumerate(every):
        known = tuple(game for game in games if game in one.scores)
        if known:
            alike[known, predictor.group("", one.source)].append(place)
    estimates = {}
    for (known, group), some in alike.items():
        scores = [{game: every[place].scores[game] for game in known} for place in some]
        medians, _ = predictor.medians(scores, LEVEL, group)
        for place, median in zip(some, medians, strict=True):
            estimates[place] = _estimate(every[place], median.value, median.low, median.high)
    return [estimates[place] for place in sorted(estimates)]


def by_published(name: str, every: Sequence[Unseen]) -> list[Estimate]:
    """Estimate, by a published model, the algorithms that have all of its games."""
    model, estimates = models.model(name), []
    for one in every:
        if one.scores.keys() >= {*model.tasks}:
            cap = model.max_frames_per_episode
            found = model.estimate(one.percent, max_frames_per_episode=cap, level=LEVEL)
            estimates.append(_estimate(one, found.value, found.low, found.high))
    return estimates


def _estimate(one: Unseen, value: float | None, low: float | None, high: float | None) -> Estimate:
    return Estimate(one.source, one.truth, value, low or 0.0, inf if high is None else high)


def error(estimates: Sequence[Estimate]) -> float:
    """Return the mean error of those that have an estimate."""
    return fmean(one.error for one in estimates if one.value is not None)


def log_error(estimates: Sequence[Estimate]) -> float:
    """Return the mean log error of those that have an estimate."""
    return fmean(one.log_error for one in estimates if one.value is not None)


def share(estimates: Sequence[Estimate]) -> float:
    """Return the share of medians that are covered."""
    return fmean(one.covered for one in estimates)


def over_sources(estimates: Sequence[Estimate], measure: Measure) -> float:
    """Return the mean of a measure over sources with equal weights, without algorithms that have no estimate."""
    by_source: dict[str, list[Estimate]] = defaultdict(list)
    for one in estimates:
        if measure is share or one.value is not None:
            by_source[one.source].append(one)
    return fmean(map(measure, by_source.values()))


def jackknife(estimates: Sequence[Estimate], measure: Measure) -> float:
    """Return the standard error of a measure, by leaving out each source; NaN if there are too few."""
    sources = dict.fromkeys(one.source for one in estimates)
    parts = [[one for one in estimates if one.source != source] for source in sources]
    if len(sources) < 2 or not all(any(one.value is not None for one in part) for part in parts):
        return float("nan")
    without = np.array([measure(part) for part in parts])
    return float(np.sqrt((len(sources) - 1) / len(sources) * np.sum((without - without.mean()) ** 2)))


@cache
def at_random(size: int, sets: int) -> tuple[tuple[str, ...], ...]:
    """Draw `sets` sets of `size` games."""
    rng = np.random.default_rng([SEED, size])
    return tuple(tuple(rng.choice(GAMES, size, replace=False).tolist()) for _ in range(sets))


def estimated(every: Sequence[Unseen], sets: int = 0) -> Iterator[tuple[int, str, list[Estimate]]]:
    """Yield estimates from each named set by our and the published model, and from `sets` random sets of its size."""
    for name in NAMED:
        games = subset(name).tasks
        yield len(games), f"`{name}`", by_ours(games, every)
        if subset(name).coefficients:
            yield len(games), f"`{name}`, published model", by_published(name, every)
        if sets:
            drawn = at_random(len(games), sets)
            yield len(games), f"{sets} random sets", [one for chosen in drawn for one in by_ours(chosen, every)]


def lines(every: Sequence[Unseen], sets: int = 0, *, everything: bool = True) -> Iterator[str]:
    """Yield a table with one row per set of games and model; with all columns, or those of the documentation."""
    rows = [
        {"games": str(games), "from": name} | _cells(estimates, games)
        for games, name, estimates in estimated(every, sets)
    ]
    names = [name for name in rows[0] if everything or not name.startswith(("log error", "weak"))]
    yield f"| {' | '.join(names)} |"
    yield "|---" * len(names) + "|"
    for row in rows:
        yield f"| {' | '.join(row[name] for name in names)} |"


def _cells(estimates: Sequence[Estimate], games: int) -> dict[str, str]:
    weak, others = ([one for one in estimates if (one.truth < WEAK) is side] for side in (True, False))
    given = [one.factor for one in estimates if one.value is not None]
    return {
        "error": shown(estimates, error),
        "by source": shown(estimates, lambda some: over_sources(some, error)),
        f"medians from {WEAK:.0f} %": shown(others, error),
        f"weak: below {WEAK:.0f} %": f"{shown(weak, error)}, {covered(weak)} covered",
        "log error": shown(estimates, log_error),
        "log error by source": shown(estimates, lambda some: over_sources(some, log_error)),
        "nine of ten within": f"×{np.quantile(given, 0.9):.2f}",
        "no estimate": str(len(estimates) - len(given)),
        "intervals covered": covered(estimates),
        "covered by source": shown(estimates, lambda some: over_sources(some, share), 0),
        "training frames": f"{games * TRAINING_FRAMES / 1e9:.1f} billion",
    }


def shown(estimates: Sequence[Estimate], measure: Measure, digits: int = 1) -> str:
    """Return a measure with its standard error, in percent, as text; "–" if no algorithm has an estimate."""
    if not any(one.value is not None for one in estimates):
        return "–"
    spread = jackknife(estimates, measure)
    reach = f" ± {100 * spread:.{digits}f}" if np.isfinite(spread) else ""
    return f"{100 * measure(estimates):.{digits}f}{reach} %"


def covered(estimates: Sequence[Estimate]) -> str:
    """Return the number of true medians that intervals cover, as text."""
    return f"{sum(one.covered for one in estimates)} of {len(estimates)}"


def by_source(every: Sequence[Unseen]) -> Iterator[str]:
    """Yield a table with one row per source: mean errors, and the number of true medians that intervals cover."""
    estimates = {name: some for _, name, some in estimated(every)}
    yield f"| source | {' | '.join(estimates)} |"
    yield "|---" * (1 + len(estimates)) + "|"
    for source in Counter(one.source for one in every):
        these = [[one for one in some if one.source == source] for some in estimates.values()]
        yield f"| {source} | {' | '.join(f'{shown(some, error)}, {covered(some)}' for some in these)} |"


def tables(paths: Sequence[Path], sets: int) -> Iterator[str]:
    """Yield the tables of all sources together and one by one, and the algorithms without a true median."""
    every = read(paths)
    whole = [one for one in every if not one.reason]
    yield from (f"{len(whole)} algorithms of {len({one.source for one in whole})} sources", "")
    yield from (*lines(whole, sets), "", *by_source(whole), "")
    yield from (f"{one.name} of {one.source} has no truth: {one.reason}" for one in every if one.reason)
