"""Checks of the whole catalogue: checksums, tables, and agreement of scores, printed cells, errata and references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import ClassVar

from arcademark.catalogue import errata, printed, reading
from arcademark.catalogue.model import Entry, Erratum, PrintedCell, Result
from arcademark.errors import ArcadeMarkError
from arcademark.suite import anomalies, references, tables, tasks

HUMAN_STARTS = "human-starts"
"""The protocol whose episodes begin in the middle of a game, so that scores can be lower than the game's lowest."""


_REFERENCES = {
    ("fan-2021", "Random"): ("atari-57", "random"),
    ("fan-2021", "Human"): ("atari-57", "human"),
    ("fan-2021", "Human World Record"): ("atari-57", "human_world_record"),
    ("aitchison-2023", "Human Ref"): ("atari-57", "human"),
    ("bellemare-2013", "Random"): ("ale-55", "random"),
}
"""Reference scores that an entry of a source repeats: suite and kind."""


@dataclass(frozen=True)
class CatalogueFinding:
    """A problem, and its place: the file with the line or cell."""

    where: str
    problem: str


@dataclass(frozen=True)
class CollectionCount:
    """Size of a collection: numbers of algorithms, of those with lost scores, of games with a score, and of scores."""

    collection: str
    algorithms: int
    lost: int
    games: int
    results: int


@dataclass(frozen=True)
class Check:
    """Result of a check of the catalogue.

    Parameters
    ----------
    ok : bool
        True if there are no findings.
    findings : tuple of CatalogueFinding
    collections : tuple of CollectionCount
        The collections that could be read.
    files, sources, printed_cells, errata, disagreements : int
        Numbers of checked items; disagreements are reference scores for which another source prints another value.
    """

    SCHEMA: ClassVar[str] = "arcademark.catalogue-check/1"

    ok: bool
    findings: tuple[CatalogueFinding, ...]
    collections: tuple[CollectionCount, ...]
    files: int
    sources: int = 0
    printed_cells: int = 0
    errata: int = 0
    disagreements: int = 0


def check() -> Check:
    """Check the package's catalogue; if any file is damaged, report only damaged files."""
    files = len(data_files())
    damaged = tuple(damaged_files())
    if damaged:
        return Check(False, damaged, (), files)
    counts, findings = read_collections()
    slips: tuple[Erratum, ...] = ()
    try:
        reading.read_checkpoints()
        slips = errata.errata()
    except ArcadeMarkError as error:
        findings.append(CatalogueFinding("checkpoints and errata", str(error)))
    names = [count.collection for count in counts]
    entries = [entry for name in names for entry in reading.read_entries(name).values()]
    results = [result for name in names for result in reading.read_results(name)]
    findings += apart_from_print(
        printed.printed_cells(),
        [slip for slip in slips if slip.paper == printed.PAPER],
        {entry.algorithm: entry for entry in entries if entry.source.key == printed.PAPER},
        {(one.entry.algorithm, one.task): one.score for one in results if one.entry.source.key == printed.PAPER},
    )
    findings += apart_from_references(results)
    findings += impossible(results)
    return Check(
        ok=not findings,
        findings=tuple(findings),
        collections=tuple(counts),
        files=files,
        sources=len(reading.read_sources()),
        printed_cells=len(printed.printed_cells()),
        errata=len(slips),
        disagreements=sum(len(reference.alternatives) for reference in references.disagreements()),
    )


def data_files(directory: Path | None = None) -> tuple[tuple[str, str], ...]:
    """Return the catalogue's tables as (folder, name); the folder is "" for the data directory itself."""
    place = directory or reading.data_directory()
    return tuple(
        (folder, name)
        for folder in _folders(place)
        for name in sorted(item.name for item in (place / folder if folder else place).iterdir())
        if name.endswith((".csv", ".toml"))
    )


def damaged_files(directory: Path | None = None) -> Iterator[CatalogueFinding]:
    """Yield the files with a wrong or missing checksum, and listed files that are missing."""
    place = directory or reading.data_directory()
    for folder in _folders(place):
        here = place / folder if folder else place
        present = [name for owner, name in data_files(directory) if owner == folder]
        try:
            listed = [line.split()[1] for line in (here / tables.CHECKSUMS).read_text(encoding="utf-8").splitlines()]
        except OSError:
            listed = []
        for name in dict.fromkeys((*present, *listed)):
            try:
                tables.read_text(name, here)
            except ArcadeMarkError as error:
                yield CatalogueFinding(f"{folder}/{name}".lstrip("/"), str(error))


