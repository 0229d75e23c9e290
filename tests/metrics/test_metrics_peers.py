"""The metrics beside what rliable 1.2.0 gives for the same scores.

The scores are made up, of 19 tasks with 5 runs of one algorithm and 4 of the other, ties between them included. Its
functions were called once with them, and what they returned stands here.
"""

import numpy as np
import pytest

from arcademark.metrics.aggregate import iqm, mean, median, optimality_gap
from arcademark.metrics.compare import probability_of_improvement
from arcademark.metrics.distribution import performance_profile


def made_up(a, b, runs):
    task, run = np.arange(19)[:, np.newaxis], np.arange(runs)
    return ((a * task**2 + b * run**2 + 11 * task * run) % 211).astype(np.float64)


X, Y = made_up(37, 61, 5), made_up(41, 83, 4)
THRESHOLDS = [0, 10, 54, 92.8, 100, 200]


def test_aggregates():
    assert mean(X.mean(axis=1)) == pytest.approx(97.85263157894737)
    assert median(X.mean(axis=1)) == pytest.approx(92.8)
    assert iqm(X) == pytest.approx(93.89795918367346)
    assert optimality_gap(X, 100.0) == pytest.approx(29.315789473684205)


def test_probability_of_improvement():
    assert probability_of_improvement(X, Y) == pytest.approx(0.4355263157894737)


def test_distributions():
    runs = [0.9894736842105263, 0.9263157894736842, 0.6526315789473685, 0.49473684210526314, 0.4842105263157895]
    np.testing.assert_allclose(performance_profile(X, THRESHOLDS), [*runs, 0.042105263157894736])
