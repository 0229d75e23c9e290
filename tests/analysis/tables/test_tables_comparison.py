"""What is said of algorithms against each other."""

import re

import numpy as np
import pytest
from scipy import stats

from arcademark.analysis import notices
from arcademark.analysis.scoring.compare import compare_tables
from arcademark.analysis.scoring.comparison import Comparison
from arcademark.analysis.tables.dataset import MAX_ALGORITHMS
from arcademark.errors import ArcadeMarkError
from arcademark.metrics.sequential import SequentialPlan, sequential_test
from arcademark.pages import presenter
from arcademark.pages.render import latex
from arcademark.pages.render.json import schema
from arcademark.suite import references, tasks
from html_page import Page
from json_schema import problems
from made_up_tables import made_up_table, table
from shown import page as page_of
from shown import printed, text_of, values

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
    scores = {f"a{number}": {"pong": [float(number % 20)]} for number in range(MAX_ALGORITHMS + 1)}
    with pytest.raises(ArcadeMarkError, match="1,001 algorithms, expected at most 1,000 at once"):
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
    ("untested", {"runs": 1}, {}, ("No test is possible on 57 of 57 games: both have one run.",)),
    ("runs", {"runs": 1}, {}, ("One run per game",)),
    ("comparison", {"games": ("pong",)}, {}, ("Only one game",)),
    ("games_differ", {"a": {"pong": 1, "qbert": 5}, "b": {"pong": 2, "alien": 5}}, {}, ("Alien and Q*bert",)),
    (
        "few_runs",
        {},
        {},
        ("mine and yours, 5 runs per game: some intervals", "of 5 runs on 57 games", "of differences covered"),
    ),
    ("few_runs", {"runs": {"mine": 3, "yours": 1}}, {}, ()),
    (
        "few_runs",
        {"algorithms": tuple(THREE), "games": GAMES[:6], "runs": THREE},
        {},
        ("The pair with the fewest runs, mine and yours, as few as 3 runs per game",),
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
    found = compare_tables(scores, algorithms=["a", "b"], plan=SequentialPlan()).sequential
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
    found = compare_tables(scores, games=games, plan=SequentialPlan(alpha=0.1), summary=summary).sequential
    assert (found.metric, found.statistic, found.games) == ("hns", summary, games)
    random, human = (np.array([references.scores(kind)[game] for game in games]) for kind in ("random", "human"))
    percent = 100 * (scores.scores - random[:, np.newaxis]) / (human - random)[:, np.newaxis]
    middle = {
        "mean": percent.mean(axis=1),
        "median": np.median(percent, axis=1),
        "iqm": np.sort(percent, axis=1)[:, 1:3].mean(axis=1),
    }
    expected = sequential_test(
        dict(zip(names, middle[summary], strict=True)), np.random.default_rng(0), SequentialPlan(alpha=0.1)
    )[0][0]
    assert found.pairs[0].steps[0].difference == pytest.approx(expected.steps[0].difference)
    assert found.pairs[0].steps[0].boundary == pytest.approx(expected.steps[0].boundary)


def test_only_games_and_runs_that_all_have_are_tested_in_order():
    scores = {
        "a": {"pong": [1.0, 2.0, 3.0], "qbert": [1.0, 2.0], "alien": [5.0]},
        "b": {"pong": [1.0, 2.0], "qbert": [1.0, 2.0, 3.0]},
    }
    found = compare_tables(table(scores), plan=SequentialPlan()).sequential
    assert found.games == ("pong", "qbert")
    assert [(side.runs, side.used, side.more) for side in found.algorithms] == [(2, 0, 3), (2, 0, 3)]
    assert found.pairs[0].steps == ()


# How a comparison is shown


CONTRACT = schema(Comparison)
SEVEN = ("battle_zone", "double_dunk", "montezuma_revenge", "name_this_game", "phoenix", "qbert", "carnival")


@pytest.fixture(scope="module")
def pair():
    return compare_tables(made_up_table(games=SEVEN, runs={"mine": 5, "yours": 4}))


@pytest.fixture(scope="module")
def three():
    return compare_tables(made_up_table(("mine", "yours", "theirs"), SEVEN[:5], runs=4))


@pytest.fixture(scope="module")
def whole():
    """Over all games, of which some are decided."""
    return compare_tables(made_up_table(("theirs", "yours")), resamples=200)


def in_one_line(text):
    return " ".join(text.split())


def test_golden_terminal(pair, three, golden):
    golden("comparison.txt", printed(pair) + "\n" + printed(three, everything=True))


def test_a_comparison_says_what_its_metrics_and_statistics_are(pair, three):
    for shown in map(in_one_line, (printed(pair), printed(three))):
        assert shown.count("HNS: human-normalised score, 0 % is random play and 100 % the human average") == 1
        assert "HWRNS: score normalised by the human world record" in shown
        assert "IQM: the mean of the middle half" in shown


def test_games_that_were_decided_are_shown_and_the_others_counted(whole):
    decided = {game.game for game in whole.pairs[0].games if game.verdict in ("better", "worse")}
    assert 0 < len(decided) < 57
    games = printed(whole).partition("Games: theirs minus yours\n")[2].partition("\n\n")[0]
    names = {tasks.game_name(game) for game in decided}
    assert {name for game in whole.games if (name := game.name) in games} == names
    assert f"and {57 - len(decided)} more: --all shows them" in games
    everything = printed(whole, everything=True)
    assert all(game.name in everything for game in whole.games)


def test_who_needs_more_runs_is_said_first_and_in_every_form():
    scores = {"a": [1.0, 2.0, 3.0, 4.0, 5.0], "b": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5], "c": [30.0, 31, 32, 33, 34]}
    found = compare_tables(
        {name: {"pong": runs} for name, runs in scores.items()}, plan=SequentialPlan(), resamples=100
    )
    text = in_one_line(printed(found))
    assert "Yes: 5 more runs of a; 3 more runs of b. That makes 10 runs, group 2 of at most 5; 1 of 3 pairs" in text
    assert text.index("Whether more runs are needed") < text.index("Each against each")
    assert "A run's score is its points on Pong." in text
    assert "Mathieu et al. 2024" in text
    assert any("2306.10882" in item.url for item in found.citations)
    document = values(found)
    assert not problems(document, CONTRACT, CONTRACT)
    assert [pair["decision"] for pair in document["sequential"]["pairs"]] == ["undecided", "smaller", "smaller"]
    assert "Whether more runs are needed" in page_of(found)
    decided = compare_tables({name: {"pong": scores[name]} for name in "ac"}, plan=SequentialPlan(), resamples=100)
    assert "No: it is decided." in printed(decided)
    single = compare_tables({name: {"pong": [1.0, 2.0], "qbert": [1.0, 2.0]} for name in "ab"}, plan=SequentialPlan())
    assert "Yes on every game: 3 more runs of each of a and b." in in_one_line(printed(single))


