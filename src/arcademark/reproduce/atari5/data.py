"""The Atari-5 paper's training table, fits to it, and the printed cells, for its reproduction.

Conventions
-----------
* HNS are in percent, by the references of atari-57 (the paper's Table 12); φ(s) = log₁₀(1 + max(0, s)) (§4.1).
* An algorithm's true median is over the games that it has, including Surround (Table 8).
* Algorithms are sorted by name, as strings, which reproduces the public code's ten folds (`subset.fitting`).
* If the two texts differ, the arXiv text is used, because the available ICML text was recognised from page images.

The paper is Aitchison, Sweetser and Hutter, "Atari-5: Distilling the Arcade Learning Environment down to Five Games",
ICML 2023, arXiv 2210.02019.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from itertools import combinations

import numpy as np

from arcademark.catalogue import collections
from arcademark.metrics import aggregate, normalise
from arcademark.reproduce import comparison
from arcademark.subset import fitting
from arcademark.subset.predict.model import from_subset
from arcademark.subset.problem import Floats, Problem, complete_rows, log10_score, make_problem
from arcademark.subset.search.search import Candidate, evaluate
from arcademark.suite import references
from arcademark.suite.subsets import subset
from arcademark.suite.tables import read_rows
from arcademark.suite.tasks import game_name, suite

PAPER = "aitchison-2023"
COLLECTION = "atari-5-training"
GAMES = suite("atari-57").tasks
ATARI_5, ATARI_10 = subset("atari-5").tasks, subset("atari-10").tasks
HARD = subset("hard-exploration-7").tasks
PUBLISHED = ("atari-1", "atari-3", "atari-5", "atari-10", "atari-3-val", "atari-5-val")
"""Subsets with a published model, in the order of Table 2."""

stated = partial(comparison.stated, PAPER)


@cache
def raw() -> Mapping[str, Mapping[str, float]]:
    """Return raw scores by algorithm and game, algorithms in Table 8's order."""
    results = {
        entry.algorithm: collections.scores_of(entry, as_published=True) for entry in collections.entries(COLLECTION)
    }
    return {name: {task: result.score for task, result in scores.items()} for name, scores in results.items()}


@cache
def names() -> tuple[str, ...]:
    """Return the algorithms, sorted."""
    return tuple(sorted(raw()))


@cache
def percentages() -> Floats:
    """Return HNS in percent, shape (algorithms, games), in the order of `names` and `GAMES`; NaN where missing."""
    scores = np.array([[raw()[name].get(game, np.nan) for game in GAMES] for name in names()])
    return normalise.hns(scores, references.scores("random"), references.scores("human"), GAMES)


@cache
def medians() -> Mapping[str, float]:
    """Return each algorithm's true median in percent."""
    values = np.asarray(aggregate.median(percentages(), missing="omit"))
    return dict(zip(names(), values.tolist(), strict=True))


@cache
def sample(tasks: tuple[str, ...]) -> tuple[Floats, Floats]:
    """Return φ of HNS, shape (algorithms, games), and of the medians, for the algorithms with all these games."""
    inputs = log10_score(percentages()[:, [GAMES.index(task) for task in tasks]])
    rows = complete_rows(inputs)
    return inputs[rows], log10_score(list(medians().values()))[rows]


@cache
def problem() -> Problem:
    """Return the paper's search problem: φ of all games that 40 algorithms have, and of the median (§4.1)."""
    return make_problem(percentages(), names(), GAMES)


@cache
def cross_validated(tasks: tuple[str, ...]) -> Candidate:
    """Cross-validate the model of the median from these games as the paper does."""
    return evaluate(problem(), tasks)


@cache
def model(tasks: tuple[str, ...]) -> fitting.Fit:
    """Fit the model of the median from these games, without intercept (§4.3)."""
    return fitting.fit(*sample(tasks))


@cache
def game_models(tasks: tuple[str, ...]) -> Mapping[str, fitting.Fit]:
    """Fit the model of every game from these, with an intercept and coefficients of any sign (§4.4)."""
    scores = log10_score(percentages())
    inputs, models = scores[:, [GAMES.index(task) for task in tasks]], {}
    for game, targets in zip(GAMES, scores.T, strict=True):
        rows = complete_rows(inputs, targets)
        models[game] = fitting.fit(inputs[rows], targets[rows], intercept=True)
    return models


def explained_share(tasks: tuple[str, ...], targets: Sequence[str]) -> float:
    """Return the share of the pooled variance of these targets that their models explain (§5.5)."""
    models = game_models(tasks)
    return 1 - sum(models[game].residual for game in targets) / sum(models[game].total for game in targets)


@cache
def single_games() -> Mapping[str, fitting.Fit]:
    """Fit the median from each game alone, with an intercept (§4.2), the worst game first."""
    result = {game: fitting.fit(*sample((game,)), intercept=True) for game in GAMES}
    return dict(sorted(result.items(), key=lambda item: item[1].r2))


@cache
def estimates(name: str) -> Mapping[str, tuple[float, float]]:
    """Return true median and the published model's estimate, in percent, for algorithms that have its games."""
    result = from_subset(subset(name))
    guesses = result.predict(percentages()[:, [GAMES.index(task) for task in result.tasks]])
    pairs = zip(names(), guesses.tolist(), strict=True)
    return {name: (medians()[name], guess) for name, guess in pairs if not math.isnan(guess)}


@cache
def correlations() -> Mapping[tuple[str, str], float]:
    """Return the correlation of φ for each pair of games, over the algorithms with both, the highest first (§6)."""
    logs = log10_score(percentages())
    result = {}
    for i, j in combinations(range(len(GAMES)), 2):
        both = ~np.isnan(logs[:, i]) & ~np.isnan(logs[:, j])
        result[GAMES[i], GAMES[j]] = float(np.corrcoef(logs[both, i], logs[both, j])[0, 1])
    return dict(sorted(result.items(), key=lambda item: -item[1]))


def correlation(a: str, b: str) -> float:
    """Return the correlation of two games, in either order."""
    return correlations().get((a, b), correlations().get((b, a), float("nan")))


@cache
def printed(table: int) -> Mapping[str, tuple[str, ...]]:
    """Return a table's printed cells by row, from the arXiv text."""
    rows = read_rows(f"{PAPER}.csv", files("arcademark.catalogue") / "data" / "printed")
    return {row["row"]: tuple(row["printed"].split("; ")) for row in rows if row["table"] == str(table)}


def listed(games: Iterable[str], between: str = ", ") -> str:
    """Return the names of several games, joined."""
    return between.join(map(game_name, games))
