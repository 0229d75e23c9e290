"""Reads have a bound, and damage gets one line."""

import os
import socket
import zlib

import pytest

from arcademark import files
from arcademark.errors import ArcadeMarkError, one_line


def test_a_file_is_read_up_to_its_bound(tmp_path):
    path = tmp_path / "scores"
    path.write_bytes(b"12345")
    assert files.read_bytes(path, 5) == b"12345"
    with pytest.raises(ArcadeMarkError, match=r"scores: holds more than 4 bytes, the most that is read"):
        files.read_bytes(path, 4)


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(link)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for path, reason in (
            (pipe, "is a named pipe; expected a file"),
            (link, "Too many levels of symbolic links"),
            (tmp_path / "socket", "cannot read the file"),
            (tmp_path, "Is a directory"),
            (files.Path("/dev/zero"), "is a device; expected a file"),
            (tmp_path / "no\0name", "cannot read the file"),
            (tmp_path / "missing", "No such file"),
        ):
            with pytest.raises(ArcadeMarkError, match=reason):
                files.read_bytes(path)


def test_text_that_is_not_utf8_is_named_by_its_byte(tmp_path):
    (path := tmp_path / "table").write_bytes(b"ab\xff")
    with pytest.raises(ArcadeMarkError, match="byte 2 is 0xff"):
        files.read_text(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", r"place, row 1, character 2: not JSON"),
        ("[1,\n2,]", r"place, row 2, character 3: not JSON"),
        ('{"a": 1, "a": 2}', "'a' is named twice"),
        ("1" * 400, "a number of 400 digits"),
        ("1" * 5000, "a number of 5,000 digits"),
        ("[1e400]", "the number 1e400 is too large"),
        ("[" * 65 + "]" * 65, "nested in more than 64 levels"),
        ("[" * 900 + "]" * 900, "nested in more than 64 levels"),
        ("[" * 100_000, "nested in more than 64 levels"),
    ],
)
def test_json_that_could_not_be_worked_with_is_refused(text, reason):
    with pytest.raises(ArcadeMarkError, match=reason):
        files.parse_json(text, "place")


def test_json_is_read_up_to_its_bounds():
    assert files.parse_json("[" * 64 + "-9223372036854775808" + "]" * 64, "place")
    assert files.parse_json('{"a": [1.5e300, null]}', "place") == {"a": [1.5e300, None]}


def test_a_stream_that_inflates_to_more_than_expected_is_refused():
    data = zlib.compress(bytes(1000))
    assert files.inflate(data, 1000) == bytes(1000)
    with pytest.raises(ValueError, match="more than the 999 bytes"):
        files.inflate(data, 999)
    for damaged in (data[:-1], data + b"x", b"", b"text"):
        with pytest.raises(ValueError, match=r"."):
            files.inflate(damaged, 1000)


def test_somebody_elses_text_becomes_one_printable_line():
    assert one_line("a\x1b[31m\nb\u202e\ud800\x9b é") == "a\\x1b[31m\\nb\\u202e\\ud800\\x9b é"
    assert one_line("x" * 200_000) == "x" * 1000 + "… (199,000 characters more)"
