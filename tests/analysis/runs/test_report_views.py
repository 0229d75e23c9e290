"""The analysis against values worked out by hand, and every notice with what sets it off."""

import dataclasses
import math
from pathlib import Path

import pytest

from arcademark.analysis.scoring.analysis import analyse
from arcademark.analysis.subsets.predicting import predicted
from arcademark.analysis.subsets.predictors import atari
from arcademark.suite import subsets, tasks
from arcademark.suite.protocols import protocol
from made_up import ATARI_5, OWN_AGENT, analysed, collected, made_up_run
from shown import page, printed, text_of, values


def constant(values):
    """Every episode on a game gives the same score."""
    return lambda agent, game, seed, episodes: [values.get(game, 100.0)] * episodes


def kinds(report):
    return {notice.kind for notice in report.notices}


# Chosen so that each HNS is a round number: random + share × (human − random), by Table 12 of the Atari-5 paper.
ROUND = {
    "battle_zone": 2360.0 + 0.5 * (37187.5 - 2360.0),
    "double_dunk": -18.55 + 2.0 * (-16.4 + 18.55),
    "name_this_game": 2292.35 + 1.0 * (8049.0 - 2292.35),
    "phoenix": 761.4 - 0.1 * (7242.6 - 761.4),
    "qbert": 163.88 + 0.2 * (13455.0 - 163.88),
}
ROUND_HNS = {"battle_zone": 50.0, "double_dunk": 200.0, "name_this_game": 100.0, "phoenix": -10.0, "qbert": 20.0}


@pytest.fixture(scope="module")
def round_numbers():
    return analysed(made_up_run(scores=constant(ROUND))).algorithms[0]


def test_scores_and_summaries_by_hand(round_numbers):
    by_game = {score.game: score for score in round_numbers.scores}
    assert {game: score.normalised["hns"].value for game, score in by_game.items()} == pytest.approx(ROUND_HNS)
    assert {game: score.score.value for game, score in by_game.items()} == pytest.approx(ROUND)
    assert by_game["battle_zone"].normalised["hwrns"].value == pytest.approx(
        100 * (ROUND["battle_zone"] - 2360) / (801000 - 2360), rel=1e-3
    )
    assert len(by_game["qbert"].played.episodes) == by_game["qbert"].played.planned == 20
    assert by_game["qbert"].runs == 1  # never trained, so its seeds are no runs
    found = {item.metric: (item.mean.value, item.median.value, item.iqm.value) for item in round_numbers.summaries}
    assert found["hns"] == pytest.approx((360 / 5, 50, (20 + 50 + 100) / 3))
    assert found["capped_hns"] == pytest.approx((270 / 5, 50, (20 + 50 + 100) / 3))  # five, one off each end


@pytest.mark.parametrize("name", ["atari-1", "atari-10", "atari-5-val"])
def test_a_published_model_is_taken_by_its_name(name):
    report = analysed(made_up_run(games=(*subsets.subset(name).tasks, "pong")), model=name)
    estimate = report.algorithms[0].estimate
    assert (estimate.subset, estimate.covered) == (name, None)
    assert estimate.value is not None
    assert ("estimate_tuning" in kinds(report)) == name.endswith("-val")
    assert any(citation.key == "aitchison2023atari5" for citation in report.citations)


def test_games_for_tuning_are_not_for_results():
    report = analysed(made_up_run(games=subsets.subset("atari-3-val").tasks))
    assert [notice.text for notice in report.notices if notice.kind == "estimate_tuning"] == [
        "Atari-3-Val is meant for tuning; report results on Atari-5 (Aitchison et al. 2023, §8)."
    ]
    assert "estimate_tuning" not in kinds(analysed(made_up_run(games=subsets.subset("atari-3").tasks)))


