"""From a table of scores to predictions of all tasks from a few, on a benchmark that is not Atari.

The benchmark and its players are invented: each player has a skill and some luck. Yours needs the same two files:

* scores.csv: algorithm, task, score (one row per score; with a column ``run`` if there are several)
* references.csv: task, low, high (the scores of 0 % and 100 %; low may be the larger if less is better)

Run it, then do the same on the command line:

    arcademark subset search scores.csv --references references.csv --size 2 --target mean --nested --out model.json
    arcademark subset predict new.csv --estimator model.json
    arcademark subset predict some.csv --training scores.csv --references references.csv

A model needs exactly its tasks. The last line predicts from any tasks: every summary and every other task, with
intervals, and which task to play next.
"""

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import arcademark

TASKS = {
    "coin run": (5.0, 10.0),
    "star pilot": (2.5, 64.0),
    "cave": (3.5, 12.0),
    "maze": (5.0, 10.0),
    "climb": (2.0, 12.6),
}


def write(path: str, rows: Sequence[Sequence[object]]) -> None:
    """Write a CSV file."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def play(skill: float, task: str, luck: random.Random) -> float:
    """Return an invented score."""
    low, high = TASKS[task]
    return low + (high - low) * skill * luck.uniform(0.8, 1.2)


luck = random.Random(1)
players = {f"player {number}": luck.uniform(0.1, 1.5) for number in range(30)}
scores = [[name, task, play(skill, task, luck)] for name, skill in players.items() for task in TASKS]
write("scores.csv", [["algorithm", "task", "score"], *scores])
write("references.csv", [["task", "low", "high"], *([task, low, high] for task, (low, high) in TASKS.items())])

search = arcademark.search("scores.csv", 2, references="references.csv", target="mean", nested=True, out="model.json")
result = search.results[0]
print(f"best two: {', '.join(result.best.tasks)}, typical error {result.best.log_error:.1%}")
print(f"{result.certificate.subsets} subsets, proven: {result.certificate.holds}")

newcomer = [["me", task, play(0.9, task, luck)] for task in result.best.tasks]
write("new.csv", [["algorithm", "task", "score"], *newcomer])
estimate = arcademark.predict("new.csv", "model.json").predictions[0].estimate
if estimate:
    print(f"a player of skill 90 %: {estimate.value:.0f} % on average, from {estimate.low:.0f} to {estimate.high:.0f}")

write(
    "some.csv", [["algorithm", "task", "score"], *(["me", task, play(0.9, task, luck)] for task in ("maze", "climb"))]
)
some = arcademark.predict("some.csv", training="scores.csv", references="references.csv")
forecast = some.predictions[0].forecast
if forecast:
    mean = forecast.summaries["mean"]
    known = " and ".join(forecast.known)
    print(f"from {known}: {mean.value:.0f} % on average, 90 % from {mean.low:.0f} to {mean.high:.0f}")
    print(f"play next: {forecast.plays[0].task}")
