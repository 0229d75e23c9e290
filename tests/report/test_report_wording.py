from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from arcademark.reports import wording
from arcademark.suite.settings import duration

LONG = ["a", "b", "c", "d", "e", "f", "g", "h"]


@pytest.mark.parametrize(
    ("show", "given", "shown"),
    [
        (wording.score, (None,), "–"),
        (wording.score, (0.0,), "0"),
        (wording.score, (-18.55,), "−18.6"),
        (wording.score, (-0.004,), "0.00"),
        (wording.score, (2.5,), "2.50"),
        (wording.score, (99.96,), "100.0"),
        (wording.score, (-1234567.0,), "−1,234,567"),
        (wording.percent, (None,), "–"),
        (wording.percent, (0.0,), "0 %"),
        (wording.percent, (0.434,), "0.43 %"),
        (wording.percent, (-0.001,), "0.00 %"),
        (wording.percent, (12.34,), "12.3 %"),
        (wording.percent, (99.96,), "100 %"),
        (wording.percent, (1234.5,), "1,234 %"),
        (wording.reference, (2360.0,), "2,360"),
        (wording.reference, (-18.55,), "−18.55"),
        (wording.reference, (37187.5,), "37,187.5"),
        (wording.listing, ([],), ""),
        (wording.listing, (["a"],), "a"),
        (wording.listing, (["a", "b", "c"],), "a, b and c"),
        (wording.shortened, (LONG, 3), "a, b and 6 others"),
        (wording.shortened, (LONG[:3], 3), "a, b and c"),
        (wording.quantity, (35.71, "%"), "35.7 %"),
        (wording.quantity, (35.71, "games"), "35.7 games"),
        (wording.quantity, (4.2, ""), "4.20"),
        (wording.quantity, (None, "games"), "–"),
        (wording.power_of_ten, (0.0,), "0"),
        (wording.power_of_ten, (4.37e-8,), "4.37e−08"),
        (wording.days, (38.58,), "38.6 days"),
        (wording.days, (0.193,), "4.6 hours"),
        (wording.days, (19290.0,), "52.8 years"),
        (duration, (30,), "1 second"),
        (duration, (600,), "10 seconds"),
        (duration, (18_000,), "5 minutes"),
        (duration, (216_000,), "1 hour"),
        (duration, (21_600_000,), "4.2 days"),
    ],
)
def test_numbers_and_lists_in_print(show: Callable[..., str], given: tuple[Any, ...], shown: str) -> None:
    assert show(*given).replace("\N{NO-BREAK SPACE}", " ") == shown
