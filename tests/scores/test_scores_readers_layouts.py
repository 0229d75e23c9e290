from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.scores.reading import read_table

NAN = np.nan
GAMES = {"Pong": "pong", "Q*bert": "qbert", "ALE/Qbert-v5": "qbert"}


def canonical(name: str) -> str:
    if name not in GAMES:
        raise UnknownNameError("game", name, GAMES)
    return GAMES[name]


def write(tmp_path: Path, text: str, encoding: str = "utf-8") -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding=encoding)
    return path


def test_long_file_with_seeds_and_columns_that_do_not_matter(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "Game,Seed,note,Algorithm,Score\nPong,1,x,dqn,20\nPong,0,,dqn, 18.5\nQ*bert,0,,dqn,\nPong,0,,ppo,-1e1\n",
    )
    made = read_table(path, canonical_task=canonical).table
    assert (made.algorithms, made.tasks) == (("dqn", "ppo"), ("pong", "qbert"))
    np.testing.assert_array_equal(made.scores, [[[18.5, 20], [NAN, NAN]], [[-10, NAN], [NAN, NAN]]])
    assert made.sources == (str(path), str(path))
    assert made.protocols == ("", "")


@pytest.mark.parametrize(
    "text",
    [
        "algorithm,task,score\ndqn,pong,18.5\ndqn,qbert,1000\nppo,pong,20\nppo,qbert,NaN\n",
        "algorithm,pong,qbert\ndqn,18.5,1000\n\nppo,20,n/a\n",
        "game,dqn,ppo\npong,18.5,20\nqbert,1000,\n",
        "Task,dqn,ppo\r\npong,18.5,20\r\nqbert,1e3,NA\r\n",
    ],
    ids=["long", "wide by algorithm", "wide by game", "Windows line ends"],
)
def test_every_layout_gives_the_same_scores(tmp_path: Path, text: str) -> None:
    made = read_table(write(tmp_path, text)).table
    assert (made.algorithms, made.tasks) == (("dqn", "ppo"), ("pong", "qbert"))
    np.testing.assert_array_equal(made.scores[..., 0], [[18.5, 1000], [20, NAN]])


def test_byte_order_mark_of_spreadsheets_is_no_part_of_the_header(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, "algorithm,pong\ndqn,1\n", "utf-8-sig")).table.algorithms == ("dqn",)


def test_wide_headers_are_made_canonical(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, "algorithm,Pong,Q*bert\ndqn,1,2\n"), canonical_task=canonical).table.tasks == ("pong", "qbert")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty; expected scores"),
        ("algorithm,Pong\n", "no rows below the header"),
        ("name;score\nx;1\n", "row 1: expected the columns"),
        ("algorithm\ndqn\n", "row 1: expected the columns"),
        ("algorithm,,pong\ndqn,1,2\n", "row 1, column 2: the column has no name"),
        ("algorithm,Pong,pong\ndqn,1,2\n", "row 1, column 3: the column 'pong' is named twice"),
        ("algorithm,Pong\ndqn,1\n\nppo,1,2\n", "row 4: 3 cells, expected 2"),
        ("algorithm,Pong\ndqn,fast\n", "row 2, column 'Pong': 'fast' is no score; expected a number"),
        ("algorithm,Pong\ndqn,inf\n", "row 2, column 'Pong': 'inf' is no score"),
        ("algorithm,Pong\ndqn,1_000\n", "row 2, column 'Pong': '1_000' is no score"),
        ("algorithm,Pong\n ,1\n", "row 2, column 'algorithm': the cell is empty, expected a name"),
        ("algorithm,Pnog\ndqn,1\n", "row 1, column 'Pnog': unknown game 'Pnog'; did you mean 'Pong'"),
        ("game,dqn\nPong,1\nPnog,1\n", "row 3, column 'game': unknown game 'Pnog'; did you mean 'Pong'"),
        ("game,dqn\n,1\n", "row 2, column 'game': the cell is empty"),
        ("algorithm,game,score,run\na,Pong,1,x\n", "row 2, column 'run': 'x' is no whole number"),
        ("algorithm,game,score\na,Pong,1\na,Pong,2\n", r"row 3: a second score for 'a' on 'pong', .* is in row 2"),
        ("algorithm,Q*bert,ALE/Qbert-v5\na,1,2\n", "row 2: a second score for 'a' on 'qbert'"),
        ('algorithm,Pong\na,"1\n', "not a CSV file"),
    ],
)
def test_what_is_wrong_is_named_with_file_row_and_column(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ArcadeMarkError, match=message) as caught:
        read_table(path, canonical_task=canonical)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ArcadeMarkError, match=r"nowhere\.csv: cannot read the file \(No such file"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(ArcadeMarkError, match="is a folder; read_tables"):
        read_table(tmp_path)
    with pytest.raises(ArcadeMarkError, match="not UTF-8 text"):
        read_table(write(tmp_path, "algorithm,pong\nBjörk,1\n", "latin-1"))
