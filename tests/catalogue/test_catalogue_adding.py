"""A contributed collection is checked as those of the catalogue are, and written into a checkout."""

import shutil
from pathlib import Path

import pytest
from small_catalogue import ENTRY, LOST, SCORES, SOURCES

from arcademark.catalogue import collections, reading
from arcademark.catalogue.adding import CollectionOverlap, add
from arcademark.catalogue.check import damaged_files, read_collections
from arcademark.errors import ArcadeMarkError


@pytest.fixture
def give(tmp_path):
    """Write a contribution."""

    def make(entries=ENTRY + LOST, scores=SCORES, sources=SOURCES, name="doe-2020"):
        folder = tmp_path / "given"
        folder.mkdir(exist_ok=True)
        texts = {f"{name}.toml": entries, f"{name}.csv": scores, "sources.toml": sources}
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        return [folder / file for file, text in texts.items() if text]

    return make


@pytest.fixture
def checkout(tmp_path):
    return Path(shutil.copytree(reading.data_directory(), tmp_path / "data"))


def rows(collection, algorithm, change):
    """A collection's scores of one algorithm as those of Alpha, changed."""
    (entry,) = (one for one in collections.entries(collection) if one.algorithm == algorithm)
    scores = collections.scores_of(entry)
    return SCORES.splitlines()[0] + "".join(
        f"\nAlpha,{game},{change(game, result.score)},,,," for game, result in scores.items()
    )


def test_what_is_in_order_is_counted_and_nothing_is_written(give):
    found = add(give())
    assert (found.ok, found.findings, found.remarks, found.written) == (True, (), (), ())
    assert (found.algorithms, found.games, found.results) == (2, 2, 2)


def test_the_first_problem_of_every_table_and_row_is_found_with_its_file_and_line(give):
    entries = ENTRY.replace("value-based", "valuebased").replace("dqn-2015", "dqn-2051") + LOST.replace("Table 2", " ")
    scores = SCORES.replace("pong", "ponk").replace("1000", "nan") + "Alpha,krull,1,,,0\nGamma,krull,1,,,0,\n"
    found = add(give(entries, scores, SOURCES.replace("2020\n", '"2020"\n') + '\n[roe-2021]\nauthors = "Roe"\n'))
    assert not found.ok
    assert [finding.where for finding in found.findings] == [
        "sources.toml, line 2, [doe-2020]",
        "sources.toml, line 8, [roe-2021]",
        "doe-2020.toml, line 2, [Alpha]",
        "doe-2020.toml, line 14, [Beta]",
        "doe-2020.csv, line 2",
        "doe-2020.csv, line 3",
        "doe-2020.csv, line 4",
        "doe-2020.csv, line 5",
    ]
    told = [finding.problem for finding in found.findings]
    assert "did you mean 'pong'" in told[-4]
    assert "6 cells, expected 7" in told[-2]


@pytest.mark.parametrize(
    ("files", "where", "told"),
    [
        ({"entries": "[Alpha"}, "doe-2020.toml", "is not TOML"),
        ({"entries": "a = " + "[" * 100_000}, "doe-2020.toml", "is not TOML"),
        ({"entries": "# none\n"}, "doe-2020.toml", "contains no algorithm"),
        ({"scores": SCORES.replace("algorithm,", "agent,")}, "doe-2020.csv, line 1", "the columns are agent"),
        ({"scores": SCORES + 'Alpha,krull,"1\n'}, "doe-2020.csv, line 4", "is not CSV"),
        ({"scores": SCORES.replace(",3,", f",{'9' * 5000},")}, "doe-2020.csv, line 2", "$.runs"),
        ({"sources": SOURCES + 'bibtex = "x"\n'}, "sources.toml, line 2, [doe-2020]", "requires a 'url'"),
        *(
            ({"sources": f"{SOURCES}url = {url}\n"}, "sources.toml, line 2, [doe-2020]", "expected an address")
            for url in ('"javascript:alert(1)"', '"http://a.org"', "'https://a.org/\"x'", '"https://a.org/<b>"')
        ),
    ],
)
def test_what_cannot_be_read_is_said_in_one_finding(give, files, where, told):
    first = add(give(**files)).findings[0]
    assert first.where == where
    assert told in first.problem


def test_a_paper_that_the_catalogue_knows_may_be_given_again_but_not_otherwise(give):
    known = collections.sources()["fan-2021"]
    table = f'authors = "{known.authors}"\ntitle = "{known.title}"\nvenue = "{known.venue}"\nyear = '
    entries = ENTRY.replace("doe-2020", "fan-2021")
    assert add(give(entries, SCORES, f"[fan-2021]\n{table}2021\n")).ok
    (finding,) = add(give(entries, SCORES, f"[fan-2021]\n{table}2022\n")).findings
    assert "has other data for this paper" in finding.problem


