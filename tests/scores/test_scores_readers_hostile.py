"""Files that claim more than they hold, hold what they should not, or are none: refused in one line, at once."""

import io
import os
import socket
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from score_files import write
from tensorboard.compat.proto.event_pb2 import Event

from arcademark import files
from arcademark.errors import ArcadeMarkError
from arcademark.scores import reading, table
from arcademark.scores.readers import arrays, base
from arcademark.scores.readers.logs import stable_baselines, tensorboard
from arcademark.scores.readers.sheets import parquet as parquets
from arcademark.scores.readers.sheets import reading as sheet_reading
from arcademark.scores.readers.sheets import sheet
from arcademark.scores.readers.sheets.unnamed import lists_in
from arcademark.scores.reading import read_tables
from arcademark.scores.table import ScoreTable

WIDE = "game,dqn\npong,1\n"
TASKS = ["pong", "qbert"]


def npy(header, data=bytes(32), version=b"\x01\x00"):
    size = 2 if version == b"\x01\x00" else 4
    return b"\x93NUMPY" + version + len(header).to_bytes(size, "little") + header + data


def header(descr="'<f8'", shape="(2, 2)", fortran="False"):
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()


def refuse(path, message, **options):
    with pytest.raises(ArcadeMarkError, match=message) as caught:
        read_tables(path, algorithm="a", **options)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


HEADERS = [
    (npy(header(shape="(2000000000000, 2)")), "expected up to 8 axes of up to"),
    (npy(header(shape="(2000, 2)")), r"shape \(2000, 2\) takes 32,000 bytes, and 32 are"),
    (npy(header(shape="(0, 99999999999999999)"), b""), "not a whole NumPy file"),
    (npy(header(shape=f"({'9' * 4000}, {'9' * 4000})")), "expected up to 8 axes"),
    (npy(header(descr="()")), "its header is not one that NumPy writes"),
    (npy(b"{[]: 1}"), "its header is not one that NumPy writes"),
    (npy(header(shape="(1,1,1,1,1,1,1,1,4)")), "not a whole NumPy file"),
    (npy(header(shape="(-2, -2)")), "not a whole NumPy file"),
    (npy(header(shape="(2.0, 2)")), "its header is not one that NumPy writes"),
    (npy(header(shape="2 ** 9999")), "its header is not one that NumPy writes"),
    (npy(header(descr="'|O'")), "can run any code"),
    (npy(header(descr="[('a', '<f8'), ('b', '<f8')]")), "expected numbers"),
    (npy(header(descr="'<U99999999'")), "expected numbers"),
    (npy(header(descr="'<f16'", shape="(2,)")), "holds values of type float128"),
    (npy(header(descr="'<M8[ns]'")), "holds values of type datetime64"),
    (npy(header(descr="'f8,f8'")), "not a whole NumPy file|expected numbers"),
    (npy(header(descr="__import__('os')")), "its header is not one that NumPy writes"),
    (npy(header(), version=b"\x09\x00"), "its header is not one that NumPy writes"),
    (npy(b"(" * 60_000), "its header is not one that NumPy writes"),
    (npy(b"x" * 10)[:15], "its header is not one that NumPy writes"),
    (b"\x93NUMPY", "its header is not one that NumPy writes"),
]


def test_arrays_are_read_in_every_order_and_type(tmp_path):
    made = np.array([[1, 2], [3, 4]])
    for number, version in ((array, v) for array in (made.T, made.astype(">f4"), made.astype("u1")) for v in (1, 2, 3)):
        path = tmp_path / "scores.npy"
        with path.open("wb") as file:
            np.lib.format.write_array(file, np.asarray(number), version=(version, 0))
        found = read_tables(path, algorithm="a", tasks=TASKS).table.scores[0].T
        assert found.tolist() == number.tolist()


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def encrypted(content):
    made = bytearray(content)
    made[made.index(b"PK\x01\x02") + 8] |= 1
    return bytes(made)


def understated(content):
    """Let an archive say that its member unpacks to 100 bytes."""
    made = bytearray(content)
    for mark, place in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = made.index(mark) + place
        made[at : at + 4] = (100).to_bytes(4, "little")
    return bytes(made)


