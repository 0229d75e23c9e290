import csv
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_files import uninstall

from arcademark.errors import ArcadeMarkError
from arcademark.scores.export import to_rliable, write_long, write_rliable, write_wide
from arcademark.scores.readers.sheets.sheet import named
from arcademark.scores.readers.words.column_names import role_of
from arcademark.scores.reading import read_tables
from arcademark.scores.table import ScoreTable

NAN = np.nan


def table(scores, protocols=None):
    array = np.array(scores, dtype=float)
    names = ("DQN", "PPO, tuned", "C51")[: len(array)]
    tasks = ("pong", "qbert", "alien")[: array.shape[1]]
    return ScoreTable(names, tasks, array, protocols or ("",) * len(names), ("",) * len(names))


RAGGED = table([[[1, 2, NAN], [NAN, 5, 6]], [[7, NAN, NAN], [8, NAN, NAN]]])


def test_rliables_arrays_are_runs_by_tasks():
    made = to_rliable(table([[[1, 2, 3], [4, 5, 6]], [[7, NAN, NAN], [8, NAN, NAN]]]))
    assert list(made) == ["DQN", "PPO, tuned"]
    assert made["DQN"].tolist() == [[1, 4], [2, 5], [3, 6]]
    assert made["PPO, tuned"].tolist() == [[7, 8]]


def test_ragged_runs_are_refused():
    even = to_rliable(RAGGED)  # two runs on either task, though not the same two
    assert even["DQN"].tolist() == [[1, 5], [2, 6]]
    with pytest.raises(ArcadeMarkError, match=r"'DQN' has 2 runs on qbert and 3 on pong; "):
        to_rliable(table([[[1, 2, 3], [4, 5, NAN]]]))
    with pytest.raises(ArcadeMarkError, match=r"'DQN' has no score on qbert; .*select the tasks"):
        to_rliable(table([[[1, 2], [NAN, NAN]]]))


