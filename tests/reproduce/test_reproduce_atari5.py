"""The Atari-5 paper recomputed: nothing printed is missed, what differs is explained, and a wrong print is noticed."""

from collections import Counter
from functools import cache

import atari5_training as plain
import pytest

from arcademark.catalogue.errata import NOT_DECIDABLE, errata
from arcademark.errors import ArcadeMarkError
from arcademark.reproduce import comparison
from arcademark.reproduce.atari5 import data as atari5_data
from arcademark.reproduce.atari5 import figures as figures_atari5
from arcademark.reproduce.atari5 import results as atari5_results
from arcademark.reproduce.atari5 import scope as atari5_scope
from arcademark.reproduce.atari5 import statements as atari5
from arcademark.suite.subsets import subset
from arcademark.suite.tasks import suite

pytestmark = pytest.mark.slow  # to recompute the whole paper

SLIPS = {slip.where: slip for slip in errata("aitchison-2023")}
OWN_WORDS = {
    "Table 2, DQN-7",
    "§4.1 and Table 8: Surround",
    "§4.1, which algorithms were removed",
    "§4.3: how subsets are ranked",
    "§4.3 and Algorithm 1: negative coefficients",
    "§5.3: the frame cap of the dataset",
    "Table 6, ICML, years",
}
"""Errata that our comparison says more of than the table of errata does, in words of its own."""


@cache
def parts():
    return atari5.parts()


@cache
def items():
    return [item for part in parts() for item in part.comparisons]


def test_no_two_comparisons_are_of_the_same_place():
    assert [where for where, count in Counter(item.where for item in items()).items() if count > 1] == []


def test_everything_that_differs_or_is_lost_is_explained():
    assert [item.where for item in items() if item.verdict != "agrees" and not item.why] == []


@pytest.mark.parametrize("where", SLIPS)
def test_every_erratum_is_compared_and_holds_what_it_says(where):
    slip = SLIPS[where]
    found = [item for item in items() if item.where == where]
    if not found:
        solaris_and_skiing = where.startswith("Table 7, Agent57")
        assert solaris_and_skiing
        return
    (item,) = found
    if slip.holds == NOT_DECIDABLE:
        assert item.verdict == "not available"
    elif item.category != slip.category:
        assert where == "§4.1, which algorithms were removed"
    else:
        assert (item.verdict, item.why) == ("differs", slip.why)
        if where not in OWN_WORDS:
            assert item.recomputed == slip.holds


def test_every_row_of_the_tables_is_there():
    rows = {part.number: len([i for i in part.comparisons if "ICML" not in i.where]) for part in parts() if part.number}
    assert [rows[number] for number in (8, 9, 10, 11)] == [63, 6, 58, 58]
    assert {game for table in (10, 11, 12) for game in atari5_data.printed(table)} == set(suite("atari-57").tasks)
    for table in (8, 9, 10, 11, 12):
        agreeing = sum(
            item.verdict == "agrees" for part in parts() if part.number == table for item in part.comparisons
        )
        assert agreeing >= len(atari5_data.printed(table))


def test_the_fits_are_those_of_a_reference_implementation():
    for name in (*atari5_data.PUBLISHED, "dqn-7"):
        games = subset(name).tasks
        r2, error, mse = plain.cross_validated(games)
        found = atari5_data.cross_validated(games)
        assert (found.r2, found.log_error, found.cv_mse) == pytest.approx((r2, error, mse))
        inputs, targets, _ = plain.sample(games)
        assert atari5_data.model(games).coefficients == pytest.approx(plain.fit(inputs, targets))
    slow = plain.game_models(atari5_data.ATARI_5)
    for game, model in atari5_data.game_models(atari5_data.ATARI_5).items():
        assert (model.intercept, *model.coefficients) == pytest.approx(slow[game][0], abs=1e-9)
        assert model.r2 == pytest.approx(slow[game][1])
    assert atari5_data.correlation("skiing", "alien") == pytest.approx(plain.correlation("skiing", "alien"))


def test_a_wrong_print_is_noticed():
    assert comparison.row("here", ("0.104", "$35,760", "10.4%"), (0.10449, 35759.52, 10.43)).verdict == "agrees"
    wrong = comparison.row("here", ("0.104", "$35,759"), (0.1046, 35759.52))
    assert (wrong.verdict, wrong.recomputed) == ("differs", "0.105, $35,760")
    with pytest.raises(ArcadeMarkError, match="not a printed number"):
        comparison.number("ten")


@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_figures_hold_what_the_text_says_of_them(number):
    figure = figures_atari5.figure(number)
    (panel,) = figure.panels
    shown = dict(zip(panel.labels, panel.series[0].values, strict=True))
    assert len(shown) == {2: 57, 3: 3, 4: 57, 5: 24}[number]
    if number == 4:
        assert sum(value > atari5_results.WELL for value in shown.values()) == 17
    if number == 5:
        assert max(shown, key=lambda pair: shown[pair]) == "Alien – Ms. Pac-Man"
        assert sum(value > atari5_results.STRONG for value in shown.values()) == 4


def statement(where):
    (found,) = (item for item in items() if item.where == where)
    return found


def test_what_agrees_could_have_differed(monkeypatch):
    proposition = "§3.1, Proposition 1: no subset score is strictly increasing"
    assert statement(proposition).verdict == "agrees"
    monkeypatch.setattr(atari5_scope, "raised", lambda name: ([1.0] * 5, [0.0] * 51 + [0.5]))
    assert {item.where: item.verdict for item in atari5_scope.order_preservation()}[proposition] == "differs"
    afterwards = "§8: which algorithms can have an Atari-5 estimate afterwards"
    assert statement(afterwards).recomputed == "44 of the 62 in the training table, those that have them"
    monkeypatch.setattr(atari5_data, "estimates", lambda name: {"MuZero": (1.0, 1.0)})
    assert {item.where: item.verdict for item in atari5_scope.claims()}[afterwards] == "differs"


def test_the_lowest_included_median_is_compared_in_percent_and_not_in_games(monkeypatch):
    where = "§4.1, which algorithms were removed"
    assert statement(where).recomputed == "the lowest included median is 53.0 %"
    monkeypatch.setattr(atari5_scope, "LEAST_MEDIAN", 60.0)
    assert {item.where: item.verdict for item in atari5_scope.dataset()}[where] == "agrees"
