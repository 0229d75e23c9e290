"""Columns of score reports."""

from __future__ import annotations

import math

from arcademark import wording
from arcademark.analysis.cells import PlanningCost
from arcademark.analysis.document import REPORTED, Peer
from arcademark.analysis.published import Breakthrough, HardExploration, HardGame, HardScore
from arcademark.analysis.runs.learning import LearningCurve, sparkline
from arcademark.analysis.scoring.report import ScoreReport
from arcademark.analysis.tables.document import (
    KINDS,
    Algorithm,
    Efficiency,
    Gain,
    Score,
    ScoredGame,
    SingleRuns,
    Summary,
)
from arcademark.grouping import grouped
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.metrics.normalise import METRICS
from arcademark.pages.columns import Column, Columns, Style

MAX_ALGORITHMS = 100
"""Maximum number of algorithms that a terminal shows without "everything"."""

SAME_GAMES = "interval of the median for playing the same games again, with other seeds or episodes"


def headline(it: ScoreReport) -> Columns[Algorithm]:
    """Return the columns of each algorithm's headline: its known or estimated median, with further facts."""
    estimates = [one.estimate for one in it.algorithms if one.estimate]
    sure = wording.percentage(it.intervals.confidence)
    shown = [one for one in estimates if one.telling and one.low is not None]
    between = f"{wording.percentage(shown[0].level)} interval" if shown else ""
    bars = it.algorithms[0].breakthroughs if it.algorithms else ()
    printed = any(one.printed_log_error for one in estimates if not one.missing)
    return (
        Column("algorithm", lambda row: row.name, style="strong"),
        Column(
            "median of all" if it.benchmark.own else f"{it.benchmark.name} median{between and f', {between}'}",
            _shown_median,
            style=_trust,
            sort=_median,
            below=lambda row: (one := row.estimated) and one.low is not None and not one.below and one.interval,
            meaning=f"median human-normalised score of {it.benchmark.name}{between and f' and its {between}'}"
            if bars
            else "",
        ),
        Column(
            "estimated from" if len(estimates) == len(it.algorithms) else "from",
            lambda row: _basis(row, it.benchmark.noun),
            kind="name",
        ),
        Column("runs", lambda row: row.runs_a_game) if any(one.most_runs > 1 for one in it.algorithms) else None,
        Column("log error, on other papers", lambda row: row.estimate and row.estimate.errors, optional=True)
        if printed
        else None,
        Column(
            f"same games again, {sure}",
            lambda row: (one := row.estimated) and wording.between(one.sampling_low, one.sampling_high),
            meaning=SAME_GAMES,
            optional=True,
        ),
        *(_by_published(subset, title) for subset, title in it.models.items()),
        *(_reached(bar.short, place) for place, bar in enumerate(bars)),
    )


def _trust(row: Algorithm) -> Style:
    one = row.estimate
    doubted = not one.telling or one.warnings if one else row.coverage.refused
    return "doubtful" if doubted else "good"


def _by_published(subset: str, title: str) -> Column[Algorithm]:
    def estimate(row: Algorithm) -> str | None:
        one = row.published
        return wording.percent(one.value) if one and one.subset == subset and one.telling else None

    return Column(title, estimate)


def _reached(heading: str, place: int) -> Column[Algorithm]:
    return Column(heading, lambda row: f"{len(row.breakthroughs[place].reached)} of {row.breakthroughs[place].games}")


def _median(row: Algorithm) -> float | None:
    if row.estimate is None:
        return row.coverage.median
    return (row.estimated.low if row.estimated.below else row.estimated.value) if row.estimated else None


def _shown_median(row: Algorithm) -> str | None:
    if row.estimated:
        return row.estimated.headline
    if row.estimate and not row.estimate.missing:
        return "too uncertain"
    if not (row.most_runs or row.estimate):
        return None
    median = _median(row)
    return "refused" if median is None else wording.percent(median)


def _basis(row: Algorithm, noun: str) -> str:
    """Return the basis of an algorithm's median."""
    if row.estimate is None:
        games = wording.plural(row.coverage.of, noun)
        return f"{row.coverage.games} of {games}" if row.coverage.missing else f"all {games}"
    needed = f", also needs {wording.listing(row.estimate.missing)}" if row.estimate.missing else ""
    return f"{row.estimate.title}{needed}"


def most_summaries(it: ScoreReport) -> int:
    """Return the number of rows of the summaries of `MAX_ALGORITHMS` algorithms."""
    return MAX_ALGORITHMS * max(len(it.metric_meanings), 1)


