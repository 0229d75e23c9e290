"""A user's own reference scores."""

import pytest
from score_files import write

from arcademark.errors import ArcadeMarkError
from arcademark.scores.references import read_references


def test_columns_stand_in_any_order_and_case(tmp_path):
    path = write(tmp_path / "r.csv", "﻿High,note,Game,LOW\n10,x,hopper,-1.5\n\n-5,y,ant,0\n")
    found = read_references(path)
    assert found.low == {"hopper": -1.5, "ant": 0.0}
    assert found.high == {"hopper": 10.0, "ant": -5.0}
    assert found.source == str(path)


@pytest.mark.parametrize(
    "text",
    [
        "task;low;high\nhopper;-1.5;10\nant;0;-5\n",
        "task\tlow\thigh\nhopper\t-1.5\t10\nant\t0\t-5\n",
        "game,random,human\nhopper,-1.5,10\nant,0,-5\n",
        "env_id,Human,Random,record\nhopper,10,-1.5,99\nant,-5,0,99\n",
    ],
)
def test_references_may_be_written_as_score_tables_are(tmp_path, text):
    found = read_references(write(tmp_path / "r.txt", text))
    assert found.low == {"hopper": -1.5, "ant": 0.0}
    assert found.high == {"hopper": 10.0, "ant": -5.0}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        *((f'task,low,high\nhopper,0,"{cell}"\n', "row 2, column 'high'") for cell in ("inf", "1_000", "1,5,0")),
        *(
            (f"task,low,high\nhopper,0,{cell}\n", "'hopper' lacks a score; .*or leave the task out")
            for cell in ("", "nan")
        ),
        ("task,low,random,high\nhopper,0,0,1\n", "row 1: the columns 'low' and 'random' mean the same; keep one"),
        ("task,low,high\nhopper,0,1\nant,2,3\nhopper,0,1\n", "row 4: a second score .* is in row 2"),
        ("task,low,high\nhopper\x1b,0,1\n", r"row 2, column 'task': .* U\+001B; take it out"),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(tmp_path, text, named):
    with pytest.raises(ArcadeMarkError, match=named):
        read_references(write(tmp_path / "r.csv", text))
