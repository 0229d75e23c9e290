"""Scores from runs on disk, written by the runs' own recorder."""

import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.records import manifest
from arcademark.records.model import Checkpoint, EpisodeRecord, EpisodeResult, TrialRecord, encode_actions
from arcademark.runs.store.recording import Recorder
from arcademark.scores.reading import read_tables
from arcademark.scores.runs import IncompleteTrial, load_run, load_runs
from arcademark.suite.protocols import protocol

NAN = np.nan
PLANNED = 3


def write_run(directory, played, rules=None, planned=(), **more):
    rules, cells = rules or protocol("machado-2018"), (*played, *planned)
    with Recorder(directory) as recorder:
        document = {
            "schema": manifest.SCHEMA_VERSION,
            "protocol": rules.to_json(),
            "seeds": sorted({seed for _, _, seed in cells}),
            "left_out": [],
            "agents": [{"label": label} for label in dict.fromkeys(agent for agent, _, _ in cells)],
            "games": {game: "" for _, game, _ in cells},
            "versions": {},
            "episodes": PLANNED,
            **more,
        }
        manifest.write(directory, document)
        for (agent, game, seed), scores in played.items():
            identity = manifest.trial_of(document, rules, {"label": agent}, game, seed)
            with recorder.transaction():
                recorder.add_trials(
                    [TrialRecord(identity, agent, game, seed, PLANNED, None, None, "pending", None, None)]
                )
                if isinstance(scores, str):
                    recorder.fail_trial(identity, scores)
                else:
                    recorder.begin_trial(identity, None, learns=False)
                    recorder.add_episodes(episodes(identity, "evaluation", scores))
    return directory


def episodes(trial, phase, scores):
    return [
        EpisodeResult(EpisodeRecord(trial, phase, i, score, 40, 10, "terminated", 0.1), encode_actions([0] * 10))
        for i, score in enumerate(scores)
    ]


def test_a_run_becomes_a_table_of_means_over_episodes(tmp_path):
    played = {
        ("dqn", "pong", 0): [1.0, 2, 6],
        ("dqn", "pong", 5): [10.0, 10, 40],
        ("dqn", "qbert", 0): [0.0, 0, 0],
        ("dqn", "qbert", 5): [7.0, 8, 9],
        ("random", "pong", 0): [-21.0, -20, -19],
        ("random", "qbert", 0): [100.0, 200, 300],
    }
    run = load_run(write_run(tmp_path / "run", played))
    assert (run.table.algorithms, run.table.tasks) == (("dqn", "random"), ("pong", "qbert"))
    np.testing.assert_array_equal(run.table.scores, [[[3, 20], [0, 8]], [[-20, NAN], [200, NAN]]])
    assert run.table.protocols == ("machado-2018", "machado-2018")
    assert run.table.sources == (str(tmp_path / "run"),) * 2
    assert run.seeds == {"dqn": (0, 5), "random": (0,)}
    assert [scores.tolist() for scores in run.episodes["dqn", "pong"]] == [[1, 2, 6], [10, 10, 40]]
    assert run.incomplete == ()


def test_trials_short_of_episodes_count_and_are_named(tmp_path):
    played = {
        ("a", "pong", 0): [1.0, 2, 3],
        ("a", "qbert", 0): [5.0],
        ("a", "venture", 0): [],
        ("a", "zaxxon", 0): "the agent raised ValueError",
    }
    run = load_run(write_run(tmp_path / "run", played))
    np.testing.assert_array_equal(run.table.scores[0, :, 0], [2, 5, NAN, NAN])
    assert run.incomplete == (
        IncompleteTrial("a", "qbert", 0, PLANNED, 1, "running", None),
        IncompleteTrial("a", "venture", 0, PLANNED, 0, "pending", None),
        IncompleteTrial("a", "zaxxon", 0, PLANNED, 0, "failed", "the agent raised ValueError"),
    )
    assert ("a", "venture") not in run.episodes


