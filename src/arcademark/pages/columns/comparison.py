"""Columns of comparisons."""

from __future__ import annotations

from collections.abc import Mapping

from arcademark import wording
from arcademark.analysis.scoring.comparison import (
    Comparison,
    GameDifference,
    Pair,
    Ranking,
    Sensitivity,
    Sequential,
)
from arcademark.analysis.tables.document import Summary
from arcademark.analysis.uncertainty import Statistic, SummaryDifference
from arcademark.metrics.aggregate import AGGREGATES, in_display_order
from arcademark.metrics.ranking import Flip
from arcademark.metrics.sequential import SequentialPair, SequentialStep
from arcademark.pages.columns import Column, Columns, Style

VERDICTS: dict[str, Style] = {"better": "good", "worse": "bad", "untested": "weak"}
DECISIONS: dict[str, Style] = {"larger": "good", "smaller": "bad", "undecided": "weak"}


def summaries(it: Pair) -> Columns[SummaryDifference]:
    """Return the columns of differences of summaries."""
    return (
        Column("metric", lambda row: row.title),
        Column("summary", lambda row: _short(row.statistic), kind="name", below=lambda row: _better(row.statistic)),
        Column(it.first, lambda row: row.first, wording.percent),
        Column(it.second, lambda row: row.second, wording.percent),
        Column("difference", lambda row: row.difference.value, wording.percent, style="strong"),
        Column("interval", lambda row: row.difference.span),
        Column("ratio", lambda row: row.relative, wording.fixed),
    )


def own_summaries(it: Comparison) -> Columns[str, Summary]:
    """Return the columns of each algorithm's own summary."""
    title, runs = it.metric_title, {side.name: side for side in it.algorithms}

    def one(name: str) -> Column[str, Summary]:
        heading = f"{AGGREGATES[name].title} {title}"
        lower = _better(name)
        return Column(
            f"{heading}, {lower}" if lower else heading,
            lambda _, item: item.statistics[name].value,
            wording.percent,
            below=lambda _, item: item.statistics[name].span,
        )

    return (
        Column("algorithm", lambda name, _: name, style="strong"),
        *map(one, in_display_order()),
        Column(f"runs per {it.benchmark.noun}", lambda name, _: runs[name].runs_a_game),
    )


def choices(it: Sensitivity) -> Columns[str, Mapping[str, Ranking]]:
    """Return the columns of each metric, which show for each statistic if the order is the same."""

    def one(name: str) -> Column[str, Mapping[str, Ranking]]:
        return Column(AGGREGATES[name].title, lambda _, rankings: rankings.get(name), _order, kind="name")

    names = dict.fromkeys(item.statistic for item in it.rankings)
    return (Column("metric", lambda title, _: title), *map(one, names))


def _order(ranking: Ranking) -> str:
    if len(set(ranking.ranks)) == 1:
        return "="
    return f"✗ {ranking.inversions}" if ranking.inversions > 1 else "✗" if ranking.inversions else "✓"


def _better(statistic: str) -> str:
    return "lower is better" if AGGREGATES[statistic].sign < 0 else ""


def _short(statistic: str) -> str:
    return AGGREGATES[statistic].title.replace("optimality", "opt.")


def sequential(it: Sequential) -> Columns[SequentialPair, SequentialStep | None]:
    """Return the columns of the steps of a pair, or of the last steps of several pairs."""
    unit = wording.percent if it.metric else wording.score
    return (
        Column("first", lambda pair, _: pair.first, style="strong"),
        Column("second", lambda pair, _: pair.second, style="strong"),
        Column("runs of each", lambda _, step: step and step.runs),
        Column("difference", lambda _, step: step and step.difference, unit),
        Column("boundary", lambda _, step: step and step.boundary, unit),
        Column("the first is", _decision, kind="name", style=lambda *row: DECISIONS.get(_decision(*row), "")),
    )


def _decision(_: SequentialPair, step: SequentialStep | None) -> str:
    return step.decision if step else "undecided"


FLIPS: Columns[Flip] = (
    Column("first", lambda row: row.first, style="strong"),
    Column("second", lambda row: row.second, style="strong"),
    Column("first higher by", lambda row: row.first_above, kind="prose"),
    Column("second higher by", lambda row: row.second_above, kind="prose"),
)


def pairs(it: Comparison) -> Columns[Pair]:
    """Return the columns of each of several pairs."""
    heading = f"{it.metric_title} difference"
    return (
        Column("first", lambda pair: pair.first, style="strong"),
        Column("second", lambda pair: pair.second, style="strong"),
        Column(f"{it.benchmark.noun}s", lambda pair: len(pair.games)),
        Column("first is", lambda pair: f"{pair.better} better, {pair.worse} worse" if pair.tested else None),
        Column(
            "P(first beats second)",
            lambda pair: wording.fixed(pair.improvement.value),
            below=lambda pair: _share_span(pair.improvement),
        ),
        Column(
            f"median {heading}",
            lambda pair: pair.median and pair.median.value,
            wording.percent,
            below=lambda pair: pair.median and pair.median.span,
        ),
        Column(
            f"IQM {heading}",
            lambda pair: pair.iqm and pair.iqm.value,
            wording.percent,
            below=lambda pair: pair.iqm and pair.iqm.span,
        ),
    )


def _share_span(statistic: Statistic) -> str:
    """Show the interval of a fraction; "" where there is none."""
    known = statistic.low is not None and statistic.high is not None
    return f"{statistic.low:.2f} … {statistic.high:.2f}" if known else ""


def games(it: Comparison, pair: Pair) -> Columns[GameDifference]:
    """Return the columns of each game of a pair."""
    return (
        Column(it.benchmark.noun, lambda row: it.game(row.game).name),
        Column(pair.first, lambda row: row.first, wording.score, optional=True),
        Column(pair.second, lambda row: row.second, wording.score, optional=True),
        Column("score difference", lambda row: row.difference, wording.score, style="strong"),
        Column(f"{it.metric_title} difference", lambda row: row.normalised, wording.percent, meaning=it.metric_meaning),
        Column("p", lambda row: row.p, _p),
        Column("Holm's p", lambda row: row.corrected_p, _p, optional=True),
        Column("verdict", lambda row: row.verdict, kind="name", style=lambda row: VERDICTS.get(row.verdict, "")),
        Column("P(first beats second)", lambda row: row.improvement, wording.fixed),
        Column("runs needed", lambda row: row.seeds_needed),
    )


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def rankings(it: Comparison) -> Columns[Ranking]:
    """Return the columns of the order by each measure."""

    def rank(name: str, place: int) -> Column[Ranking]:
        return Column(name, lambda row: row.ranks[place])

    return (
        Column("metric", lambda row: row.title),
        Column("summary", lambda row: _short(row.statistic)),
        *(rank(side.name, place) for place, side in enumerate(it.algorithms)),
        Column("inversions", lambda row: row.inversions),
        Column("Kendall's τ", lambda row: row.kendall_tau, wording.fixed),
    )
