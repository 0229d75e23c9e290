"""Searches, predictions, studies and costs of subsets in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from arcademark.report import layout, wording
from arcademark.report.subsets import searching
from arcademark.report.subsets.searching import Found, Searched
from arcademark.subset.search import Candidate

STEPS: Mapping[str, str] = {
    "5": "The best five",
    "3": "The best three of these",
    "1": "The best one of these",
    "3-val": "The best three for tuning, none of the five among them",
    "5-val": "These and two more for tuning",
    "10": "The five and the best five more, none for tuning among them",
}


def render_search(shown: Searched, console: Console) -> None:
    """Print a search."""
    layout.show(search_parts(shown), console)


def search_parts(shown: Searched) -> Iterator[RenderableType]:
    """Yield what `render_search` prints, from top to bottom."""
    for source in shown.sources:
        yield Text(source, style="dim")
    for remark in shown.remarks:
        yield Text(remark, style="dim")
    space = "log space" if shown.transform == "log10" else "percent"
    yield Text(
        f"Which few {shown.noun}s best predict the {shown.target} of {shown.metric} over all, in {space}: "
        f"{wording.plural(shown.algorithms, 'algorithm')}, {wording.plural(shown.tasks, shown.noun)}, "
        f"{shown.folds} folds shuffled with seed {shown.fold_seed}."
    )
    if shown.left_out:
        yield Text(f"Not taking part: {_left_out(shown)}.", style="dim")
    yield Text()
    for found in shown.results:
        yield from _found(found, shown)


def _left_out(shown: Searched) -> str:
    told = [f"{shown.titles.get(name, name)} ({reason})" for name, reason in shown.left_out.items()]
    return wording.shortened(told, most=4)


def _found(found: Found, shown: Searched) -> Iterator[RenderableType]:
    content: list[RenderableType] = [_candidates([found.best, *found.runners_up], shown)]
    content += [
        Text(),
        Text(searching.proof(found.certificate)),
        Text("Coefficients of the best:"),
        _weights(found, shown),
    ]
    if found.winners:
        content += [Text(), *_stability(found, shown)]
    yield from layout.section(STEPS.get(found.name, "The best subsets"), *content)


def _candidates(candidates: Sequence[Candidate], shown: Searched) -> RenderableType:
    log = shown.transform == "log10"
    made = layout.table("", f"{shown.noun}s", "R²", "rel. error" if log else "mean error", "error +", "n", left=2)
    for place, item in enumerate(candidates, start=1):
        names = ", ".join(shown.titles[task] for task in item.tasks)
        error = wording.percent(100 * item.relative_error) if log else f"{item.cv_mae:.3g}"
        more = "" if place == 1 else f"+{100 * searching.gap(candidates[0], item):.1f}\N{NO-BREAK SPACE}%"
        style = "bold" if place == 1 else ""
        made.add_row(str(place), Text(names, style=style), f"{item.r2:.3f}", error, more, str(item.n))
    return made


def _weights(found: Found, shown: Searched) -> RenderableType:
    made = layout.table(shown.noun, "coefficient")
    for task, weight in zip(found.best.tasks, found.best.coefficients, strict=True):
        made.add_row(Text(shown.titles[task]), f"{weight:.4f}")
    return made


def _stability(found: Found, shown: Searched) -> Iterator[RenderableType]:
    total = sum(winner.seeds for winner in found.winners)
    same = sum(winner.seeds for winner in found.winners if winner.tasks == found.best.tasks)
    yield Text(f"With {total} other shuffles of the folds it wins {same} times; {len(found.winners)} subsets win:")
    made = layout.table(f"{shown.noun}s", "times")
    for winner in found.winners[:5]:
        made.add_row(Text(", ".join(shown.titles[task] for task in winner.tasks)), str(winner.seeds))
    yield made
