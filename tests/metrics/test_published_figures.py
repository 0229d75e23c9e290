"""The metrics against figures that others printed.

``published_scores.csv`` holds raw scores as the review ("A Review for Deep Reinforcement Learning in Atari: Benchmarks,
Challenges, and Solutions", 2021) lists them in Tables 3 to 5 and 7 to 9, from R2D2 (Kapturowski et al. 2019), Agent57
(Badia et al. 2020) and MuZero (Schrittwieser et al. 2020), with the references that its cells were computed with. For
three games these are not the human averages that it prints: Crazy Climber 35829.4 (printed 36829.4), Pitfall 6463.7
(printed 4643.7) and Time Pilot 5229.1 (printed 5229.2). With them its means and medians come out to the last digit.
"""

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


PRINTED = {  # by algorithm: HNS' mean and median, HWRNS', records broken, SABER's mean, and games below random play
    "R2D2": (3374.31, 1342.27, 98.78, 33.62, 15, 60.43, {"skiing"}),
    "Agent57": (4763.69, 1933.49, 125.92, 43.62, 18, 76.26, set()),
    "MuZero": (4996.20, 2041.12, 152.1, 49.8, 19, 71.94, {"skiing", "solaris"}),
}


@pytest.mark.parametrize("algorithm", PRINTED)
def test_summaries_of_57_games(algorithm):
    """The review's definition holds SABER at 0 or more, but its cells (Skiing −93.09) are only held at 200 or less."""
    *printed, below_random = PRINTED[algorithm]
    scores = [COLUMNS[algorithm][task] for task in TASKS]
    human, world = hns(scores, RANDOM, HUMAN, TASKS), hwrns(scores, RANDOM, RECORD, TASKS)
    held, broken = np.minimum(world, 200), len(reaching(world, TASKS))
    found = [mean(human), median(human), mean(world), median(world), broken, mean(held)]
    assert found == pytest.approx(printed, abs=0.005)
    assert {task for task, value in zip(TASKS, world, strict=True) if value < 0} == below_random
    defined = saber(scores, RANDOM, RECORD, TASKS)
    assert defined.mean() == pytest.approx(held.mean() - world[world < 0].sum() / 57)
    assert ((defined >= 0) & (defined <= 200)).all()
