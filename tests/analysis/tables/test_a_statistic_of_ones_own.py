"""A statistic that somebody registers is in the terminal, the page, JSON, LaTeX, Markdown and comparisons."""

import numpy as np
import pytest
from scipy import stats

import arcademark
from arcademark.analysis.measures import Measure
from arcademark.analysis.uncertainty import Bootstrap
from arcademark.errors import ArcadeMarkError
from arcademark.metrics import aggregate
from arcademark.metrics.aggregate import Aggregate
from arcademark.metrics.normalise import Metric

NAMES = "pong breakout qbert seaquest amidar alien assault asterix bowling boxing gopher"
GAMES = NAMES.split()
TRIMMED = Aggregate("trimmed_mean", "10 % trimmed mean", "the mean without a tenth at each end", "runs", trim=0.1)


@pytest.fixture(autouse=True)
def registered():
    aggregate.register(TRIMMED)
    yield
    del aggregate.AGGREGATES[TRIMMED.name]


def scores(seed):
    rng = np.random.default_rng(seed)
    return {game: (rng.gamma(2, 300, 3)).tolist() for game in GAMES}


@pytest.mark.slow
def test_it_is_everywhere_with_its_interval_and_that_this_was_not_simulated_is_said():
    report = arcademark.report({"mine": scores(0)})
    found = report.algorithms[0].summaries[0].statistics["trimmed_mean"]
    assert found.low < found.value < found.high
    compared = arcademark.compare({"mine": scores(0), "theirs": scores(1)})
    forms = (str(report), report.to_html(), report.to_latex(), report.to_markdown(), str(compared), compared.to_html())
    for shown in forms:
        assert "trimmed" in shown
    assert report.to_json()["algorithms"][0]["summaries"][0]["statistics"]["trimmed_mean"]["value"] == found.value
    assert "trimmed_mean" in {item["statistic"] for item in compared.to_json()["pairs"][0]["summaries"]}
    (unknown,) = (notice.text for notice in report.notices if notice.kind == "not_simulated")
    assert "10 % trimmed mean of HNS and HWRNS" in unknown
    assert "optimality gap of HNS" not in unknown


def test_its_value_and_interval_are_those_of_the_definition():
    rng = np.random.default_rng(3)
    table = 100 * rng.lognormal(0, 0.5, (11, 4))
    measure = Measure(Metric("line", "line", ""), dict.fromkeys(GAMES, 0.0), dict.fromkeys(GAMES, 100.0))
    runs = dict(zip(GAMES, table, strict=True))
    (found,) = Bootstrap.choose(0, 20_000, "percentile").summaries("mine", [measure], runs)
    drawn = np.take_along_axis(table[np.newaxis], rng.integers(4, size=(20_000, *table.shape)), axis=2)
    low, high = np.quantile(stats.trim_mean(drawn.reshape(20_000, -1), 0.1, axis=1), [0.025, 0.975])
    mine = found["trimmed_mean"]
    assert mine.value == pytest.approx(stats.trim_mean(table, 0.1, axis=None))
    assert (mine.low, mine.high) == pytest.approx((low, high), abs=0.06 * (high - low))


@pytest.mark.parametrize(
    "other",
    [
        Aggregate("trimmed_mean", "another", "", "tasks", trim=0.2),
        Aggregate("another", "10 % trimmed mean", "", "tasks", trim=0.2),
        Aggregate("not a name", "another", "", "tasks", trim=0.2),
        Aggregate("another", "another", "", "tasks", trim=0.6),
    ],
)
def test_a_second_of_its_name_or_one_that_is_none_is_refused(other):
    with pytest.raises(ArcadeMarkError, match="statistic "):
        aggregate.register(other)
