"""The logs of single runs, one after the other: each fixture is written as the tool writes it."""

import json

import numpy as np
import pytest
from score_files import episodes, monitor, read, refuse, uninstall, write
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.scalar.metadata import create_summary_metadata
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.util.tensor_util import make_tensor_proto

from arcademark.scores.readers.formats import recognise

NAN = float("nan")


# Stable-Baselines3's monitor.csv


def test_a_monitor_knows_its_game_and_the_last_100_episodes_count(tmp_path):
    path = monitor(tmp_path / "monitor.csv", *range(250))
    assert recognise(path, path).format == "sb3-monitor"
    made = read(path, algorithm="ppo", run=3)
    assert (made.table.algorithms, made.table.tasks, made.runs) == (("ppo",), ("pong",), {"ppo": (3,)})
    assert made.table.scores.item() == np.mean(range(150, 250))
    assert episodes(made) == {("ppo", "pong"): [list(range(150, 250))]}
    assert made.amounts == {"episode": 250}
    assert "a run's score is the mean of its last 100 episodes" in made.notes
    assert "150 earlier values of 250 left out of the scores" in made.notes
    assert read(path, algorithm="ppo", last=2).table.scores.item() == 248.5
    short = read(monitor(tmp_path / "monitor.csv", 1.0, 2.0), algorithm="ppo")
    assert short.table.scores.item() == 1.5
    assert "the run has no more than 2 episodes" in short.notes


def test_monitors_of_parallel_environments_are_one_run_in_the_order_of_time(tmp_path):
    monitor(tmp_path / "ppo" / "Pong" / "7" / "0.monitor.csv", 1.0, 3.0, start=100.0)
    monitor(tmp_path / "ppo" / "Pong" / "7" / "1.monitor.csv", 2.0, 4.0, start=100.25)
    made = read(tmp_path, last=3)
    assert episodes(made) == {("ppo", "pong"): [[2, 3, 4]]}
    assert made.runs == {"ppo": (7,)}
    assert "1 run put together from several files of one folder, in the order of time" in made.notes


FIRST_LINES = ["[1]", "7", *('{"t_start": ' + rest for rest in ("1.0", '"x"}', "1e999}", "9" * 5000 + "}"))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((f"#{head}\nr,l,t\n1,2,3\n", "row 1: expected (a monitor's first line|the columns)") for head in FIRST_LINES),
        ('#{"t_start": 1.0}\nreward,l,t\n1,2,3\n', "row 2: expected the columns r, l, t, not 'reward, l, t'"),
        ('#{"t_start": 1.0}\nr,l,t\n1,2,3\nx,2,3\n', "row 4, column 'r': 'x' is no score"),
        ('#{"t_start": 1.0}\nr,l,t\n1,2,3\n1,2\n', "row 4: 2 cells, expected 3 as in the header; correct"),
        ('#{"t_start": 1.0}\nr,l,t\n,2,3\n', "row 3, column 'r': an episode without a score"),
        ('#{"t_start": 1.0, "env_id": "Pong-v4"}\nr,l,t\n', "no score in the log"),
        ('#{"t_start": 1.0, "env_id": "Pnog-v4"}\nr,l,t\n1,2,3\n', "unknown game 'Pnog-v4'; did you mean 'pong'"),
        ('#{"t_start": 1.0, "env_id": null}\nr,l,t\n1,2,3\n', "which game this is; say it with task="),
        ('#{"t_start": 1.0}\n', "the file is empty"),
    ],
)
def test_damage_to_a_monitor_is_named(tmp_path, text, message):
    refuse(write(tmp_path / "monitor.csv", text), message, algorithm="a")


@pytest.mark.parametrize(
    ("folder", "env", "task"),
    [("PongNoFrameskip-v4", "None", "pong"), ("any", "arcademark/breakout", "breakout"), ("Qbert", "Pong-v4", "pong")],
)
def test_a_monitor_or_its_path_names_the_game(tmp_path, folder, env, task):
    path = monitor(tmp_path / folder / "monitor.csv", 3.0, env=env)
    assert read(path, algorithm="ppo").table.tasks == (task,)


# Stable-Baselines3's evaluations.npz


