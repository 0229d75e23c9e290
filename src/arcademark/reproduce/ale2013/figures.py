"""The 2013 paper's Figures 2 to 4 from the recovered scores: normalised, aggregated and distributed."""

from __future__ import annotations

import numpy as np

from arcademark.metrics import aggregate
from arcademark.metrics.distribution import score_distribution
from arcademark.reproduce.ale2013 import scores as data
from arcademark.reproduce.figures import Panel, PanelSeries, PaperFigure
from arcademark.suite import tasks

EXAMPLES = ("asteroids", "freeway", "venture")
"""The games that §4.1 names in its discussion of Figure 2; it does not state which three the figure shows."""
AGENTS = ("BASS", "RAM")
BASELINES = "the three published baselines"
REACH = (0.0, 4.0)
"""The range of baseline scores that is drawn; few games lie beyond it, the farthest of them Zaxxon."""


def figure(number: int) -> PaperFigure:
    """Return Figure 2, 3 or 4, made from the collection "ale-2013"."""
    return {2: normalised, 3: aggregated, 4: distributed}[number]()


def normalised() -> PaperFigure:
    """Return Figure 2: three ways to normalise the scores of BASS and RAM in three games."""
    kinds = (
        ("a) Random-normalised scores, Random as published", data.random_scores()),
        (f"b) Baseline scores, {BASELINES}", data.baseline_scores()),
        ("c) Inter-algorithm scores", data.inter_scores()),
    )
    return PaperFigure(
        data.PAPER,
        2,
        "Figure 2: random-normalised, baseline and inter-algorithm scores",
        "Scores of BASS and RAM, normalised in three ways. The text does not name the figure's three games; these are "
        "the ones that it discusses. Random's printed score is 0.0 in Freeway and Venture, so quotients are undefined, "
        "and the published baselines all score 0 in Venture.",
        tuple(_examples(title, scores) for title, scores in kinds),
    )


def aggregated() -> PaperFigure:
    """Return Figure 3: averages and medians of baseline and inter-algorithm scores of the five learners."""
    scores = data.baseline_scores()
    games = np.count_nonzero(~np.isnan(scores[0]))
    panels = [
        Panel(f"{word} {title}", "bars", "", (_summary(name, values, word),), data.LEARNERS)
        for title, name, values in (
            ("baseline score", BASELINES, scores),
            ("inter-algorithm score", "the five learners", data.inter_scores()),
        )
        for word in ("Average", "Median")
    ]
    return PaperFigure(
        data.PAPER,
        3,
        "Figure 3: aggregate normalised scores of the five learners",
        f"Over the {games} games in which the published baselines differ, and over all 55 for inter-algorithm "
        "scores. Zaxxon alone puts LSH first by average baseline score.",
        tuple(panels),
    )


def distributed() -> PaperFigure:
    """Return Figure 4: the fraction of games at or above each normalised score."""
    return PaperFigure(
        data.PAPER,
        4,
        "Figure 4: score distributions over all games",
        "The fraction of games in which a learner's normalised score is at least the value on the axis. Above a "
        "baseline score of 1 it beats the best baseline. Games without a range are excluded.",
        (
            _steps(f"Baseline scores, {BASELINES}", "baseline score", data.baseline_scores(), REACH, (1.0,)),
            _steps("Inter-algorithm scores", "inter-algorithm score", data.inter_scores(), (0.0, 1.0)),
        ),
    )


def _examples(title: str, scores: data.Scores) -> Panel:
    places = [data.place(game) for game in EXAMPLES]
    rows = [(agent, scores[data.LEARNERS.index(agent), places].tolist()) for agent in AGENTS]
    series = (PanelSeries(agent, tuple(None if np.isnan(value) else value for value in row)) for agent, row in rows)
    return Panel(title, "bars", "", tuple(series), tuple(map(tasks.game_name, EXAMPLES)))


def _summary(name: str, scores: data.Scores, word: str) -> PanelSeries:
    statistic = aggregate.mean if word == "Average" else aggregate.median
    return PanelSeries(name, tuple(np.asarray(statistic(scores, missing="omit")).tolist()))


def _steps(
    title: str, x_unit: str, scores: data.Scores, limits: tuple[float, float], marks: tuple[float, ...] = ()
) -> Panel:
    curves = tuple(_curve(name, row[~np.isnan(row)]) for name, row in zip(data.LEARNERS, scores, strict=True))
    return Panel(title, "steps", "fraction of games", curves, x_unit=x_unit, x_limits=limits, marks=marks)


def _curve(name: str, scores: data.Scores) -> PanelSeries:
    ends = np.unique(scores)
    return PanelSeries(name, tuple(score_distribution(scores, ends).tolist()), tuple(ends.tolist()))
