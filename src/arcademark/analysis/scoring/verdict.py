"""Verdict on an algorithm's scores by the rules below; ``prose/verdict.jinja`` turns it into a sentence.

* A game counts if it has reference scores of random play and of a human, and a score that has an interval or does not
  vary. If no game has several runs or episodes, as with published scores, single scores count, and the sentence states
  it. If at most half of the games count, the standing is unknown.
* A game is above random play if its interval is above the scores of all known random players: the reference, and those
  of the catalogue, who played under other protocols. It is above the human average if its interval is not below it.
* An algorithm is worse than random play if most games are below random play. Otherwise, if no more games are above
  random play than intervals miss by chance, it is random if most games are below the human average, else open. In all
  other cases it is better.
* It has a place among published algorithms of a similar budget, by the median human-normalised score over the same
  games, if its interval contains at most half of their medians.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arcademark.analysis.document import Similar
from arcademark.analysis.tables.document import Algorithm, Place, Rank, Score, ScoredGame, Standing, Verdict
from arcademark.metrics.uncertainty.intervals import FEWEST, LEVEL

Ends = tuple[float, float]


def judge(
    item: Algorithm,
    games: Sequence[ScoredGame],
    randoms: Mapping[str, Sequence[float]],
    similar: Sequence[Similar],
    rank: Rank | None = None,
) -> Verdict | None:
    """Return the verdict on an algorithm's scores; None if there are no reference scores.

    ``randoms`` are scores of random players besides the reference, by game; ``rank`` is from `ranking`.
    """
    anchors = {
        game.id: ((*randoms.get(game.id, ()), random), human)
        for game in games
        if (random := game.references.get("random")) is not None and (human := game.references.get("human")) is not None
    }
    scores = [score for score in item.scores if score.game in anchors and score.score.value is not None]
    if not scores:
        return None
    single = item.most_runs == 1 and not any(score.played or score.score.low is not None for score in scores)
    known = [(ends, *anchors[score.game]) for score in scores if (ends := _ends(score, single=single)) is not None]
    above = sum(low > max(random) for (low, _), random, _ in known)
    below = sum(high < min(random) for (_, high), random, _ in known)
    human = sum(low >= average for (low, _), _, average in known)
    short = sum(high < average for (_, high), _, average in known)
    standing: Standing = "better"
    if 2 * len(known) <= len(scores):
        standing = "unknown"
    elif 2 * below > len(known):
        standing = "worse"
    elif above <= (1 - LEVEL) * len(known) and not single:
        standing = "random" if 2 * short > len(known) else "open"
    return Verdict(standing, len(known), len(scores), above, below, human, short, single, _place(item, similar), rank)


def _ends(score: Score, *, single: bool) -> Ends | None:
    """Return the ends of a score's interval; both are the score if it does not vary, or is single; None if unknown."""
    value, low, high = score.score.value, score.score.low, score.score.high
    if value is None or (low is not None and high is not None):
        return None if low is None or high is None else (low, high)
    played = score.played
    many = len(played.episodes) if played and score.runs == 1 else score.runs
    return (value, value) if single or many >= FEWEST or (played and played.exact) else None


def _place(item: Algorithm, similar: Sequence[Similar]) -> Place | None:
    """Return the place of an algorithm's median among published ones of a similar budget; None if it has none."""
    group = next((one for one in similar if one.within and item.name in [peer.name for peer in one.own]), None)
    median = next((one.statistics["median"] for one in item.summaries if one.metric == "hns"), None)
    if group is None or median is None or median.low is None or median.high is None:
        return None
    ordered = sorted(group.published, key=lambda peer: peer.median_hns)
    below = [peer for peer in ordered if peer.median_hns < median.low]
    above = [peer for peer in ordered if peer.median_hns > median.high]
    level = ordered[len(below) : len(ordered) - len(above)]
    if 2 * len(level) > len(ordered):
        return None
    return Place(tuple(below[-1:]), tuple(level), tuple(above[:1]), len(ordered))
