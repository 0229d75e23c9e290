"""Columns of predictions, searches, studies and coverage of subsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from arcademark import wording
from arcademark.analysis.subsets.covering import Beside, CoverageStudy, Held
from arcademark.analysis.subsets.predicting import Predicted, Prediction
from arcademark.analysis.subsets.searching import EverySize, Searched, Series, Sized
from arcademark.analysis.subsets.studying import Line, Studied
from arcademark.pages.columns import Column, Columns, Style
from arcademark.subset.predict.any_tasks import MEDIAN
from arcademark.subset.predict.model import ModelEstimate
from arcademark.subset.predict.outlook import Range
from arcademark.subset.search.search import Candidate
from arcademark.subset.studies.study import Agreement, ModelComparison
from arcademark.subset.studies.validate import PredictionInterval, Win

COMPARED = "Algorithms that have an estimate and a true value"
CHOSEN: Columns[str, str] = (Column("", lambda size, _: size), Column("chosen", lambda _, names: names))


def estimated(it: Predicted) -> Columns[Prediction, ModelEstimate]:
    """Return the columns of each estimate, without columns that are empty for all."""
    estimates = [estimate for _, estimate in it.estimated]
    nested = any(one.nested is not None for one in estimates)
    known = any(item.truth.get(MEDIAN.name) is not None for item, _ in it.estimated)
    kind = "" if all(one.log_error is None for one in estimates) else "log "
    return (
        Column("algorithm", lambda item, _: item.algorithm, style="strong"),
        Column(
            "estimate",
            lambda _, one: wording.quantity(one.value, one.unit),
            style=lambda item, one: "doubtful" if one.warnings or item.outside else "strong",
            sort=lambda _, one: one.value,
        ),
        Column("true", lambda item, _: item.truth.get(MEDIAN.name), wording.percent, style="strong") if known else None,
        Column("model", lambda _, one: one.model) if not it.model else None,
        Column(
            f"{'printed' if all(one.published for one in estimates) else 'typical'} {kind}error",
            lambda _, one: f"±{_error(one, one.log_error or one.absolute_error)}",
        ),
        Column("on other papers", lambda _, one: one.nested and _error(one, one.nested.mean)) if nested else None,
        Column(f"{wording.percentage(it.level)} from", lambda _, one: wording.quantity(one.low, one.unit))
        if nested
        else None,
        Column("to", lambda _, one: wording.quantity(one.high, one.unit)) if nested else None,
    )


def _error(estimate: ModelEstimate, size: float | None) -> str:
    """Show an error: relative to the estimate, or in its unit if the model has no transform."""
    if estimate.log_error is None:
        return wording.quantity(size, "points" if estimate.unit == "%" else estimate.unit)
    return wording.share(size)


def medians(it: Predicted) -> Columns[Prediction, Range]:
    """Return the columns of the forecast medians of several algorithms."""
    judged = any(item.truth for item, _ in it.forecasts)
    return (
        Column("algorithm", lambda item, _: item.algorithm),
        Column("from", lambda item, _: wording.plural(len(item.forecast.known if item.forecast else ()), it.noun)),
        Column("estimate", lambda _, median: _value(median), style="strong"),
        Column(f"{wording.percentage(it.level)} from", lambda _, median: _shown(median.low, median)),
        Column("to", lambda _, median: _shown(median.high, median)),
        Column("true", lambda item, _: item.truth.get(MEDIAN.name), wording.percent) if judged else None,
        Column("error", lambda item, median: item.off(median), wording.change) if judged else None,
    )


def forecasts(it: Predicted, item: Prediction) -> Columns[str, Range]:
    """Return the columns of each summary of an algorithm, by name."""
    coverage = item.forecast.coverage if item.forecast else {}
    return (
        Column(f"over all {it.noun}s", lambda name, _: name),
        *_range("estimate", "strong"),
        Column("±", lambda _, range: _half(range)),
        Column("true", lambda name, range: _shown(item.truth.get(name), range), style="strong") if item.truth else None,
        Column("covered", lambda name, _: coverage[name], wording.covered),
    )


def tasks(it: Predicted) -> Columns[str, Range]:
    """Return the columns of each predicted task."""
    return (Column(it.noun, lambda task, _: it.title(task)), *_range("%"))


def _range(heading: str, style: Style = "") -> Columns[str, Range]:
    """Return the columns of a range: its value, and its interval."""
    return (
        Column(heading, lambda _, range: _value(range), style=style),
        Column("from", lambda _, range: _shown(range.low, range)),
        Column("to", lambda _, range: _shown(range.high, range)),
    )


def _value(of: Range) -> str:
    return f"below {_shown(of.high, of)}" if of.value is None else _shown(of.value, of)


def _shown(number: float | None, of: Range) -> str:
    return wording.percent(number) if number is None or of.unit == "score" else f"{number:.0f}"


def _half(of: Range) -> str:
    if of.unit == "count":
        return " "
    return wording.percent(100 * of.error if of.error < float("inf") else None)


def held(it: CoverageStudy) -> Columns[Held]:
    """Return the columns of accuracy and coverage of predictions from some games."""

    def summary(name: str) -> Column[Held]:
        return Column(f"{name} covered", lambda row: _count(row.coverage[name], row.algorithms))

    def level(name: str, place: int) -> Column[Held]:
        return Column(f"{name} covered (width)", lambda row: _at(row, place, log=it.log))

    return (
        Column("from", lambda row: row.subset),
        Column("left out", lambda row: row.left_out),
        Column("same selection", lambda row: row.same, wording.share) if it.chosen else None,
        Column("algorithms", lambda row: row.algorithms),
        Column("mean error", lambda row: row.mean_error, it.error),
        Column("median error", lambda row: row.median_error, it.error),
        *map(summary, it.rows[0].coverage),
        Column(f"{it.target} covered, by {it.group_noun}", _by_group),
        Column(f"single {it.noun}s covered", lambda row: row.games_coverage, wording.share),
        *(level(one.level, place) for place, one in enumerate(it.rows[0].levels)),
    )


def _by_group(row: Held) -> str:
    spread = "" if row.by_group_error is None else f" ± {100 * row.by_group_error:.0f}"
    return f"{100 * row.by_group:.0f}{spread}\N{NO-BREAK SPACE}%"


def _at(row: Held, place: int, *, log: bool) -> str | None:
    one = row.levels[place]
    if one.held is None or one.width is None:
        return None
    return f"{_count(one.held, one.algorithms)} ({'×' if log else ''}{one.width:.2f})"


def _count(share: float, total: int) -> str:
    return f"{round(share * total)} of {total}"


def beside(it: CoverageStudy) -> Columns[Held, Beside]:
    """Return the columns of the best games in comparison with random ones."""
    return (
        Column("from", lambda best, _: best.subset),
        Column("left out", lambda best, _: best.left_out),
        Column("mean error", lambda best, _: best.mean_error, it.error),
        Column("at random", lambda _, random: random.mean_error, it.error),
        Column("5 %", lambda _, random: random.least, it.error),
        Column("95 %", lambda _, random: random.most, it.error),
        Column("worse", lambda _, random: random.worse, wording.share),
        Column("gain", lambda _, random: random.gain, it.error),
        Column("from", lambda _, random: random.low, it.error),
        Column("to", lambda _, random: random.high, it.error),
        Column("these alone", lambda _, random: random.alone, it.error),
    )


def listed(it: Searched, best: Candidate) -> Columns[int, Candidate]:
    """Return the columns of each subset, with its rank, relative to the best."""

    def more(rank: int, one: Candidate) -> str | None:
        if not best.cv_mse:  # nothing is a percentage of 0
            return None
        return "" if rank == 1 else f"{100 * (one.cv_mse / best.cv_mse - 1):+.1f}\N{NO-BREAK SPACE}%"

    return (
        Column("", lambda rank, _: rank),
        Column(
            f"{it.noun}s",
            lambda _, one: it.names(one),
            kind="name",
            style=lambda rank, _: "strong" if rank == 1 else "",
        ),
        Column("R²", lambda _, one: f"{one.r2:.3f}"),
        Column(
            "log error" if it.log else f"mean error{f', {it.unit}' if it.unit else ''}",
            lambda _, one: it.error(it.chosen_by(one)),
        ),
        Column("error +", more, str),
        Column("n", lambda _, one: one.n),
    )


def weights(it: Searched) -> Columns[str, str]:
    """Return the columns of the coefficients."""
    return (Column(it.noun, lambda task, _: task), Column("coefficient", lambda _, coefficient: coefficient))


ERRORS: Columns[str, str, str, str, str] = (
    Column("error", lambda what, *_: what, style=lambda *row: "strong" if row[-1] else ""),
    Column("mean", lambda what, mean, median, worst, n: mean, str),
    Column("median", lambda what, mean, median, worst, n: median, str),
    Column("worst", lambda what, mean, median, worst, n: worst, str),
    Column("n", lambda what, mean, median, worst, n: n, str),
)


def intervals(it: Searched) -> Columns[PredictionInterval]:
    """Return the columns of each interval for algorithms of another paper."""
    return (
        Column("interval", lambda row: wording.percentage(row.level)),
        Column("×/÷" if it.log else "±", it.width),
        Column("covered", lambda row: f"{row.inside} of {row.of}"),
        Column("by paper", lambda row: row.of_papers, wording.share),
    )


def winners(it: Searched) -> Columns[Win]:
    """Return the columns of each subset that wins without some papers."""
    return (Column("winner", it.names), Column("times", lambda row: row.times))


def sizes(it: EverySize, series: Series) -> Columns[Sized]:
    """Return the columns of each size."""
    nested = any(one.nested is not None for one in series.sizes)
    return (
        Column("size", lambda row: row.size),
        Column("error", lambda row: row.error, it.error),
        Column("±", lambda row: row.spread, it.error),
        Column("n", lambda row: row.best.n),
        Column("R² of all", lambda row: row.r2_of_all, lambda value: wording.fixed(value, 4)),
        Column("nested", lambda row: row.nested and row.nested.mean, it.error) if nested else None,
        Column("proven", lambda row: f"of {row.certificate.subsets:,}" if row.certificate.holds else "NO"),
    )


def steps(it: EverySize) -> Columns[int, str]:
    """Return the columns of each size's tasks."""
    return (Column("size", lambda size, _: size), Column(f"{it.noun}s", lambda _, names: names, kind="prose"))


