"""The rank of a median among published algorithms: which result represents each, and the ends of intervals."""

import re

import numpy as np
import pytest

from arcademark.analysis.scoring import ranking
from arcademark.analysis.scoring.analysis import analyse
from arcademark.analysis.uncertainty import Statistic
from arcademark.catalogue import collections
from arcademark.wording.prose import text


def test_every_algorithm_has_one_rank_by_a_result_with_nearly_all_games():
    entries, medians = collections.select(), ranking.medians()
    assert list(medians.values()) == sorted(medians.values(), reverse=True)
    firsts = {next(iter(ranking.results()[identity])): median for identity, median in medians.items()}
    assert {entries[name].identity: median for name, median in firsts.items()} == medians
    some = list(firsts)[::8]
    report = analyse(["catalogue:all"], algorithms=some, model=None)
    for item in report.algorithms:
        median = firsts[item.name]
        assert item.coverage.games >= 52
        summary = next(one for one in item.summaries if one.metric == "hns")
        assert summary.median.value == pytest.approx(median)
        assert item.verdict.rank.value == 1 + sum(other > median for other in medians.values())
        assert item.verdict.rank.of == len(medians)


def test_a_result_with_a_median_represents_an_algorithm_where_there_is_one():
    for medians in ranking.results().values():
        if next(iter(medians.values())) is None:
            assert set(medians.values()) == {None}


def test_the_interval_of_a_median_gives_that_of_the_rank():
    values = np.array(list(ranking.medians().values()))
    found = ranking.rank(Statistic(100.0, 50.0, 200.0))
    assert found.of == 1 + len(values)
    assert [found.best, found.value, found.worst] == [1 + np.count_nonzero(values > bar) for bar in (200, 100, 50)]
    without = ranking.rank(Statistic(1e9))
    assert (without.value, without.best, without.worst) == (1, None, None)
    assert ranking.rank(Statistic(-100.0)).value == found.of
    assert found.lowest == values.min()


def test_a_median_below_all_has_no_rank_in_words():
    below = "below all published algorithms with a median (the lowest is 53.0\N{NO-BREAK SPACE}%; protocols differ)"
    for median in (Statistic(3.0), Statistic(3.0, 1.0, 9.0)):
        assert text("verdict", "ranked", rank=ranking.rank(median)) == below
    some = text("verdict", "ranked", rank=ranking.rank(Statistic(3.0, 1.0, 90.0)))
    assert re.fullmatch(r"about #66 of 66 among published algorithms with a median \(#\d+ to #66; .*", some)
