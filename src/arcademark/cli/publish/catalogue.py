"""``arcademark catalogue``: published scores, errors in papers, and checks of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.catalogue.model import ALGORITHM_KINDS
from arcademark.cli import messages, options, tables
from arcademark.cli.commands import CommandGroup
from arcademark.cli.counting import replaying
from arcademark.cli.output import Output, with_output, with_whole_output
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.files import check_folder, write_document, write_output

if TYPE_CHECKING:
    from arcademark.catalogue.model import AlgorithmKind, Entry

NO_PROTOCOL = "unknown"
"""Protocol of entries that match no named one."""

chosen = options.combine(
    click.option("--collection", metavar="NAMES", help="Only these collections: review-2021,ale-2013."),
    tables.algorithms,
    options.fields(
        "where",
        f"Select algorithms by kind (model-free, planning, …), named protocol ({NO_PROTOCOL!r}: none), phase of the "
        "reported scores (training, evaluation, best, unknown), training frames, and year of publication",
        {
            **options.each(click.STRING, "kind", "protocol", "reported"),
            **options.each(options.COUNT, "min_frames", "max_frames"),
            **options.each(click.INT, "year", "since", "until"),
        },
    ),
)


@click.group("catalogue", cls=CommandGroup)
def command() -> None:
    """List, show, export and check published scores with their sources; submit a run; list errata of papers."""


@command.command("list", short_help="List collections and algorithms.")
@chosen
@with_output
def list_(output: Output, **given: Any) -> int:
    """List the collections with their algorithms: kind, year, training frames, games, protocol, who published them."""
    from arcademark.analysis import catalogue as documents

    output.show(documents.catalogue(_select(**given), scores=False), summaries=False)
    return 0


@command.command("show", short_help="Show an algorithm or a collection with its scores.")
@click.argument("name", metavar="NAME")
@click.option("--collection", metavar="NAMES", help="Only from these collections.")
@with_output
def show(name: str, collection: str | None, output: Output) -> int:
    """Show everything about NAME: an algorithm, its settings, source and scores with HNS; or a whole collection."""
    from arcademark.analysis import catalogue as documents
    from arcademark.catalogue import collections

    whole = name in collections.collections()
    entries = collections.select(name) if whole else _of_name(name, _names("collection", collection))
    output.show(documents.catalogue(entries), "catalogue" if whole else "catalogue-algorithms", summaries=True)
    return 0


@command.command("export", short_help="Write scores as CSV or JSON.")
@chosen
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "wide", "json"]),
    default="csv",
    help="CSV with one row per score; wide, with one row per game and one column per algorithm; or JSON.",
)
@click.option("--out", type=options.PATH, metavar="FILE", help="A new file.  [default: standard output]")
def export(form: str, out: Path | None, **given: Any) -> int:
    """Write published scores as CSV, one row per score with its source, or as JSON."""
    from arcademark.analysis import catalogue as documents
    from arcademark.pages.render import json

    entries = _select(**given)
    result = documents.catalogue(entries)
    if form == "json":
        text = json.text(json.render(result))
    else:
        text = documents.wide_csv(result.algorithms) if form == "wide" else documents.long_csv(result.algorithms)
    if out is None:
        messages.write(text)
    else:
        write_document(out, text, overwrite=False)
        messages.say(f"{out}: {len(entries)} algorithms")
    for entry in entries.values():
        if entry.unavailable:
            messages.say(f"{entry.algorithm} of {entry.collection} has no scores: {entry.unavailable}")
    return 0


@command.command("check", short_help="Check the whole catalogue.")
@with_whole_output
def check(output: Output) -> int:
    """Check every file, source, game and score, and papers' printed values; the exit code is 1 if a check fails."""
    from arcademark.catalogue.check import check as check_all

    result = check_all()
    output.show(result)
    return 0 if result.ok else 1


@command.command("add", short_help="Check a collection that you contribute, and write it into a checkout.")
@click.argument("given", metavar="NAME.toml NAME.csv [sources.toml]", nargs=-1, required=True, type=options.PATH)
@click.option(
    "--into",
    type=options.PATH,
    metavar="FOLDER",
    help="Write it there, if nothing is wrong: src/arcademark/catalogue/data of a checkout.",
)
@click.option("--overwrite", is_flag=True, help="Replace a collection of the same name.")
@with_whole_output
def add(given: tuple[Path, ...], into: Path | None, overwrite: bool, output: Output) -> int:
    """Check published scores against the catalogue's rules, and compare them with its scores of the same algorithms.

    NAME.toml has one table per algorithm, NAME.csv one row per score, sources.toml the papers that are new to the
    catalogue. The exit code is 1 if anything is wrong, or if no note explains an unusual score.
    """
    from arcademark.catalogue.adding import add as add_all

    result = add_all(given, into, overwrite=overwrite)
    output.show(result)
    return 0 if result.ok else 1


