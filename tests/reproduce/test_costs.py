"""What hours cost, by hand; `arcademark reproduce atari-5 --table 6` recomputes what the paper prints."""

import pytest

from arcademark.reproduce.atari5.tables import cost


def test_by_hand():
    found = cost(30.0, 2.0, 500.0, pounds_per_kwh=1.0)
    assert (found.dollars, found.kilowatt_hours) == (60.0, pytest.approx(15.0))
    assert found.carbon_kilograms == pytest.approx(15.0 * 0.45359237)
