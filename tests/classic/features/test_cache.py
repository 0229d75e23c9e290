import os
from pathlib import Path

import numpy as np
import pytest

from arcademark.classic.features.cache import cached
from arcademark.files import cache_folder

KEY = {"game": "pong", "screens": 3, "nothing": None}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "a" / "b"))
    return tmp_path / "a" / "b"


class Maker:
    """Counts how often it was asked."""

    def __init__(self, **arrays):
        self.arrays, self.asked = arrays, 0

    def __call__(self):
        self.asked += 1
        return self.arrays


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


@pytest.fixture
def maker():
    return Maker(shapes=np.arange(12, dtype=np.uint8).reshape(3, 4), speed=np.array([0.5, np.inf], np.float32))


def test_what_was_made_is_found_again_under_its_key_whose_order_does_not_matter(folder, maker):
    for key in (KEY, KEY, dict(reversed(KEY.items()))):
        assert_same(cached("thing", key, maker), maker.arrays)
    assert maker.asked == 1
    assert [path.name.startswith("thing-") and path.suffix == ".npz" for path in folder.iterdir()] == [True]
    for kind, key in [("other", KEY), ("thing", KEY | {"screens": 4}), ("thing", KEY | {"more": 1}), ("thing", {})]:
        cached(kind, key, maker)
    assert maker.asked == 5


def flipped(at):
    def flip(path):
        whole = bytearray(path.read_bytes())
        whole[int(at * (len(whole) - 1))] ^= 0x55
        path.write_bytes(whole)

    return flip


DAMAGE = {
    **{f"flipped at {at}": flipped(at) for at in (0, 0.3, 0.5, 0.7, 1)},
    "empty": lambda path: path.write_bytes(b""),
    "no archive": lambda path: path.write_bytes(b"PK"),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "a link to a device": lambda path: (path.unlink(), path.symlink_to("/dev/zero")),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_cannot_be_read_is_made_anew(folder, maker, damage):
    maker.arrays["noise"] = np.random.default_rng(0).integers(256, size=5000, dtype=np.uint8)
    cached("thing", KEY, maker)
    (path,) = folder.iterdir()
    DAMAGE[damage](path)
    for _ in range(2):
        assert_same(cached("thing", KEY, maker), maker.arrays)


def test_a_file_of_another_key_is_not_taken(folder, maker):
    cached("thing", KEY, maker)
    (path,) = folder.iterdir()
    cached("thing", {"another": 1}, Maker(other=np.zeros(1)))
    (other,) = set(folder.iterdir()) - {path}
    other.replace(path)
    assert_same(cached("thing", KEY, maker), maker.arrays)
    assert maker.asked == 2


def test_a_folder_that_cannot_be_is_no_error(tmp_path, monkeypatch, maker):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "file" / "folder"))
    for _ in range(2):
        assert_same(cached("thing", KEY, maker), maker.arrays)
    assert maker.asked == 2


def test_a_full_disk_leaves_nothing_behind(folder, maker, monkeypatch):
    def fail(file, **arrays):
        file.write_bytes(b"begun")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez_compressed", fail)
    assert_same(cached("thing", KEY, maker), maker.arrays)
    assert list(folder.iterdir()) == []


def test_where_the_folder_is(monkeypatch):
    monkeypatch.setenv("ARCADEMARK_CACHE", "/one")
    monkeypatch.setenv("XDG_CACHE_HOME", "/two")
    assert cache_folder() == Path("/one")
    monkeypatch.setenv("ARCADEMARK_CACHE", "")
    assert cache_folder() == Path("/two/arcademark")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME" if os.name == "posix" else "USERPROFILE", "/three")
    assert cache_folder() == Path("/three/.cache/arcademark")
