"""Figures of several algorithms: what they show, in every style and width."""

import io
import re

import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image
from scipy.stats import trim_mean

import arcademark
from arcademark.analysis.measures import atari
from arcademark.analysis.runs.learning import SampleEfficiency
from arcademark.analysis.scoring.analysis import analyse
from arcademark.analysis.scoring.compare import compare_tables
from arcademark.errors import ArcadeMarkError
from arcademark.pages.figures import comparisons, files
from arcademark.pages.figures.model import Guide, RowPanel, RowsFigure
from arcademark.pages.figures.style import NARROW, SERIES, Axis, FigureStyle
from arcademark.suite import references, tasks
from drawn import boxes, check_texts
from made_up import analysed, made_up_run, trained
from made_up_tables import SKILL, made_up_table, table

GAMES = ("asterix", "montezuma_revenge", "pong", "qbert", "skiing", "venture", "video_pinball", "yars_revenge")
LONG = "an algorithm with a name, of many words (frames 200M)"
STYLES = [FigureStyle(), FigureStyle("paper"), FigureStyle("paper", 3.3), FigureStyle("paper", 3.3, "sans")]


@pytest.fixture(scope="module")
def far():
    """Four algorithms whose scores are far apart, one with a long name."""
    random, human = references.scores("random"), references.scores("human")
    rng = np.random.default_rng(0)
    rows = {
        name: {game: list(random[game] + (human[game] - random[game]) * skill * rng.gamma(2, 0.5, 4)) for game in GAMES}
        for name, skill in {"a": 0.02, "b": 0.9, "c": 1.1, LONG: 400.0}.items()
    }
    return table(rows)


@pytest.fixture(scope="module")
def several(far):
    return compare_tables(far, resamples=200)


@pytest.fixture(scope="module")
def drawings(far, several):
    """Every figure of comparisons, and of a table's report."""
    pair = compare_tables(far, algorithms=("b", LONG), resamples=200)
    report = analyse(far, resamples=200)
    curves = tuple(
        SampleEfficiency(
            name, 3, 3, "hns", "HNS", (1e6, 1e8, 2e8), (1.0, top / 3, top), (None, 0.9, 1), (None, top, top)
        )
        for name, top in {"a": 50.0, LONG: 7000.0}.items()
    )
    return {
        "summaries": comparisons.summaries(several.summaries),
        "summaries of a report": comparisons.summaries(report.first_summaries),
        "differences": comparisons.differences(pair, pair.pairs[0]),
        "improvement": comparisons.improvement(several),
        "ranks": comparisons.ranks(several),
        "heat": comparisons.heat(report),
        "profiles": comparisons.profiles(several),
        "sample efficiency": comparisons.sample_efficiency(curves),
    }


NAMES = (
    *("summaries", "summaries of a report", "differences", "improvement"),
    *("ranks", "heat", "profiles", "sample efficiency"),
)


@pytest.mark.parametrize("name", NAMES)
def test_no_text_is_over_another_or_cut_off(name, drawings):
    assert set(drawings) == set(NAMES)
    for style in STYLES:
        assert len(check_texts(files.draw(drawings[name], style.width, style))) > 5


def test_names_of_what_panels_compare_with_stand_apart():
    """Where one panel's is at its right end, and the next one's at its left."""
    panels = [
        RowPanel(title, (low, low + 100.0), (), (), guides=(Guide(100.0, "human average", "muted"),))
        for title, low in (("Median", 0.0), ("IQM", 100.0), ("Mean", 80.0))
    ]
    made = files.draw(RowsFigure((("", ("an algorithm",)),), tuple(panels)), 400.0)
    first, second, third = (box for text, box in boxes(made) if text == "human average")
    assert second.x0 > first.x1 + 2
    assert third.x0 > second.x1 + 2


@pytest.mark.parametrize("name", NAMES)
def test_on_a_phone_all_is_shown(name, drawings):
    made = files.draw(drawings[name], NARROW)
    texts = boxes(made)
    assert min(box.x0 for _, box in texts) >= -1
    assert max(box.x1 for _, box in texts) <= made.bbox.width + 1


@pytest.mark.parametrize("inches", [3.3, 6.9, None])
def test_a_file_has_the_width_asked_for_and_is_white(inches, drawings):
    style = FigureStyle("paper", inches)
    pdf = files.file(drawings["ranks"], ".pdf", "a", style)
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", pdf)
    assert float(box[1]) / 72 == pytest.approx(inches or 6.9, abs=0.01)
    image = Image.open(io.BytesIO(files.file(drawings["ranks"], ".png", "a", style)))
    assert image.width == pytest.approx((inches or 6.9) * files.DOTS_PER_INCH, abs=2)
    assert image.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
    svg = files.file(drawings["ranks"], ".svg", "a", style).decode()
    assert ("STIXGeneral" in svg, "DejaVu Sans'" in svg) == (True, False)
    assert "DejaVu Sans'" in files.file(drawings["ranks"], ".svg", "a").decode()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("print",), "style 'print' of figures: expected screen or paper"),
        (("paper", 2.0), "2 inches wide: expected 2.75 to 20"),
        (("paper", float("nan")), "nan inches wide"),
        (("paper", None, "comic"), "font 'comic' of figures: expected sans or serif"),
    ],
)
def test_styles_that_there_are_not_are_refused(given, words):
    with pytest.raises(ArcadeMarkError, match=re.escape(words)):
        FigureStyle(*given)


