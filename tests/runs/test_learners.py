"""Learners under the runner: budgets in episodes, what is told of them, what is checked."""

import dataclasses
import importlib.util
import shutil
from pathlib import Path

import pytest

from altering import alter
from arcademark.agents.loading import agent_specs, make_agent
from arcademark.errors import ArcadeMarkError
from arcademark.records.reading import read_actions, read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.playing.events import LearnerBegun, Note, PlayedFrames, Progress, Snapshot, TrainingBlock
from arcademark.runs.playing.networks import learnt_in, trained_in
from arcademark.runs.playing.trial import TrialPlayer
from arcademark.runs.replay.verify import verify

pytestmark = pytest.mark.usefixtures("in_this_process")


def test_training_takes_the_episodes_that_were_asked_for(tmp_path, toy_plan, paced):
    plan = toy_plan(paced("Learner"), seeds=(0, 1), episodes=2, training_episodes=7)
    heard = []
    execute(plan, tmp_path / "run", workers=1, on_event=heard.append)
    record = read_run(tmp_path / "run")
    assert [(trial.status, trial.training_frames, trial.training_episodes) for trial in record.trials] == [
        ("done", None, 7)
    ] * 2
    for trial in record.trials:
        phases = [row.phase for row in record.by_trial[trial.id]]
        assert phases == ["training"] * 7 + ["evaluation"] * 2
    assert record.manifest["training_episodes"] == 7
    assert [event for event in heard if isinstance(event, LearnerBegun)] == [
        LearnerBegun(plan.trials[0].record, plan.protocol, 2)
    ]
    last = [event for event in heard if isinstance(event, Progress)][-1]
    assert (last.fraction, last.trials_done, last.learning) == (1.0, 2, None)
    assert {finding.outcome for finding in verify(tmp_path / "run", workers=1).findings} == {"confirmed"}


@pytest.mark.slow
def test_agents_that_turn_out_not_to_learn_have_no_budget_and_are_told_of_once(tmp_path, toy_plan, fake, paced):
    heard = []
    plan = toy_plan("random", fake("wrong_action"), paced("Learner"), seeds=(0, 1), training_episodes=2)
    execute(plan, tmp_path / "run", workers=1, on_event=heard.append)
    budgets = {trial.agent: trial.training_episodes for trial in read_run(tmp_path / "run").trials}
    assert budgets == {"random": None, "wrong_action.py:make_agent": None, "paced.py:Learner": 2}
    told = sorted(event.text for event in heard if isinstance(event, Note))
    assert told == [
        f"{agent} does not learn, so it is not trained" for agent in ("random", "wrong_action.py:make_agent")
    ]
    heard.clear()
    execute(toy_plan(), tmp_path / "other", workers=1, on_event=heard.append)
    assert not any(isinstance(event, Note | LearnerBegun) for event in heard)


def test_a_slow_learner_is_kept_before_its_frames_are_there(monkeypatch, toy_plan, paced):
    settings = {"checkpoint_frames": 1_000_000}
    (spec,) = agent_specs(paced("Learner"), settings)
    base = toy_plan()
    (trial,) = make_plan([spec], ["toy"], base.protocol, training_episodes=5).trials

    def blocks():
        return [event for event in TrialPlayer(trial).play([]) if isinstance(event, TrainingBlock)]

    (whole,) = blocks()
    monkeypatch.setattr("arcademark.runs.playing.trial._pause", lambda seconds, size: 0.0)
    monkeypatch.setattr("arcademark.runs.playing.trial.CHECKPOINT_SECONDS", 0.0)
    often = blocks()
    assert [len(block.results) for block in often] == [1, 1, 1, 1, 1]
    assert [block.checkpoint.episodes for block in often] == [1, 2, 3, 4, 5]
    assert often[-1].checkpoint == whole.checkpoint
    assert [played(item) for block in often for item in block.results] == [played(item) for item in whole.results]


