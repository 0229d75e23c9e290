"""A user's own reference scores."""

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


@pytest.mark.parametrize("cell", ["nan", "inf", "1_000", "", "1,5,0"])
def test_what_is_no_number_is_refused_with_its_place(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path / "r.csv", f'task,low,high\nhopper,0,"{cell}"\n')
    with pytest.raises(ArcadeMarkError, match=r"row 2, column 'high'"):
        read_references(path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(b"task,low,high\n\xff\xfe,0,1\n")
    with pytest.raises(ArcadeMarkError, match="UTF-8"):
        read_references(path)


@pytest.mark.parametrize(
    "text",
    [
        "task;low;high\nhopper;-1.5;10\nant;0;-5\n",
        "task\tlow\thigh\nhopper\t-1.5\t10\nant\t0\t-5\n",
        "game,random,human\nhopper,-1.5,10\nant,0,-5\n",
        "env_id,Human,Random,record\nhopper,10,-1.5,99\nant,-5,0,99\n",
    ],
)
def test_references_may_be_written_as_score_tables_are(tmp_path: Path, text: str) -> None:
    found = read_references(write(tmp_path / "r.txt", text))
    assert found.low == {"hopper": -1.5, "ant": 0.0}
    assert found.high == {"hopper": 10.0, "ant": -5.0}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("task,low,random,high\nhopper,0,0,1\n", "row 1: the columns 'low' and 'random' mean the same; keep one"),
        ("task,low,high\nhopper,1,1\n", "row 2: .* both 1, .*; write two that differ, or leave the task out"),
        ("task,low,high\nhopper,0,1\nant,2,3\nhopper,0,1\n", "row 4: 'hopper' stands in row 2 already"),
        ("task,low\nhopper,0\n", r"no column 'high' .*expected the columns task, low \(or random\) and high"),
        ("task,low,high\nhopper\x1b,0,1\n", r"row 2, column 'task': .* U\+001B; take it out"),
        ("task,low,high\nhopper,0,nan\n", "row 2, column 'high': there is no score; .*or leave the task out"),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ArcadeMarkError, match=named):
        read_references(write(tmp_path / "r.csv", text))
