"""Printed cells: complete, and read as numbers with the precision to which they are printed."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from arcademark.catalogue import printed
from arcademark.catalogue.printed import printed_cells, printed_number
from arcademark.errors import ArcadeMarkError
from arcademark.suite.tasks import suite


@pytest.mark.parametrize(
    ("text", "value", "last_digit"),
    [
        ("3.43", 3.43, -2),
        ("-18.6", -18.6, -1),
        ("21", 21.0, 0),
        ("100.00", 100.0, -2),
        ("4.37E-08", 4.37e-08, -10),
        ("1E+5", 1e5, 5),
        ("200M", 2e8, 6),
        ("35B", 3.5e10, 9),
        ("\N{MINUS SIGN}0.5", -0.5, -1),
    ],
)
def test_numbers_are_read_with_their_last_digit(text: str, value: float, last_digit: int) -> None:
    number = printed_number(text)
    assert number is not None
    assert (number.value, number.last_digit) == (value, last_digit)


@pytest.mark.parametrize("text", ["N/A", "441/32", "", "12.", "1,000", "nan", "1E", "2K"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert printed_number(text) is None


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
def test_rounding_reaches_half_a_unit_of_the_last_digit(text: str, exact: float, rounds: bool) -> None:
    number = printed_number(text)
    assert number is not None
    assert number.is_rounding_of(exact) is rounds


@pytest.mark.parametrize(
    ("text", "exact", "written"),
    [
        ("3.43", 3.4567, "3.46"),
        ("832.5", 829.461, "829.5"),
        ("21", 20.6, "21"),
        ("4.70E-07", 4.8119e-07, "4.81E-07"),
        ("0.00", -0.001, "0.00"),
        ("200M", 2e8, "200M"),
        ("100B", 9e10, "90B"),
    ],
)
def test_other_numbers_are_written_in_the_same_form(text: str, exact: float, written: str) -> None:
    number = printed_number(text)
    assert number is not None
    assert number.like(exact) == written


def test_every_game_of_every_table_is_there() -> None:
    games = set(suite("atari-57").tasks)
    for table in range(3, 15):
        places = [cell.place for cell in printed_cells() if cell.place.table == table]
        rows = Counter(place.row for place in places)
        assert games <= rows.keys()
        assert len({rows[game] for game in games}) == 1, table
        below = {"training frames", "mean", "mean efficiency", "median", "median efficiency"}
        assert rows.keys() - games == below | ({"hwrb"} if table > 6 else set())


def test_the_tables_have_as_many_cells_as_their_columns_ask_for() -> None:
    tables = Counter(cell.place.table for cell in printed_cells())
    assert tables == {
        3: 57 * 12 + 5 + 4 * 7,
        **dict.fromkeys((4, 5), 57 * 10 + 5 + 4 * 5),
        6: 57 * 8 + 4 + 4 * 4,
        **dict.fromkeys((7, 11), 57 * 12 + 5 + 5 * 7),
        **dict.fromkeys((8, 9, 12, 13), 57 * 10 + 5 + 5 * 5),
        **dict.fromkeys((10, 14), 57 * 8 + 4 + 5 * 4),
    }


def test_cells_are_verbatim() -> None:
    cells = {cell.place: cell.printed for cell in printed_cells()}
    place = printed.Location
    assert cells[place(4, "gravitar", "NGU", "hns")] == "441/32"
    assert cells[place(3, "battle_zone", "Random", "score")] == "236"
    assert cells[place(9, "fishing_derby", "DreamerV2", "hwrns")] == "286.77"
    assert cells[place(5, "defender", "DreamerV2", "score")] == "N/A"
    assert cells[place(14, "up_n_down", "GDI-I3", "saber")] == "11.9785"
    assert cells[place(4, "training frames", "NGU", "hns")] == "35B"
    assert cells[place(7, "hwrb", "Human World Record", "hwrns")] == "57"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("3,pong,Rainbow,hns,\n", r"line 2: .*\$\.printed`"),
        ("3,pong,Rainbow,hns,1\n3,pong,Rainbow,hns,2\n", "line 3: this cell stands twice"),
    ],
)
def test_damaged_cells_are_refused(tmp_path: Path, rows: str, message: str) -> None:
    text = "table,row,algorithm,quantity,printed\n" + rows
    (tmp_path / "fan-2021.csv").write_text(text, encoding="utf-8")
    (tmp_path / "SHA256SUMS").write_text(f"{hashlib.sha256(text.encode()).hexdigest()}  fan-2021.csv\n")
    with pytest.raises(ArcadeMarkError, match=message):
        printed_cells(tmp_path)
