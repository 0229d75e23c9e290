"""Costs in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from arcademark.report import layout, wording
from arcademark.report.layout import Console, Text
from arcademark.report.subsets.expenses import Expenses
from arcademark.subset.costs import HOURS_PER_DAY, Cost

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


def render(shown: Expenses, console: Console) -> None:
    """Print what an evaluation takes."""
    layout.show(parts(shown), console)


def parts(shown: Expenses) -> Iterator[RenderableType]:
    """Yield what `render` prints, from top to bottom."""
    running = shown.running
    runs = f", {wording.plural(shown.cost.runs, 'run')} each" if shown.cost.runs > 1 else ""
    yield Text(f"{running.title}: what an evaluation takes{runs}", style="bold")
    yield Text()
    columns = [wording.plural(shown.cost.tasks, "game"), *([] if _same(shown) else [shown.suite, "share"])]
    made = layout.table("", *columns)
    for name, mine, whole in _rows(shown.cost, shown.whole):
        share = wording.percent(100 * mine / whole) if mine is not None and whole else wording.MISSING
        cells = [_amount(name, mine), *([] if _same(shown) else [_amount(name, whole), share])]
        made.add_row(Text(name), *cells)
    yield made
    yield Text()
    hardware = " and ".join(filter(None, (running.gpu, running.machine)))
    per_game = f"{running.hours_per_task:,.4g} hours ({running.hours_per_task / HOURS_PER_DAY:,.3g} days) a game"
    yield Text(f"Assumed: {per_game}{f' on {hardware}' if hardware else ''}; {_prices(shown)}.")
    if running.gpu_watts is not None and running.machine_watts is not None:
        watts = f"{running.gpu_watts:g} + {running.machine_watts:g} W"
        yield Text(f"Power {watts}; {shown.pounds_per_kwh:g} pounds of carbon dioxide a kilowatt-hour.")
    else:
        yield Text("No power is known of this hardware: add --gpu-watts and --machine-watts for energy and carbon.")
    if shown.changed:
        yield Text(f"Replaced by you: {wording.listing(LABELS[name] for name in shown.changed)}.")
    for told in (*shown.remarks, *(item.told for item in running.assumed)):
        yield Text(f"· {told}", style="dim")
    yield Text("· A lower bound: no cooling, no tests, no tuning, nothing that was run in vain.", style="dim")
    if running.citation:
        yield Text(f"· {running.citation}", style="dim")


def _same(shown: Expenses) -> bool:
    return shown.cost.tasks == shown.whole.tasks


def _rows(mine: Cost, whole: Cost) -> Iterator[tuple[str, float | None, float | None]]:
    yield "GPU hours", mine.gpu_hours, whole.gpu_hours
    yield "cost, standard", mine.standard, whole.standard
    yield "cost, preemptive", mine.preemptive, whole.preemptive
    yield "energy", mine.kilowatt_hours, whole.kilowatt_hours
    yield "carbon dioxide", mine.carbon_kilograms, whole.carbon_kilograms


def _amount(name: str, value: float | None) -> str:
    if value is None:
        return wording.MISSING
    if name.startswith("cost"):
        return f"${value:,.0f}"
    if name == "energy":
        return f"{value:,.0f} kWh"
    return f"{value:,.0f} kg" if name == "carbon dioxide" else f"{value:,.0f}"


def _prices(shown: Expenses) -> str:
    running = shown.running
    told = f"${running.gpu_price:g} + ${running.machine_price:g} an hour"
    if running.gpu_price_preemptive is not None and running.machine_price_preemptive is not None:
        told += f", ${running.gpu_price_preemptive:g} + ${running.machine_price_preemptive:g} preemptive"
    return told
