"""``arcademark catalogue submit`` tells whether a run is fit for the catalogue, and writes what would be added."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.catalogue.model import ALGORITHM_KINDS
from arcademark.cli import commands, options
from arcademark.cli.counting import replaying
from arcademark.cli.output import Output, with_output
from arcademark.errors import ArcadeMarkError
from arcademark.files import check_folder, write_output

if TYPE_CHECKING:
    from arcademark.catalogue.model import AlgorithmKind


@commands.command("submit", short_help="Verify a run for the catalogue, and write what it takes.")
@options.run_directory
@click.option("--paper", metavar="KEY", help="Who publishes it, name and year: doe-2026.")
@options.fields(
    "cite",
    "Of a paper that the catalogue does not know, 'Doe et al.' say",
    {
        "authors": click.STRING,
        "title": click.STRING,
        "venue": click.STRING,
        "year": click.IntRange(1977, 9999),
        "url": click.STRING,
    },
)
@click.option("--kind", type=click.Choice(ALGORITHM_KINDS), help="What kind of algorithm it is.")
@click.option(
    "--name", metavar="NAME", default="", help="What the run's only agent is to be called.  [default: its label]"
)
@click.option("--out", type=options.PATH, metavar="FOLDER", help="Where to write the collection.")
@options.trusted_suite
@options.workers
@with_output
def command(
    run_directory: Path,
    paper: str | None,
    kind: AlgorithmKind | None,
    name: str,
    out: Path | None,
    output: Output,
    cite: Mapping[str, Any],
    **how: Any,
) -> int:
    """Replay every episode of RUN and, where all give their scores, write the collection that a maintainer adds.

    Exit code 1 if an episode is not confirmed, or anything else keeps the run from the catalogue.
    """
    from arcademark.reports import presenter
    from arcademark.reports.catalogue.documents import COLUMNS
    from arcademark.reports.site import submission

    if cite and set(cite) - {"url"} != {"authors", "title", "venue", "year"}:
        raise ArcadeMarkError("--cite: authors, title, venue and year go together; give all of a new paper, or none")
    missing = [value is None for value in (out, paper, kind)]
    if any(missing) and (not all(missing) or cite):
        raise ArcadeMarkError("--paper, --kind and --out go together; give all three, or none to check the run alone")
    if out is not None:
        check_folder(out)
    with replaying() as follow:
        source = None if paper is None else submission.Paper(paper, **cite)
        result = submission.check(run_directory, source, kind, name, on_finding=follow, **how)
    paths = [] if out is None else [out / file for file in result.files]
    for path, text in zip(paths, result.files.values(), strict=False):
        write_output(path, text.encode())
    output.show(result, lambda: presenter.document(result, written=tuple(map(str, paths)), **COLUMNS))
    return 0 if result.ok else 1
