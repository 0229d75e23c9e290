"""How predictions from some games hold for what they were not learnt from."""

from __future__ import annotations

from collections.abc import Iterator

from arcademark.reports import wording
from arcademark.reports.blocks import Column, Document, Notices, section, table
from arcademark.reports.document import Notice
from arcademark.reports.subsets.covering import Coverage


def document(shown: Coverage) -> Document:
    """Show a line for each list of games and way to leave out, which games were chosen, and how to read it."""
    level = f"{100 * shown.level:g} %"
    chosen = any(row.same is not None for row in shown.rows)
    rows = [
        (
            row.subset,
            row.left_out,
            *([wording.share(row.same)] if chosen else []),
            wording.count(row.algorithms),
            *map(wording.share, (row.mean_error, row.median_error, *row.coverage.values(), row.games_coverage)),
        )
        for row in shown.rows
    ]
    columns = [Column("from", "name"), Column("left out", "name")]
    columns += [Column("same chosen"), Column("algorithms")] if chosen else [Column("algorithms")]
    columns += [Column(name, over="error") for name in ("mean", "median")]
    columns += [Column(name, over="truths held") for name in (*shown.rows[0].coverage, f"single {shown.noun}s")]
    best = dict.fromkeys((row.subset, row.games) for row in shown.rows if row.same is not None)
    listed = [(name, wording.listing(shown.titles[task] for task in games)) for name, games in best]
    return Document(
        f"How often {level} intervals hold, from some {shown.noun}s",
        "coverage",
        f"{wording.plural(shown.algorithms, 'algorithm')}"
        + (f" of {shown.groups} {shown.groups_noun}." if shown.groups < shown.algorithms else "."),
        (
            section("", table(columns, rows, grouped=True)),
            section(f"The {shown.noun}s", table((Column("", "name"), Column("chosen", "name")), listed)),
            section("How to read it", Notices(tuple(_notes(shown, chosen=chosen)))),
        ),
    )


def _notes(shown: Coverage, *, chosen: bool) -> Iterator[Notice]:
    each = "its paper" if shown.groups_noun == "papers" else "it"
    ways = {row.left_out for row in shown.rows}
    more = " and, where a row says so, without all of its kind or all that were published since that year"
    told = [
        f"Error: 100 × |ln| of the estimated over the true median of all {shown.noun}s (plus one). Truths held: how "
        f"many were within the interval for {100 * shown.level:g} %, of all {shown.noun}s' median and so on, and of "
        f"single {shown.noun}s.",
        f"Each algorithm is predicted by what was learnt without {each}{more if len(ways) > 1 else ''}; what widens "
        f"its interval leaves out the same. The fits behind others' misses had {each}.",
    ]
    if chosen:
        told.append(
            f"The best {shown.noun}s are chosen anew each time, without what is left out; in what share of the choices "
            "they are those that all algorithms give stands under same chosen."
        )
    return (Notice("reading", "note", text) for text in told)
