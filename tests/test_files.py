"""Reads have a bound, and damage gets one line."""

import os
import pickle
import socket
import struct
import zlib

import pytest

from arcademark import files
from arcademark.errors import MAX_MESSAGE_CHARS, ArcadeMarkError, ArcadeMarkWarning, UnknownNameError, one_line


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


@pytest.mark.parametrize("kind", [ArcadeMarkError, lambda text: UnknownNameError("game", text, [text, "pong"])])
@pytest.mark.parametrize("name", ["x" * 3000, "a b " * 3000, "\x1b[2J" * 500, "\n", "\udcff\u202e", "é" * 3000])
def test_whatever_an_error_is_made_of_it_is_one_short_printable_line(kind, name):
    error = kind(f"{name}: is not there; look for it")
    error.add_note(name)
    for text in (str(error), *error.__notes__):
        assert text.isprintable()
        assert len(text) <= MAX_MESSAGE_CHARS
    again = pickle.loads(pickle.dumps(ArcadeMarkError(str(error))))
    assert str(again) == str(error)


def test_what_is_long_in_an_error_is_shortened_in_the_middle():
    text = str(ArcadeMarkError(f"'{'x' * 3000}': is no game; see 'arcademark info games'"))
    assert text == f"'{'x' * 149}… (2,778 characters more) …{'x' * 73}': is no game; see 'arcademark info games'"
    path = "/a" * 140
    assert str(ArcadeMarkError(f"{path}: is missing")) == f"{path}: is missing"


OTHER = 65534
"""The number of a user who is neither root nor who runs the tests."""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder that only this user can write to."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("ARCADEMARK_CACHE", str(folder))
    return folder


def test_the_cache_is_a_folder_that_nobody_else_can_write_to(cache):
    assert files.cache_folder() == cache
    for mode in (0o777, 0o707, 0o702):
        cache.chmod(mode)
        with pytest.warns(ArcadeMarkWarning, match=rf"{cache}: others can write to {cache}, so nothing there is used"):
            assert files.cache_folder() is None


def test_where_owners_alone_may_delete_the_cache_is_a_folder_of_ones_own(cache):
    cache.chmod(0o1777)
    own = files.cache_folder()
    assert own == cache / f"user-{os.geteuid()}"
    files.make_private(own)
    assert own.stat().st_mode & 0o777 == 0o700
    assert files.cache_folder() == own
    own.chmod(0o777)
    with pytest.warns(ArcadeMarkWarning, match=f"others can write to {own}"):
        assert files.cache_folder() is None


def test_the_folder_of_ones_own_is_no_link_that_could_lead_elsewhere_later(cache, tmp_path):
    cache.chmod(0o1777)
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o700)
    (cache / f"user-{os.geteuid()}").symlink_to(mine)
    assert files.cache_folder() == mine


def test_a_folder_that_somebody_else_made_first_is_not_taken(cache):
    own = files.cache_folder() / "new"
    files.make_private(own)
    own.chmod(0o777)
    with pytest.raises(PermissionError, match=f"others can write to {own}"):
        files.make_private(own)


def test_an_access_control_list_may_let_others_write_where_the_mode_names_the_group(cache, monkeypatch):
    os.chown(cache, -1, os.getegid())
    cache.chmod(0o770)
    monkeypatch.setattr(files, "_own_group", lambda: os.getegid())
    assert files.exposed(cache) == ""
    listed = struct.pack(
        "<I" + "HHI" * 5, 2, 1, 7, 2**32 - 1, 2, 7, OTHER, 4, 0, 2**32 - 1, 16, 7, 2**32 - 1, 32, 0, 2**32 - 1
    )
    try:
        os.setxattr(cache, "system.posix_acl_access", listed)
    except OSError:
        pytest.skip("the file system has no access control lists")
    assert files.exposed(cache) == f"others can write to {cache}"


def test_a_folder_above_the_cache_counts_too(cache, monkeypatch):
    monkeypatch.setenv("ARCADEMARK_CACHE", str(cache / "a" / "b"))
    assert files.cache_folder() == cache / "a" / "b"
    cache.chmod(0o777)
    with pytest.warns(ArcadeMarkWarning, match=f"others can write to {cache},"):
        assert files.cache_folder() is None
    cache.chmod(0o1777)
    assert files.cache_folder() == cache / "a" / "b"


def test_a_link_to_the_cache_is_where_it_leads_to(cache, tmp_path, monkeypatch):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open" / "link").symlink_to(cache)
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "open" / "link"))
    assert files.cache_folder() == cache


def test_the_group_of_the_users_own_name_is_the_user(cache, monkeypatch):
    os.chown(cache, -1, os.getegid())
    cache.chmod(0o2770)
    monkeypatch.setattr(files, "_own_group", lambda: os.getegid())
    assert files.cache_folder() == cache
    monkeypatch.setattr(files, "_own_group", lambda: None)
    with pytest.warns(ArcadeMarkWarning, match="others can write"):
        assert files.cache_folder() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_belongs_to_another_user_is_not_used(cache):
    file = cache / "file"
    file.touch(0o600)
    assert files.exposed(file) == ""
    os.chown(file, OTHER, -1)
    assert files.exposed(file) == f"{file} belongs to another user"
    os.chown(cache, OTHER, -1)
    with pytest.warns(ArcadeMarkWarning, match="belongs to another user"):
        assert files.cache_folder() is None


def test_a_lock_follows_no_link_and_empties_nothing(tmp_path):
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"):
        files.open_lock(tmp_path / "lock")
    with files.open_lock(tmp_path / "precious"):
        pass
    assert (tmp_path / "precious").read_text() == "kept"
