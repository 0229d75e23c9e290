import dataclasses

import pytest

from arcademark.analysis import catalogue as documents
from arcademark.catalogue import collections
from shown import printed


def shown(item):
    return printed(documents.Catalogue((item,)), 80, "catalogue-algorithms").replace("\N{NO-BREAK SPACE}", " ")


def item(name):
    (found,) = documents.catalogue(collections.select("review-2021", [name])).algorithms
    return found


def test_mean_and_median_are_over_the_games_that_have_both_references():
    (uct,) = documents.catalogue(collections.select("ale-2013", ["UCT"])).algorithms
    worth = {score.game: score.hns for score in uct.scores}
    assert uct.games == len(uct.scores) == 54
    assert {game for game, hns in worth.items() if hns is None} == {
        *("carnival", "elevator_action", "journey_escape", "pooyan")
    }
    known = sorted(hns for hns in worth.values() if hns is not None)
    assert len(known) == 50
    assert uct.mean_hns == pytest.approx(sum(known) / 50)
    assert uct.median_hns == pytest.approx((known[24] + known[25]) / 2)


def test_uncertainty_and_runs_stand_beside_the_score_they_belong_to():
    rainbow = item("Rainbow")
    first, *others = rainbow.scores or ()
    assert first.game == "alien"
    kind = "standard deviation over 5 runs"
    measured = dataclasses.replace(first, uncertainty=120.5, uncertainty_kind=kind, runs=5)
    made = dataclasses.replace(rainbow, scores=(measured, *others))
    text = shown(made)
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.startswith(("Alien", "Amidar"))}
    assert rows["Alien"] == ["9,491.7", "120.5", "134", "%", "5", "227.75", "7,127.7"]
    assert rows["Amidar"] == ["5,131.2", "–", "299", "%", "–", "5.77", "1,719.5"]
    assert "±: standard deviation over 5 runs." in text
    assert "±" not in shown(rainbow)


def test_the_csv_holds_no_formulas():
    strange = dataclasses.replace(item("Rainbow"), name="=1+1")
    for text in (documents.long_csv([strange]), documents.wide_csv([strange])):
        assert "'=1+1" in text
        assert not any(cell.startswith("=") for line in text.splitlines() for cell in line.split(","))