def summaries(it: ScoreReport) -> Columns[Algorithm, Summary]:
    """Return the columns of a summary."""
    every = [summary for _, summary in it.summary_rows]
    counted = len({one.games for one in every}) > 1 or any(one.left_out for one in every)
    return (
        Column("algorithm", lambda item, _: item.name, style="strong"),
        Column("metric", lambda _, summary: summary.title),
        *(_statistic(one.name, one.title) for one in AGGREGATES.values()),
        Column(f"{it.benchmark.noun}s", lambda _, summary: summary.games) if counted else None,
    )


def _statistic(name: str, title: str) -> Column[Algorithm, Summary]:
    return Column(
        title,
        lambda _, summary: (one := summary.statistics.get(name)) and one.value,
        wording.percent,
        below=lambda _, summary: (one := summary.statistics.get(name)) and one.span,
    )


def shown_metrics(it: ScoreReport) -> dict[str, str]:
    """Return the titles of the metrics that a game's score is shown in, by their names."""
    titles = {one.metric: one.title for algorithm in it.algorithms for one in algorithm.summaries}
    capped = {one.name for one in METRICS.values() if one.bounds}  # redundant for single games
    return {name: title for name, title in titles.items() if name not in capped or len(titles) == 1}


def scores(it: ScoreReport) -> Columns[ScoredGame, Algorithm, Score]:
    """Return the columns of a score; the best of several algorithms' scores on a game is marked."""
    rows = it.score_rows if it.several else ()
    values = grouped((game.id, score.score.value) for game, _, score in rows if score.score.value is not None)
    best = {game: max(each) for game, each in values.items() if len(each) > 1}
    played = any(score.played for _, _, score in it.score_rows)
    return (
        Column(it.benchmark.noun, lambda game, item, score: game.name),
        Column("algorithm", _variant, kind="name") if it.several else None,
        Column(
            "score",
            lambda game, item, score: score.score.value,
            wording.score,
            style=lambda game, item, score: "best" if score.score.value == best.get(game.id, math.nan) else "strong",
        ),
        Column(
            f"{100 * it.intervals.confidence:g} % interval",
            lambda game, item, score: score.interval,
            sort=lambda game, item, score: score.score.low,
        ),
        EPISODES if played else Column("runs", lambda game, item, score: score.runs),
        *(_normalised(name, title) for name, title in shown_metrics(it).items()),
        *map(_reference, dict.fromkeys(kind for game in it.games for kind in game.references)),
    )


def _normalised(metric: str, title: str) -> Column[ScoredGame, Algorithm, Score]:
    return Column(title, lambda game, item, score: (one := score.normalised.get(metric)) and one.value, wording.percent)


def _reference(kind: str) -> Column[ScoredGame, Algorithm, Score]:
    return Column(
        KINDS[kind],
        lambda game, item, score: game.references.get(kind),
        wording.reference,
        style="weak",
        optional=True,
    )


def _variant(_: ScoredGame, item: Algorithm, score: Score) -> str:
    return f"{item.name}: {score.played.variant}" if score.played and score.played.variant else item.name


EPISODES: Column[ScoredGame, Algorithm, Score] = Column(
    "episodes",
    lambda game, item, score: (one := score.played) and wording.done(len(one.episodes), one.planned),
    style=lambda game, item, score: "doubtful" if (one := score.played) and len(one.episodes) < one.planned else "",
    below=lambda game, item, score: (
        f"{cut:,} truncated" if score.played and (cut := sum(score.played.truncated)) else ""
    ),
    sort=lambda game, item, score: score.played and len(score.played.episodes),
)
"""The episodes behind a score, the requested ones, and those that the frame cap ended."""


def tolerance(it: ScoreReport) -> Columns[SingleRuns]:
    """Return the columns of single runs."""
    share = it.tolerance.share if it.tolerance else 0.0
    return (
        Column(it.benchmark.noun, lambda row: it.game(row.game).name),
        Column("algorithm", lambda row: row.algorithm, kind="name"),
        Column("runs", lambda row: row.runs),
        Column(
            "from … to",
            lambda row: wording.span(row.low, row.high, wording.decimals(row.high)),
            sort=lambda row: row.low,
        ),
        Column(
            "covers at least",
            lambda row: row.share,
            wording.share,
            style=lambda row: "doubtful" if row.share < share else "",
        ),
        Column(f"{100 * share:g} % reach", lambda row: row.at_least, wording.score),
    )


