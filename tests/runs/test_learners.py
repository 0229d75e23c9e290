"""Learners under the runner: budgets in episodes, what is told of them, what is checked."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.runs.events import LearnerBegun, Progress
from arcademark.runs.execution import execute
from arcademark.runs.lane import Trained, TrainingBlock
from arcademark.runs.store import read_run
from arcademark.runs.trial import Player
from arcademark.runs.verify import verify


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
        LearnerBegun("paced.py:Learner", plan.protocol, None, 7, 2, 2)
    ]
    last = [event for event in heard if isinstance(event, Progress)][-1]
    assert (last.fraction, last.trials_done, last.learning) == (1.0, 2, None)
    assert {finding.outcome for finding in verify(tmp_path / "run", workers=1).findings} == {"confirmed"}


def test_agents_that_do_not_learn_have_no_budget(tmp_path, toy_plan):
    heard = []
    execute(toy_plan("random", training_episodes=7), tmp_path / "run", workers=1, on_event=heard.append)
    (trial,) = read_run(tmp_path / "run").trials
    assert (trial.training_frames, trial.training_episodes) == (None, None)
    assert not any(isinstance(event, LearnerBegun) for event in heard)


def test_each_training_episode_is_told_before_it_is_recorded(toy_plan, paced):
    (trial,) = toy_plan(paced("Learner"), training_episodes=5).trials
    happenings = list(Player(trial).play([]))
    told = [(news.score, news.frames) for news in happenings if isinstance(news, Trained)]
    blocks = [news for news in happenings if isinstance(news, TrainingBlock)]
    assert told == [(item.record.score, item.record.frames) for block in blocks for item in block.results]
    assert len(told) == 5
    assert len(blocks) > 1


def test_a_shortened_training_is_found_out(tmp_path, toy_plan, paced):
    execute(toy_plan(paced("Learner"), training_episodes=7), tmp_path / "run", workers=1)
    with contextlib.closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as database, database:
        database.execute("DELETE FROM episode WHERE phase = 'training' AND episode = 6")
    findings = verify(tmp_path / "run", workers=1).findings
    (finding,) = [finding for finding in findings if finding.outcome != "confirmed"]
    assert (finding.phase, finding.episode) == ("training", 6)
    assert "is not recorded" in finding.detail


def test_another_budget_is_another_run(tmp_path, toy_plan, paced):
    execute(toy_plan(paced("Learner"), training_episodes=2), tmp_path / "run", workers=1)
    with pytest.raises(ArcadeMarkError, match="training episodes: 2 there, 3 now"):
        execute(toy_plan(paced("Learner"), training_episodes=3), tmp_path / "run", workers=1)
