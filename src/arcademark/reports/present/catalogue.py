"""The catalogue: lists, an algorithm with its scores, errata, and what a check found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from arcademark.catalogue.adding import Addition
from arcademark.catalogue.check import Check, Finding
from arcademark.catalogue.errata import NOT_DECIDABLE
from arcademark.catalogue.model import Erratum, Source
from arcademark.reports import wording
from arcademark.reports.blocks import Block, Cell, Column, Document, Facts, Prose, Section, Table, section, table
from arcademark.reports.catalogue.documents import Published
from arcademark.reports.settings import of_entry
from arcademark.suite import anomalies, references, tasks
from arcademark.suite.settings import format_setting

_REPORTED = {
    "training": "the average while training",
    "evaluation": "an evaluation apart from training",
    "best": "the best policy or run",
    "unknown": "not known",
}


def listing(items: Sequence[Published], *, summaries: bool = False) -> Document:
    """Show algorithms, collection by collection, with their summaries if asked for."""
    sections = []
    for name in dict.fromkeys(item.collection for item in items):
        mine = [item for item in items if item.collection == name]
        source = Prose(_reference(mine[0].source), "weak")
        sections.append(section(name, source, _algorithms(mine, summaries=summaries), *_differing(mine)))
    told = f"{wording.plural(len(items), 'algorithm')}. Year: of publication; frames: emulated frames of training."
    return _document("Published scores", *sections, Prose(told))


def algorithms(items: Sequence[Published]) -> Document:
    """Show all that is known of some entries, with their scores."""
    several = len(items) > 1
    shown = [(item, tuple(_algorithm(item))) for item in items]
    title = wording.shortened(dict.fromkeys(item.algorithm for item in items))
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
            for item in found.collections
        ),
    )
    checked = (
        wording.plural(found.files, "file"),
        wording.plural(found.sources, "paper"),
        wording.plural(found.printed_cells, "printed cell"),
        f"{wording.count(found.errata)} errata",
        f"{wording.plural(found.disagreements, 'reference score')} that another source prints otherwise",
    )
    return _document(
        "Check of the catalogue",
        section("", counts),
        Prose(f"Checked: {wording.listing(checked)}."),
        findings(found.findings) if not found.ok else Prose("All is well.", "good"),
    )


def addition(found: Addition) -> Document:
    """Show what is wrong with a contributed collection; or what is striking in it, and what to do next."""
    title = f"Check of {found.collection}"
    if found.findings:
        return _document(title, findings(found.findings))
    beside = table(
        (Column("algorithm", "name"), Column("beside", "name"), Column("of", "name"), "games of both", "equal scores"),
        (
            (item.algorithm, item.other, item.collection, wording.count(item.games), wording.count(item.equal))
            for item in found.compared
        ),
    )
    striking = table(
        (Column("where", "name"), Column("what is striking", "prose")),
        ((remark.where, Cell(remark.problem, "doubtful")) for remark in found.remarks),
    )
    held = (
        wording.plural(found.results, "score"),
        f"of {wording.plural(found.algorithms, 'algorithm')}",
        f"on {wording.plural(found.games, 'game')}",
    )
    told = f"Nothing is wrong: {' '.join(held)}."
    if found.remarks:
        told = f"{' '.join(held)}; {wording.plural(len(found.remarks), 'remark')} to be answered."
    return _document(
        title,
        Prose(told, "good" if found.ok else "doubtful"),
        *((section("The same algorithms in the catalogue", beside),) if found.compared else ()),
        *((section(wording.plural(len(found.remarks), "remark"), striking),) if found.remarks else ()),
        Prose(
            f"Written: {wording.listing(found.written)}. SOURCES.md there is to say where the scores are from."
            if found.written
            else "To write it: --into src/arcademark/catalogue/data, in a checkout."
            if found.ok
            else "Correct each score, or say in the note of its row, of a column in the algorithm's, why it is so."
        ),
    )


def findings(found: Sequence[Finding]) -> Section:
    """Show what is wrong, and where."""
    wrong = table(
        (Column("where", "name"), Column("what is wrong", "prose")),
        ((finding.where, Cell(finding.problem, "bad")) for finding in found),
    )
    return section(wording.plural(len(found), "finding"), wrong)


def _document(title: str, *shown: Block) -> Document:
    return Document(title, "catalogue", "", shown)


def _differing(items: Sequence[Published]) -> Iterator[Prose]:
    """Say on which games scores are not those of today's emulator."""
    games = {
        item.name: anomalies.differing({item.source.key, item.published_by.key if item.published_by else ""})
        for item in items
        if not item.unavailable
    }
    if where := dict.fromkeys(game for one in games.values() for game in one):
        who = wording.shortened([item.algorithm for item in items if games.get(item.name)])
        on = wording.listing([tasks.game_name(game) for game in where])
        yield Prose(
            f"Scores of {who} are not those of today's emulator (ale-py {anomalies.CHECKED}) on {on}: set no scores "
            "made with it beside them there. 'arcademark info games NAME' has the figures.",
            "doubtful",
        )


