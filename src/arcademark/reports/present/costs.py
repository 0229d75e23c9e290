"""What an evaluation takes in hours, money, energy and carbon, and what that was assumed from."""

from __future__ import annotations

from collections.abc import Iterator

from arcademark.reports import wording
from arcademark.reports.blocks import Cell, Document, Facts, Notices, Prose, section, table
from arcademark.reports.document import Notice
from arcademark.reports.subsets.expenses import Expenses
from arcademark.subset.costs import HOURS_PER_DAY
from arcademark.suite.costs import Running

LABELS = {
    "hours_per_task": "hours a game",
    "training_frames": "training frames",
    "frames_per_second": "frames a second",
    "gpu_price": "the GPU's price",
    "machine_price": "the machine's price",
    "gpu_price_preemptive": "the GPU's preemptive price",
    "machine_price_preemptive": "the machine's preemptive price",
    "gpu_watts": "the GPU's power",
    "machine_watts": "the machine's power",
    "pounds_per_kwh": "carbon dioxide of a kilowatt-hour",
}
"""Assumptions that can be replaced, in words."""
ROWS = (
    ("GPU hours", "gpu_hours", "{:,.0f}"),
    ("cost, standard", "standard", "${:,.0f}"),
    ("cost, preemptive", "preemptive", "${:,.0f}"),
    ("energy", "kilowatt_hours", "{:,.0f}\N{NO-BREAK SPACE}kWh"),
    ("carbon dioxide", "carbon_kilograms", "{:,.0f}\N{NO-BREAK SPACE}kg"),
)
"""What is shown: in words, by the fields of `arcademark.subset.costs.Cost`, and how."""


def document(shown: Expenses) -> Document:
    """Show what an evaluation takes beside all of the suite's games."""
    whole = [shown.cost] if shown.cost.tasks == shown.whole.tasks else [shown.cost, shown.whole]
    rows: list[tuple[Cell | str, ...]] = []
    for name, field, form in ROWS:
        mine, *others = (getattr(cost, field) for cost in whole)
        texts = [wording.MISSING if value is None else form.format(value) for value in (mine, *others)]
        shares = [
            wording.percent(100 * mine / all_) if mine is not None and all_ else wording.MISSING for all_ in others
        ]
        rows.append((name, Cell(texts[0], "strong"), *texts[1:], *shares))
    columns = ("", wording.plural(shown.cost.tasks, "game"), *((shown.suite, "share") if len(whole) > 1 else ()))
    runs = f", {wording.plural(shown.cost.runs, 'run')} each" if shown.cost.runs > 1 else ""
    notes = [Notice("assumed", "note", text) for text in (*shown.remarks, *(it.note for it in shown.running.assumed))]
    if shown.cost.kilowatt_hours is None:
        told = "The power of this hardware is not known, so energy and carbon are not."
        notes.append(Notice("power", "note", told, "Add --gpu-watts and --machine-watts."))
    return Document(
        f"{shown.running.title}: what an evaluation takes{runs}",
        "costs",
        "A lower bound: no cooling, no tests, no tuning, nothing that was run in vain.",
        (
            section("", table(columns, rows)),
            section(
                "Assumed",
                Facts(tuple(_assumed(shown))),
                Notices(tuple(notes)),
                Prose(shown.running.citation, "weak") if shown.running.citation else None,
            ),
        ),
    )


def _assumed(shown: Expenses) -> Iterator[tuple[str, str]]:
    running = shown.running
    yield "a game", f"{running.hours_per_task:,.4g} hours ({running.hours_per_task / HOURS_PER_DAY:,.3g} days)"
    if hardware := " and ".join(filter(None, (running.gpu, running.machine))):
        yield "hardware", hardware
    yield "prices", _prices(running)
    if running.gpu_watts is not None and running.machine_watts is not None:
        yield "power", f"{running.gpu_watts:g} + {running.machine_watts:g} W"
        yield "carbon dioxide", f"{shown.pounds_per_kwh:g} pounds a kilowatt-hour"
    if shown.changed:
        yield "replaced by you", wording.listing(LABELS[name] for name in shown.changed)


def _prices(running: Running) -> str:
    told = f"${running.gpu_price:g} + ${running.machine_price:g} an hour"
    if running.gpu_price_preemptive is not None and running.machine_price_preemptive is not None:
        told += f", ${running.gpu_price_preemptive:g} + ${running.machine_price_preemptive:g} preemptive"
    return told
