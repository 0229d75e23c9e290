"""Estimates beside true values: every algorithm's, how well they agree, and what must be known of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arcademark.reports import wording
from arcademark.reports.blocks import Cell, Column, Document, Facts, Notices, Table, section, table
from arcademark.reports.document import Notice
from arcademark.reports.subsets.studying import Kind, Studied

MOST = 30
"""Algorithms that are shown unless all are asked for, from the highest true value."""


def document(shown: Studied) -> Document:
    """Show a study; which pairs an estimate orders otherwise is a detail, but beside a baseline."""
    units = {"%": "in percent", "": "as they are"}.get(shown.unit, f"in {shown.unit}")
    told = f"True values and estimates {units}; off: by what share of the true value an estimate is."
    relative = shown.relative_to is not None
    notices = list(_notices(shown))
    return Document(
        f"Estimates beside the true {shown.target}",
        "study",
        f"{'; '.join(shown.sources)}.",
        (
            section("", Notices(tuple(item for item in notices if item.level == "warning"))),
            section("", _estimates(shown, told)),
            section(f"Relative to {shown.relative_to}", _relative(shown)) if relative else section(""),
            section(
                "How well they agree",
                _agreement(shown),
                *(
                    section(
                        f"Ordered otherwise, the better one first: {kind.title}",
                        Facts(tuple(_inversions(shown.models, kind))),
                        detail=not relative,
                    )
                    for kind in shown.kinds
                ),
            ),
            section("", Notices(tuple(item for item in notices if item.level == "note"))),
        ),
    )


def _estimates(shown: Studied, caption: str) -> Table:
    rows = []
    for line in shown.lines:
        row = line.row
        cells = [Cell(f"{row.algorithm}{'*' * bool(line.fitted)}"), Cell(str(row.tasks)), _value(row.true, shown.unit)]
        for item in row.estimates:
            cells += [_value(item.value, shown.unit), Cell(_signed(item.error), sort=item.error)]
        rows.append(cells)
    columns = ("algorithm", "games" if shown.unit != "tasks" else "tasks", shown.summary, *_models(shown))
    return table(columns, rows, caption=caption, sortable=True, most=MOST)


def _relative(shown: Studied) -> Table:
    rows = []
    for row in (line.row for line in shown.lines):
        estimates = (
            text for item in row.estimates for text in (wording.fixed(item.relative), _signed(item.relative_error))
        )
        rows.append((row.algorithm, wording.fixed(row.relative), *estimates))
    return table(("algorithm", shown.summary, *_models(shown)), rows, most=MOST)


def _models(shown: Studied) -> Iterator[Column | str]:
    for name in shown.models:
        yield from (name, Column(f"{name} off", optional=True))


def _agreement(shown: Studied) -> Table:
    relative = any(item.relative_mean_error is not None for kind in shown.kinds for item in kind.agreements)
    rows = []
    for kind in shown.kinds:
        for name, item in zip(shown.models, kind.agreements, strict=True):
            errors = map(wording.share, (item.mean_error, item.worst_error))
            last = (
                _signed(item.bias),
                wording.share(item.relative_mean_error),
                f"{len(item.inversions)} of {item.pairs}",
            )
            rows.append((kind.title, name, str(item.compared), *errors, *last))
    compared = Column("n", meaning="Algorithms that have an estimate and a true value")
    heads = (compared, "mean error", "worst", "bias", "relative" if relative else None, "inversions")
    return table(("of", "model", *heads), rows, names=2, grouped=True)


def _inversions(names: Sequence[str], kind: Kind) -> Iterator[tuple[str, str]]:
    for name, item in zip(names, kind.agreements, strict=True):
        if item.inversions:
            yield name, "; ".join(f"{better} and {worse}" for better, worse in item.inversions)


def _notices(shown: Studied) -> Iterator[Notice]:
    if shown.scored_otherwise:
        caps = wording.listing(f"{cap:,}" for cap in shown.frame_caps)
        yield Notice(
            "frame_cap",
            "warning",
            f"The models hold for episodes of at most {caps} frames. Scored otherwise: "
            f"{wording.listing(shown.scored_otherwise)}; their estimates should not be used (Aitchison et al. 2023, "
            "§5.3, §8.1), and the averages leave them out.",
        )
    if all(line.row.true is None for line in shown.lines):
        told = f"No true {shown.summary} to compare with: no algorithm here has {shown.minimum_tasks} tasks."
        yield Notice("no_truth", "warning", told, "Fewer are enough with --minimum-tasks.")
    if any(line.fitted for line in shown.lines):
        yield Notice(
            "fitted",
            "note",
            "Algorithms marked * have the scores, all or nearly all, of one that the published models were fitted to: "
            "their errors are too low. Where two have the same one's, the averages count it once.",
        )
    if shown.corrected:
        names = wording.listing(f"{name} ({wording.listing(tasks)})" for name, tasks in shown.corrected.items())
        yield Notice(
            "corrected",
            "note",
            f"With a score that was corrected after the models were fitted: {names}. Their true values are not those "
            "that the paper prints (Aitchison et al. 2023, Table 8).",
        )
    told = "true values: they may be off in one direction"
    if shown.published:
        told = "medians: they are biased differently (Aitchison et al. 2023, §8)"
    yield Notice("compare", "note", f"Compare estimates with estimates, not with {told}.")
    yield from (Notice("scores", "note", text) for text in shown.remarks)
    if shown.left_out:
        names = wording.shortened(shown.left_out, most=8)
        yield Notice("left_out", "note", f"Without any estimate, lacking games of every model: {names}.")


def _value(value: float | None, unit: str) -> Cell:
    """Show a value: a percentage as such, others as numbers, whose unit stands below."""
    return Cell(wording.quantity(value, "%" if unit == "%" else ""), sort=value)


def _signed(value: float | None) -> str:
    if value is None:
        return wording.MISSING
    return ("+" if value > 0 else "") + wording.share(value)
