"""The gallery's alternative texts say how many algorithms are drawn."""

import re
from pathlib import Path

from arcademark.catalogue.collections import load
from arcademark.pages.figures.style import MAX_SERIES

PAGE = Path(__file__).parents[2] / "docs" / "figures.md"
WORDS = {"five": 5, "six": 6}


def test_alternative_texts_count_what_is_drawn():
    every = len(load("dopamine-2018").algorithms)
    told = {
        place: [WORDS[word] for word in re.findall("|".join(WORDS), text)]
        for text, place in re.findall(r"!\[(.*?)\]\(images/figures/(\w+).svg\)", PAGE.read_text("utf-8"))
    }
    of_all = {name: [every] for name in ("summaries", "improvement", "ranks", "heat")}
    assert told == {**of_all, "differences": [], "profiles": [MAX_SERIES, every]}
