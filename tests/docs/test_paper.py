"""The paper's text is what its template makes of its numbers, and these are what its commands compute."""

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PAPER = Path(__file__).parents[2] / "paper"


@pytest.fixture(scope="module")
def tables() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("paper_tables", PAPER / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    path = [*sys.path]
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = path


@pytest.fixture(scope="module")
def results() -> Any:
    return json.loads((PAPER / "data" / "results.json").read_text("utf-8"))


def test_the_text_is_what_the_template_makes_of_the_numbers(tables: ModuleType, results: Any) -> None:
    written = tables.text(results)
    assert (PAPER / "paper.md").read_text("utf-8") == written
    assert (PAPER / "paper.bib").read_text("utf-8") == tables.bibliography(written)


@pytest.mark.parametrize("part", ["catalogue", "console", "method", "use"])
def test_numbers_of_the_catalogue_the_emulator_the_method_and_our_own_agent_are_what_is_computed(
    tables: ModuleType, results: Any, part: str
) -> None:
    assert results[part] == tables.rounded(tables.PARTS[part]())


@pytest.mark.slow
def test_estimates_of_unseen_algorithms_are_what_is_computed(tables: ModuleType, results: Any) -> None:
    for name, computed in tables.unseen().items():
        for row, found in zip(results["unseen"][name], computed, strict=True):
            assert row == nearly(found)


@pytest.mark.slow
def test_estimates_of_published_algorithms_are_what_is_computed(tables: ModuleType, results: Any) -> None:
    for row, found in zip(results["predicted"], tables.predicted(), strict=True):
        assert row == nearly(found)


def nearly(row: Any) -> dict[str, Any]:
    return {name: pytest.approx(value, rel=1e-4) if isinstance(value, float) else value for name, value in row.items()}
