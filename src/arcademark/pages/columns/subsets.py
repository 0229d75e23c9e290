"""Columns of predictions, searches, studies and coverage of subsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from arcademark import wording
from arcademark.pages.columns import Column, Columns, Style
from arcademark.subset.predict.any_tasks import MEDIAN

if TYPE_CHECKING:
    from arcademark.analysis.subsets.covering import Beside, CoverageStudy, Held
    from arcademark.analysis.subsets.predicting import Predicted, Prediction
    from arcademark.analysis.subsets.searching import EverySize, Searched, Series, Sized
    from arcademark.analysis.subsets.studying import Line, Studied
    from arcademark.subset.predict.model import ModelEstimate
    from arcademark.subset.predict.outlook import Range
    from arcademark.subset.search.search import Candidate
    from arcademark.subset.studies.study import Agreement, ModelComparison
    from arcademark.subset.studies.validate import PredictionInterval, Win

    Named: TypeAlias = tuple[str, Range]

CHOSEN: Columns[tuple[str, str]] = (Column("", lambda row: row[0]), Column("chosen", lambda row: row[1]))


def estimated(it: Predicted) -> Columns[tuple[Prediction, ModelEstimate]]:
    """Return what is shown of each estimate, as far as any has it."""
    estimates = [estimate for _, estimate in it.estimated]
    nested = any(one.nested is not None for one in estimates)
    known = any(item.truth.get(MEDIAN.name) is not None for item, _ in it.estimated)
    kind = "" if all(one.log_error is None for one in estimates) else "log "
    return (
        Column("algorithm", lambda row: row[0].algorithm, style="strong"),
        Column(
            "estimate",
            lambda row: wording.quantity(row[1].value, row[1].unit),
            style=lambda row: "doubtful" if row[1].warnings or row[0].outside else "strong",
            sort=lambda row: row[1].value,
        ),
        Column("true", lambda row: row[0].truth.get(MEDIAN.name), wording.percent, style="strong") if known else None,
        Column("model", lambda row: row[1].model) if not it.model else None,
        Column(
            f"{'printed' if all(one.published for one in estimates) else 'typical'} {kind}error",
            lambda row: f"±{_error(row[1], row[1].log_error or row[1].absolute_error)}",
        ),
        Column("on other papers", lambda row: row[1].nested and _error(row[1], row[1].nested.mean)) if nested else None,
        Column(f"{wording.percentage(it.level)} from", lambda row: wording.quantity(row[1].low, row[1].unit))
        if nested
        else None,
        Column("to", lambda row: wording.quantity(row[1].high, row[1].unit)) if nested else None,
    )


def _error(estimate: ModelEstimate, size: float | None) -> str:
    """Show an error: a share of the estimate, or in its unit where the model has no transform."""
    if estimate.log_error is None:
        return wording.quantity(size, "points" if estimate.unit == "%" else estimate.unit)
    return wording.share(size)


def medians(it: Predicted) -> Columns[tuple[Prediction, Range]]:
    """Return what is shown of the median that is forecast, where several algorithms' are."""
    judged = any(item.truth for item, _ in it.forecasts)
    return (
        Column("algorithm", lambda row: row[0].algorithm),
        Column("from", lambda row: wording.plural(len(row[0].forecast.known if row[0].forecast else ()), it.noun)),
        Column("estimate", lambda row: _value(row[1]), style="strong"),
        Column(f"{wording.percentage(it.level)} from", lambda row: _shown(row[1].low, row[1])),
        Column("to", lambda row: _shown(row[1].high, row[1])),
        Column("true", lambda row: row[0].truth.get(MEDIAN.name), wording.percent) if judged else None,
        Column("off", lambda row: row[0].off(row[1]), wording.change) if judged else None,
    )


def forecasts(it: Predicted, item: Prediction) -> Columns[Named]:
    """Return what is shown of each summary of an algorithm, by name."""
    coverage = item.forecast.coverage if item.forecast else {}
    return (
        Column(f"over all {it.noun}s", lambda row: row[0]),
        *_range("estimate", "strong"),
        Column("±", lambda row: _half(row[1])),
        Column("true", lambda row: _shown(item.truth.get(row[0]), row[1]), style="strong") if item.truth else None,
        Column("covered", lambda row: coverage[row[0]], wording.covered),
    )


def tasks(it: Predicted) -> Columns[Named]:
    """Return what is shown of each task that is predicted."""
    return (Column(it.noun, lambda row: it.title(row[0])), *_range("%"))