@pytest.mark.parametrize(
    "names", [["a-1.toml"], ["a-1.toml", "b-1.csv"], ["a-1.toml", "a-1.csv", "x.txt"], ["A.toml", "A.csv"]]
)
def test_other_files_are_refused(names):
    with pytest.raises(ArcadeMarkError, match=r"expected NAME.toml|name it after its source"):
        add([Path(name) for name in names])


def test_scores_are_set_beside_those_of_the_same_algorithm_and_lost_factors_told(give):
    scores = rows("review-2021", "Rainbow", lambda game, score: score / 10 if game == "seaquest" else score)
    found = add(give(ENTRY + 'same_as = "Muesli"\n', scores))
    assert found.compared == (CollectionOverlap("Alpha", "Muesli", "review-2021", 57, 1),)
    found = add(give(ENTRY + 'same_as = "rainbow"\n', scores))
    assert CollectionOverlap("Alpha", "Rainbow", "review-2021", 57, 56) in found.compared
    (remark,) = (one for one in found.remarks if one.where == "Alpha, seaquest")
    assert "1589.89 differs by a factor of 10 or more from" in remark.problem
    assert "15898.9 in review-2021" in remark.problem
    assert not found.ok
    answered = "\n".join(line + "of a port" if "seaquest" in line else line for line in scores.splitlines())
    left = add(give(ENTRY + 'same_as = "rainbow"\n', answered)).remarks
    assert left == tuple(one for one in found.remarks if one != remark)


def test_a_copied_column_and_a_copied_cell_are_striking(give):
    found = add(give(ENTRY, rows("review-2021", "Muesli", lambda game, score: 5.0 if game == "pong" else score)))
    (remark,) = found.remarks
    assert remark.where == "Alpha"
    assert remark.problem.startswith("has the score of Muesli (Fan 2021) on ")
    (cell,) = add(give(ENTRY, SCORES.replace("pong,-20.5,0.5", "krull,1000,0.5").replace("doubtful", ""))).remarks
    assert (cell.where, "score of krull, 1000" in cell.problem) == ("Alpha, qbert", True)


def test_scores_that_no_game_can_have_need_a_note(give):
    (finding,) = add(give(scores=SCORES.replace("-20.5", "-30"))).findings
    assert finding.where == "doe-2020.csv, line 2"
    assert "-30 is below -21" in finding.problem
    assert add(give(scores=SCORES.replace("-20.5", "-30").replace(",3,\n", ",3,points of two games\n"))).ok


def test_it_is_written_into_a_checkout_with_its_papers_and_checksums(give, checkout):
    before = (checkout / "sources.toml").read_text(encoding="utf-8")
    found = add(give(), checkout)
    assert found.written == (
        *("entries/doe-2020.toml", "scores/doe-2020.csv", "sources.toml"),
        *("entries/SHA256SUMS", "scores/SHA256SUMS", "SHA256SUMS"),
    )
    assert list(damaged_files(checkout)) == []
    counts, wrong = read_collections(checkout)
    assert ("doe-2020" in [count.collection for count in counts], wrong) == (True, [])
    after = (checkout / "sources.toml").read_text(encoding="utf-8")
    assert after.replace(SOURCES.strip() + "\n\n", "") == before
    assert after.index("[dhariwal-2017]") < after.index("[doe-2020]") < after.index("[ecoffet-2019]")


def test_a_collection_is_replaced_only_when_asked(give, checkout):
    add(give(), checkout)
    with pytest.raises(ArcadeMarkError, match="has a collection of this name"):
        add(give(), checkout)
    assert add(give(scores=SCORES.replace("1000", "2000")), checkout, overwrite=True).ok
    assert "2000" in (checkout / "scores/doe-2020.csv").read_text(encoding="utf-8")


def test_nothing_is_written_where_something_is_wrong(give, checkout, tmp_path):
    assert not add(give(scores=SCORES.replace("pong", "ponk")), checkout).ok
    assert not (checkout / "scores/doe-2020.csv").exists()
    with pytest.raises(ArcadeMarkError, match="contains no catalogue"):
        add(give(), tmp_path)


def test_papers_that_are_no_tables_of_their_own_are_refused(give, checkout):
    inline = 'doe-2020 = { authors = "Doe", title = "A Paper", venue = "Somewhere", year = 2020 }\n'
    with pytest.raises(ArcadeMarkError, match="begins with"):
        add(give(sources=inline), checkout)
    assert not (checkout / "entries/doe-2020.toml").exists()


def test_line_ends_of_windows_are_made_ours(give, checkout):
    for path in (given := give()):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert add(given, checkout).ok
    assert b"\r" not in (checkout / "scores/doe-2020.csv").read_bytes()