def studied(it: Studied) -> Columns[Line]:
    """Return the columns of each algorithm."""

    def show(value: float) -> str:
        return wording.quantity(value, "%" if it.unit == "%" else "")

    return (
        Column("algorithm", lambda line: line.row.algorithm + "*" * bool(line.fitted)),
        Column("tasks" if it.unit == "tasks" else "games", lambda line: line.row.tasks, str),
        Column(it.summary, lambda line: line.row.true, show),
        *_models(it, lambda one: one.value, lambda one: one.error, show),
    )


def relative(it: Studied) -> Columns[Line]:
    """Return the columns of each algorithm relative to the baseline."""
    return (
        Column("algorithm", lambda line: line.row.algorithm),
        Column(it.summary, lambda line: line.row.relative, wording.fixed),
        *_models(it, lambda one: one.relative, lambda one: one.relative_error, wording.fixed),
    )


Read: TypeAlias = "Callable[[ModelComparison], float | None]"


def _models(it: Studied, value: Read, error: Read, show: Callable[[float], str]) -> Iterator[Column[Line]]:
    def column(heading: str, place: int, read: Read, show: Callable[[float], str]) -> Column[Line]:
        return Column(heading, lambda line: read(line.row.estimates[place]), show, optional=show is wording.change)

    for place, model in enumerate(it.models):
        yield column(model, place, value, show)
        yield column(f"{model} off", place, error, wording.change)


def agreements(it: Studied) -> Columns[str, str, Agreement]:
    """Return the columns of each model's agreement on each kind of algorithms."""
    known = any(one.relative_mean_error is not None for _, _, one in it.agreements)
    return (
        Column("of", lambda kind, model, one: kind),
        Column("model", lambda kind, model, one: model),
        Column("n", lambda kind, model, one: one.compared, meaning=COMPARED),
        Column("mean error", lambda kind, model, one: one.mean_error, wording.share),
        Column("worst", lambda kind, model, one: one.worst_error, wording.share),
        Column("bias", lambda kind, model, one: one.bias, wording.change),
        Column("relative", lambda kind, model, one: one.relative_mean_error, wording.share) if known else None,
        Column("inversions", lambda kind, model, one: f"{len(one.inversions)} of {one.pairs}"),
    )
