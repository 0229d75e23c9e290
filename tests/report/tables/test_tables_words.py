"""How a table's numbers read."""

from __future__ import annotations

import pytest

from arcademark.reports.tables import words


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (0.0, "0"), (4.37e-8, "4.37e−08"), (-1.2e-9, "−1.20e−09")])
def test_very_small_numbers(value: float | None, text: str) -> None:
    assert words.power_of_ten(value) == text


@pytest.mark.parametrize(("days", "text"), [(38.58, "38.6 days"), (0.193, "4.6 hours"), (19290.0, "52.8 years")])
def test_durations(days: float, text: str) -> None:
    assert words.days(days) == text
