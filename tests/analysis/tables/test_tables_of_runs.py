"""Runs as tables: what learns has a score a seed and intervals over these, what was never trained over episodes."""

import dataclasses

import numpy as np
import pytest

from arcademark.analysis.scoring.analysis import analyse
from arcademark.analysis.scoring.compare import compare_tables
from arcademark.analysis.tables.dataset import ScoreOptions, prepare
from arcademark.errors import ArcadeMarkError
from arcademark.records import manifest
from arcademark.records.model import Checkpoint, EpisodeResult, encode_actions
from arcademark.runs.store.recording import Recorder
from made_up import ATARI_5, collected, made_up_run, made_up_scores, trained
from shown import printed


def written(run, directory):
    """Write a made-up run into a store; its learners' training is spent."""
    with Recorder(directory) as recorder:
        budgets = {trial.training_episodes for trial in run.trials if trial.learns} or {None}
        document = run.manifest | {"training_episodes": max(budgets)}
        manifest.write(directory, document)
        agents = {agent["label"]: agent for agent in run.manifest["agents"]}
        for made in run.trials:
            name = manifest.trial_of(document, run.protocol, agents[made.agent], made.game, made.seed)
            trial = dataclasses.replace(made, id=name)
            rows = [dataclasses.replace(row, trial_id=name) for row in run.by_trial[made.id]]
            results = [EpisodeResult(row, encode_actions([0])) for row in rows]
            training = [result for result in results if result.record.phase == "training"]
            with recorder.transaction():
                recorder.add_trials([trial])
                recorder.begin_trial(trial.id, trial.frames_per_action, bool(trial.learns))
                if trial.learns:
                    frames = sum(result.record.frames for result in training)
                    recorder.add_training(trial.id, training, Checkpoint(len(training), frames, True, b""))
                recorder.add_episodes(results[len(training) :])
                recorder.note_evaluations({trial.id: len(results) - len(training)}, 1, "2026-01-01T00:00:00+00:00")
    return directory


def ragged(run):
    """Leave each trial another number of episodes, at least one."""
    left = run.episodes.episode <= run.episodes.trial % 7
    return dataclasses.replace(run, episodes=run.episodes[left])


def alike(agent, game, seed, episodes):
    return [100.0] * episodes


def networks(run):
    """Have a network of its own play with each seed."""
    for agent in run.manifest["agents"]:
        agent["checkpoints"] = {f"{trial.game} {trial.seed}": f"{trial.seed:064x}" for trial in run.trials}
    return run


