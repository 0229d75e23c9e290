"""Costs of runs, by hand; `arcademark reproduce atari-5 --table 6` recomputes what the paper prints."""

import pytest

from arcademark.reproduce.atari5.tables import Running, dollars, kilowatt_hours


def test_by_hand():
    running = Running("x", "X", 2020, 10.0, 1.5, 0.5, 0.4, 0.1, 1, gpu_watts=300.0, machine_watts=200.0)
    assert dollars(running, 3) == pytest.approx(3 * 10.0 * 2.0)
    assert kilowatt_hours(running) == pytest.approx(57 * 10.0 * 0.5)
