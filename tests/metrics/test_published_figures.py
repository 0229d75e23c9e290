"""The metrics against figures that others printed.

``published_scores.csv`` holds raw scores as the review ("A Review for Deep Reinforcement Learning in Atari: Benchmarks,
Challenges, and Solutions", 2021) lists them in Tables 3 to 5 and 7 to 9, from R2D2 (Kapturowski et al. 2019), Agent57
(Badia et al. 2020) and MuZero (Schrittwieser et al. 2020), with the references that its cells were computed with. For
three games these are not the human averages that it prints: Crazy Climber 35829.4 (printed 36829.4), Pitfall 6463.7
(printed 4643.7) and Time Pilot 5229.1 (printed 5229.2). With them its means and medians come out to the last digit.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from arcademark.metrics.aggregate import mean, median
from arcademark.metrics.normalise import hns, hwrns, reaching, saber

ROWS = list(csv.DictReader((Path(__file__).parent / "published_scores.csv").read_text(encoding="utf-8").splitlines()))
TASKS = [row["task"] for row in ROWS]
COLUMNS = {name: {row["task"]: float(row[name]) for row in ROWS} for name in ROWS[0] if name != "task"}
RANDOM, HUMAN, RECORD = COLUMNS["random"], COLUMNS["human"], COLUMNS["record"]
ALGORITHMS = ("R2D2", "Agent57", "MuZero")


def raw(algorithm: str) -> list[float]:
    return [COLUMNS[algorithm][task] for task in TASKS]


@pytest.mark.parametrize(
    ("algorithm", "printed_mean", "printed_median"),
    [("R2D2", 3374.31, 1342.27), ("Agent57", 4763.69, 1933.49), ("MuZero", 4996.20, 2041.12)],
)
def test_hns_of_57_games(algorithm: str, printed_mean: float, printed_median: float) -> None:
    normalised = hns(raw(algorithm), RANDOM, HUMAN, TASKS)
    assert normalised.shape == (57,)
    assert median(normalised) == pytest.approx(printed_median, abs=0.005)
    assert mean(normalised) == pytest.approx(printed_mean, abs=0.005)


@pytest.mark.parametrize(
    ("algorithm", "printed_mean", "printed_median", "printed_hwrb"),
    [("R2D2", 98.78, 33.62, 15), ("Agent57", 125.92, 43.62, 18), ("MuZero", 152.1, 49.8, 19)],
)
def test_hwrns_and_hwrb_of_57_games(
    algorithm: str, printed_mean: float, printed_median: float, printed_hwrb: int
) -> None:
    normalised = hwrns(raw(algorithm), RANDOM, RECORD, TASKS)
    assert mean(normalised) == pytest.approx(printed_mean, abs=0.005)
    assert median(normalised) == pytest.approx(printed_median, abs=0.005)
    assert len(reaching(normalised, TASKS)) == printed_hwrb


@pytest.mark.parametrize(
    ("algorithm", "printed_mean", "below_random"),
    [("R2D2", 60.43, {"skiing"}), ("Agent57", 76.26, set()), ("MuZero", 71.94, {"skiing", "solaris"})],
)
def test_saber_of_57_games(algorithm: str, printed_mean: float, below_random: set[str]) -> None:
    """The review's definition holds SABER at 0 or more, but its cells (Skiing −93.09) are only held at 200 or less."""
    normalised = hwrns(raw(algorithm), RANDOM, RECORD, TASKS)
    assert np.minimum(normalised, 200).mean() == pytest.approx(printed_mean, abs=0.005)
    assert {task for task, value in zip(TASKS, normalised, strict=True) if value < 0} == below_random
    defined = saber(raw(algorithm), RANDOM, RECORD, TASKS)
    lifted = -normalised[normalised < 0].sum() / 57
    assert defined.mean() == pytest.approx(np.minimum(normalised, 200).mean() + lifted)
    assert ((defined >= 0) & (defined <= 200)).all()
