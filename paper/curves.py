"""Recompute the catalogue's scores of Dopamine and Dreamer from the learning curves that their authors publish.

::

    git clone https://github.com/google/dopamine && git clone https://github.com/danijar/dreamerv2
    git clone https://github.com/danijar/dreamerv3
    python paper/curves.py dopamine dreamerv2 dreamerv3

For each collection it prints how many scores are the catalogue's to six digits, and those that are not. How a score is
taken from a curve is in ``src/arcademark/catalogue/data/SOURCES.md``.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from arcademark.suite.tasks import canonical_game

CATALOGUE = Path(__file__).parents[1] / "src/arcademark/catalogue/data/scores"
Scores = dict[tuple[str, str], list[float]]
"""The scores of an algorithm's runs on a game."""


def dopamine(folder: Path, ending: str, names: dict[str, str], last: int) -> Scores:
    """Return the values of the last iteration, of a JSON list of Agent, Iteration and Value a game."""
    scores: Scores = defaultdict(list)
    for path in (folder / "baselines/atari/data").glob(f"*{ending}.json"):
        game = path.name.removesuffix(f"{ending}.json")
        for point in json.loads(path.read_text()) if game.isalnum() else ():
            if point["Iteration"] == last and point["Agent"] in names and point["Value"] == point["Value"]:
                scores[names[point["Agent"]], canonical_game(game)].append(point["Value"])
    return scores


def curves(path: Path) -> Iterator[tuple[str, str, Any, Any]]:
    """Go through the runs of a score file of Dreamer: method, game, frames, and averages of the episodes before."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for run in sorted(json.loads(content), key=lambda run: (run["task"], int(run["seed"]))):
        points = [(x, y) for x, y in zip(run["xs"], run["ys"], strict=True) if y is not None]
        yield run["method"], canonical_game(run["task"]), *np.array(points, float).T


def dreamer(path: Path, names: dict[str, str], low: float, high: float, early: bool = False) -> Scores:
    """Return the mean from `low` to `high` frames; of runs that end before, the last point if `early`, else none."""
    scores: Scores = defaultdict(list)
    for method, game, frames, values in curves(path):
        window = values[(frames >= low) & (frames <= high)]
        if early and not len(window):
            window = values[frames <= high][-1:]
        if len(window):
            scores[names[method], game].append(float(window.mean()))
    return scores


def compare(collection: str, scores: Scores) -> None:
    """Print how many of a collection's scores these are."""
    equal = total = 0
    with (CATALOGUE / f"{collection}.csv").open() as file:
        for row in csv.DictReader(file):
            found = scores.get((row["algorithm"], row["task"]), [])
            printed = [float(value) for value in row["per_run"].split()]
            total += len(printed)
            if len(found) == len(printed) and np.allclose(found, printed, rtol=1e-6, atol=1e-6):
                equal += len(printed)
            elif row["algorithm"] in {algorithm for algorithm, _ in scores}:
                print(f"  {row['algorithm']} on {row['task']}: {found}, in the catalogue {printed}")
    print(f"{collection}: {equal} of {total} scores")


def checkpoint(points: list[tuple[float, float]], frames: float) -> float:
    """Return the mean of a run's points in the last tenth before so many frames, else what its neighbours give."""
    x, y = np.array(points).T
    window = y[(x > 0.9 * frames) & (x <= frames)]
    return float(window.mean() if len(window) else np.interp(frames, x, y))


def compare_checkpoints(dopamine_folder: Path, second: Path, third: Path) -> None:
    """Print how many scores of checkpoints are the catalogue's, to four digits."""
    runs: dict[tuple[str, str], list[list[tuple[float, float]]]] = defaultdict(list)
    for name, path in (
        ("DreamerV2", second / "scores/atari-dreamerv2.json"),
        ("DreamerV2 (schedules)", second / "scores/atari-dreamerv2-schedules.json"),
        *((name, third / f"scores/atari57-{file}.json.gz") for name, file in DREAMERV3.items()),
    ):
        for method, game, frames, values in curves(path):
            if method != "nosched":
                runs[name, game].append(list(zip(frames, values, strict=True)))
    for ending, names in (("", LEGACY), ("_CNN", {agent: f"{agent} (Dopamine, CNN)" for agent in NEWER})):
        for path in (dopamine_folder / "baselines/atari/data").glob(f"*{ending}.json"):
            game = path.name.removesuffix(f"{ending}.json")
            each: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
            for point in json.loads(path.read_text()) if game.isalnum() else ():
                if point["Value"] == point["Value"] and point["Agent"] in names:
                    each[names[point["Agent"]]][1e6 * (point["Iteration"] + 1)].append(point["Value"])
            for name, curve in each.items():
                runs[name, canonical_game(game)].append([(x, float(np.mean(y))) for x, y in sorted(curve.items())])
    equal = total = 0
    with (CATALOGUE.parent / "checkpoints.csv").open() as file:
        for row in csv.DictReader(file):
            for game, cell in list(row.items())[3:]:
                if cell:
                    frames = float(row["training_frames"])
                    reached = [run for run in runs[row["algorithm"], game] if run[-1][0] > 0.9 * frames]
                    found = [checkpoint(run, frames) for run in reached]
                    total += 1
                    equal += bool(np.isclose(np.mean(found), float(cell), rtol=6e-4, atol=1e-9))
    print(f"checkpoints: {equal} of {total} scores")


LEGACY = {
    "DQN": "DQN (Dopamine)",
    "C51": "C51 (Dopamine)",
    "Rainbow": "Rainbow (Dopamine)",
    "IQN": "IQN (Dopamine)",
    "DQN (Adam + MSE in JAX)": "DQN with Adam (Dopamine)",
    "Quantile (JAX)": "QR-DQN (Dopamine)",
}
NEWER = ("DQN", "C51", "Rainbow", "IQN", "QR-DQN")
DREAMERV3 = {"DreamerV3": "dreamerv3", "PPO": "ppo_fixhp", "MuZero": "muzero"}


def main(dopamine_folder: Path, second: Path, third: Path) -> None:
    """Recompute every collection."""
    compare_checkpoints(dopamine_folder, second, third)
    compare("dopamine-2018", dopamine(dopamine_folder, "", LEGACY, 198))
    newer: Scores = {}
    for network in ("CNN", "Impala"):
        names = {agent: f"{agent} (Dopamine, {network})" for agent in NEWER}
        newer |= dopamine(dopamine_folder, f"_{network}", names, 199)
    compare("dopamine-2024", newer)
    older = dreamer(
        second / "scores/atari-dreamerv2.json",
        {"dreamerv2": "DreamerV2", "nosched": "DreamerV2 (nosched)"},
        *(198.5e6, 199e6),
        early=True,
    )
    scheduled = second / "scores/atari-dreamerv2-schedules.json"
    older |= dreamer(scheduled, {"dreamerv2": "DreamerV2 (schedules)"}, 198.5e6, 199e6, early=True)
    compare("dreamerv2-2021", older)
    for collection, prefix, low, high in (
        ("dreamerv3-2025", "atari57", 198e6, 200e6),
        ("dreamerv3-100k", "atari100k", 390e3, 400e3),
    ):
        names = {"dreamerv3": "DreamerV3", "ppo_fixhp": "PPO"}
        both: Scores = {}
        for method in names:
            both |= dreamer(third / f"scores/{prefix}-{method}.json.gz", names, low, high)
        compare(collection, both)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
