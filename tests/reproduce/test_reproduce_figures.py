import numpy as np
import pytest

from arcademark.catalogue.model import Location
from arcademark.metrics.distribution import score_distribution
from arcademark.reproduce.ale2013 import scores as data
from arcademark.reproduce.ale2013.figures import figure as ale2013_figure
from arcademark.reproduce.review import values as review_values
from arcademark.reproduce.review.figures import figure as review_figure


def panel(figure, title):
    (only,) = (panel for panel in figure.panels if panel.title.startswith(title))
    return only


@pytest.mark.parametrize(("number", "quantity"), [(1, "hns"), (2, "hwrns"), (3, "saber")])
def test_the_reviews_percentages_are_those_of_its_tables_recomputed(number, quantity):
    mean, median, _ = review_figure(number).panels
    for chart, row in ((mean, "mean"), (median, "median")):
        for name, value in zip(chart.labels, chart.series[0].values, strict=True):
            assert value == review_values.value(Location(3, row, name, quantity), review_values.ours())
    assert len(mean.labels) == 13
    assert "Random" not in mean.labels


def test_broken_records_their_time_and_their_cost():
    broken, years, rate = review_figure(4).panels
    assert dict(zip(broken.labels, broken.series[0].values, strict=True))["GDI-H3"] == 22
    assert dict(zip(years.labels, years.series[0].values, strict=True))["Agent57"] == pytest.approx(52.81, abs=0.01)
    rates = dict(zip(rate.labels, rate.series[0].values, strict=True))
    assert rates["GDI-H3"] == pytest.approx(22 / 0.2)
    assert "SimPLe" not in rates
    assert dict(zip(broken.labels, broken.series[0].values, strict=True))["SimPLe"] == 0


def test_figure_2_of_2013_leaves_out_what_has_no_range():
    figure = ale2013_figure(2)
    random, baseline, inter = (
        panel(figure, start)
        for start in ("a) Random-normalised scores, Random as", "b) Baseline scores, the three", "c)")
    )
    assert random.labels == ("Asteroids", "Freeway", "Venture")
    bass, ram = random.series
    assert (bass.name, ram.name) == ("BASS", "RAM")
    assert bass.values == (pytest.approx(800.3 / 1526.7), None, None)
    assert baseline.series[1].values == (
        pytest.approx((907.3 - 140) / (1526.7 - 140)),
        pytest.approx(19.1 / 22.5),
        None,
    )
    assert [series.values[2] for series in inter.series] == [1, 0]


def test_figure_3_of_2013_has_averages_and_medians():
    figure = ale2013_figure(3)
    for start, word in (("Average inter", np.mean), ("Median inter", np.median)):
        chart = panel(figure, start)
        assert chart.labels == data.LEARNERS
        assert chart.series[0].values == pytest.approx(word(data.inter_scores(), axis=1))
    average = dict(zip(data.LEARNERS, panel(figure, "Average baseline").series[0].values, strict=True))
    assert max(average, key=lambda name: average[name]) == "LSH"
    assert average["LSH"] == pytest.approx(33.83, abs=0.01)


def test_figure_4_of_2013_falls_from_all_games_to_none():
    figure = ale2013_figure(4)
    for chart, scores in (
        (figure.panels[0], data.baseline_scores()),
        (figure.panels[-1], data.inter_scores()),
    ):
        for series, row in zip(chart.series, scores, strict=True):
            assert series.values[0] == 1
            assert list(series.values) == sorted(series.values, reverse=True)
            for end, height in zip(series.ends, series.values, strict=True):
                assert height == score_distribution(row, [end], missing="omit")[0]
            between = [(a + b) / 2 for a, b in zip(series.ends, series.ends[1:], strict=False)]
            assert score_distribution(row, between, missing="omit") == pytest.approx(series.values[1:])
