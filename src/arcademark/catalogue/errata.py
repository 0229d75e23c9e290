"""Errata of papers: printed values that are wrong, and pairs that contradict each other.

``data/errata/<paper>.csv`` has a row for each erratum; its first four columns are empty unless it is a cell of the
review's Tables 3-14. Reference scores for which another source prints another value are errata of the category
`DISAGREEMENT`. No computation uses an incorrect value: results and references are those of `Erratum.holds`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path

from arcademark.catalogue.model import Erratum, Source
from arcademark.catalogue.reading import data_directory, read_sources
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.files import read_as
from arcademark.suite import references, tasks
from arcademark.suite.tables import read_rows

DISAGREEMENT = "sources disagree"
NOT_DECIDABLE = "not decidable"

SUMMARY_ROWS = ("training frames", "mean", "mean efficiency", "median", "median efficiency", "hwrb")

_PLACE = ("table", "row", "algorithm", "quantity")
_KINDS = {"random": "random score", "human": "human score", "human_world_record": "human world record"}


def errata(paper: str | None = None, category: str | None = None) -> tuple[Erratum, ...]:
    """Return the errata, paper by paper in alphabetical order of their keys.

    Parameters
    ----------
    paper : str, optional
        The key of a source, "fan-2021"; None for all.
    category : str, optional
        One category, "unit"; None for all.

    Raises
    ------
    UnknownNameError
        If the source is unknown, or no paper has an erratum of the category.
    """
    result = read_errata()
    if paper is not None and paper not in read_sources():
        raise UnknownNameError("paper", paper, read_sources())
    if category is not None and category not in categories():
        raise UnknownNameError("category", category, categories())
    return tuple(
        item for item in result if paper in (None, item.paper) and (category is None or item.category == category)
    )


def categories() -> tuple[str, ...]:
    """Return the categories of errata, in alphabetical order."""
    return tuple(sorted({item.category for item in read_errata()}))


@cache
def read_errata(directory: Path | None = None) -> tuple[Erratum, ...]:
    """Return all errata: those in the tables, and the references on which sources disagree."""
    place = directory or data_directory()
    papers = read_sources(directory)
    tables = sorted(item.name for item in (place / "errata").iterdir() if item.name.endswith(".csv"))
    result = [item for name in tables for item in _read(name, place, papers)]
    return tuple(sorted([*result, *_disagreements(papers)], key=lambda item: item.paper))


def _read(name: str, directory: Traversable, papers: Mapping[str, Source]) -> Iterator[Erratum]:
    paper = name.removesuffix(".csv")
    if paper not in papers:
        raise ArcadeMarkError(f"errata/{name}: no source has the key {paper!r}; add it to sources.toml")
    seen: set[tuple[str, str]] = set()
    for line, row in enumerate(read_rows(name, directory / "errata"), start=2):
        where = f"errata/{name}, line {line}"
        place = {column: row.get(column, "") for column in _PLACE}
        values = {**row, "paper": paper, "place": place if any(place.values()) else None}
        item = read_as(Erratum, values, where, "correct that line", strict=False)
        if item.place and item.place.row not in SUMMARY_ROWS and item.place.row not in tasks.games():
            expected = f"expected a game's id or one of {', '.join(SUMMARY_ROWS)}"
            raise ArcadeMarkError(f"{where}: {item.place.row!r} is not a row; {expected}")
        if (item.where, item.printed) in seen:
            raise ArcadeMarkError(f"{where}: {item.where!r} is repeated with the same printed value; keep one")
        seen.add((item.where, item.printed))
        yield item


def _disagreements(papers: Mapping[str, Source]) -> Iterator[Erratum]:
    for reference in references.disagreements():
        for other in reference.alternatives:
            if other.paper not in papers:
                raise ArcadeMarkError(
                    f"disagreements.csv: no source has the key {other.paper!r}; add it to sources.toml"
                )
            yield Erratum(
                paper=other.paper,
                where=f"{other.source}: {_KINDS[reference.kind]} of {tasks.game_name(reference.task)}",
                place=None,
                printed=repr(other.score).removesuffix(".0"),
                holds=repr(reference.score).removesuffix(".0"),
                category=DISAGREEMENT,
                why=f"{other.note} {reference.note} Ours: {reference.source}.".strip(),
            )
