import dataclasses

import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.scores.table import ScoreTable, concatenate

NAN = np.nan


def table(**changes):
    values = {
        "algorithms": ("a", "b"),
        "tasks": ("pong", "qbert", "venture"),
        "scores": [[[1.0, 3.0], [10.0, NAN], [NAN, NAN]], [[5.0, 5.0], [NAN, 30.0], [7.0, 8.0]]],
        "protocols": ("saber", "ale-v5"),
        "sources": ("runs/a", "runs/b"),
    }
    return ScoreTable(**(values | changes))


def test_scores_are_a_read_only_copy_of_what_was_given():
    given_scores = np.zeros((2, 3, 1))
    made = table(scores=given_scores)
    given_scores[0, 0, 0] = 9
    assert made.scores[0, 0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        made.scores[0, 0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.tasks = ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithms": ("a", "a")}, "algorithm 'a' is named twice"),
        ({"tasks": ("pong", "qbert", "pong")}, "task 'pong' is named twice"),
        ({"scores": np.zeros((2, 3))}, r"shape \(2, 3\), expected .* = \(2, 3, runs\)"),
        ({"scores": np.zeros((3, 2, 1))}, r"shape \(3, 2, 1\)"),
        ({"protocols": ("saber",)}, "1 protocols for 2 algorithms"),
        ({"sources": ("x", "y", "z")}, "3 sources for 2 algorithms"),
        ({"scores": [[[1.0], [2.0], [3.0]], [[1.0], [-np.inf], [1.0]]]}, "'b' on 'qbert', run 0, is infinite"),
    ],
)
def test_what_makes_no_table_is_refused(changes, message):
    with pytest.raises(ArcadeMarkError, match=message):
        table(**changes)


def test_mean_over_runs_leaves_out_missing_runs_and_counts_the_others():
    assert table().runs_present().tolist() == [[2, 1, 0], [2, 1, 2]]
    np.testing.assert_array_equal(table().mean_over_runs(), [[2.0, 10.0, NAN], [5.0, 30.0, 7.5]])


def test_algorithms_and_tasks_are_selected_and_renamed_by_their_names():
    chosen = table().select(algorithms=("b",), tasks=("venture", "pong"))
    assert chosen == ScoreTable(("b",), ("venture", "pong"), np.array([[[7.0, 8], [5, 5]]]), ("ale-v5",), ("runs/b",))
    assert table().select() == table()
    assert table().rename({"a": "b", "b": "a"}) == table(algorithms=("b", "a"))
    many = ScoreTable(("a",), tuple(f"t{i}" for i in range(20)), np.zeros((1, 20, 1)), ("",), ("",))
    for wrong, message in (
        (lambda: table().select(tasks=("pog",)), "unknown task 'pog'; did you mean 'pong'"),
        (lambda: table().select(algorithms=("z",)), "unknown algorithm 'z'"),
        (lambda: table().rename({"z": "c"}), "unknown algorithm 'z'"),
        (lambda: table().rename({"a": "b"}), "'b' is named twice"),
        (lambda: table().to_dataframe("no_such_library"), "expected 'pandas' or 'polars'"),
        (lambda: many.select(tasks=("zzz",)), r"'zzz'; the closest of the 20 known ones are ('t\d+'(, |$)){3}"),
    ):
        with pytest.raises(ArcadeMarkError, match=message):
            wrong()


def test_from_rows_pads_ragged_runs_and_keeps_one_run_at_one_position():
    rows = [("a", "pong", 7, 1.0), ("a", "qbert", 3, 2.0), ("b", "qbert", 0, 4.0), ("a", "qbert", 7, 3.0)]
    made = ScoreTable.from_rows(rows, protocols={"a": "saber"}, sources={"b": "x.csv"})
    assert (made.algorithms, made.tasks) == (("a", "b"), ("pong", "qbert"))
    np.testing.assert_array_equal(made.scores, [[[NAN, 1], [2, 3]], [[NAN, NAN], [4, NAN]]])
    assert (made.protocols, made.sources) == (("saber", ""), ("", "x.csv"))


def test_concatenate_unites_tasks_and_pads_what_a_table_lacks():
    other = ScoreTable(("c",), ("zaxxon", "pong"), np.array([[[9.0], [8.0]]]), ("",), ("paper",))
    joined = concatenate([table(), other])
    assert joined.algorithms == ("a", "b", "c")
    assert joined.tasks == ("pong", "qbert", "venture", "zaxxon")
    assert (joined.protocols, joined.sources) == (("saber", "ale-v5", ""), ("runs/a", "runs/b", "paper"))
    np.testing.assert_array_equal(joined.scores[2], [[8, NAN], [NAN, NAN], [NAN, NAN], [9, NAN]])
    np.testing.assert_array_equal(joined.scores[:2, :3], table().scores)
    assert np.isnan(joined.scores[:2, 3]).all()


def test_concatenate_refuses_two_algorithms_of_one_name_and_says_where_they_are():
    other = table(algorithms=("x", "b"), sources=("runs/x", "runs/other"))
    with pytest.raises(ArcadeMarkError, match=r"named 'b' \(from runs/b and from runs/other\); rename one"):
        concatenate([table(), other])


@pytest.mark.needs("pandas")
def test_a_dataframe_of_pandas_is_taken_and_given():

    table = ScoreTable.from_rows([("a", "pong", 0, 1.5), ("a", "pong", 1, np.nan), ("b", "qbert", 0, 3.0)])
    frame = table.to_dataframe()
    assert frame.to_dict("list") == {
        "algorithm": ["a", "b"],
        "task": ["pong", "qbert"],
        "run": [0, 0],
        "score": [1.5, 3.0],
    }
    again = ScoreTable.from_dataframe(frame.rename(columns={"task": "Game", "run": "seed"}))
    assert (again.algorithms, again.tasks, again.scores[0, 0, 0]) == (("a", "b"), ("pong", "qbert"), 1.5)
