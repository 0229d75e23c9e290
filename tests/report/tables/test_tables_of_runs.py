"""One run in two documents: what both call by one name is one number, with one interval."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from made_up import ATARI_5, made_up_run, trained

from arcademark.report.render import json
from arcademark.report.runs.views import analyse
from arcademark.report.tables.analysis import score_table
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
def test_report_and_score_agree(tmp_path: Path, name: str) -> None:
    directory = written(RUNS[name], tmp_path / "run")
    (of_run,) = json.render(analyse([directory]))["algorithms"]
    (of_table,) = json.render(score_table(directory))["algorithms"]
    assert len(of_run["scores"]) == len(ATARI_5)
    for one, other in zip(of_run["scores"], of_table["scores"], strict=True):
        interval = one["interval"] or {"low": None, "high": None}
        shown = {"value": one["score"], "low": interval["low"], "high": interval["high"]}
        assert (one["game"], shown, one["seeds"]) == (other["game"], other["score"], other["runs"])
        assert {key: one[key] for key in ("hns", "hwrns")} == {
            key: other["normalised"][key] for key in ("hns", "hwrns")
        }
    assert of_run["estimate"] == of_table["estimate"]
    assert of_run["breakthroughs"] == of_table["breakthroughs"]
    for one, other in zip(of_run["summaries"], of_table["summaries"], strict=True):
        assert one["metric"] == other["metric"]
        values = {key: other[key]["value"] for key in ("mean", "median", "iqm")}
        assert {key: one[key] for key in values} == pytest.approx(values, rel=1e-12)


def test_the_interval_is_over_seeds_where_there_are_several(tmp_path: Path) -> None:
    run = RUNS["three seeds"]
    report = analyse([written(run, tmp_path / "run")])
    for score in report.algorithms[0].scores:
        means = [run.by_trial[trial.id].score.mean() for trial in run.trials if trial.game == score.game]
        assert score.interval is not None
        assert score.interval.high - score.interval.low == pytest.approx(2 * 4.302653 * np.std(means, ddof=1) / 3**0.5)


def test_a_table_says_that_a_single_runs_interval_is_over_its_episodes(tmp_path: Path) -> None:
    def told(name: str) -> str:
        report = score_table(written(RUNS[name], tmp_path / name))
        return " ".join(notice.text for notice in report.notices)

    assert "from a single run is Student's t over its episodes" in told("one seed")
    assert "over its episodes" not in told("three seeds")
    assert "over its episodes" not in told("single episodes")
