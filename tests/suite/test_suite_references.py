import statistics

import pytest

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.suite import tables
from arcademark.suite.references import disagreements, references, scores
from arcademark.suite.tasks import suite, suites

ALL = [(name, kind) for name, entry in suites().items() for kind in entry.references]


def agree_when_rounded(a, b):
    """Whether two printed numbers are the same but for the digits printed."""

    def digits(number):
        return len(f"{number:.10f}".rstrip("0").split(".")[1])

    return abs(a - b) <= 0.5 * 10 ** -min(digits(a), digits(b)) + 1e-9


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_a_suite_has_each_of_its_references_for_all_its_tasks_with_a_source(name, kind):
    found = references(kind, name)
    assert tuple(found) == suite(name).tasks
    for task, reference in found.items():
        assert (reference.task, reference.kind) == (task, kind)
        assert reference.source
        assert all(other.source and other.note for other in reference.alternatives)
        assert reference.note or not reference.alternatives


@pytest.mark.parametrize(
    ("name", "kind", "total", "median"),
    [
        ("atari-57", "random", 34608.18, 148.3),
        ("atari-57", "human", 606494.23, 4756.5),
        ("atari-57", "human_world_record", 157963478.6, 162850),
        ("ale-55", "random", 61320.6, 156.1),
    ],
)
def test_a_column_as_a_whole_equals_the_printed_one(name, kind, total, median):
    column = scores(kind, name).values()
    assert sum(column) == pytest.approx(total, abs=0.005)
    assert statistics.median(column) == median


def test_every_row_is_of_a_reference_of_a_suite():
    rows = {
        name: [tuple(row.values())[:3] for row in tables.read_rows(name)]
        for name in ("references.csv", "disagreements.csv")
    }
    assert sorted(rows["references.csv"]) == sorted(
        (name, task, kind) for name, kind in ALL for task in suite(name).tasks
    )
    assert {*rows["disagreements.csv"]} <= {*rows["references.csv"]}


def test_rounding_is_no_disagreement():
    assert agree_when_rounded(227.75, 227.8)
    assert not agree_when_rounded(-38.7, -38.8)
    for reference in disagreements():
        assert not any(agree_when_rounded(reference.score, other.score) for other in reference.alternatives)


@pytest.mark.parametrize("kind", ["random", "human"])
def test_references_of_atari_100k_are_those_of_atari_57_rounded_to_a_digit(kind):
    usual = scores(kind)
    assert suite("atari-100k").references == ("random", "human")
    for task, reference in references(kind, "atari-100k").items():
        assert agree_when_rounded(usual[task], reference.score)
        assert bool(reference.note) == (usual[task] != reference.score)


def test_what_there_is_not_is_refused():
    with pytest.raises(ArcadeMarkError, match="'ale-55' has no human references"):
        scores("human", "ale-55")
    with pytest.raises(UnknownNameError, match="did you mean 'human'"):
        scores("humans")
    with pytest.raises(UnknownNameError, match="unknown suite"):
        scores("human", "procgen")
