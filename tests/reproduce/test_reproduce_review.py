"""The review recomputed: every cell is there, and every one that differs has an erratum that says what holds."""

from collections import Counter

import pytest

from arcademark.catalogue import collections
from arcademark.catalogue.errata import errata
from arcademark.catalogue.model import Location, PrintedCell
from arcademark.catalogue.printed import printed_cells, printed_number
from arcademark.reproduce.review import tables as review
from arcademark.suite.references import scores as reference_scores

RANDOM, HUMAN, RECORD = (reference_scores(kind) for kind in ("random", "human", "human_world_record"))
TABLES = review.tables()
CELLS = {item.place: item for part in TABLES for item in part.comparisons if item.place is not None}
STATEMENTS = {item.where: item for part in TABLES for item in part.comparisons if item.place is None}
ERRATA = {erratum.place: erratum for erratum in errata("fan-2021") if erratum.place is not None}


def test_every_printed_cell_is_recomputed():
    assert list(CELLS) == [cell.place for cell in printed_cells()]
    assert {item.verdict for item in CELLS.values()} == {"agrees", "differs"}


def test_exactly_the_cells_that_differ_have_an_erratum():
    assert {place for place, item in CELLS.items() if item.verdict == "differs"} == ERRATA.keys()


def test_errata_say_what_is_printed_and_what_we_compute():
    for place, erratum in ERRATA.items():
        item = CELLS[place]
        assert (erratum.where, erratum.printed, erratum.holds) == (item.where, item.printed, item.recomputed)
        assert (erratum.why, erratum.category) == (item.why, item.category)
        assert erratum.holds != erratum.printed


def test_results_hold_no_slip():
    found = {(item.entry.algorithm, item.task): item.score for item in collections.results("review-2021")}
    for place, erratum in ERRATA.items():
        if place.quantity != "score":
            continue
        held, printed = found[place.algorithm, place.row], printed_number(erratum.printed)
        assert f"{held:.10g}" == erratum.holds
        assert not printed.is_rounding_of(held)


def test_results_are_all_that_the_tables_print():
    found = {(item.entry.algorithm, item.task) for item in collections.results("review-2021")}
    printed = {
        (cell.place.algorithm, cell.place.row)
        for cell in printed_cells()
        if cell.place.quantity == "score" and cell.printed != "N/A"
    }
    assert found == printed


@pytest.mark.parametrize(
    ("place", "recomputed"),
    [
        (Location(4, "mean", "R2D2", "hns"), "3376.32"),
        (Location(4, "median", "R2D2", "hns"), "1337.17"),  # Robotank: 100 (132.4 - 2.16) / (11.9 - 2.16)
        (Location(8, "mean", "R2D2", "hwrns"), "98.78"),
        (Location(8, "median", "R2D2", "hwrns"), "33.62"),
        (Location(8, "hwrb", "R2D2", "hwrns"), "15"),
        (Location(12, "hwrb", "NGU", "saber"), "8"),
        (Location(3, "mean efficiency", "Rainbow", "hns"), "4.37E-08"),  # 8.7425 / 2E+8
        (Location(4, "training frames", "NGU", "hns"), "35B"),
        (Location(7, "hwrb", "Human World Record", "hwrns"), "57"),
        (Location(3, "mean efficiency", "Human", "hns"), "N/A"),
        (Location(5, "defender", "DreamerV2", "hns"), "N/A"),
    ],
)
def test_values_computed_by_hand(place, recomputed):
    assert CELLS[place].recomputed == recomputed