ARRAY = npy(header())
CONTROLS = ('{"a\\u001b": {"pong": [1]}}', '{"a": {"po\\u001bng": [1]}}', '{"a\\u001b": [[1]]}')


ITERATION = '{"training_iteration": 1, %s}\n'
HOSTILE = [
    *(("scores.npy", content, message) for content, message in HEADERS),
    *(("scores.npz", zipped(("a.npy", content)), message) for content, message in HEADERS),
    ("scores.npz", zipped(("a.npy", ARRAY), ("read me.txt", b"text")), "'read me.txt', which is no array"),
    ("scores.npz", zipped(("a/", b"")), "'a/', which is no array"),
    ("scores.npz", zipped(("a.npy", ARRAY), method=zipfile.ZIP_BZIP2), "compressed in a way that NumPy does not"),
    ("scores.npz", zipped(("a.npy", ARRAY), method=zipfile.ZIP_LZMA), "compressed in a way that NumPy does not"),
    ("scores.npz", encrypted(zipped(("a.npy", ARRAY))), "is encrypted"),
    ("scores.npz", zipped(("a.npy", ARRAY), ("b.npy", ARRAY)).replace(b"b.npy", b"a.npy"), "holds 'a.npy' twice"),
    ("scores.npz", zipped(("a.npy", ARRAY))[:-5], "not a whole .npz file"),
    (
        "scores.npz",
        understated(zipped(("a.npy", npy(header(), bytes(2**24))))),
        r"not a whole .npz file \(Bad CRC-32",
    ),
    ("result.json", ITERATION % ('"x": ' + "9" * 5000), "a number of 5,000 digits"),
    ("result.json", ITERATION % '"episode_reward_mean": 1e400', "the number 1e400 is too large"),
    ("result.json", ITERATION % ('"config": ' + "[" * 900 + "]" * 900), "nested in more than 64 levels"),
    ("result.json", ITERATION % '"episode_reward_mean": 1e300', "1e\\+300 is no score"),
    ("result.json", ITERATION % '"config": 7', "no env_runners/episode_return_mean"),
    *(("scores.json", content, r"'.*\\x1b.*' contains .* take it out") for content in CONTROLS),
    *(
        ("scores.csv", content, "scores.csv")  # patterns that look back would take hours
        for content in (
            *("game,a\npong," + "1" * 120_000 + "x\n", "game,a\npong,1" + "*" * 120_000 + "x\n"),
            *("game|a\n" + " " * 90_000 + "|x\n", "game,a\npong," + "1" * 120_000 + "\n"),
        )
    ),
    *(
        ("scores.csv", content.replace("LONG", "x" * 100_000), r"\(99,940 characters more\)' is too long for a name")
        for content in ("game,LONG\npong,1\n", "game,a\nLONG,1\n", "algorithm,game,score\na,LONG,1\n")
    ),
]


@pytest.mark.parametrize(("name", "content", "message"), HOSTILE)
def test_what_no_honest_tool_writes_is_refused_at_once(tmp_path, name, content, message):
    alone = {} if name == "scores.csv" else {"task": "pong"} if name == "result.json" else {"tasks": TASKS}
    refuse(write(tmp_path / name, content), message, **alone)


def test_what_an_archive_unpacks_to_has_a_bound(tmp_path, monkeypatch):
    path = write(
        tmp_path / "scores.npz",
        zipped(*((f"{name}.npy", npy(header(shape="(2, 2048)"), bytes(2**15))) for name in "abcde")),
    )
    assert path.stat().st_size < 2**12
    monkeypatch.setattr(files, "MAX_BYTES", 2**16)
    refuse(path, r"holds 164,\d+ bytes when it is unpacked, expected at most 65,536", tasks=TASKS)
    monkeypatch.setattr(arrays, "MAX_CELLS", 5)
    path.write_bytes(zipped(("a.npy", ARRAY), ("b.npy", ARRAY)))
    refuse(path, "holds 8 numbers, expected at most 5", tasks=TASKS)
    monkeypatch.setattr(arrays, "MAX_ARRAYS", 1)
    refuse(path, "holds 2 arrays, expected at most 1", tasks=TASKS)