def test_the_last_evaluation_counts(tmp_path):
    path = tmp_path / "dqn" / "BreakoutNoFrameskip-v4_2" / "evaluations.npz"
    path.parent.mkdir(parents=True)
    np.savez(path, timesteps=[100, 200, 300], results=[[1, 3], [5, 7], [9, 13]], ep_lengths=[[1, 1]] * 3)
    assert recognise(path, path).format == "sb3-evaluations"
    made = read(tmp_path)
    assert (made.table.algorithms, made.table.tasks, made.runs) == (("dqn",), ("breakout",), {"dqn": (2,)})
    assert episodes(made) == {("dqn", "breakout"): [[9, 13]]}
    assert made.amounts == {"episode": 6}
    assert "scores are of the last evaluation, at 300 steps" in made.notes
    assert read(tmp_path, last=2).table.scores.item() == 8.5


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"timesteps": [1, 2], "results": [[1.0]]}, r"'results' has shape \(1, 1\) and 'timesteps' \(2,\)"),
        ({"timesteps": [1], "results": [[1.0, NAN]]}, r"results\[0, 1\]: nan is no score"),
        ({"timesteps": [], "results": np.zeros((0, 3))}, "there is no evaluation"),
        ({"timesteps": [1], "results": [["x"]]}, "'results': holds values of type"),
        ({"other": [1]}, "expected numbers of shape"),
    ],
)
def test_damage_to_evaluations_is_named(tmp_path, arrays, message):
    path = tmp_path / "evaluations.npz"
    np.savez(path, **arrays)
    refuse(path, message, algorithm="a", task="pong", format="sb3-evaluations")


# RLlib's result.json


def results(folder, rows, config=None):
    config = {"env": "ALE/Pong-v5", "seed": 5} if config is None else config
    lines = (json.dumps({"training_iteration": i, "config": config} | row) + "\n" for i, row in enumerate(rows))
    return write(folder / "result.json", "".join(lines))


TRIAL = "PPO_ALE_Pong-v5_1a2b3_00000_0_2026-01-01_00-00-00"


def window(scores, new):
    return {
        "episode_reward_mean": float(np.mean(scores)),
        "episodes_this_iter": new,
        "hist_stats": {"episode_reward": scores},
    }


@pytest.mark.parametrize("place", ["", "env_runners", "sampler_results"])
def test_old_results_hold_each_episode_once(tmp_path, place):
    rows = [window([1.0, 2.0], 2), window([1.0, 2.0, 3.0], 1), window([3.0, 4.0, 5.0], 2), window([3.0, 4.0, 5.0], 0)]
    path = results(tmp_path / TRIAL, [{place: row} if place else row for row in rows])
    assert recognise(path, path).format == "rllib"
    made = read(path)
    assert (made.table.algorithms, made.table.tasks, made.runs) == (("PPO",), ("pong",), {"PPO": (5,)})
    assert episodes(made) == {("PPO", "pong"): [[1, 2, 3, 4, 5]]}
    assert read(path, last=2).table.scores.item() == 4.5


def test_results_of_versions_that_put_new_episodes_first(tmp_path):
    path = results(tmp_path / TRIAL, [window([1.0, 2.0], 2), window([3.0, 1.0, 2.0], 1)])
    assert episodes(read(path)) == {("PPO", "pong"): [[1, 2, 3]]}


@pytest.mark.parametrize(
    "row",
    [
        {"env_runners": {"episode_return_mean": 7.0}},
        {"env_runners": {"episode_reward_mean": 7.0}},
        {"sampler_results": {"episode_reward_mean": 7.0}},
        {"episode_reward_mean": 7.0},
    ],
)
def test_averages_under_every_stacks_name(tmp_path, row):
    first = json.loads(json.dumps(row).replace("7.0", "3.0"))
    made = read(results(tmp_path / TRIAL, [{}, first, row]))
    assert made.table.scores.item() == 7
    assert made.episodes is None
    assert any("an average that RLlib made" in note for note in made.notes)
    assert any("missing in 1 of 3 iterations" in note for note in made.notes)
    assert read(results(tmp_path / TRIAL, [{}, first, row]), last=2).table.scores.item() == 5


def test_an_average_that_is_nan_is_no_score(tmp_path):
    made = read(results(tmp_path / TRIAL, [{"episode_reward_mean": 4.0}, {"episode_reward_mean": NAN}]))
    assert made.table.scores.item() == 4
    refuse(results(tmp_path / TRIAL, [{"episode_reward_mean": NAN}]), "no score in the log")


def test_another_value_of_the_results(tmp_path):
    path = results(tmp_path / TRIAL, [{"episode_reward_mean": 4.0, "evaluation": {"episode_reward_mean": 9.0}}])
    assert read(path, tag="evaluation/episode_reward_mean").table.scores.item() == 9
    refuse(path, "no evaluation/x in the results", tag="evaluation/x")


def test_what_results_do_not_say_is_asked_for(tmp_path):
    path = results(tmp_path / "x", [{"episode_reward_mean": 4.0}])
    refuse(path, "which algorithm this is")
    assert read(path, algorithm="impala").table.algorithms == ("impala",)
    refuse(results(tmp_path / "x", [{"episode_reward_mean": 4.0}], config={}), "which game", algorithm="a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"episode_reward_mean": 1.0}\n{"episode_rew\n', r"row 2, character \d+: not JSON .* cut short"),
        ('{"training_iteration": 1}\n{"date": 1\n{"date": 2}\n', r"row 2, character 11: not JSON"),
        ('\n{"date": 1 2}\n', r"row 2, character 12: not JSON"),
        ('{"episode_reward_mean": 1.0}\n[1]\n', "row 2: expected a JSON object"),
        ('{"episode_reward_mean": "x"}\n', "row 1, episode_reward_mean: 'x' is no score"),
        ('{"episode_reward_mean": Infinity}\n', "row 1, episode_reward_mean: inf is no score"),
        ('{"training_iteration": 1}\n', "row 1: no env_runners/episode_return_mean"),
        (
            '{"episodes_this_iter": 1, "hist_stats": {"episode_reward": [NaN]}, "training_iteration": 1}\n',
            "row 1, hist_stats",
        ),
    ],
)
def test_damage_to_results_is_named(tmp_path, text, message):
    refuse(write(tmp_path / "result.json", text), message, algorithm="a", task="pong")