def test_an_estimate_is_what_any_games_tell(round_numbers):
    """As `subset predict` says it; and were one score a little better, it would be as much higher as the slope says."""
    estimate = round_numbers.estimate
    (told,) = predicted([{"mine": {task: [score] for task, score in ROUND.items()}}]).predictions
    forecast = told.forecast
    median = forecast.summaries["median"]
    assert (estimate.subset, estimate.title, estimate.suite) == ("any", "5 games", "atari-57")
    assert (estimate.value, estimate.low, estimate.high) == (median.value, median.low, median.high)
    assert estimate.covered == forecast.coverage["median"]
    assert estimate.sampling_low is estimate.sampling_high is None  # of episodes that never differ
    assert (estimate.missing, estimate.warnings, estimate.printed_log_error) == ((), (), None)
    predictor = atari()
    slopes = predictor.slopes(ROUND)
    low, high = predictor.low["qbert"], predictor.high["qbert"]
    logs = math.log10(1 + 100 * (ROUND["qbert"] - low) / (high - low))
    moved = [
        predictor.median(ROUND | {"qbert": low + (10 ** (logs + step) - 1) / 100 * (high - low)}, 0.9)[0].value
        for step in (-0.2, 0.2)
    ]
    rise = math.log10((1 + moved[1]) / (1 + moved[0])) / 0.4
    assert rise == pytest.approx(slopes[list(ROUND).index("qbert")], abs=0.03)
    assert all(slope >= 0 for slope in slopes)


def test_an_estimate_rises_from_random_play_on_as_it_would_with_any_step():
    """Below random play nothing lowers it further: the slope is that of the way up."""
    predictor = atari()
    low, high = predictor.low, predictor.high
    played = {task: high[task] for task in ATARI_5} | {"qbert": low["qbert"]}
    better = played | {"qbert": low["qbert"] + (10**0.1 - 1) / 100 * (high["qbert"] - low["qbert"])}
    rise = math.log10((1 + predictor.median(better, 0.9)[0].value) / (1 + predictor.median(played, 0.9)[0].value))
    assert predictor.slopes(played)[list(played).index("qbert")] == pytest.approx(rise / 0.1)


def with_trials(record, **changes):
    trials = tuple(dataclasses.replace(trial, **changes) for trial in record.trials)
    return dataclasses.replace(record, trials=trials)


ALE, CONSOLE = "ale-py 0.12.1", "console 0123456789abcdef"


@pytest.mark.parametrize(
    ("played", "told"),
    [
        ({}, "ale-py 0.12.1"),
        ({game: [CONSOLE] for game in ATARI_5}, "the ArcadeMark emulator (core 0123456789abcdef)"),
        (
            {game: [CONSOLE] for game in ATARI_5} | {"qbert": [ALE], "phoenix": [ALE, CONSOLE]},
            "the ArcadeMark emulator (core 0123456789abcdef) in 3 games, "
            "ale-py 0.12.1 and the ArcadeMark emulator (core 0123456789abcdef) in 1, ale-py 0.12.1 in 1",
        ),
    ],
)
def test_what_emulated_the_games_is_told_everywhere(played, told):
    record = made_up_run()
    if played:
        record.manifest["emulators"] = played
    report = analysed(record)
    assert f"played on {told}." in printed(report, 200)
    assert f"<dt>played on</dt><dd>{told}</dd>" in page(report)
    assert (f"They were played on {told}, which is bit-identical to ale-py's" in report.methods[0]) == bool(played)
    emulators = values(report)["runs"][0]["emulators"]
    assert emulators["Q*bert"] == played.get("qbert", [ALE])
    other = analysed(made_up_run("runs/a"), dataclasses.replace(record, directory=Path("runs/b")))
    assert not kinds(other) & {"emulators_differ", "protocols_differ"}


def test_games_that_one_algorithm_alone_lacks_show():
    failed = [("random", "qbert", 0), ("random", "qbert", 1)]
    report = analysed(made_up_run(failed=failed))
    assert "random lacks Q*bert" in text_of(report, "games_differ")
    whole, part = "are over the 5 games of atari-5;", "are over those of the 5 games of atari-5 that have a score"
    assert part in report.methods[1]
    assert whole in analysed(made_up_run()).methods[1]
    assert "games_differ" not in kinds(analysed(made_up_run(played=0)))


BASELINES = (
    "random",
    *(f"{family}(action={action})" for family in ("const", "perturb") for action in ("NOOP", "FIRE", "UP")),
)


def by_action(agent, game, seed, episodes):
    best = {"qbert": "UP", "phoenix": "FIRE"}.get(game, "NOOP")
    return [500.0 if f"action={best})" in agent else 100.0] * episodes


