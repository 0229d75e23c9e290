"""Recompute the scores on DeepMind Control in ``examples/dm_control`` from the learning curves that authors publish.

::

    git clone https://github.com/DAVIAN-Robotics/SimbaV2 && git clone https://github.com/SonyResearch/simba
    git clone https://github.com/nicklashansen/tdmpc2 && git clone https://github.com/wertyuilife2/bmpc
    git clone https://github.com/danijar/dreamerv3 && git clone https://github.com/facebookresearch/drqv2
    python paper/dm_control.py . [--write]

It prints which scores are not those of ``dmc-28.csv`` and ``dmc-18.csv`` in ``examples/dm_control``, or writes these
and ``families.csv``. A score is the mean over runs of the mean of what is logged in the last twentieth of a run, up to
a million steps of the environment, or to its end. Which files were read is in ``examples/dm_control/SOURCES.md``.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[1] / "examples/dm_control"
SHORT, LONG = 1.03e6, np.inf
"""Steps: a million, as TD7's last evaluations are a little later; all."""
HARD, SHARE = ("dog", "humanoid", "fish", "quadruped"), 0.85
"""What the smaller benchmark is without; the share of tasks that an algorithm of either has."""
Point = tuple[str, str, float, float]
"""Task as written, run, step, return."""


def rows(path: Path, names: str, keep: Callable[[dict[str, str]], bool] = lambda _: True) -> Iterator[Point]:
    """Go through a CSV file; ``names`` are its columns of task (or the task), run, step and return."""
    task, run, step, value = names.split()
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if value in row and keep(row):  # others than DeepMind Control's have another column
                yield row.get(task, task), row[run], float(row[step]), float(row[value])


def table(path: Path) -> Iterator[Point]:
    """Read a table of SimBa's authors."""
    return rows(path, "env_name seed env_step value", lambda row: row["metric"] == "avg_return")


def files(folder: Path, names: str) -> Iterator[Point]:
    """Read a folder with a file a task."""
    for path in sorted(folder.glob("*.csv")):
        yield from rows(path, f"{path.stem} {names}")


def dreamer(path: Path) -> Iterator[Point]:
    """Read a score file of Dreamer."""
    for run in json.loads(gzip.decompress(path.read_bytes())):
        for step, value in zip(run["xs"], run["ys"], strict=True):
            yield run["task"], str(run["seed"]), float(step), float(value)


def means(path: Path, name: str) -> Iterator[Point]:
    """Read BMPC's averages over runs."""
    for task, curve in json.loads(path.read_bytes())[name].items():
        for step, value in zip(curve["steps"], curve["values"], strict=True):
            yield task, "mean", float(step), float(value)


