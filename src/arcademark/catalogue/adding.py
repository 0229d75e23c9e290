"""Checks a contributed collection by the catalogue's rules, and writes it into a checkout.

The first problem of every table and row is reported with its file and line. An unusual score, such as one that differs
from the catalogue's by a factor of ten or is another algorithm's, is only a remark, which a note answers.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from arcademark import files
from arcademark.catalogue import collections, reading
from arcademark.catalogue.check import CatalogueFinding, damaged_files, impossible
from arcademark.catalogue.model import Entry, Result, Source
from arcademark.errors import ArcadeMarkError
from arcademark.suite import tables

_Kind = TypeVar("_Kind")

SOURCES = "sources.toml"
MAX_BYTES = 8 * 2**20
"""Largest size of a contributed file."""
FACTOR = 10.0
"""Ratio to other scores from which a score counts as unusual."""
LEAST = 100.0
"""Minimum score in points for these comparisons; smaller scores agree or differ by chance."""
COPIED = 5
"""Number of games with equal scores of two algorithms that is not explained by chance."""

NAME = re.compile("(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)+")
"""Form of names of collections and papers, which are names of files, too."""
_HEADER = re.compile(r"^\[(?P<key>[^\[\]\n]+)\][ \t]*(#.*)?$", re.MULTILINE)


@dataclass(frozen=True)
class CollectionOverlap:
    """An algorithm and the same one of another collection: numbers of common games, and of equal scores."""

    algorithm: str
    other: str
    collection: str
    games: int
    equal: int


@dataclass(frozen=True)
class Addition:
    """Result of checking a contributed collection.

    Parameters
    ----------
    collection : str
    ok : bool
        True if there are no findings and no remarks.
    findings, remarks : tuple of CatalogueFinding
        Errors; unusual values that no note explains.
    algorithms, games, results : int
        Its size, if it could be read.
    compared : tuple of CollectionOverlap
    written : tuple of str
        The files that were written into a checkout.
    """

    SCHEMA: ClassVar[str] = "arcademark.catalogue-addition/1"

    collection: str
    ok: bool
    findings: tuple[CatalogueFinding, ...]
    remarks: tuple[CatalogueFinding, ...] = ()
    algorithms: int = 0
    games: int = 0
    results: int = 0
    compared: tuple[CollectionOverlap, ...] = ()
    written: tuple[str, ...] = ()


def add(given: Sequence[Path], into: Path | None = None, *, overwrite: bool = False) -> Addition:
    """Check a collection and, if there are no findings and no remarks, write it.

    Parameters
    ----------
    given : sequence of Path
        ``<collection>.toml`` and ``<collection>.csv`` as in the catalogue, and ``sources.toml`` with new papers, if
        any; in any order.
    into : Path, optional
        The catalogue's data folder in a checkout; None only checks, against the package's own data.
    overwrite : bool, optional
        True to replace a collection of the same name.

    Raises
    ------
    ArcadeMarkError
        If files are missing or cannot be read, the name is taken, or the folder contains no catalogue.
    """
    entries, scores, sources = _named(given)
    name = entries.stem
    if into and (not all((into / folder).is_dir() for folder in ("entries", "scores")) or any(damaged_files(into))):
        raise ArcadeMarkError(
            f"{into}: contains no catalogue, or a damaged one; name src/arcademark/catalogue/data of a checkout"
        )
    if name in reading.read_names(into) and not overwrite:
        raise ArcadeMarkError(f"{name}: the catalogue has a collection of this name; choose another, or --overwrite it")
    paths = [path for path in (entries, scores, sources) if path is not None]
    texts = {path.name: files.read_text(path, MAX_BYTES).replace("\r\n", "\n") for path in paths}
    catalogue = reading.read_sources(into)

    def paper(key: str, row: object) -> Source:
        read = reading.source_of(key, row)
        if read != catalogue.get(key, read):
            raise ValueError("the catalogue has other data for this paper; leave it out")
        return read

    papers, findings = _tables(SOURCES, texts.get(SOURCES, ""), paper)
    known = {**catalogue, **{key: read for key, read in papers.items() if read}}
    read, wrong = _tables(entries.name, texts[entries.name], lambda key, row: reading.entry_of(name, key, row, known))
    if not read and not wrong:
        wrong = [CatalogueFinding(entries.name, "contains no algorithm; expected a table for each")]
    results, unread = _results(scores.name, texts[scores.name], read)
    findings += wrong + (unread if read else [])
    if findings:
        return Addition(name, False, tuple(findings))
    remarks, compared = _beside(name, results)
    written = _write(name, texts, into) if into is not None and not remarks else ()
    games = len({result.task for result in results})
    return Addition(name, not remarks, (), tuple(remarks), len(read), games, len(results), tuple(compared), written)


def _named(given: Sequence[Path]) -> tuple[Path, Path, Path | None]:
    sources = [path for path in given if path.name == SOURCES]
    entries = [path for path in given if path.suffix == ".toml" and path.name != SOURCES]
    scores = [path for path in given if path.suffix == ".csv"]
    one = len(entries) == len(scores) == 1 and len(sources) <= 1 and len(given) == 2 + len(sources)
    if not one or entries[0].stem != scores[0].stem:
        raise ArcadeMarkError(
            f"expected NAME.toml, NAME.csv and, for papers that the catalogue does not know, {SOURCES}; "
            f"got {', '.join(path.name for path in given)}"
        )
    if not NAME.fullmatch(entries[0].stem):
        raise ArcadeMarkError(f"{entries[0].name}: name it after its source and year, in lower case: doe-2020.toml")
    return entries[0], scores[0], sources[0] if sources else None


def _tables(
    name: str, text: str, make: Callable[[str, Any], _Kind]
) -> tuple[dict[str, _Kind | None], list[CatalogueFinding]]:
    """Convert each table of a TOML file, to None if it has a problem; return these and the findings with places."""
    try:
        rows = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return {}, [CatalogueFinding(name, f"is not TOML: {error or 'nested too deeply'}; correct it")]
    lines: dict[str, str] = {}
    for match in _HEADER.finditer(text):
        lines.setdefault(match["key"].strip().strip("\"'"), f", line {text.count(chr(10), 0, match.start()) + 1}")
    result: dict[str, _Kind | None] = {}
    findings = []
    for key, row in rows.items():
        try:
            result[key] = make(key, row)
        except ValueError as error:
            result[key] = None
            findings.append(CatalogueFinding(f"{name}{lines.get(key, '')}, [{key}]", str(error)))
    return result, findings


def _results(name: str, text: str, entries: Mapping[str, Entry | None]) -> tuple[list[Result], list[CatalogueFinding]]:
    table = csv.reader(io.StringIO(text), strict=True)
    findings: list[CatalogueFinding] = []
    read: dict[tuple[str, str], Result | None] = {}
    try:
        header = tuple(next(table, ()))
        try:
            reading.check_columns(header)
        except ValueError as error:
            return [], [CatalogueFinding(f"{name}, line 1", str(error))]
        for cells in table:
            where = f"{name}, line {table.line_num}"
            if len(cells) != len(header):
                findings.append(
                    CatalogueFinding(where, f"{len(cells)} cells, expected {len(header)}, as the header has columns")
                )
                continue
            row, result = dict(zip(header, cells, strict=True)), None
            try:
                result = reading.result_of(row, entries, read)
            except ValueError as error:
                findings.append(CatalogueFinding(where, str(error)))
            read[row["algorithm"], row["task"]] = result
            findings += [CatalogueFinding(where, wrong.problem) for wrong in impossible([result] if result else [])]
    except csv.Error as error:
        findings.append(CatalogueFinding(f"{name}, line {table.line_num}", f"is not CSV: {error}; correct it"))
    whole = {algorithm: entry for algorithm, entry in entries.items() if entry}
    findings += [
        CatalogueFinding(name, problem)
        for problem in reading.lost_problems(whole, (algorithm for algorithm, _ in read))
    ]
    return [result for result in read.values() if result], findings


def _beside(name: str, results: Iterable[Result]) -> tuple[list[CatalogueFinding], list[CollectionOverlap]]:
    """Compare a collection's scores with the catalogue's, without a collection of the same name."""
    own: dict[str, dict[str, Result]] = {}
    for result in results:
        own.setdefault(result.entry.algorithm, {})[result.task] = result
    theirs = [entry for entry in collections.entries() if entry.collection != name and not entry.unavailable]
    remarks: list[CatalogueFinding] = []
    compared = []
    for algorithm, mine in own.items():
        entry = next(iter(mine.values())).entry
        alike = [other for other in theirs if _names(entry) & _names(other)]
        for other in alike:
            scores = collections.scores_of(other)
            common = [game for game in mine if game in scores]
            equal = sum(mine[game].score == scores[game].score for game in common)
            if common:
                compared.append(CollectionOverlap(algorithm, other.algorithm, other.collection, len(common), equal))
        unlike = {other.qualified: collections.scores_of(other) for other in theirs if other not in alike}
        remarks += _scaled(algorithm, mine, [collections.scores_of(other) for other in alike])
        remarks += _repeated(algorithm, mine)
        remarks += _copied(
            algorithm, mine, unlike | {other: scores for other, scores in own.items() if other < algorithm}
        )
    return remarks, compared


def _names(entry: Entry) -> set[str]:
    return {entry.identity.lower(), entry.algorithm.lower()}


def _scaled(
    algorithm: str, mine: Mapping[str, Result], alike: Iterable[Mapping[str, Result]]
) -> Iterator[CatalogueFinding]:
    """Yield remarks on scores that differ by a factor of ten from at least half of the algorithm's others."""
    for game, result in mine.items():
        others = [scores[game] for scores in alike if game in scores]
        far = [other for other in others if _far(result.score, other.score)]
        if far and 2 * len(far) >= len(others) and not result.note:
            beside = ", ".join(f"{other.score:.12g} in {other.entry.collection}" for other in far)
            problem = f"{result.score:.12g} differs by a factor of {FACTOR:g} or more from {beside}: is a factor lost?"
            yield CatalogueFinding(f"{algorithm}, {game}", problem)


