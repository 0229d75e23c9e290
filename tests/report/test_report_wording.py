from __future__ import annotations

import pytest

from arcademark.reports import wording
from arcademark.suite.settings import duration


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0"),
        (-18.55, "−18.6"),
        (-0.004, "0.00"),
        (2.5, "2.50"),
        (99.96, "100.0"),
        (2360.4, "2,360"),
        (-1234567.0, "−1,234,567"),
    ],
)
def test_scores_read_with_the_digits_their_size_needs(value: float | None, shown: str) -> None:
    assert wording.score(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0 %"),
        (0.434, "0.43 %"),
        (-0.001, "0.00 %"),
        (12.34, "12.3 %"),
        (99.96, "100 %"),
        (1234.5, "1,234 %"),
    ],
)
def test_percentages_keep_about_three_digits(value: float | None, shown: str) -> None:
    assert wording.percent(value).replace("\N{NO-BREAK SPACE}", " ") == shown


def test_references_read_as_printed() -> None:
    assert [wording.reference(value) for value in (2360.0, -18.55, 37187.5, 0.0, None)] == [
        "2,360",
        "−18.55",
        "37,187.5",
        "0",
        "–",
    ]


def test_lists_read_as_in_a_sentence() -> None:
    assert wording.listing([]) == ""
    assert wording.listing(["a"]) == "a"
    assert wording.listing(["a", "b"]) == "a and b"
    assert wording.listing(["a", "b", "c"]) == "a, b and c"
    assert wording.shortened("abcdefgh", most=3) == "a, b and 6 others"
    assert wording.shortened("abc", most=3) == "a, b and c"


@pytest.mark.parametrize(
    ("frames", "shown"),
    [
        (30, "1 second"),
        (600, "10 seconds"),
        (18_000, "5 minutes"),
        (108_000, "30 minutes"),
        (216_000, "1 hour"),
        (21_600_000, "4.2 days"),
    ],
)
def test_frames_read_as_time_at_sixty_a_second(frames: int, shown: str) -> None:
    assert duration(frames) == shown


def test_quantities_carry_their_unit() -> None:
    shown = [
        wording.quantity(value, unit) for value, unit in ((35.71, "%"), (35.71, "games"), (4.2, ""), (None, "games"))
    ]
    assert shown == ["35.7\N{NO-BREAK SPACE}%", "35.7\N{NO-BREAK SPACE}games", "4.20", "–"]


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (4.37e-8, "4.37e−08"), (-1.2e-9, "−1.20e−09")])
def test_very_small_numbers(value: float, text: str) -> None:
    assert wording.power_of_ten(value) == text


@pytest.mark.parametrize(("days", "text"), [(38.58, "38.6 days"), (0.193, "4.6 hours"), (19290.0, "52.8 years")])
def test_durations(days: float, text: str) -> None:
    assert wording.days(days) == text
