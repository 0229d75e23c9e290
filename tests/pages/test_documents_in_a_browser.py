"""Pages of reports and comparisons in Chromium: what a window of a usual width shows of their tables."""

import shutil

import numpy as np
import pytest

import arcademark
from arcademark.suite import references
from arcademark.suite.subsets import resolve_tasks

api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: make test-all")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.needs("playwright"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (Debian, Ubuntu: apt-get install chromium)"),
]

HIDDEN = """() => [...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth)
  .map((one) => [...one.querySelectorAll('thead th')].map((cell) => cell.textContent).join(', '))"""


@pytest.fixture(scope="module")
def page():
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1200, "height": 900})
        browser.close()


@pytest.fixture(scope="module")
def scores():
    rng, human = np.random.default_rng(3), references.scores("human")
    names = {"Rainbow, trained anew": 1.1, "DQN variant": 0.7, "Prioritised dueling": 1.0}
    return {
        name: {game: (share * human[game] * rng.gamma(20, 0.05, 3)).tolist() for game in resolve_tasks("atari-5")}
        for name, share in names.items()
    }


@pytest.mark.parametrize("kind", ["report", "pair", "several"])
def test_no_column_is_hidden(page, scores, kind, tmp_path):
    several = {name: scores[name] for name in list(scores)[: 2 if kind == "pair" else 3]}
    shown = arcademark.report(several) if kind == "report" else arcademark.compare(several)
    shown.save(tmp_path / "page.html")
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("table").count() >= 3
    assert page.evaluate(HIDDEN) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 1200