# TensorBoard's event files


def events(folder, series, *, tensors=False, suffix=""):
    writer = EventFileWriter(str(folder), filename_suffix=suffix)
    for tag, points in series.items():
        for step, number in points:
            value = (
                Summary.Value(tag=tag, tensor=make_tensor_proto(number), metadata=create_summary_metadata("", ""))
                if tensors
                else Summary.Value(tag=tag, simple_value=number)
            )
            writer.add_event(Event(wall_time=step, step=step, summary=Summary(value=[value])))
    writer.close()
    return next(folder.glob(f"events.out.tfevents*{suffix}"))


@pytest.mark.parametrize("tensors", [False, True])
def test_cleanrls_events_hold_an_episode_a_value_and_the_run_names_itself(tmp_path, tensors):
    folder = tmp_path / "ALE" / "Pong-v5__dqn_atari__3__1700000000"
    path = events(
        folder,
        {"losses/td": [(1, 9.0)], "charts/episodic_return": [(10, -21.0), (30, 5.0), (20, -20.0)]},
        tensors=tensors,
    )
    assert recognise(path, path).format == "tensorboard"
    made = read(path)
    assert (made.table.algorithms, made.table.tasks, made.runs) == (("dqn_atari",), ("pong",), {"dqn_atari": (3,)})
    assert episodes(made) == {("dqn_atari", "pong"): [[-21, -20, 5]]}
    assert read(path, last=2).table.scores.item() == -7.5
    assert any("charts/episodic_return, taken as one episode's score per value" in note for note in made.notes)


def test_averages_count_with_the_last_and_other_series_are_named(tmp_path):
    path = events(tmp_path, {"rollout/ep_rew_mean": [(1, 1.0), (2, 4.0)], "eval/mean_reward": [(2, 8.0)]})
    made = read(path, algorithm="ppo", task="pong")
    assert (made.table.scores.item(), made.episodes) == (4, None)
    assert any("eval/mean_reward is there too: tag= (--read tag=NAME) takes it" in note for note in made.notes)
    assert read(path, algorithm="ppo", task="pong", tag="eval/mean_reward").table.scores.item() == 8
    refuse(path, "there is no series 'x'; it has rollout/ep_rew_mean, eval/mean_reward", tag="x", algorithm="a")


def test_a_resumed_run_has_two_files_in_one_folder(tmp_path):
    folder = tmp_path / "PongNoFrameskip-v4__ppo__1__1700000000"
    events(folder, {"charts/episodic_return": [(30, 3.0), (40, 4.0)]}, suffix=".a")
    events(folder, {"charts/episodic_return": [(10, 1.0), (20, 2.0)]}, suffix=".b")
    assert episodes(read(tmp_path)) == {("ppo", "pong"): [[1, 2, 3, 4]]}


def test_damage_to_events_is_named(tmp_path, monkeypatch):
    path = events(tmp_path, {"charts/episodic_return": [(1, 1.0), (2, 2.0), (3, 3.0)]})
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    made = read(path, algorithm="a", task="pong")
    assert made.table.scores.item() == 1.5
    assert any("the file is damaged (it breaks off in the record at byte" in note for note in made.notes)
    path.write_bytes(whole[:60])
    refuse(path, "an event file without scalars", algorithm="a", task="pong")
    path.write_bytes(whole.replace(b"charts/episodic_return", b"charts/episodic_retorn"))
    refuse(
        path, "no series that is known to be scores .*it has charts/episodic_retorn: name one with tag=", algorithm="a"
    )
    path.write_bytes(whole)
    uninstall(monkeypatch, "tensorboard")
    refuse(path, r"needs tensorboard; pip install '\.\[readers\]'", algorithm="a", task="pong")


def test_events_that_are_nan_or_infinite(tmp_path):
    path = events(tmp_path / "a", {"charts/episodic_return": [(1, 1.0), (2, NAN)]})
    made = read(path, algorithm="a", task="pong")
    assert (made.table.scores.item(), made.amounts) == (1, {"episode": 1})
    assert any("NaN are left out" in note for note in made.notes)
    path = events(tmp_path / "b", {"charts/episodic_return": [(7, float("inf"))]})
    refuse(path, "charts/episodic_return at step 7: inf is no score", algorithm="a", task="pong")
