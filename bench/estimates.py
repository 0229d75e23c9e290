"""How intervals of the estimated median hold for weak, middling and strong algorithms that were left out.

::

    python bench/estimates.py                                      # takes minutes
    python bench/estimates.py --write docs/research/estimates.md   # puts the table there
    python bench/estimates.py --weak                               # ours and the published models on weak ones
    python bench/estimates.py --unseen                             # on the algorithms of paper/data/unseen.csv
    python bench/estimates.py --unseen FILE FILE                   # on others: algorithm, game, score and source
    python bench/estimates.py --unseen --random 20 --write docs/estimates.md

From named subsets, and from games drawn at random, it leaves out each paper, each kind and what was published since
2020, as ``arcademark subset coverage`` does (`arcademark.analysis.subsets.covering`), which says what the figures are.
Checkpoints of training are judged, too, as most weak algorithms are such. Named subsets were chosen on these
algorithms; "best" ones are chosen anew without what is left out.
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
    """Print the tables that are asked for, or write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unseen", nargs="*", type=Path, metavar="FILE", help="judge on algorithms never learnt from")
    parser.add_argument("--weak", action="store_true", help="ours and published models on weak ones of left-out papers")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="with --unseen: sets drawn of each size")
    parser.add_argument("--write", type=Path, help="a page that has the table's marks")
    given = parser.parse_args()
    if given.weak:
        print(*unseen.weak_lines(), sep="\n")
    elif given.unseen is None:
        put(lines(), BEGIN, given.write)
    elif given.write is None:
        print(*unseen.tables(given.unseen, given.random), sep="\n")
    else:
        whole = [one for one in unseen.read(given.unseen) if not one.reason]
        put(unseen.lines(whole, given.random, everything=False), UNSEEN, given.write)


def put(table: Iterable[str], begin: str, page: Path | None) -> None:
    """Print a table, or put it between the marks of a page."""
    text = "\n".join(table)
    if page is None:
        print(text)
        return
    there = page.read_text(encoding="utf-8")
    before = there.index(begin) + len(begin)
    after = there.index(END, before)
    page.write_text(f"{there[:before]}\n{text}\n{there[after:]}", encoding="utf-8")


def lines() -> Iterator[str]:
    """Yield the table: held without each paper, each kind, the newest; width and score without each paper."""
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
    """Show one level, of some lists of games: held in each way, width and score in the first."""
    held = [statistics.fmean(one.held or 0.0 for one in way) for way in zip(*levels, strict=True)]
    width = statistics.median(ways[0].width or 0.0 for ways in levels)
    score = statistics.fmean(ways[0].score or 0.0 for ways in levels)
    return f"{', '.join(f'{100 * share:.0f}' for share in held)} %; ×{width:.2f}; {score:.2f}"


if __name__ == "__main__":
    main()
