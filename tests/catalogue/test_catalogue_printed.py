"""Printed cells: complete, and read as numbers with the precision to which they are printed."""

from collections import Counter

import pytest

from arcademark.catalogue.printed import printed_cells, printed_number


@pytest.mark.parametrize(
    ("text", "exact", "rounds"),
    [
        ("20", 20.1, True),
        ("20", 20.5, True),
        ("20", 19.49, False),
        ("3.43", 3.4349, True),
        ("3.43", 3.4351, False),
        ("4.37E-08", 4.3651e-08, True),
        ("4.37E-08", 4.36e-08, False),
        ("-0.00", 0.004, True),
    ],
)
def test_rounding_reaches_half_a_unit_of_the_last_digit(text, exact, rounds):
    number = printed_number(text)
    assert number.is_rounding_of(exact) is rounds


def test_the_tables_have_as_many_cells_as_their_columns_ask_for():
    tables = Counter(cell.place.table for cell in printed_cells())
    assert tables == {
        3: 57 * 12 + 5 + 4 * 7,
        **dict.fromkeys((4, 5), 57 * 10 + 5 + 4 * 5),
        6: 57 * 8 + 4 + 4 * 4,
        **dict.fromkeys((7, 11), 57 * 12 + 5 + 5 * 7),
        **dict.fromkeys((8, 9, 12, 13), 57 * 10 + 5 + 5 * 5),
        **dict.fromkeys((10, 14), 57 * 8 + 4 + 5 * 4),
    }
