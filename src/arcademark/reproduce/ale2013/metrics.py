"""The 2013 paper's metrics (§4) and Figures 2 to 4, against the recovered scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from arcademark.metrics import aggregate
from arcademark.metrics.distribution import score_distribution
from arcademark.reproduce.ale2013 import scores as data
from arcademark.reproduce.ale2013.scores import LEARNERS, stated
from arcademark.reproduce.comparison import PrintedComparison
from arcademark.suite import tasks

COMPARABLE = 10.0
"""Baseline scores of at most this absolute value count as comparable quantities, in our interpretation of §4.1.2."""


def normalised() -> Iterator[PrintedComparison]:
    """Check the statements of §4.1 and Figure 2, in their order."""
    random = data.raw(("Random",))[0]
    undefined = [tasks.game_name(game) for game, score in zip(data.games(), random, strict=True) if score == 0]
    text = f"undefined in {len(undefined)} games: {', '.join(undefined)}"
    yield stated("random-normalised", text, not undefined)
    freeway = data.learners("freeway")
    yield stated("freeway", f"{freeway.min():g} to {freeway.max():g}", freeway.min() >= 10 and freeway.max() <= 20)
    least = freeway.min() / 0.05
    yield stated(
        "freeway-normalised",
        why="Random's printed score is 0.0 in Freeway, so its average is below 0.05 and these scores are above "
        f"{least:.0f}; the digits do not show whether they reach a thousand.",
    )
    highest = data.random_scores()[:, data.place("asteroids")].max()
    yield stated("asteroids", f"at most {highest:.2f}", highest <= 1)
    scores = data.baseline_scores()[:, ~np.isnan(data.baseline_scores()).any(axis=0)]
    within, games = int((np.abs(scores) <= COMPARABLE).all(axis=0).sum()), scores.shape[1]
    text = f"all five learners within -{COMPARABLE:g} and {COMPARABLE:g} in {within} of {games} games"
    yield stated("comparable", text, within > games / 2)
    inter = data.inter_scores()
    low, high = np.nanmin(inter), np.nanmax(inter)
    yield stated("bounded", f"{low:g} to {high:g}", low >= 0 and high <= 1)
    searches = zip(data.games(), *data.raw(data.SEARCH), strict=True)
    tied = [tasks.game_name(game) for game, breadth, uct in searches if breadth == uct]
    text = f"undefined where they tie: breadth-first search and UCT in {', '.join(tied)}"
    yield stated("two-algorithms", text, not tied)
    yield stated("venture", f"{inter[LEARNERS.index('BASS'), data.place('venture')]:.1f}")
    yield from map(stated, ("venture-human", "figure-2"))


def aggregated() -> Iterator[PrintedComparison]:
    """Check the statements of §4.2 and Figures 3 and 4, in their order."""
    scores, zaxxon = data.baseline_scores(), data.place("zaxxon")
    lsh = scores[LEARNERS.index("LSH")]
    share, games = lsh[zaxxon] / np.nansum(lsh), np.count_nonzero(~np.isnan(lsh))
    yield stated("zaxxon", f"{100 * share:.0f} % of LSH's sum over {games} games is Zaxxon's", share > 0.5)
    means = _by_learner(scores, aggregate.mean)
    yield stated("lsh-first", _shown(means), means["LSH"] == max(means.values()))
    means = _by_learner(np.delete(scores, zaxxon, axis=1), aggregate.mean)
    yield stated("lsh-without-zaxxon", _shown(means), means["LSH"] < max(means.values()))
    medians = _by_learner(scores, aggregate.median)
    yield stated("lsh-median", _shown(medians), medians["LSH"] < max(medians.values()))
    inter = data.inter_scores()
    means = _by_learner(inter, aggregate.mean)
    yield stated("figure-3-axis", _shown(means), max(means.values()) <= 0.7)
    thresholds = np.unique(inter[~np.isnan(inter)])
    curves = dict(zip(LEARNERS, score_distribution(inter, thresholds, missing="omit"), strict=True))
    over = {name: curves["BASS"] - curves[name] for name in ("Basic", "RAM")}
    above = all((gap >= 0).all() for gap in over.values())
    yield stated(
        "figure-4-bass",
        f"its curve is {'never' if above else 'at some scores'} below theirs; on average over all scores "
        f"{over['Basic'].mean():.2f} of the games above Basic's and {over['RAM'].mean():.2f} above RAM's",
        above,
    )
    under = [curves[name] - curves["DISCO"] for name in LEARNERS if name != "DISCO"]
    below, least = all((gap >= 0).all() for gap in under), min(float(gap.mean()) for gap in under)
    yield stated(
        "figure-4-disco",
        f"its curve is {'never' if below else 'at some scores'} above another; on average over all scores at least "
        f"{least:.2f} of the games below",
        below and least > 0.1,
    )


def _by_learner(scores: data.Scores, statistic: Callable[..., aggregate.Statistic]) -> dict[str, float]:
    values = np.asarray(statistic(scores, missing="omit"))
    return dict(zip(LEARNERS, values.tolist(), strict=True))


def _shown(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items())