def training(it: ScoreReport) -> Columns[LearningCurve]:
    """Return the columns of a learning curve."""
    evaluated = any(curve.evaluation is not None for curve in it.learning)
    return (
        Column(it.benchmark.noun, lambda curve: it.game(curve.game).name),
        Column("algorithm", lambda curve: curve.algorithm, kind="name") if it.several else None,
        Column("episodes", lambda curve: curve.episodes),
        Column(f"{it.unit}s", lambda curve: curve.frames),
        Column("first", lambda curve: curve.first, wording.score),
        Column("last", lambda curve: curve.training_score, wording.score, style="strong", below=_training_interval),
        Column("evaluation", lambda curve: curve.evaluation, wording.score, below=_snapshots) if evaluated else None,
        Column(
            "",
            lambda curve: sparkline(curve.mean().mean, 12) + ("" if curve.finished else " …"),
            str,
            kind="name",
            optional=True,
        ),
    )


def _training_interval(curve: LearningCurve) -> str:
    if curve.training_low is None or curve.training_high is None:
        return ""
    return wording.span(curve.training_low, curve.training_high, wording.decimals(curve.training_score))


def _snapshots(curve: LearningCurve) -> str:
    if curve.snapshots is None:
        return ""
    mean, deviation = curve.snapshots
    return f"{wording.score(mean)} ± {wording.score(deviation, wording.decimals(mean))}"


def planning(it: ScoreReport) -> Columns[str, str, PlanningCost]:
    """Return the columns of a planner's decisions: game, algorithm and cost."""
    return (
        Column(it.benchmark.noun, lambda game, name, cost: game),
        Column("algorithm", lambda game, name, cost: name, kind="name") if it.several else None,
        Column("decisions", lambda game, name, cost: cost.decisions),
        Column(f"simulated {it.unit}s", lambda game, name, cost: cost.simulated_frames),
        Column("per decision", lambda game, name, cost: round(cost.frames_per_decision)),
    )


RECORDS: Columns[Algorithm, Breakthrough] = (
    Column("algorithm", lambda item, _: item.name, style="strong"),
    Column("broken", lambda _, records: records.reached, kind="prose"),
    Column("per billion frames", lambda item, _: (one := item.efficiency) and one.records and 1e9 * one.records),
    Column("by no other in the catalogue", lambda _, records: records.unprecedented, kind="prose"),
)


def efficiency(it: ScoreReport) -> Columns[Algorithm, Efficiency, Gain]:
    """Return the columns of the gain from training, by algorithm and metric."""
    return (
        Column("algorithm", lambda item, spent, gain: item.name, style="strong"),
        Column("training frames", lambda item, spent, gain: spent.training_frames),
        Column("game time", lambda item, spent, gain: None if it.benchmark.own else wording.days(spent.game_time_days)),
        Column("metric", lambda item, spent, gain: gain.title, kind="name"),
        Column("mean per million frames", lambda item, spent, gain: gain.mean, wording.a_million),
        Column("median per million frames", lambda item, spent, gain: gain.median, wording.a_million),
    )


PEERS: Columns[Peer] = (
    Column("algorithm", lambda row: row.name, style=lambda row: "" if row.source else "strong"),
    Column("training frames", lambda row: row.training_frames),
    Column("mean HNS", lambda row: row.mean_hns, wording.percent),
    Column("median HNS", lambda row: row.median_hns, wording.percent),
    Column("mean HWRNS", lambda row: row.mean_hwrns, wording.percent),
    Column("mean SABER", lambda row: row.mean_saber, wording.percent),
    Column("records broken", lambda row: row.records),
    Column("mean HNS per million frames", lambda row: row.hns_a_frame, wording.a_million),
    Column("published by", lambda row: row.source, kind="name", optional=True),
    Column("score of", lambda row: REPORTED.get(row.reported), kind="name", optional=True),
)


def hard(it: HardExploration) -> Columns[HardGame, HardScore]:
    """Return the columns of each algorithm's score on a hard-exploration game."""
    return (
        Column("game", lambda game, _: game.name),
        Column("algorithm", lambda _, score: score.algorithm, kind="name") if len(it.games[0].scores) > 1 else None,
        Column("score", lambda _, score: score.score, wording.score, style="strong"),
        Column("HNS", lambda _, score: score.hns, wording.percent),
        Column("random", lambda game, _: game.random, wording.reference),
        Column("human", lambda game, _: game.human, wording.reference),
        Column("best other", lambda game, _: game.best, wording.reference),
        Column(
            "published by",
            lambda game, _: game.best_algorithm and f"{game.best_algorithm}, {game.best_source}",
            kind="prose",
            optional=True,
        ),
    )
