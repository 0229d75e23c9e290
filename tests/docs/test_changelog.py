"""The changelog says everything once."""

import itertools
import re
from pathlib import Path

WORDS, SHARE = 4, 0.4
"""Runs of so many words; the share of these that the shorter of two entries may have in common with the other."""


def alike(entries):
    """Pairs of entries of which the shorter consists mostly of what the other says."""
    words = [re.findall(r"[\w'`./-]+", entry.lower()) for entry in entries]
    runs = [{tuple(one[at : at + WORDS]) for at in range(len(one) - WORDS + 1)} for one in words]
    pairs = itertools.combinations(zip(entries, runs, strict=True), 2)
    return [(a, b) for (a, one), (b, other) in pairs if len(one & other) > SHARE * min(len(one), len(other))]


def test_no_entry_is_there_twice():
    text = (Path(__file__).parents[2] / "CHANGELOG.md").read_text("utf-8")
    entries = [" ".join(entry.partition("\n\n")[0].split()) for entry in re.split(r"^- ", text, flags=re.MULTILINE)[1:]]
    assert len(entries) > 15
    assert len(text.splitlines()) <= 200
    assert not alike(entries)
    again = [entries[0], *entries[1:3], f"{entries[0]} And something more that is new."]
    assert alike(again) == [(again[0], again[-1])]
