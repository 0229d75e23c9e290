"""The analysis against values worked out by hand, and every notice with what sets it off."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest
from made_up import ATARI_5, OWN_AGENT, collected, made_up_run, trained
from shown import page, printed, values

from arcademark.errors import ArcadeMarkError
from arcademark.reports.notices import KINDS
from arcademark.reports.subsets.predicting import predicted
from arcademark.reports.subsets.predictors import atari
from arcademark.reports.tables.analysis import analyse
from arcademark.reports.tables.document import Algorithm, Statistic
from arcademark.reports.tables.report import ScoreReport
from arcademark.runs.store.reading import RunRecord
from arcademark.suite import anomalies, subsets, tasks
from arcademark.suite.protocols import protocol


def constant(values: dict[str, float]):
    """Every episode on a game gives the same score."""
    return lambda agent, game, seed, episodes: [values.get(game, 100.0)] * episodes


def kinds(report: ScoreReport) -> set[str]:
    return {notice.kind for notice in report.notices}


def text_of(report: ScoreReport, kind: str) -> str:
    return " ".join(notice.text for notice in report.notices if notice.kind == kind)


def summary(algorithm: Algorithm, metric: str):
    return next(item for item in algorithm.summaries if item.metric == metric)


# Chosen so that each HNS is a round number: random + share × (human − random), by Table 12 of the Atari-5 paper.
ROUND = {
    "battle_zone": 2360.0 + 0.5 * (37187.5 - 2360.0),
    "double_dunk": -18.55 + 2.0 * (-16.4 + 18.55),
    "name_this_game": 2292.35 + 1.0 * (8049.0 - 2292.35),
    "phoenix": 761.4 - 0.1 * (7242.6 - 761.4),
    "qbert": 163.88 + 0.2 * (13455.0 - 163.88),
}
ROUND_HNS = {"battle_zone": 50.0, "double_dunk": 200.0, "name_this_game": 100.0, "phoenix": -10.0, "qbert": 20.0}


@pytest.fixture
def round_numbers() -> Algorithm:
    return analyse(collected(made_up_run(scores=constant(ROUND)))).algorithms[0]


def test_normalised_scores_by_hand(round_numbers: Algorithm) -> None:
    assert {score.game: score.normalised["hns"].value for score in round_numbers.scores} == pytest.approx(ROUND_HNS)
    by_game = {score.game: score for score in round_numbers.scores}
    assert by_game["battle_zone"].normalised["hwrns"].value == pytest.approx(
        100 * (ROUND["battle_zone"] - 2360) / (801000 - 2360), rel=1e-3
    )
    assert by_game["qbert"].score.value == pytest.approx(ROUND["qbert"])
    played = by_game["qbert"].played
    assert played is not None
    assert len(played.episodes) == played.planned == 20
    assert by_game["qbert"].runs == 1  # never trained, so its seeds are no runs


def test_summaries_by_hand(round_numbers: Algorithm) -> None:
    hns = summary(round_numbers, "hns")
    assert hns.mean.value == pytest.approx((50 + 200 + 100 - 10 + 20) / 5)
    assert hns.median.value == pytest.approx(50)
    assert hns.iqm.value == pytest.approx((20 + 50 + 100) / 3)
    assert hns.games == 5
    capped = summary(round_numbers, "capped_hns")
    assert (capped.mean.value, capped.median.value) == (pytest.approx((50 + 100 + 100 + 0 + 20) / 5), pytest.approx(50))
    assert capped.iqm.value == pytest.approx((20 + 50 + 100) / 3)  # one score a game: five, one off each end


def test_estimate_by_the_papers_formula() -> None:
    model = subsets.subset("atari-5")
    exponent = sum(
        coefficient * math.log10(1 + max(0.0, ROUND_HNS[game]))
        for game, coefficient in zip(model.tasks, model.coefficients or (), strict=True)
    )
    estimate = analyse(collected(made_up_run(scores=constant(ROUND))), model="atari-5").algorithms[0].estimate
    assert estimate.value == pytest.approx(10**exponent - 1)
    assert (estimate.subset, estimate.title, estimate.printed_error) == ("atari-5", "Atari-5", 0.104)
    assert estimate.missing == estimate.warnings == ()
    assert estimate.sampling_low is estimate.sampling_high is None  # of episodes that never differ
    assert estimate.nested_error == model.nested.mean == 0.182
    factor = 10 ** subsets.conformal_half_width(model.nested.errors, 0.9)
    assert estimate.level == 0.9
    assert (1 + estimate.low, 1 + estimate.high) == pytest.approx(
        ((1 + estimate.value) / factor, (1 + estimate.value) * factor)
    )


@pytest.mark.parametrize("name", ["atari-1", "atari-10", "atari-5-val"])
def test_a_published_model_is_taken_by_its_name(name: str) -> None:
    report = analyse(collected(made_up_run(games=(*subsets.subset(name).tasks, "pong"))), model=name)
    estimate = report.algorithms[0].estimate
    assert (estimate.subset, estimate.held) == (name, None)
    assert estimate.value is not None
    assert ("estimate_tuning" in kinds(report)) == name.endswith("-val")
    assert any(citation.key == "aitchison2023atari5" for citation in report.citations)


def test_an_estimate_is_what_any_games_tell(round_numbers: Algorithm) -> None:
    """As `subset predict` says it; and were one score a little better, it would be as much higher as the slope says."""
    estimate = round_numbers.estimate
    (told,) = predicted([{"mine": {task: [score] for task, score in ROUND.items()}}]).predictions
    forecast = told.forecast
    median = forecast.summaries["median"]
    assert (estimate.subset, estimate.title, estimate.suite) == ("any", "5 games", "atari-57")
    assert (estimate.value, estimate.low, estimate.high) == (median.value, median.low, median.high)
    assert estimate.held == pytest.approx(forecast.coverage["median"], abs=1e-12)
    assert estimate.sampling_low is estimate.sampling_high is None  # of episodes that never differ
    assert (estimate.missing, estimate.warnings, estimate.printed_error) == ((), (), None)
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


def test_an_estimate_rises_from_random_play_on_as_it_would_with_any_step() -> None:
    """Below random play nothing lowers it further: the slope is that of the way up."""
    predictor = atari()
    low, high = predictor.low, predictor.high
    played = {task: low[task] for task in ATARI_5}
    better = played | {"qbert": low["qbert"] + (10**0.1 - 1) / 100 * (high["qbert"] - low["qbert"])}
    rise = math.log10((1 + predictor.median(better, 0.9)[0].value) / (1 + predictor.median(played, 0.9)[0].value))
    assert predictor.slopes(played)[list(played).index("qbert")] == pytest.approx(rise / 0.1)


def test_a_subset_without_a_model_is_refused() -> None:
    with pytest.raises(ArcadeMarkError, match="no published model"):
        analyse(collected(made_up_run()), model="dqn-7")


def test_a_game_without_an_episode_is_a_missing_game() -> None:
    failed = [
        ("random", "qbert", 0),
        ("random", "qbert", 1),
        ("random", "name_this_game", 0),
        ("random", "name_this_game", 1),
    ]
    report = analyse(collected(made_up_run(failed=failed)))
    algorithm = report.algorithms[0]
    assert algorithm.estimate.title == "3 games"
    assert summary(algorithm, "hns").games == 3
    lacking = next(score for score in algorithm.scores if score.game == "qbert")
    assert lacking.score == lacking.normalised["hns"] == Statistic(None)
    assert (lacking.played.episodes, lacking.played.planned) == ((), 20)
    assert "4 trials" in text_of(report, "trials_failed")
    assert [trial.status for trial in report.runs[0].troubles] == ["failed"] * 4


def with_trials(record: RunRecord, **changes: object) -> RunRecord:
    trials = tuple(dataclasses.replace(trial, **changes) for trial in record.trials)  # type: ignore[arg-type]
    return dataclasses.replace(record, trials=trials)


def with_manifest(record: RunRecord, **changes: object) -> RunRecord:
    record.manifest.update(changes)
    return record


MINE = made_up_run("runs/mine", (OWN_AGENT,))
SKIPPING = protocol("world-records").override({"frame_skip": 5})
LONGER = protocol("world-records").override({"max_frames_per_episode": 400_000})
OTHER_ROMS = with_manifest(
    made_up_run("runs/b", (OWN_AGENT,)),
    versions=MINE.manifest["versions"] | {"ale-py": "0.11.0"},
    games=MINE.manifest["games"] | {"qbert": "f" * 32},
)
LEFT_OUT = [["const(action=UP)", "skiing", "no UP"], ["const(action=FIRE)", "skiing", "no FIRE"]]
NOTICES: dict[str, list[tuple[tuple[RunRecord, ...], dict[str, str], str]]] = {
    "estimate_doubtful": [((made_up_run(using=LONGER),), {}, "were made with episodes of at most 400,000")],
    "modified_protocol": [((made_up_run(using=LONGER),), {}, "max_frames_per_episode is 400000 instead of 108000")],
    "estimate_reading": [
        ((made_up_run(),), {"model": "atari-5"}, "Compare Atari-5 estimates with Atari-5 estimates only"),
    ],
    "trials_incomplete": [((made_up_run(played=4),), {}, "10 trials of random are not finished: 40 of 100 episodes")],
    "protocols_differ": [
        ((made_up_run(), made_up_run("b", (OWN_AGENT,), using=SKIPPING)), {}, "action repeats (4, 5)"),
    ],
    "emulators_differ": [((made_up_run(), OTHER_ROMS), {}, text) for text in ("0.12.1", "0.11.0", "Q*bert")],
    "games_differ": [
        ((made_up_run(failed=[("random", "qbert", 0), ("random", "qbert", 1)]),), {}, "random lacks Q*bert"),
        ((made_up_run(), made_up_run("b", (OWN_AGENT,), ATARI_5[:3])), {}, f"{OWN_AGENT} lacks Phoenix and Q*bert"),
    ],
    "intervals": [
        ((made_up_run(seeds=(0,), episodes=1),), {}, "or whose scores are all alike, has no interval: random"),
        ((made_up_run(seeds=(0,), episodes=1), MINE), {}, "has no interval: random."),
        ((made_up_run(scores=constant({})),), {}, "has no interval: random."),
    ],
    "episodes_as_runs": [
        (
            (trained(made_up_run(seeds=(3,)), lengths=(30,)),),
            {},
            "from a single run is a 95 % Student's t interval over its episodes",
        ),
    ],
    "episodes_truncated": [((made_up_run(),), {}, "Double Dunk (4 of 20)")],
    "fewer_episodes": [((made_up_run(),), {}, "10 episodes a seed; the protocol averages 100")],
    "action_interval": [
        (
            (with_trials(made_up_run(), frames_per_action=1),),
            {},
            "random chooses an action every frame, its protocol's agents every 4 frames.",
        ),
    ],
    "left_out": [
        (
            (with_manifest(made_up_run(), left_out=LEFT_OUT),),
            {},
            "const(action=UP) on Skiing and const(action=FIRE) on Skiing; of the first, no UP.",
        ),
    ],
}


@pytest.mark.parametrize(
    ("kind", "runs", "options", "told"), [(kind, *case) for kind, cases in NOTICES.items() for case in cases]
)
def test_what_a_reader_must_know_is_told(
    kind: str, runs: tuple[RunRecord, ...], options: dict[str, str], told: str
) -> None:
    assert told in text_of(analyse(collected(*runs), **options), kind)


def test_what_gives_no_reason_is_not_told() -> None:
    """Of two runs that are alike but for the agent, whole and under the protocol itself."""
    whole = {"episodes_truncated", "fewer_episodes", "intervals", "estimate_reading"}
    assert not kinds(analyse(collected(made_up_run(), MINE))) & NOTICES.keys() - whole
    assert "has no interval" not in text_of(analyse(collected(made_up_run())), "intervals")


ALE, CONSOLE = "ale-py 0.12.1", "console 0123456789abcdef"


@pytest.mark.parametrize(
    ("played", "told"),
    [
        ({}, "ale-py 0.12.1"),
        ({game: [CONSOLE] for game in ATARI_5}, "the console (core 0123456789abcdef)"),
        (
            {game: [CONSOLE] for game in ATARI_5} | {"qbert": [ALE], "phoenix": [ALE, CONSOLE]},
            "the console (core 0123456789abcdef) in 3 games, "
            "ale-py 0.12.1 and the console (core 0123456789abcdef) in 1, ale-py 0.12.1 in 1",
        ),
    ],
)
def test_what_emulated_the_games_is_told_everywhere(played: dict[str, list[str]], told: str) -> None:
    record = made_up_run()
    if played:
        record.manifest["emulators"] = played
    report = analyse(collected(record))
    assert f"played on {told}." in printed(report, 200)
    assert f"<dt>played on</dt><dd>{told}</dd>" in page(report)
    assert (f"They were played on {told}; ArcadeMark's console" in report.methods[0]) == bool(played)
    emulators = values(report)["runs"][0]["emulators"]
    assert emulators["Q*bert"] == played.get("qbert", [ALE])
    other = analyse(collected(made_up_run("runs/a"), dataclasses.replace(record, directory=Path("runs/b"))))
    assert not kinds(other) & {"emulators_differ", "protocols_differ"}


def test_games_that_one_algorithm_alone_lacks_show() -> None:
    failed = [("random", "qbert", 0), ("random", "qbert", 1)]
    report = analyse(collected(made_up_run(failed=failed)))
    assert "random lacks Q*bert" in text_of(report, "games_differ")
    whole, part = "are over the 5 games of atari-5;", "are over those of the 5 games of atari-5 that have a score"
    assert part in report.methods[1]
    assert whole in analyse(collected(made_up_run())).methods[1]
    assert "games_differ" not in kinds(analyse(collected(made_up_run(played=0))))


def test_algorithms_side_by_side_are_each_estimated_from_their_games() -> None:
    some, few = made_up_run("runs/a"), made_up_run("runs/b", (OWN_AGENT,), games=("name_this_game", "pong"))
    report = analyse(collected(some, few))
    assert sorted(item.estimate.title for item in report.algorithms) == ["2 games", "5 games"]
    assert "estimate_doubtful" not in kinds(report)
    assert "112 published ones of 43 papers" in text_of(report, "estimate_reading")


def test_games_without_references_are_named_and_left_out() -> None:
    report = analyse(collected(made_up_run(games=("pong", "carnival", "toy"))))
    assert summary(report.algorithms[0], "hns").games == 1
    assert [game.name for game in report.games] == ["Pong", "Carnival", "toy"]
    assert "Carnival and toy" in text_of(report, "no_reference")
    nothing = analyse(collected(made_up_run(games=("toy",))))
    assert summary(nothing.algorithms[0], "hns").mean.value is None
    assert nothing.algorithms[0].breakthroughs[0].games == 0


def test_the_whole_suite_has_its_median() -> None:
    report = analyse(collected(made_up_run(games=tasks.suite("atari-57").tasks, episodes=2)))
    assert report.scope == "the 57 games of atari-57"
    assert report.algorithms[0].estimate is None
    assert report.algorithms[0].coverage.median is not None
    assert "suite_complete" in kinds(
        analyse(collected(made_up_run(games=tasks.suite("atari-57").tasks)), model="atari-10")
    )


BASELINES = (
    "random",
    *(f"{family}(action={action})" for family in ("const", "perturb") for action in ("NOOP", "FIRE", "UP")),
)


def by_action(agent: str, game: str, seed: int, episodes: int) -> list[float]:
    best = {"qbert": "UP", "phoenix": "FIRE"}.get(game, "NOOP")
    return [500.0 if f"action={best})" in agent else 100.0] * episodes


def test_baselines_show_the_best_of_each_game() -> None:
    report = analyse(collected(made_up_run(agents=BASELINES, scores=by_action)))
    assert [algorithm.name for algorithm in report.algorithms] == ["random", "best const", "best perturb"]
    best = report.algorithms[1]
    assert best.variants == 3
    assert {score.game: score.played.variant for score in best.scores} == {
        "battle_zone": "NOOP",
        "double_dunk": "NOOP",
        "name_this_game": "NOOP",
        "phoenix": "FIRE",
        "qbert": "UP",
    }
    assert {score.score.value for score in best.scores} == {500.0}
    assert "best const is on each game the best of 3" in text_of(report, "best_of")


def test_every_baseline_shows_when_asked_for() -> None:
    report = analyse(collected(made_up_run(agents=BASELINES, scores=by_action)), every_variant=True)
    names = [algorithm.name for algorithm in report.algorithms]
    assert set(names) == {"best const", "best perturb", *BASELINES}
    assert len(names) == len(set(names)) == 9


def test_an_interval_does_not_depend_on_what_stands_beside_it() -> None:
    alone = analyse(collected(made_up_run("runs/random"))).algorithms[0]
    beside = analyse(collected(made_up_run("runs/mine", (OWN_AGENT,)), made_up_run("runs/random"))).algorithms[1]
    assert [score.score for score in alone.scores] == [score.score for score in beside.scores]
    assert alone.estimate == beside.estimate
    for score in alone.scores:
        assert score.score.low <= score.score.value <= score.score.high


def test_truncated_episodes_of_games_that_need_not_end_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anomalies, "endless", lambda game: game == "double_dunk")
    (told,) = (one for one in analyse(collected(made_up_run())).notices if one.kind == "episodes_truncated")
    assert told.hint == "Play is known to go on for ever at times on Double Dunk."


def test_another_training_budget_is_told() -> None:
    record = made_up_run(using=protocol("noop-108000"), learns=True)
    report = analyse(collected(with_trials(record, training_frames=1_000_000)))
    assert "trained for 1,000,000 frames" in text_of(report, "training_budget")
    assert report.algorithms[0].training_frames == 1_000_000
    assert (
        "random was trained on each game for 1,000,000 frames, where a lost life ends a training episode and a reward "
        "is given as its sign."
    ) in report.methods[0]
    record = made_up_run(using=protocol("world-records"), learns=True)
    assert "trained on each game for 200,000,000 frames." in analyse(collected(record)).methods[0]
    assert analyse(collected(made_up_run())).algorithms[0].training_frames is None


def test_settings_show_overrides_and_where_they_come_from(report_two: ScoreReport) -> None:
    settings = {setting.field: setting for setting in report_two.runs[0].protocol.settings}
    sticky = settings["repeat_action_probability"]
    assert (sticky.overridden, sticky.value, sticky.original, sticky.text) == (True, 0.0, 0.25, "none")
    assert settings["max_frames_per_episode"].text == "108,000 frames (30 minutes)"
    assert all(setting.note for setting in settings.values())
    assert [setting.field for setting in settings.values() if setting.overridden] == ["repeat_action_probability"]


def test_every_kind_of_notice_is_listed_and_warnings_come_first(report_two: ScoreReport) -> None:
    assert kinds(report_two) <= KINDS.keys()
    levels = [notice.level for notice in report_two.notices]
    assert levels == sorted(levels, key=["warning", "note"].index)
    assert report_two.warnings
    assert report_two.notes


def test_methods_say_which_episodes_were_scored() -> None:
    assert "random does not learn and was scored on evaluation" in analyse(collected(made_up_run())).methods[0]
    learner = with_trials(made_up_run(), training_frames=1_000_000, learns=True)
    training = dataclasses.replace(
        learner, episodes=dataclasses.replace(learner.episodes, training=~learner.episodes.training)
    )
    text = analyse(collected(training)).methods[0]
    assert "The scored episodes of random are the last of training." in text
    assert "does not learn" not in text
    after = analyse(collected(with_trials(made_up_run(using=protocol("noop-108000")), learns=True)))
    assert "The scored episodes of random are of evaluation, after training." in after.methods[0]
    assert "learn" not in analyse(collected(made_up_run(using=protocol("noop-108000")))).methods[0]


def test_methods_name_a_large_suite_rather_than_its_games() -> None:
    report = analyse(collected(made_up_run(games=tasks.suite("atari-57").tasks, episodes=1)))
    assert "on the 57 games of atari-57 in" in report.methods[0]
    eleven = analyse(collected(made_up_run(games=(*subsets.subset("atari-10").tasks, "pong"))))
    assert "Q*bert and Pong in" in eleven.methods[0]


@pytest.mark.parametrize("name", ["ale-2013", "dqn-2015", "machado-2018", "saber", "go-explore", "ale-v5"])
def test_methods_state_the_protocol_and_cite_it(name: str) -> None:
    rules = protocol(name)
    report = analyse(collected(made_up_run(using=rules)))
    text = " ".join(report.methods)
    cap = rules.max_frames_per_episode
    assert f"“{name}”" in text
    assert f"held for {rules.frame_skip} frame" in text
    assert (f"{cap:,} frames" if cap else "without a cap") in text
    assert ("with probability 0.25" in text) == (rules.repeat_action_probability == 0.25)
    assert any(citation.text in rules.citation for citation in report.citations) or name == "ale-v5"
    assert all(citation.bibtex.count("{") == citation.bibtex.count("}") for citation in report.citations)


def test_runs_of_one_name_are_told_apart() -> None:
    report = analyse(collected(made_up_run("a/run"), made_up_run("b/run", (OWN_AGENT,))))
    assert [run.name for run in report.runs] == ["a/run", "b/run"]


def test_commands_of_a_continued_run_are_all_needed() -> None:
    record = made_up_run()
    record.manifest["continued"] = [{"command": "arcademark run random --seeds 3"}] * 2
    assert len(analyse(collected(record)).runs[0].commands) == 2
