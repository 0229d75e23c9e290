import csv
import hashlib
import io
from collections import Counter

import pytest
from small_catalogue import SOURCES

from arcademark.catalogue.collections import sources
from arcademark.catalogue.errata import DISAGREEMENT, NOT_DECIDABLE, categories, errata, read_errata
from arcademark.catalogue.model import Location
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.suite.references import disagreements

COLUMNS = ("table", "row", "algorithm", "quantity", "where", "printed", "holds", "category", "why")
ROW = ("3", "alien", "Alpha", "hns", "Table 3, Alpha, Alien, HNS", "12.3", "1230", "lost factor", "100 times less")
WITHOUT_PLACE = ("", "", "", "", "§2", "5 mW", "5 MW", "unit", "A power station.")
ALL = SOURCES + "".join(
    f'[{key}]\nauthors = "A"\ntitle = "T"\nvenue = "V"\nyear = 2021\n'
    for key in ("fan-2021", "hafner-2021", "quan-2020")
)


@pytest.fixture
def written(tmp_path):
    """Write errata of one paper, and the papers whose references disagree."""

    def write(*rows, name="doe-2020.csv", papers=ALL, columns=COLUMNS):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([columns, *rows])
        (tmp_path / "errata").mkdir(exist_ok=True)
        for path, text in ((tmp_path / "sources.toml", papers), (tmp_path / "errata" / name, out.getvalue())):
            path.write_text(text, encoding="utf-8")
            digest = hashlib.sha256(text.encode()).hexdigest()
            (path.parent / "SHA256SUMS").write_text(f"{digest}  {path.name}\n", encoding="utf-8")
        return tmp_path

    return write


def test_rows_are_read_as_they_stand(written):
    cell, sentence = (item for item in read_errata(written(ROW, WITHOUT_PLACE)) if item.paper == "doe-2020")
    assert cell.place == Location(3, "alien", "Alpha", "hns")
    assert (cell.printed, cell.holds, cell.category, cell.why) == ROW[5:]
    assert sentence.place is None
    assert sentence.where == "§2"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(({column: ""}, rf"\$\.{column}`") for column in ("where", "printed", "holds", "category", "why")),
        ({"table": ""}, r"\$\.place\.table`"),
        ({"table": "III"}, r"\$\.place\.table`"),
        ({"algorithm": ""}, r"\$\.place\.algorithm`"),
        ({"quantity": "rank"}, r"\$\.place\.quantity`"),
        ({"row": "Alien"}, "'Alien' is no row"),
        ({"row": ""}, "'' is no row"),
    ],
)
def test_a_row_that_lacks_what_it_must_say_is_refused_with_its_line(written, change, message):
    wrong = tuple(change.get(name, cell) for name, cell in zip(COLUMNS, ROW, strict=True))
    with pytest.raises(ArcadeMarkError, match=rf"doe-2020\.csv, line 3: .*{message}"):
        read_errata(written(WITHOUT_PLACE, wrong))


@pytest.mark.parametrize(
    ("rows", "how", "message"),
    [
        ([WITHOUT_PLACE, WITHOUT_PLACE], {}, "line 3: '§2' stands twice"),
        ([ROW], {"name": "roe-2020.csv"}, r"roe-2020\.csv: no source has the key 'roe-2020'"),
        ([ROW[:-1]], {"columns": COLUMNS[:-1]}, "line 2: .*`why`"),
        ([ROW], {"papers": SOURCES}, r"disagreements\.csv: no source has the key"),
    ],
)
def test_tables_that_cannot_be_are_refused(written, rows, how, message):
    with pytest.raises(ArcadeMarkError, match=message):
        read_errata(written(*rows, **how))


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


def test_what_cannot_be_decided_says_where_the_two_disagree():
    open_ones = [item for item in errata() if item.holds == NOT_DECIDABLE]
    assert open_ones
    assert {item.category for item in open_ones} <= {DISAGREEMENT, "texts disagree", "unit", "recomputed otherwise"}
