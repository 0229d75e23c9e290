"""Hyperparameter sensitivity, against values worked out by hand and the paper's formula written out."""

from itertools import product

import numpy as np
import pytest

from arcademark.metrics import hyperparameters
from arcademark.metrics.hyperparameters import choices, dimensionality, held_out, limits, sensitivity

GRID = np.array(list(product((0, 1), (0, 1))))  # settings (a, b)
SCORES = np.array([[1.0, 0.0], [0.5, 0.6], [0.0, 0.2], [0.7, 1.0]])  # of two tasks


def test_a_worked_example():
    """The best fixed setting is (1, 1) with 0.85; b alone keeps a = 1: max(0, 0.7), max(0.2, 1); a alone the same."""
    found = choices(SCORES, GRID)
    assert [choice.score for choice in found] == pytest.approx([0.85, 0.85, 1.0])
    assert [choice.tuned for choice in found] == [(), (0,), (0, 1)]
    assert found[2].settings.tolist() == [0, 3]
    assert sensitivity(found) == pytest.approx(0.15)
    assert dimensionality(found) == 2


def test_what_does_not_vary_is_no_parameter():
    found = choices(SCORES[:2], np.array([[3, 0], [3, 1]]))
    assert [choice.tuned for choice in found] == [(), (1,)]
    assert dimensionality(found) == 1  # 0.55 of 0.8


def test_limits_are_percentiles_of_all_runs_of_a_task():
    scores = np.stack([np.arange(101.0), 7 * np.arange(101.0)], axis=1)[:, :, np.newaxis]
    assert limits(scores).tolist() == [[5, 35], [95, 665]]
    assert limits(scores.reshape(101, 2, 1).repeat(3, axis=2)[:, :1]).tolist() == [[5], [95]]


def test_the_formula_of_the_paper():
    rng = np.random.default_rng(0)
    values = np.array(list(product(range(3), range(2), range(3))))
    scores = rng.random((len(values), 4))
    found = choices(scores, values)
    tasks = range(scores.shape[1])
    tuned = sum(max(scores[h, e] for h in range(len(values))) for e in tasks) / 4
    fixed = max(sum(scores[h, e] for e in tasks) / 4 for h in range(len(values)))
    assert sensitivity(found) == pytest.approx(tuned - fixed)
    default = values[int(np.argmax(scores.mean(axis=1)))]
    one = max(
        sum(max(scores[h, e] for h, row in enumerate(values) if np.delete(row == default, free).all()) for e in tasks)
        for free in range(3)
    )
    assert found[1].score == pytest.approx(one / 4)
    assert found[0].score <= found[1].score <= found[2].score <= found[3].score


def test_settings_that_do_not_differ_seem_sensitive_only_to_those_that_choose():
    rng = np.random.default_rng(1)
    naive, apart = [], []
    for _ in range(200):
        scores = rng.standard_normal((4, 3, 5))
        naive.append(sensitivity(choices(scores.mean(axis=2), GRID)))
        found = held_out(scores, GRID)
        apart.append((found[:, -1] - found[:, 0]).mean())
    assert np.mean(naive) > 0.15
    assert abs(np.mean(apart)) < 3 * np.std(apart) / len(apart) ** 0.5


def test_held_out_scores_are_of_runs_that_did_not_choose():
    scores = np.stack([SCORES, SCORES[:, ::-1] + 1], axis=2)
    found = held_out(scores, GRID)
    assert found.shape == (2, 3)
    assert found[0].tolist() == pytest.approx([0.85, *(_by(SCORES, SCORES[:, ::-1], count) for count in (1, 2))])
    assert hyperparameters.SHARE == 0.95


def _by(scored, chooses, count):
    return float(scored[choices(chooses, GRID)[count].settings, [0, 1]].mean())
