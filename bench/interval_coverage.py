"""Measure how often intervals contain the true value, by simulation; write the tables of docs/research/intervals.md.

::

    python bench/interval_coverage.py                 # prints the tables
    python bench/interval_coverage.py --write         # and writes them into their pages
    python bench/interval_coverage.py --trials 100    # faster, less precise
    python bench/interval_coverage.py --others        # other tables: differences of two, and capped scores
    python bench/interval_coverage.py --episodes      # other tables: one task's mean from seeds and episodes

A population is a set of tasks, each with a true mean and a distribution of runs about it. True means are the
human-normalised scores, in percent, of a random algorithm of the catalogue's Atari-5 training table that has all games,
on random games. No source describes the distribution of runs, so three are assumed, and the tables show the range over
them:

* "normal": runs are normal about the mean, with a relative spread (standard deviation over mean) that differs by task,
  log-normal with median 0.2 and log-spread 0.7: between 0.1 and 0.4 on two thirds of the tasks. It is at most 0.5,
  since otherwise a run would often be far below random play.
* "skewed": such spreads without the limit, and runs log-normal.
* "breakthrough": as skewed, but on a tenth of the tasks a run either breaks through, with a probability between 0.2
  and 0.8, or scores nothing.

For each population and number of runs, runs are drawn, intervals made, and those counted that contain the statistic's
true value: for the mean and median, over true means; for the interquartile mean, the optimality gap and the
probability of improvement, over 10,000 runs per task. For the last, the better algorithm's true means are 1.1 times as
high. Differences are to this better algorithm. Capped scores are clipped to 0 to 100 percent as capped HNS in reports:
for mean and median the means over runs, for IQM and optimality gap each run.

From episodes: a seed's true mean is normal about the task's, and its episodes are log-normal about that, with a
log-spread of 0.5. The table's columns differ in the seeds' standard deviation, as a share of the episodes'. Another
table is for untrained agents, whose episodes all have the same distribution, one of four kinds.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from arcademark.analysis import measures
from arcademark.analysis.uncertainty import sum_up
from arcademark.catalogue.collections import load
from arcademark.metrics import aggregate, compare, normalise
from arcademark.metrics.uncertainty import bootstrap, samples
from arcademark.metrics.uncertainty.coverage import LEVEL, RUNS, TASKS, span
from arcademark.metrics.uncertainty.coverage import shares as written_shares
from arcademark.metrics.uncertainty.intervals import (
    FEWEST,
    METHODS,
    Strata,
    interval,
    limits,
    score_intervals,
)
from arcademark.suite import references, tasks

Floats = NDArray[np.float64]

STATISTICS = (*aggregate.AGGREGATES, "probability_of_improvement")
OTHERS = tuple(
    f"{prefix} {name}"
    for prefix in ("difference of", "capped", "difference of capped")
    for name in aggregate.AGGREGATES
)
KINDS = ("normal", "skewed", "breakthrough")
SPREAD, SPREAD_LOG, NORMAL_SPREAD = 0.2, 0.7, 0.5
TARGET = 100.0
POPULATIONS = 50
TRUE_RUNS = 10_000
RESAMPLES = 1000
ADVANTAGE = 1.1

SEEDS, EPISODES, APART = (1, 2, 3, 5, 10), (10, 100), (0.0, 0.3, 1.0)
EPISODE_METHODS = ("symmetric", "student", "pooled")
EPISODE_SPREAD_LOG = 0.5
EPISODE_RESAMPLES = 500

POOLED = (3, 5, 10, 20, 50, 100, 500)
EPISODE_KINDS: Mapping[str, Callable[[tuple[int, int], np.random.Generator], Floats]] = MappingProxyType(
    {
        "log-normal, log-spread 0.5": lambda size, rng: rng.lognormal(-(0.5**2) / 2, 0.5, size),
        "log-normal, log-spread 1": lambda size, rng: rng.lognormal(-1 / 2, 1.0, size),
        "scores in 1 episode of 2": lambda size, rng: 2.0 * rng.binomial(1, 0.5, size).astype(np.float64),
        "scores in 1 episode of 10": lambda size, rng: 10.0 * rng.binomial(1, 0.1, size).astype(np.float64),
    }
)
"""Distributions of an agent's episodes, all of mean 1: functions of an array's shape and a generator."""

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/research/intervals.md"


@dataclass(frozen=True)
class Population:
    """Tasks with their true means and the distributions of runs about them."""

    means: Floats
    spreads: Floats
    chances: Floats
    normal: bool

    def runs(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw runs, shape (tasks, count)."""
        noise = rng.standard_normal((self.means.size, count))
        log_spread = np.sqrt(np.log1p(self.spreads**2))[:, np.newaxis]
        about = 1 + self.spreads[:, np.newaxis] * noise
        factor = about if self.normal else np.exp(log_spread * noise - log_spread**2 / 2)
        through = rng.random(noise.shape) < self.chances[:, np.newaxis]
        return np.asarray(self.means[:, np.newaxis] * factor * through / self.chances[:, np.newaxis])

    def better(self) -> Population:
        """Return the opponent for the probability of improvement."""
        return Population(self.means * ADVANTAGE, self.spreads, self.chances, self.normal)

    def truth(self, rng: np.random.Generator) -> Floats:
        """Return the true value of each of the `STATISTICS`."""
        runs, opponent = self.runs(TRUE_RUNS, rng), self.better().runs(TRUE_RUNS, rng)
        better = compare.probability_of_improvement(opponent, runs)
        return np.append(aggregate.aggregates(self.means, runs), better)

    def truth_of_others(self, rng: np.random.Generator) -> Floats:
        """Return the true value of each of the `OTHERS`."""
        true = []
        for who in (self, self.better()):
            runs = who.runs(TRUE_RUNS, rng)
            capped = aggregate.aggregates(np.clip(who.means, 0.0, TARGET), np.clip(runs, 0.0, TARGET))
            true.append([*aggregate.aggregates(who.means, runs), *capped])
        mine, theirs = np.array(true, np.float64)
        apart = np.split(theirs - mine, 2)
        return np.concatenate([apart[0], mine[len(aggregate.AGGREGATES) :], apart[1]])


