"""How a table's numbers read in print, the same in every renderer."""

from __future__ import annotations

from types import MappingProxyType

from arcademark.metrics.uncertainty.intervals import FEWEST
from arcademark.reports import wording
from arcademark.reports.tables.document import Algorithm, BenchmarkView, Score, ScoreReport, Statistic

KINDS = MappingProxyType(
    {"random": "random", "human": "human", "human_world_record": "record", "low": "low", "high": "high"}
)
"""Kinds of references, as the headings of narrow columns."""

CAPPED = frozenset({"capped_hns", "saber", "capped"})
"""Metrics that say no more of a single game than the one that they cap."""


STATISTICS = MappingProxyType({"mean": "mean", "median": "median", "iqm": "IQM", "optimality_gap": "optimality gap"})
"""Summaries, in words."""

SHORT = MappingProxyType({**STATISTICS, "optimality_gap": "opt. gap"})
"""Summaries, in narrow columns."""


def span(found: Statistic) -> str:
    """Show a percentage's interval without its signs, e.g. "812 … 930"; "" where there is none."""
    if found.low is None or found.high is None:
        return ""
    return f"{wording.number(found.low)} … {wording.number(found.high)}"


def points_span(score: Score) -> str:
    """Show a score's interval in points, e.g. "1,200 … 1,450"; where there is none, a dash or why: "too few runs"."""
    found = score.score
    if found.low is None or found.high is None or found.value is None:
        if score.played and score.played.exact:
            return "exact"
        if found.value is not None and 1 < score.runs < FEWEST:
            return "too few runs"
        if score.played and score.runs == 1 and len(score.played.episodes) < FEWEST:
            return "too few episodes"
        return wording.MISSING
    return wording.span(found.low, found.high, wording.decimals(found.value))


def runs(item: Algorithm) -> str:
    """Say how many runs a game an algorithm has: "5", "3–5"."""
    if item.fewest_runs == item.most_runs:
        return wording.count(item.most_runs)
    return f"{item.fewest_runs}–{item.most_runs}"


def days(value: float) -> str:
    """Say a duration given in days: "38.6 days", "52.8 years"."""
    if value >= 365.25:
        return f"{value / 365.25:,.1f} years"
    return f"{value:,.1f} days" if value >= 1 else f"{24 * value:,.1f} hours"


def power_of_ten(value: float | None) -> str:
    """Show a very small number: "4.37e−08"."""
    if value is None:
        return wording.MISSING
    return "0" if value == 0 else f"{value:.2e}".replace("-", "−")


def uncapped(report: ScoreReport) -> tuple[tuple[str, str], ...]:
    """Return the metrics, with their titles, that a game's row shows: those that are not another one capped."""
    shown = {item.metric: item.title for algorithm in report.algorithms for item in algorithm.summaries}
    return tuple((metric, title) for metric, title in shown.items() if metric not in CAPPED or len(shown) == 1)


def noun(benchmark: BenchmarkView) -> str:
    """Name what a benchmark has many of: games on Atari, else tasks."""
    return "task" if benchmark.own else "game"