def test_an_axis_is_logarithmic_where_one_value_is_far_from_the_others():
    assert not Axis.spanning([10.0, 40.0, 150.0]).log
    far = Axis.spanning([-2000.0, -5.0, 0.0, 10.0, 40.0, 9000.0])
    assert far.log
    assert [text for _, text in far.ticks(" %")] == [
        *("−1,000 %", "−100 %", "−10 %", "0 %", "10 %", "100 %", "1,000 %", "10,000 %"),
    ]
    assert far.place(99.0) == pytest.approx(2)
    assert far.place(-99.0) == pytest.approx(-2)


def test_every_algorithm_has_its_own_summary_with_an_interval(several):
    panel = comparisons.summaries(several.summaries)
    assert [one.title for one in panel.panels] == ["Median", "IQM", "Mean", "Optimality gap (lower is better)"]
    for one, statistic in zip(panel.panels, ("median", "iqm", "mean", "optimality_gap"), strict=True):
        whiskers = {mark.row: mark for mark in one.marks if mark.kind == "whisker"}
        dots = {mark.row: mark for mark in one.marks if mark.kind == "dot"}
        assert len(dots) == 4
        assert len(whiskers) >= 3
        place = Axis(0, 1, log="logarithmic" in one.unit).place
        for row, (_, summary) in enumerate(several.summaries):
            value = summary.statistics[statistic]
            assert dots[row].end == pytest.approx(place(value.value))
            assert (row in whiskers) == (value.low is not None)
            if row in whiskers:
                assert whiskers[row].start == pytest.approx(place(value.low))
                assert whiskers[row].start < dots[row].end < whiskers[row].end
    assert [one.guides[0].text if one.guides else "" for one in panel.panels] == [*["human average"] * 3, ""]
    found = compare_tables(made_up_table(("mine", "yours"), GAMES, runs=4))
    alone = analyse(made_up_table(("mine",), GAMES, runs=4)).algorithms[0].summaries[0]
    assert found.algorithms[0].summary.statistics["iqm"] == alone.statistics["iqm"]


def test_summaries_are_over_the_games_that_all_have():
    scores = {"a": {"pong": [1.0, 2], "qbert": [500.0, 600]}, "b": {"pong": [3.0, 4], "alien": [9.0, 8]}}
    found = compare_tables(table(scores), resamples=100)
    assert [side.summary.games for side in found.algorithms] == [1, 1]
    none = {"a": {"pong": [1.0]}, "b": {"pong": [1.0], "qbert": [5.0]}, "c": {"qbert": [7.0]}}
    assert [side.summary for side in compare_tables(table(none)).algorithms] == [None] * 3
    assert compare_tables(table(none)).ranks == ()


def test_differences_stand_in_order_with_their_verdicts():
    found = compare_tables(made_up_table(("theirs", "yours"), GAMES, spread=0.1))
    figure = comparisons.differences(found, found.pairs[0])
    shown = [text for _, _, text in figure.panels[0].numbers[0].texts]
    values = [float(text.replace("−", "-").replace(",", "")) for text in shown]
    assert values == sorted(values, reverse=True)
    assert len(values) == len(GAMES)
    verdicts = {found.game(game.game).name: game.verdict for game in found.pairs[0].games}
    named = dict(zip(figure.groups[0][1], (text for _, _, text in figure.panels[0].numbers[1].texts), strict=True))
    assert "better" in named.values()
    assert all(text in (verdicts[name], "–") for name, text in named.items())
    dark = [mark.row for mark in figure.panels[0].marks if mark.shade in SERIES]
    assert dark == [row for row, text in enumerate(named.values()) if text != "–"]


def test_ranks_of_single_runs_are_counted_by_game():
    scores = {"a": {"pong": [3.0], "qbert": [2.0]}, "b": {"pong": [1.0], "qbert": [2.0]}}
    found = compare_tables(table(scores | {"c": {"pong": [2.0], "qbert": [1.0]}}))
    shares = {row.algorithm: row.shares for row in found.ranks}
    assert shares == {"a": (0.75, 0.25, 0.0), "b": (0.25, 0.25, 0.5), "c": (0.0, 0.5, 0.5)}
    assert [row.mean for row in found.ranks] == [1.25, 2.25, 2.5]
    assert [text for text, _ in comparisons.ranks(found).cells[0]] == ["75 %", "25 %", "0 %", "1.25"]


def test_ranks_of_runs_that_overlap_are_shared(several):
    found = compare_tables(made_up_table(("mine", "yours", "theirs"), GAMES, runs=4))
    shares = np.array([row.shares for row in found.ranks])
    assert shares.sum(axis=0) == pytest.approx(1)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert 0 < shares[1, 1] < 1
    assert sorted(SKILL, key=SKILL.get, reverse=True) == [
        row.algorithm for row in sorted(found.ranks, key=lambda row: row.mean)
    ]


