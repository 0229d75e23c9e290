"""What is said of algorithms against each other."""

import numpy as np
import pytest
from made_up_tables import made_up_table, table
from scipy import stats
from shown import text_of

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.sequential import Plan, sequential_test
from arcademark.reports import notices
from arcademark.reports.tables.compare import MOST_ALGORITHMS, compare_tables
from arcademark.suite import references, tasks

GAMES = tasks.suite("atari-57").tasks


def difference(found, metric, statistic):
    return next(item for item in found.pairs[0].summaries if (item.metric, item.statistic) == (metric, statistic))


@pytest.fixture(scope="module")
def two():
    return compare_tables(made_up_table(("theirs", "yours")))


def test_each_game_is_tested_as_scipy_tests_it(two):
    first, second = made_up_table(("theirs", "yours")).scores
    for game, a, b in zip(two.pairs[0].games, first, second, strict=True):
        assert game.difference == pytest.approx(a.mean() - b.mean())
        expected = stats.ttest_ind(a, b, equal_var=False)
        if game.verdict == "untested":
            assert game.why
            continue
        assert game.p == pytest.approx(expected.pvalue)
        decided = "better" if game.difference > 0 else "worse"
        assert game.verdict == (decided if expected.pvalue < 0.01 else "undecided")


@pytest.mark.parametrize("metric", ["hns", "capped_hns", "hwrns", "saber"])
@pytest.mark.parametrize("statistic", ["mean", "median", "iqm", "optimality_gap"])
def test_differences_have_intervals_of_the_difference(two, metric, statistic):
    item = difference(two, metric, statistic)
    assert item.difference.value == pytest.approx(item.first - item.second)
    assert item.difference.low < item.difference.value < item.difference.high
    assert item.relative == pytest.approx(item.first / item.second)


def test_power_says_how_many_runs_the_difference_seen_needs():
    near = {"a": {"pong": [0.0, 1.0, 2.0, 3.0]}, "b": {"pong": [1.0, 2.0, 3.0, 4.0]}}
    far = {"a": {"pong": [0.0, 1.0, 2.0, 3.0]}, "b": {"pong": [11.0, 12.0, 13.0, 14.0]}}
    needs = [compare_tables(table(scores)).pairs[0].games[0].seeds_needed for scores in (near, far)]
    assert needs[1] <= 4 < needs[0]
    power = compare_tables(table(far)).pairs[0].power
    assert (power.games, power.enough) == (1, 1)
    assert power.seeds <= 4


def test_more_algorithms_than_can_be_compared_each_with_each_are_refused():
    scores = {f"a{number}": {"pong": [float(number % 20)]} for number in range(MOST_ALGORITHMS + 1)}
    with pytest.raises(ArcadeMarkError, match="1,001 algorithms; at most 1,000 are compared"):
        compare_tables(table(scores))
    assert len(compare_tables(table(scores), algorithms=("a1", "a2")).pairs) == 1


def test_scores_that_are_equal_are_better_in_nothing():
    same = {"pong": [1.0, 2.0], "qbert": [3.0, 4.0]}
    found = compare_tables(table({"a": same, "b": same}))
    pair = found.pairs[0]
    assert (pair.better, pair.worse) == (0, 0)
    assert pair.improvement.value == 0.5
    assert difference(found, "hns", "iqm").difference.value == 0
    assert found.sensitivity.flips == ()


def test_what_changes_the_order_is_named():
    # steady: human everywhere; odd: superb in one game, weak in two others
    random, human = (references.scores(kind) for kind in ("random", "human"))
    games = ("pong", "alien", "qbert")
    steady = {game: [human[game]] for game in games}
    odd = {game: [random[game] + (human[game] - random[game]) * (9 if game == "qbert" else 0.5)] for game in games}
    found = compare_tables(table({"steady": steady, "odd": odd}))
    (flip,) = found.sensitivity.flips
    assert (flip.first, flip.second) == ("steady", "odd")
    assert "median HNS" in flip.first_above
    assert "mean HNS" in flip.second_above
    ranks = {(item.metric, item.statistic): item.ranks for item in found.sensitivity.rankings}
    assert ranks["hns", "mean"] == (2, 1)
    assert ranks["hns", "optimality_gap"] == (1, 2)
    assert ("hns_other_sources", "mean") in ranks


def test_inversions_are_counted_against_the_median():
    # medians: a > b > c; means: c > a > b, so two pairs of three are inverted
    shares = {"a": (3.0, 3.0, 3.0), "b": (2.0, 2.0, 2.0), "c": (1.0, 1.0, 90.0)}
    random, human = (references.scores(kind) for kind in ("random", "human"))
    games = ("pong", "alien", "qbert")
    scores = {
        name: {
            game: [random[game] + (human[game] - random[game]) * part] for game, part in zip(games, parts, strict=True)
        }
        for name, parts in shares.items()
    }
    told = compare_tables(table(scores)).sensitivity
    found = {(item.metric, item.statistic): item for item in told.rankings}
    assert (found["hns", "median"].inversions, found["hns", "median"].kendall_tau) == (0, pytest.approx(1))
    assert (found["hns", "mean"].inversions, found["hns", "mean"].kendall_tau) == (2, pytest.approx(-1 / 3))
    assert found["hns", "optimality_gap"].kendall_tau is None  # all on target


