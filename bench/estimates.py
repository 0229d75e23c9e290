"""Measure the coverage of the estimated median's intervals for left-out algorithms, weak, medium and strong.

::

    python bench/estimates.py                                      # takes minutes
    python bench/estimates.py --write docs/research/estimates.md   # writes the table into this page
    python bench/estimates.py --weak                               # our and the published models on weak ones
    python bench/estimates.py --unseen                             # on the algorithms in paper/data/unseen.csv
    python bench/estimates.py --unseen FILE FILE                   # on others: algorithm, game, score and source
    python bench/estimates.py --unseen --random 20 --write docs/estimates.md

Estimates are from named subsets and random games. Left out are each paper, each kind, and everything published since
2020, as in ``arcademark subset coverage`` (see `arcademark.analysis.subsets.covering` for the figures). Checkpoints of
training are judged, too, as most weak algorithms are checkpoints. Named subsets were chosen on these algorithms; "best"
ones are chosen anew without the left-out algorithms.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

import unseen
from arcademark.analysis.subsets import predictors
from arcademark.analysis.subsets.covering import LEVELS, AtLevel, Held, covered

NAMED = (
    *("atari-1", "atari-3", "atari-5", "atari-10", "atari-14"),
    *("atari-3-val", "atari-5-val", "atari-100k-3", "atari-100k-5"),
)
SIZES, BEST, DRAWS, SEED = (1, 2, 3, 5, 7, 10), (3, 5, 10), 4, 7
BEGIN, UNSEEN, END = "<!-- bench/estimates.py -->", "<!-- bench/estimates.py --unseen -->", "<!-- end -->"


def main() -> None:
    """Print or write the chosen tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unseen", nargs="*", type=Path, metavar="FILE", help="judge on algorithms never learnt from")
    parser.add_argument("--weak", action="store_true", help="our and published models on weak ones of left-out papers")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="with --unseen: random sets of each size")
    parser.add_argument("--write", type=Path, help="page with the table's marks")
    options = parser.parse_args()
    if options.weak:
        print(*unseen.weak_lines(), sep="\n")
    elif options.unseen is None:
        put(lines(), BEGIN, options.write)
    elif options.write is None:
        print(*unseen.tables(options.unseen, options.random), sep="\n")
    else:
        whole = [one for one in unseen.read(options.unseen) if not one.reason]
        put(unseen.lines(whole, options.random, everything=False), UNSEEN, options.write)


def put(table: Iterable[str], begin: str, page: Path | None) -> None:
    """Print a table, or write it between the marks of a page."""
    text = "\n".join(table)
    if page is None:
        print(text)
        return
    content = page.read_text(encoding="utf-8")
    before = content.index(begin) + len(begin)
    after = content.index(END, before)
    page.write_text(f"{content[:before]}\n{text}\n{content[after:]}", encoding="utf-8")


def lines() -> Iterator[str]:
    """Yield the table: coverage without each paper, each kind and the newest; width and score without each paper."""
    rng, games = np.random.default_rng(SEED), predictors.atari().tasks
    drawn = {size: [",".join(rng.choice(games, size, replace=False)) for _ in range(DRAWS)] for size in SIZES}
    rows: dict[str, list[Held]] = {}
    for row in covered([*NAMED, *(some for every in drawn.values() for some in every)], sizes=BEST).rows:
        rows.setdefault(row.subset, []).append(row)
    groups = {name: [rows[name]] for name in (*NAMED, *(f"best {size}" for size in BEST))}
    groups |= {f"{size} at random": [rows[some] for some in every] for size, every in drawn.items()}
    every_row = [row for some in rows.values() for row in some]
    most = (max(row.levels[place].algorithms for row in every_row) for place in range(len(LEVELS)))
    counts = (f"{name} ({count})" for name, count in zip(LEVELS, most, strict=True))
    yield f"| from | {' | '.join(counts)} |"
    yield "|---" * (1 + len(LEVELS)) + "|"
    for name, some in groups.items():
        cells = (cell([[row.levels[place] for row in ways] for ways in some]) for place in range(len(LEVELS)))
        yield f"| {name} | {' | '.join(cells)} |"


def cell(levels: Sequence[Sequence[AtLevel]]) -> str:
    """Return the text of one level for some lists of games: coverage in each way, width and score in the first."""
    held = [statistics.fmean(one.held or 0.0 for one in way) for way in zip(*levels, strict=True)]
    width = statistics.median(ways[0].width or 0.0 for ways in levels)
    score = statistics.fmean(ways[0].score or 0.0 for ways in levels)
    return f"{', '.join(f'{100 * share:.0f}' for share in held)} %; ×{width:.2f}; {score:.2f}"


if __name__ == "__main__":
    main()