def test_a_learners_score_is_what_its_protocol_reports(tmp_path):
    """The last k episodes of training under machado-2018, and nothing while training goes on."""
    planned = [("learner", "pong", 0), ("learner", "qbert", 0)]
    directory = write_run(tmp_path / "run", {}, planned=planned, training_frames=1000)
    document, rules = manifest.read(directory), protocol("machado-2018")
    with Recorder(directory) as recorder, recorder.transaction():
        for game, finished in (("pong", True), ("qbert", False)):
            name = manifest.trial_of(document, rules, {"label": "learner"}, game, 0)
            recorder.add_trials([TrialRecord(name, "learner", game, 0, PLANNED, 1000, None, "pending", None, None)])
            recorder.begin_trial(name, None, learns=True)
            training = episodes(name, "training", [0.0, 0, 1, 2, 6])
            recorder.add_training(name, training, Checkpoint(5, 200, finished, b""))
    run = load_run(directory)
    np.testing.assert_array_equal(run.table.scores[0, :, 0], [3, NAN])
    assert run.incomplete == (IncompleteTrial("learner", "qbert", 0, PLANNED, 0, "running", None),)


def test_runs_stand_side_by_side_and_shared_labels_carry_their_directory(tmp_path):
    first = write_run(tmp_path / "first", {("random", "pong", 0): [1.0] * 3, ("dqn", "pong", 0): [9.0] * 3})
    second = write_run(tmp_path / "second", {("random", "qbert", 0): [2.0], ("ppo", "pong", 0): [8.0] * 3})
    found = load_runs([first, second])
    assert found.table.algorithms == ("random [first]", "dqn", "random [second]", "ppo")
    assert found.table.tasks == ("pong", "qbert")
    np.testing.assert_array_equal(found.table.scores[..., 0], [[1, NAN], [9, NAN], [NAN, 2], [8, NAN]])
    assert found.runs[1].table.algorithms == ("random [second]", "ppo")
    assert found.runs[1].seeds == {"random [second]": (0,), "ppo": (0,)}
    assert set(found.runs[1].episodes) == {("random [second]", "qbert"), ("ppo", "pong")}
    assert [trial.algorithm for trial in found.runs[1].incomplete] == ["random [second]"]


def test_directories_of_one_name_are_told_apart_by_their_path(tmp_path):
    runs = [write_run(tmp_path / parent / "run", {("random", "pong", 0): [1.0] * 3}) for parent in ("x", "y")]
    assert load_runs(runs).table.algorithms == tuple(f"random [{run}]" for run in runs)


def test_runs_under_other_settings_have_their_protocols_in_the_table(tmp_path):
    rules = protocol("machado-2018")
    modified = rules.override({"frame_skip": 3})
    runs = [
        write_run(tmp_path / "a", {("a", "pong", 0): [1.0] * 3}, rules),
        write_run(tmp_path / "b", {("b", "pong", 0): [1.0] * 3}, rules),
        write_run(tmp_path / "c", {("c", "pong", 0): [1.0] * 3}, modified),
    ]
    found = load_runs(runs)
    assert found.table.protocols == ("machado-2018", "machado-2018", "machado-2018 (frame_skip=3)")


def test_runs_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(ArcadeMarkError, match="no runs given"):
        load_runs([])
    with pytest.raises(ArcadeMarkError, match="no such directory"):
        load_run(tmp_path / "nowhere")
    run = write_run(tmp_path / "run", {("a", "pong", 0): [1.0] * 3})
    with pytest.raises(ArcadeMarkError, match="named twice"):
        load_runs([run, run / ".." / "run"])


def test_a_runs_folder_is_read_as_any_other_table(tmp_path):
    played = {("dqn", "pong", 0): [1.0, 2, 6], ("dqn", "pong", 5): [10.0], ("dqn", "qbert", 5): "it broke"}
    run = write_run(tmp_path / "runs" / "mine", played)
    made = read_tables(run)
    scored = load_run(run)
    assert (made.format, made.files) == ("arcademark-run", (run,))
    assert made.table == scored.table
    assert made.runs == {"dqn": (0, 5)}
    assert [part.tolist() for part in made.episodes["dqn", "pong"]] == [[1, 2, 6], [10]]
    assert made.notes == ("2 trials contain fewer episodes than requested",)
    assert made.amounts == {"episode": 4}
    (tmp_path / "runs" / "table.csv").write_text("game,other\npong,3\nfreeway,4\n")
    both = read_tables(tmp_path / "runs")
    assert (both.table.algorithms, both.table.tasks) == (("dqn", "other"), ("pong", "qbert", "freeway"))
    np.testing.assert_array_equal(both.table.scores[0], [[3, 10], [NAN, NAN], [NAN, NAN]])
    assert both.table.protocols == (scored.table.protocols[0], "")
    assert both.notes == (f"{run}: 2 trials contain fewer episodes than requested",)


def test_a_link_to_itself_is_no_run(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(ArcadeMarkError, match="loop"):
        load_runs([tmp_path / "loop"])