def test_rliables_arrays_come_back(tmp_path):
    path = tmp_path / "deep" / "scores.npz"
    whole = table([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
    write_rliable(whole, path)
    back = read_tables(path, tasks=whole.tasks).table
    assert (back.algorithms, back.tasks) == (whole.algorithms, whole.tasks)
    np.testing.assert_array_equal(back.scores, whole.scores)
    with pytest.raises(ArcadeMarkError, match=r"expected a file named \*\.npz"):
        write_rliable(whole, tmp_path / "scores.csv")
    with pytest.raises(ArcadeMarkError, match="has no score"):
        write_rliable(table([[[NAN], [1]]]), tmp_path / "nothing.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6)
FORMULAS = [
    "=1+1",
    "'=x",
    "''=x",
    "'x",
    "+1",
    "-1",
    "'-1",
    "-2+3",
    "-3.5",
    "@SUM(A1)",
    "=cmd|' /C calc'!A0",
    "＝1",
    "'",
]
NAMES = st.one_of(
    WORDS, st.sampled_from(FORMULAS), st.builds(str.__add__, st.sampled_from(["=", "+", "-", "@", "'"]), WORDS)
)
SCORES = st.one_of(st.just(NAN), st.floats(-1e9, 1e9), st.integers(-100, 2**53).map(float))


@st.composite
def tables(draw, runs):
    allowed = NAMES.filter(
        lambda name: (
            role_of(name) is None
            and named(name) == name  # not "DQN ↑"
            and not re.fullmatch(r"\W*(s|r|seed|run)?\W*[\d.,]+[kmb]?", name, re.IGNORECASE)
        )
    )
    algorithms = draw(st.lists(allowed, min_size=1, max_size=3, unique_by=str.lower))
    tasks = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    number = draw(st.integers(1, runs))
    shape = (len(algorithms), len(tasks), number)
    scores = np.array([draw(SCORES) for _ in range(int(np.prod(shape)))]).reshape(shape)
    protocols = draw(st.lists(st.sampled_from(["", "saber", "a b", "=x", "'=x"]), min_size=shape[0], max_size=shape[0]))
    return ScoreTable(tuple(algorithms), tuple(tasks), scores, tuple(protocols), ("",) * shape[0])


def cells(made):
    return {
        (algorithm, task): made.scores[a, t][~np.isnan(made.scores[a, t])].tolist()
        for a, algorithm in enumerate(made.algorithms)
        for t, task in enumerate(made.tasks)
    }


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("form", ["long", "wide"])
@settings(max_examples=30)
@given(data=st.data())
def test_a_file_comes_back(tmp_path_factory, form, suffix, data):
    made = data.draw(tables(runs=3 if form == "long" else 1))
    path = tmp_path_factory.mktemp(form) / f"scores{suffix}"
    (write_long if form == "long" else write_wide)(made, path)
    if np.isnan(made.scores).all():
        with pytest.raises(ArcadeMarkError, match="no cell holds a score"):
            read_tables(path)
        return
    back = read_tables(path, format=form, decimal=".").table  # 1.875 alone, in a file of tabs, may be 1,875
    assert (back.algorithms, back.tasks) == (made.algorithms, made.tasks)
    assert back.protocols == made.protocols or form == "wide"
    assert cells(back) == cells(made)


@pytest.mark.parametrize("names", [(":", "0-"), ("PPO", "DQN", "PPO-DQN"), ("⬆",), ("↑↓",)])
def test_names_with_hyphens_and_arrows_are_kept_where_they_say_nothing(tmp_path, names):
    """A column is a difference only if its cells are those of two others, and an arrow alone is a name."""
    scores = np.array([[[1.0], [NAN]]] * len(names))
    write_wide(
        ScoreTable(names, ("pong", "breakout"), scores, ("",) * len(names), ("",) * len(names)), tmp_path / "s.csv"
    )
    assert read_tables(tmp_path / "s.csv").table.algorithms == names


def test_the_last_row_of_a_table_is_no_second_header(tmp_path):
    write_wide(ScoreTable((":",), ("TASK",), np.full((1, 1, 1), np.nan), ("",), ("",)), tmp_path / "scores.tsv")
    with pytest.raises(ArcadeMarkError, match="no cell holds a score"):
        read_tables(tmp_path / "scores.tsv")


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_nothing_that_is_written_is_a_formula_and_numbers_stay_numbers(tmp_path, suffix):
    names = tuple(name for name in FORMULAS if name not in ("-1", "-3.5"))
    made = ScoreTable(names, names, np.full((len(names), len(names), 1), -3.5), names, names)
    write_long(made, tmp_path / f"long{suffix}")
    write_wide(made, tmp_path / f"wide{suffix}")
    for name in ("long", "wide"):
        with (tmp_path / f"{name}{suffix}").open(encoding="utf-8", newline="") as file:
            found = {cell for row in csv.reader(file, delimiter="," if suffix == ".csv" else "\t") for cell in row}
        assert [cell for cell in found if cell[:1] in ("=", "+", "-", "@", "＝")] == ["-3.5"]
        assert "'=cmd|' /C calc'!A0" in found


def test_what_a_file_looks_like(tmp_path):
    write_long(table([[[1.5, 2], [NAN, NAN]]], protocols=("saber",)), tmp_path / "long.csv")
    assert (tmp_path / "long.csv").read_text() == (
        "algorithm,task,run,score,protocol\nDQN,pong,0,1.5,saber\nDQN,pong,1,2.0,saber\nDQN,qbert,0,,saber\n"
    )
    write_wide(table([[[1], [NAN]], [[3], [4]]]), tmp_path / "wide.csv")
    assert (tmp_path / "wide.csv").read_text() == 'task,DQN,"PPO, tuned"\npong,1.0,3.0\nqbert,,4.0\n'


def test_what_no_file_can_say_is_refused_and_nothing_is_written(tmp_path):
    whole = table([[[1], [2]], [[3], [4]]])
    with pytest.raises(ArcadeMarkError, match="3 runs, but a wide file has one score per cell; write a long file"):
        write_wide(RAGGED, tmp_path / "a.csv")
    with pytest.raises(ArcadeMarkError, match="the name 'Run' is another column's"):
        write_wide(whole.rename({"DQN": "Run"}), tmp_path / "a.csv")
    with pytest.raises(ArcadeMarkError, match="'DQN ↑' is another column's or would be read as one"):
        write_wide(whole.rename({"DQN": "DQN ↑"}), tmp_path / "a.csv")
    with pytest.raises(ArcadeMarkError, match="'dqn' is another column's"):
        write_wide(whole.rename({"DQN": "dqn", "PPO, tuned": "DQN"}), tmp_path / "a.csv")
    with pytest.raises(ArcadeMarkError, match="the name ' x' is blank or has blanks around it"):
        write_long(whole.rename({"DQN": " x"}), tmp_path / "a.csv")
    with pytest.raises(ArcadeMarkError, match=r"expected a file named \*\.csv or \*\.tsv or \*\.parquet"):
        write_long(whole, tmp_path / "a.xlsx")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ArcadeMarkError, match="is a folder; name a file"):
        write_long(whole, tmp_path / "folder.csv")
    (tmp_path / "file").write_text("")
    with pytest.raises(ArcadeMarkError, match="cannot write the file"):
        write_long(whole, tmp_path / "file" / "a.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.csv"]


def test_parquet_without_pyarrow_is_refused(tmp_path, monkeypatch):
    uninstall(monkeypatch, "pyarrow")
    with pytest.raises(ArcadeMarkError, match=r"needs pyarrow; pip install '\.\[readers\]'"):
        write_long(RAGGED, tmp_path / "a.parquet")
