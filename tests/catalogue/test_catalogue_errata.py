from collections import Counter

import pytest

from arcademark.catalogue.collections import sources
from arcademark.catalogue.errata import DISAGREEMENT, categories, errata
from arcademark.errors import UnknownNameError
from arcademark.suite.references import disagreements


def test_every_other_score_printed_for_a_reference_is_an_erratum_of_who_prints_it():
    found = [item for item in errata(category=DISAGREEMENT) if "score of" in item.where or "record of" in item.where]
    expected = [
        (other.source, other.score, reference.score)
        for reference in disagreements()
        for other in reference.alternatives
    ]
    assert len(disagreements()) == 10
    assert len(expected) == 11  # Video Pinball's random score is printed otherwise by two
    shown = [(item.where.split(": ")[0], float(item.printed), float(item.holds)) for item in found]
    assert Counter(shown) == Counter(expected)
    assert Counter(item.paper for item in found) == {"fan-2021": 6, "hafner-2021": 4, "quan-2020": 1}
    battle_zone = next(item for item in found if item.where.endswith("random score of Battle Zone"))
    assert (battle_zone.printed, battle_zone.holds) == ("236", "2360")


def test_the_papers_errata_stand_by_paper_and_say_everything():
    found = errata()
    assert [item.paper for item in found] == sorted(item.paper for item in found)
    assert {item.paper for item in found} <= sources().keys()
    assert {"aitchison-2023", "bellemare-2013", "fan-2021"} <= {item.paper for item in found}
    for item in found:
        assert all((item.where, item.printed, item.holds, item.category, item.why))
        assert item.printed != item.holds
        assert item.why.endswith((".", ")")), item.where


def test_selections_are_parts_of_the_whole():
    whole = errata()
    assert Counter(item for paper in sources() for item in errata(paper)) == Counter(whole)
    assert Counter(item for category in categories() for item in errata(category=category)) == Counter(whole)
    both = errata("aitchison-2023", "unit")
    assert set(both) == set(errata("aitchison-2023")) & set(errata(category="unit"))
    assert both
    assert errata("mnih-2016") == ()


def test_unknown_papers_and_categories_are_refused_with_the_closest():
    with pytest.raises(UnknownNameError, match="'fan-2021'"):
        errata("fan-2012")
    with pytest.raises(UnknownNameError, match="'unit'"):
        errata(category="units")
