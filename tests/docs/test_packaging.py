"""What is packaged is complete, and tells the same version everywhere."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

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


def build(source, out, kind, **environment):
    """Build a package and return it, and what was said meanwhile."""
    words = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", out, source]
    usual = {name: value for name, value in os.environ.items() if name not in ("CC", "PYTHONPATH")}
    done = subprocess.run(words, env=usual | environment, capture_output=True, text=True, check=True)
    (package,) = out.iterdir()
    return package, done.stdout + done.stderr


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("archive"), "sdist")[0]


def unpacked(archive, folder):
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    return source


PLAY = """
from arcademark.environments.registry import choose_emulator
if (chosen := choose_emulator("pong")) == "console":
    from arcademark.emulator.machine import Machine
    from arcademark.environments.emulation.atari import rom_path
    Machine("pong", rom_path("pong").read_bytes()).play(bytes(100), 1)
print(chosen)
"""


def played(wheel, folder):
    """Play where there is no compiler and return what it was played on."""
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder / "installed")
    own = {"PATH": "", "PYTHONPATH": str(folder / "installed"), "ARCADEMARK_CACHE": str(folder / "cache")}
    words = [sys.executable, "-c", PLAY]
    usual = {name: value for name, value in os.environ.items() if name != "CC"}
    done = subprocess.run(words, env=usual | own, capture_output=True, text=True, check=True, cwd=folder)
    assert not (folder / "cache").exists()
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.needs("build")
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_wheel_plays_on_the_console_without_a_compiler(archive, tmp_path):
    (tmp_path / "quick").write_text('#!/bin/sh\nexec cc "$@" -O0\n')
    (tmp_path / "quick").chmod(0o755)
    how = {"CC": str(tmp_path / "quick"), "SOURCE_DATE_EPOCH": "1700000000"}
    one, two = (build(unpacked(archive, tmp_path / name), tmp_path / f"{name}-out", "wheel", **how)[0] for name in "ab")
    assert re.fullmatch(r"arcademark-.*-py3-none-(?!any).*\.whl", one.name)
    assert one.read_bytes() == two.read_bytes()
    assert played(one, tmp_path) == "console"


@pytest.mark.slow
@pytest.mark.needs("build")
def test_a_wheel_made_without_a_compiler_plays_on_ale_py(archive, tmp_path):
    wheel, text = build(unpacked(archive, tmp_path / "source"), tmp_path / "out", "wheel", PATH="")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert "the console is left out, so that ale-py plays, more slowly: there is no C compiler; install gcc" in text
    assert played(wheel, tmp_path) == "ale"


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
