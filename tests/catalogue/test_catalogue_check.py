import dataclasses

import pytest

from arcademark.catalogue import check as checking
from arcademark.catalogue import reading
from arcademark.catalogue.check import (
    apart_from_print,
    apart_from_references,
    check,
    damaged_files,
    data_files,
    read_collections,
)
from arcademark.catalogue.model import Erratum, Location, PrintedCell
from arcademark.suite import references


def erratum(place, printed):
    return Erratum("doe-2020", "Table 1, Alpha", place, printed, "what holds", "typing slip", "why")


def cell(row, printed, quantity="score", algorithm="Alpha"):
    return PrintedCell(Location(1, row, algorithm, quantity), printed)


def test_the_catalogue_is_in_order():
    found = check()
    assert found.findings == ()
    assert found.files == len(data_files())
    assert {count.collection for count in found.collections} == set(reading.read_names())
    assert found.printed_cells > 7000
    assert found.disagreements == sum(len(reference.alternatives) for reference in references.disagreements())


def test_a_whole_catalogue_has_no_damaged_file_and_is_counted(write):
    place = write()
    assert list(damaged_files(place)) == []
    assert data_files(place) == (("", "sources.toml"), ("entries", "small.toml"), ("scores", "small.csv"))
    (count,), wrong = read_collections(place)
    assert (count.algorithms, count.lost, count.games, count.results) == (2, 1, 2, 2)
    assert wrong == []


def test_a_changed_file_an_unlisted_one_and_one_that_is_gone_are_found(write):
    place = write()
    (place / "scores/small.csv").write_text("changed\n", encoding="utf-8")
    (place / "scores/new.csv").write_text("new\n", encoding="utf-8")
    (place / "entries/small.toml").unlink()
    assert [finding.where for finding in damaged_files(place)] == [
        "entries/small.toml",
        "scores/new.csv",
        "scores/small.csv",
    ]


def test_scores_that_belong_to_no_entries_are_found(write):
    _, (finding,) = read_collections(write(more="scores/orphan.csv"))
    assert finding.where == "scores/orphan.csv"


PLACE = Location(1, "pong", "Alpha", "score")


@pytest.mark.parametrize(
    ("cells", "slips", "problem"),
    [
        *(([cell("pong", printed)], [], None) for printed in ("-20.5", "-20", "-21")),  # up to its rounding
        *(([cell("pong", printed)], [], "-20.5") for printed in ("-20.4", "-22", "N/A")),
        ([cell("pong", "-22")], [erratum(PLACE, "-22")], None),
        ([cell("pong", "-22")], [erratum(PLACE, "-23")], "'-23' is printed; the tables have '-22'"),
        ([], [erratum(PLACE, "-22")], "no such cell"),
        ([], [erratum(None, "words")], None),
        ([cell("qbert", "7")], [], "has nothing"),
        ([cell("qbert", "N/A")], [], None),
        ([cell("training frames", "1000", "hns")], [], None),
        ([cell("training frames", "2M", "hns")], [], "1000"),
        ([cell("pong", "12.3", "hns")], [], None),  # percentages are recomputed elsewhere
    ],
)
def test_what_is_printed_agrees_or_an_erratum_quotes_it(write, cells, slips, problem):
    entries = reading.read_entries("small", write())
    findings = list(apart_from_print(cells, slips, entries, {("Alpha", "pong"): -20.5}))
    assert len(findings) == (problem is not None)
    assert problem is None or problem in findings[0].problem


def test_reference_players_score_what_the_references_say():
    human = [result for result in reading.read_results("review-2021") if result.entry.algorithm == "Human"]
    assert list(apart_from_references(human)) == []
    climber = next(result for result in human if result.task == "crazy_climber")
    assert climber.score == 35829.4
    printed_otherwise = dataclasses.replace(climber, score=36829.4)
    assert list(apart_from_references([printed_otherwise])) == []
    (finding,) = apart_from_references([dataclasses.replace(climber, score=37829.4)])
    assert finding.where == "review-2021: Human, crazy_climber"


def test_scores_of_agents_above_a_counter_need_a_note():
    found = reading.read_results("review-2021")
    above = [one for one in found if one.task == "kung_fu_master" and one.score > 999_999]
    assert {one.entry.algorithm for one in above} == {"GDI-H3", "Human World Record"}
    assert list(checking.impossible(above)) == []
    (finding,) = checking.impossible([dataclasses.replace(one, note="") for one in above])
    assert "1666665 is above 999999" in finding.problem


def test_scores_that_no_game_can_have_need_a_note_and_the_catalogue_has_none():
    found = [result for name in reading.read_names() for result in reading.read_results(name)]
    assert list(checking.impossible(found)) == []
    pong = next(result for result in found if result.task == "pong" and not result.note and not result.per_run)
    for score in (-21.0, 21.0):
        assert list(checking.impossible([dataclasses.replace(pong, score=score)])) == []
    for wrong in ({"score": -22.0}, {"per_run": (0.0, -22.0)}):
        (finding,) = checking.impossible([dataclasses.replace(pong, **wrong)])
        assert "-22 is below -21" in finding.problem
    (finding,) = checking.impossible([dataclasses.replace(pong, score=22.0)])
    assert "22 is above 21" in finding.problem
    begun = [result for result in found if result.task == "enduro" and result.score < 0]
    assert {result.entry.protocol for result in begun} == {"human-starts"}