def _algorithms(items: Sequence[Published], *, summaries: bool) -> Table:
    last = ("mean HNS", "median HNS", None) if summaries else (None, None, Column("protocol", "name"))
    columns = ("algorithm", Column("kind", "name"), "year", "frames", "games", *last)
    rows = (
        (
            Cell(item.algorithm, "strong"),
            item.kind,
            str(item.year),
            frames(item.training_frames),
            "lost" if item.unavailable else wording.count(item.games),
            *map(wording.percent, (item.mean_hns, item.median_hns)),
            item.protocol or wording.MISSING,
            item.published_by.short if item.published_by else wording.MISSING,
        )
        for item in items
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


def _algorithm(item: Published) -> Iterator[Section]:
    yield section("", _particulars(item))
    settings = (
        (name, format_setting(value) + " (assumed)" * (name in item.assumed))
        for name, value in of_entry(item.settings).items()
    )
    yield section("Settings", Facts(tuple(settings)))
    if item.unavailable:
        yield section("Scores", Prose(f"Not available: {item.unavailable}."))
    else:
        yield section("Scores", *_scores(item))


def _particulars(item: Published) -> Facts:
    rows = {
        "collection": item.collection,
        "the same as": item.same_as,
        "kind": item.kind,
        "published by": _reference(item.published_by) if item.published_by else wording.MISSING,
        "source": item.citation,
        "training frames": frames(item.training_frames),
        "protocol": item.protocol or "none of the named ones is known to fit",
        "score is of": _REPORTED[item.reported],
        "note": item.note,
    }
    return Facts(tuple((name, value) for name, value in rows.items() if value))


def _scores(item: Published) -> Iterator[Block]:
    scores = item.scores or ()
    kinds = dict.fromkeys(score.uncertainty_kind for score in scores if score.uncertainty_kind)
    marks = {note: place for place, note in enumerate(dict.fromkeys(score.note for score in scores if score.note), 1)}
    runs = any(score.runs is not None for score in scores)
    random, human = (references.scores(kind) for kind in ("random", "human"))
    anchors = (Column(name, optional=True) for name in ("random", "human"))
    columns = ("game", "score", "±" if kinds else None, "HNS", "runs" if runs else None, *anchors)
    rows: list[tuple[Cell | str, ...]] = []
    for score in scores:
        mark = f" [{marks[score.note]}]" if score.note else ""
        rows.append(
            (
                f"{tasks.game_name(score.game)}{mark}",
                Cell(wording.reference(score.score), "strong", sort=score.score),
                wording.reference(score.uncertainty),
                Cell(wording.percent(score.hns), sort=score.hns),
                wording.MISSING if score.runs is None else str(score.runs),
                wording.reference(random.get(score.game)),
                wording.reference(human.get(score.game)),
            )
        )
    yield table(columns, rows, sortable=True)
    for kind in kinds:
        yield Prose(f"±: {kind}.")
    if item.mean_hns is not None:
        over = wording.plural(sum(score.hns is not None for score in scores), "game")
        yield Prose(
            f"HNS over {over}: mean {wording.percent(item.mean_hns)}, median {wording.percent(item.median_hns)}; "
            "random and human scores are those of atari-57.",
            "strong",
        )
    for note, number in marks.items():
        yield Prose(f"[{number}] {note}")


def _categories(slips: Sequence[Erratum]) -> Table:
    papers = list(dict.fromkeys(slip.paper for slip in slips))
    counted = Counter((slip.category, slip.paper) for slip in slips)
    totals = Counter(slip.category for slip in slips)
    rows = (
        (
            category,
            *(
                wording.count(n) if n else wording.MISSING
                for n in (total, *(counted[category, paper] for paper in papers))
            ),
        )
        for category, total in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    return table(("category", "errata", *(Column(paper, optional=True) for paper in papers)), rows)


def _reference(source: Source) -> str:
    return f"{source.short}, {source.title}. {source.venue}"
