"""Compare how well sets of games predict left-out papers with how well they predict unseen sources.

::

    python bench/choosing.py                                      # takes minutes
    python bench/choosing.py --write docs/research/choosing.md    # writes the table into this page

Sets of games that were chosen from the catalogue in 2026, sets published in 2023, and random sets predict the
algorithms of the catalogue, each without its own paper, and those of ``paper/data/unseen.csv``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from arcademark.suite.subsets import resolve_tasks
from estimates import put
from unseen import Estimate, at_random, by_ours, catalogue, error, jackknife, over_sources, read, share

CHOSEN = {
    "five chosen in 2026": "alien,assault,enduro,name_this_game,time_pilot",
    "`atari-5`": "atari-5",
    "ten chosen in 2026": (
        "alien,bank_heist,beam_rider,centipede,chopper_command,enduro,name_this_game,time_pilot,up_n_down,zaxxon"
    ),
    "`atari-10`": "atari-10",
    "`atari-14`": "atari-14",
}
"""Games, separated by commas, by the name of the set."""
SETS = 20
BEGIN = "<!-- bench/choosing.py -->"


def compared(sets: int = SETS) -> list[dict[str, Any]]:
    """Return the results of each set in both ways, and those of `sets` random sets of each size."""
    known, unseen = ([one for one in every if not one.reason] for every in (catalogue(), read()))
    rows, sizes = [], set()
    for name, text in CHOSEN.items():
        games = resolve_tasks(text)
        rows.append(summed(name, len(games), [games], known, unseen))
        sizes.add(len(games))
    return rows + [summed(f"{sets} random sets of {n}", n, at_random(n, sets), known, unseen) for n in sorted(sizes)]


def summed(name: str, size: int, chosen: Sequence[Sequence[str]], *ways: Sequence[Any]) -> dict[str, Any]:
    """Summarise errors and intervals of some sets of games in each way; errors and shares are fractions."""
    found: dict[str, Any] = {"games": name, "size": size}
    for way, every in zip(("left_out", "unseen"), ways, strict=True):
        estimates = [one for games in chosen for one in by_ours(games, every)]
        found[way] = {
            "n": len(estimates),
            "sources": len({one.source for one in estimates}),
            "error": error(estimates),
            "by_source": over_sources(estimates, error),
            "spread": jackknife(estimates, lambda some: over_sources(some, error)),
            "covered": sum(one.covered for one in estimates),
            "share": over_sources(estimates, share),
        }
    return found


def difference(one: Sequence[Estimate], other: Sequence[Estimate]) -> tuple[float, float, int, int]:
    """Return the mean over sources of `one`'s error minus `other`'s, and its standard error.

    Then the number of sources on which `one` has the smaller errors, and the number of sources.
    """
    by_source: dict[str, list[float]] = {}
    for first, second in zip(one, other, strict=True):
        if first.value is not None and second.value is not None:
            by_source.setdefault(first.source, []).append(first.error - second.error)
    means = [fmean(some) for some in by_source.values()]
    return fmean(means), stdev(means) / len(means) ** 0.5, sum(mean < 0 for mean in means), len(means)


def lines(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the table: mean errors over sources and coverage, for left-out papers and unseen sources."""
    first = rows[0]
    ways = {"left_out": "papers left out", "unseen": "unseen sources"}
    heading = [f"{title} ({first[way]['n']} of {first[way]['sources']})" for way, title in ways.items()]
    yield f"| games | {' | '.join(f'{title}: error | covered' for title in heading)} |"
    yield "|---" * 5 + "|"
    for row in rows:
        cells = (
            f"{100 * row[way]['by_source']:.1f} ± {100 * row[way]['spread']:.1f} % | {100 * row[way]['share']:.0f} %"
            for way in ways
        )
        yield f"| {row['games']} | {' | '.join(cells)} |"


def main() -> None:
    """Print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="page with the table's marks")
    put(lines(compared()), BEGIN, parser.parse_args().write)


if __name__ == "__main__":
    main()
