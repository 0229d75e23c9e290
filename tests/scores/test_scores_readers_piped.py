"""Tables that come through a pipe."""

import io
import os
import sys

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers import piped
from arcademark.scores.reading import read_tables

WIDE = b"game,a,b\npong,1,2\nqbert,3,4\n"
LOG = b'#{"t_start": 0.0, "env_id": "PongNoFrameskip-v4"}\nr,l,t\n-21.0,3056,2.1\n-19.0,3302,4.4\n'


def feed(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input_is_a_table(monkeypatch, name):
    feed(monkeypatch, WIDE)
    found = read_tables(name)
    assert found.format == "wide"
    assert found.table.scores.tolist() == [[[1.0], [3.0]], [[2.0], [4.0]]]
    assert found.table.sources == ("standard input",) * 2


def test_a_log_may_come_through_standard_input(monkeypatch):
    feed(monkeypatch, LOG)
    found = read_tables(["-"], algorithm="mine")
    assert (found.format, found.table.scores.tolist()) == ("sb3-monitor", [[[-20.0]]])


def test_errors_name_standard_input(monkeypatch):
    feed(monkeypatch, b"game,a\npong,x\n")
    with pytest.raises(ArcadeMarkError, match=r"^standard input, row 2, column 'a'"):
        read_tables("-")
    feed(monkeypatch, b"")
    with pytest.raises(ArcadeMarkError, match=r"^standard input: the file is empty"):
        read_tables("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ArcadeMarkError, match=r"^standard input: the file is empty"):
        read_tables("-")


def test_standard_input_is_read_once(monkeypatch):
    feed(monkeypatch, WIDE)
    with pytest.raises(ArcadeMarkError, match="named twice"):
        read_tables(["-", "/dev/stdin"])


def test_a_shell_in_place_of_a_file():
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as pipe:
        pipe.write(WIDE)
    name = f"/dev/fd/{reader}"
    found = read_tables(name)
    os.close(reader)
    assert found.table.algorithms == ("a", "b")
    assert found.table.sources == (name,) * 2


def test_standard_input_has_a_bound(monkeypatch):
    monkeypatch.setattr(piped, "MAX_BYTES", len(WIDE))
    feed(monkeypatch, WIDE)
    assert read_tables("-").amounts == {"row": 2}
    feed(monkeypatch, WIDE + b"\n")
    with pytest.raises(ArcadeMarkError, match=r"standard input: holds more than 28 bytes, the most that is read"):
        read_tables("-")


def test_no_name_is_no_folder():
    with pytest.raises(ArcadeMarkError, match="empty; name a file or a folder, or - for standard input"):
        read_tables("")
