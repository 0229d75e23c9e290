"""Files that hold several runs or algorithms: DQN Zoo's and rliable's."""

import pickle

import numpy as np
import pytest
from score_files import read, refuse, write

from arcademark.scores.readers.formats import recognise

NAN = float("nan")


# DQN Zoo

ZOO = "iteration,frame,eval_episode_return,train_episode_return,eval_num_episodes,human_gap\n"


def test_one_run_of_dqn_zoo_takes_its_names_from_its_folders(tmp_path):
    path = write(tmp_path / "rainbow" / "pong" / "3" / "results.csv", ZOO + "0,0,-21,nan,9,1\n1,1000000,5.5,-20,9,1\n")
    assert recognise(path, path).format == "metrics-csv"
    made = read(tmp_path)
    assert (made.table.algorithms, made.table.tasks, made.runs) == (("rainbow",), ("pong",), {"rainbow": (3,)})
    assert made.table.scores.item() == 5.5
    assert (made.amounts, made.episodes) == ({"average": 2}, None)
    assert read(tmp_path, last=2).table.scores.item() == -7.75


def test_results_put_together_are_a_table_with_a_row_a_score(tmp_path):
    rows = "pong,1,1,1000000,2,0,1,1\npong,1,0,0,1,0,1,1\npong,2,0,0,4,0,1,1\nqbert,1,0,0,5,0,1,1\n"
    made = read(write(tmp_path / "c51.csv", "environment_name,seed," + ZOO + rows), algorithm="C51")
    assert (made.format, made.table.tasks, made.runs) == ("long", ("pong", "qbert"), {"C51": (1, 2)})
    np.testing.assert_array_equal(made.table.scores, [[[2, 4], [5, NAN]]])


# rliable

GAMES = ["Pong", "Q*bert"]


def npz(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_arrays_of_runs_by_games(tmp_path):
    path = npz(tmp_path / "a.npz", DQN=[[1, 2], [3, 4], [5, 6]], PPO=[[7.0, NAN]])
    assert recognise(path, path).format == "rliable"
    made = read(path, tasks=GAMES)
    assert (made.table.algorithms, made.table.tasks) == (("DQN", "PPO"), ("pong", "qbert"))
    np.testing.assert_array_equal(made.table.scores, [[[1, 3, 5], [2, 4, 6]], [[7, NAN, NAN], [NAN, NAN, NAN]]])
    assert "5 scores of 12 missing (NaN, or fewer runs)" in made.notes


def test_one_array_needs_its_algorithm(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, [[1.0, 2.0]])
    refuse(path, "which algorithm this array is of; say it with algorithm=", tasks=GAMES)
    assert read(path, tasks=GAMES, algorithm="me").table.scores.tolist() == [[[1], [2]]]


def test_json_with_and_without_names_of_games(tmp_path):
    arrays = read(write(tmp_path / "a.json", {"DQN": [[1, 2], [3, None]]}), tasks=GAMES).table
    named = read(write(tmp_path / "b.json", {"DQN": {"Q*bert": [2], "ALE/Pong-v5": [1, 3]}})).table
    np.testing.assert_array_equal(arrays.scores, named.select(tasks=["pong", "qbert"]).scores)


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        ({"a": [[1, 2]]}, {}, "which games the columns of its arrays are; give their order with tasks="),
        ({"a": [[1, 2]]}, {"tasks": ["Pong", "Pnog"]}, "tasks: unknown game 'Pnog'"),
        ({"a": [[1, 2]]}, {"tasks": ["Pong", "pong"]}, "task 'pong' is named twice"),
        ({"a": [[1, 2, 3]]}, {"tasks": GAMES}, r"'a': an array of shape \(1, 3\) .* \(runs, 2\)"),
        ({"a": [[1], [2]]}, {"tasks": GAMES}, "it looks transposed"),
        ({"a": [["x", "y"]]}, {"tasks": GAMES}, "'a': holds values of type"),
        ({"a": [[1, np.inf]]}, {"tasks": GAMES}, r"'a', element \[0, 1\]: inf is no score"),
        ({"a": np.zeros((0, 2))}, {"tasks": GAMES}, r"an array of shape \(0, 2\)"),
        ({"a": np.array([[1], [1, 2]], dtype=object)}, {"tasks": GAMES}, "can run any code"),
        ({}, {"tasks": GAMES}, "the file is empty"),
    ],
)
def test_damage_to_arrays_is_named(tmp_path, arrays, options, message):
    refuse(npz(tmp_path / "a.npz", **arrays), message, **options)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"ok": [[1, 2]], "a": [[1, 2], [3]]}', "'a': expected lists of numbers"),
        ('{"a": [[1, "x"]]}', "expected lists of numbers"),
        ('{"a": {"Pong": [1, true]}, "b": {"Pong": ["x"]}}', "no scores in a known form"),
        ('{"a": {"Pong": [1, true]}}', "no scores in a known form"),
        ('{"a": {"Pong": [1], "pong": [2]}}', "a second score for 'a' on 'pong'"),
        ('{"a": {"Pong": [1]}, "a": {"Pong": [2]}}', "'a' is named twice"),
        ('{"a": {"Pong": [1, 1e999]}}', "the number 1e999 is too large"),
        ('{"a": {"Pong": [[1]]}}', "no scores in a known form"),
        ('{"a": {"Pnog": [1]}}', "column 'game': unknown game 'Pnog'"),
        ('{"a": [[1, 2]', r"row 1, character \d+: not JSON"),
        ('{"lr": 0.1}', "row 1: expected the columns"),
        ("[]", "no scores in a known form"),
        ("[" * 100_000, "nested in more than 64 levels"),
    ],
)
def test_damage_to_json_is_named(tmp_path, content, message):
    refuse(write(tmp_path / "a.json", content), message, tasks=GAMES)


def test_objects_are_never_loaded(tmp_path):
    class Bomb:
        def __reduce__(self):
            return exec, (f"open({str(tmp_path / 'ran')!r}, 'w')",)

    dictionary = np.empty((), dtype=object)
    dictionary[()] = {"DQN": Bomb()}
    np.save(tmp_path / "a.npy", dictionary, allow_pickle=True)
    refuse(tmp_path / "a.npy", "can run any code .* numpy.savez", tasks=GAMES, algorithm="a")
    (tmp_path / "a.pkl").write_bytes(pickle.dumps({"DQN": Bomb()}))
    refuse(tmp_path / "a.pkl", "can run any code .* numpy.savez")
    assert not (tmp_path / "ran").exists()


def test_arrays_named_after_games_hold_runs_of_one_algorithm(tmp_path):
    path = tmp_path / "scores.npz"
    np.savez(path, Pong=[18.0, 19.8], Breakout=[400.0])
    reading = read(path, algorithm="DQN")
    assert (reading.table.algorithms, reading.table.tasks) == (("DQN",), ("pong", "breakout"))
    np.testing.assert_array_equal(reading.table.scores, [[[18.0, 19.8], [400.0, np.nan]]])
    refuse(path, "named after games, such as 'Pong'.*say whose with algorithm=")
    np.savez_compressed(path, Pong=np.zeros(5_000_001), Breakout=[400.0])
    refuse(path, "5,000,001 runs on 2 games, expected at most 10,000,000 scores", algorithm="DQN")
    np.savez(path, Pong=[[18.0, 19.8]], Breakout=[[400.0, 402.4]])
    refuse(path, "named after games, such as 'Pong'", tasks=["pong", "breakout"])
