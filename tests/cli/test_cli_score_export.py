"""``arcademark score --export`` as its user meets it; its examples are those of docs/tables.md."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arcademark.scores.reading import read_tables

PAGE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_pages_commands_write_what_they_say(invoke: Callable[..., Any], tmp_path: Path) -> None:
    for name, text in re.findall(
        r"^<!-- file: (\w+\.csv) -->\n```csv\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL
    ):
        (tmp_path / name).write_text(text)
    commands = [line for line in PAGE.splitlines() if "--export" in line and line.startswith("arcademark")]
    assert len(commands) == 3
    for command in commands:
        answer = invoke(*shlex.split(command, comments=True)[1:], "--intervals", "resamples=10")
        assert answer.code == 0, answer.err
    table = read_tables("dqn.parquet").table
    assert (table.algorithms, table.tasks, table.protocols) == (("DQN",), ("freeway", "pong"), ("machado-2018",))
    assert sorted(table.mean_over_runs()[0].tolist()) == [19.1, 31.8]
    wide = read_tables("wide.tsv").table
    assert wide.algorithms == ("DQN", "PPO")
    assert wide.scores.shape == (2, 3, 1)
    arrays = np.load("review.npz")
    assert arrays["Rainbow"].shape == (1, 36)
