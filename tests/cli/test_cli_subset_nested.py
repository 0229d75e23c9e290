"""``arcademark subset search --nested``, and models that keep what it measures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from arcademark.subset.predict import files
from arcademark.suite.subsets import conformal_half_width


@pytest.fixture
def own(tmp_path: Path) -> tuple[str, ...]:
    """A benchmark of six tasks that 30 algorithms of ten papers have played."""
    rng = np.random.default_rng(2)
    level = rng.uniform(0.1, 1.2, size=30)
    rows = [
        f"player {number:02},maze {letter},{100 + 50 * max(0.0, value + rng.normal(scale=0.1)):.4f}"
        for number, value in enumerate(level)
        for letter in "abcdef"
    ]
    (tmp_path / "scores.csv").write_text("algorithm,task,score\n" + "\n".join(rows) + "\n", encoding="utf-8")
    references = "task,low,high\n" + "".join(f"maze {letter},100,150\n" for letter in "abcdef")
    (tmp_path / "references.csv").write_text(references, encoding="utf-8")
    papers = "algorithm,paper\n" + "".join(f"player {number:02},paper {number // 3}\n" for number in range(30))
    (tmp_path / "papers.csv").write_text(papers, encoding="utf-8")
    return ("subset", "search", "scores.csv", "--references", "references.csv", "--size", "2")


def test_papers_are_left_out_and_the_model_keeps_the_errors(invoke, own):
    answer = invoke(*own, "--nested", "--papers", "papers.csv", "--to=json", "--out", "model.json")
    assert (answer.code, answer.err) == (0, "")
    (found,) = json.loads(answer.out)["results"]
    nested = found["nested"]
    assert (nested["papers"], len(nested["held_out"])) == (10, 30)
    assert {item["source"] for item in nested["held_out"]} == {f"paper {number}" for number in range(10)}
    errors = [np.log(10) * abs(item["true"] - item["predicted"]) for item in nested["held_out"]]
    assert [nested["mean"], nested["median"], nested["worst"]] == pytest.approx(
        [np.mean(errors), np.median(errors), max(errors)]
    )
    assert sum(item["times"] for item in nested["winners"]) == 10
    # Ten papers are too few for 95 %: with what is left for a new one, they come to 10/11.
    assert [item["half_width"] is None for item in nested["intervals"]] == [False, False, False, True]
    kept = files.loads(Path("model.json").read_text(encoding="utf-8")).nested
    assert kept is not None
    assert (kept.mean, kept.n) == (nested["mean"], 30)
    assert conformal_half_width(kept.errors, 0.9) == nested["intervals"][2]["half_width"]
