import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.ranges import (
    algorithm_limits,
    baseline_limits,
    inter_algorithm,
    placed,
    random_limits,
    zero_ranges,
)

NAN = np.nan
TASKS = ("pong", "freeway", "alien")
RANDOM = {"pong": -20.0, "freeway": 0.0, "alien": 200.0, "unused": 5.0}
BASELINES = {"pong": [-21.0, 1.0, -20.0], "freeway": [0.0, 22.0], "alien": [300.0, 100.0, 200.0, 300.0]}
SCORES = [10.0, 11.0, 500.0]


def random_normalised(scores, random, tasks, **options):
    return placed(scores, random_limits(random, tasks), tasks, **options)


def baseline_normalised(scores, baselines, tasks):
    return placed(scores, baseline_limits(baselines, tasks), tasks)


def test_random_normalised_by_hand():
    found = random_normalised(SCORES, RANDOM, TASKS, zero_range="omit")
    np.testing.assert_array_equal(found, [0.5, NAN, 2.5])
    own = random_normalised([RANDOM[task] for task in TASKS], RANDOM, TASKS, zero_range="omit")
    np.testing.assert_array_equal(own, [-1, NAN, 1])


def test_baseline_normalised_by_hand():
    found = baseline_normalised(SCORES, BASELINES, TASKS)
    np.testing.assert_allclose(found, [31 / 22, 0.5, 2.0])
    assert baseline_normalised([-21.0, 22.0, 300.0], BASELINES, TASKS).tolist() == [0, 1, 1]


def test_inter_algorithm_by_hand():
    scores = [[10.0, 11.0, 500.0], [30.0, NAN, 100.0], [15.0, 21.0, 400.0]]
    np.testing.assert_array_equal(inter_algorithm(scores, TASKS), [[0, 0, 1], [1, NAN, 0], [0.25, 1, 0.75]])


def test_empty_ranges_are_refused_by_name_unless_omitted_and_can_be_named():
    with pytest.raises(ArcadeMarkError, match=r"equal on freeway \(0\)"):
        random_normalised(SCORES, RANDOM, TASKS)
    with pytest.raises(ArcadeMarkError, match=r"equal on pong \(7\), alien \(3\)"):
        inter_algorithm([[7.0, 1.0, NAN], [7.0, 2.0, 3.0]], TASKS)
    with pytest.raises(ArcadeMarkError, match=r"equal on pong \(2\)"):
        baseline_normalised([1.0], {"pong": [2.0, 2.0]}, ["pong"])
    assert zero_ranges(random_limits(RANDOM, TASKS), TASKS) == ("freeway",)
    assert zero_ranges(baseline_limits(BASELINES | {"alien": [4.0]}, TASKS), TASKS) == ("alien",)
    assert zero_ranges(algorithm_limits([[7.0, NAN, NAN], [7.0, NAN, 3.0]], TASKS), TASKS) == ("pong", "alien")
    found = inter_algorithm([[7.0, 1.0, NAN], [7.0, 2.0, 3.0]], TASKS, zero_range="omit")
    np.testing.assert_array_equal(found, [[NAN, 0, NAN], [NAN, 1, NAN]])


def test_references_that_are_not_there_are_refused_by_name():
    with pytest.raises(ArcadeMarkError, match="no random reference score for tennis, alien"):
        random_normalised([1.0, 2.0, 3.0], {**RANDOM, "alien": NAN}, ("tennis", "pong", "alien"))
    with pytest.raises(ArcadeMarkError, match="no baseline scores for freeway, tennis"):
        baseline_normalised([1.0, 2.0], {"freeway": []}, ("freeway", "tennis"))
    with pytest.raises(ArcadeMarkError, match="a baseline score is not finite on pong"):
        baseline_normalised([1.0], {"pong": [1.0, NAN]}, ("pong",))


@pytest.mark.parametrize("scores", [[1.0, 2.0, 3.0], [[1.0, 2.0]], np.zeros((0, 3))])
def test_inter_algorithm_wants_algorithms_by_tasks(scores):
    with pytest.raises(ArcadeMarkError, match=r"expected scores of shape \(algorithms, 3\)"):
        inter_algorithm(scores, TASKS)
