"""Which paper each algorithm's scores are of, for errors on papers that are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from arcademark.errors import ArcadeMarkError
from arcademark.reports import wording
from arcademark.scores.readers.delimited import read_sheet
from arcademark.scores.readers.piped import place

LOG = "log10"
COLUMNS = ["algorithm", "paper"]


def read_papers(path: Path) -> Mapping[str, str]:
    """Read which paper each algorithm is of: a CSV file with the columns algorithm and paper, each algorithm once."""
    sheet = read_sheet(place(path))
    columns = [sheet.find((name,)) for name in COLUMNS]
    if None in columns:
        raise ArcadeMarkError(f"{path}: columns {', '.join(sheet.header)}; expected algorithm and paper")
    read = [sheet.names(column) for column in columns if column is not None]
    papers: dict[str, str] = {}
    for row in range(sheet.size):
        algorithm, paper = (names[codes[row]] for codes, names, _ in read)
        if algorithm in papers:
            raise ArcadeMarkError(
                f"{path}, row {sheet.line(row)}: {algorithm!r} stands twice; name each algorithm once"
            )
        papers[algorithm] = paper
    return papers


def origins(algorithms: Sequence[str], known: Mapping[str, str], papers: Path | None) -> Mapping[str, str]:
    """Return each algorithm's paper: as the file says, else as the catalogue does, else itself.

    A file that names none of the algorithms is refused.
    """
    named = {} if papers is None else read_papers(papers)
    if papers is not None and not named.keys() & set(algorithms):
        names = wording.shortened(algorithms)
        raise ArcadeMarkError(f"{papers}: names none of the algorithms, {names}; write them as in the table of scores")
    return {name: named.get(name, known.get(name, name)) for name in algorithms}
