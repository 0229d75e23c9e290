import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import arcademark
from arcademark import wording
from arcademark.analysis.notices import KINDS
from arcademark.analysis.runs import learning
from arcademark.analysis.scoring.analysis import analyse
from arcademark.analysis.scoring.report import ScoreReport
from arcademark.pages.figures import scores as figures
from arcademark.pages.figures.files import as_svg, draw
from arcademark.pages.figures.style import PALETTE, signed_log
from arcademark.pages.render import json
from arcademark.records.model import EpisodeRecord
from arcademark.suite import tasks
from arcademark.suite.protocols import protocol
from html_page import Page
from json_schema import problems
from made_up import ATARI_5, OWN_AGENT, analysed, collected, in_columns, made_up_run, made_up_scores, trained
from made_up_tables import made_up_table
from shown import page as rendered
from shown import printed, values
from shown import text_of as told

EVIL = '<script>alert("x")</script>&<b>'


@pytest.fixture(scope="module")
def page(report_two):
    return rendered(report_two)


def test_golden_page(page, golden):
    body = page[page.index("<body>") : page.index("<script>")]
    bare = re.sub(r"<svg.*?</svg>", "<svg></svg>", body, flags=re.DOTALL)
    golden("page.html", bare.replace(f"ArcadeMark {arcademark.__version__}", "ArcadeMark VERSION"))


