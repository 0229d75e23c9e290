"""Each reason given for a slip of the review's tables, tried: with that cause we compute what is printed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from arcademark.catalogue.errata import errata
from arcademark.catalogue.model import Location
from arcademark.catalogue.printed import printed_cells
from arcademark.catalogue.printed import printed_number as number
from arcademark.reproduce.review.values import REFERENCES, as_rounded, ours, percentages, value
from arcademark.suite.tasks import games

PRINTED = {cell.place: cell.printed for cell in printed_cells()}
OTHER = {
    ("Random", "battle_zone"): 236.0,
    ("Random", "phoenix"): 761.5,
    ("Human", "alien"): 7127.8,
    ("Human", "fishing_derby"): -38.8,
    ("Human", "time_pilot"): 5229.1,
}
BEHIND = as_rounded().with_references(OTHER)
"""The references that the review's percentages were computed with."""

SLIPS = {}
for erratum in errata("fan-2021"):
    if erratum.place is not None:
        SLIPS.setdefault(erratum.category, []).append((erratum.place, erratum.printed))


def slips(category):
    return [pytest.param(*slip, id="-".join(map(str, vars(slip[0]).values()))) for slip in SLIPS[category]]


def gives(place, printed, basis):
    exact = value(place, basis)
    return exact is not None and number(printed).is_rounding_of(exact)


def cut_off(exact, printed):
    unit = 2 * number(printed).half_unit
    return math.isclose(math.floor(exact / unit) * unit, float(printed), rel_tol=1e-9)


def unheld_mean(algorithm):
    """The mean of HWRNS held at 200 percent but not at 0."""
    return float(np.mean(np.minimum(list(percentages(algorithm, "hwrns", BEHIND).values()), 200)))


def test_all_percentages_but_37_are_those_of_the_references_behind_them():
    apart = [
        place
        for place, printed in PRINTED.items()
        if place.row in games() and place.quantity != "score" and printed != "N/A"
        if not number(printed) or not gives(place, printed, BEHIND)
    ]
    assert len(apart) == 37


@pytest.mark.parametrize(("place", "printed"), slips("other reference"))
def test_other_reference(place, printed):
    if place.quantity == "score":
        assert OTHER[place.algorithm, place.row] == float(printed)
        return
    if place.row in games():
        mine = {key: score for key, score in OTHER.items() if key[1] == place.row}
        assert len(mine) == 1
        assert gives(place, printed, as_rounded().with_references(mine))
    assert gives(place, printed, BEHIND)
    if place.quantity != "hns":
        assert gives(place, printed, as_rounded().with_references({("Random", "battle_zone"): 236}))


@pytest.mark.parametrize(("place", "printed"), slips("not clipped to bounds"))
def test_not_held_at_bounds(place, printed):
    if place.row in games():
        hwrns = percentages(place.algorithm, "hwrns", BEHIND)[place.row]
        assert number(printed).is_rounding_of(hwrns)
        assert not 0 <= hwrns <= 200
        return
    mean = unheld_mean(place.algorithm)
    if place.row == "mean":
        assert number(printed).is_rounding_of(mean)
    else:
        exact = mean / 100 / ours().frames[place.algorithm]
        assert number(printed).is_rounding_of(exact) or (place.algorithm == "Muesli" and cut_off(exact, printed))


@pytest.mark.parametrize(("place", "printed"), slips("other score"))
def test_other_score(place, printed):
    if place.row == "mean":
        assert gives(place, printed, BEHIND.with_scores({("GDI-H3", "beam_rider"): 422890}))
        return
    beside = float(PRINTED[replace(place, quantity="score")])
    assert gives(place, printed, BEHIND.with_scores({(place.algorithm, place.row): beside}))


@pytest.mark.parametrize(("place", "printed"), slips("copied cell"))
def test_copied_cell(place, printed):
    origin = {
        "score": Location(3, "beam_rider", "GDI-I3", "hns"),
        "skiing": Location(3, "skiing", "GDI-H3", "hns"),
        "mean efficiency": Location(8, "mean efficiency", "GDI-I3", "hwrns"),
    }["score" if place.quantity == "score" else place.row]
    assert PRINTED[origin] == printed