THREE = {"mine": 5, "yours": 3, "theirs": 9}
SAID = [
    ("untested", {"runs": 1}, {}, ("No test could be made on 57 of 57 games: the first has one run.",)),
    ("runs", {"runs": 1}, {}, ("One run a game",)),
    ("comparison", {"games": ("pong",)}, {}, ("Only one game",)),
    ("games_differ", {"a": {"pong": 1, "qbert": 5}, "b": {"pong": 2, "alien": 5}}, {}, ("Alien and Q*bert",)),
    ("few_runs", {}, {}, ("mine and yours, 5 runs a game: of simulated", "such differences from 5 runs of 57 games")),
    ("few_runs", {"runs": {"mine": 3, "yours": 1}}, {}, ()),
    (
        "few_runs",
        {"algorithms": tuple(THREE), "games": GAMES[:6], "runs": THREE},
        {},
        ("The pair with the fewest runs, mine and yours, as few as 3 runs a game",),
    ),
    ("power", {}, {}, ("by the test at 99 %, in a summary by its 95 % interval",)),
    (
        "training_differs",
        "catalogue:review-2021",
        {"algorithms": ["MuZero", "Agent57"]},
        ("20,000,000,000: MuZero; 100,000,000,000: Agent57",),
    ),
    (
        "protocols_differ",
        "catalogue:ale-2013",
        {"suite": "ale-55", "algorithms": ["UCT", "BASS"]},
        ("UCT plans on the emulator", "averaged episodes (10, 500 in each of 30 trials)"),
    ),
    (
        "protocols_differ",
        {"games": GAMES[:3], "protocols": {"mine": "world-records", "yours": "go-explore"}},
        {},
        ("max episode length (30 min, 400,000 frames)",),
    ),
]


@pytest.mark.parametrize(("kind", "source", "options", "parts"), SAID, ids=[case[0] for case in SAID])
def test_what_is_said_of_a_comparison(kind, source, options, parts):
    made = source if isinstance(source, str) or "a" in source else made_up_table(**source)
    found = compare_tables(made, resamples=50, **options)
    assert bool(text_of(found, kind)) == bool(parts)
    assert all(part in text_of(found, kind) for part in parts)
    assert all(notice.level == notices.KINDS[notice.kind] for notice in found.notices)


def test_runs_of_one_game_are_tested_in_points_and_in_order():
    near = [1.0, 4.0, 2.0, 3.0, 5.0]
    scores = table({"a": {"pong": [*near, 9.0]}, "b": {"pong": [value - 0.5 for value in near]}, "c": {"pong": near}})
    found = compare_tables(scores, algorithms=["a", "b"], plan=Plan()).sequential
    assert (found.metric, found.statistic, found.games) == ("", "", ("pong",))
    assert [(side.algorithm, side.runs, side.used, side.more) for side in found.algorithms] == [
        ("a", 6, 5, 4),
        ("b", 5, 5, 5),
    ]
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.decision) == ("a", "b", "undecided")
    assert [(step.runs, step.difference) for step in pair.steps] == [(5, 0.5)]


@pytest.mark.parametrize("summary", ["mean", "median", "iqm"])
def test_runs_of_several_games_are_summed_up_first(summary):
    games, names = GAMES[:4], ("theirs", "yours")
    scores = made_up_table(names, games, runs=12)
    found = compare_tables(scores, games=games, plan=Plan(alpha=0.1), summary=summary).sequential
    assert (found.metric, found.statistic, found.games) == ("hns", summary, games)
    random, human = (np.array([references.scores(kind)[game] for game in games]) for kind in ("random", "human"))
    percent = 100 * (scores.scores - random[:, np.newaxis]) / (human - random)[:, np.newaxis]
    middle = {
        "mean": percent.mean(axis=1),
        "median": np.median(percent, axis=1),
        "iqm": np.sort(percent, axis=1)[:, 1:3].mean(axis=1),
    }
    expected = sequential_test(list(middle[summary]), np.random.default_rng(0), Plan(alpha=0.1)).pairs[0]
    assert found.pairs[0].steps[0].difference == pytest.approx(expected.steps[0].difference)
    assert found.pairs[0].steps[0].boundary == pytest.approx(expected.steps[0].boundary)


def test_only_games_and_runs_that_all_have_are_tested_in_order():
    scores = {
        "a": {"pong": [1.0, 2.0, 3.0], "qbert": [1.0, 2.0], "alien": [5.0]},
        "b": {"pong": [1.0, 2.0], "qbert": [1.0, 2.0, 3.0]},
    }
    found = compare_tables(table(scores), plan=Plan()).sequential
    assert found.games == ("pong", "qbert")
    assert [(side.runs, side.used, side.more) for side in found.algorithms] == [(2, 0, 3), (2, 0, 3)]
    assert found.pairs[0].steps == ()