def true_means() -> Floats:
    """Return human-normalised scores in percent of algorithms with all games, shape (algorithms, games)."""
    games = tasks.suite("atari-57").tasks
    table = load("atari-5-training").select(tasks=games)
    scores = table.mean_over_runs()
    whole = scores[~np.isnan(scores).any(axis=1)]
    return normalise.hns(whole, references.scores("random"), references.scores("human"), games)


def population(kind: str, size: int, means: Floats, rng: np.random.Generator) -> Population:
    """Draw a population of ``size`` tasks."""
    chances = np.ones(size)
    spreads = SPREAD * np.exp(SPREAD_LOG * rng.standard_normal(size))
    if kind == "normal":
        spreads = np.minimum(spreads, NORMAL_SPREAD)
    if kind == "breakthrough":
        rare = rng.permutation(size)[: max(1, round(size / 10))]
        chances[rare] = rng.uniform(0.2, 0.8, rare.size)
    chosen = rng.choice(means[rng.integers(len(means))], size, replace=False)
    return Population(chosen, spreads, chances, kind == "normal")


def plain(scores: Floats, bounds: tuple[float, float] | None = None) -> measures.Measure:
    """Return the measure of scores in percent, unchanged or clipped to bounds."""
    names = by_task(scores)
    return measures.Measure(
        normalise.Metric("plain", "", "", bounds=bounds), dict.fromkeys(names, 0.0), dict.fromkeys(names, TARGET)
    )


def by_task(scores: Floats) -> dict[str, Floats]:
    """Return scores (tasks, runs) by task, named by its index."""
    return {str(task): runs for task, runs in enumerate(scores)}


