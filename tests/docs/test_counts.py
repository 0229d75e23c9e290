"""Counts that the documentation gives are those of the catalogue and of what is learnt from it."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from arcademark.analysis.scoring import ranking
from arcademark.analysis.subsets import predictors
from arcademark.catalogue import collections
from arcademark.catalogue.errata import NOT_DECIDABLE, errata
from arcademark.emulator import build
from arcademark.metrics import normalise
from arcademark.suite import references, tasks

ROOT = Path(__file__).parents[2]
PAGES = {path.relative_to(ROOT): path.read_text("utf-8") for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))}


@cache
def entries():
    return {name: entry for name, entry in collections.select().items() if entry.kind != "reference"}


def learnt_from():
    trained = predictors.atari().trained
    return trained.joint.n, len(trained.without)


def of_errata():
    known = errata("fan-2021")
    return len(known), sum(one.holds == NOT_DECIDABLE for one in known)


def with_all_games():
    """Algorithms with a score on every game of atari-57, each result once, and the papers that published them."""
    games = tasks.suite("atari-57").tasks
    table = collections.table(entries()).select(tasks=games)
    low, high = references.scores("random"), references.scores("human")
    medians = np.median(normalise.hns(table.mean_over_runs(), low, high, games), axis=1)
    whole = [(entries()[name], value) for name, value in zip(table.algorithms, medians, strict=True) if value == value]
    return len({(one.identity, one.origin.key, value) for one, value in whole}), len(
        {one.origin.key for one, _ in whole}
    )


COUNTS = {
    r"among the (\d+) published\s+algorithms with a median": lambda: (len(ranking.medians()),),
    r"(\d+) algorithms\s+of (\d+) papers\b(?! with)": learnt_from,
    r"(\d+) errata, (\d+) of them not decidable": of_errata,
    r"the (\d+) algorithms\s+of (\d+) papers with all": with_all_games,
}


@pytest.mark.parametrize("pattern", COUNTS)
def test_counts_are_those_of_the_data(pattern):
    found = {(page, match) for page, text in PAGES.items() for match in re.findall(pattern, text)}
    assert found
    wanted = tuple(map(str, COUNTS[pattern]()))
    assert not {(str(page), match) for page, match in found if np.atleast_1d(match).tolist() != [*wanted]}


def test_collections_have_as_many_algorithms_as_the_page_says():
    table = (
        PAGES[Path("docs/catalogue.md")]
        .partition("| collection | what | read |\n|---|---|---|\n")[2]
        .partition("\n\n")[0]
    )
    rows = [[cell.strip() for cell in row.split("|")[1:3]] for row in table.splitlines()]
    every = collections.select().values()
    assert {name for names, _ in rows for name in re.findall(r"`([\w-]+)`", names)} == {one.collection for one in every}
    counted = {name: int(found[1]) for name, text in rows if (found := re.match(r"(?:the )?(\d+) algorithms", text))}
    assert len(counted) == 3
    for name, number in counted.items():
        kept = [one for one in every if one.collection == name.strip("`")]
        with_references = "references" in dict(rows)[name]
        assert number == sum(with_references or one.kind != "reference" for one in kept), name


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("README.md", r"the ArcadeMark emulator \(core\s+(\w+)\)"),
        ("docs/research/emulator.md", r"is of core (\w+):"),
    ],
)
def test_pages_name_the_emulator_core_of_the_package(page, words):
    assert re.findall(words, PAGES[Path(page)]) == [build.version()]