def algorithms(at: Path) -> Iterator[tuple[str, str, float, Iterator[Point]]]:
    """Go through the algorithms: name, family, until when, curves."""
    baselines, td, bmpc = (
        at / "SimbaV2/results/baseline",
        at / "tdmpc2/results",
        at / "bmpc/results/data_dmc_all_1M.json",
    )
    for name, family, file in (
        ("MR.Q", "MR.Q", "mrq"),
        ("SimbaV2", "SimBa", "simbaV2_utd2"),
        ("SimbaV2 (UTD 8)", "SimBa", "simbaV2_utd8"),
        ("BRO", "BRO", "bro_utd10"),
        ("BRO Fast", "BRO", "bro_utd2"),
        ("SAC (SimbaV2)", "SAC", "sac"),
    ):
        yield name, family, SHORT, table(baselines / f"{file}.csv")
    for name, family, file in (
        ("SimBa", "SimBa", "sac_simba"),
        ("TD7", "TD7", "td7"),
        ("DreamerV3 (SimBa)", "Dreamer", "dreamerv3"),
    ):
        yield name, family, SHORT, table(at / f"simba/results/{file}.csv")
    for name, family, folder in (
        ("SAC (TD-MPC2)", "SAC", "sac"),
        ("TD-MPC", "TD-MPC", "tdmpc"),
        ("DreamerV3 (TD-MPC2)", "Dreamer", "dreamerv3"),
        ("TD-MPC2", "TD-MPC", "tdmpc2"),
    ):
        for most, ending in ((SHORT, ""), (LONG, ", to the end")):
            yield name + ending, family, most, files(td / folder, "seed step reward")
    for name, family, key in (
        ("BMPC", "BMPC", "BMPC"),
        ("TD-MPC2 (BMPC)", "TD-MPC", "tdmpc2"),
        ("DreamerV3 (BMPC)", "Dreamer", "dreamerv3"),
    ):
        yield name, family, SHORT, means(bmpc, key)
    for name, family, file in (
        ("D4PG", "DDPG", "proprio-d4pg"),
        ("DDPG", "DDPG", "proprio-ddpg"),
        ("DMPO", "MPO", "proprio-dmpo"),
        ("MPO", "MPO", "proprio-mpo"),
        ("DreamerV3", "Dreamer", "proprio-dreamerv3"),
        ("PPO", "PPO", "proprio-ppo_fixhp"),
        ("CURL, pixels", "CURL", "vision-curl"),
        ("DreamerV3, pixels", "Dreamer", "vision-dreamerv3"),
        ("PPO, pixels", "PPO", "vision-ppo_fixhp"),
        ("SAC, pixels", "SAC", "vision-sac"),
    ):
        yield name, family, SHORT, dreamer(at / f"dreamerv3/scores/dmc_{file}.json.gz")
    for most, ending in ((SHORT, ""), (LONG, ", to the end")):
        yield f"DrQ-v2, pixels{ending}", "DrQ-v2", most, files(at / "drqv2/curves", "seed frame episode_reward")


def scored(points: Iterator[Point], most: float, tasks: list[str]) -> dict[str, float]:
    """Return the score of each task that there are curves of."""
    runs: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for written, run, step, value in points:
        task = written.replace("-", "_").removeprefix("dmc_").replace("cup_catch", "ball_in_cup_catch")
        task = task.replace("ball_in_ball_in_", "ball_in_")
        if task in tasks and 0 < step <= most and np.isfinite(value):
            runs[task][run].append((step, value))
    last = {
        task: [[value for step, value in curve if step > 0.95 * max(curve)[0]] for curve in curves.values()]
        for task, curves in runs.items()
    }
    return {task: float(np.mean([np.mean(values) for values in some])) for task, some in last.items()}


def main() -> None:
    """Compare, or write."""
    with (FOLDER / "references.csv").open(newline="", encoding="utf-8") as file:
        tasks = [row["task"] for row in csv.DictReader(file)]
    found = {
        name: (family, scored(points, most, tasks)) for name, family, most, points in algorithms(Path(sys.argv[1]))
    }
    usual = [task for task in tasks if not task.startswith(HARD)]
    for name, chosen in (("dmc-28.csv", tasks), ("dmc-18.csv", usual)):
        kept = {who: own for who, (_, own) in found.items() if len(own.keys() & set(chosen)) >= SHARE * len(chosen)}
        cells = [
            {"task": task} | {who: f"{own[task]:.2f}" if task in own else "" for who, own in kept.items()}
            for task in chosen
        ]
        if "--write" in sys.argv:
            write(FOLDER / name, cells)
            continue
        with (FOLDER / name).open(newline="", encoding="utf-8") as file:
            both = list(zip(cells, csv.DictReader(file), strict=True))
        other = [
            (who, new["task"], new[who], old.get(who)) for new, old in both for who in new if new[who] != old.get(who)
        ]
        print(*other, f"{name}: {len(other)} of {sum(len(new) for new in cells)} cells differ", sep="\n")
    if "--write" in sys.argv:
        write(FOLDER / "families.csv", [{"algorithm": who, "paper": family} for who, (family, _) in found.items()])


def write(path: Path, cells: list[dict[str, str]]) -> None:
    """Write a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(cells[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(cells)


if __name__ == "__main__":
    main()
