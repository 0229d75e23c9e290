"""``arcademark reproduce`` on the papers themselves."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from arcademark.analysis.reproductions import papers

PARTS = [
    pytest.param(name, kind, number, id=f"{name}-{kind}-{number}")
    for name, paper in papers.PAPERS.items()
    for kind, numbers in (("table", paper.tables), ("figure", paper.figures))
    for number in numbers
]


@pytest.mark.parametrize(("paper", "kind", "number"), PARTS)
def test_every_table_and_figure_can_be_shown(invoke, paper, kind, number):
    answer = invoke("reproduce", paper, f"--{kind}", number)
    assert (answer.code, answer.err) == (0, "")
    assert f"{kind.capitalize()} {number}: " in answer.out
    assert "nan" not in answer.out.lower().split()


@pytest.mark.slow
@pytest.mark.parametrize("paper", papers.PAPERS)
def test_a_whole_paper_is_explained_and_shown_in_every_form(invoke, paper):
    answer = invoke("reproduce", paper, "--save", "page.html", "--out", "figures")
    assert (answer.code, answer.err) == (0, "")
    assert "all explained" in answer.out
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.count("<svg ") == 2 * len(papers.PAPERS[paper].figures)  # for a screen, and for a phone
    for number in papers.PAPERS[paper].tables:
        assert f"Table {number}: " in page
    names = {
        f"{papers.PAPERS[paper].source}-figure-{number}.{kind}"
        for number in papers.PAPERS[paper].figures
        for kind in ("svg", "png")
    }
    assert {path.name for path in Path("figures").iterdir()} == names
    for path in Path("figures").glob("*.svg"):
        ET.parse(path)


@pytest.mark.slow
@pytest.mark.parametrize("paper", papers.PAPERS)
def test_json_counts_what_it_holds(invoke, paper):
    answer = invoke("reproduce", paper, "--format=json")
    assert (answer.code, answer.err) == (0, "")
    document = answer.json
    items = [item for part in document["parts"] for item in part["comparisons"]]
    assert document["schema"] == "arcademark.reproduction/1"
    assert [figure["number"] for figure in document["figures"]] == list(papers.PAPERS[paper].figures)
    for verdict, field in {"agrees": "agree", "differs": "differ", "not available": "unavailable"}.items():
        assert document["counts"][field] == sum(item["verdict"] == verdict for item in items)
    assert document["counts"]["unexplained"] == 0
    assert all(item["why"] for item in items if item["verdict"] != "agrees")


@pytest.mark.parametrize("kind", ["png", "SVG"])
def test_one_figure_is_written_as_one_file(invoke, kind):
    answer = invoke("reproduce", "review", "--figure", 4, "--out", f"deep/figure.{kind}", code=0)
    assert f"figure: deep/figure.{kind}" in answer.out
    written = Path(f"deep/figure.{kind}").read_bytes()
    assert written.startswith(b"\x89PNG" if kind == "png" else b"<?xml")
    assert len(list(Path("deep").iterdir())) == 1


def test_a_difference_without_explanation_is_bad_news(invoke, monkeypatch):
    from arcademark.reproduce.ale2013 import statements as ale2013
    from arcademark.reproduce.comparison import PrintedComparison, Reproduction

    found = (Reproduction("bellemare-2013", "Made up", None, (PrintedComparison("§1: one", "1", "2", "differs"),)),)
    monkeypatch.setattr(ale2013, "statements", lambda: found)
    for form in ([], ["--format=json"]):
        answer = invoke("reproduce", "ale-2013", *form, code=1)
        assert answer.out
        assert answer.err == ""
