import datetime
import gzip
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from score_files import uninstall

from arcademark.errors import ArcadeMarkError
from arcademark.scores.reading import read_tables

NAN = np.nan


def write(tmp_path, content, name="scores.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        b"game,dqn,ppo\npong,1.5,\nqbert,2,3\n",
        b"game\tdqn\tppo\npong\t1.5\t\nqbert\t2\t3\n",
        b"game;dqn;ppo\npong;1.5;\nqbert;2;3\n",
        b"\xef\xbb\xbfgame,dqn,ppo\r\npong,1.5,\r\nqbert,2,3\r\n",
        b"game,dqn,ppo\rpong,1.5,\rqbert,2,3\r",
        "game\tdqn\tppo\npong\t1.5\t\nqbert\t2\t3\n".encode("utf-16"),
        b'\n"game","dqn","ppo"\n\n"pong","1.5","-"\n,,\n"qbert"," 2 ","3"\n',
        b'"game","dqn","ppo"\n"pong",1.5,null\n"qbert",2,3',
    ],
    ids=["commas", "tabs", "semicolons", "BOM and CRLF", "CR", "UTF-16", "quotes and blank lines", "no last line end"],
)
def test_what_separates_cells_and_lines_makes_no_difference(tmp_path, content):
    table = read_tables(write(tmp_path, content)).table
    assert (table.algorithms, table.tasks) == (("dqn", "ppo"), ("pong", "qbert"))
    np.testing.assert_array_equal(table.scores[..., 0], [[1.5, 2], [NAN, 3]])


def test_names_over_several_lines_become_one_line_and_rows_are_counted_as_an_editor_does(tmp_path):
    path = write(tmp_path, 'game,"dqn\n(best)"\npong,1\n"q\nbert",x\n')
    with pytest.raises(ArcadeMarkError, match=r"row 5, column 'dqn \(best\)': 'x' is no score"):
        read_tables(path)
    assert read_tables(write(tmp_path, 'game,"dqn\n(best)"\npong,1\n')).table.algorithms == ("dqn (best)",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"game,dqn\npong,1\nbj\xf6\xf6\xf6rk,1\n", "row 3: not UTF-8 text .*save it as CSV in UTF-8"),
        (bytes(range(256)) * 9, "not a text file"),
        (b"\xff\xfe\x00\xd8\x00", "not UTF-8 text"),
        (b"game,dqn\npong,1,234\n", "row 2: 3 cells, expected 2 .* without thousands separators"),
        (b"game;dqn\npong;1;2\n", "row 2: 3 cells, expected 2 as in the header; correct"),
        (b"  \n\n", "the file is empty"),
        (b"\x1f\x8b\x08\x00", "not a whole gzip file"),
        (gzip.compress(gzip.compress(b"game,dqn\n", mtime=0), mtime=0), "compressed twice; unpack it first"),
        (gzip.compress(b"scores.csv".ljust(257, b"\0") + b"ustar" + bytes(250), mtime=0), "is an archive"),
        (b"\x80\x04\x95", "can run any code"),
    ],
)
def test_damage_is_named(tmp_path, content, message):
    path = write(tmp_path, content)
    with pytest.raises(ArcadeMarkError, match=message) as caught:
        read_tables(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_what_gzip_packed_is_read_up_to_a_bound(tmp_path, monkeypatch):
    path = write(tmp_path, gzip.compress(b"game,dqn\npong,1.5\n"), "scores.csv.gz")
    assert read_tables(path).table.scores.tolist() == [[[1.5]]]
    assert read_tables(tmp_path).table.scores.tolist() == [[[1.5]]]
    monkeypatch.setattr("arcademark.scores.readers.content.MAX_TEXT_BYTES", 10)
    with pytest.raises(ArcadeMarkError, match="holds more than 10 bytes when it is unpacked"):
        read_tables(path)


def parquet(tmp_path, columns):
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet_gives_what_csv_gives(tmp_path):
    columns = {
        "algorithm": pa.array(["dqn", "dqn", "ppo"]).dictionary_encode(),
        "game": ["pong", "qbert", "pong"],
        "seed": [1, 0, 0],
        "score": [20.5, None, -3.0],
    }
    made = read_tables(parquet(tmp_path, columns))
    text = "algorithm,game,seed,score\ndqn,pong,1,20.5\ndqn,qbert,0,\nppo,pong,0,-3\n"
    expected = read_tables(write(tmp_path, text))
    np.testing.assert_array_equal(made.table.scores, expected.table.scores)
    assert (made.table.algorithms, made.table.tasks, made.runs) == (
        expected.table.algorithms,
        expected.table.tasks,
        expected.runs,
    )
    assert made.notes == expected.notes
    assert made.format == "long"


def test_dates_flags_and_large_seeds_in_parquet_are_as_in_csv(tmp_path):
    columns = {
        "algorithm": ["dqn", "dqn"],
        "game": ["pong", "pong"],
        "seed": [2**62, 2**62 + 1],
        "score": [18.0, 19.0],
        "done": [True, False],
        "date": [datetime.date(2026, 1, 1), None],
    }
    reading = read_tables(parquet(tmp_path, columns))
    assert reading.table.scores.tolist() == [[[18.0, 19.0]]]
    assert reading.ignored == ("done", "date")
    assert any(f"{2**62} is run 0" in note for note in reading.notes)


def test_an_archive_of_tables_is_named_as_such(tmp_path):
    with zipfile.ZipFile(tmp_path / "scores.csv.zip", "w") as archive:
        archive.writestr("scores.csv", "game,dqn\npong,18.9\n")
    with pytest.raises(ArcadeMarkError, match=r"is an archive of scores\.csv; unpack it first"):
        read_tables(tmp_path / "scores.csv.zip")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"game": ["pong"], "dqn": [[1.0]]}, "column 'dqn': holds list"),
        ({"game": ["pong", "qbert"], "dqn": [1.0, np.inf]}, r"row 2, column 'dqn': inf is no score"),
        ({"game": ["pong", "qbert"], "dqn": ["1", "x"]}, r"row 2, column 'dqn': 'x' is no score"),
        ({"game": ["pong", None], "dqn": [1.0, 2.0]}, r"row 2, column 'game': the cell is empty"),
        ({"algorithm": ["a"], "game": ["pong"], "score": [1.0], "run": [0.5]}, r"row 1, column 'run': 0.5 is no whole"),
    ],
)
def test_damage_in_parquet_is_named(tmp_path, columns, message):
    with pytest.raises(ArcadeMarkError, match=message):
        read_tables(parquet(tmp_path, columns))


def test_parquet_that_is_cut_short_or_has_nothing_to_read_it(tmp_path, monkeypatch):
    path = parquet(tmp_path, {"game": ["pong"], "dqn": [1.0]})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArcadeMarkError, match="not a whole Parquet file"):
        read_tables(path)
    path.write_bytes(whole)
    uninstall(monkeypatch, "pyarrow")
    with pytest.raises(ArcadeMarkError, match=r"needs pyarrow; pip install '\.\[readers\]'"):
        read_tables(path)