def test_baselines_show_the_best_of_each_game_and_each_when_asked_for():
    played = collected(made_up_run(agents=BASELINES, scores=by_action))
    report = analyse(played)
    assert [algorithm.name for algorithm in report.algorithms] == ["random", "best const", "best perturb"]
    best = report.algorithms[1]
    assert best.variants == 3
    assert {score.game: score.played.variant for score in best.scores} == dict.fromkeys(ATARI_5, "NOOP") | {
        "phoenix": "FIRE",
        "qbert": "UP",
    }
    assert {score.score.value for score in best.scores} == {500.0}
    assert "On each game best const is the best of 3" in text_of(report, "best_of")
    names = [algorithm.name for algorithm in analyse(played, every_variant=True).algorithms]
    assert sorted(names) == sorted(("best const", "best perturb", *BASELINES))


def test_an_interval_does_not_depend_on_what_stands_beside_it():
    alone = analysed(made_up_run("runs/random")).algorithms[0]
    beside = analysed(made_up_run("runs/mine", (OWN_AGENT,)), made_up_run("runs/random")).algorithms[1]
    assert [score.score for score in alone.scores] == [score.score for score in beside.scores]
    assert alone.estimate == beside.estimate
    for score in alone.scores:
        assert score.score.low <= score.score.value <= score.score.high


NOOP = protocol("noop-108000")
LEARNER = with_trials(made_up_run(learns=True), training_frames=1_000_000)
METHODS = [
    (made_up_run(), ("random does not learn and was scored on evaluation",), "trained"),
    (
        dataclasses.replace(
            LEARNER, episodes=dataclasses.replace(LEARNER.episodes, training=~LEARNER.episodes.training)
        ),
        ("The scored episodes of random are the last of training.",),
        "does not learn",
    ),
    (made_up_run(learns=True), ("trained on each game for 200,000,000 frames.",), "does not learn"),
    (
        with_trials(made_up_run(using=NOOP, learns=True), training_frames=1_000_000),
        (
            "random was trained on each game for 1,000,000 frames, where a lost life ends a training episode and a "
            "reward is given as its sign.",
            "The scored episodes of random are of evaluation, after training.",
        ),
        "does not learn",
    ),
    (made_up_run(using=NOOP), (), "learn"),
    (made_up_run(games=tasks.suite("atari-57").tasks, episodes=1), ("on the 57 games of atari-57 in",), "Q*bert"),
    (made_up_run(games=(*subsets.subset("atari-10").tasks, "pong")), ("Q*bert and Pong in",), "11 games"),
]


@pytest.mark.parametrize(("record", "parts", "absent"), METHODS)
def test_methods_say_what_was_played_trained_and_scored(record, parts, absent):
    text = analysed(record).methods[0]
    assert all(part in text for part in parts)
    assert absent not in text


@pytest.mark.parametrize("name", ["ale-2013", "dqn-2015", "machado-2018", "saber", "go-explore", "ale-v5"])
def test_methods_state_the_protocol_and_cite_it(name):
    rules = protocol(name)
    report = analysed(made_up_run(using=rules))
    text = " ".join(report.methods)
    cap = rules.max_frames_per_episode
    assert f"“{name}”" in text
    assert f"held for {rules.frame_skip} frame" in text
    assert (f"{cap:,} frames" if cap else "without a cap") in text
    assert ("with probability 0.25" in text) == (rules.repeat_action_probability == 0.25)
    assert any(citation.text in rules.citation for citation in report.citations) or name == "ale-v5"
    assert all(citation.bibtex.count("{") == citation.bibtex.count("}") for citation in report.citations)


def test_runs_of_one_name_are_told_apart():
    report = analysed(made_up_run("a/run"), made_up_run("b/run", (OWN_AGENT,)))
    assert [run.name for run in report.runs] == ["a/run", "b/run"]


def test_commands_of_a_continued_run_are_all_needed():
    record = made_up_run()
    record.manifest["continued"] = [{"command": "arcademark run random --seeds 3"}] * 2
    assert len(analysed(record).runs[0].commands) == 2