def _range(heading: str, style: Style = "") -> Columns[Named]:
    """Return the columns of a range: its value, and its interval."""
    return (
        Column(heading, lambda row: _value(row[1]), style=style),
        Column("from", lambda row: _shown(row[1].low, row[1])),
        Column("to", lambda row: _shown(row[1].high, row[1])),
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
    """Return what is shown of how predictions from some games hold."""

    def summary(name: str) -> Column[Held]:
        return Column(f"{name} held", lambda row: _count(row.coverage[name], row.algorithms))

    def level(name: str, place: int) -> Column[Held]:
        return Column(f"{name} held (width)", lambda row: _at(row, place, log=it.log))

    return (
        Column("from", lambda row: row.subset),
        Column("left out", lambda row: row.left_out),
        Column("same chosen", lambda row: row.same, wording.share) if it.chosen else None,
        Column("algorithms", lambda row: row.algorithms),
        Column("mean error", lambda row: row.mean_error, it.error),
        Column("median error", lambda row: row.median_error, it.error),
        *map(summary, it.rows[0].coverage),
        Column(f"{it.target} held, by {it.groups_noun[:-1]}", _by_group),
        Column(f"single {it.noun}s held", lambda row: row.games_coverage, wording.share),
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


def beside(it: CoverageStudy) -> Columns[tuple[Held, Beside]]:
    """Return what is shown of the best games beside random ones."""
    return (
        Column("from", lambda row: row[0].subset),
        Column("left out", lambda row: row[0].left_out),
        Column("mean error", lambda row: row[0].mean_error, it.error),
        Column("at random", lambda row: row[1].mean_error, it.error),
        Column("5 %", lambda row: row[1].least, it.error),
        Column("95 %", lambda row: row[1].most, it.error),
        Column("worse", lambda row: row[1].worse, wording.share),
        Column("gain", lambda row: row[1].gain, it.error),
        Column("from", lambda row: row[1].low, it.error),
        Column("to", lambda row: row[1].high, it.error),
        Column("these alone", lambda row: row[1].alone, it.error),
    )


def listed(it: Searched, best: Candidate) -> Columns[tuple[int, Candidate]]:
    """Return what is shown of each subset, with its rank, beside the best."""

    def more(row: tuple[int, Candidate]) -> str | None:
        if not best.cv_mse:  # nothing is a percentage of 0
            return None
        return "" if row[0] == 1 else f"{100 * (row[1].cv_mse / best.cv_mse - 1):+.1f}\N{NO-BREAK SPACE}%"

    return (
        Column("", lambda row: row[0]),
        Column(
            f"{it.noun}s",
            lambda row: it.names(row[1]),
            kind="name",
            style=lambda row: "strong" if row[0] == 1 else "",
        ),
        Column("R²", lambda row: f"{row[1].r2:.3f}"),
        Column(
            "log error" if it.log else f"mean error{f', {it.unit}' if it.unit else ''}",
            lambda row: it.error(it.chosen_by(row[1])),
        ),
        Column("error +", more, str),
        Column("n", lambda row: row[1].n),
    )


def weights(it: Searched) -> Columns[tuple[str, str]]:
    """Return what is shown of the coefficients."""
    return (Column(it.noun, lambda row: row[0]), Column("coefficient", lambda row: row[1]))


def _text(heading: str, place: int) -> Column[tuple[str, ...]]:
    return Column(heading, lambda row: row[place] if place < len(row) else None, str)


ERRORS: Columns[tuple[str, ...]] = (
    Column("error", lambda row: row[0], style=lambda row: "strong" if row[-1] else ""),
    *(_text(heading, place) for place, heading in enumerate(("mean", "median", "worst", "n"), 1)),
)


def intervals(it: Searched) -> Columns[PredictionInterval]:
    """Return what is shown of each interval for algorithms of another paper."""
    return (
        Column("interval", lambda row: wording.percentage(row.level)),
        Column("×/÷" if it.log else "±", it.width),
        Column("held", lambda row: f"{row.inside} of {row.of}"),
        Column("of papers'", lambda row: row.of_papers, wording.share),
    )


def winners(it: Searched) -> Columns[Win]:
    """Return what is shown of each subset that wins without some papers."""
    return (Column("winner", it.names), Column("times", lambda row: row.times))


def sizes(it: EverySize, series: Series) -> Columns[Sized]:
    """Return what is shown of each size."""
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


def steps(it: EverySize) -> Columns[tuple[int, str]]:
    """Return what is shown of each size's tasks."""
    return (Column("size", lambda row: row[0]), Column(f"{it.noun}s", lambda row: row[1], kind="prose"))


def studied(it: Studied) -> Columns[Line]:
    """Return what is shown of each algorithm."""

    def show(value: float) -> str:
        return wording.quantity(value, "%" if it.unit == "%" else "")

    return (
        Column("algorithm", lambda line: line.row.algorithm + "*" * bool(line.fitted)),
        Column("tasks" if it.unit == "tasks" else "games", lambda line: line.row.tasks, str),
        Column(it.summary, lambda line: line.row.true, show),
        *_models(it, lambda one: one.value, lambda one: one.error, show),
    )


def relative(it: Studied) -> Columns[Line]:
    """Return what is shown of each algorithm beside the one that others are relative to."""
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


def agreements(it: Studied) -> Columns[tuple[str, str, Agreement]]:
    """Return what is shown of how well each model does on each kind of algorithms."""
    known = any(row[2].relative_mean_error is not None for row in it.agreements)
    return (
        Column("of", lambda row: row[0]),
        Column("model", lambda row: row[1]),
        Column("n", lambda row: row[2].compared, meaning="Algorithms that have an estimate and a true value"),
        Column("mean error", lambda row: row[2].mean_error, wording.share),
        Column("worst", lambda row: row[2].worst_error, wording.share),
        Column("bias", lambda row: row[2].bias, wording.change),
        Column("relative", lambda row: row[2].relative_mean_error, wording.share) if known else None,
        Column("inversions", lambda row: f"{len(row[2].inversions)} of {row[2].pairs}"),
    )
