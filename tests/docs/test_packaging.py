"""What is packaged is complete, and tells the same version everywhere."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import clean_install
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


@pytest.mark.needs("build")
def test_the_description_for_a_package_index_has_nothing_that_it_cannot_show(monkeypatch):
    given = {}
    monkeypatch.setattr("setuptools.setup", lambda **settings: given.update(settings))
    runpy.run_path(str(ROOT / "setup.py"))
    text, readme = given["long_description"], (ROOT / "README.md").read_text(encoding="utf-8")
    assert given["long_description_content_type"] == "text/markdown"
    assert "![" in readme
    assert "![" not in text
    assert re.findall(r"\]\((?!https?:)[^)]*\)", text) == []
    for language in ("sh", "text", "csv", "python", "bibtex"):
        blocks = rf"```{language}\n.*?```"
        assert re.findall(blocks, text, re.DOTALL) == re.findall(blocks, readme, re.DOTALL)
    assert "judge a checkpoint" in text


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


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Variables under which the emulator is compiled in seconds, and reproducibly."""
    compiler = tmp_path_factory.mktemp("compiler") / "quick"
    compiler.write_text('#!/bin/sh\nexec cc "$@" -O0\n')
    compiler.chmod(0o755)
    return {"CC": str(compiler), "SOURCE_DATE_EPOCH": "1700000000"}


@pytest.fixture(scope="module")
def compiled(archive, quick, tmp_path_factory):
    """A wheel with the emulator compiled."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("compiled")
    return build(unpacked(archive, folder / "source"), folder / "out", "wheel", **quick)[0]


@pytest.fixture(scope="module")
def plain(archive, tmp_path_factory):
    """A wheel made without a compiler, for any platform."""
    folder = tmp_path_factory.mktemp("plain")
    wheel, text = build(unpacked(archive, folder / "source"), folder / "out", "wheel", PATH="")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert "the console is left out, so that ale-py plays, more slowly: there is no C compiler; install gcc" in text
    return wheel


@pytest.mark.slow
@pytest.mark.needs("build")
def test_a_wheel_with_the_emulator_is_reproducible(archive, compiled, quick, tmp_path):
    again = build(unpacked(archive, tmp_path / "source"), tmp_path / "out", "wheel", **quick)[0]
    assert re.fullmatch(r"arcademark-.*-py3-none-(?!any).*\.whl", compiled.name)
    assert again.read_bytes() == compiled.read_bytes()


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Skip where packages cannot be fetched."""
    folder = tmp_path_factory.mktemp("index") / "environment"
    try:
        clean_install.install(["click"], folder, compiler=False)
    except RuntimeError as error:
        pytest.skip(f"no package index: {str(error).splitlines()[-1]}")


def found(name):
    """Return a Python of this name that runs, which a version manager's stand-in may not; None if there is none."""
    path = shutil.which(name)
    runs = path and subprocess.run([path, "-m", "venv", "--help"], capture_output=True, check=False).returncode == 0
    return path if runs else None


def pythons():
    """Return the names of all Pythons that may be installed here, first that of the one that runs this."""
    this = "python{}.{}".format(*sys.version_info)
    return [this, *(name for minor in range(11, 15) if (name := f"python3.{minor}") != this)]


def metadata(wheel):
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        return file.read(name)


@pytest.mark.slow
@pytest.mark.needs("build")
@pytest.mark.parametrize("name", pythons())
def test_wheels_play_and_report_in_a_clean_environment(name, compiled, plain, index, tmp_path):
    python = sys.executable if name == pythons()[0] else found(name)
    if python is None:
        pytest.skip(f"{name} is not installed")
    assert metadata(compiled) == metadata(plain)  # so what one of them needs the other does
    folder = tmp_path / "environment"
    clean_install.install([compiled], folder, False, python=python)
    assert clean_install.use(folder, False) == "console"
    clean_install.replace(plain, folder, False)
    assert clean_install.use(folder, False) == "ale"
    assert clean_install.use(folder, True) == "console"


@pytest.mark.needs("build")
@pytest.mark.slow
def test_the_source_archive_has_the_package_and_no_tests(archive, tmp_path):
    source = unpacked(archive, tmp_path)
    packaged = {path.relative_to(source) for path in (source / "src" / "arcademark").rglob("*") if path.is_file()}
    package = ROOT / "src" / "arcademark"
    modules = {path.relative_to(ROOT) for path in package.rglob("*.py")}
    assert modules <= packaged
    assert not (source / "tests").exists()
    assert {"CHANGELOG.md", "CITATION.cff", "LICENSE"} <= {path.name for path in source.iterdir()}


def test_the_classifiers_name_the_versions_that_the_workflow_tests():
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    tested = re.findall(r'"(3\.\d+)"', re.search(r"python-version: (\[.*\])", workflow)[1])
    named = [one.rpartition(" ")[2] for one in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", one)]
    assert named == tested
    assert PROJECT["project"]["requires-python"] == f">={tested[0]}"


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
