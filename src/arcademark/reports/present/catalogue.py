"""The catalogue: lists, an algorithm with its scores, errata, and what a check found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from arcademark.catalogue.check import Check
from arcademark.catalogue.collections import citation
from arcademark.catalogue.errata import NOT_DECIDABLE
from arcademark.catalogue.model import Entry, Erratum, Source
from arcademark.reports import wording
from arcademark.reports.blocks import Block, Cell, Column, Document, Facts, Prose, Section, Table, section, table
from arcademark.reports.catalogue.documents import Scored

_REPORTED = {
    "training": "the average while training",
    "evaluation": "an evaluation apart from training",
    "best": "the best policy or run",
    "unknown": "not known",
}


def listing(items: Sequence[Scored], *, summaries: bool = False) -> Document:
    """Show the entries, collection by collection, with their summaries if asked for."""
    by_collection: dict[str, list[Scored]] = {}
    for item in items:
        by_collection.setdefault(item.entry.collection, []).append(item)
    sections = (
        section(name, Prose(_reference(mine[0].entry.source), "weak"), _algorithms(mine, summaries=summaries))
        for name, mine in by_collection.items()
    )
    told = f"{wording.plural(len(items), 'algorithm')}. Year: of publication; frames: emulated frames of training."
    return _document("Published scores", *sections, Prose(told))


def algorithms(items: Sequence[Scored]) -> Document:
    """Show all that is known of some entries, with their scores."""
    several = len(items) > 1
    shown = [(item, tuple(_algorithm(item))) for item in items]
    title = wording.shortened(dict.fromkeys(item.entry.algorithm for item in items))
    return _document(title, *(block for item, parts in shown
                              for block in ((section(item.name, *parts),) if several else parts)))  # fmt: skip


def errata(slips: Sequence[Erratum], sources: Mapping[str, Source]) -> Document:
    """Show the errata, paper by paper, and how many there are of each category."""
    sections = []
    for paper in dict.fromkeys(slip.paper for slip in slips):
        mine = [slip for slip in slips if slip.paper == paper]
        counted = f"{wording.count(len(mine))} {'erratum' if len(mine) == 1 else 'errata'}"
        if undecided := sum(slip.holds == NOT_DECIDABLE for slip in mine):
            counted += f", {wording.count(undecided)} of them {NOT_DECIDABLE}"
        columns = (Column(name, "prose") for name in ("where", "printed", "holds", "why"))
        rows = ((Cell(slip.where, "strong", slip.category), slip.printed, slip.holds, slip.why) for slip in mine)
        sections.append(section(f"{paper}: {_reference(sources[paper])}", Prose(counted, "weak"), table(columns, rows)))
    if not slips:
        return _document("Errata", Prose("No errata."))
    return _document("Errata", *sections, section("Categories", _categories(slips)))


def check(found: Check) -> Document:
    """Show what was counted and what is wrong."""
    counts = table(
        ("collection", "algorithms", "games", "scores", "lost"),
        (
            (item.collection, *map(wording.count, (item.algorithms, item.games, item.results, item.lost)))
            for item in found.counts
        ),
    )
    checked = (
        wording.plural(found.files, "file"),
        wording.plural(found.sources, "paper"),
        wording.plural(found.printed_cells, "printed cell"),
        f"{wording.count(found.errata)} errata",
        f"{wording.plural(found.disagreements, 'reference score')} that another source prints otherwise",
    )
    wrong = table(
        (Column("where", "name"), Column("what is wrong", "prose")),
        ((finding.where, Cell(finding.problem, "bad")) for finding in found.findings),
    )
    return _document(
        "Check of the catalogue",
        section("", counts),
        Prose(f"Checked: {wording.listing(checked)}."),
        section(wording.plural(len(found.findings), "finding"), wrong)
        if found.findings
        else Prose("All is well.", "good"),
    )


def _document(title: str, *shown: Block) -> Document:
    return Document(title, "catalogue", "", shown)


def _algorithms(items: Sequence[Scored], *, summaries: bool) -> Table:
    last = ["mean HNS", "median HNS"] if summaries else [Column("protocol", "name")]
    columns = ("algorithm", Column("kind", "name"), "year", "frames", "games", *last)
    rows: list[tuple[Cell | str, ...]] = []
    for item in items:
        entry = item.entry
        values = [wording.percent(item.mean_hns), wording.percent(item.median_hns)]
        rows.append(
            (
                Cell(entry.algorithm, "strong"),
                entry.kind,
                str(entry.year),
                frames(entry.training_frames),
                "lost" if entry.unavailable else wording.count(len(item.lines)),
                *(values if summaries else [entry.protocol or wording.MISSING]),
                entry.paper.short if entry.paper else wording.MISSING,
            )
        )
    return table((*columns, Column("published by", "name", optional=True)), rows, sortable=True)


def frames(value: int | None) -> str:
    """Show training frames as papers do: "200M", "10B", "none", "–"."""
    if not value:
        return wording.MISSING if value is None else "none"
    for size, unit in ((10**9, "B"), (10**6, "M")):
        if value % size == 0:
            return f"{value // size:,}{unit}"
    return wording.count(value)


def _algorithm(item: Scored) -> Iterator[Section]:
    entry = item.entry
    yield section("", _particulars(entry))
    settings = (
        (name, f"{value} (assumed)" if name in entry.assumed else value) for name, value in entry.settings.items()
    )
    yield section("Settings", Facts(tuple(settings)))
    if entry.unavailable:
        yield section("Scores", Prose(f"Not available: {entry.unavailable}."))
    else:
        yield section("Scores", _scores(item), *_below(item))


def _particulars(entry: Entry) -> Facts:
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
    return Facts(tuple((name, value) for name, value in rows.items() if value))


def _scores(item: Scored) -> Table:
    results = [line.result for line in item.lines]
    spread = any(result.uncertainty is not None for result in results)
    runs = any(result.runs is not None for result in results)
    marks = _marks(item)
    anchors = (Column(name, optional=True) for name in ("random", "human"))
    columns: tuple[Column | str, ...]
    columns = ("game", "score", *(["±"] if spread else []), "HNS", *(["runs"] if runs else []), *anchors)
    rows: list[tuple[Cell | str, ...]] = []
    for line in item.lines:
        result = line.result
        mark = f" [{marks[result.note]}]" if result.note else ""
        rows.append(
            (
                f"{line.name}{mark}",
                Cell(wording.reference(result.score), "strong", sort=result.score),
                *([wording.reference(result.uncertainty)] if spread else []),
                Cell(wording.percent(line.hns), sort=line.hns),
                *([wording.MISSING if result.runs is None else str(result.runs)] if runs else []),
                wording.reference(line.random),
                wording.reference(line.human),
            )
        )
    return table(columns, rows, sortable=True)


def _marks(item: Scored) -> dict[str, int]:
    """Number the notes, each once."""
    notes = dict.fromkeys(line.result.note for line in item.lines if line.result.note)
    return {note: number for number, note in enumerate(notes, start=1)}


def _below(item: Scored) -> Iterator[Prose]:
    kinds = dict.fromkeys(line.result.uncertainty_kind for line in item.lines if line.result.uncertainty_kind)
    for kind in kinds:
        yield Prose(f"±: {kind}.")
    if item.mean_hns is not None:
        over = wording.plural(item.hns_games, "game")
        yield Prose(
            f"HNS over {over}: mean {wording.percent(item.mean_hns)}, median {wording.percent(item.median_hns)}; "
            "random and human scores are those of atari-57.",
            "strong",
        )
    for note, number in _marks(item).items():
        yield Prose(f"[{number}] {note}")


def _categories(slips: Sequence[Erratum]) -> Table:
    papers = list(dict.fromkeys(slip.paper for slip in slips))
    counted = Counter((slip.category, slip.paper) for slip in slips)
    totals = Counter(slip.category for slip in slips)
    rows = (
        (
            category,
            wording.count(total),
            *(
                wording.count(counted[category, paper]) if counted[category, paper] else wording.MISSING
                for paper in papers
            ),
        )
        for category, total in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    return table(("category", "errata", *(Column(paper, optional=True) for paper in papers)), rows)


def _reference(source: Source) -> str:
    return f"{source.short}, {source.title}. {source.venue}"
