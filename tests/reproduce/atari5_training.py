"""The Atari-5 paper's fits, made anew from its training table, as plainly as can be."""

import statistics
from functools import cache

import numpy as np

from arcademark.catalogue import collections
from arcademark.metrics import normalise
from arcademark.suite.references import scores as reference_scores
from arcademark.suite.tasks import suite

GAMES = suite("atari-57").tasks
HUMAN = "Human Ref"


@cache
def raw():
    """Raw scores by algorithm and game."""
    found = {}
    for result in collections.results("atari-5-training", as_published=True):
        found.setdefault(result.entry.algorithm, {})[result.task] = result.score
    return found


def hns(scores):
    games = tuple(scores)
    values = normalise.hns(list(scores.values()), reference_scores("random"), reference_scores("human"), games)
    return dict(zip(games, values.tolist(), strict=True))


@cache
def percentages():
    return {name: hns(scores) for name, scores in raw().items()}


def median(algorithm):
    return statistics.median(percentages()[algorithm].values())


def log_score(value):
    return np.log10(1 + np.maximum(0, value))


@cache
def sample(games, target=None):
    """Inputs (algorithms, games), targets (algorithms,) and names: the median, or a game; alphabetically."""
    wanted = games if target is None else (*games, target)
    names = tuple(sorted(name for name, scores in percentages().items() if all(game in scores for game in wanted)))
    inputs = np.array([[percentages()[name][game] for game in games] for name in names])
    targets = [median(name) if target is None else percentages()[name][target] for name in names]
    return log_score(inputs), log_score(np.array(targets)), names


def fit(inputs, targets):
    return np.linalg.lstsq(inputs, targets, rcond=None)[0]


def folds(size):
    """Ten folds, shuffled as scikit-learn's KFold does with the public code's seed."""
    order = np.arange(size)
    np.random.RandomState(1982).shuffle(order)
    return np.array_split(order, 10)


def cross_validated(games):
    """R² and relative error as Table 2 prints them, and the mean squared error."""
    inputs, targets, names = sample(games)
    squares, sizes = [], []
    for fold in folds(len(names)):
        rest = np.setdiff1d(np.arange(len(names)), fold)
        errors = targets[fold] - inputs[fold] @ fit(inputs[rest], targets[rest])
        squares.append(np.mean(errors**2))
        sizes.append(np.mean(np.abs(errors)))
    return 1 - np.mean(squares) / np.var(targets), np.log(10) * np.mean(sizes), float(np.mean(squares))


@cache
def game_models(games):
    """By target game: intercept and coefficients, R², residual and total sum of squares."""
    found = {}
    for target in GAMES:
        inputs, targets, names = sample(games, target)
        with_intercept = np.column_stack([np.ones(len(names)), inputs])
        coefficients = fit(with_intercept, targets)
        residual = float(np.sum((targets - with_intercept @ coefficients) ** 2))
        total = float(np.sum((targets - targets.mean()) ** 2))
        found[target] = (coefficients, 1 - residual / total, residual, total)
    return found


def correlation(a, b):
    inputs, targets, _ = sample((a,), b)
    return float(np.corrcoef(inputs[:, 0], targets)[0, 1])
