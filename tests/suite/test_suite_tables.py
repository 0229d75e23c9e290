import hashlib
import shutil
from pathlib import Path

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.suite import tables

DATA = Path(str(tables.data_directory()))
FILES = sorted(path.name for path in DATA.iterdir() if path.suffix in {".csv", ".toml"})


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copytree(DATA, tmp_path / "data"))


def test_every_data_file_has_a_checksum_and_every_checksum_a_file():
    listed = [line.split()[1] for line in (DATA / tables.CHECKSUMS).read_text().splitlines()]
    assert sorted(listed) == FILES
    assert len(FILES) == 15


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_fails_loudly(copy, name):
    assert tables.read_text(name, copy) == tables.read_text(name)
    path = copy / name
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(ArcadeMarkError, match=rf"{name}: checksum is .* the facts were changed"):
        tables.read_text(name, copy)


def test_line_ends_of_the_checkout_do_not_matter(copy):
    path = copy / "games.csv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert tables.read_rows("games.csv", copy) == tables.read_rows("games.csv")


def test_a_file_without_a_checksum_fails(copy):
    (copy / "extra.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ArcadeMarkError, match="SHA256SUMS says None"):
        tables.read_rows("extra.csv", copy)


@pytest.mark.parametrize("missing", ["games.csv", tables.CHECKSUMS])
def test_a_missing_file_fails(copy, missing):
    (copy / missing).unlink()
    with pytest.raises(ArcadeMarkError, match="cannot read the data file"):
        tables.read_rows("games.csv", copy)


def test_the_sources_describe_every_file():
    described = (DATA / "SOURCES.md").read_text(encoding="utf-8")
    assert [name for name in FILES if f"`{name}`" not in described] == []


@pytest.mark.parametrize("row", ["pong,Pong", "pong,Pong,1,2,3,4,5,6,7,8,9"])
def test_a_row_of_more_or_fewer_cells_than_columns_is_named(tmp_path, row):
    text = f"id,name,year\n{row}\n"
    (tmp_path / "mine.csv").write_text(text)
    (tmp_path / tables.CHECKSUMS).write_text(f"{hashlib.sha256(text.encode()).hexdigest()}  mine.csv\n")
    with pytest.raises(ArcadeMarkError, match=r"mine\.csv, line 2: the number of cells is not that of columns"):
        tables.read_rows("mine.csv", tmp_path)
