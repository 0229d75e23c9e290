"""How a table's numbers read in print, the same in every renderer."""

from __future__ import annotations

import math
from types import MappingProxyType

from arcademark.report import wording
from arcademark.report.tables.comparison import Comparison, Pair, Sensitivity
from arcademark.report.tables.document import Algorithm, BenchmarkView, ScoreReport, Statistic

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


def points_span(found: Statistic) -> str:
    """Show a score's interval in points, e.g. "1,200 … 1,450"; a dash where there is none."""
    if found.low is None or found.high is None or found.value is None:
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


def intervals(report: ScoreReport) -> bool:
    """Say whether any summary has an interval."""
    return any(
        one.low is not None
        for algorithm in report.algorithms
        for item in algorithm.summaries
        for one in (item.mean, item.median, item.iqm, item.optimality_gap)
    )


def share(value: float | None) -> str:
    """Show a probability: "0.73"."""
    return wording.MISSING if value is None else f"{value:.2f}"


def share_span(found: Statistic) -> str:
    """Show the interval of a probability; "" where there is none."""
    return "" if found.low is None or found.high is None else f"{found.low:.2f} … {found.high:.2f}"


def p_value(value: float | None) -> str:
    """Show a p-value: "0.031", "<0.001"."""
    return wording.MISSING if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def noun(benchmark: BenchmarkView) -> str:
    """Name what a benchmark has many of: games on Atari, else tasks."""
    return "task" if benchmark.own else "game"


def median(benchmark: BenchmarkView) -> str:
    """Name the median over a whole benchmark: by its name, unless that is a file's."""
    return f"median of all {benchmark.games}" if benchmark.own else f"{benchmark.name} median"


def verdicts(found: Comparison, pair: Pair) -> list[str]:
    """Say in sentences how two algorithms compare."""
    kind = noun(found.benchmark)
    games = wording.plural(len(pair.games), kind)
    told = []
    if pair.untested < len(pair.games):
        told.append(
            f"{pair.first} is better than {pair.second} in {pair.better} and worse in {pair.worse} of {games}, by "
            f"Welch's t-tests at {100 * found.confidence:g} %; {pair.undecided} undecided"
            + (f", {pair.untested} untested." if pair.untested else ".")
        )
    higher, lower = (sum(sign * game.difference > 0 for game in pair.games) for sign in (1, -1))
    whose = "Its" if told else f"{pair.first}'s"
    told.append(f"{whose} score is higher in {higher} and lower in {lower} of {games}.")
    span = share_span(pair.improvement)
    told.append(
        f"A run of it beats one of {pair.second} on a random {kind} with probability {share(pair.improvement.value)}"
        + (f" ({span})." if span else ".")
    )
    if pair.power is not None:
        told.append(_power(pair, kind))
    return told


def _power(pair: Pair, kind: str) -> str:
    power = pair.power
    if power is None:
        return ""
    told = (
        f"Runs needed to find the difference seen: {power.median_seeds:,.0f} on a middling {kind}; {power.enough} of "
        f"{power.games} have enough"
    )
    if power.seeds is None:
        return f"{told}."
    return f"{told}. For the {STATISTICS[power.statistic]} {power.metric}: {wording.count(power.seeds)}."


def inversions(told: Sensitivity) -> str:
    """Count the pairs of algorithms that each measure puts in the opposite order to the first metric's median."""
    usual = next(item for item in told.rankings if item.statistic == "median")
    found: dict[int, list[str]] = {}
    for item in told.rankings:
        found.setdefault(item.inversions, []).append(f"{STATISTICS[item.statistic]} {item.title}")
    found.pop(0, None)
    pairs = wording.plural(math.comb(len(usual.ranks), 2), "pair")
    by_number = "; ".join(f"{number} by {wording.listing(names)}" for number, names in sorted(found.items()))
    return (
        f"Inversions against the order by median {usual.title}, of {pairs} (Aitchison et al. 2023, §7): "
        f"{by_number or 'none'}{', none by the others' if found else ''}."
    )


def no_flips(told: Sensitivity) -> str:
    """Say that no measure contradicts another, and how many were tried."""
    metrics = dict.fromkeys(item.title for item in told.rankings)
    return (
        f"No: {wording.listing(metrics)}, each by mean, median, IQM and optimality gap, put no two of them in opposite "
        "orders."
    )
