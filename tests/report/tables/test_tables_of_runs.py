"""Runs as tables: a score a seed, with intervals over seeds or, of one, over its episodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from made_up import ATARI_5, made_up_run, trained

from arcademark.reports.tables.analysis import analyse
from arcademark.reports.tables.dataset import ScoreOptions, prepare
from arcademark.runs import manifest
from arcademark.runs.recording import Recorder
from arcademark.runs.store import Checkpoint, EpisodeResult, RunRecord, encode_actions


def written(run: RunRecord, directory: Path) -> Path:
    """Write a made-up run into a store; its learners' training is spent."""
    with Recorder(directory) as recorder:
        manifest.write(directory, run.manifest)
        for trial in run.trials:
            results = [EpisodeResult(row, encode_actions([0])) for row in run.by_trial[trial.id]]
            training = [result for result in results if result.record.phase == "training"]
            with recorder.transaction():
                recorder.add_trials([trial])
                recorder.begin_trial(trial.id, trial.frames_per_action, bool(trial.learns))
                if trial.learns:
                    frames = sum(result.record.frames for result in training)
                    recorder.add_training(trial.id, training, Checkpoint(len(training), frames, True, b""))
                for result in results[len(training) :]:
                    recorder.add_episode(result)
    return directory


def ragged(run: RunRecord) -> RunRecord:
    """Leave each trial another number of episodes, at least one."""
    left = run.episodes.episode <= run.episodes.trial % 7
    return dataclasses.replace(run, episodes=run.episodes[left])


def alike(agent: str, game: str, seed: int, episodes: int) -> Sequence[float]:
    return [100.0] * episodes


RUNS = {
    "one seed": made_up_run(seeds=(0,)),
    "three seeds": made_up_run(seeds=(4, 0, 2)),
    "ragged": ragged(made_up_run(seeds=(0, 1, 2))),
    "ragged, one seed": ragged(made_up_run(seeds=(0,))),
    "single episodes": made_up_run(seeds=(0,), episodes=1),
    "no variation": made_up_run(seeds=(0, 1), scores=alike),
    "learners": trained(made_up_run(seeds=(0, 1), played=0), lengths=(30, 40)),
    "a learner": trained(made_up_run(seeds=(3,), played=0), lengths=(30,)),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_the_table_of_its_scores(tmp_path: Path, name: str) -> None:
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


def test_the_interval_is_over_seeds_where_there_are_several(tmp_path: Path) -> None:
    run = RUNS["three seeds"]
    report = analyse([written(run, tmp_path / "run")])
    for score in report.algorithms[0].scores:
        means = [run.by_trial[trial.id].score.mean() for trial in run.trials if trial.game == score.game]
        assert score.score.high - score.score.low == pytest.approx(2 * 4.302653 * np.std(means, ddof=1) / 3**0.5)


def test_a_table_says_that_a_single_runs_interval_is_over_its_episodes(tmp_path: Path) -> None:
    def told(name: str) -> str:
        report = analyse(written(RUNS[name], tmp_path / name))
        return " ".join(notice.text for notice in report.notices)

    assert "over its episodes" in told("one seed")
    assert "over its episodes" not in told("three seeds")
    assert "over its episodes" not in told("single episodes")
