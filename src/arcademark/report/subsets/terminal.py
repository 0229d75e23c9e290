"""Searches, predictions, studies and costs of subsets in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType

from arcademark.report import layout, wording
from arcademark.report.layout import Console, Text
from arcademark.report.subsets import outlook_terminal, searching
from arcademark.report.subsets.predicting import Predicted, Prediction, Upgrade
from arcademark.report.subsets.searching import Found, Searched
from arcademark.report.subsets.studying import Kind, Studied
from arcademark.report.subsets.validation_terminal import bootstrap, nested, winners
from arcademark.subset.model import Estimate
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
    space = "in log space" if shown.transform == "log10" else "scores as they are"
    yield Text(
        f"Which few {shown.noun}s best predict the {shown.target} over all, "
        f"{space}: {wording.plural(shown.algorithms, 'algorithm')}, {wording.plural(shown.tasks, shown.noun)}, "
        f"{shown.folds} folds shuffled with seed {shown.fold_seed}."
    )
    if shown.left_out:
        yield Text(f"Left out: {_left_out(shown)}.", style="dim")
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
        Text(searching.proof(found.certificate, shown.choose)),
        Text(f"Coefficients of the {'chosen' if shown.choose == 'consensus' else 'best'}:"),
        _weights(found, shown),
    ]
    if found.winners:
        times = sum(win.times for win in found.winners)
        title = f"With {wording.plural(times, 'other shuffle')} of the folds"
        content += [Text(), *winners(title, times, found.winners, found.best.tasks, shown.titles)]
    if found.nested is not None:
        error = found.best.relative_error if shown.transform == "log10" else found.best.cv_mae
        content += [Text(), *nested(found.nested, error, found.best.tasks, shown.titles, shown.transform)]
    if found.bootstrap is not None:
        content += [Text(), *bootstrap(found.bootstrap, found.best.tasks, shown.titles)]
    agreed = ": what the near-best agree on" if shown.choose == "consensus" else ""
    yield from layout.section(STEPS.get(found.name, "The best subsets") + agreed, *content)


def _candidates(candidates: Sequence[Candidate], shown: Searched) -> RenderableType:
    log = shown.transform == "log10"
    made = layout.table("", f"{shown.noun}s", "R²", _head(shown), "error +", "n", left=2)
    for place, item in enumerate(candidates, start=1):
        names = ", ".join(shown.titles[task] for task in item.tasks)
        error = wording.percent(100 * item.relative_error) if log else f"{item.cv_mae:.3g}"
        more = "" if place == 1 else _more(candidates[0], item)
        style = "bold" if place == 1 else ""
        made.add_row(str(place), Text(names, style=style), f"{item.r2:.3f}", error, more, str(item.n))
    return made


def _more(best: Candidate, other: Candidate) -> str:
    if not best.cv_mse:  # nothing is a percentage of 0
        return "\N{EN DASH}"
    return f"{100 * searching.gap(best, other):+.1f}\N{NO-BREAK SPACE}%"


def _head(shown: Searched) -> str:
    if shown.transform == "log10":
        return "rel. error"
    return f"mean error, {shown.unit}" if shown.unit else "mean error"


def _weights(found: Found, shown: Searched) -> RenderableType:
    made = layout.table(shown.noun, "coefficient")
    for task, weight in zip(found.best.tasks, found.best.coefficients, strict=True):
        made.add_row(Text(shown.titles[task]), f"{weight:.4f}")
    if found.best.intercept:
        made.add_row(Text("constant"), f"{found.best.intercept:.4f}")
    return made


def render_study(shown: Studied, console: Console, *, everything: bool = False) -> None:
    """Print a study; with ``everything`` also every pair of algorithms that an estimate orders otherwise."""
    layout.show(study_parts(shown, console.width, everything=everything), console)


def study_parts(shown: Studied, width: int, *, everything: bool) -> Iterator[RenderableType]:
    """Yield what `render_study` prints, from top to bottom."""
    for source in shown.sources:
        yield Text(source, style="dim")
    yield Text()
    yield from layout.section(f"Estimates beside the true {shown.target}", *_study_tables(shown, width))
    if shown.relative_to is not None:
        yield from layout.section(f"Relative to {shown.relative_to}", _relative(shown))
    for kind in shown.kinds:
        title = "How well they agree" + (f": {kind.title}" if len(shown.kinds) > 1 else "")
        content: list[RenderableType] = [_agreement(shown.models, kind)]
        if everything or shown.relative_to is not None:
            content += _turned(shown.models, kind)
        yield from layout.section(title, *content)
    for remark in shown.remarks:
        yield Text(f"· {remark}", style="dim")
    if shown.left_out:
        names = wording.shortened(shown.left_out, most=8)
        yield Text(f"· Without any estimate, lacking games of every model: {names}.", style="dim")


def _study_tables(shown: Studied, width: int) -> Iterator[RenderableType]:
    """Yield one table where there is room for values and errors, else two."""
    together = width >= layout.WIDE and len(shown.models) <= 4
    kinds = [("both",)] if together else [("values",), ("errors",)]
    for place, (kind,) in enumerate(kinds):
        if place:
            yield Text()
        yield _study_table(shown, kind)
    units = {"%": "in percent", "": "as they are"}.get(shown.unit, f"in {shown.unit}")
    yield Text(
        f"True values and estimates {units}; below them, or beside, by what share an estimate is off.",
        style="dim",
    )


def _study_table(shown: Studied, kind: str) -> RenderableType:
    heads = [text for name in shown.models for text in ((name, "off") if kind == "both" else (name,))]
    middle = [] if kind == "errors" else ["games", shown.summary]
    made = layout.table("" if kind != "errors" else "off by", *middle, *heads)
    for line in shown.lines:
        row = line.row
        name = f"{row.algorithm}{'*' * bool(line.fitted)}"
        cells = []
        for item in row.estimates:
            cells += [_value(item.value, shown.unit)] if kind != "errors" else []
            cells += [_signed(item.error)] if kind != "values" else []
        numbers = [] if kind == "errors" else [str(row.tasks), _value(row.true, shown.unit)]
        made.add_row(Text(name), *numbers, *cells)
    return made


def _value(value: float | None, unit: str) -> str:
    """Show a value: a percentage as such, others as numbers, whose unit stands below."""
    return wording.quantity(value, "%" if unit == "%" else "")


def _relative(shown: Studied) -> RenderableType:
    heads = [text for name in shown.models for text in (name, "off")]
    made = layout.table("", shown.summary, *heads)
    for line in shown.lines:
        cells = []
        for item in line.row.estimates:
            cells += [_ratio(item.relative), _signed(item.relative_error)]
        made.add_row(Text(line.row.algorithm), _ratio(line.row.relative), *cells)
    return made


def _agreement(names: Sequence[str], kind: Kind) -> RenderableType:
    relative = any(item.relative_mean_error is not None for item in kind.agreements)
    heads = ["compared", "mean error", "worst", "bias", *(["relative"] if relative else []), "inversions"]
    made = layout.table("", *heads)
    for name, item in zip(names, kind.agreements, strict=True):
        more = [_share(item.relative_mean_error)] if relative else []
        turned = f"{len(item.inversions)} of {item.pairs}"
        made.add_row(
            Text(name),
            str(item.compared),
            _share(item.mean_error),
            _share(item.worst_error),
            _signed(item.bias),
            *more,
            turned,
        )
    return made


def _turned(names: Sequence[str], kind: Kind) -> Iterator[RenderableType]:
    for name, item in zip(names, kind.agreements, strict=True):
        if item.inversions:
            pairs = "; ".join(f"{better} and {worse}" for better, worse in item.inversions)
            yield Text(f"Ordered otherwise by {name}, the better one first: {pairs}.")


def _share(value: float | None) -> str:
    return wording.percent(None if value is None else 100 * value)


def _signed(value: float | None) -> str:
    if value is None:
        return wording.MISSING
    return ("+" if value > 0 else "") + wording.percent(100 * value)


def _ratio(value: float | None) -> str:
    return wording.MISSING if value is None else f"{value:.2f}"


def render_prediction(shown: Predicted, console: Console, *, everything: bool = False) -> None:
    """Print predictions; with ``everything`` every game of every algorithm."""
    layout.show(prediction_parts(shown, everything=everything), console)


def prediction_parts(shown: Predicted, *, everything: bool) -> Iterator[RenderableType]:
    """Yield what `render_prediction` prints, from top to bottom."""
    for source in shown.sources:
        yield Text(source, style="dim")
    yield Text()
    told = [item for item in shown.predictions if item.estimate is not None]
    if told:
        target = told[0].estimate.target if told[0].estimate else ""
        yield from layout.section(f"The {target}, estimated", _estimates(told))
    if told and (everything or len(told) == 1):
        for item in told:
            if item.games:
                yield from layout.section(f"Every game of {item.algorithm}", _games(item, shown.level))
    for item in shown.predictions:
        if item.forecast is not None:
            games = not item.games and (everything or len(shown.predictions) == 1)
            yield from outlook_terminal.parts(item.algorithm, item.forecast, shown, games=games)
        if item.outside:
            yield Text(
                f"Warning: {item.algorithm} scores outside the training table on {wording.listing(item.outside)}; "
                "beyond it the models are not known to hold.",
                style="bold yellow",
            )
    if len(told) == 1 and (upgrade := told[0].upgrade) is not None:
        forecast = told[0].forecast
        yield Text(_next(upgrade, others=forecast is not None and bool(forecast.plays)))
    for remark in shown.remarks:
        yield Text(f"· {remark}", style="dim")


def _estimates(told: Sequence[Prediction]) -> RenderableType:
    """Return a table whose columns are those that anyone has something in."""
    estimates = [item.estimate for item in told if item.estimate is not None]
    nested = any(item.nested is not None for item in estimates)
    human = any(item.at_human_level is not None for item in told)
    head = ("printed", "error") if all(item.published for item in estimates) else ("typical", "error")
    others = (("on other", "papers"), (f"{100 * estimates[0].level:g} %", "from"), "to") if nested else ()
    made = layout.table("", "model", "estimate", head, *others, *([("at human", "level")] if human else []))
    for item, estimate in zip(told, estimates, strict=True):
        cells = [estimate.model, wording.quantity(estimate.value, estimate.unit), _typical(estimate)]
        if nested:
            ends = (estimate.low, estimate.high)
            cells += [_on_others(estimate), *(wording.quantity(value, estimate.unit) for value in ends)]
        if human:
            level = item.at_human_level
            cells.append(wording.MISSING if level is None else f"{level} of {len(item.games)}")
        made.add_row(Text(item.algorithm, style="bold"), *cells)
    return made


def _typical(estimate: Estimate) -> str:
    """Show a typical error: a share of the estimate, or in its unit where the model has no transform."""
    if estimate.relative_error is None:
        unit = "points" if estimate.unit == "%" else estimate.unit
        return f"±{wording.quantity(estimate.absolute_error, unit)}"
    return f"±{wording.percent(100 * estimate.relative_error)}"


def _on_others(estimate: Estimate) -> str:
    if estimate.nested is None:
        return wording.MISSING
    if estimate.relative_error is None:
        return wording.quantity(estimate.nested.mean, "points" if estimate.unit == "%" else estimate.unit)
    return wording.percent(100 * estimate.nested.mean)


def _next(upgrade: Upgrade, *, others: bool) -> str:
    """Say what the next larger model takes and gives; with ``others`` what to play next stands above."""
    errors = f"{_share(upgrade.relative_error)} as printed"
    if upgrade.nested_error is not None:
        errors += f", {wording.percent(100 * upgrade.nested_error)} on other papers"
    if not upgrade.games:
        better = "" if upgrade.narrows else f", where {upgrade.instead_of} errs no more"
        return f"All games of {upgrade.model} are there: --model {upgrade.model.lower()} errs by {errors}{better}."
    if upgrade.narrows:
        return f"To narrow it, play {wording.listing(upgrade.games)}: {upgrade.model} errs by {errors}."
    told = (
        f"{upgrade.model} also needs {wording.listing(upgrade.games)}. It errs by {errors}: on these it is no closer "
        f"than {upgrade.instead_of}"
    )
    return f"{told}. For what narrows the interval most see what to play next." if others else f"{told}."


def _games(item: Prediction, level: float) -> RenderableType:
    made = layout.table("game", "%", "from", "to", "R²")
    for game in item.games:
        played = game.r_squared is None
        made.add_row(
            Text(game.name, style="bold" if played else ""),
            wording.percent(game.value),
            "played" if played else wording.percent(game.low),
            "" if played else wording.percent(game.high),
            "" if game.r_squared is None else f"{game.r_squared:.2f}",
        )
    made.caption = f"Intervals hold {100 * level:g} % of algorithms like those of the training table."
    made.caption_justify = "left"
    return made
