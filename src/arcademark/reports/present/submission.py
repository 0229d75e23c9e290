"""A run that is submitted to the catalogue: whether it is confirmed, and what a maintainer adds."""

from __future__ import annotations

from arcademark.reports import wording
from arcademark.reports.blocks import Document, Prose
from arcademark.reports.present import catalogue
from arcademark.reports.site.submission import Submission


def present(found: Submission, written: tuple[str, ...] = ()) -> Document:
    """Show what replaying a run showed, what is wrong with it, and which files were written."""
    replay = found.replay
    told = f"{replay.confirmed:,} of {wording.plural(replay.episodes, 'recorded episode')} gave their score again."
    if not found.ok:
        last = Prose("Nothing was written: a submission is whole, and each of its episodes is confirmed.", "bad")
    elif written:
        last = Prose(f"Written: {wording.listing(written)}. A maintainer adds them with 'arcademark catalogue add'.")
    else:
        last = Prose("For the files that a maintainer adds, name --paper, --kind and --out.")
    return Document(
        f"Submission of {found.directory}",
        "submission",
        "",
        (
            Prose(told, "good" if replay.confirmed == replay.episodes else "bad"),
            *(Prose(warning, "doubtful") for warning in replay.warnings),
            *((catalogue.findings(found.findings),) if found.findings else ()),
            *(catalogue.addition(found.addition).blocks[: -1 if found.ok else None] if found.addition else ()),
            last,
        ),
    )
