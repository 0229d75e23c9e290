"""The best subset of every size in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from arcademark.report import layout, wording
from arcademark.report.layout import Console, Text
from arcademark.report.subsets.sizes import EverySize, Series, Sized
from arcademark.report.subsets.validating import LOG

TITLES = {
    "leave out": "The best subset of every size",
    "charge": "The best where whoever is left out counts",
}


def render(shown: EverySize, console: Console) -> None:
    """Print the best subsets."""
    layout.show(parts(shown), console)


def parts(shown: EverySize) -> Iterator[RenderableType]:
    """Yield what `render` prints, from top to bottom."""
    for line in (*shown.sources, *shown.remarks):
        yield Text(line, style="dim")
    space = "in log space" if shown.transform == LOG else "scores as they are"
    yield Text(
        f"How well few {shown.noun}s predict the {shown.target} over all, {space}: "
        f"{wording.plural(shown.algorithms, 'algorithm')}, {wording.plural(shown.tasks, shown.noun)}, "
        f"{shown.folds} folds shuffled with seed {shown.fold_seed}."
    )
    if shown.left_out:
        told = [f"{shown.titles.get(name, name)} ({reason})" for name, reason in shown.left_out.items()]
        yield Text(f"Left out: {wording.shortened(told, most=4)}.", style="dim")
    yield Text()
    for series in shown.series:
        yield from layout.section(TITLES[series.incomplete], *_series(series, shown))


def _series(series: Series, shown: EverySize) -> Iterator[RenderableType]:
    nested = any(item.nested is not None for item in series.sizes)
    heads = ["error", "±", "n", "R² of all", *(["nested"] if nested else []), "proven"]
    made = layout.table("size", *heads)
    for item in series.sizes:
        made.add_row(str(item.size), *_numbers(item, shown, nested))
    yield made
    yield Text()
    before: set[str] = set()
    for item in series.sizes:
        line = Text(f"{item.size:>3}  ")
        for place, task in enumerate(item.best.tasks):
            line.append(", " if place else "")
            line.append(shown.titles[task], style="" if task in before else "bold")
        yield line
        before = set(item.best.tasks)
    yield Text()
    yield Text(_explained(series, shown), style="dim")


def _numbers(item: Sized, shown: EverySize, nested: bool) -> list[str]:
    def told(value: float) -> str:
        return wording.percent(100 * value) if shown.transform == LOG else f"{value:.3g}"

    beyond = [] if not nested else [wording.MISSING if item.nested is None else told(item.nested.mean)]
    share = wording.MISSING if item.r2_of_all is None else f"{item.r2_of_all:.4f}"
    proven = f"of {item.certificate.subsets:,}" if item.certificate.holds else "NO"
    return [told(item.error), told(item.spread), str(item.best.n), share, *beyond, proven]


def _explained(series: Series, shown: EverySize) -> str:
    new = f"New {shown.noun}s are bold. "
    if series.incomplete == "charge":
        return new + (
            f"Ranked over all {shown.algorithms} algorithms: one without scores on a subset's {shown.noun}s counts as "
            "predicted by the mean, so that leaving it out gains nothing; errors are of the n others."
        )
    told = (
        "Errors are cross-validated means over the n algorithms that have all scores, ± their standard error over "
        "folds; they chose the subset, too, and so are too kind. "
    )
    if len(shown.series) == 1:
        return new + told
    return (
        new
        + told
        + (
            "Large subsets win partly by leaving out algorithms: see n, and R² of all, which takes who is left out as "
            "predicted by the mean."
        )
    )
