"""Files that hold several algorithms or runs: DQN Zoo's, Dopamine's and rliable's."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import Reading
from arcademark.scores.readers.formats import recognise
from arcademark.scores.reading import read_logs, read_tables
from arcademark.suite.tasks import canonical_game

NAN = float("nan")


def read(path: Path, **options: object) -> Reading:
    return read_tables(path, canonical_task=canonical_game, **options)  # type: ignore[arg-type]


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def refuse(path: Path, message: str, **options: object) -> None:
    with pytest.raises(ArcadeMarkError, match=message) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)


# DQN Zoo

ZOO = "iteration,frame,eval_episode_return,train_episode_return,eval_num_episodes,human_gap\n"


def test_one_run_of_dqn_zoo_takes_its_names_from_its_folders(tmp_path: Path) -> None:
    path = write(tmp_path / "rainbow" / "pong" / "3" / "results.csv", ZOO + "0,0,-21,nan,9,1\n1,1000000,5.5,-20,9,1\n")
    assert recognise(path, path).format == "dqn-zoo"
    made = read(tmp_path)
    assert (made.table.algorithms, made.table.tasks, made.runs) == (("rainbow",), ("pong",), {"rainbow": (3,)})
    assert made.table.scores.item() == 5.5
    assert (made.rows_read, made.rows_left_out, made.episodes) == (2, 1, None)
    assert read(tmp_path, last=2).table.scores.item() == -7.75


def test_results_put_together_hold_game_and_seed_and_the_file_names_the_agent(tmp_path: Path) -> None:
    head = "environment_name,seed," + ZOO
    rows = (
        "pong,1,1,1000000,2,0,1,1\npong,1,0,0,1,0,1,1\npong,2,1,1000000,nan,0,1,1\npong,2,0,0,4,0,1,1\n"
        "qbert,1,0,0,5,0,1,1\n"
    )
    made = read(write(tmp_path / "c51.csv", head + rows))
    assert (made.table.algorithms, made.table.tasks, made.runs) == (("c51",), ("pong", "qbert"), {"c51": (1, 2)})
    np.testing.assert_array_equal(made.table.scores, [[[2, 4], [5, NAN]]])
    assert any("eval_episode_return is missing are left out" in note for note in made.notes)
    assert (made.rows_read, made.rows_left_out) == (5, 2)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("pong,1,0,0,x,0,1,1\n", "row 2, column 'eval_episode_return': 'x' is no score"),
        ("pong,x,0,0,1,0,1,1\n", "row 2, column 'seed': 'x' is no whole number"),
        ("pnog,1,0,0,1,0,1,1\n", "unknown game 'pnog'; did you mean 'pong'"),
        ("pong,1,0,0,1,0,1,1\npong,1,1,0,2,0,1,1\n", r"row 3: a second score of the same run .* row 2\)"),
        ("pong,1,0,0,nan,0,1,1\n", "no score in the log"),
        ("", "no rows below the header"),
    ],
)
def test_damage_to_dqn_zoos_results_is_named(tmp_path: Path, rows: str, message: str) -> None:
    refuse(write(tmp_path / "dqn.csv", "environment_name,seed," + ZOO + rows), message)


# Dopamine


def points(*rows: tuple[str, int, float]) -> list[dict[str, object]]:
    return [{"Iteration": iteration, "Value": value, "Agent": agent} for agent, iteration, value in rows]


def test_runs_that_follow_each_other(tmp_path: Path) -> None:
    rows = [("DQN", 0, 1.0), ("DQN", 1, 2.0), ("DQN", 0, 3.0), ("DQN", 1, 4.0), ("C51", 0, 5.0), ("C51", 1, 6.0)]
    path = write(tmp_path / "spaceinvaders.json", points(*rows))
    assert recognise(path, path).format == "dopamine"
    made = read(path)
    assert (made.table.algorithms, made.table.tasks) == (("DQN", "C51"), ("space_invaders",))
    np.testing.assert_array_equal(made.table.scores, [[[2, 4]], [[6, NAN]]])
    assert read(path, last=2).table.scores[0].tolist() == [[1.5, 3.5]]
    assert "runs are not numbered in the file: they are numbered in their order" in made.notes


def test_runs_of_which_one_ended_early_and_one_had_no_value(tmp_path: Path) -> None:
    rows = [("DQN", 0, 1.0), ("DQN", 0, 3.0), ("DQN", 1, NAN)]
    made = read(write(tmp_path / "pong_CNN.json", points(*rows[:1], *rows[1:])))
    assert made.table.tasks == ("pong",)
    np.testing.assert_array_equal(made.table.scores, [[[1, 3]]])
    assert any("iterations that not all runs have are left out" in note for note in made.notes)
    assert (made.rows_read, made.rows_left_out) == (3, 1)


def test_runs_that_stand_together_at_each_iteration(tmp_path: Path) -> None:
    rows = [("DQN", 0, 1.0), ("DQN", 0, 2.0), ("DQN", 1, 3.0), ("DQN", 1, 4.0)]
    made = read(write(tmp_path / "pong.json", points(*rows)), last=2)
    assert made.table.scores.tolist() == [[[2, 3]]]


def test_csv_with_a_game(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "Agent,Game,Iteration,Value\nDQN,Pong,0,1\nDQN,Pong,1,2\nDQN,Q*bert,0,7\n")
    assert recognise(path, path).format == "dopamine"
    made = read(path)
    assert (made.table.tasks, made.table.scores.ravel().tolist()) == (("pong", "qbert"), [2, 7])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"Agent": "a", "Iteration": 0, "Value": "x"}], "element 0, Value: 'x' is no score"),
        ([{"Agent": "a", "Iteration": 0, "Value": 1e300}], "element 0, Value: 1e\\+300 is no score"),
        ([{"Agent": "a", "Iteration": 0.5, "Value": 1}], "element 0, Iteration: 0.5 is no whole number"),
        ([{"Agent": "a", "Iteration": 0, "Value": 1}, {"Agent": "a"}], "element 1: expected an object with Agent"),
        ([{"Agent": "a", "Iteration": 0, "Value": 1, "Game": "Pnog"}], "unknown game 'Pnog'"),
        ([{"Agent": "a", "Iteration": 0, "Value": None}], "no score in the log"),
    ],
)
def test_damage_to_dopamines_baselines_is_named(tmp_path: Path, content: object, message: str) -> None:
    refuse(write(tmp_path / "pong.json", content), message)


def test_an_iteration_is_a_million_frames_and_a_network_is_part_of_the_agent(tmp_path: Path) -> None:
    write(tmp_path / "ms_pacman.json", points(("DQN", 0, 1.0), ("DQN", 1, 2.0)))
    write(tmp_path / "ms_pacman_CNN.json", points(("DQN", 0, 3.0), ("DQN", 1, NAN), ("DQN", 2, 4.0)))
    logs, _ = read_logs(tmp_path, canonical_task=canonical_game)
    assert [(log.algorithm, log.task, log.counts_frames) for log, _ in logs] == [
        ("DQN", "ms_pacman", True),
        ("DQN (CNN)", "ms_pacman", True),
    ]
    assert [log.steps.tolist() for log, _ in logs if log.steps is not None] == [[1e6, 2e6], [1e6, 3e6]]


def test_a_run_that_ends_early_takes_no_other_with_it(tmp_path: Path) -> None:
    rows = [("DQN", at, 10.0 * at + run) for at in range(4) for run in range(2 if at < 1 else 1)]
    made = read(write(tmp_path / "pong.json", points(*rows)))
    assert made.table.scores.tolist() == [[[30]]]
    assert made.rows_left_out == 4


# DreamerV3


def curve(seed: object = 0, **changed: object) -> dict[str, object]:
    run = {"task": "atari_pong", "method": "dreamerv3", "seed": seed, "xs": [4e5, 8e5, 12e5], "ys": [-20.5, 3, None]}
    return run | changed


def test_a_score_file_has_runs_with_frames(tmp_path: Path) -> None:
    content = [curve(), curve("3", ys=[1, 2, 4.5]), curve(task="atari_kung_fu_master", xs=[4e5], ys=[7])]
    path = write(tmp_path / "scores.json", content)
    assert recognise(path, path).format == "dreamer"
    made = read(path)
    assert (made.table.algorithms, made.table.tasks) == (("dreamerv3",), ("pong", "kung_fu_master"))
    np.testing.assert_array_equal(made.table.scores, [[[3, 4.5], [7, NAN]]])
    assert made.runs == {"dreamerv3": (0, 3)}
    assert (made.rows_read, made.rows_left_out) == (7, 4)
    assert sum("ends at less than 90% of the 1,200,000 frames" in note for note in made.notes) == 2
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    np.testing.assert_array_equal(read(packed).table.scores, made.table.scores)
    (log, *_), _ = read_logs(packed, canonical_task=canonical_game)
    assert log[0].steps is not None
    assert log[0].steps.tolist() == [4e5, 8e5]


def test_seeds_that_are_no_numbers_are_counted(tmp_path: Path) -> None:
    made = read(write(tmp_path / "runs.json", [curve("indir1_0"), curve("indir1_1", ys=[1, 2, 4])]))
    assert made.table.scores.tolist() == [[[3, 4]]]


def test_a_folder_of_logs_of_episodes(tmp_path: Path) -> None:
    for seed, scores in (("0", (-21, -20)), ("1", (-19, -18))):
        lines = [json.dumps({"step": 4000 * at, "episode/score": score}) for at, score in enumerate(scores, start=1)]
        write(tmp_path / "atari_pong" / "dreamerv3" / seed / "scores.jsonl", "\n".join(lines) + "\n")
        write(tmp_path / "atari_pong" / "dreamerv3" / seed / "metrics.jsonl", '{"step": 1, "fps": 2}\n')
    made = read(tmp_path)
    assert made.format == "dreamer"
    assert (made.table.scores.tolist(), made.runs) == ([[[-20.5, -18.5]]], {"dreamerv3": (0, 1)})
    assert made.episodes is not None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([curve(), {"task": "atari_pong"}], "element 1: expected an object with task, method, seed, xs and ys"),
        ([curve(task="atari_pnog")], "unknown game 'atari_pnog'"),
        ([curve(task=3)], "element 0: task and method are 3 and 'dreamerv3', expected names"),
        ([curve(ys=[1, 2])], "element 0: xs and ys are no two lists of one length"),
        ([curve(ys=[1, 2, "x"])], "element 0, ys: 'x' is no score"),
        ([curve(xs=[1, 3, 2])], "element 0, xs: frames do not increase"),
        ([curve(xs=[-1, 3, 2])], "element 0, xs: -1 is no number of frames"),
        ([curve(ys=[None] * 3)], "no score in the log"),
        ([curve(), curve()], "a second log of 'dreamerv3' on 'pong', run 0"),
        ('{"step": 4, "episode/score": 1}\n{"step": 8}\n', "row 2: expected an object of step and episode/score"),
        ('{"step": -4, "episode/score": 1}\n', "row 1: -4 is no number of frames"),
        ('{"step": 4, "episode/score": "x"}\n', "row 1, episode/score: 'x' is no score"),
        ('{"step": 4, "episode/score": 1}\n', "nothing says which algorithm this is"),
    ],
)
def test_damage_to_dreamers_files_is_named(tmp_path: Path, content: object, message: str) -> None:
    refuse(write(tmp_path / "scores.json", content), message)


# rliable

GAMES = ["Pong", "Q*bert"]


def npz(path: Path, **arrays: object) -> Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


def test_arrays_of_runs_by_games(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", DQN=[[1, 2], [3, 4], [5, 6]], PPO=[[7.0, NAN]])
    assert recognise(path, path).format == "rliable"
    made = read(path, tasks=GAMES)
    assert (made.table.algorithms, made.table.tasks) == (("DQN", "PPO"), ("pong", "qbert"))
    np.testing.assert_array_equal(made.table.scores, [[[1, 3, 5], [2, 4, 6]], [[7, NAN, NAN], [NAN, NAN, NAN]]])
    assert "5 scores of 12 missing (NaN, or fewer runs)" in made.notes


def test_arrays_of_learning_curves_count_with_their_end(tmp_path: Path) -> None:
    made = read(npz(tmp_path / "a.npz", DQN=np.arange(12.0).reshape(2, 2, 3)), tasks=GAMES)
    assert made.table.scores.tolist() == [[[2, 8], [5, 11]]]
    assert "'DQN' holds 3 points of training; the score is the last" in made.notes
    assert (made.rows_read, made.rows_left_out) == (12, 8)


def test_one_array_needs_its_algorithm(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, [[1.0, 2.0]])
    refuse(path, "which algorithm this array is of; say it with algorithm=", tasks=GAMES)
    assert read(path, tasks=GAMES, algorithm="me").table.scores.tolist() == [[[1], [2]]]


def test_json_with_and_without_names_of_games(tmp_path: Path) -> None:
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
        ({"a": [["x", "y"]]}, {"tasks": GAMES}, "'a': holds values of type U1, expected numbers"),
        ({"a": [[1, np.inf]]}, {"tasks": GAMES}, r"'a', element \[0, 1\]: inf is no score"),
        ({"a": np.zeros((0, 2))}, {"tasks": GAMES}, r"an array of shape \(0, 2\)"),
        ({"a": np.array([[1], [1, 2]], dtype=object)}, {"tasks": GAMES}, "can run any code"),
        ({}, {"tasks": GAMES}, "the file is empty"),
    ],
)
def test_damage_to_arrays_is_named(
    tmp_path: Path, arrays: dict[str, object], options: dict[str, object], message: str
) -> None:
    refuse(npz(tmp_path / "a.npz", **arrays), message, **options)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": [[1, 2], [3]]}', "'a': expected lists of numbers"),
        ('{"a": [[1, "x"]]}', "'a': expected lists of numbers"),
        ('{"a": {"Pong": [1, true]}, "b": {"Pong": ["x"]}}', "no scores in a known form"),
        ('{"a": {"Pong": [1], "pong": [2]}}', "'pong': a second list for 'a' on 'pong'"),
        ('{"a": {"Pong": [1]}, "a": {"Pong": [2]}}', "'a' is named twice"),
        ('{"a": {"Pong": [1, 1e999]}}', "the number 1e999 is too large"),
        ('{"a": {"Pong": [[1]]}}', "expected a list of numbers, one a run"),
        ('{"a": {"Pnog": [1]}}', "'a', 'Pnog': unknown game 'Pnog'"),
        ('{"a": [[1, 2]', r"row 1, character \d+: not JSON"),
        ('{"lr": 0.1}', "no scores in a known form"),
        ("[]", "no scores in a known form"),
        ("[" * 100_000, "nested in more than 64 levels"),
    ],
)
def test_damage_to_json_is_named(tmp_path: Path, content: str, message: str) -> None:
    refuse(write(tmp_path / "a.json", content), message, tasks=GAMES)


def test_objects_are_never_loaded(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return exec, (f"open({str(tmp_path / 'ran')!r}, 'w')",)

    dictionary = np.empty((), dtype=object)
    dictionary[()] = {"DQN": Bomb()}
    np.save(tmp_path / "a.npy", dictionary, allow_pickle=True)
    refuse(tmp_path / "a.npy", "can run any code .* numpy.savez", tasks=GAMES, algorithm="a")
    (tmp_path / "a.pkl").write_bytes(pickle.dumps({"DQN": Bomb()}))
    refuse(tmp_path / "a.pkl", "can run any code .* numpy.savez")
    assert not (tmp_path / "ran").exists()


def test_arrays_that_are_cut_short(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", a=np.ones((5, 2)))
    path.write_bytes(path.read_bytes()[:-9])
    refuse(path, r"not a whole \.npz file", tasks=GAMES)
    np.save(tmp_path / "a.npy", np.ones((5, 2)))
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-9])
    refuse(tmp_path / "a.npy", "not a whole NumPy file", tasks=GAMES, algorithm="a")