@pytest.mark.parametrize(("place", "printed"), slips("shifted column"))
def test_shifted_column(place, printed):
    hns, hwrns = (value(Location(0, place.row, place.algorithm, quantity), BEHIND) for quantity in ("hns", "hwrns"))
    moved = {"score": hwrns, "hwrns": hns, "saber": min(hns, 200)}[place.quantity]
    assert number(printed).is_rounding_of(moved)


@pytest.mark.parametrize(("place", "printed"), slips("lost factor"))
def test_lost_factor(place, printed):
    if place.quantity == "score":
        assert 10 * float(printed) == ours().references[place.algorithm][place.row]
        return
    quantity = "hwrns" if place.quantity == "saber" else place.quantity
    assert number(printed).is_rounding_of(percentages(place.algorithm, quantity, BEHIND)[place.row] / 100)


@pytest.mark.parametrize(("place", "printed"), slips("count"))
def test_divided_by_37(place, printed):
    quantity = "hns" if place.quantity == "hns" else "hwrns"
    scores = list(percentages("SimPLe", quantity, BEHIND).values())
    assert (place.algorithm, len(scores)) == ("SimPLe", 36)
    mean = sum(scores) / 37
    shown = float(f"{mean:.1f}" if quantity == "hns" else f"{mean:.2f}")
    exact = mean if place.row == "mean" else shown / 100 / ours().frames["SimPLe"]
    assert number(printed).is_rounding_of(exact)


@pytest.mark.parametrize(("place", "printed"), slips("rounding"))
def test_cut_off(place, printed):
    exact = value(place, BEHIND)
    assert not number(printed).is_rounding_of(exact)
    assert cut_off(exact, printed)


@pytest.mark.parametrize(("place", "printed"), slips("typing slip"))
def test_typing_slips_change_nothing_else(place, printed):
    if place.algorithm in REFERENCES:  # no percentage of that game was computed with what is printed
        wrong = BEHIND.with_references({(place.algorithm, place.row): float(printed)})
        rows = [(other, text) for other, text in PRINTED.items() if other.row == place.row and other.quantity == "hns"]
        rows = [(other, text) for other, text in rows if number(text)]
        assert len(rows) >= 18
        assert all(gives(other, text, BEHIND) and not gives(other, text, wrong) for other, text in rows)
        return
    (holds,) = [item.holds for item in errata("fan-2021") if item.place == place]
    apart = [(a, b) for a, b in zip(printed, holds, strict=True) if a != b]
    assert len(apart) == 1 or sorted(printed) == sorted(holds)


@pytest.mark.parametrize(("place", "printed"), slips("cause not found"))
def test_no_known_cause_gives_the_rest(place, printed):
    assert not gives(place, printed, BEHIND)
    if place.quantity == "score":
        held = f"{ours().scores[place.algorithm][place.row]:.10g}"
        assert held in [PRINTED[replace(place, table=table)] for table in range(3, 15)]
    elif place.row in games():
        (low, high) = (ours().references[name][place.row] for name in ("Random", "Human World Record"))
        score = low + float(printed) / 100 * (high - low)
        tolerance = number(printed).half_unit / 100 * (high - low)
        prints = {float(PRINTED[replace(place, table=table, quantity="score")]) for table in range(3, 15)}
        assert all(abs(other - score) > tolerance for other in prints)


def test_every_category_is_tried():
    tried = {"other reference", "cause not found", "not clipped to bounds", "copied cell", "other score", "typing slip"}
    assert tried | {"lost factor", "count", "shifted column", "rounding"} == SLIPS.keys()


def test_rounded_references_are_roundings_of_ours():
    for name in REFERENCES:
        full, rounded = ours().references[name], as_rounded().references[name]
        assert full.keys() == rounded.keys()
        assert all(abs(full[task] - rounded[task]) <= 0.5 for task in full)
    assert as_rounded().references["Random"]["battle_zone"] == 2360
    assert as_rounded().references["Random"]["robotank"] == 2.2
