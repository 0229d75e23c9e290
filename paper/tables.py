"""Write the paper's tables into paper.md and its bibliography into paper.bib, from what the commands print.

make paper
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import arcademark.catalogue.collections as catalogue
from arcademark.catalogue.reading import read_bibtex

HERE = Path(__file__).parent
PAPER = HERE / "paper.md"
PAPERS = {"review": "@fan2021review", "atari-5": "@aitchison2023atari5", "ale-2013": "@bellemare2013arcade"}


def asked(*command: str) -> Any:
    """Return what a command prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "arcademark", *command, "--to", "json"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def table(*rows: Sequence[object]) -> str:
    """Return a Markdown table of headings and rows, its first column to the left."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join([lines[0], f"|---|{'---:|' * (len(rows[0]) - 1)}", *lines[1:]])


def reproductions() -> str:
    """Return how many printed values of each paper were recomputed, and how many differ."""
    rows = []
    for paper, cited in PAPERS.items():
        found = asked("reproduce", paper)["counts"]
        rows.append([cited, *(f"{found[kind]:,}" for kind in ("agree", "differ", "unsolved", "unexplained"))])
    return table(["paper", "agree", "differ", "of these slips of unknown origin", "unexplained"], *rows)


def predictions() -> str:
    """Return how far estimates from five games are off, and how often their intervals hold."""
    rows = [
        [
            row["left_out"],
            row["algorithms"],
            f"{row['mean_error']:.1%}",
            f"{row['coverage']['median']:.0%}",
            f"{row['games_coverage']:.0%}",
        ]
        for row in asked("subset", "coverage", "atari-5")["rows"]
    ]
    return table(["left out", "algorithms", "mean error of the median", "interval held", "single games held"], *rows)


def size() -> str:
    """Return how much the catalogue holds."""
    entries = catalogue.entries()
    names = {entry.algorithm for entry in entries}
    return table(
        ["catalogue", "number"],
        ["algorithms", len(names)],
        ["entries", len(entries)],
        ["scores", f"{len(catalogue.results()):,}"],
    )


def main() -> None:
    """Renew the tables and the bibliography."""
    text = PAPER.read_text("utf-8")
    for mark, made in {"reproductions": reproductions, "predictions": predictions, "catalogue": size}.items():
        begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{made()}\n\n{end}{rest.partition(end)[2]}"
    PAPER.write_text(text, "utf-8")
    known = {bibtex.partition("{")[2].partition(",")[0]: bibtex for _, bibtex in read_bibtex().values()}
    cited = sorted(set(re.findall(r"@([a-z]+\d{4}[a-z0-9]*)", text)))
    (HERE / "paper.bib").write_text("\n\n".join(known[key] for key in cited) + "\n", "utf-8")


if __name__ == "__main__":
    main()