@command.command("submit", short_help="Verify a run and write it as a collection for the catalogue.")
@options.run_directory
@options.fields(
    "entry",
    "The catalogue's entry: the paper's key, as in paper=doe-2026; the kind of algorithm "
    f"({', '.join(ALGORITHM_KINDS)}); the agent's name, by default its label. A paper that is new to the catalogue "
    "also needs authors, title, venue and year",
    {
        "paper": click.STRING,
        "kind": click.Choice(ALGORITHM_KINDS),
        "name": click.STRING,
        "authors": click.STRING,
        "title": click.STRING,
        "venue": click.STRING,
        "year": click.IntRange(1977, 9999),
        "url": click.STRING,
    },
)
@click.option("--out", type=options.PATH, metavar="FOLDER", help="Folder for the collection.")
@options.trusted_suite
@options.workers
@with_whole_output
def submit(
    run_directory: Path,
    out: Path | None,
    output: Output,
    entry: Mapping[str, Any],
    **how: Any,
) -> int:
    """Replay every episode of RUN and, if all scores are confirmed, write the collection that a maintainer adds.

    The exit code is 1 if an episode is not confirmed, or if the run cannot be added for another reason.
    """
    from arcademark.operations import submission

    cite = dict(entry)
    paper: str | None = cite.pop("paper", None)
    kind: AlgorithmKind | None = cite.pop("kind", None)
    name: str = cite.pop("name", "")
    if cite and set(cite) - {"url"} != {"authors", "title", "venue", "year"}:
        raise ArcadeMarkError("--entry: authors, title, venue and year go together; give all for a new paper, or none")
    missing = [value is None for value in (out, paper, kind)]
    if any(missing) and (not all(missing) or cite):
        raise ArcadeMarkError(
            "--entry paper=…,kind=… and --out go together; give all three, or none to check the run alone"
        )
    if out is not None:
        check_folder(out)
    with replaying() as follow:
        source = None if paper is None else submission.Paper(paper, **cite)
        result = submission.check(run_directory, source, kind, name, on_finding=follow, **how)
    paths = [] if out is None else [out / file for file in result.files]
    for path, text in zip(paths, result.files.values(), strict=False):
        write_output(path, text.encode())
    output.show(result, written=tuple(map(str, paths)))
    return 0 if result.ok else 1


@command.command("errata", short_help="List errors in papers, with the correct values and the reasons.")
@click.option("--paper", metavar="NAME", help="Only this paper: review, atari-5, ale-2013, or its key.")
@click.option("--category", metavar="NAME", help="Only errors of this kind.")
@with_output
def errata(paper: str | None, category: str | None, output: Output) -> int:
    """List errors and contradictions in papers: the printed value, the correct value, and the reason."""
    from arcademark.analysis.catalogue import Errata
    from arcademark.analysis.reproductions.papers import PAPERS
    from arcademark.catalogue import errata as slips

    key = PAPERS[paper].source if paper and paper in PAPERS else paper
    output.show(Errata(slips.errata(key, category)))
    return 0


def _select(*, collection: str | None, algorithms: str | None, where: Mapping[str, Any]) -> Mapping[str, Entry]:
    from arcademark.catalogue import collections

    wanted = dict(where)
    for name in {"kind", "reported"} & wanted.keys():
        wanted[name] = _names(f"where {name}", wanted[name])
    if wanted.get("protocol") == NO_PROTOCOL:
        wanted["protocol"] = ""
    frames = {f"{end}_training_frames": wanted.pop(f"{end}_frames", None) for end in ("min", "max")}
    keep = collections.Filter(**frames, **wanted)
    entries = collections.select(_names("collection", collection), _names("algorithms", algorithms), keep)
    if not entries:
        raise ArcadeMarkError("no algorithm of the catalogue matches all filters; remove some")
    return entries


def _of_name(name: str, collection: tuple[str, ...] | None) -> Mapping[str, Entry]:
    from arcademark.catalogue import collections

    try:
        return collections.select(collection, [name])
    except UnknownNameError as error:
        if error.kind != "algorithm":
            raise
        known = [*collections.collections(), *(entry.algorithm for entry in collections.entries())]
        raise UnknownNameError("algorithm or collection", name, dict.fromkeys(known)) from None


def _names(option: str, text: str | None) -> tuple[str, ...] | None:
    return tables.names(option, text) or None