def test_a_heat_map_has_every_score_and_no_other():
    scores = {"a": {"pong": [20.0], "qbert": [5000.0]}, "b": {"pong": [-20.7]}}
    report = analyse(table(scores))
    grid = comparisons.heat(report)
    hns = {
        (item.name, score.game): score.normalised["hns"].value for item in report.algorithms for score in item.scores
    }
    for name, row in zip(("pong", "qbert"), grid.cells, strict=True):
        for column, (text, shade) in zip("ab", row, strict=True):
            value = hns.get((column, name))
            assert (text, shade) == ("", "") if value is None else text == f"{value:,.0f}".replace("-0", "0")
    assert grid.cells[0][0][1] == "heat-5"  # above 100 %
    assert grid.rows == tuple(tasks.game_name(game) for game in ("pong", "qbert"))
    assert len(grid.legend) == 8


def test_sample_efficiency_is_the_iqm_of_all_seeds_at_each_frame():
    games = ("pong", "qbert", "phoenix")
    records = [trained(made_up_run(f"runs/{name}", (name,), games, seeds=(0, 1, 2)), (40,) * 3) for name in "ab"]
    report = analysed(*records)
    measure = atari()["hns"]
    assert [curve.algorithm for curve in report.sample_efficiency] == ["a", "b"]
    for curve in report.sample_efficiency:
        own = [one for one in report.learning if one.algorithm == curve.algorithm]
        seeds = [(seed.end_frames, seed.scores, one.game) for one in own for seed in one.seeds]
        assert curve.frames[0] == max(frames[0] for frames, _, _ in seeds)
        assert curve.frames[-1] == min(frames[-1] for frames, _, _ in seeds)
        for place in (0, 17, len(curve.frames) - 1):
            at = curve.frames[place]
            scores = [measure.normalise(game, float(np.interp(at, x, y))) for x, y, game in seeds]
            assert curve.iqm[place] == pytest.approx(trim_mean(scores, 0.25))
            assert curve.low[place] < curve.iqm[place] < curve.high[place]
    other = trained(made_up_run("runs/c", ("c",), ("alien",)), (40,))
    assert analysed(*records, other).sample_efficiency == ()  # no game that all learnt on


@pytest.mark.slow
def test_every_figure_of_a_page_is_drawn_and_named(far, tmp_path):
    found = arcademark.compare(far, resamples=100)
    for name in ("summaries", "improvement", "ranks", "profiles"):
        found.plot(tmp_path / f"{name}.png", style="paper", width_inches=3.3, font="sans")
        with Image.open(tmp_path / f"{name}.png") as image:
            assert image.width == pytest.approx(660, abs=2)
    assert found.plot(figure="summaries").legends == found.plot(figure="improvement").legends == []  # rows have names
    assert len(found.plot(figure="profiles").legends) == 1
    texts = [text.get_text() for text in found.plot(tmp_path / "ranks.svg").findobj(Text)]
    assert "rank 4" in texts
    assert found.plot(style="paper").get_size_inches()[0] == pytest.approx(6.9)
    assert any(text.get_text() == "Median" for text in found.plot().findobj(Text))
    pair = arcademark.compare(far, "b", "c", resamples=100)
    assert any("b minus c" in text.get_text() for text in pair.plot(figure="differences").findobj(Text))
    assert any(
        text.get_text() == "HNS, %" for text in arcademark.report(far, resamples=100).plot(figure="heat").findobj(Text)
    )


@pytest.mark.parametrize("style", STYLES, ids=str)
def test_an_svg_names_fonts_for_readers_without_ours(drawings, style):
    svg = files.file(drawings["ranks"], ".svg", "ranks", style).decode()
    named = set(re.findall(r"font-family: ([^;\"]+)", svg))
    usual = "Times" if style.face == "serif" else "Verdana"
    assert len(named) == 1
    first, *others = [one.strip(" '") for one in named.pop().split(",")]
    assert first == style.families[0]
    assert usual in others
    assert others[-1] == ("serif" if style.face == "serif" else "sans-serif")


@pytest.mark.parametrize(("points", "top"), [(50, True), (10_000, False)])
def test_the_name_of_a_threshold_leaves_room_for_curves(points, top):
    """Profiles of strong algorithms pass the human average near 100 %, so its name is below them."""
    games = tasks.suite("atari-57").tasks[:8]
    random, human = references.scores("random"), references.scores("human")
    scores = {game: random[game] + (human[game] - random[game]) * points / 100 for game in games}
    rows = {
        name: {game: [share * score] for game, score in scores.items()} for name, share in {"a": 1, "b": 1.1}.items()
    }
    compared = compare_tables(table(rows), resamples=10)
    (axes,) = files.draw(comparisons.profiles(compared)).axes
    (name,) = [one for one in axes.texts if one.get_text() == "human average"]
    assert (name.xy[1] == 1) == top
