"""Papers are cited by the keys that the data carry; these keys are checked against the sentences beside them."""

import re

import pytest

from arcademark.analysis.citations import cited
from arcademark.analysis.scoring.analysis import analyse
from arcademark.catalogue.collections import sources
from arcademark.catalogue.reading import read_bibtex
from arcademark.suite import references, subsets
from arcademark.suite.protocols import papers, protocols
from arcademark.suite.tables import read_tables

SUITES = {"atari-57": references.KINDS, "ale-55": ("random",), "atari-100k": ("random", "human")}


def named():
    """Return the texts that name papers, each with its keys."""
    found = [(str(read_tables("protocols.toml")[name]), papers(rules)) for name, rules in protocols().items()]
    found += [(item.citation, item.papers) for item in subsets.subsets().values()]
    for suite, kinds in SUITES.items():
        found += [(item.source, item.papers) for kind in kinds for item in references.references(kind, suite).values()]
    return found + [(item.source, (item.paper,)) for one in references.disagreements() for item in one.alternatives]


def test_keys_are_those_of_the_papers_that_the_texts_name():
    for text, keys in named():
        for key in keys:
            assert re.sub(r"(?<=\d)[ab]$", "", sources()[key].short) in text
        assert {key for key in read_bibtex() if sources()[key].short in text} <= set(keys)


def test_papers_are_cited_in_the_order_of_their_keys_where_they_have_an_entry():
    found = cited(["quan-2020", "fan-2021", "badia-2020a", "fan-2021", "no such key"])
    assert [item.text for item in found] == ["Badia et al. 2020a", "Fan 2021"]
    assert [item.key for item in found] == ["badia2020agent57", "fan2021review"]
    assert all(item.bibtex.startswith("@") and item.url.startswith("https://") for item in found)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (
            {"suite": "atari-57"},
            {"agarwal-2021", "aitchison-2023", "badia-2020a", "fan-2021", "toromanoff-2019"},
        ),
        ({"suite": "ale-55"}, {"agarwal-2021", "bellemare-2013"}),
        ({"suite": "atari-100k"}, {"agarwal-2021", "micheli-2023"}),
        ({"metrics": ("hns",), "protocol": "saber"}, {"machado-2018"}),
    ],
)
def test_a_report_of_a_table_cites_what_it_is_measured_by(asked, expected):
    report = analyse({"Mine": {"pong": 3.0, "freeway": 20.0}}, **asked)
    assert {sources()[key].short for key in expected} <= {item.text for item in report.citations}