def test_the_page_is_well_formed_and_requests_nothing(page):
    parsed = Page(page)
    assert parsed.having("src") == []
    assert {tag for tag, _ in parsed.having("href")} == {"a"}  # citations
    assert all(target.startswith("#") for _, target in parsed.having("xlink:href"))
    assert not [tag for tag, _ in parsed.elements if tag in {"link", "iframe", "img", "object", "embed"}]
    assert "@import" not in page
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page))
    policy = next(attrs["content"] for tag, attrs in parsed.elements if attrs.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_ids_are_unique_and_labels_point_at_them(page):
    parsed = Page(page)
    ids = [value for _, value in parsed.having("id")]
    assert len(ids) == len(set(ids))
    assert {value for _, value in parsed.having("aria-labelledby")} <= set(ids)
    assert {value[1:] for _, value in parsed.having("xlink:href")} <= set(ids)


def test_figures_are_said_in_words(page):
    figures = [attrs for tag, attrs in Page(page).elements if tag == "svg"]
    assert [attrs["class"] for attrs in figures] == ["wide", "narrow"] * 4
    assert all(attrs["role"] == "img" for attrs in figures)
    assert "Battle Zone, random: −0.89" in str(figures[0]["aria-label"])


def test_everything_from_users_is_escaped():
    run = made_up_run(f"runs/{EVIL}", (EVIL,), failed=[(EVIL, "qbert", 0)])
    run.manifest["command"] = f"arcademark run {EVIL}"
    run.manifest["machine"] = {"processor": EVIL}
    other = made_up_run("runs/other", ("random",))
    page = rendered(analysed(run, other))
    parsed = Page(page)
    assert [tag for tag, _ in parsed.elements].count("script") == 1
    assert "alert(&#34;x&#34;)" in page
    assert 'alert("x")' not in re.sub(r"<text[^>]*>[^<]*</text>", "", page)  # where quotes stand for themselves
    assert '<script>alert("x")' not in page
    assert "b" not in {tag for tag, _ in parsed.elements}


@pytest.mark.parametrize("width", [80, 120])
def test_golden_terminal(report_one, report_two, width, golden):
    text = printed(report_one, width) + "\n" + printed(report_two, width, everything=True)
    assert max(map(len, text.splitlines())) <= width
    golden(f"terminal_{width}.txt", text)


def test_piped_output_has_no_escape_codes(report_two):
    assert "\x1b" not in printed(report_two, 80)
    assert "\x1b[" in printed(report_two, 80, colour=True)


def test_agents_of_one_name_keep_their_runs_beside_them():
    text = printed(analysed(made_up_run("runs/a"), made_up_run("runs/b")), 120)
    assert sum("random [b]" in line for line in text.splitlines()) >= len(ATARI_5)


# Reports as JSON against their schema, and what docs/json.md says of them


SCHEMA = json.schema(ScoreReport)
PAGE = (Path(__file__).parents[3] / "docs" / "json.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "report",
    [
        *(
            lambda games=games, played=played: analyse(collected(made_up_run(games=games, episodes=4, played=played)))
            for games, played in ((ATARI_5, 0), (("pong",), 1), (("toy",), 4))
        ),
        *(
            lambda games=games, runs=runs, suite=suite: analyse(
                made_up_table(games=games, runs=runs), suite=suite, resamples=50, frames=1_000_000
            )
            for games, runs, suite in (
                (("pong",), 1, "atari-57"),
                (("carnival", "pong"), 3, "atari-57"),
                (tasks.suite("ale-55").tasks, 3, "ale-55"),
            )
        ),
    ],
)
def test_reports_fit_the_schema(report):
    assert problems(values(report()), SCHEMA, SCHEMA) == []


def test_a_full_report_fits_the_schema_and_keeps_its_numbers(report_two):
    document = values(report_two)
    assert problems(document, SCHEMA, SCHEMA) == []
    assert document["schema"] == SCHEMA["properties"]["schema"]["const"] == ScoreReport.SCHEMA
    assert document["algorithms"][0]["estimate"]["value"] == report_two.algorithms[0].estimate.value
    assert document["runs"][0]["versions"]["ale-py"] == "0.12.1"
    assert document["runs"][0]["trials"][0]["status"] == "done"
    screen = next(item for item in document["runs"][0]["protocol"]["settings"] if item["field"] == "screen_size")
    assert screen["value"] == [84, 84]


def test_every_kind_of_notice_is_described():
    described = re.findall(r"^\| `(\w+)` \| (warning|note) \|", PAGE, flags=re.MULTILINE)
    assert dict(described) == dict(KINDS)


def drawn(made, report):
    ((model, _),) = made(report)
    return as_svg(draw(model), made.__name__)


def test_a_longer_bar_is_a_better_score(report_one):
    svg = drawn(figures.standing, report_one)
    shade = PALETTE["series-1"]
    widths = []
    for path in re.findall(rf'<path d="([^"]*)"[^>]*style="fill: {shade}"', svg):
        xs = [float(x) for x in re.findall(r"[ML] ([-\d.]+)", path)]
        widths.append(max(xs) - min(xs))
    scores = [abs(float(signed_log(score.normalised["hns"].value or 0.0))) for score in report_one.algorithms[0].scores]
    assert len(widths) == len(scores) == 5
    assert np.corrcoef(widths, scores)[0, 1] == pytest.approx(1, abs=1e-3)


def test_drawing_leaves_matplotlibs_settings_alone(report_one):
    import matplotlib as mpl

    names = [name for name in mpl.rcParams if name.startswith(("svg.", "font.", "axes."))]
    before = {name: mpl.rcParams[name] for name in names}
    drawn(figures.standing, report_one)
    assert {name: mpl.rcParams[name] for name in names} == before


def test_cut_episodes_are_hollow(report_one):
    svg = drawn(figures.distribution, report_one)
    paper, shade = PALETTE["paper"], PALETTE["series-1"]
    assert len(re.findall(rf"<use [^>]*fill: {paper}", svg)) == 4
    assert len(re.findall(rf"<use [^>]*fill: {shade}", svg)) == 96


def test_too_many_episodes_show_as_boxes(monkeypatch, report_one):
    monkeypatch.setattr(figures, "MAX_DOTS", 99)
    assert "<use" not in drawn(figures.distribution, report_one)


# Learning curves: what they are made of, how they are drawn, and budgets of training in words


ALE = protocol("ale-2013")


def hand_made(*trials, status="done"):
    """A run of a learner on Pong: for each seed (score, frames) of its training episodes."""
    record = made_up_run(games=("pong",), seeds=tuple(range(len(trials))), using=ALE, episodes=2, learns=True)
    rows = list(record.episodes)
    for trial, played in zip(record.trials, trials, strict=True):
        for number, (score, frames) in enumerate(played):
            rows.append(EpisodeRecord(trial.id, "training", number, score, frames, frames, "terminated", 1.0))
    known = [dataclasses.replace(trial, training_episodes=20, status=status) for trial in record.trials]
    return collected(dataclasses.replace(record, trials=tuple(known), episodes=in_columns(known, rows)))


def test_a_curve_is_the_mean_of_consecutive_episodes_where_the_last_of_them_ended():
    first = [(float(number), 10) for number in range(20)]  # a tenth of 20: windows of 2
    second = [(2.0 * number, 30) for number in range(20)]
    (curve,) = analyse(hand_made(first, second)).learning
    assert (curve.game, curve.algorithm, curve.window) == ("pong", "random", 2)
    assert curve.seeds[0].end_frames == tuple(range(20, 201, 10))
    assert curve.seeds[0].scores == pytest.approx([number + 0.5 for number in range(19)])
    assert (curve.first, curve.last) == pytest.approx(((0.5 + 1) / 2, (18.5 + 37) / 2))
    assert (curve.episodes, curve.frames, curve.finished) == (40, 800, True)
    together = curve.mean(3)  # where both are: from frame 60 to frame 200
    across, up = together.frames, together.mean
    assert across == pytest.approx([60, 130, 200])
    second_there = np.interp(across, curve.seeds[1].end_frames, curve.seeds[1].scores)
    assert second_there == pytest.approx([1.0, 1 + 2 * 70 / 30, 1 + 2 * 140 / 30])
    assert up == pytest.approx([(4.5 + 1) / 2, (11.5 + second_there[1]) / 2, (18.5 + second_there[2]) / 2])


def test_the_training_score_is_of_the_last_episodes_and_evaluation_apart():
    """Where the protocol evaluates, the last 100 of training are averaged, or all there are."""
    first, second = [(float(number), 10) for number in range(150)], [(6.0, 30)] * 20
    report = analyse(hand_made(first, second))
    (curve,) = report.learning
    assert (curve.k, [seed.averaged for seed in curve.seeds]) == (100, [100, 20])
    assert [seed.training_score for seed in curve.seeds] == [99.5, 6]
    assert curve.training_score == pytest.approx((99.5 + 6) / 2)
    evaluated = [np.mean(scores) for scores in (made_up_scores("random", "pong", seed, 2) for seed in (0, 1))]
    assert [seed.evaluation for seed in curve.seeds] == evaluated
    assert curve.evaluation == report.algorithms[0].scores[0].score.value == pytest.approx(np.mean(evaluated))
    assert report.algorithms[0].efficiency.training_frames == (150 * 10 + 20 * 30) // 2  # those it used, on average
    assert "training is counted in episodes, these are the frames it used" in told(report, "efficiency")


def test_training_scores_have_an_interval_over_seeds_which_one_seed_has_not():
    first, second, third = [(2.0, 10)] * 20, [(6.0, 30)] * 20, [(7.0, 20)] * 20
    (curve,) = analyse(hand_made(first, second, third)).learning
    half = 4.302653 * np.std([2, 6, 7], ddof=1) / np.sqrt(3)  # Student's t, two degrees of freedom
    assert (curve.training_low, curve.training_high) == pytest.approx((5 - half, 5 + half))
    shown = " ".join(printed(analyse(hand_made(first, second, third)), 120, everything=True).split())
    assert "−1.57 … 11.57" in shown
    assert "; below it, its 95 % interval over seeds. Evaluation:" in shown
    alone = analyse(hand_made(first))
    (curve,) = alone.learning
    assert (curve.training_score, curve.training_low, curve.training_high) == (2, None, None)
    assert "; one seed has no interval. Evaluation:" in " ".join(printed(alone, 120, everything=True).split())


def test_snapshots_show_how_much_a_score_depends_on_when_training_ended():
    def noted(*early):
        (run,) = hand_made([(2.0, 10)] * 20, [(6.0, 30)] * 20).runs
        agent = run.record.manifest["agents"][0] | {"snapshots": dict(early)}
        return analyse(collected(dataclasses.replace(run.record, manifest=run.record.manifest | {"agents": [agent]})))

    early = [[0.8, 1.0, 2], [0.9, 4.0, 2]]
    report = noted(("pong 0", early), ("pong 1", early))
    (curve,) = report.learning
    last = [np.mean(made_up_scores("random", "pong", seed, 2)) for seed in (0, 1)]
    assert [seed.snapshots for seed in curve.seeds] == [(1, 4, score) for score in last]
    scores = np.array([seed.snapshots for seed in curve.seeds])
    mean, deviation = curve.snapshots
    assert (mean, deviation) == pytest.approx((scores.mean(), np.sqrt(scores.var(axis=1, ddof=1).mean())))
    shown = " ".join(printed(report, 120, everything=True).split())
    assert f"{wording.score(mean)} ± {deviation:.1f}" in shown
    assert "in the same 2 episodes; deviations are within seeds." in shown
    for missing in (noted(("pong 0", early)), noted(*((f"pong {seed}", [[0.8, 1.0, 5]]) for seed in (0, 1)))):
        assert missing.learning[0].snapshots is None
        assert "in the same" not in " ".join(printed(missing, 120, everything=True).split())


def test_where_the_protocol_reports_training_its_score_is_the_score():
    record = trained(made_up_run(games=("pong",), played=0, episodes=10), (30,))
    record = dataclasses.replace(
        record, trials=tuple(dataclasses.replace(trial, status="done") for trial in record.trials)
    )
    report = analysed(record)
    (curve,) = report.learning
    assert (curve.k, curve.evaluation) == (10, None)
    assert curve.training_score == pytest.approx(report.algorithms[0].scores[0].score.value)
    last = [np.mean(record.training(trial).score[-10:]) for trial in record.trials]
    assert curve.training_score == pytest.approx(np.mean(last))


def test_a_trial_in_training_has_its_curve_so_far():
    report = analyse(hand_made([(1.0, 10)] * 20, [(3.0, 10)] * 7, status="running"))
    (curve,) = report.learning
    assert [seed.finished for seed in curve.seeds] == [True, False]
    assert not curve.finished
    assert "random is being trained for 20 episodes" in told(report, "training_budget")
    assert [seed.episodes for seed in curve.seeds] == [20, 7]
    (alone,) = analyse(hand_made([], [(3.0, 10)])).learning
    assert [(seed.seed, seed.end_frames, seed.scores) for seed in alone.seeds] == [(1, (10,), (3.0,))]
    assert analyse(hand_made([], [])).learning == ()


def test_seeds_that_share_no_stretch_have_no_mean():
    (curve,) = analyse(hand_made([(1.0, 10)] * 5, [(1.0, 1000)])).learning
    together = curve.mean()
    assert together.frames.size == together.mean.size == 0
    assert together.low is None
    ((figure, _),) = figures.learning(analyse(hand_made([(1.0, 10)] * 5, [(1.0, 1000)])))
    assert as_svg(draw(figure), "learning").startswith("<svg")


def test_every_training_episode_is_a_line_of_the_csv_and_none_a_formula(monkeypatch):
    collection = hand_made([(1.5, 10), (2.5, 20)], [(4.0, 5)])
    assert learning.as_csv(collection).splitlines()[1:] == [
        *("random,pong,0,0,10,10,1.5", "random,pong,0,1,20,30,2.5", "random,pong,1,0,5,5,4.0")
    ]
    monkeypatch.setattr(learning, "episodes", lambda _: [("=cmd|' /C calc'!A0", "pong", 0, 0, 10, 10, -3.5)])
    assert learning.as_csv(collection).splitlines()[1].startswith("'=cmd|")


@pytest.fixture(scope="module")
def report():
    mine = trained(made_up_run("runs/mine", (OWN_AGENT,), using=ALE, seeds=(0, 1, 2)), (80, 60), budget=80)
    other = trained(made_up_run("runs/other", games=ATARI_5[:4], using=ALE, seeds=(0,)), (50,))
    return analysed(mine, other)


def test_the_page_draws_a_panel_a_game(report, page):
    names = ("Battle Zone", "Double Dunk", "Name This Game", "Phoenix", "Q*bert")
    panels = [(as_svg(draw(figure), "learning"), words) for figure, words in figures.learning(report)]
    first, words = next(iter(figures.learning(report)))
    assert (as_svg(draw(first), "learning"), words) == panels[0]
    for (svg, words), name in zip(panels, names, strict=True):
        assert svg.count(f">{name}<") == svg.count(">training frames<") == svg.count(">random<") == 1
        assert OWN_AGENT not in svg  # the page has a legend
        assert words.startswith(f"Scores of training episodes of {name}. ")
    trained_page = rendered(report)
    assert '<h2 id="training">Training</h2>' in trained_page
    assert "the mean of 5 and 8 consecutive episodes" in trained_page
    assert trained_page.count(" …</td>") == 5
    assert '<h2 id="training">' not in page  # of runs without any


@pytest.mark.parametrize("width", [80, 140])
def test_the_terminal_has_a_line_a_curve(report, width):
    shown = printed(report, width, everything=True).partition("\nTraining\n")[2].partition("\nHard")[0]
    lines = shown.splitlines()
    assert max(map(len, lines)) <= width
    assert sum("▁" in line for line in lines) == 9
    going = [line for line in lines if re.search("[▁-█] …$", line)]
    assert len(going) == 5  # of the learner whose second seed goes on
    assert all("my_agent.py" in line for line in going)
    curve = report.learning[0]
    assert f"{curve.episodes}   {curve.frames:,}" in shown
    assert (
        "of the first 5 or 8 episodes of training. Last, the training score: of the last 100 episodes of"
        in " ".join(shown.split())
    )


@pytest.mark.parametrize(
    ("rules", "seeds", "budget", "notice", "methods"),
    [
        (ALE, range(30), 5000, "", "was trained on each game for 5,000 episodes. The scored"),
        (
            ALE,
            range(1),
            50,
            "random was trained for 50 episodes; ale-2013 gives 5,000 episodes.",
            "for 50 episodes. ale-2013 gives 5,000 episodes.",
        ),
        (
            ALE.override({"training_episodes": 9}),
            range(30),
            9,
            "random was trained for 9 episodes; ale-2013 gives 5,000 episodes.",
            "was trained on each game for 9 episodes.",
        ),
    ],
)
def test_a_budget_is_told_where_it_is_not_the_protocols(rules, seeds, budget, notice, methods):
    report = analysed(trained(made_up_run(using=rules, seeds=seeds), (min(budget, 50),), budget=budget))
    assert (report.algorithms[0].training_episodes, report.algorithms[0].learns) == (budget, True)
    assert told(report, "training_budget") == notice
    assert told(report, "fewer_trials") == (
        "" if len(seeds) == 30 else "random: 1 trial per game; ale-2013 averages 30."
    )
    assert methods in report.methods[0]


@pytest.mark.parametrize(("lower", "episodes", "there"), [(900.0, 40, True), (0.0, 40, False), (900.0, 10, False)])
def test_frozen_weights_that_score_less_than_training_did_are_told(lower, episodes, there):
    record = made_up_run(games=("pong",), seeds=(0,), using=ALE, episodes=episodes, learns=True)
    evaluated = [row.score for row in record.episodes]
    rows = [
        EpisodeRecord(record.trials[0].id, "training", number, score + lower, 9, 9, "terminated", 1.0)
        for number, score in enumerate([1000.0] * 7 + evaluated * 3)
    ]
    record = dataclasses.replace(record, episodes=in_columns(record.trials, [*record.episodes, *rows]))
    text = told(analyse(collected(record)), "frozen")
    if there:
        trained = np.mean((evaluated * 3)[-100:]) + lower
        cell = f"Pong with seed 0 ({wording.score(np.mean(evaluated))} after {wording.score(trained)})"
        assert text == f"random scores less with frozen weights than in the last 100 training episodes: {cell}."
    else:
        assert text == ""


# What planners simulated is told, and counted where the protocol counts it


def planned(rules="ale-2013", simulated_frames=1_000_000):
    """A run of a made-up planner: 4 episodes per game of 2,250 decisions and 9,000 frames each."""
    run = made_up_run("runs/uct", ("uct",), ("pong", "seaquest"), seeds=(0,), episodes=4, using=protocol(rules))
    return dataclasses.replace(
        run,
        trials=tuple(dataclasses.replace(trial, plans=True) for trial in run.trials),
        episodes=dataclasses.replace(run.episodes, simulated_frames=np.full(len(run.episodes), simulated_frames)),
    )


def test_decisions_and_simulated_frames_are_shown():
    report = analysed(planned(), made_up_run("runs/random", ("random",), ("pong", "seaquest")))
    costs = [score.played.planning for score in report.algorithms[0].scores]
    assert [(cost.decisions, cost.simulated_frames) for cost in costs if cost] == [(9_000, 4_000_000)] * 2
    assert [cost.frames_per_decision for cost in costs if cost] == [pytest.approx(4000 / 9)] * 2
    assert [score.played.planning for score in report.algorithms[1].scores] == [None, None]
    shown = printed(report, 100)
    assert "Planning on the emulator" in shown
    (row,) = [line.split() for line in shown.splitlines() if line.startswith("Pong") and "4,000,000" in line]
    assert row == ["Pong", "uct", "9,000", "4,000,000", "444"]
    page = rendered(report)
    assert page.count("4,000,000") >= 2
    assert "8,000,000 simulated" in page


@pytest.mark.parametrize(("rules", "counted"), [("ale-2013", 72_000), ("go-explore", 8_072_000)])
def test_what_counts_is_what_the_protocol_counts(rules, counted):
    report = analysed(planned(rules))
    (run,) = report.runs
    assert (run.frames, run.simulated_frames, run.counted_frames) == (72_000, 8_000_000, counted)
    words = " ".join(printed(report, 100).split())
    assert "uct: 72,000 frames played and 8,000,000 simulated to choose the actions" in words
    assert f": {counted:,}." in words
    (methods, *_) = report.methods
    assert "444 frames per decision on average, 8,000,000 in all" in methods
    assert ("do not count" in methods) is (counted == 72_000)


@pytest.mark.parametrize(("rules", "wanted"), [("ale-2013", 10), ("go-explore", 50)])
def test_planners_are_held_to_their_own_number_of_episodes(rules, wanted):
    (notice,) = [notice for notice in analysed(planned(rules)).notices if notice.kind == "fewer_episodes"]
    assert notice.text == f"uct: 4 episodes per seed; the protocol averages {wanted}."


def test_a_planner_that_has_not_played_yet():
    run = planned()
    empty = dataclasses.replace(
        run,
        episodes=run.episodes[:0],
        trials=tuple(dataclasses.replace(trial, status="pending") for trial in run.trials),
    )
    report = analysed(empty)
    assert [score.played.planning for score in report.algorithms[0].scores] == [None, None]
    assert "Planning on" not in printed(report, 100)