@pytest.mark.parametrize("several", [False, True])
def test_a_page_shows_everything(several, pair, three):
    found = three if several else pair
    text = page_of(found)
    for notice in found.notices:
        assert f'data-kind="{notice.kind}"' in text
    for name in (*(game.name.replace("'", "&#39;") for game in found.games), "Ranks by every measure", "Freeway"):
        assert name in text
    page = Page(text)
    words = [str(attributes["aria-label"]) for tag, attributes in page.elements if tag == "svg"]
    assert words[0].startswith("HNS summaries. mine: mean ")
    assert any("mine: " in text and "above 100 %" in text for text in words)
    beside = (
        ("Probability of improvement. mine over", "Mean ranks. ")
        if several
        else ("mine minus yours, difference in HNS",)
    )
    assert all(any(text.startswith(start) for text in words) for start in beside)
    assert len(words) == 2 * (4 if several else 3)
    ids = [value for _, value in page.having("id")]
    assert len(ids) == len(set(ids))


def test_each_algorithms_own_summary_stands_before_differences(pair, three):
    for found, after in ((pair, "Differences of the summaries"), (three, "Each against each")):
        text = in_one_line(printed(found))
        assert text.index(" Summaries ") < text.index(after)
        assert "lower is" in text
    assert "0 better, 0 worse" in in_one_line(printed(three))


