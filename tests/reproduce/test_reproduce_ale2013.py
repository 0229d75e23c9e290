import statistics

import numpy as np
import pytest

from arcademark.catalogue import collections
from arcademark.catalogue.errata import errata
from arcademark.reproduce.ale2013 import scores as data
from arcademark.reproduce.ale2013.statements import lost, statements

DIFFER = {
    "Abstract: games with results",
    "§3.1.3: games in which a learner is ahead of the three published baselines",
    "§3.2.3: games in which search is ahead of learners and baselines",
    "§4.1.1: every game has a random-normalised score",
    "§4.1.3: inter-algorithm scores of two algorithms",
}


def comparisons():
    return [comparison for group in statements() for comparison in group.comparisons]


def found(start):
    (only,) = (comparison for comparison in comparisons() if comparison.where.startswith(start))
    return only


def scores():
    """The recovered scores read in another way than the module reads them."""
    table = {}
    for result in collections.results("ale-2013"):
        table.setdefault(result.entry.algorithm, {})[result.task] = result.score
    return table


def test_what_differs_is_explained_and_what_agrees_needs_no_explanation():
    for comparison in comparisons():
        assert comparison.printed
        assert (comparison.verdict == "not available") == (not comparison.recomputed)
        assert (comparison.verdict == "agrees") == (not comparison.why)
        assert (comparison.verdict == "differs") == bool(comparison.category)
    assert len({comparison.where for comparison in comparisons()}) == len(comparisons())


def test_which_statements_do_not_hold():
    published = {c.where for c in comparisons() if c.verdict == "differs" and "our runs" not in c.where + c.recomputed}
    assert published == DIFFER


def test_differences_go_by_the_categories_of_errata():
    known = {erratum.category for erratum in errata("bellemare-2013")}
    assert {comparison.category for comparison in comparisons() if comparison.category} <= known


def test_learners_beat_the_baselines_in_39_games_and_tie_in_one():
    table = scores()
    best, base = (
        {game: max(table[name][game] for name in names) for game in data.games()}
        for names in (data.LEARNERS, data.BASELINES)
    )
    assert sum(best[game] > base[game] for game in best) == 39
    assert [game for game in best if best[game] == base[game]] == ["skiing"]
    assert found("§3.1.3: games in which a learner is ahead of the three").recomputed == "39 of 55, and a tie in Skiing"


def test_search_is_ahead_in_48_games_and_behind_in_six():
    table = scores()
    others = {game: max(table[name][game] for name in (*data.LEARNERS, *data.BASELINES)) for game in data.games()}
    search = {game: max(table[name][game] for name in data.SEARCH if game in table[name]) for game in data.games()}
    assert sum(search[game] > others[game] for game in others) == 48
    behind = {game for game in others if search[game] < others[game]}
    assert behind == {"freeway", "berzerk", "bowling", "montezuma_revenge", "private_eye", "venture"}
    assert found("§3.2.3: games in which search is ahead").recomputed == "48, and a tie in Skiing"
    assert found("§3.2.3: games in which search is behind").recomputed.startswith("4 of 6: ")


def test_baseline_scores_and_their_averages_by_hand():
    table = scores()
    learner = {}
    for game in data.games():
        references = [table[name][game] for name in data.BASELINES]
        if max(references) > min(references):
            learner[game] = (table["LSH"][game] - min(references)) / (max(references) - min(references))
    assert len(learner) == 53
    assert learner["zaxxon"] == pytest.approx(3365.1 / 2)
    mean, median = statistics.mean(learner.values()), statistics.median(learner.values())
    assert f"LSH {mean:.2f}" in found("§4.2.2 and Figure 3: LSH by average baseline score, the three").recomputed
    assert f"LSH {median:.2f}" in found("§4.2.2 and Figure 3: medians of baseline scores, the three").recomputed
    del learner["zaxxon"]
    without = found("§4.2.2 and Figure 3: LSH without Zaxxon, the three")
    assert f"LSH {statistics.mean(learner.values()):.2f}" in without.recomputed


def test_inter_algorithm_scores_by_hand():
    table = scores()
    for game in ("zaxxon", "pong", "venture"):
        values = [table[name][game] for name in data.LEARNERS]
        expected = [(value - min(values)) / (max(values) - min(values)) for value in values]
        assert data.inter_scores()[:, data.games().index(game)] == pytest.approx(expected)


def test_random_scores_by_hand():
    pong, freeway = (data.random_scores()[:, data.games().index(game)] for game in ("pong", "freeway"))
    assert pong == pytest.approx(np.array([-19.2, -19, -19.6, -19.9, -19.9]) / 20.9)
    assert np.isnan(freeway).all()


def test_what_is_gone_is_named():
    named = " ".join(item.where for item in lost())
    for part in ("Table 1", "Table 2", "Table 3", "human", "UCT on Skiing", "Appendix C"):
        assert part in named