def _far(one: float, other: float) -> bool:
    low, high = sorted((one, other))
    return low > 0 and high >= LEAST and high / low >= FACTOR


def _repeated(algorithm: str, mine: Mapping[str, Result]) -> Iterator[CatalogueFinding]:
    for first, second in pairwise(mine.values()):
        if first.score == second.score and abs(first.score) >= LEAST and not second.note:
            problem = f"has the score of {first.task}, {first.score:.12g}: is a cell copied?"
            yield CatalogueFinding(f"{algorithm}, {second.task}", problem)


def _copied(
    algorithm: str, mine: Mapping[str, Result], unlike: Mapping[str, Mapping[str, Result]]
) -> Iterator[CatalogueFinding]:
    """Yield a remark on the algorithm with the most equal scores, if there are many."""
    shared = {
        other: [
            game
            for game, result in mine.items()
            if game in scores and result.score == scores[game].score and abs(result.score) >= LEAST
        ]
        for other, scores in unlike.items()
    }
    most = max(shared, key=lambda other: len(shared[other]), default="")
    if most and len(shared[most]) >= COPIED and not next(iter(mine.values())).entry.note:
        yield CatalogueFinding(algorithm, f"has the score of {most} on {', '.join(shared[most])}: is a column copied?")


def _write(name: str, texts: Mapping[str, str], into: Path) -> tuple[str, ...]:
    """Write the files, then their checksums; return their paths."""
    written = {f"entries/{name}.toml": texts[f"{name}.toml"], f"scores/{name}.csv": texts[f"{name}.csv"]}
    if SOURCES in texts:
        written[SOURCES] = _merged((into / SOURCES).read_text(encoding="utf-8"), texts[SOURCES])
    for file in tuple(written):
        sums = str(Path(file).with_name(tables.CHECKSUMS))
        listed = (line.split() for line in (into / sums).read_text(encoding="utf-8").splitlines())
        lines = {key: digest for digest, key in listed}
        lines[Path(file).name] = hashlib.sha256(written[file].encode()).hexdigest()
        written[sums] = "".join(f"{lines[key]}  {key}\n" for key in sorted(lines))
    for file, text in written.items():
        files.write_output(into / file, text.encode())
    for name in ("read_names", "read_sources", "read_bibtex", "read_entries", "read_results"):
        getattr(reading, name).cache_clear()
    return tuple(written)


def _merged(ours: str, theirs: str) -> str:
    """Merge papers into ours by their keys; ours is kept if both have one."""
    blocks = {}
    for text in (theirs, ours):
        places = [match.start() for match in _HEADER.finditer(text)]
        for start, end in pairwise((*places, len(text))):
            block = text[start:end].strip("\n")
            blocks[block[1 : block.index("]")]] = block
    merged = "\n\n".join(blocks[key] for key in sorted(blocks)) + "\n"
    if tomllib.loads(merged) != tomllib.loads(theirs) | tomllib.loads(ours):
        raise ArcadeMarkError(f"{SOURCES}: expected each paper as a table that begins with [key]")
    return merged
