"""What is packaged is complete, and tells the same version everywhere."""

import json
import re
import tomllib
from pathlib import Path

import arcademark

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_file_of_the_package_is_in_the_wheel():
    package = ROOT / "src" / "arcademark"
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["arcademark"]
    packaged = {path for pattern in patterns for path in package.glob(pattern)}
    files = {path for path in package.rglob("*") if path.is_file() and path.suffix != ".py"}
    files = {path for path in files if path.parent.name != "__pycache__"}
    assert len(files) > 50
    assert files <= packaged


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, flags=re.MULTILINE) == [arcademark.__version__]
    assert f"license: {PROJECT['project']['license']}\n" in citation


def test_notebooks_are_kept_without_outputs():
    for path in (ROOT / "docs").rglob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), path


def test_a_module_that_skips_itself_without_a_library_is_marked():
    """A test that is skipped in `make test` and not selected by `make test-all` would never run."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        for before in re.findall(r"^(.*)pytest\.importorskip\(", text, re.MULTILINE):
            assert not before.startswith(" "), f"{path}: mark the test needs(...) instead"
            assert re.search(r"^pytestmark = .*\n?.*mark\.(needs|deep)\b", text, re.MULTILINE), path