def test_no_table_is_made_larger_than_its_bound(tmp_path, monkeypatch):
    wide, long = np.zeros((30, 2)), [(f"a{i}", f"t{i}", 0, 1.0) for i in range(30)]
    monkeypatch.setattr(table, "MAX_CELLS", 100)
    with pytest.raises(ArcadeMarkError, match="30 algorithms on 30 tasks with up to 1 runs make a table of 900 cells"):
        ScoreTable.from_rows(long)
    path = write(tmp_path / "scores.csv", "algorithm,game,score\n" + "".join(f"{a},{t},1\n" for a, t, _, _ in long))
    with pytest.raises(ArcadeMarkError, match="table of 900 cells, expected at most 100"):
        read_tables(path)
    np.savez(tmp_path / "scores.npz", a=wide, b=wide[:1])
    with pytest.raises(ArcadeMarkError, match="table of 120 cells"):
        read_tables(tmp_path / "scores.npz", tasks=TASKS)


def test_text_has_a_bound_on_bytes_and_cells(tmp_path, monkeypatch):
    path = write(tmp_path / "scores.csv", "game,a,b\n" + "".join(f"{row},1,2\n" for row in range(300)))
    monkeypatch.setattr(base, "MAX_CELLS_READ", 700)
    refuse(path, "holds more than 700 cells, the most that are read")
    monkeypatch.setattr(sheet, "MAX_COLUMNS", 2)
    refuse(write(tmp_path / "wide.csv", "game,a,b\npong,1,2\n"), "3 columns, expected at most 2")
    refuse(write(tmp_path / "wide.json", '[{"game": "pong", "a": 1, "b": 2}]'), "3 columns, expected at most 2")
    monkeypatch.setattr(sheet_reading, "MAX_TEXT_BYTES", 1000)
    refuse(path, "holds more than 1,000 bytes, the most that is read")
    monkeypatch.setattr(stable_baselines, "MAX_TEXT_BYTES", 10)
    path.write_text('#{"t_start": 0.0, "env_id": "Pong-v5"}\nr,l,t\n1,2,3\n')
    refuse(path, "holds more than 10 bytes")


def test_json_has_a_bound_by_line(tmp_path, monkeypatch):
    path = write(tmp_path / "result.json", '{"training_iteration": 1, "episode_reward_mean": 7}\n' * 2)
    monkeypatch.setattr(arrays, "MAX_JSON_BYTES", 20)
    refuse(path, "row 1: holds more than 20 bytes, the most of JSON", task="pong")
    path.write_text(f'{{"a": "{"é" * 8}"}}\n', "utf-8")
    assert len(path.read_text("utf-8").strip()) < 20 < len(path.read_bytes())
    refuse(path, "row 1: holds more than 20 bytes, the most of JSON", format="rllib", task="pong")
    path.write_text('{"a":\n{"pong":\n[1, 2, 3]}}')
    refuse(path, "holds more than 20 bytes")


def test_lines_of_json_take_no_copy_of_the_whole_text(tmp_path):
    path = write(tmp_path / "result.json", ('{"a": "%s"}\n' % ("x" * 10_000)) * 400)
    tracemalloc.start()
    assert sum(1 for _ in arrays.json_lines(path, path.stat().st_size)) == 400
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 * path.stat().st_size


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def test_what_parquet_unpacks_to_has_a_bound(tmp_path, monkeypatch):
    names = pa.DictionaryArray.from_arrays(np.zeros(6_000_000, np.int8), pa.array(["pong"]))
    path = parquet(tmp_path / "scores.parquet", game=names, a=np.ones(6_000_000))
    assert path.stat().st_size < 2**20
    refuse(path, "holds 12,000,000 cells, .* expected at most 10,000,000")
    monkeypatch.setattr(parquets, "MAX_BYTES", 2**20)
    pq.write_table(pa.table({"game": [f"{at}" + "x" * 500_000 for at in range(4)]}), path, use_dictionary=False)
    assert path.stat().st_size < 2**19
    refuse(path, r"4 cells, 2,00\d,\d+ bytes when they are unpacked; expected at most")


def test_text_in_parquet_that_is_no_text_is_refused(tmp_path):
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"], pa.binary()).buffers())
    refuse(parquet(tmp_path / "scores.parquet", game=bad, a=[1.0]), "column 'game': cannot be read|not a whole Parquet")