def test_a_slow_twin_of_every_percentage():
    scores = {(item.entry.algorithm, item.task): item.score for item in collections.results("review-2021")}
    checked = Counter[str]()
    for place, item in CELLS.items():
        score = scores.get((place.algorithm, place.row))
        if place.quantity == "score" or score is None:
            continue
        high = HUMAN if place.quantity == "hns" else RECORD
        percent = 100 * (score - RANDOM[place.row]) / (high[place.row] - RANDOM[place.row])
        if place.quantity == "saber":
            percent = min(max(percent, 0.0), 200.0)
        written = float(item.recomputed)
        number = printed_number(item.recomputed)
        assert abs(written - percent) <= number.half_unit * (1 + 1e-9), place
        checked[place.quantity] += 1
    assert checked == {"hns": 1058, "hwrns": 1058, "saber": 1058}


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (Location(4, "median", "R2D2", "hns"), "1342.27 with the references rounded as the review prints them"),
        (Location(3, "alien", "Rainbow", "hns"), ""),
        (
            Location(5, "bowling", "GDI-I3", "hns"),
            "not of the score 202 printed beside it, but of 201.9, which is rounded to it",
        ),
        (
            Location(6, "robotank", "GDI-I3", "hns"),
            "1092.78 with the references rounded as the review prints them; not of the score 108 printed beside it, "
            "but of 108.2, which is rounded to it",
        ),
        (
            Location(7, "alien", "LASER", "hwrns"),
            "not of the score 976.51 printed beside it, but of 35565.9, which is correct",
        ),
    ],
)
def test_what_agrees_by_rounding_alone_says_so(place, why):
    assert CELLS[place].verdict == "agrees"
    assert CELLS[place].why == why


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [("134.26", "agrees"), ("134.27", "differs"), ("134", "agrees"), ("N/A", "differs"), ("134/26", "differs")],
)
def test_a_cell_agrees_up_to_its_last_digit(printed, verdict):
    found = review.compare(PrintedCell(Location(3, "alien", "Rainbow", "hns"), printed))
    assert (found.verdict, found.why) == (verdict, "")


def test_every_statement_that_differs_is_explained():
    known = {erratum.where: erratum for erratum in errata("fan-2021") if erratum.place is None}
    differing = {where: item for where, item in STATEMENTS.items() if item.verdict == "differs"}
    assert differing.keys() <= known.keys()
    for where, item in differing.items():
        assert (item.why, item.category) == (known[where].why, known[where].category)
    assert not {where for where, item in STATEMENTS.items() if item.verdict == "agrees"} & known.keys()


def statement(start):
    (found,) = [item for where, item in STATEMENTS.items() if where.startswith(start)]
    return found


@pytest.mark.parametrize(
    ("start", "recomputed", "verdict"),
    [
        ("Human World Records Baseline: mean HWRNS of Agent57", "125.920%", "agrees"),
        ("Human World Records Baseline: mean HWRNS of GDI-H3", "154.265%", "agrees"),
        (
            "Human World Record: records",
            "30 by none of the algorithms; 35 not by the best of them alone",
            "differs",
        ),
        ("Game Time: 200 million frames in days", "38.58 at 60 per second; 41.67 by Eq. 6", "differs"),
        ("Learning Efficiency: 200 million frames in days", "38.58 at 60 per second; 41.67 by Eq. 6", "differs"),
        ("Game Time: 100 billion frames in years", "52.8 at 60 per second; 57.0 by Eq. 6", "differs"),
        ("Maximum Episode Length: 30", "108,000", "differs"),
        ("Introduction: games in which Agent57", "57; least on Skiing, 101.05%", "agrees"),
        ("Mean and median HNS", "57, save DreamerV2 55, SimPLe 36, Go-Explore 55", "differs"),
        ("Appendix: scores of MuZero", "57 of 57 are the same there", "agrees"),
        ("Appendix: scores of DreamerV2", "0 of 55 are the same there", "differs"),
        ("Appendix: scores of Rainbow", "54 of 56 are the same there; not River Raid, Up 'n Down", "differs"),
        ("Tables 1 and 2, Rainbow and SimPLe", "3 to 18, 4 in 2 of 57 games", "differs"),
    ],
)
def test_statements(start, recomputed, verdict):
    found = statement(start)
    assert (found.recomputed, found.verdict) == (recomputed, verdict)