def test_conclusions_under_other_choices_are_marks():
    scores = {
        "a": {"pong": [20.0], "qbert": [9000.0], "boxing": [10.0]},
        "b": {"pong": [21.0], "qbert": [20.0], "boxing": [9.0]},
    }
    found = compare_tables(table(scores))
    rows = {title: {name: ranking.inversions for name, ranking in row.items()} for title, row in found.sensitivity.rows}
    text = printed(found).partition("Does the conclusion hold under other choices?")[2]
    for title, row in rows.items():
        line = next(line for line in text.splitlines() if line.startswith(f"{title}  "))
        marks = line.removeprefix(title).split()
        assert len(marks) == 4
        for mark, inversions in zip(marks, row.values(), strict=True):
            assert mark in (("✗",) if inversions else ("✓", "="))
    assert "✗" in text
    for title in rows:  # each metric is defined below the table
        assert f" {title}: " in f" {in_one_line(text)}"
    above = {"pong": [20.0], "qbert": [90_000.0], "boxing": [90.0]}
    tied = printed(compare_tables(table({"a": above, "b": above | {"pong": [21.0]}})))
    line = next(line for line in tied.partition("other choices?")[2].splitlines() if line.startswith("capped HNS  "))
    assert line.split()[2:] == ["=", "=", "=", "="]


def test_games_without_a_test_are_folded_on_the_page():
    scores = {"a": {"pong": [1.0, 2.0, 3.0], "qbert": [5.0]}, "b": {"pong": [7.0, 8.0, 8.5], "qbert": [6.0]}}
    text = page_of(compare_tables(table(scores)))
    assert "<details><summary>1 game without a test</summary>" in text
    folded = text.partition("1 game without a test</summary>")[2].partition("</details>")[0]
    assert "Q*bert" in folded
    assert "Pong" not in folded
    several = page_of(compare_tables(table({**scores, "c": {"pong": [7.0], "qbert": [6.0]}})))
    titles = re.findall(r"<summary>(.*?)</summary>", several)
    of_pairs = ["Games: a minus b", "1 game without a test: a minus b"]
    of_pairs += [f"2 games without a test: {name} minus c" for name in "ab"]
    assert [title for title in titles if " minus " in title] == of_pairs


def test_every_row_of_a_latex_table_has_its_columns(pair, three):
    text = "".join(latex.render(presenter.document(each), everything=True) for each in (pair, three))
    found = re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, flags=re.DOTALL)
    assert len(found) >= 8
    for columns, body in found:
        rows = [line for line in body.splitlines() if line.rstrip().endswith(r"\\")]
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(columns)}


@pytest.mark.parametrize(
    ("games", "runs", "suite"),
    [(("pong",), 1, "atari-57"), (SEVEN, 3, "atari-57"), (tasks.suite("ale-55").tasks, 3, "ale-55")],
)
def test_the_document_fits_its_schema(games, runs, suite):
    found = compare_tables(made_up_table(games=games, runs=runs), suite=suite, resamples=50, frames=1_000_000)
    assert problems(values(found), CONTRACT, CONTRACT) == []


def test_two_that_share_only_a_game_without_references_are_compared_on_it():
    scores = {"A": {"adventure": [-1.0, 0.0]}, "B": {"adventure": [0.0, 1.0]}}
    found = compare_tables([scores])
    assert found.summaries == ()
    text = printed(found)
    assert "Its score is higher in 0 and lower in 1 of 1 game" in text
    assert "Differences of the summaries" not in text