def held(people: Population, truth: Floats, runs: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw runs; return True for intervals that contain the truth, shape (methods, statistics)."""
    scores, opponent = people.runs(runs, rng), people.better().runs(runs, rng)
    x, y = map(samples.sample_of, (opponent, scores))
    _, values, strata = sum_up([plain(scores)], by_task(scores))
    draws = bootstrap.resampled_aggregates(y, rng, RESAMPLES)
    won = bootstrap.resampled_improvement(x, y, rng, RESAMPLES)
    probability, against = samples.improvement(x, y)
    hits = []
    for method in METHODS:
        ends = limits(values[0], draws, Strata(strata.variances[0], strata.runs), method=method, level=LEVEL)[:2]
        last = limits(probability, won, against, method=method, level=LEVEL)[:2]
        low, high = (np.append(a, b) for a, b in zip(ends, last, strict=True))
        hits.append((low <= truth) & (truth <= high))
    return np.array(hits)


def held_others(people: Population, truth: Floats, runs: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Do the same as `held` for the `OTHERS`."""
    sides = [each.runs(runs, rng) for each in (people.better(), people)]
    measure = plain(sides[0], (0.0, TARGET))

    values, draws, strata = [], [], []
    for scores in sides:
        line, both, shares = sum_up([measure, plain(scores)], by_task(scores))
        values.append([both[1], both[0]])
        drawn = bootstrap.resampled_aggregates(samples.sample_of(scores), rng, RESAMPLES)
        free = samples.sample_of(line[0])
        capped = bootstrap.resampled_aggregates(free, rng, RESAMPLES, measure.metric.bounds)
        draws.append([drawn, capped[len(drawn) :]])
        strata.append([Strata(shares.variances[place], shares.runs) for place in (1, 0)])
    apart = [
        (values[0][i] - values[1][i], draws[0][i] - draws[1][i], samples.together(strata[0][i], strata[1][i]))
        for i in (0, 1)
    ]
    found = (apart[0], (values[1][1], draws[1][1], strata[1][1]), apart[1])
    hits = []
    for method in METHODS:
        ends = [limits(*each, method=method, level=LEVEL)[:2] for each in found]
        low, high = (np.concatenate([each[end] for each in ends]) for end in (0, 1))
        slack = 1e-9 * np.maximum(np.abs(truth), 1.0)  # for rounding, if values do not vary
        hits.append((low - slack <= truth) & (truth <= high + slack))
    return np.array(hits)


def coverage(case: tuple[str, int, int, bool]) -> Floats:
    """Return the share of intervals that contain the truth, shape (runs, methods, statistics).

    A case is the kind of population, its size, the number of trials, and True for the `OTHERS`.
    """
    kind, size, trials, others = case
    means = true_means()
    each = max(1, trials // POPULATIONS)
    hits = np.zeros((len(RUNS), len(METHODS), len(OTHERS if others else STATISTICS)))
    judge = held_others if others else held
    for number in range(POPULATIONS):
        rng = np.random.default_rng([KINDS.index(kind), size, number])
        people = population(kind, size, means, rng)
        truth = people.truth_of_others(rng) if others else people.truth(rng)
        for (i, runs), _ in itertools.product(enumerate(RUNS), range(each)):
            hits[i] += judge(people, truth, runs, rng)
    return hits / (each * POPULATIONS)


Measured = dict[tuple[str, str, int, int], tuple[float, float]]


def ranges(shares: Mapping[tuple[str, int], Floats], statistics: Sequence[str]) -> Measured:
    """Return the lowest and highest share over the kinds of population, for each number of runs."""
    found: Measured = {}
    for (m, method), (s, statistic), size in itertools.product(enumerate(METHODS), enumerate(statistics), TASKS):
        over_kinds = np.array([shares[kind, size][:, m, s] for kind in KINDS]).round(3)
        ends = zip(RUNS, over_kinds.min(axis=0).tolist(), over_kinds.max(axis=0).tolist(), strict=True)
        found |= {(method, statistic, size, runs): (low, high) for runs, low, high in ends}
    return found


def tables(found: Measured) -> str:
    """Return the tables of docs/research/intervals.md, one per statistic."""
    lines = []
    for statistic in dict.fromkeys(statistic for _, statistic, *_ in found):
        columns = list(itertools.product(TASKS, METHODS))
        lines += [f"**{statistic.replace('_', ' ')}**", ""]
        lines += ["| runs | " + " | ".join(f"{size} tasks, {method}" for size, method in columns) + " |"]
        lines += ["|---:|" + "---|" * len(columns)]
        for runs in RUNS:
            cells = [found[method, statistic, size, runs] for size, method in columns]
            shown = [f"{low:.3f}–{high:.3f}" for low, high in cells]
            lines.append(f"| {runs} | " + " | ".join(shown) + " |")
        lines.append("")
    return "\n".join(lines)


def summary(found: Measured) -> str:
    """Return the table of docs/intervals.md: the default method's shares, in percent."""
    columns = list(itertools.product(TASKS, (3, 10)))
    lines = ["| 95 % interval of | " + " | ".join(f"{size} games, {runs} runs" for size, runs in columns) + " |"]
    lines += ["|---|" + "---|" * len(columns)]
    for statistic in STATISTICS:
        shares = [found[bootstrap.METHOD, statistic, size, runs] for size, runs in columns]
        cells = [span(ends).replace(" to ", "–") for ends in shares]
        lines.append(f"| {statistic.replace('_', ' ')} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_shares(found: Measured) -> None:
    """Write the shares into metrics/data/coverage.csv, keep those of other statistics, and update its checksum."""
    rows = [(*key, *ends) for key, ends in {**written_shares(), **found}.items()]
    lines = ["method,statistic,tasks,runs,lowest,highest", *(",".join(map(str, row)) for row in rows)]
    text = "".join(f"{line}\n" for line in lines)
    folder = ROOT / "src/arcademark/metrics/data"
    (folder / "coverage.csv").write_text(text, encoding="utf-8")
    (folder / "SHA256SUMS").write_text(f"{hashlib.sha256(text.encode()).hexdigest()}  coverage.csv\n", encoding="utf-8")


def episodes_row(case: tuple[int, int, int]) -> list[float]:
    """Return the share of a task's intervals that contain its true mean, by the seeds' spread and by method."""
    seeds, episodes, trials = case
    rng = np.random.default_rng([seeds, episodes])
    truth = float(np.exp(EPISODE_SPREAD_LOG**2 / 2))
    spread = truth * float(np.sqrt(np.expm1(EPISODE_SPREAD_LOG**2)))
    shares = []
    for apart, method in itertools.product(APART, EPISODE_METHODS):
        hits = 0
        for _ in range(trials):
            played = np.exp(EPISODE_SPREAD_LOG * rng.standard_normal((seeds, episodes)))
            played += apart * spread * rng.standard_normal((seeds, 1))
            if method == "student" or method == "pooled":
                of_seeds = played.mean(axis=1) if method == "student" and seeds > 1 else played.ravel()
                low, high = score_intervals([of_seeds])[0, 1:3]
                hits += bool(low <= truth <= high)
                continue
            found = interval({"": list(played)}, lambda x: x[..., 0], rng, resamples=EPISODE_RESAMPLES)
            hits += found.low is not None and found.high is not None and found.low <= truth <= found.high
        shares.append(hits / trials if seeds >= FEWEST or method != "student" or seeds == 1 else math.nan)
    return shares


def pooled_table(trials: int) -> str:
    """Return the table of Student's t intervals over the episodes of an untrained agent, by their kind."""
    lines = ["| episodes, of all seeds | " + " | ".join(EPISODE_KINDS) + " |", "|---:|" + "---|" * len(EPISODE_KINDS)]
    for episodes in POOLED:
        cells, rng = [], np.random.default_rng(episodes)
        for draw in EPISODE_KINDS.values():
            low, high = score_intervals(list(draw((trials, episodes), rng)))[:, 1:3].T
            given, none = low[~np.isnan(low)], np.isnan(low).mean()
            share = np.mean((given <= 1) & (high[~np.isnan(low)] >= 1))
            cells.append(f"{share:.3f}" + (f", {none:.0%} have none" if none >= 0.005 else ""))
        lines.append(f"| {episodes} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def episodes_table(trials: int, workers: int) -> str:
    """Return the table of intervals from episodes in docs/research/intervals.md."""
    cases = [(seeds, episodes, trials) for seeds, episodes in itertools.product(SEEDS, EPISODES)]
    columns = [f"between seeds {apart:g}, {method}" for apart, method in itertools.product(APART, EPISODE_METHODS)]
    lines = ["| seeds | episodes | " + " | ".join(columns) + " |", "|---:|---:|" + "---|" * len(columns)]
    with ProcessPoolExecutor(workers) as pool:
        for (seeds, episodes, _), shares in zip(cases, pool.map(episodes_row, cases), strict=True):
            cells = ["–" if math.isnan(share) else f"{share:.3f}" for share in shares]
            lines.append(f"| {seeds} | {episodes} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def put(path: Path, begin: str, end: str, text: str) -> None:
    """Replace the text between two marks in a file."""
    before, rest = path.read_text(encoding="utf-8").split(f"{begin}\n")
    _, after = rest.split(f"{end}\n")
    path.write_text(f"{before}{begin}\n{text}\n{end}\n{after}", encoding="utf-8")


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description="Measure how often intervals contain the true value.")
    parser.add_argument("--trials", type=int, default=1000, help="intervals per cell and kind of population")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="into docs and metrics/data/coverage.csv")
    parser.add_argument("--others", action="store_true", help="only the tables of differences and of capped scores")
    parser.add_argument("--episodes", action="store_true", help="only the tables of intervals from episodes")
    arguments = parser.parse_args()
    if arguments.episodes:
        made = {"episodes": episodes_table(arguments.trials, arguments.workers), "pooled": pooled_table(10_000)}
        print("\n\n".join(made.values()))
        for mark, table in made.items() if arguments.write else ():
            put(PAGE, f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->", table)
        return
    others = arguments.others
    cases = [(kind, size, arguments.trials, others) for size in sorted(TASKS, reverse=True) for kind in KINDS]
    with ProcessPoolExecutor(arguments.workers) as pool:
        shares = dict(zip([case[:2] for case in cases], pool.map(coverage, cases), strict=True))
    found = ranges(shares, OTHERS if others else STATISTICS)
    print(tables(found))
    if arguments.write:
        mark = "others" if others else "measured"
        put(PAGE, f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->", tables(found))
        if not others:
            put(ROOT / "docs/intervals.md", "<!-- summary: begin -->", "<!-- summary: end -->", summary(found))
        write_shares(found)


if __name__ == "__main__":
    main()
