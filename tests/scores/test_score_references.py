"""A user's own reference scores; what is wrong with a file is tested where its user meets it, in tests/cli."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.scores.references import read_references


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_stand_in_any_order_and_case(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "﻿High,note,Game,LOW\n10,x,hopper,-1.5\n\n-5,y,ant,0\n")
    found = read_references(path)
    assert found.low == {"hopper": -1.5, "ant": 0.0}
    assert found.high == {"hopper": 10.0, "ant": -5.0}
    assert found.source == str(path)


def test_names_go_through_the_one_that_makes_them_canonical(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "task,low,high\nHopper,0,1\n")
    assert list(read_references(path, str.lower).low) == ["hopper"]

    def refuse(name: str) -> str:
        raise UnknownNameError("game", name, ["pong"])

    with pytest.raises(ArcadeMarkError, match=r"row 2, column 'task': unknown game 'Hopper'"):
        read_references(path, refuse)


@pytest.mark.parametrize("cell", ["nan", "inf", "1_000", "", "1,5"])
def test_what_is_no_number_is_refused_with_its_place(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path / "r.csv", f'task,low,high\nhopper,0,"{cell}"\n')
    with pytest.raises(ArcadeMarkError, match=r"row 2, column 'high'"):
        read_references(path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(b"task,low,high\n\xff\xfe,0,1\n")
    with pytest.raises(ArcadeMarkError, match="UTF-8"):
        read_references(path)