RUNS = {
    "one seed": networks(made_up_run(seeds=(0,))),
    "three seeds": networks(made_up_run(seeds=(4, 0, 2))),
    "ragged": networks(ragged(made_up_run(seeds=(0, 1, 2)))),
    "ragged, one seed": networks(ragged(made_up_run(seeds=(0,)))),
    "single episodes": networks(made_up_run(seeds=(0,), episodes=1)),
    "no variation": networks(made_up_run(seeds=(0, 1), scores=alike)),
    "learners": trained(made_up_run(seeds=(0, 1), played=0), lengths=(30, 40)),
    "a learner": trained(made_up_run(seeds=(3,), played=0), lengths=(30,)),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_the_table_of_its_scores(tmp_path, name):
    """The same scores without their episodes: equal but for the intervals of single seeds, which are over episodes."""
    dataset = prepare(written(RUNS[name], tmp_path / "run"), ScoreOptions())
    (of_run,) = analyse(tmp_path / "run").algorithms
    (of_table,) = analyse(dataset.scores.table).algorithms
    assert len(of_run.scores) == len(ATARI_5)
    for one, other in zip(of_run.scores, of_table.scores, strict=True):
        assert (one.game, one.score.value, one.runs) == (other.game, other.score.value, other.runs)
        assert one.runs == 1 or (one.score, one.normalised) == (other.score, other.normalised)
    assert of_run.summaries == of_table.summaries
    assert of_run.breakthroughs == of_table.breakthroughs
    assert of_run.estimate.value == of_table.estimate.value


def test_the_interval_is_over_seeds_where_there_are_several(tmp_path):
    run = RUNS["three seeds"]
    report = analyse([written(run, tmp_path / "run")])
    for score in report.algorithms[0].scores:
        means = [run.by_trial[trial.id].score.mean() for trial in run.trials if trial.game == score.game]
        assert score.score.high - score.score.low == pytest.approx(2 * 4.302653 * np.std(means, ddof=1) / 3**0.5)


def test_seeds_of_one_agent_that_were_played_apart_are_not_compared(tmp_path):
    places = [written(made_up_run(seeds=(seed,)), tmp_path / str(seed)) for seed in (0, 1)]
    with pytest.raises(ArcadeMarkError, match=r"0 and .*1 have the same agent and protocol .* share no trial"):
        compare_tables(places)


def test_a_training_that_ended_with_few_episodes_is_finished():
    """Its budget is spent: the same command would play nothing."""
    record = trained(made_up_run(games=("pong",), seeds=(0,), episodes=100, played=0), (8,), budget=8)
    (trial,) = record.trials
    for status, kind, said in (
        ("done", "training_short", "than the score averages: 8 of 100."),
        ("running", "trials_incomplete", "not finished"),
    ):
        report = analyse(collected(dataclasses.replace(record, trials=(dataclasses.replace(trial, status=status),))))
        told = {notice.kind: notice.text for notice in report.notices}
        assert {"training_short", "trials_incomplete"} & told.keys() == {kind}
        assert said in told[kind]
        assert bool(report.runs[0].troubles) == (status == "running")


def test_a_comparison_warns_of_runs_that_are_not_finished():
    whole, half = made_up_run("runs/whole"), made_up_run("runs/half", ("other",), played=4)
    told = {notice.kind: notice.text for notice in compare_tables(collected(whole, half)).notices}
    assert "10 trials of half are not finished: 40 of 100 episodes are recorded so far." in told["trials_incomplete"]
    kinds = {notice.kind for notice in compare_tables(collected(whole, made_up_run("runs/b", ("other",)))).notices}
    assert "trials_incomplete" not in kinds


def said_of(collection):
    return {notice.kind: notice.text for notice in analyse(collection).notices}


def test_episodes_of_one_trained_agent_are_no_runs_of_its_algorithm():
    learner = trained(made_up_run(seeds=(0,)), lengths=(30,))
    assert "this trained agent, not its algorithm" in said_of(collected(learner))["episodes_as_runs"]
    assert "if it was trained" not in said_of(collected(learner))["episodes_as_runs"]
    network = made_up_run(seeds=(0,))
    network.manifest["agents"][0]["files"] = {"path": "ab" * 32}
    assert "random." in said_of(collected(network))["episodes_as_runs"]
    untrained = said_of(collected(made_up_run(seeds=(0,))))
    assert "episodes_as_runs" not in untrained
    assert "over the episodes of all seeds of random, which was never trained." in untrained["intervals"]
    several = trained(made_up_run(seeds=(0, 1)), lengths=(30, 30))
    assert "episodes_as_runs" not in said_of(collected(several))


def test_seeds_of_what_was_never_trained_are_one_run_and_its_episodes_vary():
    """However they are divided among seeds, the same episodes have the same scores, intervals and summaries."""
    run = made_up_run(seeds=(0, 1))
    whole = made_up_run(seeds=(0,), episodes=20, scores=lambda agent, game, seed, episodes: [
        score for one in (0, 1) for score in made_up_scores(agent, game, one, 10)])  # fmt: skip
    (apart,), (at_once,) = (analyse(collected(one)).algorithms for one in (run, whole))
    for one, other in zip(apart.scores, at_once.scores, strict=True):
        values = [score for trial in run.trials if trial.game == one.game for score in run.by_trial[trial.id].score]
        half_width = 2.093024 * np.std(values, ddof=1) / 20**0.5
        assert one.runs == 1
        assert one.score.high - one.score.value == pytest.approx(half_width)
        assert one.score == other.score
    assert apart.summaries == at_once.summaries
    assert all(item.mean.low < item.mean.value < item.mean.high for item in apart.summaries if item.metric == "hns")


@pytest.mark.parametrize(
    ("described", "runs"),
    [
        ({}, 1),
        ({"files": {"path": "ab" * 32}}, 1),
        ({"by_seed": True, "parameters": {"path": "model-{seed}.pt"}}, 3),
        ({"checkpoints": {f"{game} {seed}": "ab" * 32 for game in ATARI_5 for seed in range(3)}}, 1),
        ({"checkpoints": {f"{game} {seed}": f"{seed:064x}" for game in ATARI_5 for seed in range(3)}}, 3),
    ],
)
def test_seeds_are_runs_where_each_is_a_training_of_its_own(described, runs):
    record = made_up_run(seeds=(0, 1, 2))
    record.manifest["agents"][0].update(described)
    algorithm = analyse(collected(record)).algorithms[0]
    assert {score.runs for score in algorithm.scores} == {runs}


def test_a_few_episodes_or_runs_have_no_interval():
    untrained = analyse(collected(made_up_run(seeds=(0, 1), episodes=1)))
    assert all(score.score.low is None for score in untrained.algorithms[0].scores)
    assert all(item.mean.low is None for item in untrained.algorithms[0].summaries)
    assert printed(untrained, 200).count("too few episodes") == len(ATARI_5) + 1  # and no verdict
    learner = analyse(collected(trained(made_up_run(seeds=(0, 1)), lengths=(30, 30))))
    assert printed(learner, 200).count("too few runs") == len(ATARI_5) + 1
    assert any(
        score.score.low is not None for score in analyse(collected(made_up_run(episodes=2))).algorithms[0].scores
    )


def test_intervals_stay_within_what_a_game_can_score():
    def near_the_end(agent, game, seed, episodes):
        ends = {"pong": [-21.0, -21.0, -18.0], "double_dunk": [-24.0, -24.0, -18.0], "boxing": [100.0, 100.0, 94.0]}
        return [*ends.get(game, [0.0, 0.0, 150.0])]

    games = ("pong", "double_dunk", "boxing", "qbert")
    report = analyse(collected(made_up_run(games=games, seeds=(0,), episodes=3, scores=near_the_end)))
    limits = {score.game: (score.score.low, score.score.high) for score in report.algorithms[0].scores}
    assert [limits["pong"][0], limits["double_dunk"][0], limits["boxing"][1], limits["qbert"][0]] == [-21, -24, 100, 0]
    (boxing,) = (score for score in report.algorithms[0].scores if score.game == "boxing")
    assert boxing.normalised["hns"].high == pytest.approx(100 * (100 - 0.05) / (12.1 - 0.05))


def test_limits_hold_what_was_scored_where_a_bound_does_not():
    """Another mode of a game may score what its first one cannot."""
    beyond = made_up_run(games=("pong",), seeds=(0,), episodes=3, scores=lambda *_: [-30.0, -21.0, -18.0])
    (score,) = analyse(collected(beyond)).algorithms[0].scores
    assert score.score.low == -30
