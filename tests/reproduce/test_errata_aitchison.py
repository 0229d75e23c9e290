"""What errata of the Atari-5 paper say beyond what `arcademark reproduce` computes, from its data."""

import statistics

import atari5_training as data
import numpy as np

from arcademark.catalogue import collections
from arcademark.catalogue.errata import errata
from arcademark.suite.subsets import subset

PAPER = "aitchison-2023"
FOUND = {erratum.where: erratum for erratum in errata(PAPER) if erratum.category != "sources disagree"}
ATARI_5 = subset("atari-5").tasks


def by_agent(collection):
    found = {}
    for result in collections.results(collection):
        found.setdefault(result.entry.algorithm, {})[result.task] = result.score
    return found


def planning_shares():
    ours = by_agent("ale-2013")
    printed = data.raw()["Planning"]
    uct = sum(ours["UCT"].get(game) == score for game, score in printed.items())
    best = {game: max(scores[game] for scores in ours.values() if game in scores) for game in printed}
    assert all(abs(best[game] - score) < 0.51 for game, score in printed.items())  # breadth-first search is rounded
    return uct, len(printed) - uct


def test_whose_scores_planning_has():
    uct, others = planning_shares()
    assert FOUND["Table 8, Planning"].holds == f"{uct} games of UCT, {others} of other agents"
    assert FOUND["Table 8, Planning, and the algorithms left out"].holds == f"{uct} of the 50 scores are the same UCT's"
    assert FOUND["Public training table, Prior+Duel hs"].holds == f"{len(data.raw()['Prior+Duel hs'])} games"


def test_go_explore_is_overestimated_unless_the_model_is_fitted_to_it():
    scores = data.hns(
        {r.task: r.score for r in collections.results("review-2021") if r.entry.algorithm == "Go-Explore"}
    )
    true, own = statistics.median(scores.values()), data.log_score(np.array([scores[game] for game in ATARI_5]))
    guess = 10 ** float(own @ np.array(subset("atari-5").coefficients)) - 1
    erratum = FOUND["§5.3, Go-Explore: the Atari-5 estimate"]
    assert erratum.holds == f"{guess:,.0f}, an overestimate of {100 * (guess - true) / true:.1f}%"
    inputs, targets, _ = data.sample(ATARI_5)
    inputs, targets = np.vstack([inputs, own]), np.append(targets, data.log_score(true))
    assert f"{10 ** float(own @ data.fit(inputs, targets)) - 1:,.1f}" in erratum.why
