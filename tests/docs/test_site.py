"""The site is built, with its links, notebooks and references; what tutorials show is run and prints what they say."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from samples import missing

from arcademark.cli.main import COMMANDS
from command_line import execute

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TUTORIALS = sorted(path.stem for path in (DOCS / "tutorials").glob("*.md") if path.stem != "index")
NEEDS = {"checkpoint": ["stable_baselines3"], "other_tasks": ["minatar", "minigrid"]}
SHORTER = {
    "--steps 2048": "--steps 256 --horizon 32",
    "--episodes 3": "--episodes 3 --override max_frames_per_episode=600",
    "--episodes all-starts": "--episodes all-starts --override max_frames_per_episode=600",
    "--random 200": "--random 2",
    "--suite examples/small_tasks.toml": "--suite examples/small_tasks.toml --workers 1",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs(*NEEDS.get(name, []))) for name in TUTORIALS]
)
def test_a_tutorial(name, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    page = (DOCS / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
    printed = ""
    for language, block in re.findall(r"^```(sh|text)\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL):
        if language == "text":
            assert missing(block, printed) == []
            continue
        for line in block.splitlines():
            for written, enough in SHORTER.items():
                line = line.replace(written, enough)
            printed += execute(tmp_path, shlex.split(line, comments=True)) + "\n\n"


@pytest.mark.needs("sphinx")
@pytest.mark.slow
def test_the_site(tmp_path):
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", DOCS, tmp_path / "site"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {path: path.read_text(encoding="utf-8") for path in (tmp_path / "site").rglob("*.html")}
    reference = pages[tmp_path / "site" / "reference" / "commands.html"]
    for command in (name for group in COMMANDS.values() for name in group):
        assert f"<h2>arcademark {command}<" in reference
    for path, page in pages.items():
        assert not re.search(r"<(script|img|link|iframe)[^>]* (src|href)=[\"'](https?:)?//", page), path


def listed_by(page):
    """The pages that a page's toctrees list, by their place in the documentation."""
    trees = re.findall(r"```\{toctree\}(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    folder = page.parent.relative_to(DOCS)
    return [(folder / name).as_posix() for name in re.findall(r"^[\w/-]+$", "".join(trees), flags=re.MULTILINE)]


def test_every_page_is_in_the_navigation_once():
    listed = [name for page in DOCS.rglob("*.md") for name in listed_by(page)]
    pages = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for form in ("md", "ipynb")
        for path in DOCS.rglob(f"*.{form}")
    }
    assert sorted(listed) == sorted(pages - {"index"})


def test_the_sidebar_is_short():
    """Pages of research and of results are below one page each."""
    assert len(set(listed_by(DOCS / "index.md")) - {"research/index", "results/index"}) <= 25


def anchors(page):
    """The anchors of a page's headings, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#{1,4} (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def test_links_to_headings_resolve():
    lacking = []
    for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]:
        for link, heading in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8")):
            to = page.parent / link if link else page
            if "://" not in link and to.suffix == ".md" and heading not in anchors(to):
                lacking.append(f"{page.relative_to(ROOT)}: {link}#{heading}")
    assert lacking == []


def test_links_resolve_and_code_names_pages_that_there_are():
    for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert "://" in link or (page.parent / link).exists(), f"{page}: {link}"
    for module in (ROOT / "src").rglob("*.py"):
        for name in re.findall(r"\bdocs/[\w/-]+\.md", module.read_text(encoding="utf-8")):
            assert (ROOT / name).exists(), f"{module}: {name}"


def test_a_sample_that_is_cut_is_none():
    printed = (
        "Scores\nname   score\n────────────\na          1\nb          2\n\nIt draws nothing,\nand so it is exact.\n"
    )
    for whole in (
        "name",
        "a          1",
        "Scores\nname   score\na          1",
        "It draws nothing,",
        "It draws nothing,\n…",
    ):
        assert missing(whole, printed)
    for whole in ("It draws nothing,\nand so it is exact.", "Scores\nname   score\n…\nb          2\n"):
        assert not missing(whole, printed)
    assert not missing("Scores\nname   score\na          1\n…\n\nIt draws nothing,\nand so it is exact.\n", printed)
