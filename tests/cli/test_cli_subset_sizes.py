"""``arcademark subset search --sizes``: the best subset of every size, its models and its curve."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from arcademark.reports.subsets.searching import read_sizes

TRAINING = ("subset", "search", "--catalogue", "atari-5-training")


def test_the_best_of_every_size_with_its_error_and_proof(invoke):
    answer = invoke(*TRAINING, "--sizes", "1-3,5", "--figure", "curve.svg", "--out", "models", "--to", "page.html")
    assert (answer.code, answer.err) == (0, "")
    words = " ".join(answer.out.split())
    assert "5 10.4 % 1.64 % 44 0.6966 of 3,819,816" in words.replace("\N{NO-BREAK SPACE}", " ")
    assert "The best where whoever is left out counts" in words
    assert "Battle Zone, +Double Dunk, Name This Game, Phoenix, +Q*bert" in words
    drawing = ElementTree.fromstring(Path("curve.svg").read_text(encoding="utf-8"))
    texts = {"".join(item.itertext()) for item in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert {"best", "best if all count", "1", "2", "3", "5", "44", "62", "n"} <= texts
    page = Path("page.html").read_text(encoding="utf-8")
    assert "best if all count, on other" not in page
    assert 'aria-label="Relative error of the median HNS' in page
    names = sorted(path.stem for path in Path("models").iterdir())
    assert names == sorted(f"atari-5-training-{size}{kind}" for size in (1, 2, 3, 5) for kind in ("", "-charged"))


@pytest.mark.slow
def test_json_has_both_ways_to_choose_and_nested_errors(invoke):
    answer = invoke(*TRAINING, "--sizes", "2", "--nested", "--to=json", "--figure", "curve.png")
    assert (answer.code, answer.err) == (0, "")
    document = json.loads(answer.out)
    assert document["schema"] == "arcademark.subset-sizes/3"
    assert [series["incomplete"] for series in document["series"]] == ["leave out", "charge"]
    (item,) = document["series"][0]["sizes"]
    assert item["best"]["tasks"] == ["battle_zone", "name_this_game"]
    assert item["certificate"]["gap"] == 0
    assert item["nested"]["mean"] > item["error"] > item["spread"] > 0
    assert Path("curve.png").read_bytes().startswith(b"\x89PNG")


def test_sizes_are_read_in_any_order():
    assert read_sizes("8-10, 3,5,9") == (3, 5, 8, 9, 10)