def played(result):
    """All of an episode but how long it took."""
    return dataclasses.replace(result.record, wall_seconds=0.0), result.actions


def evaluated(directory):
    """Return what each trial played in evaluation."""
    run = read_run(directory)
    return {
        (trial.agent, trial.seed): [
            (row.score, read_actions(directory, trial.id, row.episode).tolist()) for row in run.evaluation(trial)
        ]
        for trial in run.trials
    }


@pytest.mark.slow
def test_what_was_learnt_in_one_run_plays_in_another(tmp_path, toy_plan, paced, rows):
    asked = paced("Learner"), "random"
    base, place = toy_plan(*asked, seeds=(0, 1), frames=1500), tmp_path / "base"
    execute(base, place, workers=1)
    heard = []
    execute(trained_in(base, learnt_in(place)), tmp_path / "same", workers=2, on_event=heard.append)
    assert evaluated(tmp_path / "same") == evaluated(place)
    assert not any(isinstance(event, LearnerBegun) for event in heard)
    told = [event.text for event in heard if isinstance(event, Note)]
    assert told == ["random does not learn, so it is not trained"]
    execute(toy_plan(*asked, seeds=(0, 1), frames=0), tmp_path / "untrained", workers=1)
    assert evaluated(tmp_path / "untrained") != evaluated(place)

    def varied(episodes):
        plan = toy_plan(*asked, seeds=(0, 1), frames=1500, episodes=episodes, override={"frame_skip": 2})
        return trained_in(plan, learnt_in(place))

    execute(varied(3), tmp_path / "whole", workers=1)
    more = varied(3)
    execute(varied(1), tmp_path / "run", workers=1)
    shutil.rmtree(place)
    execute(more, tmp_path / "run", workers=1)
    assert rows(tmp_path / "run") == rows(tmp_path / "whole")
    with pytest.raises(ArcadeMarkError, match="base"):
        execute(more, tmp_path / "elsewhere", workers=1)
    run = read_run(tmp_path / "run")
    assert not run.episodes.training.any()
    assert {(trial.status, trial.learns) for trial in run.trials} == {("done", False)}
    agent = run.manifest["agents"][0]
    assert agent["checkpoints"].keys() == {"toy 0", "toy 1"}
    assert min(agent["trained_frames"].values()) >= 1500
    assert run.manifest["trained_under"]["settings"]["frame_skip"] == 4
    assert {finding.outcome for finding in verify(tmp_path / "run", workers=1).findings} == {"confirmed"}
    with pytest.raises(ArcadeMarkError, match=r"protocol of training: world-records \(.*\) there, none now"):
        execute(dataclasses.replace(more, trials=base.trials, protocol=more.protocol), tmp_path / "run", workers=1)
    alter(tmp_path / "run", "UPDATE checkpoint SET data = CAST(data || x'00' AS BLOB)")
    with pytest.raises(ArcadeMarkError, match="differs from the training result of"):
        execute(more, tmp_path / "run", workers=1)


def test_what_was_learnt_is_made_for_the_protocol_under_which_it_was(tmp_path, monkeypatch, toy_plan, paced):
    execute(toy_plan(paced("Learner"), frames=300), tmp_path / "base", workers=1)
    plan = trained_in(toy_plan(paced("Learner"), frames=300, override={"frame_skip": 2}), learnt_in(tmp_path / "base"))
    told = []
    monkeypatch.setattr(
        "arcademark.runs.playing.trial.make_agent", lambda spec, env: told.append(env) or make_agent(spec, env)
    )
    player = TrialPlayer(plan.trials[0])
    assert [env.protocol.frame_skip for env in told] == [4]
    assert player.spec.protocol.frame_skip == 2
    with pytest.raises(ArcadeMarkError, match="its training result is missing"):
        list(player.play([0]))


def snapshots(record):
    """What a run notes of its learner before the end of training."""
    return record.manifest["agents"][0].get("snapshots", {})


