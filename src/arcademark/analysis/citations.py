"""Papers that a report cites, selected by its content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from arcademark.catalogue.reading import read_bibtex, read_sources


@dataclass(frozen=True)
class Citation:
    """A paper that the report cites: its key, its short citation, its address, and its BibTeX entry."""

    key: str
    text: str
    url: str
    bibtex: str


OF_NOTICES: Mapping[str, tuple[str, ...]] = {
    "best_of": ("bellemare-2013",),
    "efficiency": ("fan-2021",),
    "episodes_as_runs": ("agarwal-2021",),
    "hard_exploration": ("aitchison-2023",),
}
"""Papers that notices' texts name, by kind of notice."""

OF_SUMMARIES = "agarwal-2021"
"""Paper of IQM and optimality gap, which every document of scores shows."""


def cited(keys: Iterable[str]) -> tuple[Citation, ...]:
    """Return the papers with these keys that have a BibTeX entry, sorted by key."""
    wanted, papers = set(keys), read_sources()
    return tuple(
        Citation(bibtex.partition("{")[2].partition(",")[0], papers[key].short, url, bibtex)
        for key, (url, bibtex) in read_bibtex().items()
        if key in wanted
    )
