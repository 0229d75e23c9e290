import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.efficiency import DAYS_PER_YEAR, game_time_days, game_time_days_review, learning_efficiency

M200, B10, B20, B35, B100 = 200e6, 10e9, 20e9, 35e9, 100e9

# Fan 2021: percentages and efficiencies as Tables 3 to 14 print them, where they are what Eq. 7 says.
PRINTED = [
    (873.97, M200, "4.37E-08"),  # Table 3, Rainbow, mean HNS
    (957.34, M200, "4.79E-08"),  # IMPALA
    (1741.36, M200, "8.71E-08"),  # LASER
    (7810.6, M200, "3.91E-07"),  # GDI-I³
    (230.99, M200, "1.15E-08"),  # Rainbow, median HNS
    (9620.98, M200, "4.81E-07"),  # Table 4, GDI-H³, mean HNS
    (3374.31, B10, "3.37E-09"),  # R2D2
    (3169.90, B35, "9.06E-10"),  # NGU
    (4763.69, B100, "4.76E-10"),  # Agent57
    (4996.20, B20, "2.50E-09"),  # Table 5, MuZero
    (25.3, 1e6, "2.53E-07"),  # SimPLe
    (2538.66, M200, "1.27E-07"),  # Table 6, Muesli
    (4989.94, B10, "4.99E-09"),  # Go-Explore
    (28.39, M200, "1.42E-09"),  # Table 7, Rainbow, mean HWRNS
    (125.92, B100, "1.26E-11"),  # Table 8, Agent57
    (50.63, M200, "2.53E-09"),  # GDI-H³, median HWRNS
    (4.67, 1e6, "4.67E-08"),  # Table 9, SimPLe
    (71.26, M200, "3.56E-09"),  # Table 11, GDI-H³, mean SABER
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