def test_snapshots_of_a_learner_are_what_shorter_trainings_score(tmp_path, toy_plan, paced):
    runs = {}
    for budget in (16, 17, 20):
        plan = toy_plan(paced("Learner"), seeds=(0, 1), episodes=10, training_episodes=budget)
        execute(plan, tmp_path / str(budget), workers=1)
        runs[budget] = read_run(tmp_path / str(budget))
    assert {place: [share for share, *_ in noted] for place, noted in snapshots(runs[20]).items()} == {
        f"toy {seed}": [0.8, 0.85, 0.9, 0.95] for seed in (0, 1)
    }
    for place, (shorter, budget) in enumerate(((runs[16], 16), (runs[17], 17))):
        for short, whole in zip(shorter.trials, runs[20].trials, strict=True):
            mean = shorter.evaluation(short).score[:2].mean()
            assert snapshots(runs[20])[f"toy {whole.seed}"][place] == [budget / 20, mean, 2]
            trained = [list(run.training(trial).score) for run, trial in ((shorter, short), (runs[20], whole))]
            assert trained[0] == trained[1][:budget]


@pytest.mark.parametrize("budget", [{"training_episodes": 20}, {"frames": 2_000}])
def test_a_training_that_was_stopped_has_the_snapshots_of_one_that_was_not(tmp_path, toy_plan, paced, budget):
    plan = toy_plan(paced("Learner"), episodes=10, **budget)
    execute(plan, tmp_path / "whole", workers=1)
    noted = snapshots(read_run(tmp_path / "whole"))
    (trial,) = plan.trials
    heard, again = [], []
    for event in TrialPlayer(trial).play(range(10)):
        heard.append(event)
        if isinstance(event, TrainingBlock) and not event.checkpoint.finished:
            again.append([one for one in TrialPlayer(trial).play([], event.checkpoint) if isinstance(one, Snapshot)])
    whole = [event for event in heard if isinstance(event, Snapshot)]
    assert [[one.share, one.score, one.episodes] for one in whole] == noted["toy 0"]
    assert len(again) > 5
    assert all(rest == whole[len(whole) - len(rest) :] for rest in again)
    assert len({len(rest) for rest in again} - {0}) > 1
    played = sum(event.frames for event in heard if isinstance(event, PlayedFrames))
    record = read_run(tmp_path / "whole")
    assert played == record.episodes.frames.sum() + sum(one.frames for one in whole)


def test_a_learner_whose_training_is_scored_has_no_snapshots(tmp_path, toy_plan, paced):
    plan = toy_plan(paced("Learner"), training_episodes=20, override={"reported_episodes": "training_last_k"})
    execute(plan, tmp_path / "run", workers=1)
    assert snapshots(read_run(tmp_path / "run")) == {}


def test_what_is_kept_of_a_learner_is_its_last_training_and_its_curve(tmp_path, toy_plan, paced):
    spec = importlib.util.spec_from_file_location("collect", Path(__file__).parents[2] / "results" / "collect.py")
    collect = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(collect)
    plan = toy_plan(paced("Learner"), episodes=2, frames=1200, override={"reported_episodes": "training_last_k"})
    execute(plan, tmp_path / "run", workers=1)
    record = read_run(tmp_path / "run")
    scores, frames = record.episodes.score.tolist(), record.episodes.frames.tolist()
    ((row, curve),) = collect.rows(record)
    assert (row["episodes"], float(row["mean"]), row["frames"]) == (2, sum(scores[-2:]) / 2, sum(frames))
    assert row["budget"] == 1200 <= row["frames"]
    assert [point["episodes"] for point in curve] == sorted({point["episodes"] for point in curve})
    for point in curve:
        assert point["frames"] == sum(frames[: point["episodes"]])
        assert float(point["last_5"]) == pytest.approx(sum(last := scores[: point["episodes"]][-5:]) / len(last))
    assert curve[-1]["episodes"] == len(scores)
