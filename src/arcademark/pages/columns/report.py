"""Columns of score reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from arcademark import wording
from arcademark.analysis.document import REPORTED, grouped
from arcademark.analysis.runs.learning import sparkline
from arcademark.analysis.tables.document import CAPPED, KINDS
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.pages.columns import Column, Columns, Style

if TYPE_CHECKING:
    from arcademark.analysis.document import Breakthrough, HardExploration, HardGame, HardScore, Peer
    from arcademark.analysis.record import PlanningCost
    from arcademark.analysis.runs.learning import LearningCurve
    from arcademark.analysis.scoring.report import ScoreReport
    from arcademark.analysis.tables.document import (
        Algorithm,
        Efficiency,
        Gain,
        Score,
        ScoredGame,
        SingleRuns,
        Statistic,
        Summary,
    )

SAME_GAMES = "interval of the median for playing the same games again, with other seeds or episodes"


def headline(it: ScoreReport) -> Columns[Algorithm]:
    """Return what is shown of each algorithm at a glance: its known or estimated median, and facts beside it."""
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
            lambda row: row.estimated and row.estimated.sampling_interval,
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
    """Say what an algorithm's median is made from."""
    if row.estimate is None:
        games = wording.plural(row.coverage.of, noun)
        return f"{row.coverage.games} of {games}" if row.coverage.missing else f"all {games}"
    needed = f", also needs {wording.listing(row.estimate.missing)}" if row.estimate.missing else ""
    return f"{row.estimate.title}{needed}"


def summaries(it: ScoreReport) -> Columns[tuple[Algorithm, Summary]]:
    """Return what is shown of a summary."""
    every = [summary for _, summary in it.summary_rows]
    counted = len({one.games for one in every}) > 1 or any(one.left_out for one in every)
    return (
        Column("algorithm", lambda row: row[0].name, style="strong"),
        Column("metric", lambda row: row[1].title),
        *(_statistic(one.name, one.title) for one in AGGREGATES.values()),
        Column(f"{it.benchmark.noun}s", lambda row: row[1].games) if counted else None,
    )


def _statistic(name: str, title: str) -> Column[tuple[Algorithm, Summary]]:
    def statistic(row: tuple[Algorithm, Summary]) -> Statistic | None:
        return row[1].statistics.get(name)

    return Column(
        title,
        lambda row: (one := statistic(row)) and one.value,
        wording.percent,
        below=lambda row: (one := statistic(row)) and one.span,
    )


def scores(it: ScoreReport) -> Columns[tuple[ScoredGame, Algorithm, Score]]:
    """Return what is shown of a score; the best of a game that several have is marked."""
    titles = {one.metric: one.title for algorithm in it.algorithms for one in algorithm.summaries}
    metrics = {name: title for name, title in titles.items() if name not in CAPPED or len(titles) == 1}
    rows = it.score_rows if it.several else ()
    values = grouped((game.id, score.score.value) for game, _, score in rows if score.score.value is not None)
    best = {game: max(each) for game, each in values.items() if len(each) > 1}
    played = any(score.played for _, _, score in it.score_rows)
    return (
        Column(it.benchmark.noun, lambda row: row[0].name),
        Column("algorithm", _variant, kind="name") if it.several else None,
        Column(
            "score",
            lambda row: row[2].score.value,
            wording.score,
            style=lambda row: "best" if row[2].score.value == best.get(row[0].id, math.nan) else "strong",
        ),
        Column(
            f"{100 * it.intervals.confidence:g} % interval",
            lambda row: row[2].interval,
            sort=lambda row: row[2].score.low,
        ),
        EPISODES if played else Column("runs", lambda row: row[2].runs),
        *(_normalised(name, title) for name, title in metrics.items()),
        *map(_reference, dict.fromkeys(kind for game in it.games for kind in game.references)),
    )


def _normalised(metric: str, title: str) -> Column[tuple[ScoredGame, Algorithm, Score]]:
    def value(row: tuple[ScoredGame, Algorithm, Score]) -> float | None:
        known = row[2].normalised.get(metric)
        return None if known is None else known.value

    return Column(title, value, wording.percent)


def _reference(kind: str) -> Column[tuple[ScoredGame, Algorithm, Score]]:
    return Column(KINDS[kind], lambda row: row[0].references.get(kind), wording.reference, style="weak", optional=True)


def _variant(row: tuple[ScoredGame, Algorithm, Score]) -> str:
    _, algorithm, score = row
    return f"{algorithm.name}: {score.played.variant}" if score.played and score.played.variant else algorithm.name


