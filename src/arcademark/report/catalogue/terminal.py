"""The catalogue in the terminal: lists, an algorithm with its scores, errata, and what a check found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table

from arcademark.catalogue.check import Check
from arcademark.catalogue.collections import citation
from arcademark.catalogue.errata import NOT_DECIDABLE
from arcademark.catalogue.model import Entry, Erratum, Source
from arcademark.report import wording
from arcademark.report.catalogue.documents import Scored
from arcademark.report.layout import WIDE, Text, lines, prose, section, table

_REPORTED = {
    "training": "the average while training",
    "evaluation": "an evaluation apart from training",
    "best": "the best policy or run",
    "unknown": "not known",
}


def listing(items: Sequence[Scored], width: int, *, summaries: bool = False) -> Iterator[RenderableType]:
    """Yield the entries, collection by collection, with their summaries if asked for."""
    for collection in dict.fromkeys(item.entry.collection for item in items):
        mine = [item for item in items if item.entry.collection == collection]
        source = Text(_reference(mine[0].entry.source), style="dim")
        yield from section(collection, source, Text(), _algorithms(mine, width, summaries=summaries))
    yield Text(f"{wording.plural(len(items), 'algorithm')}. Year: of publication; frames: emulated frames of training.")


def algorithm(item: Scored, width: int) -> Iterator[RenderableType]:
    """Yield all that is known of an entry, with its scores."""
    entry = item.entry
    yield from section(item.name, _particulars(entry))
    if entry.settings:
        yield from section("Settings", _settings(entry))
    if entry.unavailable:
        yield from section("Scores", Text(f"Not available: {entry.unavailable}."))
        return
    yield from section("Scores", _scores(item, width))
    yield from section("", *_below(item))


def errata(slips: Sequence[Erratum], sources: Mapping[str, Source], width: int) -> Iterator[RenderableType]:
    """Yield the errata, paper by paper, and how many there are of each category."""
    for paper in dict.fromkeys(slip.paper for slip in slips):
        mine = [slip for slip in slips if slip.paper == paper]
        title = Text(f"{wording.count(len(mine))} {'erratum' if len(mine) == 1 else 'errata'}", style="dim")
        if undecided := sum(slip.holds == NOT_DECIDABLE for slip in mine):
            title.append(f", {wording.count(undecided)} of them {NOT_DECIDABLE}")
        shown = [_errata_table(mine)] if width >= WIDE else [part for slip in mine for part in _erratum(slip)]
        yield from section(f"{paper}: {_reference(sources[paper])}", title, Text(), *shown)
    yield from section("Categories", _categories(slips, width))


def check(found: Check) -> Iterator[RenderableType]:
    """Yield what was counted and what is wrong."""
    counts = table("collection", "algorithms", "games", "scores", "lost")
    for count in found.counts:
        numbers = (count.algorithms, count.games, count.results, count.lost)
        counts.add_row(Text(count.collection), *(wording.count(number) for number in numbers))
    if found.counts:
        yield counts
        yield Text()
    checked = (
        wording.plural(found.files, "file"),
        wording.plural(found.sources, "paper"),
        wording.plural(found.printed_cells, "printed cell"),
        f"{wording.count(found.errata)} errata",
        f"{wording.plural(found.disagreements, 'reference score')} that another source prints otherwise",
    )
    yield Text(f"Checked: {wording.listing(checked)}.")
    if not found.findings:
        yield Text("All is well.", style="bold green")
        return
    yield Text()
    wrong = prose(table("where", "what is wrong", left=2))
    for finding in found.findings:
        wrong.add_row(Text(finding.where), Text(finding.problem, style="red"))
    yield from section(wording.plural(len(found.findings), "finding"), wrong)


def _algorithms(items: Sequence[Scored], width: int, *, summaries: bool) -> Table:
    wide = width >= WIDE
    last = ["mean HNS", "median HNS"] if summaries else ["protocol"]
    made = table("algorithm", "kind", "year", "frames", "games", *last, *(["published by"] if wide else []))
    made.columns[0].no_wrap = True
    for column in made.columns:
        if column.header in ("kind", "protocol", "published by"):
            column.justify = "left"
    for item in items:
        entry = item.entry
        values = [wording.percent(item.mean_hns), wording.percent(item.median_hns)]
        made.add_row(
            Text(entry.algorithm, style="bold"),
            entry.kind,
            str(entry.year),
            frames(entry.training_frames),
            "lost" if entry.unavailable else wording.count(len(item.lines)),
            *(values if summaries else [entry.protocol or wording.MISSING]),
            *([entry.paper.short if entry.paper else wording.MISSING] if wide else []),
        )
    return made


def frames(value: int | None) -> str:
    """Show training frames as papers do: "200M", "10B", "none", "–"."""
    if not value:
        return wording.MISSING if value is None else "none"
    for size, unit in ((10**9, "B"), (10**6, "M")):
        if value % size == 0:
            return f"{value // size:,}{unit}"
    return wording.count(value)


def _particulars(entry: Entry) -> Table:
    made = Table(box=None, pad_edge=False, show_header=False)
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    rows = {
        "collection": entry.collection,
        "the same as": entry.same_as,
        "kind": entry.kind,
        "published by": _reference(entry.paper) if entry.paper else wording.MISSING,
        "source": citation(entry),
        "training frames": frames(entry.training_frames),
        "protocol": entry.protocol or "none of the named ones is known to fit",
        "score is of": _REPORTED[entry.reported],
        "note": entry.note,
    }
    for name, value in rows.items():
        if value:
            made.add_row(name, Text(value))
    return made


def _settings(entry: Entry) -> Table:
    made = Table(box=None, pad_edge=False, show_header=False)
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in entry.settings.items():
        made.add_row(name, Text(f"{value} (assumed)" if name in entry.assumed else value))
    return made


def _scores(item: Scored, width: int) -> Table:
    results = [line.result for line in item.lines]
    spread = any(result.uncertainty is not None for result in results)
    runs = any(result.runs is not None for result in results)
    wide = width >= WIDE
    made = table(
        "game",
        "score",
        *(["±"] if spread else []),
        "HNS",
        *(["runs"] if runs else []),
        *(["random", "human"] if wide else []),
        "",
    )
    marks = _marks(item)
    for line in item.lines:
        result = line.result
        made.add_row(
            Text(line.name),
            Text(wording.reference(result.score), style="bold"),
            *([wording.reference(result.uncertainty)] if spread else []),
            wording.percent(line.hns),
            *([wording.MISSING if result.runs is None else str(result.runs)] if runs else []),
            *([wording.reference(line.random), wording.reference(line.human)] if wide else []),
            f"[{marks[result.note]}]" if result.note else "",
        )
    return made


def _marks(item: Scored) -> dict[str, int]:
    """Number the notes, each once."""
    notes = dict.fromkeys(line.result.note for line in item.lines if line.result.note)
    return {note: number for number, note in enumerate(notes, start=1)}


def _below(item: Scored) -> Iterator[RenderableType]:
    kinds = dict.fromkeys(line.result.uncertainty_kind for line in item.lines if line.result.uncertainty_kind)
    for kind in kinds:
        yield Text(f"±: {kind}.")
    if item.mean_hns is not None:
        over = wording.plural(item.hns_games, "game")
        yield Text(
            f"HNS over {over}: mean {wording.percent(item.mean_hns)}, median {wording.percent(item.median_hns)}; "
            "random and human scores are those of atari-57.",
            style="bold",
        )
    for note, number in _marks(item).items():
        grid = Table.grid(padding=(0, 1))
        grid.add_row(Text(f"[{number}]"), Text(note))
        yield grid


def _errata_table(slips: Sequence[Erratum]) -> Table:
    made = table("where", "printed", "holds", "why", left=4)
    for column, ratio in zip(made.columns, (4, 3, 3, 6), strict=True):
        column.ratio = ratio
    made.expand = True
    for slip in slips:
        where = lines(Text(slip.where, style="bold"), Text(slip.category, style="dim"))
        made.add_row(where, Text(slip.printed), Text(slip.holds), Text(slip.why))
    return made


def _erratum(slip: Erratum) -> Iterator[RenderableType]:
    yield Text(slip.where, style="bold") + Text(f"  ({slip.category})", style="dim not bold")
    grid = Table.grid(padding=(0, 1))
    for name, value in (("printed", slip.printed), ("holds", slip.holds), ("why", slip.why)):
        grid.add_row(Text(name, style="dim"), Text(value))
    yield Padding(grid, (0, 0, 1, 2))


def _categories(slips: Sequence[Erratum], width: int) -> Table:
    papers = list(dict.fromkeys(slip.paper for slip in slips)) if width >= WIDE else []
    counted = Counter((slip.category, slip.paper) for slip in slips)
    totals = Counter(slip.category for slip in slips)
    made = table("category", *papers, "errata")
    made.columns[0].no_wrap = True
    for category, total in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0])):
        numbers = [counted[category, paper] for paper in papers]
        cells = [wording.count(number) if number else wording.MISSING for number in numbers]
        made.add_row(Text(category), *cells, wording.count(total))
    return made


def _reference(source: Source) -> str:
    return f"{source.short}, {source.title}. {source.venue}"