def write_events(path, *events):
    parts = [event.SerializeToString() for event in (Event(file_version="brain.Event:2"), *events)]
    path.write_bytes(b"".join(len(part).to_bytes(8, "little") + bytes(4) + part + bytes(4) for part in parts))
    return path


def test_a_tensor_larger_than_its_file_is_passed_over(tmp_path):
    event = Event(step=1)
    value = event.summary.value.add(tag="charts/episodic_return")
    value.tensor.dtype = 1
    value.tensor.float_val.append(1.0)
    for _ in range(4):
        value.tensor.tensor_shape.dim.add(size=100_000)
    path = write_events(tmp_path / "events.out.tfevents.1", event)
    refuse(path, "an event file without scalars", task="pong")
    value.tensor.ClearField("tensor_shape")
    value.tensor.ClearField("float_val")
    value.tensor.tensor_content = b"123"
    refuse(write_events(path, event), "an event file without scalars", task="pong")
    value.tensor.dtype = 99
    refuse(write_events(path, event), "an event file without scalars", task="pong")


def test_events_have_a_bound(tmp_path, monkeypatch):
    event = Event(step=1)
    for _ in range(5):
        event.summary.value.add(tag="charts/episodic_return", simple_value=1.0)
    monkeypatch.setattr(tensorboard, "MAX_VALUES", 6)
    refuse(write_events(tmp_path / "events.out.tfevents.1", event), "holds more than 6 events", task="pong")


def test_a_folder_is_searched_without_blocking_or_going_round(tmp_path, monkeypatch):
    logs = tmp_path / "logs"
    (logs / "b").mkdir(parents=True)
    (logs / "b" / "scores.csv").write_text(WIDE)
    os.mkfifo(logs / "fifo.csv")
    (logs / "loop.csv").symlink_to(logs / "loop.csv")
    (logs / "nowhere.csv").symlink_to(logs / "gone.csv")
    (logs / "zero.csv").symlink_to("/dev/zero")
    (logs / "parent").symlink_to(tmp_path)
    (logs / "proc").symlink_to("/proc")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(logs)  # a socket's name is short
        server.bind("socket.csv")
        found = read_tables(logs)
    assert found.amounts == {"row": 1}
    assert found.notes[-2:] == (
        "5 files left out, not a regular file (pipes, devices, links that lead nowhere): fifo.csv, loop.csv, "
        "nowhere.csv and 2 more",
        "2 files left out, a link to a folder: parent, proc",
    )


def test_a_link_to_a_folder_is_followed_where_it_is_named(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "scores.csv").write_text(WIDE)
    (tmp_path / "link").symlink_to(tmp_path / "logs")
    assert read_tables(tmp_path / "link").amounts == {"row": 1}


def test_a_folder_has_a_bound_on_files_and_depth(tmp_path, monkeypatch):
    deep = tmp_path / "/".join("d" * 4)
    deep.mkdir(parents=True)
    for number in range(3):
        (deep / f"{number}.csv").write_text(WIDE)
        (tmp_path / f"{number}.csv").write_text(WIDE)
    monkeypatch.setattr(reading, "MAX_DEPTH", 3)
    with pytest.raises(ArcadeMarkError, match="d/d/d/d: folders are nested more than 3 deep"):
        read_tables(tmp_path)
    for most in (2, 5):
        monkeypatch.setattr(reading, "MAX_DEPTH", 9)
        monkeypatch.setattr(reading, "MAX_FILES", most)
        with pytest.raises(ArcadeMarkError, match="the most that are looked at; name a folder further down"):
            read_tables(tmp_path)


def test_names_that_are_no_text_work(tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/logs\xff"))
    folder.mkdir()
    path = Path(os.fsdecode(os.fsencode(folder) + b"/bad\xff.csv"))
    path.write_text(WIDE)
    assert read_tables(folder).amounts == {"row": 1}
    path.write_text(WIDE.replace("1", "x"))
    with pytest.raises(ArcadeMarkError, match="'x' is no score"):
        read_tables(path)


@pytest.mark.parametrize(
    "text", [f"pong{' ' * 500_000}:1", "- pong\n" + "x\n" * 300_000, ";" * 500_000, "*_`" * 200_000]
)
def test_lists_are_searched_in_texts_that_would_take_for_ever_otherwise(text):
    assert not list(lists_in(text, {"pong"}.__contains__))
