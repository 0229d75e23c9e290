"""What scores come to, in a sentence: by intervals, and by published medians of as many frames."""

import pytest

from arcademark.analysis.estimates import Estimate
from arcademark.analysis.scoring.analysis import analyse
from arcademark.catalogue import collections
from arcademark.pages import presenter
from arcademark.pages.columns import Column, item
from shown import printed

RANDOM = {"breakout": [1.2, 1.9, 1.5], "pong": [-20.7, -20.6, -20.9], "qbert": [150, 160, 170]}
GOOD = {"breakout": [300, 310, 305], "pong": [19, 20, 21], "qbert": [600, 650, 625]}
CASES = (
    (RANDOM, "Indistinguishable from random play."),
    (GOOD, "Above random play on all 3 games, above the human average on 2."),
    ({**RANDOM, "pong": [19, 20, 21]}, "Above random play on 1 of 3 games, above the human average on 1."),
    ({"pong": [19, 20, 21]}, "Above the human average."),
    ({"qbert": [600, 650, 625]}, "Above random play and below the human average."),
    ({"breakout": [0, 400, 2], "pong": [-21, 21, -3]}, "intervals reach from random play to the human average"),
    ({"skiing": [-30000, -29990, -29980]}, "Worse than random play."),
    (
        {game: scores[:2] for game, scores in GOOD.items()},
        "too few runs for an interval (three per game are needed)",
    ),
    ({game: scores[0] for game, scores in GOOD.items()}, "on 2, from single scores without intervals."),
)


@pytest.mark.parametrize(("scores", "sentence"), CASES, ids=[sentence for _, sentence in CASES])
def test_intervals_decide_what_is_said(scores, sentence):
    report = analyse({"mine": scores}, model=None)
    ((said, basis),) = report.verdicts
    assert sentence in said
    assert basis == ""
    assert said in " ".join(printed(report).split())


def test_random_players_of_other_protocols_are_random_play_too():
    (entry,) = [entry for entry in collections.entries("ale-2013") if entry.algorithm == "Random"]
    results = collections.scores_of(entry).values()
    scores = {result.task: [result.score + by for by in (-1, 0, 1)] for result in results}
    report = analyse({"old": scores}, model=None)
    assert [said for said, _ in report.verdicts] == ["Indistinguishable from random play."]
    assert report.algorithms[0].verdict.above_random == 0


def test_a_place_is_between_medians_outside_the_interval_and_says_whose_protocol_it_was():
    (entry,) = [entry for entry in collections.entries("dopamine-2018") if entry.algorithm == "C51 (Dopamine)"]
    scores = {game: [0.9 * score for score in result.per_run] for game, result in collections.scores_of(entry).items()}
    report = analyse({"mine": scores}, model=None, frames=200_000_000, protocol="machado-2018")
    place, median = report.algorithms[0].verdict.place, report.algorithms[0].summaries[0].median
    assert place.below[0].median_hns < median.low < median.high < place.above[0].median_hns
    assert all(median.low <= peer.median_hns <= median.high for peer in place.level)
    ((said, basis),) = report.verdicts
    assert said.startswith(f"Between {place.below[0].name} and {place.above[0].name} at equal frames")
    assert "Other protocols: " in basis
    wide = {game: [0.0, scores[game][0], 5 * scores[game][1]] for game in ("breakout", "pong", "qbert")}
    assert analyse({"mine": wide}, model=None, frames=200_000_000).algorithms[0].verdict.place is None
    assert analyse({"mine": scores}, model=None).algorithms[0].verdict.place is None  # frames are not known


def test_an_estimate_too_wide_to_mean_anything_is_not_shown_but_what_would_help_is():
    ends = [(0.0, 19.0), (0.0, 19.1), (50.0, 1000.0), (50.0, 1020.0), (None, None)]
    estimates = [Estimate("any", "1 game", "atari-57", 30.0, low=low, high=high) for low, high in ends]
    assert [estimate.telling for estimate in estimates] == [True, False, True, False, False]
    report = analyse({"mine": {"freeway": [20.0, 21.0, 22.0]}})
    estimate, shown = report.algorithms[0].estimate, " ".join(printed(report, everything=True).split())
    assert estimate.high > 19  # JSON keeps it
    assert not estimate.telling
    assert "too uncertain" in shown
    assert "5 more games would help most: Battle Zone, " in shown
    assert "90 %" not in shown


def test_columns_that_are_empty_in_all_rows_are_left_out():
    columns = [Column(name, item(place)) for place, name in enumerate(("name", "seen", "empty", "some"))]
    table = presenter.tabulated([("a", 1, None, None), ("b", 2, "", 3)], columns)
    assert [column.heading for column in table.columns] == ["name", "seen", "some"]
    assert [[cell.text for cell in row] for row in table.rows] == [["a", "1", "–"], ["b", "2", "3"]]
