"""Which few tasks tell most of all: against every subset there is, and of what is left out."""

from itertools import combinations

import numpy as np
import pytest

from arcademark.subset.predict import choosing
from arcademark.subset.predict.any_tasks import MEDIAN, train

TASKS = tuple(f"t{number}" for number in range(9))


@pytest.fixture(scope="module")
def trained():
    """Thirty algorithms of six groups on nine tasks; two factors, one score in ten missing."""
    rng = np.random.default_rng(5)
    logs = 1.5 + rng.normal(size=(30, 2)) @ rng.uniform(0, 0.6, (2, 9)) + rng.normal(scale=0.15, size=(30, 9))
    percent = 10 ** np.maximum(logs, 0) - 1
    percent[rng.random(percent.shape) < 0.1] = np.nan
    return train(percent, [f"a{row}" for row in range(30)], TASKS, [f"g{row // 5}" for row in range(30)])


def explained(spread, places):
    among, target = spread[np.ix_(places, places)], spread[list(places), -1]
    return target @ np.linalg.solve(among, target)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("without", [None, "g2"])
def test_no_other_subset_tells_more(trained, size, without):
    spread = choosing.covariance(trained, MEDIAN, without)
    best = max(combinations(range(9), size), key=lambda places: explained(spread, places))
    assert choosing.choose(trained, size, without=without) == tuple(TASKS[place] for place in best)


def test_what_is_left_out_teaches_nothing(trained):
    """Scores of the group that is left out change neither the covariance nor the choice."""
    percent = trained.percent.copy()
    rows = [row for row, group in enumerate(trained.groups) if group == "g2"]
    percent[rows] = percent[rows][:, ::-1] * 3
    changed = train(percent, trained.algorithms, TASKS, trained.groups)
    same = choosing.covariance(changed, without="g2")
    np.testing.assert_allclose(same, choosing.covariance(trained, without="g2"), atol=0.02)
    assert np.abs(choosing.covariance(changed) - choosing.covariance(trained)).max() > 0.02
