"""What is predicted of all tasks from a few: a model's estimate, and what any tasks say of all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arcademark.reports import wording
from arcademark.reports.blocks import Block, Card, Cards, Cell, Document, Notices, Prose, as_table, section, table
from arcademark.reports.document import Notice
from arcademark.reports.subsets.predicting import Predicted, Prediction
from arcademark.subset.predict.model import Estimate
from arcademark.subset.predict.outlook import Next, Outlook, Range
from arcademark.suite.tasks import game_name

MOST_CARDS = 3
"""Algorithms whose estimates are headlines of a page; of more there is a table."""
NEXT = 5
"""Games to play next that are named."""
NOTABLE = 1.05
"""Factor from which on wider intervals are mentioned."""


def document(shown: Predicted) -> Document:
    """Show estimates, forecasts with what to play next, and as details every task."""
    told = [item for item in shown.predictions if item.estimate is not None]
    forecasts = [(item, item.forecast) for item in shown.predictions if item.forecast is not None]
    listed = [item for item in shown.predictions if item.games or item.forecast]
    alone = len(shown.predictions) == 1
    return Document(
        f"Predictions for {shown.predictions[0].algorithm}" if alone else "Predictions",
        "prediction",
        f"{'; '.join(shown.sources)}." if shown.sources else "",
        (
            section("", Notices(tuple(_warnings(shown)))),
            section(
                f"The {told[0].estimate.target}, estimated" if told and told[0].estimate else "",
                _estimates(told) if told else None,
            ),
            *(_forecast(item.algorithm, found, shown) for item, found in forecasts),
            section("", Notices(tuple(_remarks(shown)))),
            section("How to read it", Notices(tuple(_notes(shown))), detail=True),
            section(
                f"Every {shown.noun}",
                *(section("" if alone else item.algorithm, _tasks(item, shown), folded=not alone) for item in listed),
                detail=True,
            ),
        ),
    )


def _warnings(shown: Predicted) -> Iterator[Notice]:
    """Yield why predictions should not be relied on, each sentence once, with the algorithms that it concerns."""
    concerned: dict[str, list[str]] = {}
    for item in shown.predictions:
        outside = (
            f"Scores on {wording.listing(item.outside)} are outside the training table; beyond it the models are not "
            "known to hold."
        )
        for text in (*(item.estimate or item).warnings, *((outside,) if item.outside else ())):
            concerned.setdefault(text, []).append(item.algorithm)
    for text, names in concerned.items():
        some = len(names) < len(shown.predictions)
        yield Notice("prediction", "warning", f"{wording.shortened(names)}: {text}" if some else text)


def _remarks(shown: Predicted) -> Iterator[Notice]:
    """Yield who has no prediction, and what must be known of the scores."""
    left = [item.algorithm for item in shown.predictions if item.estimate is None and item.forecast is None]
    told = (f"No estimate, as games are missing: {wording.shortened(left)}.",) if left else ()
    return (Notice("scores", "note", text) for text in (*told, *shown.remarks))


def _notes(shown: Predicted) -> Iterator[Notice]:
    """Yield how numbers are to be read, each sentence once."""
    told: dict[str, None] = {}
    for item in shown.predictions:
        told |= dict.fromkeys(item.estimate.notes if item.estimate else ())
        told |= dict.fromkeys(_intervals(item.forecast, shown) if item.forecast else ())
    return (Notice("reading", "note", text) for text in told)


def _estimates(told: Sequence[Prediction]) -> Block:
    """Return headlines, or a table, with the facts that anyone has something in."""
    estimates = [item.estimate for item in told if item.estimate is not None]
    nested = any(item.nested is not None for item in estimates)
    human = any(item.at_human_level is not None for item in told)
    error = "printed error" if all(item.published for item in estimates) else "typical error"
    cards = []
    for item, estimate in zip(told, estimates, strict=True):
        facts = [("model", estimate.model), (error, _typical(estimate))]
        if nested:
            low, high = (wording.quantity(value, estimate.unit) for value in (estimate.low, estimate.high))
            facts += [("on other papers", _on_others(estimate)), (f"{100 * estimate.level:g} % from", low)]
            facts += [("to", high)]
        if human:
            level = item.at_human_level
            facts.append(("at human level", wording.MISSING if level is None else f"{level} of {len(item.games)}"))
        shown = wording.quantity(estimate.value, estimate.unit)
        number = Cell(shown, "doubtful" if estimate.warnings or item.outside else "strong", sort=estimate.value)
        cards.append(Card(item.algorithm, number, estimate.target, tuple(facts)))
    made = Cards("algorithm", "estimate", tuple(cards))
    return made if len(cards) <= MOST_CARDS else as_table(made)


def _typical(estimate: Estimate) -> str:
    """Show a typical error: a share of the estimate, or in its unit where the model has no transform."""
    if estimate.relative_error is None:
        return f"±{wording.quantity(estimate.absolute_error, _points(estimate))}"
    return f"±{wording.share(estimate.relative_error)}"


def _on_others(estimate: Estimate) -> str:
    if estimate.nested is None:
        return wording.MISSING
    if estimate.relative_error is None:
        return wording.quantity(estimate.nested.mean, _points(estimate))
    return wording.share(estimate.nested.mean)


def _points(estimate: Estimate) -> str:
    return "points" if estimate.unit == "%" else estimate.unit


def _forecast(name: str, found: Outlook, shown: Predicted) -> Block:
    """Show summaries with their intervals, and what to play next."""
    rows = []
    for title, item in found.summaries.items():
        error = "" if item.unit == "count" else wording.percent(100 * item.error if item.error < float("inf") else None)
        value, low, high = _values(item)
        rows.append((title, Cell(value, "strong"), low, high, error, wording.share(found.coverage[title])))
    wider = (
        f"Intervals are {found.extrapolation:.1f} times as wide as usual, as these scores are unlike those of the "
        "training table."
    )
    return section(
        f"{name}, from {wording.plural(len(found.known), shown.noun)}",
        table((f"over all {shown.noun}s", "estimate", "from", "to", "±", "held"), rows),
        Prose(_next(found.plays)) if found.plays else None,
        None if found.tasks else Prose(f"All {shown.noun}s are known: nothing is predicted."),
        Prose(wider, "weak") if found.tasks and found.extrapolation >= NOTABLE else None,
    )


def _values(item: Range) -> tuple[str, str, str]:
    """Show a value and its interval."""
    value, low, high = (
        wording.percent(number) if number is None or item.unit == "score" else f"{number:.0f}"
        for number in (item.value, item.low, item.high)
    )
    return value, low, high


def _next(plays: Sequence[Next]) -> str:
    told = [f"{game_name(play.task)} (−{100 * (1 - play.left):.0f}\N{NO-BREAK SPACE}%)" for play in plays[:NEXT]]
    if len({play.frames for play in plays}) > 1:
        return f"Play next, for most taken off the median's uncertainty per frame: {wording.listing(told)}."
    return f"Play next, for what that takes off the median's uncertainty: {wording.listing(told)}."


def _intervals(found: Outlook, shown: Predicted) -> Iterator[str]:
    if not found.tasks:
        return
    algorithms = wording.plural(found.algorithms, "algorithm")
    of, each = (f" of {found.groups} papers", "its own paper") if shown.groups == "papers" else ("", "itself")
    yield (
        f"Intervals are for {100 * found.level:g} % of algorithms{' of other papers' if of else ''}: made wide enough "
        f"on {algorithms}{of}, each predicted without {each}. Known scores are taken as exact."
    )
    if found.algorithms:
        yield (
            f"Held is the share of these algorithms whose truth such intervals held, widened without {each}; of single "
            f"{shown.noun}s' they held {wording.share(found.tasks_coverage)}."
        )
    if any(item.high is None for item in found.tasks.values()):
        yield f"Where no interval is shown, there are too few {shown.groups} for {100 * found.level:g} %."


def _tasks(item: Prediction, shown: Predicted) -> Block:
    """List every task: as the model's paper predicts them, else as the forecast does."""
    if item.games:
        rows = []
        for game in item.games:
            value = wording.percent(game.value)
            if game.r_squared is None:
                rows.append((Cell(game.name, "strong"), value, "played"))
            else:
                rows.append((Cell(game.name), value, f"{game.r_squared:.2f}"))
        return table((shown.noun, "%", "R²"), rows)
    tasks = item.forecast.tasks if item.forecast else {}
    titled = ((game_name(task) if shown.noun == "game" else task, found) for task, found in tasks.items())
    return table((shown.noun, "%", "from", "to"), ((title, *_values(found)) for title, found in titled))
