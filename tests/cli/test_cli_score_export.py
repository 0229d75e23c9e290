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
from arcademark.suite.tasks import canonical_game

PAGE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")
LONG = "algorithm,game,seed,score,protocol\nDQN,pong,0,18.9,saber\nDQN,pong,1,19.3,saber\nPPO,pong,0,-20.7,\n"


@pytest.fixture
def long(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text(LONG)
    return path


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


def test_exported_scores_come_back_as_they_were(invoke: Callable[..., Any], long: Path) -> None:
    answer = invoke("score", long, "--export", "out/again.csv", "--to=json", "--intervals", "resamples=10")
    assert answer.code == 0
    assert answer.err == "out/again.csv: 2 algorithms, 1 game\n"
    before = read_tables(long, canonical_task=canonical_game).table
    after = read_tables("out/again.csv", canonical_task=canonical_game).table
    assert (after.algorithms, after.tasks, after.protocols) == (before.algorithms, before.tasks, before.protocols)
    np.testing.assert_array_equal(after.scores, before.scores)


def test_arrays_without_a_score_are_refused_with_the_remedy(invoke: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "gaps.csv").write_text("game,DQN,PPO\npong,1,2\nqbert,3,\n")
    refused = invoke("score", "gaps.csv", "--export", "a.npz")
    assert refused.code == 2
    assert "--games common" in refused.err
    assert (
        invoke("score", "gaps.csv", "--export", "a.npz", "--games", "common", "--intervals", "resamples=10").code == 0
    )
    assert np.load("a.npz")["PPO"].tolist() == [[2.0]]
