"""What the 2013 paper says of its metrics (§4) and shows in Figures 2 to 4, against the recovered scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from arcademark.metrics import aggregate
from arcademark.metrics.distribution import score_distribution
from arcademark.reproduce.ale2013 import scores as data
from arcademark.reproduce.ale2013.scores import LEARNERS, stated
from arcademark.reproduce.comparison import Comparison
from arcademark.suite import tasks

COMPARABLE = 10.0
"""Baseline scores of at most this size, either way, count as comparable quantities: our reading of §4.1.2."""


def normalised() -> Iterator[Comparison]:
    """Check the statements of §4.1 and Figure 2, in their order."""
    random = data.raw(("Random",))[0]
    undefined = [tasks.games()[game].name for game, score in zip(data.games(), random, strict=True) if score == 0]
    text = f"undefined in {len(undefined)} games: {', '.join(undefined)}"
    yield stated("random-normalised", text, not undefined)
    freeway = data.learners("freeway")
    yield stated("freeway", f"{freeway.min():g} to {freeway.max():g}", freeway.min() >= 10 and freeway.max() <= 20)
    yield _freeway_normalised(freeway)
    highest = data.random_scores()[:, data.place("asteroids")].max()
    yield stated("asteroids", f"at most {highest:.2f}", highest <= 1)
    yield from map(_comparable, data.baseline_sets())
    inter = data.inter_scores()
    low, high = np.nanmin(inter), np.nanmax(inter)
    yield stated("bounded", f"{low:g} to {high:g}", low >= 0 and high <= 1)
    searches = zip(data.games(), *data.raw(data.SEARCH), strict=True)
    tied = [tasks.games()[game].name for game, breadth, uct in searches if breadth == uct]
    text = f"undefined where they tie: breadth-first search and UCT in {', '.join(tied)}"
    yield stated("two-algorithms", text, not tied)
    yield stated("venture", f"{inter[LEARNERS.index('BASS'), data.place('venture')]:.1f}")
    yield from map(stated, ("venture-human", "figure-2"))


def _freeway_normalised(scores: data.Scores) -> Comparison:
    reference = data.own_random()
    if not reference or not reference["freeway"]:
        return stated(
            "freeway-normalised",
            why="Random prints 0.0 in Freeway. Its average is below 0.05 then, so that scores are above "
            f"{scores.min() / 0.05:.0f}; whether they reach a thousand takes more digits.",
        )
    normal = scores / abs(reference["freeway"])
    text = f"{normal.min():,.0f} to {normal.max():,.0f} by our runs of Random, {reference['freeway']:.4f}"
    return stated("freeway-normalised", text, normal.max() >= 1000)


def _comparable(baselines: data.BaselineSet) -> Comparison:
    scores = data.baseline_scores(baselines)
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    within, games = int((np.abs(scores) <= COMPARABLE).all(axis=0).sum()), scores.shape[1]
    text = f"all five learners within -{COMPARABLE:g} and {COMPARABLE:g} in {within} of {games} games"
    return _by_baselines("comparable", text, within > games / 2, baselines)


def aggregated() -> Iterator[Comparison]:
    """Check the statements of §4.2 and Figures 3 and 4, in their order."""
    sets = data.baseline_sets()
    yield from map(_zaxxons_share, sets)
    for baselines in sets:
        means = _means(data.baseline_scores(baselines))
        yield _by_baselines("lsh-first", _shown(means), means["LSH"] == max(means.values()), baselines)
    for baselines in sets:
        means = _means(np.delete(data.baseline_scores(baselines), data.place("zaxxon"), axis=1))
        yield _by_baselines("lsh-without-zaxxon", _shown(means), means["LSH"] < max(means.values()), baselines)
    for baselines in sets:
        medians = {
            name: float(aggregate.median(row, missing="omit")) for name, row in _rows(data.baseline_scores(baselines))
        }
        yield _by_baselines("lsh-median", _shown(medians), medians["LSH"] < max(medians.values()), baselines)
    inter = data.inter_scores()
    means = {name: float(aggregate.mean(row)) for name, row in _rows(inter)}
    yield stated("figure-3-axis", _shown(means), max(means.values()) <= 0.7)
    thresholds = np.unique(inter[~np.isnan(inter)])
    curves = {name: score_distribution(row, thresholds, missing="omit") for name, row in _rows(inter)}
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


def _zaxxons_share(baselines: data.BaselineSet) -> Comparison:
    lsh = data.baseline_scores(baselines)[LEARNERS.index("LSH")]
    share = float(lsh[data.place("zaxxon")] / np.nansum(lsh))
    if np.isnan(share):
        why = "These baselines have no scores in Zaxxon, or all the same."
        return stated("zaxxon", why=why, baselines=baselines.name)
    text = f"{100 * share:.0f} % of LSH's sum over {np.count_nonzero(~np.isnan(lsh))} games is Zaxxon's"
    return _by_baselines("zaxxon", text, share > 0.5, baselines)


def _by_baselines(key: str, recomputed: str, holds: bool, baselines: data.BaselineSet) -> Comparison:
    why = "" if baselines is data.baseline_sets()[0] else "The baselines are our own runs, not the paper's."
    return stated(key, recomputed, holds, why=why, baselines=baselines.name)


def _means(scores: data.Scores) -> dict[str, float]:
    return {name: float(aggregate.mean(row, missing="omit")) for name, row in _rows(scores)}


def _shown(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items())


def _rows(scores: data.Scores) -> list[tuple[str, data.Scores]]:
    return list(zip(LEARNERS, scores, strict=True))
