import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.ranking import flips, inversions, kendall_tau, ranks

# Aitchison et al. 2023, Table 4: medians, and what Atari-5 estimates, of four algorithms of Lindenberg et al. 2022.
MEDIANS = {"C51": 109.0, "IQN": 129.0, "C2D": 133.0, "Rainbow": 147.0}
ESTIMATES = {"C51": 96.0, "IQN": 95.0, "C2D": 111.0, "Rainbow": 118.0}

NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f"])
VALUES = st.dictionaries(NAMES, st.integers(-3, 3).map(float), min_size=1)  # so that values tie
TWO = VALUES.flatmap(
    lambda a: st.tuples(st.just(a), st.fixed_dictionaries({name: st.integers(-3, 3).map(float) for name in a}))
)


def test_the_five_games_invert_one_pair_of_four_algorithms():
    """As Aitchison et al. 2023, §7, say: C51 and IQN are swapped."""
    assert inversions(MEDIANS, ESTIMATES) == (("IQN", "C51"),)
    assert kendall_tau(MEDIANS, ESTIMATES) == pytest.approx(1 - 2 / 6)


def test_rankings_of_different_algorithms_or_with_gaps_are_refused():
    for function in (inversions, kendall_tau):
        with pytest.raises(ArcadeMarkError, match="only one of two rankings has b, c"):
            function({"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 2.0})
        with pytest.raises(ArcadeMarkError, match="no value for b"):
            function({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": np.nan})
    with pytest.raises(ArcadeMarkError, match="all are tied has no order"):
        kendall_tau({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0})


@settings(max_examples=40)
@given(VALUES)
def test_ranks_agree_with_scipy(values):
    expected = stats.rankdata([-value for value in values.values()], method="min")
    assert list(ranks(values).values()) == expected.tolist()


@settings(max_examples=40)
@given(TWO)
def test_inversions_and_tau_agree_with_each_other_and_with_scipy(two):
    a, b = two
    found = inversions(a, b)
    assert len(found) == len(inversions(b, a))
    assert all(a[first] > a[second] and b[first] < b[second] for first, second in found)
    concordant = inversions(a, {name: -value for name, value in b.items()})
    assume(len(set(a.values())) > 1 and len(set(b.values())) > 1)
    tau = kendall_tau(a, dict(reversed(b.items())))
    assert tau == pytest.approx(stats.kendalltau(list(a.values()), [b[name] for name in a]).statistic)
    untied = [sum(side[x] != side[y] for x, y in itertools.combinations(a, 2)) for side in (a, b)]
    assert tau == pytest.approx((len(concordant) - len(found)) / np.sqrt(untied[0] * untied[1]))


def test_where_the_order_flips_and_under_what():
    measures = {
        "old mean": {"x": 3.0, "y": 2.0, "z": 1.0},
        "new mean": {"x": 2.0, "y": 2.0, "z": 5.0},
        "old median": {"z": 0.0, "y": 9.0, "x": 1.0},
    }
    xy, xz, yz = flips(measures)
    assert (xy.first, xy.second, xy.first_above, xy.second_above) == ("x", "y", ("old mean",), ("old median",))
    assert (xz.first, xz.second, xz.first_above, xz.second_above) == (
        "x", "z", ("old mean", "old median"), ("new mean",),
    )  # fmt: skip
    assert (yz.first, yz.second) == ("y", "z")