def read_collections(directory: Path | None = None) -> tuple[list[CollectionCount], list[CatalogueFinding]]:
    """Read every collection; return the sizes of readable ones, and findings on the others."""
    counts: list[CollectionCount] = []
    findings: list[CatalogueFinding] = []
    names = reading.read_names(directory)
    for name in names:
        try:
            entries, results = reading.read_entries(name, directory), reading.read_results(name, directory)
        except ArcadeMarkError as error:
            findings.append(CatalogueFinding(name, str(error)))
            continue
        lost = sum(1 for entry in entries.values() if entry.unavailable)
        games = len({result.task for result in results})
        counts.append(CollectionCount(name, len(entries), lost, games, len(results)))
    for folder, name in data_files(directory):
        if folder == "scores" and name.removesuffix(".csv") not in names:
            findings.append(CatalogueFinding(f"scores/{name}", "no file in entries/ defines these algorithms"))
    return counts, findings


def apart_from_print(
    cells: Iterable[PrintedCell],
    slips: Sequence[Erratum],
    entries: Mapping[str, Entry],
    scores: Mapping[tuple[str, str], float],
) -> Iterator[CatalogueFinding]:
    """Yield a paper's printed scores and training frames that are neither correct nor errata, and errata without cell.

    Entries are by algorithm, scores by algorithm and game.
    """
    by_place = {cell.place: cell.printed for cell in cells}
    known = {slip.place for slip in slips if slip.place is not None}
    for place, text in by_place.items():
        frames = place.row == "training frames"
        if place in known or not (frames or place.quantity == "score"):
            continue
        holds: float | None = scores.get((place.algorithm, place.row))
        if frames:
            holds = entries[place.algorithm].training_frames if place.algorithm in entries else None
        number = printed.printed_number(text)
        if number is None if holds is None else number is not None and number.is_rounding_of(holds):
            continue
        problem = f"printed {text!r}, but the catalogue has {'nothing' if holds is None else f'{holds:.12g}'}"
        where = f"Table {place.table}, {place.algorithm}, {place.row}"
        yield CatalogueFinding(where, f"{problem}, and no erratum explains it")
    for slip in slips:
        if slip.place is not None and by_place.get(slip.place) != slip.printed:
            found = by_place.get(slip.place, "no such cell")
            yield CatalogueFinding(
                f"errata: {slip.where}", f"states that {slip.printed!r} is printed; the tables have {found!r}"
            )


def apart_from_references(results: Iterable[Result]) -> Iterator[CatalogueFinding]:
    """Yield the scores of reference players that are neither our references nor known alternatives."""
    for result in results:
        key = (result.entry.source.key, result.entry.algorithm)
        if key not in _REFERENCES:
            continue
        suite, kind = _REFERENCES[key]
        reference = references.references(kind, suite).get(result.task)
        known = () if reference is None else (reference.score, *(other.score for other in reference.alternatives))
        shown = printed.printed_number(repr(result.score).removesuffix(".0"))
        if shown is None or not any(shown.is_rounding_of(score) for score in known):
            yield CatalogueFinding(
                f"{result.entry.collection}: {result.entry.algorithm}, {result.task}",
                f"{result.score:.12g} is not the {kind} score of {suite}, and disagreements.csv does not have it",
            )


def impossible(results: Iterable[Result]) -> Iterator[CatalogueFinding]:
    """Yield scores that are impossible in the game or, for agents, beyond its counter, unless a note explains them."""
    for result in results:
        lowest, highest = tasks.score_bounds(result.task)
        end = anomalies.highest(result.task) if result.entry.kind != "reference" else None
        scores = (result.score, *result.per_run)
        least, most = min(scores), max(scores)
        if lowest is not None and least < lowest and result.entry.protocol != HUMAN_STARTS:
            problem = f"{least:.12g} is below {lowest:g}, the least that the game can score"
        elif highest is not None and most > highest:
            problem = f"{most:.12g} is above {highest:g}, the most that the game can score"
        elif end is not None and most > end:
            problem = f"{most:.12g} is above {end}, the most that the game's counter can show"
        else:
            continue
        if not result.note:
            yield CatalogueFinding(
                f"{result.entry.collection}: {result.entry.algorithm}, {result.task}",
                f"{problem}; explain it in a note",
            )


def _folders(place: Traversable) -> tuple[str, ...]:
    return ("", *sorted(item.name for item in place.iterdir() if item.is_dir()))