EPISODES: Column[tuple[ScoredGame, Algorithm, Score]] = Column(
    "episodes",
    lambda row: row[2].played and wording.done(len(row[2].played.episodes), row[2].played.planned),
    style=lambda row: "doubtful" if row[2].played and len(row[2].played.episodes) < row[2].played.planned else "",
    below=lambda row: f"{cut:,} cut" if row[2].played and (cut := sum(row[2].played.truncated)) else "",
    sort=lambda row: row[2].played and len(row[2].played.episodes),
)
"""The episodes behind a score, of those asked for, and those that the frame cap ended."""


def tolerance(it: ScoreReport) -> Columns[SingleRuns]:
    """Return what is shown of single runs."""
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
            "holds at least",
            lambda row: row.share,
            wording.share,
            style=lambda row: "doubtful" if row.share < share else "",
        ),
        Column(f"{100 * share:g} % reach", lambda row: row.at_least, wording.score),
    )


def training(it: ScoreReport) -> Columns[LearningCurve]:
    """Return what is shown of a learning curve."""
    evaluated = any(curve.evaluation is not None for curve in it.learning)
    return (
        Column(it.benchmark.noun, lambda curve: it.game(curve.game).name),
        Column("algorithm", lambda curve: curve.algorithm, kind="name") if it.several else None,
        Column("episodes", lambda curve: curve.episodes),
        Column(f"{it.unit}s", lambda curve: curve.frames),
        Column("first", lambda curve: curve.first, wording.score),
        Column("last", lambda curve: curve.training_score, wording.score, style="strong", below=_training_interval),
        Column("evaluation", lambda curve: curve.evaluation, wording.score) if evaluated else None,
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


def planning(it: ScoreReport) -> Columns[tuple[str, str, PlanningCost]]:
    """Return what is shown of a planner's decisions: game, algorithm and cost."""
    return (
        Column(it.benchmark.noun, lambda row: row[0]),
        Column("algorithm", lambda row: row[1], kind="name") if it.several else None,
        Column("decisions", lambda row: row[2].decisions),
        Column(f"simulated {it.unit}s", lambda row: row[2].simulated_frames),
        Column("a decision", lambda row: round(row[2].frames_per_decision)),
    )


RECORDS: Columns[tuple[Algorithm, Breakthrough]] = (
    Column("algorithm", lambda row: row[0].name, style="strong"),
    Column("broken", lambda row: row[1].reached, kind="prose"),
    Column("a billion frames", lambda row: (one := row[0].efficiency) and one.records and 1e9 * one.records),
    Column("by nobody else in the catalogue", lambda row: row[1].unprecedented, kind="prose"),
)


def efficiency(it: ScoreReport) -> Columns[tuple[Algorithm, Efficiency, Gain]]:
    """Return what is shown of what training gained, by algorithm and metric."""
    return (
        Column("algorithm", lambda row: row[0].name, style="strong"),
        Column("training frames", lambda row: row[1].training_frames),
        Column("game time", lambda row: None if it.benchmark.own else wording.days(row[1].game_time_days)),
        Column("metric", lambda row: row[2].title, kind="name"),
        Column("mean a million frames", lambda row: row[2].mean, wording.a_million),
        Column("median a million frames", lambda row: row[2].median, wording.a_million),
    )


PEERS: Columns[Peer] = (
    Column("algorithm", lambda row: row.name, style=lambda row: "" if row.source else "strong"),
    Column("training frames", lambda row: row.training_frames),
    Column("mean HNS", lambda row: row.mean_hns, wording.percent),
    Column("median HNS", lambda row: row.median_hns, wording.percent),
    Column("mean HWRNS", lambda row: row.mean_hwrns, wording.percent),
    Column("mean SABER", lambda row: row.mean_saber, wording.percent),
    Column("records broken", lambda row: row.records),
    Column("mean HNS a million frames", lambda row: row.hns_a_frame, wording.a_million),
    Column("published by", lambda row: row.source, kind="name", optional=True),
    Column("score of", lambda row: REPORTED.get(row.reported), kind="name", optional=True),
)


def hard(it: HardExploration) -> Columns[tuple[HardGame, HardScore]]:
    """Return what is shown of each algorithm's score on a hard-exploration game."""
    return (
        Column("game", lambda row: row[0].name),
        Column("algorithm", lambda row: row[1].algorithm, kind="name") if len(it.games[0].scores) > 1 else None,
        Column("score", lambda row: row[1].score, wording.score, style="strong"),
        Column("HNS", lambda row: row[1].hns, wording.percent),
        Column("random", lambda row: row[0].random, wording.reference),
        Column("human", lambda row: row[0].human, wording.reference),
        Column("best other", lambda row: row[0].best, wording.reference),
        Column(
            "published by",
            lambda row: row[0].best_algorithm and f"{row[0].best_algorithm}, {row[0].best_source}",
            kind="prose",
            optional=True,
        ),
    )
