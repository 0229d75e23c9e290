import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.efficiency import DAYS_PER_YEAR, game_time_days, game_time_days_review, learning_efficiency

M200, B10, B100 = 200e6, 10e9, 100e9

# Fan 2021: percentages and efficiencies as Tables 3 to 9 print them; `reproduce review` has them all.
PRINTED = [
    (873.97, M200, "4.37E-08"),  # Table 3, Rainbow, mean HNS
    (3374.31, B10, "3.37E-09"),  # Table 4, R2D2
    (25.3, 1e6, "2.53E-07"),  # Table 5, SimPLe
    (125.92, B100, "1.26E-11"),  # Table 8, Agent57
    (50.63, M200, "2.53E-09"),  # Table 8, GDI-H³, median HWRNS
]


@pytest.mark.parametrize(("percent", "frames", "printed"), PRINTED)
def test_learning_efficiency_is_that_of_the_reviews_tables(percent, frames, printed):
    assert f"{learning_efficiency(percent / 100, frames):.2E}" == printed


def test_learning_efficiency_of_arrays_keeps_what_is_missing_missing():
    found = learning_efficiency([1.0, np.nan, 3.0], [10, 10, 100])
    np.testing.assert_array_equal(found, [0.1, np.nan, 0.03])


def test_what_does_not_train_has_no_learning_efficiency():
    with pytest.raises(ArcadeMarkError, match="0 training frames"):
        learning_efficiency([1.0, 2.0], [M200, 0])


@pytest.mark.parametrize("frames", [-1, np.nan, np.inf])
def test_frames_that_are_no_number_are_refused(frames):
    for function in (game_time_days, game_time_days_review):
        with pytest.raises(ArcadeMarkError, match="expected a number of emulated frames"):
            function(frames)
    with pytest.raises(ArcadeMarkError, match="expected a number of emulated frames"):
        learning_efficiency(1.0, frames)


def test_game_time_as_the_review_computes_it_and_as_it_is():
    assert round(float(game_time_days_review(M200)), 2) == 41.67
    assert round(float(game_time_days(M200)), 2) == 38.58
    assert round(float(game_time_days_review(B100))) == 20833
    assert round(float(game_time_days(B100))) == 19290
    assert round(float(game_time_days_review(B100)) / DAYS_PER_YEAR, 1) == 57.0
    assert round(float(game_time_days(B100)) / DAYS_PER_YEAR, 1) == 52.8
